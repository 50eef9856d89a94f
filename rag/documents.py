"""Answers, hits, papers and histories as JSON documents: the contract of the command line, the API, the chat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rag.compare import NOT_STATED
from rag.errors import UserError
from rag.types import (
    Answer,
    Claim,
    Comparison,
    Hit,
    Member,
    Paper,
    Quote,
    Skipped,
    Status,
    Theme,
    ThemeReport,
    Turn,
    Version,
)
from rag.versions import wordings


def answer_document(answer: Answer) -> dict[str, Any]:
    """Return an answer as `plenary ask --json` prints it; times in seconds."""
    document = _answer_document(answer)
    if answer.comparison:
        document["comparison"] = comparison_document(answer.comparison)
    if answer.themes:
        document |= themes_document(answer.themes)
    return document


def _answer_document(answer: Answer) -> dict[str, Any]:
    return {
        "question": answer.question,
        "kind": answer.kind,
        "abstained": answer.abstained,
        "text": answer.text,
        "claims": [claim_document(claim) for claim in answer.claims],
        "papers": [
            {
                "n": n,
                "paper_id": paper.id,
                "title": paper.name,
                "authors": list(paper.authors),
                "url": paper.url,
                "sources": [str(source) for source in paper.sources],
            }
            for n, paper in enumerate(answer.papers, 1)
        ],
        "retrieved": list(answer.retrieved),
        "writer": answer.writer,
        "usage": {
            "prompt_tokens": answer.usage.prompt_tokens,
            "completion_tokens": answer.usage.completion_tokens,
            "calls": answer.usage.calls,
            "estimated": answer.usage.estimated,
        },
        "timings": {
            "evidence": round(answer.timings.evidence, 3),
            "first_word": round(answer.timings.first_word, 3),
            "total": round(answer.timings.total, 3),
        },
        "removed": [claim_document(claim) for claim in answer.removed],
        "note": answer.note,
    }


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Return a grid; a cell that no sentence states says so and has no citations."""
    labels = {row.key: row.label for row in comparison.aspects}
    cells = []
    for cell in comparison.cells:
        found = claim_document(cell.claim) if cell.claim else None
        cells.append(
            {
                "aspect": labels[cell.aspect],
                "side": comparison.sides[cell.side].name,
                "text": found["text"] if found else NOT_STATED,
                "support": found["support"] if found else "not_stated",
                "citations": found["citations"] if found else [],
                "reason": found["reason"] if found else "no sentence of the abstract speaks of it",
                "verbatim": bool(found and found["verbatim"]),
            }
        )
    return {
        "sides": [
            {
                "name": side.name,
                "asked": side.asked,
                "paper_ids": list(side.paper_ids),
                "status": side.status.value,
            }
            for side in comparison.sides
        ],
        "aspects": [row.label for row in comparison.aspects],
        "cells": cells,
    }


def themes_document(report: ThemeReport) -> dict[str, Any]:
    """Return what an answer about themes has beside the rest: the themes, what became of all papers, the map.

    `coverage` are counts; `lists` are what they count.
    """
    coverage = report.coverage
    return {
        "topic": report.topic or None,
        "themes": [_theme_document(theme) for theme in report.themes],
        "coverage": {
            name: len(getattr(coverage, name))
            for name in ("corpus", "read", "relevant", "borderline", "assigned", "unassigned", "skipped")
        },
        "lists": {
            **{
                name: list(getattr(coverage, name))
                for name in ("corpus", "read", "relevant", "borderline", "assigned")
            },
            **{
                name: [{"paper_id": left.paper_id, "reason": left.reason} for left in getattr(coverage, name)]
                for name in ("unassigned", "skipped")
            },
        },
        "members": [_member_document(member) for member in report.members],
        "borderline": [_member_document(member) for member in report.borderline],
        "map": [
            {"paper_id": place.paper_id, "x": place.x, "y": place.y, "theme": place.theme} for place in report.places
        ],
    }


def _theme_document(theme: Theme) -> dict[str, Any]:
    return {
        "label": theme.label,
        "size": len(theme.paper_ids),
        "paper_ids": list(theme.paper_ids),
        "terms": list(theme.terms),
        "claims": [claim_document(claim) for claim in theme.claims],
        "removed": [claim_document(claim) for claim in theme.removed],
        "representatives": [_quote_document(quote) for quote in theme.representatives],
        "outliers": list(theme.outliers),
        "failed": theme.failed,
        "themes": [_theme_document(child) for child in theme.children],
    }


def _member_document(member: Member) -> dict[str, Any]:
    return {**_quote_document(member.quote), "probability": member.probability}


def _quote_document(quote: Quote) -> dict[str, Any]:
    return {"paper_id": quote.paper_id, "quote": quote.text, "start": quote.start, "end": quote.end}


def claim_document(claim: Claim) -> dict[str, Any]:
    """Return a claim with its verdict and its quotes; offsets are characters of the stored abstract."""
    return {
        "text": claim.text,
        "support": claim.support.value,
        "reason": claim.reason,
        "citations": [
            {
                "n": citation.n,
                "paper_id": citation.paper_id,
                "quote": citation.quote.text,
                "start": citation.quote.start,
                "end": citation.quote.end,
                "source": str(citation.source) if citation.source else None,
            }
            for citation in claim.citations
        ],
        "verbatim": claim.verbatim,
        "english": claim.english,
    }


def hits_document(hits: Sequence[Hit], sentences: int = 3) -> list[dict[str, Any]]:
    """Return hits as `plenary search --json` prints them, each with its best `sentences` sentences."""
    return [
        {
            "paper_id": hit.paper.id,
            "title": hit.paper.name,
            "score": round(hit.score, 4),
            "sources": [str(source) for source in hit.paper.sources],
            "sentences": [
                {"text": item.text, "start": item.start, "end": item.end, "score": round(item.score, 4)}
                for item in sorted(hit.sentences, key=lambda item: -item.score)[:sentences]
            ],
        }
        for hit in hits
    ]


def paper_document(paper: Paper) -> dict[str, Any]:
    """Return everything stored of a paper."""
    return {
        "paper_id": paper.id,
        "title": paper.title,
        "label": paper.label,
        "authors": list(paper.authors),
        "year": paper.year,
        "venue": paper.venue,
        "url": paper.url,
        "keywords": list(paper.keywords),
        "sources": [str(source) for source in paper.sources],
        "abstract": paper.abstract,
        "versions": [version_document(version) for version in wordings(paper)],
    }


def version_document(version: Version) -> dict[str, Any]:
    """Return one wording of a paper with its sources."""
    return {
        "id": version.id,
        "title": version.title,
        "sources": [str(source) for source in version.sources],
        "abstract": version.abstract,
    }


def skipped_document(skipped: Skipped) -> dict[str, Any]:
    """Return a skipped record with its file, line and reason."""
    return {"file": skipped.file, "line": skipped.line, "reason": skipped.reason}


def status_document(status: Status) -> dict[str, Any]:
    """Return what the index holds."""
    return {
        "store": status.store,
        "papers": status.papers,
        "chunks": status.chunks,
        "sentences": status.sentences,
        "model": status.model,
        "state": status.state,
        "sources": dict(status.sources),
        **status.details,
    }

def parse_history(history: Any) -> list[Turn]:
    """Return `[[role, text], ...]` as turns; raises `UserError` for any other shape."""
    turns = []
    for turn in history if isinstance(history, list | tuple) else [None]:
        match turn:
            case (("user" | "assistant") as role, str() as text):
                turns.append(Turn(role, text))
            case _:
                raise UserError('history must be [["user" or "assistant", "text"], ...]')
    return turns
