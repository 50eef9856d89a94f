"""The vector store: papers and chunks in Chroma, embedded in a folder or behind the URL of a server.

Two collections. `plenary-papers` has one row for each paper: its abstract, its record as JSON and the mean
of its chunk vectors. `plenary-chunks` has one row for each chunk: its text, vector, the spans and vectors of
its sentences, and the fields to filter by. A paper's row is written after its chunks, so that a paper that
is there is complete, whatever moment an indexing run was killed at.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import chromadb
import httpx
import numpy as np
from chromadb.config import Settings
from chromadb.errors import ChromaError, NotFoundError
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from rag.errors import StoreError
from rag.types import Chunk, Filters, Paper, Source, Vectors

PAPERS, CHUNKS = "plenary-papers", "plenary-chunks"
FORMAT = 1
"""Layout of the rows; an index of another layout is refused with the remedy."""
PAGE = 5_000
"""Rows a request: below Chroma's batch limit (5,461) and SQLite's limit of variables in one statement."""


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


class Store:
    """An open index. Threads may share it; one process writes at a time (embedded), any number read."""

    def __init__(self, location: str, model_id: str, dimensions: int) -> None:
        """Open or create the index at a folder or URL; raises `StoreError` when it cannot be used."""
        self.location, self.model_id, self.dimensions = location, model_id, dimensions
        self.folder = None if _is_url(location) else Path(location).expanduser()
        self._connect()

    def _connect(self) -> None:
        with _explained(self.location):
            self._client = _client(self.location, self.folder)
            self._papers = self._collection(PAPERS)
            self._chunks = self._collection(CHUNKS)

    def _collection(self, name: str) -> Any:
        about = {"plenary_format": FORMAT, "embedding_model": self.model_id, "dimensions": self.dimensions}
        try:
            collection = self._client.get_collection(name, embedding_function=None)
        except NotFoundError:
            # ef_construction and the degree are Chroma's defaults: recall@100 against exact search was 1.0.
            return self._client.create_collection(
                name,
                embedding_function=None,
                metadata={**about, "state": "empty"},
                configuration={"hnsw": {"space": "cosine"}},
            )
        found = collection.metadata or {}
        if found.get("plenary_format") != FORMAT:
            raise StoreError(
                f"the index at {self.location} has format {found.get('plenary_format')}, this version reads "
                f"{FORMAT}; index the files again into another --store"
            )
        if found.get("embedding_model") != self.model_id:
            raise StoreError(
                f"the index at {self.location} was built with the embedding model "
                f"{found.get('embedding_model')}, not {self.model_id}; index the files again into another --store"
            )
        if collection.configuration.get("hnsw", {}).get("space") != "cosine":
            raise StoreError(f"the collection {name} at {self.location} does not use cosine distance")
        return collection

    def close(self) -> None:
        """Release the files or connections; a closed store cannot be used again."""
        self._client.close()

    def state(self) -> str:
        """Return the corpus state: a hash of what is stored, or "empty". Fresh across processes."""
        with _explained(self.location):
            return str(self._client.get_collection(PAPERS, embedding_function=None).metadata["state"])

    def reopen(self) -> None:
        """Open anew, to see what another process wrote: an open embedded index would search stale vectors."""
        self._client.close()
        self._connect()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the right to write; on the way out the corpus state is renewed, also after an error.

        Raises `StoreError` when another process is writing: two writers would corrupt an embedded index.
        """
        lock = FileLock(self.folder / "write.lock", timeout=0) if self.folder else None
        try:
            if lock:
                lock.acquire()
        except Timeout:
            raise StoreError(
                f"another process is writing the index at {self.location}; wait until it has finished"
            ) from None
        try:
            yield
            self._renew_state()
        finally:
            if lock:
                lock.release()

    def _renew_state(self) -> None:
        digest = hashlib.sha256()
        for paper_id, record_digest in sorted(self.digests().items()):
            digest.update(f"{paper_id}:{record_digest}\n".encode())
        with _explained(self.location):
            state = digest.hexdigest()[:16] if self._papers.count() else "empty"
            self._papers.modify(metadata={**(self._papers.metadata or {}), "state": state})

    def digests(self) -> dict[str, str]:
        """Return for every stored paper the digest of its record (`record_digest`)."""
        return {row_id: str(meta["digest"]) for row_id, meta, _ in self._rows(self._papers, ["metadatas"])}

    def put(self, records: Sequence[Record]) -> None:
        """Store papers, replacing what was stored under their ids."""
        with _explained(self.location):
            known = self._existing([record.paper.id for record in records])
            if known:
                self.delete(known)
            rows = [row for record in records for row in _chunk_rows(record)]
            for part in _batches(rows, PAGE):
                self._chunks.upsert(
                    ids=[row["id"] for row in part],
                    embeddings=[row["vector"] for row in part],
                    documents=[row["text"] for row in part],
                    metadatas=[row["metadata"] for row in part],
                )
            for batch in _batches(records, PAGE):
                self._papers.upsert(
                    ids=[record.paper.id for record in batch],
                    embeddings=[_mean(record.vectors) for record in batch],
                    documents=[record.paper.abstract for record in batch],
                    metadatas=[_paper_row(record.paper) for record in batch],
                )

    def update(self, papers: Sequence[Paper]) -> None:
        """Store changed sources or other facts of papers whose text and title stay the same."""
        with _explained(self.location):
            for paper in papers:
                self._papers.update(ids=[paper.id], metadatas=[_paper_row(paper)])
                chunk_ids = self._chunks.get(where={"paper_id": paper.id}, include=[])["ids"]
                self._chunks.update(ids=chunk_ids, metadatas=[filter_fields(paper)] * len(chunk_ids))

    def delete(self, paper_ids: Sequence[str]) -> None:
        """Remove papers; ids that are not stored are ignored."""
        with _explained(self.location):
            for part in _batches(paper_ids, 1_000):
                self._papers.delete(ids=list(part))
                self._chunks.delete(where={"paper_id": {"$in": list(part)}})

    def papers(self, paper_ids: Sequence[str]) -> dict[str, Paper]:
        """Return the stored papers among `paper_ids`, by id."""
        found: dict[str, Paper] = {}
        with _explained(self.location):
            for part in _batches(paper_ids, PAGE):
                rows = self._papers.get(ids=list(part), include=["documents", "metadatas"])
                for row_id, text, meta in zip(rows["ids"], rows["documents"], rows["metadatas"], strict=True):
                    found[row_id] = _paper(row_id, text, meta)
        return found

    def all_papers(self) -> Iterator[Paper]:
        """Yield every stored paper, page by page, in no defined order."""
        for row_id, meta, text in self._rows(self._papers, ["metadatas", "documents"]):
            yield _paper(row_id, text, meta)

    def paper_vectors(self) -> dict[str, NDArray[np.float32]]:
        """Return the vector of every stored paper: the mean of its chunks', of unit length."""
        found: dict[str, NDArray[np.float32]] = {}
        with _explained(self.location):
            for offset in range(0, self._papers.count(), PAGE):
                rows = self._papers.get(limit=PAGE, offset=offset, include=["embeddings"])
                found.update(zip(rows["ids"], np.asarray(rows["embeddings"], dtype=np.float32), strict=True))
        return found

    def all_sentences(self) -> dict[str, StoredSentences]:
        """Return the sentences of every stored paper, by its id."""
        parts: dict[str, list[tuple[int, NDArray[np.int32], NDArray[np.int8]]]] = {}
        for _, meta, _ in self._rows(self._chunks, ["metadatas"]):
            spans = np.frombuffer(base64.b64decode(meta["spans"]), dtype=np.int32).reshape(-1, 2)
            vectors = np.frombuffer(base64.b64decode(meta["vectors"]), dtype=np.int8)
            parts.setdefault(meta["paper_id"], []).append(
                (int(meta["start"]), spans, vectors.reshape(len(spans), self.dimensions))
            )
        return {
            paper_id: StoredSentences(
                np.concatenate([spans for _, spans, _ in sorted(found, key=lambda part: part[0])]),
                np.concatenate([vectors for _, _, vectors in sorted(found, key=lambda part: part[0])]),
            )
            for paper_id, found in parts.items()
        }

    def search(
        self, vector: NDArray[np.float32], count: int, filters: Filters | None = None
    ) -> dict[str, float]:
        """Return the papers of the nearest `count` chunks with the best cosine of each, best first."""
        with _explained(self.location):
            rows = self._chunks.query(
                query_embeddings=[vector],
                n_results=count,
                where=_where(filters) if filters else None,
                include=["distances"],  # the paper stands in the chunk's id; reading the rows would cost ten times more
            )
        best: dict[str, float] = {}
        for row_id, distance in zip(rows["ids"][0], rows["distances"][0], strict=True):
            best.setdefault(row_id.partition(":")[0], 1.0 - float(distance))
        return best

    def counts(self) -> tuple[int, int]:
        """Return how many papers and chunks are stored."""
        with _explained(self.location):
            return self._papers.count(), self._chunks.count()

    def _existing(self, paper_ids: Sequence[str]) -> list[str]:
        found: list[str] = []
        for part in _batches(paper_ids, PAGE):
            found += self._papers.get(ids=list(part), include=[])["ids"]
        return found

    def _rows(self, collection: Any, include: list[str]) -> Iterator[tuple[str, Mapping[str, Any], str]]:
        with _explained(self.location):
            for offset in range(0, collection.count(), PAGE):
                rows = collection.get(limit=PAGE, offset=offset, include=include)
                texts = rows["documents"] or [""] * len(rows["ids"])
                yield from zip(rows["ids"], rows["metadatas"], texts, strict=True)


