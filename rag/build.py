"""Makes the pipeline real from the configuration: `Assistant`, the public face of Plenary."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from rag import assets, tokens
from rag.config import Config
from rag.embed import DIMENSIONS, MiniLM
from rag.errors import UserError
from rag.index import index_papers
from rag.load import load_paths
from rag.pipeline import Parts, Pipeline, search
from rag.snapshot import Snapshot, open_snapshot
from rag.store import Store
from rag.types import Answer, Event, Filters, Hit, Paper, Skipped, Status, Turn, Writer

if TYPE_CHECKING:
    from rag.local import LocalModel

MODEL_ID = "all-MiniLM-L6-v2/int8/late-1"
"""Names the embedding model and the way vectors are made; stored with an index and checked."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """The result of indexing: `papers` is how many the index holds now.

    Of the records read, `added` became new papers, `unchanged` cost nothing, `changed` brought other facts of
    papers that were there, and `merged` went into another paper; `skipped` were none.
    """

    papers: int
    added: int
    unchanged: int
    merged: int
    skipped: tuple[Skipped, ...]
    seconds: float
    changed: int = 0


class Assistant:
    """An open index with a writer: search, ask, index. Threads may share it.

    >>> from rag import Assistant
    >>> Assistant.open().ask("How do UpSafe and ThinkSafe keep models safe?")  # doctest: +SKIP
    """

    def __init__(self, config: Config) -> None:
        """Open the store and load the embedding model; the local model starts with its first answer."""
        self.config = config
        folder = config.home / "assets"
        self._encoder = MiniLM(
            assets.path(assets.EMBEDDING_MODEL, folder), assets.path(assets.TOKENIZER, folder), MODEL_ID
        )
        self._store = Store(config.store, MODEL_ID, DIMENSIONS)
        self._count_tokens: Callable[[str], int] = lambda text: tokens.count_tokens(text, folder)
        self._lock = Lock()
        self._snapshot: Snapshot | None = None
        self._local: LocalModel | None = None
        self._pipelines: dict[str, Pipeline] = {}

    @classmethod
    def open(cls, config: Config | None = None, **settings: Any) -> Assistant:
        """Open with a configuration, or with the environment's; `settings` are fields of `Config`."""
        if config is None:
            return cls(Config.from_environment(**settings))
        return cls(replace(config, **settings) if settings else config)

    def close(self) -> None:
        """Stop the local model and release the store."""
        with self._lock:
            if self._local:
                self._local.close()
                self._local = None
            self._pipelines.clear()
        self._store.close()

    def __enter__(self) -> Assistant:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(
        self,
        question: str,
        history: Sequence[Turn] = (),
        filters: Filters | None = None,
        writer: str | None = None,
    ) -> Answer:
        """Answer a question; raises `UserError`, `OperatorError` or `ProviderError` by who must act."""
        return self.pipeline(writer).ask(_asked(question), history, filters)

    def stream(
        self,
        question: str,
        history: Sequence[Turn] = (),
        filters: Filters | None = None,
        writer: str | None = None,
    ) -> Iterator[Event]:
        """Answer a question event by event; the last event holds the answer `ask` would return."""
        return self.pipeline(writer).stream(_asked(question), history, filters)

    def search(
        self, query: str, k: int = 10, filters: Filters | None = None, ranking: str = "fused"
    ) -> list[Hit]:
        """Return the best `k` papers for a query, best first, with their sentences scored.

        `ranking` is "fused", or "dense" or "keyword" to see one side alone.
        """
        if k < 1:
            raise UserError(f"-k must be at least 1, not {k}")
        return search(self._parts(None, small=False), _asked(query), k, filters, ranking)

    def index(
        self, paths: Sequence[Path], progress: Callable[[int, int], None] = lambda done, total: None
    ) -> Indexed:
        """Load files or folders into the index; papers that are there unchanged cost nothing."""
        began = time.perf_counter()
        loaded = load_paths(paths)
        with self._store.writing():
            report = index_papers(loaded.papers, self._store, self._encoder, self._count_tokens, progress)
        self.snapshot()
        papers, _ = self._store.counts()
        return Indexed(
            papers,
            report.added,
            report.unchanged,
            loaded.merged + report.merged,
            loaded.skipped,
            time.perf_counter() - began,
            report.changed,
        )

    def paper(self, paper_id: str) -> Paper:
        """Return a stored paper; raises `UserError` when there is none of that id."""
        found = self._store.papers([paper_id]).get(paper_id)
        if found is None:
            raise UserError(f"there is no paper {paper_id!r} in the index; `plenary search` shows the ids")
        return found

    def remove(self, names: Sequence[str]) -> int:
        """Remove papers by id, or those that came from a file by its name; return how many went.

        A paper that another file holds too only loses that source. Raises `UserError` for an unknown name.
        """
        with self._store.writing():
            papers = {paper.id: paper for paper in self._store.all_papers()}
            files = {source.file for paper in papers.values() for source in paper.sources}
            unknown = [name for name in names if name not in papers and name not in files]
            if unknown:
                raise UserError(f"neither a paper nor a file of the index: {', '.join(unknown)}")
            gone = {name for name in names if name in papers}
            kept: list[Paper] = []
            for paper in papers.values():
                rest = tuple(source for source in paper.sources if source.file not in names)
                if not rest:
                    gone.add(paper.id)
                elif len(rest) < len(paper.sources) and paper.id not in gone:
                    kept.append(replace(paper, sources=rest))
            self._store.update(kept)
            self._store.delete(sorted(gone))
        return len(gone)

    def status(self) -> Status:
        """Return what the index holds."""
        snapshot = self.snapshot()
        papers, chunks = self._store.counts()
        files = Counter(
            file for paper in self._store.all_papers() for file in {source.file for source in paper.sources}
        )
        return Status(
            store=self.config.store,
            papers=papers,
            chunks=chunks,
            sentences=len(snapshot.spans),
            model=MODEL_ID,
            state=snapshot.state,
            sources=dict(sorted(files.items())),
            details={"writer": self.writer_kind(), "tokens_exact": tokens.is_exact(self.config.home / "assets")},
        )

    def snapshot(self) -> Snapshot:
        """Return the snapshot of the current corpus state, opened anew when another process changed it."""
        with self._lock:
            state = self._store.refresh()
            if self._snapshot is None or self._snapshot.state != state:
                self._snapshot = open_snapshot(self._store, self._snapshot_folder())
            return self._snapshot

    def writer_kind(self, writer: str | None = None) -> str:
        """Return which writer answers: "openai", "local" or "extractive"."""
        wanted = writer or self.config.writer
        if wanted != "auto":
            return wanted
        if self.config.api_key or self.config.base_url:
            return "openai"
        present = {found.asset.name for found in assets.status(self.config.home / "assets") if found.present}
        return "local" if assets.LANGUAGE_MODEL in present else "extractive"

    def pipeline(self, writer: str | None = None) -> Pipeline:
        """Return the pipeline with a writer ("auto", "openai", "local" or "extractive"), made once."""
        kind = self.writer_kind(writer)
        with self._lock:
            if kind not in self._pipelines:
                made = self._writer(kind)
                self._pipelines[kind] = Pipeline(self._parts(made, small=kind == "local"))
            return self._pipelines[kind]

    def writer(self, writer: str | None = None) -> Writer | None:
        """Return the model behind a writer; None for the extractive one."""
        return self.pipeline(writer).parts.writer

    def _writer(self, kind: str) -> Writer | None:
        config = self.config
        if kind == "extractive":
            return None
        # LangChain takes seconds to import: only where a model is opened.
        if kind == "openai":
            from rag.llm import ChatWriter, Service

            service = Service(
                config.base_url, config.api_key, config.model, timeout=config.timeout, retries=config.retries
            )
            return ChatWriter(service, self._count_tokens)
        if kind == "local":
            from rag.local import LocalModel

            self._local = LocalModel(
                assets.path(assets.LANGUAGE_MODEL, config.home / "assets"), threads=config.threads
            )
            return self._local.writer(self._count_tokens)
        raise UserError(f"unknown writer {kind!r}; choose auto, openai, local or extractive")

    def _parts(self, writer: Writer | None, *, small: bool) -> Parts:
        return Parts(self._store, self.snapshot, self._encoder, self._count_tokens, writer, small)

    def _snapshot_folder(self) -> Path:
        if self._store.folder:
            return self._store.folder / "snapshots"
        name = hashlib.sha256(self.config.store.encode()).hexdigest()[:16]
        return self.config.home / "snapshots" / name


def _asked(text: str) -> str:
    if not text.strip():
        raise UserError("the question is empty; type what you want to know")
    # Half a surrogate pair, from a terminal or from JSON, is no text to the libraries.
    return text.encode("utf-8", "replace").decode("utf-8")


__all__ = ["MODEL_ID", "Assistant", "Indexed"]
