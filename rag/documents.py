"""Answers, hits, papers and histories as JSON documents: the contract of the command line, the API, the chat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rag.errors import UserError
from rag.types import Answer, Claim, Hit, Paper, Skipped, Status, Turn


def answer_document(answer: Answer) -> dict[str, Any]:
    """Return an answer as `plenary ask --json` prints it; times in seconds."""
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