def record_digest(paper: Paper) -> str:
    """Return a hash of everything stored of a paper, to tell whether it changed."""
    return hashlib.sha256((paper.abstract + _record_json(paper)).encode()).hexdigest()[:16]


def filter_fields(paper: Paper) -> dict[str, Any]:
    """Return the fields to filter by, case-folded. Authors also by their last word, the family name."""

    def keys(values: Iterable[str]) -> list[str]:
        return sorted({value.casefold() for value in values}) or [""]  # Chroma refuses an empty list

    return {
        "year": paper.year or 0,
        "venue": (paper.venue or "").casefold(),
        "sources": keys(source.file for source in paper.sources),
        "authors": keys([*paper.authors, *(name.split()[-1] for name in paper.authors if name.split())]),
        "keywords": keys(paper.keywords),
    }


def _where(filters: Filters) -> dict[str, Any]:
    conditions: list[dict[str, Any]] = []
    if filters.years:
        conditions.append({"year": {"$in": sorted(filters.years)}})
    if filters.venues:
        conditions.append({"venue": {"$in": sorted(venue.casefold() for venue in filters.venues)}})
    for field in ("sources", "authors", "keywords"):
        wanted = [{field: {"$contains": value.casefold()}} for value in sorted(getattr(filters, field))]
        if wanted:
            conditions.append(wanted[0] if len(wanted) == 1 else {"$or": wanted})
    return conditions[0] if len(conditions) == 1 else {"$and": conditions}


