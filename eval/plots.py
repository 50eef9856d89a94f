"""Draws means with their intervals as SVG: bars of one measure, a row for each system and kind."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

ROW, LEFT, WIDTH = 18, 190, 300
"""Height of a row, room for its name, and length of the scale from 0 to 1, in pixels."""


def bars(rows: Sequence[tuple[str, float, float, float]]) -> str:
    """Return bars for rows of name, mean and the two ends of its interval, all in [0, 1]."""
    height = ROW * len(rows) + 20
    drawn = [
        f'<svg role="img" width="{LEFT + WIDTH + 60}" height="{height}" viewBox="0 0 {LEFT + WIDTH + 60} {height}">'
    ]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = LEFT + share * WIDTH
        drawn.append(f'<line x1="{x:.0f}" y1="0" x2="{x:.0f}" y2="{ROW * len(rows)}" class="grid"/>')
        drawn.append(f'<text x="{x:.0f}" y="{height - 5}" text-anchor="middle" class="scale">{share:g}</text>')
    for place, (name, mean, low, high) in enumerate(rows):
        y, middle = place * ROW + 3, place * ROW + ROW / 2
        drawn.append(
            f'<text x="{LEFT - 6}" y="{middle + 4:.0f}" text-anchor="end">{escape(name)}</text>'
            f'<rect x="{LEFT}" y="{y}" width="{max(mean * WIDTH, 0.5):.1f}" height="{ROW - 6}" class="bar"/>'
            f'<line x1="{LEFT + low * WIDTH:.1f}" y1="{middle:.0f}" x2="{LEFT + high * WIDTH:.1f}" y2="{middle:.0f}" '
            f'class="interval"/><text x="{LEFT + WIDTH + 8}" y="{middle + 4:.0f}">{mean:.2f}</text>'
        )
    return "".join(drawn) + "</svg>"
