"""A local, memory-mapped copy of what ranking needs of a corpus state: keyword index, sentence vectors.

Chroma holds the truth; a snapshot is built from it after each write, or by a reader that finds none for
the current state (another machine's server), and is never changed.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import time
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.errors import StoreError
from rag.keywords import KeywordIndex
from rag.rows import filter_fields, filter_form, quantize
from rag.store import EMPTY, Store
from rag.types import Filters, Span

KEPT = 2
"""Snapshots kept: the newest, and the one a reader may be opening at this moment."""
LAYOUT = 4
"""What a snapshot holds and how; one of another layout is never opened."""

_COMPLETE = "complete"
_BUILDING = "building-"
_ABANDONED = 3600.0  # seconds; building takes some of them for thousands of papers


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One corpus state. Row i of `keywords` and `papers` (papers, d) is paper `paper_ids[i]`; its sentences
    are rows `first[i]:first[i + 1]` of `spans` (n, 2) and `vectors` (n, d). Vectors are signed bytes of any
    scale; a paper's is the mean of its chunks'."""

    state: str
    keywords: KeywordIndex
    rows: dict[str, int]
    papers: NDArray[np.int8]
    first: NDArray[np.int64]
    spans: NDArray[np.int32]
    vectors: NDArray[np.int8]
    filters: Sequence[dict[str, Any]]
    names: Sequence[str]

    @property
    def paper_ids(self) -> tuple[str, ...]:
        """The ids of all papers of this state, in the order of the rows."""
        return self.keywords.paper_ids

    def named(self, name: str) -> NDArray[np.bool_]:
        """Return for every paper whether its label is a name or begins with it, in any case and punctuation."""
        wanted = _folded_name(name)
        return np.array([own.startswith(wanted) for own in self.names], dtype=bool)

    def sentences_of(self, paper_id: str) -> tuple[tuple[Span, ...], NDArray[np.float32]]:
        """Return the spans of a paper's sentences and their unit vectors, shape (n, d)."""
        row = self.rows[paper_id]
        part = slice(int(self.first[row]), int(self.first[row + 1]))
        spans = tuple(Span(int(start), int(end)) for start, end in self.spans[part])
        return spans, unit_rows(self.vectors[part])

    def cosines(self, paper_ids: Sequence[str], vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return for each paper the cosine of a unit vector with the paper's and with its best sentence's.

        Shape (papers, 2).
        """
        rows = np.array([self.rows[paper_id] for paper_id in paper_ids], dtype=np.int64)
        counts = self.first[rows + 1] - self.first[rows]
        starts = np.cumsum(counts) - counts
        places = np.arange(counts.sum()) + np.repeat(self.first[rows] - starts, counts)
        sentences = unit_rows(self.vectors[places]) @ vector
        best = np.maximum.reduceat(sentences, starts) if len(rows) else np.zeros(0, dtype=np.float32)
        return np.stack([unit_rows(self.papers[rows]) @ vector, best], axis=1)

    def allowed(self, filters: Filters) -> NDArray[np.bool_]:
        """Return for every paper whether the filters admit it."""
        wanted = {
            name: {filter_form(value) for value in getattr(filters, name)}
            for name in ("sources", "authors", "keywords")
        }
        venues = {filter_form(venue) for venue in filters.venues}
        return np.array(
            [
                (not filters.years or fields["year"] in filters.years)
                and (not venues or fields["venue"] in venues)
                and all(not values or values & set(fields[name]) for name, values in wanted.items())
                for fields in self.filters
            ],
            dtype=bool,
        )


def _folded_name(text: str) -> str:
    """Return the words of a name in lower case with a space on either side of each."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " " + " ".join(re.findall(r"[^\W_]+", plain)) + " "


def unit_rows(vectors: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return rows of bytes as unit vectors."""
    rows = np.asarray(vectors, dtype=np.float32)
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), dtype=np.float32)


def open_snapshot(store: Store, folder: Path) -> Snapshot:
    """Return the snapshot of the store's current state from `folder`, building it when there is none.

    A damaged one is built anew: the store still has everything. Raises `StoreError` when it cannot be written.
    """
    state = store.state()
    place = folder / f"{state}-{LAYOUT}"
    try:
        if (place / _COMPLETE).exists():
            try:
                return _load(state, place)
            except StoreError:
                logging.getLogger(__name__).warning("the snapshot in %s is damaged and made anew", place)
        shutil.rmtree(place, ignore_errors=True)
        _build(store, state, place)
        return _load(state, place)
    except OSError as error:
        raise StoreError(
            f"the snapshot of the index cannot be written in {folder} ({error}); make room or choose another --store"
        ) from error


def _build(store: Store, state: str, place: Path) -> None:
    # Nothing is complete in an "empty" index, whatever a first run that was killed has left.
    sentences = store.all_sentences() if state != EMPTY else {}
    means = store.paper_vectors() if sentences else {}
    papers = [paper for paper in store.all_papers() if paper.id in sentences and paper.id in means]
    papers.sort(key=lambda paper: paper.id)
    place.parent.mkdir(parents=True, exist_ok=True)
    # Errors of the cleaning: after the move there is nothing left to clean.
    with TemporaryDirectory(prefix=_BUILDING, dir=place.parent, ignore_cleanup_errors=True) as name:
        work = Path(name)
        # The title counts twice, as a field of more weight than the abstract (measured: +.003 to +.005 nDCG@10).
        texts = (f"{paper.title or paper.label}\n" * 2 + paper.abstract for paper in papers)
        KeywordIndex.build([paper.id for paper in papers], texts).save(work / "keywords")
        found = [sentences[paper.id] for paper in papers]
        # An empty array first: nothing cannot be joined, and it gives the columns where there is no paper.
        no_vectors = np.zeros((0, store.dimensions), dtype=np.int8)
        vectors = np.array([means[paper.id] for paper in papers], dtype=np.float32).reshape(-1, store.dimensions)
        np.save(work / "papers.npy", quantize(vectors))
        np.save(work / "first.npy", np.cumsum([0, *(len(part.spans) for part in found)], dtype=np.int64))
        np.save(work / "spans.npy", np.concatenate([np.zeros((0, 2), np.int32), *(part.spans for part in found)]))
        np.save(work / "vectors.npy", np.concatenate([no_vectors, *(part.vectors for part in found)]))
        (work / "filters.json").write_text(json.dumps([filter_fields(paper) for paper in papers]), "utf-8")
        names = [_folded_name(paper.label) for paper in papers]
        (work / "names.json").write_text(json.dumps(names), "utf-8")
        (work / _COMPLETE).touch()
        # Fails when another process built the same state meanwhile: then that one is taken.
        with suppress(OSError):
            os.replace(work, place)
    _forget_old(place)


def _load(state: str, place: Path) -> Snapshot:
    """Open a snapshot without reading it whole; raises `StoreError` when it is damaged."""
    keywords = KeywordIndex.load(place / "keywords")
    try:
        means = np.load(place / "papers.npy", mmap_mode="r")
        first = np.load(place / "first.npy")
        spans = np.load(place / "spans.npy", mmap_mode="r")
        vectors = np.load(place / "vectors.npy", mmap_mode="r")
        filters = json.loads((place / "filters.json").read_text("utf-8"))
        names = json.loads((place / "names.json").read_text("utf-8"))
        papers = {len(keywords.paper_ids), len(first) - 1, len(means), len(filters), len(names)}
        fits = len(papers) == 1 and len(spans) == len(vectors) == first[-1]
    except (OSError, ValueError, TypeError, EOFError) as error:
        raise StoreError(f"the snapshot in {place} is damaged ({error}); delete that folder") from error
    if not fits:
        raise StoreError(f"the snapshot in {place} does not fit together; delete that folder")
    rows = {paper_id: row for row, paper_id in enumerate(keywords.paper_ids)}
    return Snapshot(state, keywords, rows, means, first, spans, vectors, filters, names)


def _forget_old(place: Path) -> None:
    """Delete snapshots of earlier states, and what a process that was killed while building has left."""
    others: list[tuple[float, Path]] = []
    for entry in place.parent.iterdir():
        with suppress(FileNotFoundError):  # another process may be deleting too
            age = time.time() - entry.stat().st_mtime
            if entry != place and (not entry.name.startswith(_BUILDING) or age > _ABANDONED):
                others.append((age, entry))
    for _, old in sorted(others)[KEPT - 1 :]:
        shutil.rmtree(old, ignore_errors=True)
