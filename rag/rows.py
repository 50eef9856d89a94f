"""How papers and chunks become rows of the store and come back: plain values, JSON, bytes as text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.types import Chunk, Filters, Paper, Source, SourceFile, Vectors, Version


@dataclass(frozen=True, slots=True)
class Record:
    """A paper ready to be stored: its chunks, their vectors (chunks, d), its sentences' (sentences, d)."""

    paper: Paper
    chunks: tuple[Chunk, ...]
    vectors: Vectors
    sentence_vectors: Vectors


@dataclass(frozen=True, slots=True)
class StoredSentences:
    """The sentences of one paper, in order: spans of shape (n, 2), vectors as bytes of shape (n, d)."""

    spans: NDArray[np.int32]
    vectors: NDArray[np.int8]


def record_digest(paper: Paper) -> str:
    """Return a hash of everything stored of a paper, to tell whether it changed."""
    return hashlib.sha256((paper.abstract + _record_json(paper)).encode()).hexdigest()[:16]


def filter_fields(paper: Paper) -> dict[str, Any]:
    """Return the fields to filter by, each value in its `filter_form`; authors also by their family names."""

    def keys(values: Iterable[str]) -> list[str]:
        return sorted({filter_form(value) for value in values}) or [""]  # Chroma refuses an empty list

    return {
        "year": paper.year or 0,
        "venue": filter_form(paper.venue or ""),
        "sources": keys(source.file for source in paper.sources),
        "authors": keys([*paper.authors, *(name.split()[-1] for name in paper.authors if name.split())]),
        "keywords": keys(paper.keywords),
    }


def filter_form(value: str) -> str:
    """Return a value as filters compare it: without case, outer space and differences of Unicode form."""
    return unicodedata.normalize("NFKC", value).strip().casefold()


def admits(filters: Filters, fields: Mapping[str, Any]) -> bool:
    """Return whether filters admit the paper of these `filter_fields`; a venue by any part of its name."""
    return (
        (not filters.years or fields["year"] in filters.years)
        and (not filters.venues or any(is_part(venue, fields["venue"]) for venue in filters.venues))
        and all(
            not wanted or any(filter_form(value) in fields[name] for value in wanted)
            for name, wanted in (
                ("sources", filters.sources),
                ("authors", filters.authors),
                ("keywords", filters.keywords),
            )
        )
    )


def is_part(part: str, name: str) -> bool:
    """Return whether one or more whole words of a venue's name are `part`: of "NeurIPS 2026" are "neurips" and
    "2026", "IPS" is not. Letters and figures side by side are two words ("ICML2025")."""
    wanted, whole = _words(part), _words(name)
    places = range(len(whole) - len(wanted) + 1)
    return bool(wanted) and any(whole[place : place + len(wanted)] == wanted for place in places)


