"""The map of papers: a point in the plane for each, kept from run to run, and the map as an SVG picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from rag.types import Place, Theme, Vectors

LANDMARKS = 1_000
"""Papers laid out by t-SNE (van der Maaten and Hinton 2008), every n-th by id; the others go between those they are
nearest to, so that the time does not grow with the corpus. The number was chosen for its time alone (8 s)."""

NEIGHBOURS = 4
"""Placed papers between which another one is put."""

COLOURS = (
    *("#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f", "#edc948", "#b07aa1", "#ff9da7", "#9c755f", "#1f77b4"),
    *("#d37295", "#8cd17d", "#b6992d", "#499894", "#86bcb6", "#a0cbe8", "#ffbe7d", "#d4a6c8", "#fabfd2", "#79706e"),
)
NO_THEME = "#c8c8c8"

_PERPLEXITY = 30.0
_BLOCK = 4_000


def lay_out(shifted: Vectors) -> NDArray[np.float32]:
    """Return a point in the unit square for each vector (n, d), which are unit and in the order of the ids."""
    # These take seconds to import, and whoever draws a map that is laid out needs only this module's colours.
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    papers = len(shifted)
    if papers < 4:
        return np.array([((i + 1) / (papers + 1), 0.5) for i in range(papers)], np.float32).reshape(-1, 2)
    chosen = np.arange(0, papers, max(1, -(-papers // LANDMARKS)))
    sample = shifted[chosen]
    reduced = PCA(min(50, *sample.shape), svd_solver="full").fit_transform(sample)
    perplexity = min(_PERPLEXITY, (len(sample) - 1) / 3)
    # One thread: where the cores are busy several wait for each other, up to a hundred times as long.
    with threadpool_limits(1):
        points = TSNE(2, perplexity=perplexity, init="pca", random_state=0).fit_transform(reduced)
    low, high = points.min(axis=0), points.max(axis=0)
    laid = 0.02 + 0.96 * (points - low) / np.maximum(high - low, 1e-9)
    found = np.zeros((papers, 2), np.float32)
    found[chosen] = laid
    others = np.setdiff1d(np.arange(papers), chosen)
    found[others] = place_beside(shifted[others], sample, found[chosen])
    return found


def place_beside(new: Vectors, placed: Vectors, points: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return points for new papers, between the placed ones they are nearest to; nothing placed moves."""
    found = np.full((len(new), 2), 0.5, np.float32)
    count = min(NEIGHBOURS, len(placed))
    for first in range(0, len(new) if count else 0, _BLOCK):
        cosines = new[first : first + _BLOCK] @ placed.T
        nearest = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
        weights = np.maximum(np.take_along_axis(cosines, nearest, axis=1), 1e-3) ** 4
        weights /= weights.sum(axis=1, keepdims=True)
        found[first : first + _BLOCK] = (points[nearest] * weights[..., None]).sum(axis=1)
    return found


def map_svg(places: Sequence[Place], themes: Sequence[Theme], names: Mapping[str, str], size: int = 900) -> str:
    """Return the map as SVG: a point for each paper with its name as a tooltip, a legend with counts.

    `names` gives the name of each paper by id. All text is escaped: names come from papers.
    """
    legend = 22 * (len(themes) + 2)
    height = max(size, legend)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size + 420} {height}" role="img" '
        'font-family="sans-serif" font-size="13">',
        f"<title>Map of {len(places):,} papers in {len(themes)} themes</title>",
        f'<rect width="{size + 420}" height="{height}" fill="#ffffff"/>',
    ]
    radius = 5 if len(places) <= 100 else 3 if len(places) <= 2_000 else 2
    for place in sorted(places, key=lambda place: place.theme >= 0):
        colour = COLOURS[place.theme % len(COLOURS)] if place.theme >= 0 else NO_THEME
        lines.append(
            f'<circle cx="{place.x * size:.1f}" cy="{(1 - place.y) * size:.1f}" r="{radius}" fill="{colour}" '
            f'fill-opacity="0.8"><title>{_text(names.get(place.paper_id, place.paper_id))}</title></circle>'
        )
    none = sum(place.theme < 0 for place in places)
    rows = [(COLOURS[i % len(COLOURS)], theme.label, theme.size) for i, theme in enumerate(themes)]
    rows += [(NO_THEME, "none of these", none)] if none else []
    for row, (colour, label, count) in enumerate(rows):
        y = 22 * (row + 1)
        lines.append(f'<circle cx="{size + 16}" cy="{y - 4}" r="6" fill="{colour}"/>')
        lines.append(f'<text x="{size + 30}" y="{y}">{_text(label)} ({count:,})</text>')
    return "\n".join([*lines, "</svg>\n"])


def _text(text: str) -> str:
    """Return text for SVG: escaped, without the control characters that XML forbids."""
    return escape("".join(c for c in text if c >= " " and c not in "\ufffe\uffff" and not "\ud800" <= c <= "\udfff"))
