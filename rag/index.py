"""Building the index: which papers are new, their chunks and vectors, batch by batch into the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from rag.chunk import chunk_paper
from rag.embed import MiniLM
from rag.rows import Record, record_digest
from rag.store import Store
from rag.types import Paper, Source, Span
from rag.versions import folded

BATCH = 64
"""Papers a batch: a few seconds of work, the most that an interruption loses."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What became of the papers given: `added` were new, `unchanged` cost nothing, `changed` got other facts
    or another text, `merged` are records that joined a paper from another file."""

    added: int
    unchanged: int
    changed: int = 0
    merged: int = 0


def index_papers(
    papers: Sequence[Paper],
    store: Store,
    encoder: MiniLM,
    count_tokens: Callable[[str], int],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> IndexReport:
    """Bring `papers` into the store; those that are there unchanged cost nothing.

    A paper that is there from another file keeps its sources and gets the facts it lacked (see `combine`).
    `progress` is called with (papers done, papers to do). The caller holds `store.writing()`.
    """
    stored = store.digests()
    present = store.papers([paper.id for paper in papers if paper.id in stored])
    given: dict[str, Paper] = {}
    for paper in papers:  # one id twice in one batch would be refused by the store
        given[paper.id] = folded(given[paper.id], paper) if paper.id in given else paper
    given = {paper_id: replace(paper, sources=_in_order(paper.sources)) for paper_id, paper in given.items()}
    new: list[Paper] = []
    touched: list[Paper] = []
    added = unchanged = merged = 0
    for paper in given.values():
        before = present.get(paper.id)
        if before is None:
            added += 1
            new.append(paper)
            continue
        now = combine(before, paper)
        if stored[paper.id] == record_digest(now):
            unchanged += 1
            continue
        merged += not _files(paper) & _files(before)
        # Title and text are part of the vectors.
        (touched if (before.title, before.abstract) == (now.title, now.abstract) else new).append(now)
    store.update(touched)
    done = 0
    for batch in _batches(new):
        store.put(embed_papers(batch, encoder, count_tokens))
        done += len(batch)
        progress(done, len(new))
    changed = len(given) - added - unchanged - merged
    return IndexReport(added, unchanged, changed, merged + len(papers) - len(given))


def combine(stored: Paper, loaded: Paper) -> Paper:
    """Return the stored paper with what another record of the same text adds.

    The places in a file that the record names are taken from it, since the records of that file may have
    moved; those in other files stay. Facts that are missing are added; where the record comes from all the
    files of the stored paper it is a newer reading of them, and its facts and its wording count.
    """
    kept = tuple(source for source in stored.sources if source.file not in _files(loaded))
    first, second = (stored, loaded) if kept else (loaded, stored)
    title = first.title or second.title
    labelled = first if first.title or not second.title else second
    return Paper(
        id=stored.id,
        abstract=first.abstract,
        label=labelled.label,
        title=title,
        authors=first.authors or second.authors,
        year=first.year or second.year,
        venue=first.venue or second.venue,
        url=first.url or second.url,
        keywords=first.keywords or second.keywords,
        sources=_in_order((*kept, *loaded.sources)),
    )


def _in_order(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Return the sources in the order of files and places, so that the same ones are stored the same way."""
    return tuple(sorted(set(sources), key=lambda source: (source.file, source.ordinal, source.line)))


def _files(paper: Paper) -> set[str]:
    return {source.file for source in paper.sources}


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
