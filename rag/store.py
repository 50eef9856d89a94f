"""The vector store: papers and chunks in Chroma, embedded in a folder or behind the URL of a server.

Two collections. `plenary-papers` has one row for each paper: its abstract, its record as JSON and the mean
of its chunk vectors. `plenary-chunks` has one row for each chunk: its vector, the spans and vectors of its
sentences, and the fields to filter by. A paper's row is written after its chunks, so that a paper that is
there is complete, whatever moment an indexing run was killed at.

The metadata of `plenary-papers` say what the index is (`plenary_format`, `embedding_model`, `dimensions`) and
what happened to it: `state` is a hash of what is stored, `written` changes at the beginning and at the end of
every writing, `writing` is true between them. `files` and `apart` (JSON) remember the files that were indexed
and the wordings that a user split.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, RLock
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import chromadb
import httpx
import numpy as np
from chromadb.config import Settings
from chromadb.errors import ChromaError, NotFoundError
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from rag.errors import StoreError
from rag.rows import (
    Record,
    StoredSentences,
    chunk_rows,
    files_json,
    files_of,
    filter_conditions,
    filter_fields,
    mean_vector,
    pairs_json,
    pairs_of,
    paper_id_of,
    paper_of,
    paper_row,
    sentences_of,
)
from rag.types import Filters, Paper, SourceFile

PAPERS, CHUNKS = "plenary-papers", "plenary-chunks"
FORMAT = 1
"""Layout of the rows; an index of another layout is refused with the remedy."""
EMPTY = "empty"
"""The state of an index that nothing was written to."""
DATABASE = "chroma.sqlite3"
"""The file that Chroma keeps in the folder of an embedded index."""
UNSETTLED = 2.0
"""Seconds for which a file's time of change may hide another one: the coarsest clock of a file system."""
PAGE = 5_000
"""Rows a request: below Chroma's batch limit (5,461) and SQLite's limit of variables in one statement."""


