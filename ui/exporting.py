"""A conversation as Markdown with references, its cited papers as BibTeX or CSV."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from rag import Answer, Paper, Timings, Usage, comparison_markdown, render, report_markdown, to_bibtex, to_csv
from ui.conversation import Exchange

_HEADING = re.compile(r"^(?=#)", re.MULTILINE)
_MARKS = re.compile(r"([\\`*_<>#\[\]])")

Lookup = Callable[[Sequence[str]], list[Paper]]


def conversation_markdown(exchanges: Iterable[Exchange], papers_of: Lookup) -> str:
    """Return a conversation as Markdown: each question, its answer, its papers with every quote and its place.

    `papers_of` returns papers by id; theme answers list all of theirs.
    """
    parts = ["# Plenary"]
    for exchange in exchanges:
        if exchange.report and exchange.answer:
            parts.append(_themes(exchange, papers_of))
        elif answer := _answer(exchange):
            parts.append(_HEADING.sub("#", comparison_markdown(answer)).strip())
        else:
            parts.append(f"## {_plain(exchange.question)}")
        if exchange.error:
            parts.append(_plain(exchange.error))
        if exchange.stopped:
            parts.append("Stopped before the end.")
    return "\n\n".join(parts) + "\n"


def cited_papers(exchanges: Iterable[Exchange]) -> list[Paper]:
    """Return the papers that answers cite, each once, in the order they were cited first."""
    return list({paper.id: paper for exchange in exchanges for paper in exchange.papers}.values())


def papers_bibtex(exchanges: Iterable[Exchange]) -> str:
    """Return the cited papers as BibTeX."""
    return to_bibtex(cited_papers(exchanges))


def papers_csv(exchanges: Iterable[Exchange]) -> str:
    """Return the cited papers as CSV."""
    return to_csv(cited_papers(exchanges))


def _answer(exchange: Exchange) -> Answer | None:
    """Return the answer, also of an exchange that was stopped after some of it had been checked."""
    if exchange.answer or not exchange.all_claims:
        return exchange.answer
    return Answer(
        exchange.question,
        "single",
        False,
        render(exchange.claims),
        exchange.claims,
        exchange.papers,
        (),
        "",
        Usage(),
        Timings(),
        comparison=exchange.comparison,
    )


def _themes(exchange: Exchange, papers_of: Lookup) -> str:
    report, answer = exchange.report, exchange.answer
    assert report is not None and answer is not None, "the caller has looked"
    ids = list(dict.fromkeys([*report.coverage.relevant, *report.coverage.borderline]))
    papers = {paper.id: paper for paper in papers_of(ids)}
    head = f"## {_plain(exchange.question)}"
    if len(papers) < len(ids):  # some have left the index since
        return f"{head}\n\n{answer.text}"
    body = re.sub(r"\A#[^\n]*\n", "", report_markdown(report, papers))
    return f"{head}\n{_HEADING.sub('#', body)}".strip()


def _plain(text: str) -> str:
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


__all__ = ["cited_papers", "conversation_markdown", "papers_bibtex", "papers_csv"]
