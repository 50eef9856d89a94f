"""Indexing: what is new is embedded once, what is known costs nothing, whatever happens in between."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag.errors import StoreError
from rag.index import BATCH, IndexReport, embed_papers, index_papers
from rag.join import combine
from rag.store import EMPTY, Store
from rag.types import Paper, Source, Span
from tests.records import DIMENSIONS, ROOT, open_store, paper


class CountingEncoder:
    """Made-up vectors that depend on the text alone; `texts` is everything that was embedded."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def encode_chunks(self, texts: Sequence[str], sentences: Sequence[Sequence[Span]]) -> Iterator[tuple[Any, Any]]:
        self.texts += texts
        for text, spans in zip(texts, sentences, strict=True):
            rows = [text, *(text[span.start : span.end] for span in spans)]
            made = np.stack([np.random.default_rng(list(row.encode())).normal(size=DIMENSIONS) for row in rows])
            made = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
            yield made[0], made[1:]


def words(text: str) -> int:
    return len(text.split())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "index")
    yield opened
    opened.close()


def index(store: Store, *papers: Paper) -> tuple[IndexReport, list[str]]:
    """Index papers; return the report and the texts that were embedded for it."""
    encoder = CountingEncoder()
    with store.writing():
        report = index_papers(papers, store, encoder, words)  # type: ignore[arg-type]
    return report, encoder.texts


def stored(store: Store, paper_id: str) -> Paper:
    return store.papers([paper_id])[paper_id]


def test_new_papers_are_added_and_unchanged_ones_cost_nothing(store: Store) -> None:
    papers = [paper(n, title="A title" if n % 2 else None) for n in range(5)]
    report, texts = index(store, *papers)
    assert report == IndexReport(added=5, unchanged=0) and len(texts) == 5
    state = store.state()
    assert index(store, *papers) == (IndexReport(added=0, unchanged=5), [])
    assert store.state() == state != EMPTY
    report, texts = index(store, *papers, paper(9))
    assert report == IndexReport(added=1, unchanged=5) and len(texts) == 1
    assert {found.id: found for found in store.all_papers()} == {p.id: p for p in (*papers, paper(9))}


def test_the_title_stands_before_the_text_and_offsets_stay_those_of_the_abstract(store: Store) -> None:
    titled = paper(1, title="On gates")
    encoder = CountingEncoder()
    (made,) = embed_papers([titled], encoder, lambda text: 1_000 * words(text))  # type: ignore[arg-type]
    assert encoder.texts == [f"On gates. {chunk.text}" for chunk in made.chunks] and len(made.chunks) == 2
    assert made.vectors.shape == made.sentence_vectors.shape == (2, DIMENSIONS)
    for chunk, vector in zip(made.chunks, made.sentence_vectors, strict=True):
        assert chunk.text == titled.abstract[chunk.start : chunk.end]
        alone = next(CountingEncoder().encode_chunks([chunk.text], [[Span(0, len(chunk.text))]]))[1][0]
        np.testing.assert_allclose(vector, alone)


def test_facts_that_are_not_in_the_vectors_are_changed_without_embedding(store: Store) -> None:
    index(store, paper(1), paper(2))
    report, texts = index(store, paper(1, year=2026, authors=("Ann Lee",)), paper(2))
    assert (report, texts) == (IndexReport(added=0, unchanged=1, changed=1), [])
    assert stored(store, paper(1).id) == paper(1, year=2026, authors=("Ann Lee",))


def test_a_changed_title_or_wording_is_embedded_again(store: Store) -> None:
    index(store, paper(1), paper(2, title="Wrong"), paper(3))
    reworded = paper(3).abstract.replace("more about", "more  about")  # another text under the same id
    report, texts = index(store, paper(1, title="New"), paper(2, title="Right"), paper(3, abstract=reworded))
    assert report == IndexReport(added=0, unchanged=0, changed=3)
    assert texts == [f"New. {paper(1).abstract}", f"Right. {paper(2).abstract}", reworded]
    assert stored(store, paper(2).id).title == "Right" and stored(store, paper(3).id).abstract == reworded
    assert store.counts() == (3, 3)


def test_a_record_of_another_file_joins_its_paper(store: Store) -> None:
    index(store, paper(1, year=2025, label="ours"))
    other = paper(1, title="Title", year=1999, url="u", label="theirs", sources=(Source("b.csv", 7, 8),))
    report, texts = index(store, other)
    assert report == IndexReport(added=0, unchanged=0, merged=1) and len(texts) == 1  # the title is new
    expected = paper(
        1, title="Title", year=2025, url="u", label="theirs", sources=(Source("b.csv", 7, 8), Source("f.txt", 2))
    )
    assert stored(store, paper(1).id) == expected
    # Either file alone, again, changes nothing any more.
    assert index(store, other) == (IndexReport(added=0, unchanged=1), [])
    assert index(store, paper(1, year=2025, label="ours")) == (IndexReport(added=0, unchanged=1), [])
    assert stored(store, paper(1).id) == expected


