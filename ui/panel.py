"""The evidence panel as HTML: what was checked, the papers with their quotes marked, what did not pass."""

from __future__ import annotations

from rag import Comparison, SideStatus
from ui.cards import action, claim_item, paper_card
from ui.conversation import Exchange
from ui.text import attribute
from ui.themes import theme_cards
from ui.words import ENGLISH, Words, plural


def evidence_panel(exchange: Exchange | None, words: Words = ENGLISH) -> str:
    """Return the panel for an exchange; None is the start, before any question."""
    if exchange is None:
        return _hint(words["hint"])
    head = _head(exchange, words)
    if exchange.ended and not exchange.all_claims and not exchange.report:
        sides = _sides(exchange.comparison, words) if exchange.comparison else ""
        if exchange.candidates:
            cards = "".join(paper_card(paper, (), words=words) for paper in exchange.candidates)
            return f"{head}{sides}<h3>{words['candidates']}</h3>{cards}"
        refused = exchange.answer is not None
        hint = words["no_sources_refused" if refused else "no_sources"]
        return head + _hint(hint) + sides + _removed(exchange, words)
    parts = [head]
    if exchange.comparison:
        parts.append(_sides(exchange.comparison, words))
    if exchange.claims and not exchange.report:
        items = "".join(claim_item(claim, exchange.card, words) for claim in exchange.claims)
        parts.append(f'<h3>{words["what_checked"]}</h3><ol class="pl-claims">{items}</ol>')
    if exchange.comparison:
        parts.append(_cells(exchange, exchange.comparison, words))
    if exchange.report:
        parts.append(theme_cards(exchange, words))
    parts += [_cited(exchange, words), _found(exchange, words), _removed(exchange, words)]
    body = "".join(parts)
    return body if body != head else head + _hint(words["searching"])


def _head(exchange: Exchange, words: Words) -> str:
    """The question the evidence belongs to, and what can be done with it once it has ended."""
    asked = f'<p class="pl-asked"><span class="pl-n">{exchange.number}.</span> {attribute(exchange.question)}</p>'
    if not exchange.ended:
        return f'<div class="pl-head">{asked}</div>'
    buttons = action("edit", exchange.number, words["edit"]) + action("retry", exchange.number, words["retry"])
    return f'<div class="pl-head">{asked}<div class="pl-actions">{buttons}</div></div>'


def _sides(comparison: Comparison, words: Words) -> str:
    """Say in words which sides there are no papers of, or several."""
    lines = [
        words["absent" if side.status is SideStatus.ABSENT else "ambiguous"].format(name=side.name)
        for side in comparison.sides
        if side.status is not SideStatus.FOUND
    ]
    return "".join(f'<p class="pl-side">{attribute(line)}</p>' for line in lines)


def _cells(exchange: Exchange, comparison: Comparison, words: Words) -> str:
    """The cells with their verdicts, row by row."""
    rows = []
    for aspect in comparison.aspects:
        items = "".join(
            claim_item(cell.claim, exchange.card, words, comparison.sides[cell.side].name)
            for cell in comparison.cells
            if cell.aspect == aspect.key and cell.claim
        )
        if items:
            rows.append(f'<h4 class="pl-row">{attribute(aspect.label)}</h4><ul class="pl-claims">{items}</ul>')
    if not rows:
        return ""
    return f'<details class="pl-more"><summary>{words["cells"]}</summary>{"".join(rows)}</details>'


def _cited(exchange: Exchange, words: Words) -> str:
    claims = exchange.all_claims
    cards = []
    for n, paper in enumerate(exchange.papers, 1):
        quotes = [c.quote for claim in claims for c in claim.citations if c.n == n]
        places = [(quote.start, quote.end) for quote in quotes]
        cards.append(paper_card(paper, places, n, f"{exchange.card}-{n}", words))
    return f"<h3>{words['cited']}</h3>{''.join(cards)}" if cards else ""


def _found(exchange: Exchange, words: Words) -> str:
    """The papers that were found and are not cited yet, while the answer is being made."""
    if exchange.ended or exchange.evidence is None:
        return ""
    cited = {paper.id for paper in exchange.papers}
    places: dict[str, list[tuple[int, int]]] = {}
    for item in exchange.evidence.evidence:
        places.setdefault(item.paper_id, []).append((item.start, item.end))
    papers = {hit.paper.id: hit.paper for hit in exchange.evidence.hits}
    found = [(papers[i], ranges) for i, ranges in places.items() if i in papers and i not in cited]
    cards = [paper_card(paper, ranges, words=words) for paper, ranges in found]
    return f"<h3>{words['found']}</h3>{''.join(cards)}" if cards else ""


def _removed(exchange: Exchange, words: Words) -> str:
    if exchange.answer is None or not exchange.answer.removed:
        return ""
    removed = exchange.answer.removed
    items = "".join(claim_item(claim, words=words) for claim in removed)
    return (
        f'<details class="pl-more"><summary>{plural(words, "failed", len(removed))}</summary>'
        f'<ul class="pl-claims">{items}</ul></details>'
    )


def _hint(text: str) -> str:
    return f'<p class="pl-hint">{attribute(text)}</p>'


__all__ = ["evidence_panel"]
