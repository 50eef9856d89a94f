"""The snapshot: what ranking needs of one corpus state, made once, opened quickly, mended when damaged."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from rag.errors import StoreError
from rag.keywords import tokenize
from rag.snapshot import _ARRAYS, KEPT, Snapshot, open_snapshot
from rag.store import EMPTY, Store
from rag.types import Filters, Source
from tests.records import DIMENSIONS, open_store, record, vectors


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "index")
    yield opened
    opened.close()


def write(store: Store, *numbers: int) -> None:
    with store.writing():
        store.put([record(n) for n in numbers])


def ids(*numbers: int) -> list[str]:
    return [f"{n:012x}" for n in numbers]


def same(one: Snapshot, other: Snapshot) -> bool:
    return (
        (one.state, one.paper_ids, one.rows, list(one.filters)) == (other.state, other.paper_ids, other.rows, list(other.filters))
        and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in _ARRAYS)
        and np.array_equal(one.keywords.scores("paper 3"), other.keywords.scores("paper 3"))
    )


def test_it_holds_what_the_store_holds(store: Store, tmp_path: Path) -> None:
    write(store, 3, 1, 2)
    snapshot = open_snapshot(store, tmp_path / "snapshots")
    assert snapshot.state == store.state() and snapshot.paper_ids == tuple(ids(1, 2, 3))
    spans, sentences = snapshot.sentences_of(ids(2)[0])
    stored = record(2)
    assert [(span.start, span.end) for span in spans] == [
        (span.start, span.end) for chunk in stored.chunks for span in chunk.sentences
    ]
    assert (sentences * stored.sentence_vectors).sum(axis=1) == pytest.approx(1, abs=1e-3)
    assert snapshot.keywords.scores("3").argmax() == 2 or not snapshot.keywords.scores("3").any()


def test_papers_come_back_as_they_are_stored(store: Store, tmp_path: Path) -> None:
    with store.writing():
        store.put([record(1, title="Gates", year=2026, authors=("Ann Müller",), abstract="Zwölf Tore. 好。"), record(2)])
    snapshot = open_snapshot(store, tmp_path / "snapshots")
    stored = store.papers(ids(1, 2))
    assert snapshot.papers_of(ids(2, 1)) == [stored[ids(2)[0]], stored[ids(1)[0]]]


def test_words_are_those_of_each_sentence(store: Store, tmp_path: Path) -> None:
    with store.writing():
        store.put([record(1), record(2, abstract="Gates route a token. Two tokens pass gates. Fast it is.")])
    snapshot = open_snapshot(store, tmp_path / "snapshots")
    asked = tokenize(["gate tokens pass absent"])[0]
    assert snapshot.words_of(ids(2)[0], asked) == [{"gate", "token"}, {"gate", "token", "pass"}, set()]
    assert snapshot.words_of(ids(2)[0], []) == [frozenset()] * 3


def test_papers_are_found_by_the_beginning_of_their_label(store: Store, tmp_path: Path) -> None:
    labels = ("UpSafe℃", "LoRA-GT: tuned", "LoRA", "lora gt", "LoRAX")
    with store.writing():
        store.put([record(n, label=label) for n, label in enumerate(labels)])
    snapshot = open_snapshot(store, tmp_path / "snapshots")
    assert snapshot.named("LoRA-GT") == [1, 3] and snapshot.named("lora") == [1, 2, 3]
    assert snapshot.named("upsafe°C") == snapshot.named("UpSafe℃") == [0] and snapshot.named("Up") == []


def test_cosines_are_of_the_paper_and_of_its_best_sentence(store: Store, tmp_path: Path) -> None:
    write(store, 1, 2, 3)
    snapshot = open_snapshot(store, tmp_path / "snapshots")
    query = vectors(77)[0]
    found = snapshot.cosines(ids(3, 1), query)
    exact = [
        [float(record(n).vectors[0] @ query), float((record(n).sentence_vectors @ query).max())] for n in (3, 1)
    ]
    assert found == pytest.approx(np.array(exact), abs=5e-3)
    assert snapshot.cosines([], query).shape == (0, 2)


def test_it_is_made_once_for_a_state_and_anew_for_another(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "snapshots"
    write(store, 1)
    first = open_snapshot(store, folder)
    (made,) = folder.iterdir()
    before = {file: file.stat().st_mtime_ns for file in made.rglob("*")}
    assert same(open_snapshot(store, folder), first)
    assert {file: file.stat().st_mtime_ns for file in made.rglob("*")} == before
    write(store, 2)
    assert open_snapshot(store, folder).paper_ids == tuple(ids(1, 2))
    write(store, 3)
    assert open_snapshot(store, folder).paper_ids == tuple(ids(1, 2, 3))
    assert len(list(folder.iterdir())) == KEPT
    assert first.sentences_of(ids(1)[0])[1].shape == (2, DIMENSIONS)  # an open one stays readable


def test_an_empty_index_has_one_too(store: Store, tmp_path: Path) -> None:
    snapshot = open_snapshot(store, tmp_path / "snapshots")
    assert snapshot.state == EMPTY and snapshot.paper_ids == () and len(snapshot.spans) == 0
    assert snapshot.keywords.scores("anything").shape == (0,)
    assert snapshot.allowed(Filters(years=frozenset({2026}))).shape == (0,)
    # What a first run that was killed has left is not complete, and "empty" must stay so for ever.
    store.put([record(1)])
    assert open_snapshot(store, tmp_path / "others").paper_ids == ()


def test_filters_admit_the_same_papers_as_in_the_store(store: Store, tmp_path: Path) -> None:
    with store.writing():
        store.put(
            [
                record(1, year=2025, venue="NeurIPS", authors=("Ann Müller",), keywords=("Safety",)),
                record(2, year=2026, venue="ICLR", authors=("Bo Li",), sources=(Source("B.csv", 1),)),
                record(3),
            ]
        )
    snapshot = open_snapshot(store, tmp_path / "snapshots")
    for filters in (
        Filters(years=frozenset({2025, 2026})),
        Filters(venues=frozenset({"neurips", "ICLR"})),
        Filters(authors=frozenset({"MU\u0308LLER"})),
        Filters(authors=frozenset({"bo li"}), sources=frozenset({"b.CSV"})),
        Filters(keywords=frozenset({" safety "}), years=frozenset({2025})),
        Filters(keywords=frozenset({"safety"}), years=frozenset({2026})),
        Filters(sources=frozenset({"f.txt"})),
        Filters(venues=frozenset({"none"})),
    ):
        admitted = {row for row, yes in zip(snapshot.paper_ids, snapshot.allowed(filters), strict=True) if yes}
        assert admitted == set(store.search(vectors(1)[0], 10, filters)), filters
    assert snapshot.allowed(Filters()).all()


def test_a_damaged_one_is_made_anew(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "snapshots"
    write(store, 1, 2, 3)
    whole = open_snapshot(store, folder)
    (made,) = folder.iterdir()
    files = sorted(file for file in made.rglob("*") if file.is_file() and file.name != "complete")
    assert len(files) > 8
    for file in files:
        data = file.read_bytes()
        for damaged in (b"", data[: len(data) // 2], None):
            file.unlink()  # not written over: an open snapshot looks into the old file
            if damaged is not None:
                file.write_bytes(damaged)
            assert same(open_snapshot(store, folder), whole), file
    (made / "complete").unlink()
    assert same(open_snapshot(store, folder), whole)
    assert [entry.name for entry in folder.iterdir()] == [made.name]


def test_a_snapshot_that_does_not_fit_together_is_made_anew(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "snapshots"
    write(store, 1, 2, 3)
    whole = open_snapshot(store, folder)
    (made,) = folder.iterdir()
    for name in (f"{array}.npy" for array in _ARRAYS):
        shorter = np.load(made / name)[:-1]
        (made / name).unlink()
        np.save(made / name, shorter)
        assert same(open_snapshot(store, folder), whole), name
    (made / "filters.json").write_text("{}")
    assert same(open_snapshot(store, folder), whole)


def test_several_may_make_the_same_one_at_a_time(store: Store, tmp_path: Path) -> None:
    write(store, *range(20))
    folder = tmp_path / "snapshots"
    start = threading.Barrier(4)

    def make(_: int) -> Snapshot:
        start.wait()
        return open_snapshot(store, folder)

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(make, range(4)))
    assert all(same(one, made[0]) for one in made)
    assert len(list(folder.iterdir())) == 1


def test_what_a_killed_builder_left_is_cleared_away_in_time(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "snapshots"
    for name, age in (("building-old1", 7_200), ("building-old2", 7_300), ("building-now", 0)):
        (folder / name).mkdir(parents=True)
        os.utime(folder / name, (time.time() - age,) * 2)
    write(store, 1)
    open_snapshot(store, folder)
    assert (folder / "building-now").exists() and not (folder / "building-old2").exists()


def test_a_folder_that_cannot_be_written_is_named(store: Store, tmp_path: Path) -> None:
    write(store, 1)
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"the snapshot of the index cannot be written in .*file.*choose another --store$"):
        open_snapshot(store, tmp_path / "file" / "snapshots")


def test_a_part_of_a_venue_stands_for_all_names_that_hold_it(store: Store, tmp_path: Path) -> None:
    with store.writing():
        store.put([record(n, venue=venue) for n, venue in enumerate(("NeurIPS 2025", "NeurIPS 2026", "UAI", None), 1)])
    snapshot = open_snapshot(store, tmp_path / "snapshots")
    assert snapshot.allowed(Filters(venues=frozenset({"neurips"}))).tolist() == [True, True, False, False]
    assert snapshot.allowed(Filters(venues=frozenset({"AI", "2026"}))).tolist() == [False, True, False, False]
    widened = snapshot.widened(Filters(venues=frozenset({"NeurIPS"})))
    assert set(store.search(vectors(3)[0], 5, widened)) == set(ids(1, 2))
    nowhere = snapshot.widened(Filters(venues=frozenset({"nowhere"})))
    assert store.search(vectors(3)[0], 5, nowhere) == {} and snapshot.widened(Filters()) == Filters()
