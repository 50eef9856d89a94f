"""Copying an index: everything arrives as it is, an interruption costs nothing twice, nothing is mixed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rag import copying
from rag.copying import copy_index
from rag.errors import StoreError, UserError
from rag.store import Store
from rag.types import Source, SourceFile, Version
from tests.records import DIMENSIONS, MODEL, open_store, record
from tests.test_store import emptied


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "source")
    versions = tuple(Version(f"{n:012x}", f"text {n}", (Source("b.csv", n),), title="T") for n in (1, 99))
    with opened.writing():
        opened.put([record(n, budget=8) for n in range(12)])
        opened.put([record(1, versions=versions)])
        opened.remember_files({"f.txt": SourceFile("f.txt", "/x/f.txt", "abc", "2026-01-01")})
        opened.remember_apart([frozenset(("a", "b"))])
    yield opened
    opened.close()


@pytest.fixture(params=["folder", "server"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    place = str(tmp_path / "target")
    if request.param == "server":
        place = emptied(request.getfixturevalue("chroma_server"))
    opened = open_store(place)
    yield opened
    opened.close()


def same(one: Store, two: Store) -> bool:
    ours, theirs = one.all_sentences(), two.all_sentences()
    ones, twos = one._chunks.get(include=["embeddings"]), two._chunks.get(include=["embeddings"])
    vectors = [dict(zip(rows["ids"], rows["embeddings"], strict=True)) for rows in (ones, twos)]
    return (
        {p.id: p for p in one.all_papers()} == {p.id: p for p in two.all_papers()}
        and (one.digests(), one.counts(), one.state()) == (two.digests(), two.counts(), two.state())
        and (one.files(), one.apart()) == (two.files(), two.apart())
        and vectors[0].keys() == vectors[1].keys()
        # Chroma makes vectors unit length as it takes them in, which moves the last bit.
        and all(np.allclose(vectors[0][key], vectors[1][key], rtol=0, atol=1e-7) for key in vectors[0])
        and ours.keys() == theirs.keys()
        and all(np.array_equal(ours[key].vectors, theirs[key].vectors) for key in ours)
        and all(np.array_equal(one.paper_vectors()[key], two.paper_vectors()[key]) for key in ours)
    )


def test_everything_arrives_and_a_second_copy_does_nothing(source: Store, target: Store) -> None:
    assert copy_index(source, target) == (12, 0) and same(source, target)
    assert copy_index(source, target, lambda done, total: pytest.fail("copied again")) == (0, 12)


def test_an_interrupted_copy_goes_on(source: Store, target: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "BATCH", 5)

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_index(source, target, interrupt)
    # A kill may also leave chunks without their paper.
    first = sorted(target.digests())[0]
    target._papers.delete(ids=[first])
    steps: list[tuple[int, int]] = []
    assert copy_index(source, target, lambda done, total: steps.append((done, total))) == (8, 4)
    assert steps == [(9, 12), (12, 12)] and same(source, target)


def test_papers_of_others_are_not_mixed_in(source: Store, target: Store) -> None:
    with target.writing():
        target.put([record(1), record(50)])
    with pytest.raises(UserError, match=r"holds 2 papers that are not those of .*copy to a new place"):
        copy_index(source, target)
    assert target.counts()[0] == 2
    with target.writing():
        target.delete([f"{n:012x}" for n in (1, 50)])
    assert copy_index(source, target) == (12, 0)


def test_nothing_and_another_model_are_refused(source: Store, tmp_path: Path) -> None:
    empty = open_store(tmp_path / "empty")
    with pytest.raises(UserError, match="there is nothing to copy"):
        copy_index(empty, source)
    empty.close()
    with pytest.raises(StoreError, match="embedding model"):
        Store(str(tmp_path / "source"), "another", DIMENSIONS)
    assert source.model_id == MODEL
