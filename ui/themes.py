"""Themes as HTML: cards with counts that open lists of papers, and the map of the papers as a picture to click."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rag import COLOURS, NO_THEME, Paper, Theme, ThemeReport
from ui.cards import action, claim_item
from ui.conversation import Exchange
from ui.text import attribute
from ui.words import ENGLISH, Words, counted

LISTED = 200
"""Papers a list shows at most; the export has all."""

_SIZE = 900
_PARTS = ("read", "relevant", "borderline", "assigned", "unassigned", "skipped")


def theme_cards(exchange: Exchange, words: Words = ENGLISH) -> str:
    """Return what became of all papers, then a card for each theme; a count opens the list it is the length of."""
    report = exchange.report
    assert report is not None, "the caller has looked"
    cards = "".join(_card(exchange, theme, place, words) for place, theme in enumerate(report.themes))
    heading = f"<h3>{words['themes']}</h3>" if cards else ""
    return f"{_coverage(exchange, report, words)}{heading}{cards}"


def listed_ids(report: ThemeReport, name: str) -> Sequence[str]:
    """Return the papers of a list by its name: the place of a theme, "place.child", or a part of the coverage."""
    coverage = report.coverage
    parts: Mapping[str, Sequence[str]] = {
        "read": coverage.read,
        "relevant": coverage.relevant,
        "borderline": coverage.borderline,
        "assigned": coverage.assigned,
        "unassigned": [left.paper_id for left in coverage.unassigned],
        "skipped": [left.paper_id for left in coverage.skipped],
    }
    if name in parts:
        return parts[name]
    theme = theme_at(report, name)
    return theme.paper_ids if theme else ()


def theme_at(report: ThemeReport, name: str) -> Theme | None:
    """Return the theme at a place such as "2", or its child at "2.0"; None where there is none."""
    themes: Sequence[Theme] = report.themes
    found: Theme | None = None
    for part in name.split("."):
        if not part.isascii() or not part.isdigit() or int(part) >= len(themes):
            return None
        found = themes[int(part)]
        themes = found.children
    return found


def map_html(report: ThemeReport | None, name_of: Callable[[str], str], words: Words = ENGLISH) -> str:
    """Return the map: a dot for each paper, a legend of the themes; empty where there are no places.

    A dot has its paper's name as a tooltip; dots and legend tell the server what was chosen.
    """
    if report is None or not report.places:
        return ""
    radius = 7 if len(report.places) <= 100 else 4 if len(report.places) <= 2_000 else 3
    dots = []
    for place in sorted(report.places, key=lambda place: place.theme >= 0):
        colour = COLOURS[place.theme % len(COLOURS)] if place.theme >= 0 else NO_THEME
        name = attribute(name_of(place.paper_id))
        dots.append(
            f'<circle cx="{place.x * _SIZE:.1f}" cy="{(1 - place.y) * _SIZE:.1f}" r="{radius}" fill="{colour}" '
            f'data-act="ask" data-target="{attribute(place.paper_id)}"><title>{name}</title></circle>'
        )
    legend = "".join(
        f'<li><span class="pl-dot" style="background:{COLOURS[place % len(COLOURS)]}"></span>'
        f"{action('theme', place, theme.label)} <span>{theme.size:,}</span></li>"
        for place, theme in enumerate(report.themes)
    )
    title = words["map"].format(papers=counted(words, len(report.places)))
    buttons = "".join(
        f'<button type="button" class="pl-act" data-zoom="{factor}" aria-label="{words[key]}">{sign}</button>'
        for factor, key, sign in (("0.7", "zoom_in", "+"), ("1.4", "zoom_out", "−"), ("0", "zoom_reset", "⤢"))
    )
    return (
        f'<section class="pl-map"><div class="pl-map-head"><h3>{title}</h3>'
        f'<div class="pl-actions">{buttons}</div></div>'
        f'<svg viewBox="0 0 {_SIZE} {_SIZE}" role="img" aria-label="{title}">{"".join(dots)}</svg>'
        f'<p class="pl-hint">{words["map_hint"]}</p><ul class="pl-legend">{legend}</ul></section>'
    )


def _coverage(exchange: Exchange, report: ThemeReport, words: Words) -> str:
    parts = []
    for name in _PARTS:
        count = len(getattr(report.coverage, name))
        # Of everything, all that was read counts.
        if name == "read" or (count and (report.topic or name != "relevant")):
            parts.append(f"<li>{_toggle(exchange, name, f'{count:,} {words[name]}', words)}</li>")
    lists = "".join(_papers(exchange, name, words) for name in _PARTS)
    return f'<ul class="pl-coverage">{"".join(parts)}</ul>{lists}'


def _card(exchange: Exchange, theme: Theme, place: int, words: Words) -> str:
    if theme.failed:
        body = f'<p class="pl-side">{attribute(words["theme_failed"].format(reason=theme.failed))}</p>'
    elif theme.claims:
        items = "".join(claim_item(claim, exchange.card, words) for claim in theme.claims)
        body = f'<ol class="pl-claims">{items}</ol>'
    else:
        body = "" if exchange.ended else f'<p class="pl-hint">{words["theme_waiting"]}</p>'
    children = "".join(
        f"<li>{attribute(child.label)} {_toggle(exchange, f'{place}.{at}', counted(words, child.size), words)}"
        f"{_papers(exchange, f'{place}.{at}', words)}</li>"
        for at, child in enumerate(theme.children)
    )
    return (
        f'<article class="pl-card pl-theme" id="theme-{exchange.number}-{place}" tabindex="-1">'
        f'<h4><span class="pl-dot" style="background:{COLOURS[place % len(COLOURS)]}"></span>{attribute(theme.label)}'
        f"</h4>{body}{f'<ul>{children}</ul>' if children else ''}"
        f'<div class="pl-actions">{_toggle(exchange, str(place), counted(words, theme.size), words)}'
        f"{action('theme', place, words['theme_ask'])}</div>{_papers(exchange, str(place), words)}</article>"
    )


def _toggle(exchange: Exchange, name: str, text: str, words: Words) -> str:
    opened = name in exchange.opened
    tip = words["theme_papers_hide" if opened else "theme_papers_show"]
    return action("list", name, text, f' aria-expanded="{str(opened).lower()}" title="{attribute(tip)}"')


def _papers(exchange: Exchange, name: str, words: Words) -> str:
    """The list that a count has opened, each paper a button that asks about it."""
    if name not in exchange.opened or exchange.report is None:
        return ""
    ids = listed_ids(exchange.report, name)
    items = "".join(f"<li>{action('ask', i, exchange.names.get(i, i))}</li>" for i in ids[:LISTED])
    rest = len(ids) - LISTED
    more = f"<li>{words['more_papers'].format(n=f'{rest:,}')}</li>" if rest > 0 else ""
    return f'<ol class="pl-list">{items}{more}</ol>'


def names_of(papers: Sequence[Paper]) -> dict[str, str]:
    """Return the names of papers by id."""
    return {paper.id: paper.name for paper in papers}


__all__ = ["listed_ids", "map_html", "names_of", "theme_at", "theme_cards"]
