"""A paper as a card in HTML, with its quotes marked and what can be done with it; a claim with its verdict.

`gr.HTML` does not sanitise: every text that is not from this package goes through `attribute` or `_escaped`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from html import escape
from urllib.parse import urlsplit

from rag import Claim, Paper, to_bibtex
from ui.text import attribute
from ui.words import ENGLISH, Words

_AUTHORS_SHOWN = 8


def paper_card(
    paper: Paper,
    quotes: Iterable[tuple[int, int]],
    n: int | None = None,
    element: str | None = None,
    words: Words = ENGLISH,
) -> str:
    """Return the card of a paper: number, title or label, authors, link, abstract with the quotes marked.

    `quotes` are half-open character ranges of the abstract; `element` is the card's HTML id.
    """
    number = f'<span class="pl-n">[{n}]</span> ' if n else ""
    identity = f' id="{attribute(element)}"' if element else ""
    return (
        f'<article class="pl-card{"" if n else " pl-found"}"{identity} tabindex="-1">'
        f"<h4>{number}{attribute(paper.name)}</h4>"
        f'<p class="pl-meta">{" · ".join(_meta(paper, words))}</p>'
        f'<p class="pl-abstract">{marked(paper.abstract, quotes)}</p>{_actions(paper, words)}</article>'
    )


def action(name: str, target: object, text: str, more: str = "") -> str:
    """Return a button that tells the server its name and target; `more` are further attributes, made here."""
    return (
        f'<button type="button" class="pl-act" data-act="{attribute(name)}" data-target="{attribute(str(target))}"'
        f"{more}>{attribute(text)}</button>"
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
    """Return the address if a browser may open it: http or https with a host; else None."""
    if not url:
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return parts.geturl() if parts.scheme.lower() in ("http", "https") and parts.netloc else None


def claim_item(claim: Claim, card: str = "", words: Words = ENGLISH, lead: str = "") -> str:
    """Return a claim as a list item: verdict in a word, text, citations; the reason when it is opened.

    `lead` is text before the claim, the side of a cell for instance.
    """
    marks = "".join(
        f'<a class="pl-cite" href="#{attribute(card)}-{n}">[{n}]</a>'
        for n in dict.fromkeys(citation.n for citation in claim.citations)
    )
    support = claim.support.value
    english = f"<p>{attribute(words['english'].format(text=claim.english))}</p>" if claim.english else ""
    quoted = f"<p>{words['verbatim']}</p>" if claim.verbatim else ""
    before = f"<strong>{attribute(lead)}:</strong> " if lead else ""
    # A link within a summary cannot be reached by all assistive technology, so it stands beside it.
    return (
        f'<li><div class="pl-claim"><details><summary><span class="pl-verdict pl-{support}">{words[support]}</span> '
        f"{before}{attribute(claim.text)}</summary>"
        f'<div class="pl-reason"><p>{attribute(claim.reason)}</p>{english}{quoted}</div></details>'
        f"<span>{marks}</span></div></li>"
    )


def _meta(paper: Paper, words: Words) -> list[str]:
    authors = ", ".join(paper.authors[:_AUTHORS_SHOWN])
    if len(paper.authors) > _AUTHORS_SHOWN:
        authors += f" {words['more_authors'].format(n=len(paper.authors) - _AUTHORS_SHOWN)}"
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


def _actions(paper: Paper, words: Words) -> str:
    return (
        f'<div class="pl-actions">{action("ask", paper.id, words["ask_paper"])}'
        f"{action('compare', paper.id, words['compare_paper'])}"
        f'<details class="pl-bibtex"><summary>BibTeX</summary><pre tabindex="0">{_escaped(_bibtex(paper))}</pre>'
        f'<button type="button" class="pl-act" data-copy="{attribute(words["copied"])}">{words["copy"]}</button>'
        "</details></div>"
    )


@lru_cache(maxsize=1024)
def _bibtex(paper: Paper) -> str:
    return to_bibtex([paper]).strip()


def _escaped(text: str) -> str:
    return escape(text, quote=True)


__all__ = ["action", "claim_item", "marked", "paper_card", "web_address"]