def test_one_paper_twice_in_one_load_is_one(store: Store) -> None:
    report, texts = index(store, paper(1), paper(1, year=2026, sources=(Source("g.txt", 1),)), paper(2))
    assert report == IndexReport(added=2, unchanged=0, merged=1) and len(texts) == 2
    assert stored(store, paper(1).id) == paper(1, year=2026, sources=(Source("f.txt", 2), Source("g.txt", 1)))


def test_records_that_moved_in_their_file_move(store: Store) -> None:
    index(store, paper(1, sources=(Source("a.txt", 1, 3), Source("b.txt", 5))), paper(2, sources=(Source("a.txt", 2, 9),)))
    report, texts = index(
        store, paper(2, sources=(Source("a.txt", 1, 3),)), paper(1, sources=(Source("a.txt", 2, 9), Source("a.txt", 4)))
    )
    assert (report, texts) == (IndexReport(added=0, unchanged=0, changed=2), [])
    assert stored(store, paper(1).id).sources == (Source("a.txt", 2, 9), Source("a.txt", 4), Source("b.txt", 5))
    assert stored(store, paper(2).id).sources == (Source("a.txt", 1, 3),)


def test_combining_keeps_what_is_known_and_adds_what_is_missing() -> None:
    ours = paper(1, title="Ours", venue="V")
    theirs = paper(1, title="Theirs", venue=None, keywords=("w",), label="theirs", sources=(Source("b", 1),))
    both = combine(ours, theirs)
    assert (both.title, both.venue, both.keywords, both.label) == ("Ours", "V", ("w",), ours.label)
    # A newer reading of the same file counts, but what it does not know is kept.
    newer = combine(ours, replace(theirs, sources=ours.sources))
    assert (newer.title, newer.venue, newer.keywords, newer.label) == ("Theirs", "V", ("w",), "theirs")
    untitled = combine(ours, paper(1, label="worse"))
    assert (untitled.title, untitled.label) == ("Ours", ours.label)
    assert combine(paper(1), paper(1, label="better")).label == "better"
    assert combine(both, theirs) == both and combine(newer, newer) == newer


def test_progress_counts_the_papers_to_embed(store: Store) -> None:
    papers = [paper(n) for n in range(BATCH + 3)]
    steps: list[tuple[int, int]] = []
    with store.writing():
        encoder = CountingEncoder()
        index_papers(papers, store, encoder, words, lambda done, total: steps.append((done, total)))  # type: ignore[arg-type]
    assert steps == [(BATCH, BATCH + 3), (BATCH + 3, BATCH + 3)]
    assert index(store, *papers)[0].unchanged == BATCH + 3


def test_an_interrupted_run_leaves_its_finished_batches(store: Store) -> None:
    papers = [paper(n) for n in range(2 * BATCH)]

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), store.writing():
        index_papers(papers, store, CountingEncoder(), words, interrupt)  # type: ignore[arg-type]
    assert store.counts()[0] == BATCH and store.state() != EMPTY
    report, texts = index(store, *papers)
    assert report == IndexReport(added=BATCH, unchanged=BATCH) and len(texts) == BATCH


KILLED = """
import sys
from rag.index import index_papers
from tests.records import open_store, paper
from tests.test_index import CountingEncoder, words

class Slow(CountingEncoder):
    def encode_chunks(self, texts, sentences):
        if len(self.texts) >= int(sys.argv[2]):
            print("waiting", flush=True)
            sys.stdin.read()
        return super().encode_chunks(texts, sentences)

store = open_store(sys.argv[1])
with store.writing():
    index_papers([paper(n) for n in range(int(sys.argv[3]))], store, Slow(), words)
"""


def test_a_run_that_was_killed_is_finished_without_doing_anything_twice(tmp_path: Path) -> None:
    papers = [paper(n) for n in range(3 * BATCH)]
    command = [sys.executable, "-c", KILLED, str(tmp_path / "index"), str(2 * BATCH), str(len(papers))]
    run = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert run.stdout and run.stdout.readline() == "waiting\n"
    run.kill()
    run.communicate()
    store = open_store(tmp_path / "index")
    assert store.refresh() != EMPTY and store.counts()[0] == 2 * BATCH
    report, texts = index(store, *papers)
    assert report == IndexReport(added=BATCH, unchanged=2 * BATCH) and len(texts) == BATCH
    whole = open_store(tmp_path / "uninterrupted")
    index(whole, *papers)
    assert store.state() == whole.state() and store.counts() == whole.counts()
    assert store.digests() == whole.digests()
    ours, theirs = store.all_sentences(), whole.all_sentences()
    assert ours.keys() == theirs.keys()
    assert all(np.array_equal(ours[key].vectors, theirs[key].vectors) for key in ours)
    query = store.paper_vectors()[papers[0].id]
    assert store.search(query, 50) == pytest.approx(whole.search(query, 50), abs=1e-6)
    store.close()
    whole.close()


def test_a_store_that_is_being_written_is_not_written(store: Store, tmp_path: Path) -> None:
    second = open_store(tmp_path / "index")
    with second.writing(), pytest.raises(StoreError, match="another process is writing"):
        index(store, paper(1))
    second.close()