def _words(text: str) -> list[str]:
    # A character of a script without spaces stands for itself.
    return re.findall(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\d+|[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+",
                      filter_form(text))  # fmt: skip


def filter_conditions(filters: Filters) -> dict[str, Any]:
    """Return filters that are not empty as Chroma's conditions on `filter_fields`."""
    conditions: list[dict[str, Any]] = []
    if filters.years:
        conditions.append({"year": {"$in": sorted(filters.years)}})
    if filters.venues:
        conditions.append({"venue": {"$in": sorted(filter_form(venue) for venue in filters.venues)}})
    for field in ("sources", "authors", "keywords"):
        wanted = [{field: {"$contains": filter_form(value)}} for value in sorted(getattr(filters, field))]
        if wanted:
            conditions.append(wanted[0] if len(wanted) == 1 else {"$or": wanted})
    return conditions[0] if len(conditions) == 1 else {"$and": conditions}


def chunk_rows(record: Record) -> Iterator[dict[str, Any]]:
    """Yield the rows of a paper's chunks: id, vector, metadata.

    The chunk's text is not among them: it stands in the paper's abstract, and Chroma's full-text index of it
    took half the time of storing.
    """
    first = 0
    for chunk, vector in zip(record.chunks, record.vectors, strict=True):
        last = first + len(chunk.sentences)
        spans = np.array([(span.start, span.end) for span in chunk.sentences], dtype=np.int32)
        yield {
            "id": chunk.id,
            "vector": vector,
            "metadata": {
                "paper_id": record.paper.id,
                "start": chunk.start,
                "end": chunk.end,
                "spans": base64.b64encode(spans.tobytes()).decode(),
                "vectors": base64.b64encode(quantize(record.sentence_vectors[first:last]).tobytes()).decode(),
                **filter_fields(record.paper),
            },
        }
        first = last


def paper_id_of(chunk_id: str) -> str:
    """Return the id of a chunk's paper: the chunk's up to the colon (see `chunk.chunk_paper`)."""
    return chunk_id.partition(":")[0]


def sentences_of(rows: Iterable[Mapping[str, Any]], dimensions: int) -> dict[str, StoredSentences]:
    """Return the sentences in the metadata of chunks by paper, in the order of its abstract."""
    parts: dict[str, list[tuple[int, NDArray[np.int32], NDArray[np.int8]]]] = {}
    for row in rows:
        spans = np.frombuffer(base64.b64decode(row["spans"]), dtype=np.int32).reshape(-1, 2)
        vectors = np.frombuffer(base64.b64decode(row["vectors"]), dtype=np.int8).reshape(len(spans), dimensions)
        parts.setdefault(row["paper_id"], []).append((int(row["start"]), spans, vectors))
    found = {}
    for paper_id, chunks in parts.items():
        chunks.sort(key=lambda chunk: chunk[0])
        found[paper_id] = StoredSentences(
            np.concatenate([spans for _, spans, _ in chunks]), np.concatenate([vectors for _, _, vectors in chunks])
        )
    return found


def quantize(vectors: Vectors) -> NDArray[np.int8]:
    """Return unit vectors as signed bytes, scaled to the largest component of each (cosine error < 1e-3)."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=1e-9)
    return np.asarray(np.rint(vectors / largest * 127), dtype=np.int8)


def mean_vector(vectors: Vectors) -> NDArray[np.float32]:
    """Return the mean of vectors, of unit length."""
    mean = vectors.mean(axis=0)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12), dtype=np.float32)


def _record_json(paper: Paper) -> str:
    record = {"label": paper.label, **_facts(paper)}
    if paper.versions:
        record["versions"] = [
            {
                "id": version.id,
                # The stored text stands in the row already.
                "abstract": None if version.abstract == paper.abstract else version.abstract,
                **_facts(version),
            }
            for version in paper.versions
        ]
    return json.dumps(record, ensure_ascii=False)


def _facts(of: Paper | Version) -> dict[str, Any]:
    return {
        "title": of.title,
        "authors": of.authors,
        "year": of.year,
        "venue": of.venue,
        "url": of.url,
        "keywords": of.keywords,
        "sources": [(source.file, source.ordinal, source.line) for source in of.sources],
    }


def _facts_of(record: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "title": record["title"],
        "authors": tuple(record["authors"]),
        "year": record["year"],
        "venue": record["venue"],
        "url": record["url"],
        "keywords": tuple(record["keywords"]),
        "sources": tuple(Source(file, ordinal, line) for file, ordinal, line in record["sources"]),
    }


def paper_row(paper: Paper) -> dict[str, Any]:
    """Return the metadata of a paper's row."""
    return {"record": _record_json(paper), "digest": record_digest(paper)}


def paper_of(paper_id: str, abstract: str, row: Mapping[str, Any]) -> Paper:
    """Return a paper from its row's id, document and metadata."""
    record = json.loads(row["record"])
    versions = tuple(
        Version(id=version["id"], abstract=abstract if version["abstract"] is None else version["abstract"],
                **_facts_of(version))
        for version in record.get("versions", ())
    )  # fmt: skip
    return Paper(id=paper_id, abstract=abstract, label=record["label"], **_facts_of(record), versions=versions)


def files_json(files: Iterable[SourceFile]) -> str:
    """Return the files of an index as text, to be kept beside it."""
    return json.dumps({file.name: (file.path, file.digest, file.indexed) for file in files}, ensure_ascii=False)


def files_of(text: str) -> dict[str, SourceFile]:
    """Return the files of an index by name from what `files_json` made of them."""
    return {name: SourceFile(name, *about) for name, about in json.loads(text or "{}").items()}


def pairs_json(pairs: Iterable[frozenset[str]]) -> str:
    """Return pairs of ids as text, to be kept beside an index."""
    return json.dumps(sorted(sorted(pair) for pair in pairs))


def pairs_of(text: str) -> frozenset[frozenset[str]]:
    """Return the pairs from what `pairs_json` made of them."""
    return frozenset(frozenset(pair) for pair in json.loads(text or "[]"))
