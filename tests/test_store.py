"""The store: one contract for a folder and for a server, whatever other processes do meanwhile."""

from __future__ import annotations

import os
import re
import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import chromadb
import numpy as np
import pytest

from rag.errors import StoreError
from rag.rows import Record
from rag.store import CHUNKS, DATABASE, EMPTY, FORMAT, PAGE, Store
from rag.types import Filters, Source, SourceFile
from tests.records import DIMENSIONS, MODEL, Other, missing, open_store, paper, record, vectors


def emptied(url: str) -> str:
    """Return the address of a server after everything on it was deleted."""
    host, port = url.removeprefix("http://").split(":")
    client = chromadb.HttpClient(host=host, port=int(port))
    for collection in client.list_collections():
        client.delete_collection(collection.name)
    return url


@pytest.fixture(params=["folder", "server"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "folder":
        return str(tmp_path / "index")
    return emptied(request.getfixturevalue("chroma_server"))


@pytest.fixture
def store(location: str) -> Iterator[Store]:
    opened = open_store(location)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def other() -> Iterator[Other]:
    """Another process, for all the tests that do not kill it."""
    process = Other()
    yield process
    process.kill()


def ids(*numbers: int) -> list[str]:
    return [f"{n:012x}" for n in numbers]


# What any store must do


def test_a_new_index_is_empty(store: Store) -> None:
    assert store.counts() == (0, 0) and store.state() == EMPTY == store.refresh()
    assert store.digests() == {} and list(store.all_papers()) == [] and store.papers(ids(1)) == {}
    assert store.all_sentences() == {} and store.paper_vectors() == {}
    assert store.search(vectors(1)[0], 5) == {}
    assert store.search(vectors(1)[0], 5, Filters(years=frozenset({2026}))) == {}


def test_papers_come_back_with_all_their_fields(store: Store) -> None:
    full = record(
        1,
        title="UpSafe℃: \"quoted\" & $O(N^2)$",
        authors=("Jürgen Müller", "李雷"),
        year=2026,
        venue="NeurIPS",
        url="https://example.org/?a=1",
        keywords=("safety", "MoE"),
        sources=(Source("a.txt", 2, 7), Source("目录.csv", 1, 0)),
    )
    bare = record(2, sources=())
    store.put([full, bare])
    assert store.papers([*ids(1, 2, 3), *ids(1)]) == {ids(1)[0]: full.paper, ids(2)[0]: bare.paper}
    assert {found.id: found for found in store.all_papers()} == store.papers(ids(1, 2))
    assert store.counts() == (2, 2)


def test_vectors_and_sentences_come_back(store: Store) -> None:
    store.put([record(1, budget=8), record(2)])
    assert store.counts() == (2, 3)
    found = store.all_sentences()
    assert found.keys() == set(ids(1, 2))
    text = record(1).paper.abstract
    assert [text[start:end] for start, end in found[ids(1)[0]].spans] == [
        text[span.start : span.end] for chunk in record(1).chunks for span in chunk.sentences
    ]
    assert found[ids(1)[0]].vectors.shape == (2, DIMENSIONS)
    np.testing.assert_allclose(store.paper_vectors()[ids(2)[0]], vectors(2)[0], atol=1e-6)


def test_search_gives_each_paper_once_best_first_with_its_cosine(store: Store) -> None:
    store.put([record(n, budget=8) for n in range(20)])
    query = vectors(7)[0]
    found = store.search(query, 40)
    assert len(found) == 20 and next(iter(found)) == ids(7)[0]
    assert list(found.values()) == sorted(found.values(), reverse=True)
    exact = {row: max(float(vector @ query) for vector in record(n, budget=8).vectors) for n, row in enumerate(ids(*range(20)))}
    assert found == pytest.approx(exact, abs=1e-4)
    assert len(store.search(query, 3)) <= 3


def test_put_replaces_everything_of_a_paper(store: Store) -> None:
    store.put([record(1, budget=8, year=2020, keywords=("old",))])
    store.put([record(1, title="New")])
    assert store.counts() == (1, 1) and store.papers(ids(1))[ids(1)[0]].title == "New"
    assert store.papers(ids(1))[ids(1)[0]].year is None
    assert store.search(vectors(1)[0], 5, Filters(keywords=frozenset({"old"}))) == {}


def test_update_changes_facts_and_filters_alone(store: Store) -> None:
    store.put([record(1, budget=8), record(2)])
    changed = replace(paper(1), year=2026, sources=(Source("moved.txt", 9),), authors=("Ann Lee",))
    store.update([changed])
    assert store.papers(ids(1)) == {ids(1)[0]: changed}
    for filters in (Filters(sources=frozenset({"moved.txt"})), Filters(authors=frozenset({"lee"}), years=frozenset({2026}))):
        assert list(store.search(vectors(2)[0], 5, filters)) == ids(1)
    assert list(store.search(vectors(1)[0], 5, Filters(sources=frozenset({"f.txt"})))) == ids(2)
    assert len(store.all_sentences()[ids(1)[0]].spans) == 2
    store.update([])


def test_deleting_leaves_nothing_and_ignores_what_is_not_there(store: Store) -> None:
    store.put([record(n, budget=8) for n in range(3)])
    store.delete([*ids(1), "no such paper"])
    store.delete([])
    assert store.counts() == (2, 4) and store.all_sentences().keys() == set(ids(0, 2))
    assert ids(1)[0] not in store.search(vectors(1)[0], 10)


def test_filters(store: Store) -> None:
    store.put(
        [
            record(1, year=2025, venue="NeurIPS", authors=("Ann Müller", "Bo Li"), keywords=("Safety", "MoE")),
            record(2, year=2026, venue="ICLR", authors=("Cy Li",), keywords=("pruning",)),
            record(3, year=2026, venue="neurips", sources=(Source("Other List.CSV", 1),)),
            record(4),
        ]
    )

    def found(**wanted: frozenset[object]) -> set[int]:
        return {int(row, 16) for row in store.search(vectors(1)[0], 10, Filters(**wanted))}  # type: ignore[arg-type]

    assert found(years=frozenset({2026})) == {2, 3}
    assert found(years=frozenset({2025, 2026})) == {1, 2, 3}
    assert found(venues=frozenset({"NEURIPS"})) == {1, 3}
    assert found(authors=frozenset({"li"})) == {1, 2}
    assert found(authors=frozenset({"ann MU\u0308LLER"})) == {1}
    assert found(authors=frozenset({"müller", "cy li"})) == {1, 2}
    assert found(keywords=frozenset({"safety"})) == {1}
    assert found(sources=frozenset({"other list.csv"})) == {3}
    assert found(years=frozenset({2026}), authors=frozenset({"LI"})) == {2}
    assert found(years=frozenset({1999})) == set()
    assert found(authors=frozenset({"Mülle"})) == set()


def test_the_state_tells_what_is_stored(store: Store) -> None:
    with store.writing():
        store.put([record(1), record(2)])
    both = store.state()
    with store.writing():
        store.delete(ids(2))
    one = store.state()
    with pytest.raises(KeyError), store.writing():
        store.put([record(2)])
        raise KeyError
    assert len({EMPTY, both, one}) == 3 and store.state() == both
    with store.writing():
        store.delete(ids(1, 2))
    assert store.state() == EMPTY


def test_files_and_what_was_split_are_remembered(store: Store, location: str) -> None:
    assert store.files() == {} and store.apart() == frozenset()
    files = {name: SourceFile(name, f"/目录/{name}", "abc", "2026-01-01") for name in ("a.txt", "b/a.txt")}
    with store.writing():
        store.remember_files(files)
        store.remember_apart([frozenset(("a", "b"))])
        store.remember_apart([frozenset(("c", "b"))])
        store.put([record(1)])
    again = open_store(location)
    assert again.files() == files and again.apart() == {frozenset(("a", "b")), frozenset(("b", "c"))}
    assert again.state() == store.state() != EMPTY
    again.close()


def test_a_paper_that_is_replaced_is_there_at_any_moment(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put([record(1, budget=8), record(2)])
    monkeypatch.setattr(store, "_delete_chunks", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        store.put([record(1, title="New")])
    assert store.papers(ids(1)) == {ids(1)[0]: record(1).paper}
    monkeypatch.undo()
    store.put([record(1, title="New")])
    assert store.counts() == (2, 2) and store.papers(ids(1))[ids(1)[0]].title == "New"


@pytest.mark.parametrize(("model", "dimensions"), [("another", DIMENSIONS), (MODEL, 8)])
def test_another_embedding_model_is_refused_with_the_remedy(location: str, model: str, dimensions: int) -> None:
    open_store(location).close()
    with pytest.raises(StoreError, match=r"built with the embedding model made-up .*index the files again into another --store"):
        Store(location, model, dimensions)
    open_store(location).close()


def test_what_another_process_wrote_is_seen(store: Store, location: str, other: Other) -> None:
    """An open embedded index goes on to search the vectors it knows; `refresh` is what makes it see."""
    with store.writing():
        store.put([record(n) for n in range(5)])
    assert missing(store, range(5)) == []
    state = store.refresh()
    other.do(f"open {location}")
    other.do("write 5 12")
    other.do("delete 0")
    assert store.refresh() not in (EMPTY, state)
    assert missing(store, range(12)) == [0]


def test_an_index_that_stays_as_it_is_is_not_asked_for_its_state_again(
    tmp_path: Path, other: Other, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag.store.UNSETTLED", 0.0)  # no waiting: file systems of today tell nanoseconds apart
    store = open_store(tmp_path / "index")
    with store.writing():
        store.put([record(n) for n in range(5)])
    state = store.refresh()
    asked: list[int] = []
    about = Store._about
    monkeypatch.setattr(Store, "_about", lambda self: asked.append(1) or about(self))
    assert store.refresh() == store.refresh() == state and asked == []
    other.do(f"open {tmp_path / 'index'}")
    other.do("write 5 12")
    assert store.refresh() not in (EMPTY, state) and asked and missing(store, range(12)) == []
    asked.clear()
    with store.writing():
        store.delete(ids(1))
    assert store.refresh() != state and missing(store, range(12)) == [1]
    store.close()


def test_a_database_written_a_moment_ago_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(tmp_path / "index")
    with store.writing():
        store.put([record(1)])
    database = tmp_path / "index" / DATABASE
    assert store._looks() is None
    os.utime(database, (time.time() - 60,) * 2)
    assert store._looks() is not None
    database.rename(tmp_path / "elsewhere")
    assert store._looks() is None
    store.close()


def test_processes_that_write_in_turns_lose_nothing(store: Store, location: str, other: Other) -> None:
    """Chroma writes its own view of the vectors: one that has not seen the others' writes loses them."""
    other.do(f"open {location}")
    for first in range(0, 120, 40):
        other.do(f"write {first} {first + 20}")
        with store.writing():
            store.put([record(n) for n in range(first + 20, first + 40)])
    assert other.do("missing 0 120") == "[]"
    store.refresh()
    assert missing(store, range(120)) == [] and store.counts() == (120, 120)


# What a folder must do


def test_more_records_than_a_batch_may_hold(tmp_path: Path) -> None:
    store, template = Store(str(tmp_path / "index"), MODEL, 4), record(0, abstract="One.")
    everything = ids(*range(PAGE + 500))  # Chroma's limit is 5,461 rows
    made_up = np.random.default_rng(0).normal(size=(len(everything), 1, 4)).astype(np.float32)
    records = [
        Record(
            replace(template.paper, id=paper_id),
            (replace(template.chunks[0], id=f"{paper_id}:0-9", paper_id=paper_id),),
            vector,
            vector,
        )
        for paper_id, vector in zip(everything, made_up, strict=True)
    ]
    store.put(records)
    assert store.counts() == (len(everything), len(everything))
    assert store.digests().keys() == set(everything) == store.papers(everything).keys()
    assert len(list(store.all_papers())) == len(store.all_sentences()) == len(store.paper_vectors()) == len(everything)
    store.update([replace(item.paper, year=2026) for item in records[:600]])
    assert len(store.search(made_up[0, 0], 50, Filters(years=frozenset({2026})))) == 50
    store.delete(everything[1_100:])
    assert store.counts() == (1_100, 1_100)
    store.close()


def test_many_threads_search_while_the_index_is_opened_anew(tmp_path: Path) -> None:
    store = open_store(tmp_path / "index")
    store.put([record(n) for n in range(50)])
    with ThreadPoolExecutor(4) as pool:
        searches = [pool.submit(missing, store, range(50)) for _ in range(4)]
        for _ in range(10):
            store.reopen()
        assert [search.result() for search in searches] == [[]] * 4
    store.close()


def test_a_second_writer_is_told(tmp_path: Path, other: Other) -> None:
    store = open_store(tmp_path / "index")
    other.do(f"open {tmp_path / 'index'}")
    other.do("hold")
    told = r"^another process is writing the index at .*; wait until it has finished$"
    with pytest.raises(StoreError, match=told), store.writing():
        pass
    other.do("put 1 3")
    assert store.counts() == (2, 2)  # reading goes on
    store.refresh()
    other.do("release")
    with store.writing():
        store.put([record(3)])
    assert missing(store, range(1, 4)) == []
    store.close()


def test_a_second_writer_of_the_same_process_is_told(tmp_path: Path) -> None:
    one, two = open_store(tmp_path / "index"), open_store(tmp_path / "index")
    with one.writing():
        one.put([record(1)])
        with pytest.raises(StoreError, match="another process is writing"), two.writing():
            pass
    assert two.refresh() == one.state() != EMPTY and missing(two, range(1, 2)) == []
    with two.writing():
        two.put([record(2)])
    one.refresh()
    assert missing(one, range(1, 3)) == []
    one.close()
    assert missing(two, range(1, 3)) == []
    two.close()
    two.close()


def test_what_a_killed_writer_left_is_taken_over(tmp_path: Path) -> None:
    store = open_store(tmp_path / "index")
    with store.writing():
        store.put([record(0)])
    before = store.refresh()
    writer = Other()
    writer.do(f"open {tmp_path / 'index'}")
    writer.do("hold")
    writer.do("put 1 30")
    assert store.refresh() == before  # it still writes
    writer.kill()
    assert store.refresh() != before
    assert missing(store, range(30)) == []
    state = store.state()
    with store.writing():
        pass
    assert store.state() == state
    store.close()


def test_chunks_that_a_killed_writer_left_without_their_paper_are_replaced(tmp_path: Path) -> None:
    store = open_store(tmp_path / "index")
    store.put([record(1, budget=8), record(2)])
    # The moment between a paper's chunks and its row.
    store._papers.delete(ids=ids(1))
    assert store.digests().keys() == set(ids(2))
    store.put([record(1)])
    assert store.counts() == (2, 2) and len(store.all_sentences()[ids(1)[0]].spans) == 2
    store.close()


def test_a_folder_that_cannot_be_an_index_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "chroma.sqlite3").write_bytes(b"not a database " * 1_000)
    for folder in (file, file / "below", damaged):
        with pytest.raises(StoreError, match=rf"{re.escape(str(folder))} .*--store$"):
            open_store(folder)


@pytest.mark.parametrize(
    ("metadata", "space", "problem"),
    [
        ({"plenary_format": FORMAT + 1}, "cosine", f"has format {FORMAT + 1}, this version reads {FORMAT}"),
        ({}, "cosine", "has format None"),
        ({"plenary_format": FORMAT, "embedding_model": MODEL, "dimensions": DIMENSIONS}, "l2", "does not use cosine"),
    ],
)
def test_a_foreign_collection_is_refused(
    tmp_path: Path, metadata: dict[str, object], space: str, problem: str
) -> None:
    client: Any = chromadb.PersistentClient(str(tmp_path))
    client.create_collection(
        CHUNKS, embedding_function=None, metadata=metadata or None, configuration={"hnsw": {"space": space}}
    )
    client.close()
    with pytest.raises(StoreError, match=problem):
        open_store(tmp_path)


def test_a_folder_may_have_an_awkward_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    store = open_store("~/目录 with space/#index?")
    store.put([record(1)])
    store.reopen()
    assert missing(store, range(1, 2)) == [] and store.folder == tmp_path / "目录 with space" / "#index?"
    store.close()


# What a server must do


class _Page(BaseHTTPRequestHandler):
    """Answers everything with a web page."""

    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(b"<html>Sign in</html>")

    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Keep the output clean."""


def test_an_address_where_no_chroma_answers_is_named() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = free.getsockname()[1]
    with HTTPServer(("127.0.0.1", 0), _Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for port in (closed, server.server_address[1]):
            with pytest.raises(StoreError, match=rf"^no Chroma server answers at http://127\.0\.0\.1:{port}; start it"):
                open_store(f"http://127.0.0.1:{port}")
        server.shutdown()


class _Passage(socketserver.BaseRequestHandler):
    """Passes a connection on to `target`, so that a server can be cut off without stopping it."""

    target: tuple[str, int]
    connections: ClassVar[list[socket.socket]] = []

    def handle(self) -> None:
        with socket.create_connection(self.target) as upstream:
            self.connections.append(upstream)
            back = threading.Thread(target=self._pass, args=(upstream, self.request), daemon=True)
            back.start()
            self._pass(self.request, upstream)

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)


def test_a_server_that_stops_is_named(chroma_server: str) -> None:
    _Passage.target = ("127.0.0.1", int(emptied(chroma_server).rpartition(":")[2]))
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Passage) as passage:
        passage.daemon_threads = True
        threading.Thread(target=passage.serve_forever, args=(0.01,), daemon=True).start()
        store = open_store(f"http://127.0.0.1:{passage.server_address[1]}")
        store.put([record(1)])
        passage.shutdown()
        for connection in _Passage.connections:
            with suppress(OSError):  # closed already
                connection.shutdown(socket.SHUT_RDWR)
    open_store(chroma_server).close()  # the server itself is well
    stopped = rf"^the Chroma server at {re.escape(store.location)} does not answer .*see that it runs"
    query = vectors(1)[0]
    for use in (store.counts, store.state, store.refresh, lambda: store.search(query, 1), lambda: store.put([record(2)])):
        with pytest.raises(StoreError, match=stopped):
            use()
    store.close()
