"""Makes the pipeline real from the configuration: `Assistant`, the public face of Plenary."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from rag import assets, tokens
from rag.config import Config
from rag.copying import copy_index
from rag.embed import DIMENSIONS, MiniLM
from rag.errors import UserError
from rag.generate import Wishes
from rag.index import embed_papers, index_papers
from rag.load import load_paths
from rag.origins import with_known_names
from rag.pipeline import Parts, Pipeline, search
from rag.rows import Record, admits, filter_fields
from rag.snapshot import Snapshot, open_snapshot
from rag.store import Store
from rag.theme_question import theme_request
from rag.types import (
    Answer,
    AnswerDone,
    Event,
    Filters,
    Hit,
    Paper,
    Skipped,
    SourceFile,
    Status,
    ThemeRequest,
    Turn,
    Writer,
)
from rag.upkeep import find_paper, remove_papers, split_version

if TYPE_CHECKING:
    from rag.local import LocalModel
    from rag.theme_answer import ThemeAnswers

MODEL_ID = "all-MiniLM-L6-v2/int8/late-1"
"""Names the embedding model and the way vectors are made; stored with an index and checked."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """The result of indexing: `papers` is how many the index holds now.

    Of the records read, `added` became new papers, `unchanged` cost nothing, `changed` brought other facts of
    papers that were there, and `merged` went into another paper; `skipped` were none. `removed` papers were in
    the index from these files and are in no file any more; `renamed` tells the names of files that are others than
    the index knows by their names. `stages` are the seconds of reading and merging the files ("load"), of comparing
    with what is stored, embedding and storing ("index"), and of preparing searches ("snapshot").
    """

    papers: int
    added: int
    unchanged: int
    merged: int
    skipped: tuple[Skipped, ...]
    seconds: float
    changed: int = 0
    removed: int = 0
    renamed: tuple[str, ...] = ()
    stages: Mapping[str, float] = field(default_factory=dict)


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
        wishes: Wishes | None = None,
    ) -> Answer:
        """Answer a question; raises `UserError`, `OperatorError` or `ProviderError` by who must act."""
        return _last(self.stream(question, history, filters, writer, wishes))

    def stream(
        self,
        question: str,
        history: Sequence[Turn] = (),
        filters: Filters | None = None,
        writer: str | None = None,
        wishes: Wishes | None = None,
    ) -> Iterator[Event]:
        """Answer a question event by event; the last event holds the answer `ask` would return.

        `wishes` are about answers from a few papers; comparisons and themes are as long as what they hold.
        """
        asked = _asked(question)
        request = theme_request(asked)
        if request is not None:
            return self._theme_answers(writer).stream(asked, request, filters)
        return self.pipeline(writer).stream(asked, history, filters, wishes)

    def themes(
        self, topic: str | None = None, writer: str | None = None, filters: Filters | None = None
    ) -> Answer:
        """Return the themes of a topic, or of everything, as an answer; raises as `ask` does."""
        return _last(self.stream_themes(topic, writer, filters))

    def stream_themes(
        self, topic: str | None = None, writer: str | None = None, filters: Filters | None = None
    ) -> Iterator[Event]:
        """Find the themes of a topic, or of everything, event by event: all with their papers first, then each as
        it is written; the last event holds the answer."""
        text = _asked(topic) if topic is not None else ""
        question = f"Themes: {text}" if text else "Themes"
        request = ThemeRequest("theme", text.strip(), not text)
        return self._theme_answers(writer).stream(question, request, filters)

    def _theme_answers(self, writer: str | None) -> ThemeAnswers:
        # scikit-learn takes seconds to import: only where themes are asked for.
        from rag.theme_answer import ThemeAnswers
        from rag.theme_state import ThemeFolder

        return ThemeAnswers(self.pipeline(writer), ThemeFolder(self._folder("themes")))

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
        """Load files or folders into the index; papers that are there unchanged cost nothing.

        A file that was indexed before is replaced: its papers that it holds no more go, unless another file has
        them. Which file is which: see `origins.with_known_names`.
        """
        began = time.perf_counter()
        read = load_paths(paths)
        loading = time.perf_counter()
        with self._store.writing():
            loaded = with_known_names(read, self._store.files())
            report = index_papers(
                loaded.papers, self._store, self._encoder, self._count_tokens, progress, loaded.files
            )
        indexing = time.perf_counter()
        self.snapshot()
        papers, _ = self._store.counts()
        ended = time.perf_counter()
        return Indexed(
            papers,
            report.added,
            report.unchanged,
            loaded.merged + report.merged,
            loaded.skipped,
            ended - began,
            report.changed,
            report.removed,
            tuple(new.name for old, new in zip(read.files, loaded.files, strict=True) if old.name != new.name),
            {"load": loading - began, "index": indexing - loading, "snapshot": ended - indexing},
        )

    def paper(self, paper_id: str) -> Paper:
        """Return a stored paper by its id or that of one of its versions; raises `UserError` when there is none."""
        return find_paper(self._store, paper_id)

    def papers(self, paper_ids: Sequence[str] = (), filters: Filters | None = None) -> list[Paper]:
        """Return the stored papers, all or those named, that the filters admit, in the order of their sources.

        Raises `UserError` for an id that is none.
        """
        found = [self.paper(paper_id) for paper_id in paper_ids] if paper_ids else list(self._store.all_papers())
        admitted = [paper for paper in found if not filters or admits(filters, filter_fields(paper))]
        return list({paper.id: paper for paper in sorted(admitted, key=_place)}.values())

    def remove(self, names: Sequence[str]) -> int:
        """Remove papers by id, or those that came from a file by its name; return how many went.

        A paper that another file holds too only loses that source. Raises `UserError` for an unknown name.
        """
        return remove_papers(self._store, names, self._embed)

    def split(self, version_id: str) -> tuple[Paper, Paper]:
        """Make a version of a paper a paper of its own, for good; return the paper it was merged into and it.

        Raises `UserError` for an id that is no version's, or that of the stored wording.
        """
        return split_version(self._store, version_id, self._embed)

    def _embed(self, papers: Sequence[Paper]) -> list[Record]:
        return embed_papers(papers, self._encoder, self._count_tokens)

    def status(self) -> Status:
        """Return what the index holds."""
        snapshot = self.snapshot()
        papers, chunks = self._store.counts()
        counts = Counter(
            file for paper in self._store.all_papers() for file in {source.file for source in paper.sources}
        )
        known = self._store.files()
        files = {name: known.get(name, SourceFile(name)) for name in sorted(counts.keys() | known.keys())}
        return Status(
            store=self.config.store,
            papers=papers,
            chunks=chunks,
            sentences=len(snapshot.spans),
            model=MODEL_ID,
            state=snapshot.state,
            sources={name: counts[name] for name in files},
            details={
                "files": [
                    {"file": name, "papers": counts[name], "indexed": file.indexed or None, "path": file.path or None}
                    for name, file in files.items()
                ],
                "writer": self.writer_kind(),
                "tokens_exact": tokens.is_exact(self.config.home / "assets"),
            },
        )

    def snapshot(self) -> Snapshot:
        """Return the snapshot of the current corpus state, opened anew when another process changed it."""
        with self._lock:
            state = self._store.refresh()
            if self._snapshot is None or self._snapshot.state != state:
                self._snapshot = open_snapshot(self._store, self._folder("snapshots"))
            return self._snapshot

    def writer_kind(self, writer: str | None = None) -> str:
        """Return which writer answers: "openai", "local" or "extractive"."""
        wanted = writer or self.config.writer
        if wanted != "auto":
            return wanted
        if self.config.api_key or self.config.base_url:
            return "openai"
        return "local" if self._has_local() else "extractive"

    def writers(self) -> list[str]:
        """Return the writers that can be chosen here: those whose model there is, "auto" first."""
        service = ["openai"] if self.config.api_key or self.config.base_url else []
        return ["auto", *service, *(["local"] if self._has_local() else []), "extractive"]

    def _has_local(self) -> bool:
        present = {found.asset.name for found in assets.status(self.config.home / "assets") if found.present}
        return assets.LANGUAGE_MODEL in present

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

    def _folder(self, kind: str) -> Path:
        """Return the folder of what is derived from the index: "snapshots" or "themes"."""
        if self._store.folder:
            return self._store.folder / kind
        name = hashlib.sha256(self.config.store.encode()).hexdigest()[:16]
        return self.config.home / kind / name


def _place(paper: Paper) -> tuple[str, int, str]:
    source = paper.source
    return (source.file, source.ordinal, paper.id) if source else ("", 0, paper.id)


def _last(events: Iterator[Event]) -> Answer:
    """Return the answer at the end of events."""
    answer = None
    for event in events:
        if isinstance(event, AnswerDone):
            answer = event.answer
    assert answer is not None, "a stream ends with AnswerDone"
    return answer


def _asked(text: str) -> str:
    if not text.strip():
        raise UserError("the question is empty; type what you want to know")
    # Half a surrogate pair, from a terminal or from JSON, is no text to the libraries.
    return text.encode("utf-8", "replace").decode("utf-8")


def copy_store(
    source: str, target: str, progress: Callable[[int, int], None] = lambda done, total: None
) -> tuple[int, int]:
    """Copy an index from one folder or server to another without embedding; see `copying.copy_index`.

    Raises `UserError` when both are one place or there is no index to copy.
    """
    places = [Config.from_environment(store=store) for store in (source, target)]
    folders = [None if place.remote else Path(place.store).expanduser().resolve() for place in places]
    if source.rstrip("/") == target.rstrip("/") or (folders[0] and folders[0] == folders[1]):
        raise UserError(f"{source} and {target} are one place; copy to another")
    if folders[0] and not (folders[0] / "chroma.sqlite3").exists():
        raise UserError(f"there is no index at {source}; check the path")
    opened = Store(source, MODEL_ID, DIMENSIONS)
    try:
        other = Store(target, MODEL_ID, DIMENSIONS)
        try:
            return copy_index(opened, other, progress)
        finally:
            other.close()
    finally:
        opened.close()


__all__ = ["MODEL_ID", "Assistant", "Indexed", "copy_store"]
