"""A local, memory-mapped copy of what a search needs of a corpus state: keyword index, sentences, papers.

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
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.errors import StoreError
from rag.keywords import KeywordIndex, tokenize
from rag.rows import filter_fields, filter_form, is_part, paper_of, paper_row, quantize
from rag.store import EMPTY, Store
from rag.types import Filters, Paper, Span

KEPT = 2
"""Snapshots kept: the newest, and the one a reader may be opening at this moment."""
LAYOUT = 6
"""What a snapshot holds and how; one of another layout is never opened."""

_COMPLETE = "complete"
_BUILDING = "building-"
_ARRAYS = ("papers", "first", "spans", "vectors", "scales", "words", "word_first", "records", "record_first")
_ABANDONED = 3600.0  # seconds; building takes some of them for thousands of papers


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One corpus state. Row i of `keywords` and `papers` (papers, d) is paper `paper_ids[i]`; its sentences
    are rows `first[i]:first[i + 1]` of `spans` (n, 2) and `vectors` (n, d). Vectors are signed bytes of any
    scale, `scales` (n,) bring those of sentences to unit length; a paper's is the mean of its chunks'. The
    distinct words of sentence j, as numbers of the keyword index, are `words[word_first[j]:word_first[j + 1]]`,
    and the record of paper i is `records[record_first[i]:record_first[i + 1]]`, UTF-8.
    """

    state: str
    keywords: KeywordIndex
    rows: dict[str, int]
    papers: NDArray[np.int8]
    first: NDArray[np.int64]
    spans: NDArray[np.int32]
    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]
    words: NDArray[np.int32]
    word_first: NDArray[np.int64]
    records: NDArray[np.uint8]
    record_first: NDArray[np.int64]
    filters: Sequence[dict[str, Any]]
    names: Sequence[str]
    _by_name: Sequence[tuple[str, int]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", sorted((name, row) for row, name in enumerate(self.names)))

    @property
    def paper_ids(self) -> tuple[str, ...]:
        """The ids of all papers of this state, in the order of the rows."""
        return self.keywords.paper_ids

    def named(self, name: str) -> list[int]:
        """Return the rows of the papers whose label is a name or begins with it, in any case and punctuation."""
        wanted = _folded_name(name)
        rows = []
        for own, row in self._by_name[bisect_left(self._by_name, (wanted, -1)) :]:
            if not own.startswith(wanted):
                break
            rows.append(row)
        return sorted(rows)

    def papers_of(self, paper_ids: Iterable[str]) -> list[Paper]:
        """Return papers of this state in the order of their ids."""
        found = []
        for paper_id in paper_ids:
            row = self.rows[paper_id]
            record = self.records[self.record_first[row] : self.record_first[row + 1]].tobytes()
            abstract, about = json.loads(record)
            found.append(paper_of(paper_id, abstract, about))
        return found

    def words_of(self, paper_id: str, words: Iterable[str]) -> list[frozenset[str]]:
        """Return for each sentence of a paper which of some stemmed words it holds."""
        row = self.rows[paper_id]
        bounds = self.word_first[self.first[row] : self.first[row + 1] + 1]
        own = self.words[bounds[0] : bounds[-1]]
        held: list[set[str]] = [set() for _ in bounds[1:]]
        known = [(word, number) for word in words if (number := self.keywords.number(word)) is not None]
        which, places = np.nonzero(own == np.array([number for _, number in known], dtype=np.int32)[:, None])
        sentences = np.searchsorted(bounds, places + bounds[0], side="right") - 1
        for sentence, word in zip(sentences.tolist(), which.tolist(), strict=True):
            held[sentence].add(known[word][0])
        return [frozenset(found) for found in held]

    def sentences_of(self, paper_id: str) -> tuple[tuple[Span, ...], NDArray[np.float32]]:
        """Return the spans of a paper's sentences and their unit vectors, shape (n, d)."""
        row = self.rows[paper_id]
        part = slice(int(self.first[row]), int(self.first[row + 1]))
        spans = tuple(Span(start, end) for start, end in self.spans[part].tolist())
        return spans, self.vectors[part] * self.scales[part, None]

    def cosines(self, paper_ids: Sequence[str], vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return for each paper the cosine of a unit vector with the paper's and with its best sentence's.

        Shape (papers, 2).
        """
        rows = np.array([self.rows[paper_id] for paper_id in paper_ids], dtype=np.int64)
        counts = self.first[rows + 1] - self.first[rows]
        starts = np.cumsum(counts) - counts
        places = np.arange(counts.sum()) + np.repeat(self.first[rows] - starts, counts)
        sentences = (self.vectors[places].astype(np.float32) @ vector) * self.scales[places]
        best = np.maximum.reduceat(sentences, starts) if len(rows) else np.zeros(0, dtype=np.float32)
        return np.stack([unit_rows(self.papers[rows]) @ vector, best], axis=1)

    def widened(self, filters: Filters) -> Filters:
        """Return filters whose venues are whole names: all of this state of which the given ones are a part."""
        if not filters.venues:
            return filters
        held = {str(fields["venue"]) for fields in self.filters}
        found = {name for name in held if any(is_part(venue, name) for venue in filters.venues)}
        return replace(filters, venues=filters.venues | found)

    def allowed(self, filters: Filters) -> NDArray[np.bool_]:
        """Return for every paper whether the filters admit it; a venue may be a part of its name."""
        filters = self.widened(filters)
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
        keywords = KeywordIndex.build([paper.id for paper in papers], texts)
        keywords.save(work / "keywords")
        found = [sentences[paper.id] for paper in papers]
        # An empty array first: nothing cannot be joined, and it gives the columns where there is no paper.
        no_vectors = np.zeros((0, store.dimensions), dtype=np.int8)
        vectors = np.array([means[paper.id] for paper in papers], dtype=np.float32).reshape(-1, store.dimensions)
        np.save(work / "papers.npy", quantize(vectors))
        np.save(work / "first.npy", np.cumsum([0, *(len(part.spans) for part in found)], dtype=np.int64))
        np.save(work / "spans.npy", np.concatenate([np.zeros((0, 2), np.int32), *(part.spans for part in found)]))
        rows = np.concatenate([no_vectors, *(part.vectors for part in found)])
        np.save(work / "vectors.npy", rows)
        np.save(work / "scales.npy", 1 / np.maximum(np.linalg.norm(rows.astype(np.float32), axis=1), 1e-9))
        words = (
            np.array(sorted({number for word in own if (number := keywords.number(word)) is not None}), dtype=np.int32)
            for paper, part in zip(papers, found, strict=True)
            for own in tokenize([paper.abstract[start:end] for start, end in part.spans.tolist()])
        )
        _save_lists(work / "words.npy", work / "word_first.npy", words, np.int32)
        _save_lists(work / "records.npy", work / "record_first.npy", map(_record, papers), np.uint8)
        (work / "filters.json").write_text(json.dumps([filter_fields(paper) for paper in papers]), "utf-8")
        names = [_folded_name(paper.label) for paper in papers]
        (work / "names.json").write_text(json.dumps(names), "utf-8")
        (work / _COMPLETE).touch()
        # Fails when another process built the same state meanwhile: then that one is taken.
        with suppress(OSError):
            os.replace(work, place)
    _forget_old(place)


def _record(paper: Paper) -> NDArray[np.uint8]:
    text = json.dumps([paper.abstract, paper_row(paper)])
    return np.frombuffer(text.encode(), dtype=np.uint8)


def _save_lists(values: Path, first: Path, lists: Iterable[NDArray[Any]], kind: type[np.generic]) -> None:
    """Write lists of numbers one behind the other, and where each begins."""
    kept = list(lists)
    np.save(values, np.concatenate([np.zeros(0, kind), *kept]))
    np.save(first, np.cumsum([0, *map(len, kept)], dtype=np.int64))


def _load(state: str, place: Path) -> Snapshot:
    """Open a snapshot without reading it whole; raises `StoreError` when it is damaged."""
    keywords = KeywordIndex.load(place / "keywords")
    try:
        arrays = {name: _mapped(place / f"{name}.npy") for name in _ARRAYS}
        filters = json.loads((place / "filters.json").read_text("utf-8"))
        names = json.loads((place / "names.json").read_text("utf-8"))
        fits = _fit(arrays, len(keywords.paper_ids), len(filters), len(names))
    except (OSError, ValueError, TypeError, EOFError, IndexError) as error:
        raise StoreError(f"the snapshot in {place} is damaged ({error}); delete that folder") from error
    if not fits:
        raise StoreError(f"the snapshot in {place} does not fit together; delete that folder")
    rows = {paper_id: row for row, paper_id in enumerate(keywords.paper_ids)}
    return Snapshot(state, keywords, rows, **arrays, filters=filters, names=names)


def _mapped(file: Path) -> NDArray[Any]:
    """Map an array; as a plain one, since each cut of a `memmap` costs microseconds."""
    return np.asarray(np.load(file, mmap_mode="r")).view(np.ndarray)


def _fit(arrays: Mapping[str, NDArray[Any]], papers: int, *others: int) -> bool:
    """Tell whether the arrays belong to so many papers and to each other."""
    first, word_first, record_first = arrays["first"], arrays["word_first"], arrays["record_first"]
    counts = {papers, *others, len(first) - 1, len(record_first) - 1, len(arrays["papers"])}
    sentences = {len(arrays["spans"]), len(arrays["vectors"]), len(arrays["scales"]), len(word_first) - 1}
    return (
        counts == {papers}
        and sentences == {int(first[-1])}
        and len(arrays["words"]) == word_first[-1]
        and len(arrays["records"]) == record_first[-1]
    )


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
