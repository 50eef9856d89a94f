"""Which records are one paper in two wordings, and the paper that results."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rag.normal import match_key
from rag.types import Paper


@dataclass(frozen=True, slots=True)
class Merged:
    """Papers with their versions folded in.

    `merged` counts the records that went into another; `versions` holds, by the id of the paper that
    stayed, the other wordings with their own ids, abstracts and sources.
    """

    papers: tuple[Paper, ...]
    merged: int
    versions: Mapping[str, tuple[Paper, ...]] = field(default_factory=dict)


def paper_id(abstract: str, *, key: str | None = None) -> str:
    """Return a paper's id: the first 12 hex digits of the SHA-256 of its abstract's match key.

    `key` is that match key when the caller has it already.
    """
    key = match_key(abstract) if key is None else key
    return hashlib.sha256(key.encode()).hexdigest()[:12]


def merge_versions(papers: Sequence[Paper]) -> Merged:
    """Merge."""
    kept: dict[str, Paper] = {}
    for paper in papers:
        kept[paper.id] = folded(kept[paper.id], paper) if paper.id in kept else paper
    return Merged(tuple(kept.values()), len(papers) - len(kept))


def folded(first: Paper, second: Paper) -> Paper:
    """Return `first` with the sources of `second` added and what it lacks taken from there.

    Authors go with the title they stand beside when `first` has neither.
    """
    authors = first.authors or second.authors
    return replace(
        first,
        title=first.title or second.title,
        authors=authors,
        year=first.year or second.year,
        venue=first.venue or second.venue,
        url=first.url or second.url,
        keywords=first.keywords or second.keywords,
        sources=tuple(dict.fromkeys(first.sources + second.sources)),
    )