def _chunk_rows(record: Record) -> Iterator[dict[str, Any]]:
    first = 0
    for chunk, vector in zip(record.chunks, record.vectors, strict=True):
        last = first + len(chunk.sentences)
        spans = np.array([(span.start, span.end) for span in chunk.sentences], dtype=np.int32)
        yield {
            "id": chunk.id,
            "vector": vector,
            "text": chunk.text,
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


def quantize(vectors: Vectors) -> NDArray[np.int8]:
    """Return unit vectors as signed bytes, scaled to the largest component of each (cosine error < 1e-3)."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=1e-9)
    return np.asarray(np.rint(vectors / largest * 127), dtype=np.int8)


def _mean(vectors: Vectors) -> NDArray[np.float32]:
    mean = vectors.mean(axis=0)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12), dtype=np.float32)


def _record_json(paper: Paper) -> str:
    return json.dumps(
        {
            "label": paper.label,
            "title": paper.title,
            "authors": paper.authors,
            "year": paper.year,
            "venue": paper.venue,
            "url": paper.url,
            "keywords": paper.keywords,
            "sources": [(source.file, source.ordinal, source.line) for source in paper.sources],
        },
        ensure_ascii=False,
    )


def _paper_row(paper: Paper) -> dict[str, Any]:
    return {"record": _record_json(paper), "digest": record_digest(paper)}


def _paper(paper_id: str, abstract: str, row: Mapping[str, Any]) -> Paper:
    record = json.loads(row["record"])
    return Paper(
        id=paper_id,
        abstract=abstract,
        label=record["label"],
        title=record["title"],
        authors=tuple(record["authors"]),
        year=record["year"],
        venue=record["venue"],
        url=record["url"],
        keywords=tuple(record["keywords"]),
        sources=tuple(Source(file, ordinal, line) for file, ordinal, line in record["sources"]),
    )


def _batches(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for first in range(0, len(items), size):
        yield items[first : first + size]


def _is_url(location: str) -> bool:
    return location.startswith(("http://", "https://"))


def _client(location: str, folder: Path | None) -> Any:
    settings = Settings(anonymized_telemetry=False)
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise StoreError(f"the folder {folder} cannot be written; choose another --store")
        return chromadb.PersistentClient(str(folder), settings=settings)
    url = urlsplit(location)
    secure = url.scheme == "https"
    port = url.port or (443 if secure else 8000)
    return chromadb.HttpClient(host=url.hostname or "", port=port, ssl=secure, settings=settings)


@contextmanager
def _explained(location: str) -> Iterator[None]:
    """Turn what Chroma and its transport raise into a `StoreError` with the remedy."""
    try:
        yield
    except (ChromaError, httpx.HTTPError, OSError) as error:
        raise StoreError(f"the index at {location} cannot be used: {error}") from error
    except ValueError as error:
        if "connect" not in str(error).lower():  # Chroma reports an unreachable server as a ValueError
            raise
        raise StoreError(
            f"no Chroma server answers at {location}; start it (`chroma run`) or unset PLENARY_STORE"
        ) from error
