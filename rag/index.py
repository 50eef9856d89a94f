"""Building the index: which papers are new, their chunks and vectors, batch by batch into the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice

import numpy as np

from rag.chunk import chunk_paper
from rag.embed import MiniLM
from rag.join import join
from rag.rows import Record
from rag.store import Store
from rag.types import Paper, SourceFile, Span

BATCH = 64
"""Papers a batch: a few seconds of work, the most that an interruption loses."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What became of the papers given: `added` were new, `unchanged` cost nothing, `changed` got other facts
    or another text, `merged` are records that joined a paper from another file; `removed` are the papers that
    were in the index and that no file holds any more."""

    added: int
    unchanged: int
    changed: int = 0
    merged: int = 0
    removed: int = 0


def index_papers(
    papers: Sequence[Paper],
    store: Store,
    encoder: MiniLM,
    count_tokens: Callable[[str], int],
    progress: Callable[[int, int], None] = lambda done, total: None,
    files: Sequence[SourceFile] = (),
) -> IndexReport:
    """Bring `papers` into the store; those that are there unchanged cost nothing.

    A paper that is there from another file, in this wording or another, keeps its text and its sources and gets
    the facts it lacked (see `join`). `files` are those the papers were read from, wholly: what else the index has
    of them goes, after everything else, so that an interruption loses nothing. `progress` is called with (papers
    done, papers to do). The caller holds `store.writing()`.
    """
    known = store.files()
    # Their names are taken from now on, finished or not.
    store.remember_files({**known, **{file.name: _begun(file, known) for file in files}})
    stored = {paper.id: paper for paper in store.all_papers()}
    result = join(stored, papers, {file.name for file in files}, store.apart())
    store.update(result.touched)
    done = 0
    for batch in _batches(result.new):
        store.put(embed_papers(batch, encoder, count_tokens))
        done += len(batch)
        progress(done, len(result.new))
    store.delete(result.gone)
    if files:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        begun = store.files()
        finished = {file.name: begun[file.name] for file in files}
        finished = {name: replace(file, indexed=file.indexed or now) for name, file in finished.items()}
        store.remember_files({**begun, **finished})
    return IndexReport(result.added, result.unchanged, result.changed, result.merged, result.removed)


def _begun(file: SourceFile, known: Mapping[str, SourceFile]) -> SourceFile:
    """Return a file that is being indexed; the same bytes keep their date."""
    before = known.get(file.name)
    return replace(file, indexed=before.indexed if before and before.digest == file.digest else "")


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
