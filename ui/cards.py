"""The evidence panel as HTML: claims with their verdicts, and a card for each paper with its quotes marked.

`gr.HTML` does not sanitise: every text that is not from this file goes through `attribute` or `_escaped`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from urllib.parse import urlsplit

from rag import Claim, Paper
from ui.conversation import Exchange
from ui.text import attribute

_AUTHORS_SHOWN = 8

_WORDS = {"supported": "✓ supported", "partial": "◐ partly supported"}
_WORDS |= {"contradicted": "✗ contradicted", "unchecked": "? not checked"}


def evidence_panel(exchange: Exchange | None) -> str:
    """Return the panel for an exchange; None is the start, before any question."""
    if exchange is None:
        return _hint("The papers an answer rests on appear here, with every quoted sentence marked.")
    if exchange.ended and not exchange.claims:
        refused = exchange.answer is not None
        hint = "No sources: no sentence of the papers answers this." if refused else "No sources."
        return _hint(hint) + _removed(exchange)
    parts = []
    if exchange.claims:
        parts.append(_claims(exchange.claims, exchange.card))
        parts.append("<h3>Cited papers</h3>")
    for n, paper in enumerate(exchange.papers, 1):
        quotes = [c.quote for claim in exchange.claims for c in claim.citations if c.n == n]
        parts.append(paper_card(paper, [(q.start, q.end) for q in quotes], n, f"{exchange.card}-{n}"))
    parts.append(_found(exchange))
    parts.append(_removed(exchange))
    return "".join(parts) or _hint("Searching …")


def paper_card(
    paper: Paper, quotes: Iterable[tuple[int, int]], n: int | None = None, element: str | None = None
) -> str:
    """Return the card of a paper: number, title or label, authors, link, abstract with the quotes marked.

    `quotes` are half-open character ranges of the abstract; `element` is the card's HTML id.
    """
    number = f'<span class="pl-n">[{n}]</span> ' if n else ""
    identity = f' id="{attribute(element)}"' if element else ""
    return (
        f'<article class="pl-card{"" if n else " pl-found"}"{identity} tabindex="-1">'
        f"<h4>{number}{attribute(paper.name)}</h4>"
        f'<p class="pl-meta">{" · ".join(_meta(paper))}</p>'
        f'<p class="pl-abstract">{marked(paper.abstract, quotes)}</p></article>'
    )


def marked(abstract: str, ranges: Iterable[tuple[int, int]]) -> str:
    """Return an abstract as HTML with the ranges in `<mark>`; ranges that overlap or touch become one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    parts = []
    position = 0
    for start, end in merged:
        parts += [_escaped(abstract[position:start]), "<mark>", _escaped(abstract[start:end]), "</mark>"]
        position = end
    return "".join([*parts, _escaped(abstract[position:])])


def web_address(url: str | None) -> str | None:
    """Return a paper's address if it is one of the web, else None: `javascript:` and the like never link."""
    try:
        parts = urlsplit((url or "").strip())
    except ValueError:  # brackets that are no IPv6 address
        return None
    return parts.geturl() if parts.scheme.lower() in ("http", "https") and parts.netloc else None


def _meta(paper: Paper) -> list[str]:
    authors = ", ".join(paper.authors[:_AUTHORS_SHOWN])
    if len(paper.authors) > _AUTHORS_SHOWN:
        authors += f" and {len(paper.authors) - _AUTHORS_SHOWN} more"
    shown = [authors, " ".join(str(part) for part in (paper.venue, paper.year) if part)]
    shown += [str(source) for source in paper.sources[:1]]
    parts = [attribute(part) for part in shown if part]
    if address := web_address(paper.url):
        # The paper's page opens beside the chat and learns nothing of it.
        parts.insert(
            -1,
            f'<a href="{attribute(address)}" target="_blank" rel="noopener noreferrer nofollow">'
            f"{attribute(urlsplit(address).netloc)} ↗</a>",
        )
    return parts


def _claims(claims: Sequence[Claim], card: str) -> str:
    return f'<h3>What was checked</h3><ol class="pl-claims">{"".join(_claim(c, card) for c in claims)}</ol>'


def _claim(claim: Claim, card: str = "") -> str:
    marks = "".join(
        f'<a class="pl-cite" href="#{attribute(card)}-{n}">[{n}]</a>'
        for n in dict.fromkeys(citation.n for citation in claim.citations)
    )
    support = claim.support.value
    english = f"<p>Checked in English: {attribute(claim.english)}</p>" if claim.english else ""
    quoted = "<p>Word for word from the paper.</p>" if claim.verbatim else ""
    return (
        f'<li><details><summary><span class="pl-verdict pl-{support}">{_WORDS[support]}</span> '
        f"{attribute(claim.text)} {marks}</summary>"
        f'<div class="pl-reason"><p>{attribute(claim.reason)}</p>{english}{quoted}</div></details></li>'
    )


def _found(exchange: Exchange) -> str:
    """The papers that were found and are not cited yet, while the answer is being made."""
    if exchange.ended or exchange.evidence is None:
        return ""
    cited = {paper.id for paper in exchange.papers}
    places: dict[str, list[tuple[int, int]]] = {}
    for item in exchange.evidence.evidence:
        places.setdefault(item.paper_id, []).append((item.start, item.end))
    papers = {hit.paper.id: hit.paper for hit in exchange.evidence.hits}
    cards = [paper_card(papers[i], ranges) for i, ranges in places.items() if i in papers and i not in cited]
    return f"<h3>Found, being read</h3>{''.join(cards)}" if cards else ""


def _removed(exchange: Exchange) -> str:
    if exchange.answer is None or not exchange.answer.removed:
        return ""
    removed = exchange.answer.removed
    count = "1 sentence" if len(removed) == 1 else f"{len(removed)} sentences"
    return (
        f'<details class="pl-removed"><summary>{count} did not pass the check and '
        f"{'is' if len(removed) == 1 else 'are'} not part of the answer</summary>"
        f'<ul class="pl-claims">{"".join(_claim(claim) for claim in removed)}</ul></details>'
    )


def _hint(text: str) -> str:
    return f'<p class="pl-hint">{attribute(text)}</p>'


def _escaped(text: str) -> str:
    return escape(text, quote=True)


__all__ = ["evidence_panel", "marked", "paper_card", "web_address"]