class Store:
    """An open index. Threads may share it; one process writes at a time (embedded), any number read."""

    def __init__(self, location: str, model_id: str, dimensions: int) -> None:
        """Open or create the index at a folder or URL; raises `StoreError` when it cannot be used."""
        self.location, self.model_id, self.dimensions = location, model_id, dimensions
        self.folder = None if _is_url(location) else Path(location).expanduser().absolute()
        # Opening anew pulls the engine from under a request: no two at a time. A query takes 3 ms.
        self._guard = RLock()
        self._known: tuple[tuple[int, ...] | None, str] = (None, EMPTY)
        self._connect()

    def _connect(self) -> None:
        with _explained(self.location):
            try:
                self._client, self._spelling = _client(self.location, self.folder)
            except ValueError as error:  # Chroma raises it when nothing, or something else, answers
                problem = f"there is no index that can be opened at {self.location}"
                if not self.folder:
                    problem = f"no Chroma server answers at {self.location}; start it (`chroma run`)"
                raise StoreError(f"{problem} or choose another --store") from error
            try:
                self._papers = self._collection(PAPERS)
                self._chunks = self._collection(CHUNKS)
            except BaseException:
                self._disconnect()
                raise
            self._seen = (self._papers.metadata or {}).get("written")

    def _disconnect(self) -> None:
        self._client.close()
        _release(self._spelling)
        self._spelling = ""

    def _collection(self, name: str) -> Any:
        about = {"plenary_format": FORMAT, "embedding_model": self.model_id, "dimensions": self.dimensions}
        try:
            collection = self._client.get_collection(name, embedding_function=None)
        except NotFoundError:
            # ef_construction and the degree are Chroma's defaults: recall@100 against exact search was 1.0.
            # "get or": another process may have made it in this moment.
            collection = self._client.get_or_create_collection(
                name,
                embedding_function=None,
                metadata={**about, "state": EMPTY},
                configuration={"hnsw": {"space": "cosine"}},
            )
        found = collection.metadata or {}
        if found.get("plenary_format") != FORMAT:
            raise StoreError(
                f"the index at {self.location} has format {found.get('plenary_format')}, this version reads "
                f"{FORMAT}; index the files again into another --store"
            )
        model = (found.get("embedding_model"), found.get("dimensions"))
        if model != (self.model_id, self.dimensions):
            raise StoreError(
                f"the index at {self.location} was built with the embedding model {model[0]} ({model[1]} dimensions), "
                f"not {self.model_id} ({self.dimensions}); index the files again into another --store"
            )
        if (collection.configuration_json.get("hnsw") or {}).get("space") != "cosine":
            raise StoreError(
                f"the collection {name} at {self.location} does not use cosine distance; index the files again "
                "into another --store"
            )
        return collection

    def close(self) -> None:
        """Release the files or connections; a closed store cannot be used again."""
        with self._guard:
            self._disconnect()

    @contextmanager
    def _using(self) -> Iterator[None]:
        with self._guard, _explained(self.location):
            yield

    def _about(self) -> Mapping[str, Any]:
        """Return the metadata of the index as they are now, whoever wrote them."""
        with self._using():
            return self._client.get_collection(PAPERS, embedding_function=None).metadata or {}

    def state(self) -> str:
        """Return the corpus state: a hash of what is stored, or "empty". Fresh across processes."""
        return str(self._about().get("state", EMPTY))

    def refresh(self) -> str:
        """Make what other processes wrote visible and return the corpus state.

        An open embedded index would go on to search the vectors it knows, so it is opened anew. The state
        that a writer could not renew, because it was killed, is renewed first.
        """
        with self._guard:
            looks = self._looks()
            if looks is not None and looks == self._known[0]:
                return self._known[1]
            about = self._about()
            if self.folder and about.get("writing"):
                with suppress(_BusyError), self.writing():  # not busy: its writer is dead
                    pass
                about = self._about()
            if self.folder and about.get("written") != self._seen:
                self.reopen()
            state = str(about.get("state", EMPTY))
            self._known = (None if about.get("writing") else looks, state)
            return state

    def _looks(self) -> tuple[int, ...] | None:
        """Return what changes with every writing of an embedded index's database, None where that is not sure.

        Chroma takes a tenth of a search to say what its metadata are. A database written in this moment may
        be so again without another time of change; and it is never opened here, since a second SQLite in one
        process lifts the locks of the first.
        """
        if not self.folder:
            return None
        looks: list[int] = []
        for name in (DATABASE, f"{DATABASE}-wal"):
            try:
                about = os.stat(self.folder / name)
            except OSError:
                looks += [0]
                continue
            if abs(time.time() - about.st_mtime) < UNSETTLED:
                return None
            looks += [about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns]
        return tuple(looks) if looks[0] else None

    def reopen(self) -> None:
        """Open anew, to see what another process wrote."""
        with self._guard:
            self._disconnect()
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
            raise _BusyError(
                f"another process is writing the index at {self.location}; wait until it has finished"
            ) from None
        try:
            about = self._about()
            if self.folder and (about.get("written") != self._seen or about.get("writing")):
                # Writing with the engine's old view of the vectors would lose those written since.
                self.reopen()
            self._mark(writing=True)
            try:
                yield
            finally:
                self._mark(writing=False, state=self._state())
        finally:
            if lock:
                lock.release()

    def _mark(self, **changes: Any) -> None:
        with self._using():
            self._seen = uuid4().hex
            self._papers.modify(metadata={**self._about(), "written": self._seen, **changes})

    def files(self) -> dict[str, SourceFile]:
        """Return what is known of the files that were indexed, by name; nothing of an older index's."""
        return files_of(str(self._about().get("files", "")))

    def remember_files(self, files: Mapping[str, SourceFile]) -> None:
        """Keep what is known of the files. The caller holds `writing()`."""
        if files != self.files():
            self._mark(files=files_json(files.values()))

    def apart(self) -> frozenset[frozenset[str]]:
        """Return the pairs of ids that a user said are not one paper."""
        return pairs_of(str(self._about().get("apart", "")))

    def remember_apart(self, pairs: Iterable[frozenset[str]]) -> None:
        """Keep pairs of ids that are not one paper, beside those that are kept. The caller holds `writing()`."""
        self._mark(apart=pairs_json({*self.apart(), *pairs}))

    def _state(self) -> str:
        digest = hashlib.sha256()
        digests = self.digests()
        for paper_id, record_digest in sorted(digests.items()):
            digest.update(f"{paper_id}:{record_digest}\n".encode())
        return digest.hexdigest()[:16] if digests else EMPTY

    def digests(self) -> dict[str, str]:
        """Return for every stored paper the digest of its record (`rows.record_digest`)."""
        return {row_id: str(row["digest"]) for row_id, row, _ in self._rows(self._papers, "metadatas")}

    def put(self, records: Sequence[Record]) -> None:
        """Store papers, replacing what was stored under their ids; no id may stand twice.

        A paper that is there stays until its new row is written: killed at any moment, nothing of it is lost.
        """
        with self._using():
            everything = [row for record in records for row in chunk_rows(record)]
            for rows in _batches(everything, PAGE):
                self._chunks.upsert(
                    ids=[row["id"] for row in rows],
                    embeddings=[row["vector"] for row in rows],
                    metadatas=[row["metadata"] for row in rows],
                )
            # Also of papers that are not there: a run killed before a paper's row has left its chunks.
            self._delete_chunks([record.paper.id for record in records], keep={row["id"] for row in everything})
            for batch in _batches(records, PAGE):
                self._papers.upsert(
                    ids=[record.paper.id for record in batch],
                    embeddings=[mean_vector(record.vectors) for record in batch],
                    documents=[record.paper.abstract for record in batch],
                    metadatas=[paper_row(record.paper) for record in batch],
                )

    def _delete_chunks(self, paper_ids: Sequence[str], keep: Collection[str]) -> None:
        for part in _batches(paper_ids, 1_000):
            there = self._chunks.get(where={"paper_id": {"$in": list(part)}}, include=[])["ids"]
            for stale in _batches([row_id for row_id in there if row_id not in keep], PAGE):
                self._chunks.delete(ids=list(stale))

    def update(self, papers: Sequence[Paper]) -> None:
        """Store changed sources or other facts of papers whose text and title stay the same."""
        with self._using():
            for batch in _batches(papers, 500):
                fields = {paper.id: filter_fields(paper) for paper in batch}
                chunk_ids = self._chunks.get(where={"paper_id": {"$in": list(fields)}}, include=[])["ids"]
                for part in _batches(chunk_ids, PAGE):
                    self._chunks.update(ids=list(part), metadatas=[fields[paper_id_of(row_id)] for row_id in part])
                # After the chunks: a paper whose row is up to date is so altogether.
                self._papers.update(ids=list(fields), metadatas=[paper_row(paper) for paper in batch])

    def delete(self, paper_ids: Sequence[str]) -> None:
        """Remove papers; ids that are not stored are ignored."""
        with self._using():
            for part in _batches(paper_ids, 1_000):
                # First the paper: its row says that its chunks are there.
                known = self._papers.get(ids=list(part), include=[])["ids"]
                if known:
                    self._papers.delete(ids=known)
                self._chunks.delete(where={"paper_id": {"$in": list(part)}})

    def copy_papers(self, target: Store, paper_ids: Sequence[str]) -> None:
        """Copy the rows of papers to another store as they are; at most a few hundred at a time."""
        with self._using():
            chunks = self._chunks.get(
                where={"paper_id": {"$in": list(paper_ids)}}, include=["embeddings", "metadatas"]
            )
            papers = self._papers.get(ids=list(paper_ids), include=["embeddings", "metadatas", "documents"])
        with target._using():
            # As in `put`: a paper's row comes after its chunks, and what a killed copy left of them goes.
            target._delete_chunks(paper_ids, keep=set(chunks["ids"]))
            for part in _batches(range(len(chunks["ids"])), PAGE):
                target._chunks.upsert(
                    ids=[chunks["ids"][n] for n in part],
                    embeddings=[chunks["embeddings"][n] for n in part],
                    metadatas=[chunks["metadatas"][n] for n in part],
                )
            target._papers.upsert(
                ids=papers["ids"],
                embeddings=papers["embeddings"],
                documents=papers["documents"],
                metadatas=papers["metadatas"],
            )

    def papers(self, paper_ids: Sequence[str]) -> dict[str, Paper]:
        """Return the stored papers among `paper_ids`, by id."""
        found: dict[str, Paper] = {}
        with self._using():
            for part in _batches(list(dict.fromkeys(paper_ids)), PAGE):
                rows = self._papers.get(ids=list(part), include=["documents", "metadatas"])
                for row_id, text, row in zip(rows["ids"], rows["documents"], rows["metadatas"], strict=True):
                    found[row_id] = paper_of(row_id, text, row)
        return found

    def all_papers(self) -> Iterator[Paper]:
        """Yield every stored paper, page by page, in no defined order."""
        for row_id, row, text in self._rows(self._papers, "metadatas", "documents"):
            yield paper_of(row_id, text, row)

    def paper_vectors(self) -> dict[str, NDArray[np.float32]]:
        """Return the vector of every stored paper: the mean of its chunks', of unit length."""
        found: dict[str, NDArray[np.float32]] = {}
        for page in self._pages(self._papers, "embeddings"):
            found.update(zip(page["ids"], np.asarray(page["embeddings"], dtype=np.float32), strict=True))
        return found

    def all_sentences(self) -> dict[str, StoredSentences]:
        """Return the sentences of every stored paper, by its id."""
        return sentences_of((row for _, row, _ in self._rows(self._chunks, "metadatas")), self.dimensions)

    def search(
        self, vector: NDArray[np.float32], count: int, filters: Filters | None = None
    ) -> dict[str, float]:
        """Return the papers of the nearest `count` chunks with the best cosine of each, best first."""
        with self._using():
            rows = self._chunks.query(
                query_embeddings=[vector],
                n_results=count,
                where=filter_conditions(filters) if filters else None,
                include=["distances"],  # the paper stands in the chunk's id; reading the rows would cost ten times more
            )
        best: dict[str, float] = {}
        for row_id, distance in zip(rows["ids"][0], rows["distances"][0], strict=True):
            best.setdefault(paper_id_of(row_id), 1.0 - float(distance))
        return best

    def counts(self) -> tuple[int, int]:
        """Return how many papers and chunks are stored."""
        with self._using():
            return self._papers.count(), self._chunks.count()

    def _pages(self, collection: Any, *include: str) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of a collection page by page, what `include` names of them."""
        for offset in itertools.count(0, PAGE):
            with self._using():
                page = collection.get(limit=PAGE, offset=offset, include=list(include))
            if page["ids"]:
                yield page
            if len(page["ids"]) < PAGE:
                return

    def _rows(self, collection: Any, *include: str) -> Iterator[tuple[str, Mapping[str, Any], str]]:
        for page in self._pages(collection, *include):
            texts = page["documents"] or [""] * len(page["ids"])
            yield from zip(page["ids"], page["metadatas"], texts, strict=True)


class _BusyError(StoreError):
    """Another process, or another store of this one, is writing."""


def _batches(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for first in range(0, len(items), size):
        yield items[first : first + size]


def _is_url(location: str) -> bool:
    return location.lower().startswith(("http://", "https://"))


_spellings: set[str] = set()
_spellings_lock = Lock()


def _client(location: str, folder: Path | None) -> tuple[Any, str]:
    """Return a client and what to `_release` with it; raises `ValueError` when no Chroma server answers."""
    settings = Settings(anonymized_telemetry=False)
    if folder is None:
        url = urlsplit(location)
        secure = url.scheme == "https"
        port = url.port or (443 if secure else 8000)
        return chromadb.HttpClient(host=url.hostname or "", port=port, ssl=secure, settings=settings), ""
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise StoreError(f"the folder {folder} cannot be written; choose another --store")
    spelling = _own_spelling(folder)
    try:
        return chromadb.PersistentClient(spelling, settings=settings), spelling
    except BaseException:
        _release(spelling)
        raise


def _own_spelling(folder: Path) -> str:
    """Return the folder's path spelled as no other open store of this process spells it.

    Chroma gives all clients of one spelling the same engine and stops it with the last of them, so a store
    that opens anew beside another would get its stale engine back.
    """
    with _spellings_lock:
        spelling = next(path for n in itertools.count() if (path := f"{folder}{'/.' * n}") not in _spellings)
        _spellings.add(spelling)
    return spelling


def _release(spelling: str) -> None:
    with _spellings_lock:
        _spellings.discard(spelling)


@contextmanager
def _explained(location: str) -> Iterator[None]:
    """Turn what Chroma and its transport raise into a `StoreError` with the remedy."""
    try:
        yield
    except httpx.HTTPError as error:
        raise StoreError(
            f"the Chroma server at {location} does not answer ({error}); see that it runs (`chroma run`)"
        ) from error
    except RuntimeError as error:
        if "closed" not in str(error):  # what httpx says when a connection that others share was closed
            raise
        raise StoreError(
            f"the Chroma server at {location} does not answer ({error}); see that it runs (`chroma run`)"
        ) from error
    except (ChromaError, OSError) as error:
        raise StoreError(
            f"the index at {location} cannot be used ({error}); see to the cause, or index the files again into "
            "another --store"
        ) from error
