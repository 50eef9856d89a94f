"""Reads a whole corpus for a topic: every paper is compared, those that could count are read sentence by sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.keywords import tokenize
from rag.retrieve import idf_weights
from rag.snapshot import Snapshot
from rag.topics import (
    BORDER,
    LINE,
    Document,
    Topic,
    holds,
    probabilities,
    reach,
    read_documents,
    read_topic,
    split_words,
    telling_sentence,
)
from rag.types import Filters, LeftOut, Member, Quote, Vectors

EXPLAINED = 300
"""Abstracts that are searched for a short form of the topic."""

_BLOCK = 2_000


@dataclass(frozen=True, slots=True)
class Collected:
    """The papers that count for a topic and those that may, the likeliest first; the ids of all that were read,
    and the papers that were not, with the reason."""

    members: tuple[Member, ...]
    borderline: tuple[Member, ...]
    read: tuple[str, ...]
    skipped: tuple[LeftOut, ...]


def admitted(snapshot: Snapshot, filters: Filters | None) -> tuple[tuple[str, ...], tuple[LeftOut, ...]]:
    """Return the ids of the papers that filters admit, sorted, and the others with the reason."""
    if not filters:
        return tuple(sorted(snapshot.paper_ids)), ()
    allowed = snapshot.allowed(filters)
    inside = [paper_id for paper_id, ok in zip(snapshot.paper_ids, allowed, strict=True) if ok]
    outside = [paper_id for paper_id, ok in zip(snapshot.paper_ids, allowed, strict=True) if not ok]
    reason = "not admitted by the filters"
    return tuple(sorted(inside)), tuple(LeftOut(paper_id, reason) for paper_id in sorted(outside))


def paper_vectors(snapshot: Snapshot, paper_ids: Sequence[str]) -> Vectors:
    """Return the unit vectors of papers, shape (n, d)."""
    rows = np.array([snapshot.rows[paper_id] for paper_id in paper_ids], dtype=np.int64)
    vectors = np.asarray(snapshot.papers[rows], np.float32)
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9), np.float32)


def collect(
    snapshot: Snapshot, encode: Callable[[Sequence[str]], Vectors], text: str, filters: Filters | None = None
) -> Collected:
    """Decide of every paper whether it is about the topic `text` (see `topics`)."""
    paper_ids, skipped = admitted(snapshot, filters)
    if not paper_ids:
        return Collected((), (), (), skipped)
    rows = np.array([snapshot.rows[paper_id] for paper_id in paper_ids], dtype=np.int64)
    topic, covered = _topic(snapshot, text, rows, paper_ids)
    vectors = encode(topic.forms)
    cosines = np.maximum.reduce([_cosines(snapshot, paper_ids, vector) for vector in vectors])
    named = _by_keyword(snapshot, topic)[rows]
    reading = np.flatnonzero((reach(topic, covered, cosines) >= BORDER) | named)
    documents = _documents(snapshot, [paper_ids[place] for place in reading])
    likely = probabilities(topic, documents, cosines[reading])
    members: list[Member] = []
    borderline: list[Member] = []
    for document, probability in zip(documents, likely, strict=True):
        if probability >= BORDER:
            quote = _quote(snapshot, topic, document, vectors[-1])
            member = Member(document.paper.id, round(float(probability), 4), quote)
            (members if probability >= LINE else borderline).append(member)
    return Collected(_ordered(members), _ordered(borderline), paper_ids, skipped)


def _cosines(snapshot: Snapshot, paper_ids: Sequence[str], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return `Snapshot.cosines` in blocks: the sentences of 100,000 papers at once would take gigabytes."""
    blocks = range(0, len(paper_ids), _BLOCK)
    return np.concatenate([snapshot.cosines(paper_ids[first : first + _BLOCK], vector) for first in blocks])


def _ordered(members: Sequence[Member]) -> tuple[Member, ...]:
    return tuple(sorted(members, key=lambda member: (-member.probability, member.paper_id)))


def _documents(snapshot: Snapshot, paper_ids: Sequence[str]) -> list[Document]:
    papers = snapshot.papers_of(paper_ids)
    return read_documents(papers, [snapshot.sentences_of(paper_id)[0] for paper_id in paper_ids], tokenize)


def _topic(
    snapshot: Snapshot, text: str, rows: NDArray[np.int64], paper_ids: Sequence[str]
) -> tuple[Topic, NDArray[np.float64]]:
    """Return the topic as this corpus writes it, and for each paper the share of its words that it holds."""
    size = len(snapshot.paper_ids)

    def idf(token: str) -> float:
        return idf_weights([token], size, snapshot.keywords.document_frequency)[token]

    first = read_topic(text, tokenize, idf)
    holding = np.flatnonzero(_coverage(snapshot, first)[rows] >= 0.999)
    step = max(1, len(holding) // EXPLAINED)
    papers = snapshot.papers_of([paper_ids[place] for place in holding[::step][:EXPLAINED]])
    topic = read_topic(text, tokenize, idf, [paper.abstract for paper in papers], size)
    return topic, _coverage(snapshot, topic)[rows]


def _coverage(snapshot: Snapshot, topic: Topic) -> NDArray[np.float64]:
    def has(run: Sequence[str]) -> NDArray[np.bool_]:
        # By the stem as it is: stemming it once more may give another ("inverse", "invers", "inver").
        found = np.ones(len(snapshot.paper_ids), dtype=bool)
        for word in run:
            held = np.zeros(len(found), dtype=bool)
            held[snapshot.keywords.holding(word)] = True
            found &= held
        return found

    mass = sum(unit.weight for unit in topic.units) or 1.0
    found = np.zeros(len(snapshot.paper_ids))
    for unit in topic.units:
        found += unit.weight / mass * np.logical_or.reduce([has(run) for run in unit.alternatives])
    whole = [has(phrase) for phrase in topic.phrases]
    if topic.acronym:
        whole += [has(words) for words in tokenize([topic.acronym, f"{topic.acronym}s"]) if words]
    return np.asarray(np.where(np.logical_or.reduce(whole), 1.0, found) if whole else found, np.float64)


def _by_keyword(snapshot: Snapshot, topic: Topic) -> NDArray[np.bool_]:
    """Return for every paper of the snapshot whether one of its authors' keywords names the topic."""
    distinct = sorted({keyword for fields in snapshot.filters for keyword in fields["keywords"] if keyword})
    words = tokenize([split_words(keyword) for keyword in distinct]) if distinct else []
    acronym = topic.acronym.casefold() if topic.acronym else None
    naming = {
        keyword
        for keyword, own in zip(distinct, words, strict=True)
        if holds(topic, own, "") or keyword == acronym or keyword == f"{acronym}s"
    }
    return np.array([not naming.isdisjoint(fields["keywords"]) for fields in snapshot.filters], dtype=bool)


def _quote(snapshot: Snapshot, topic: Topic, document: Document, vector: NDArray[np.float32]) -> Quote:
    _, vectors = snapshot.sentences_of(document.paper.id)
    span = document.spans[telling_sentence(topic, document, vectors @ vector)]
    return Quote(document.paper.id, document.paper.abstract[span.start : span.end], span.start, span.end)
