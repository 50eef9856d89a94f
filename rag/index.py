"""Building the index: which papers are new, their chunks and vectors, batch by batch into the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from rag.chunk import chunk_paper
from rag.embed import MiniLM
from rag.store import Record, Store, record_digest
from rag.types import Paper, Span

BATCH = 64
"""Papers a batch: a few seconds of work, the most that an interruption loses."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """How many papers were new (or changed) and how many cost nothing."""

    added: int
    unchanged: int


def index_papers(
    papers: Sequence[Paper],
    store: Store,
    encoder: MiniLM,
    count_tokens: Callable[[str], int],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> IndexReport:
    """Bring `papers` into the store; those that are there unchanged cost nothing.

    A paper that is there from another file keeps its sources and gets the facts it lacked. `progress` is
    called with (papers done, papers to do). The caller holds `store.writing()`.
    """
    stored = store.digests()
    present = store.papers([paper.id for paper in papers if paper.id in stored])
    new: list[Paper] = []
    touched: list[Paper] = []
    added = unchanged = 0
    for paper in papers:
        before = present.get(paper.id)
        now = combine(before, paper) if before else paper
        if before is None:
            added += 1
            new.append(now)
        elif stored[paper.id] == record_digest(now):
            unchanged += 1
        elif before.title == now.title:
            touched.append(now)
        else:  # the title is part of the vectors
            new.append(now)
    store.update(touched)
    done = 0
    for batch in _batches(new):
        store.put(embed_papers(batch, encoder, count_tokens))
        done += len(batch)
        progress(done, len(new))
    return IndexReport(added, unchanged)


def combine(stored: Paper, loaded: Paper) -> Paper:
    """Return the stored paper with the sources and missing facts of another record of the same text."""
    places = {str(source): source for source in (*stored.sources, *loaded.sources)}
    return replace(
        stored,
        label=loaded.label if loaded.title and not stored.title else stored.label,
        title=stored.title or loaded.title,
        authors=stored.authors or loaded.authors,
        year=stored.year or loaded.year,
        venue=stored.venue or loaded.venue,
        url=stored.url or loaded.url,
        keywords=stored.keywords or loaded.keywords,
        sources=tuple(places.values()),
    )


def embed_papers(
    papers: Sequence[Paper], encoder: MiniLM, count_tokens: Callable[[str], int]
) -> list[Record]:
    """Chunk and embed papers; each chunk is embedded behind the paper's title, where it has one."""
    chunks = [chunk_paper(paper, count_tokens) for paper in papers]
    texts: list[str] = []
    spans: list[list[Span]] = []
    for paper, parts in zip(papers, chunks, strict=True):
        lead = f"{paper.title}. " if paper.title else ""
        for chunk in parts:
            shift = len(lead) - chunk.start
            texts.append(lead + chunk.text)
            spans.append([Span(span.start + shift, span.end + shift) for span in chunk.sentences])
    vectors = encoder.encode_chunks(texts, spans)
    records = []
    for paper, parts in zip(papers, chunks, strict=True):
        pairs = list(islice(vectors, len(parts)))
        records.append(
            Record(
                paper,
                parts,
                np.stack([chunk_vector for chunk_vector, _ in pairs]),
                np.concatenate([sentence_vectors for _, sentence_vectors in pairs]),
            )
        )
    return records


def _batches(papers: Sequence[Paper]) -> Iterator[Sequence[Paper]]:
    for first in range(0, len(papers), BATCH):
        yield papers[first : first + BATCH]
