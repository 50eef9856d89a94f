"""The assistant: real files, a real index, the real embedding model; in a folder and behind a server."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rag import Assistant, Config, Filters, Turn, UserError, assets
from rag.chunk import split_sentences
from rag.errors import AssetError, OperatorError, StoreError
from rag.refuse import REFUSAL
from rag.store import EMPTY
from tests.fake_model import FakeModel, cite_first
from tests.test_store import emptied

KEYED = r"^(?P<key>k[0-9a-f]+): (?P<text>.+)$"
UPSAFE = "What does UpSafe turn the safety-critical layers into?"
FILES = ("000_b60cf5948f5e6197.txt", "004_3bdd56fea200ce42.txt")


@pytest.fixture(scope="module")
def seeded(seed_index: Path, home: Path) -> Iterator[Assistant]:
    """The index of the seeds, to be read."""
    with Assistant.open(Config(store=str(seed_index), home=home, writer="extractive")) as assistant:
        yield assistant


@pytest.fixture(params=["folder", "server"])
def empty(request: pytest.FixtureRequest, tmp_path: Path, home: Path) -> Iterator[Assistant]:
    """A new index."""
    store = str(tmp_path / "index")
    if request.param == "server":
        store = emptied(request.getfixturevalue("chroma_server"))
    with Assistant.open(Config(store=store, home=home, writer="extractive")) as assistant:
        yield assistant


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    """Two small lists in formats that know more than text."""
    folder = tmp_path / "lists"
    folder.mkdir()
    rows = [
        {
            "title": "Gates that close",
            "authors": ["Ann Müller", "Bo Li"],
            "year": 2025,
            "venue": "NeurIPS",
            "keywords": ["Mixture of Experts"],
            "abstract": "We close the gates of a mixture of experts. Closed gates save 12% of the energy of a model.",
        },
        {
            "title": "Yeast that folds",
            "authors": ["Cy Li"],
            "year": 2026,
            "venue": "ICLR",
            "keywords": ["biology"],
            "abstract": "We study how proteins fold in yeast cells. Folding takes 3 seconds in the warm and 9 in the cold.",
        },
    ]
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "b.json").write_text(json.dumps(rows[:1]), encoding="utf-8")
    return folder


def test_every_seed_paper_is_found_first_by_its_own_first_sentence(seeded: Assistant, seeds: Path) -> None:
    found = 0
    for ordinal, file in ((n, file) for file in FILES for n in range(1, 20)):
        blocks = (seeds / file).read_text(encoding="utf-8").strip().split("\n\n")[1:]
        span = split_sentences(blocks[ordinal - 1])[0]
        first = seeded.search(blocks[ordinal - 1][span.start : span.end], 1)[0].paper
        assert [str(source) for source in first.sources] == [f"{file}#{ordinal}"]
        found += 1
    assert found == 38 == seeded.status().papers


def test_indexing_twice_changes_nothing(seed_copy: Path, home: Path, seeds: Path) -> None:
    with Assistant.open(store=str(seed_copy), home=home) as assistant:
        before = assistant.status()
        result = assistant.index([seeds], lambda done, total: pytest.fail("something was embedded"))
        assert (result.papers, result.added, result.unchanged, result.changed, result.merged) == (38, 0, 38, 0, 0)
        assert assistant.status() == before


def test_lists_are_searched_filtered_shown_and_removed(empty: Assistant, lists: Path) -> None:
    result = empty.index([lists / "a.jsonl"])
    assert (result.papers, result.added, result.skipped) == (2, 2, ()) and result.seconds > 0
    gates, yeast = (empty.search(query, 1)[0].paper for query in ("closing gates", "proteins in yeast"))
    assert gates.title == "Gates that close" and gates.authors == ("Ann Müller", "Bo Li")
    assert empty.paper(yeast.id) == yeast and yeast.year == 2026

    def found(filters: Filters, ranking: str = "fused") -> set[str]:
        return {hit.paper.id for hit in empty.search("gates of proteins and experts", 5, filters, ranking)}

    for ranking in ("fused", "dense", "keyword"):
        assert found(Filters(years=frozenset({2026})), ranking) == {yeast.id}
        assert found(Filters(venues=frozenset({"neurips"})), ranking) == {gates.id}
        assert found(Filters(authors=frozenset({"MÜLLER"})), ranking) == {gates.id}
        assert found(Filters(authors=frozenset({"li"})), ranking) == {gates.id, yeast.id}
        assert found(Filters(keywords=frozenset({"mixture of experts"})), ranking) == {gates.id}
        assert found(Filters(sources=frozenset({"A.JSONL"})), ranking) == {gates.id, yeast.id}
        assert found(Filters(years=frozenset({2025}), authors=frozenset({"cy li"})), ranking) == set()

    merged = empty.index([lists / "b.json"])
    assert (merged.papers, merged.added, merged.merged, merged.changed) == (2, 0, 1, 0)
    assert [str(source) for source in empty.paper(gates.id).sources] == ["a.jsonl#1", "b.json#1"]
    assert empty.status().sources == {"a.jsonl": 2, "b.json": 1}
    # Of a paper that another list holds too only the source goes.
    assert empty.remove(["a.jsonl"]) == 1
    assert [str(source) for source in empty.paper(gates.id).sources] == ["b.json#1"]
    assert found(Filters(sources=frozenset({"a.jsonl"}))) == set()
    assert [hit.paper.id for hit in empty.search("proteins in yeast", 5)] == [gates.id]
    assert empty.remove([gates.id]) == 1
    assert empty.status().papers == 0 and empty.status().state == EMPTY and empty.search("gates") == []
    refusal = empty.ask("Which gates close?")
    assert refusal.abstained and refusal.text == REFUSAL["en"] and refusal.papers == ()


def test_records_that_moved_show_their_new_places(empty: Assistant, lists: Path) -> None:
    empty.index([lists / "a.jsonl"])
    rows = (lists / "a.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (lists / "a.jsonl").write_text("".join(reversed(rows)), encoding="utf-8")
    result = empty.index([lists / "a.jsonl"], lambda done, total: pytest.fail("something was embedded"))
    assert (result.added, result.changed) == (0, 2)
    assert [str(source) for source in empty.search("closing gates", 1)[0].paper.sources] == ["a.jsonl#2"]


def test_status_tells_what_the_index_holds(seeded: Assistant, seed_index: Path) -> None:
    status = seeded.status()
    assert (status.papers, status.store, status.sources) == (38, str(seed_index), dict.fromkeys(FILES, 19))
    assert status.chunks >= 38 and status.sentences > 200 and status.state == seeded.snapshot().state
    assert status.details["writer"] == "extractive"


def test_a_mistake_is_told_in_one_sentence(seeded: Assistant, tmp_path: Path) -> None:
    for call, words in (
        (lambda: seeded.paper("nonsense"), "there is no paper 'nonsense' in the index; `plenary search` shows the ids"),
        (lambda: seeded.ask("  "), "the question is empty; type what you want to know"),
        (lambda: seeded.search(""), "the question is empty; type what you want to know"),
        (lambda: seeded.search("a", 0), "-k must be at least 1, not 0"),
        (lambda: seeded.ask("Why?", writer="typewriter"), "unknown writer 'typewriter'; choose auto, openai,"),
        (lambda: seeded.remove(["nonsense", FILES[0]]), "neither a paper nor a file of the index: nonsense"),
        (lambda: seeded.index([tmp_path / "absent.txt"]), "there is no such file or folder"),
    ):
        with pytest.raises(UserError, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)
    assert seeded.status().papers == 38


def test_half_a_character_in_a_question_does_no_harm(seeded: Assistant) -> None:
    assert seeded.search("safety \ud83d of models", 1) == seeded.search("safety ? of models", 1)
    assert seeded.ask("\udcff").abstained


def test_a_paper_of_a_file_keeps_what_json_may_hold(empty: Assistant, tmp_path: Path) -> None:
    """Half a surrogate pair, a NUL and a line separator are legal in JSON."""
    text = "We measure the \ud83d speed\0 of light\u2028in a vacuum with 3 clocks and a long ruler."
    (tmp_path / "odd.json").write_text(json.dumps([{"title": "Odd \ud83d", "abstract": text}]), encoding="utf-8")
    empty.index([tmp_path / "odd.json"])
    found = empty.search("speed of light", 1)[0].paper
    assert found.abstract.endswith("of light\u2028in a vacuum with 3 clocks and a long ruler.")
    found.abstract.encode()


def test_another_writer_is_seen_by_an_open_assistant(seed_copy: Path, home: Path, lists: Path) -> None:
    config = Config(store=str(seed_copy), home=home, writer="extractive")
    with Assistant.open(config) as one, Assistant.open(config) as two:
        assert two.search("proteins fold in yeast", 1)[0].paper.title != "Yeast that folds"
        one.index([lists])
        assert two.search("proteins fold in yeast", 1)[0].paper.title == "Yeast that folds"
        assert two.status().papers == 40
        two.remove(["a.jsonl"])
        assert one.search("proteins fold in yeast", 1)[0].paper.title != "Yeast that folds"
        one.index([lists])
        assert two.search("proteins fold in yeast", 1, ranking="dense")[0].paper.title == "Yeast that folds"


def test_threads_may_share_an_assistant_while_it_indexes(seed_copy: Path, home: Path, lists: Path) -> None:
    with Assistant.open(store=str(seed_copy), home=home, writer="extractive") as assistant:
        with ThreadPoolExecutor(3) as pool:
            answers = [pool.submit(assistant.ask, UPSAFE) for _ in range(6)]
            indexing = pool.submit(assistant.index, [lists])
            assert indexing.result().added == 2
            assert {answer.result().text for answer in answers} == {assistant.ask(UPSAFE).text}
        assert assistant.status().papers == 40


# Writers


def test_the_writer_is_chosen_by_what_is_there(
    home: Path, seed_index: Path, tmp_path: Path, asset: Callable[[str], Path]
) -> None:
    alone = tmp_path / "home" / "assets"
    alone.mkdir(parents=True)
    for name in (assets.EMBEDDING_MODEL, assets.TOKENIZER):
        file = asset(name)
        (alone / file.name).symlink_to(file)
        shutil.copy(file.with_name(f".{file.name}.checked"), alone)
    config = Config(store=str(seed_index), home=alone.parent)
    for settings, kind in (
        ({}, "extractive"),
        ({"api_key": "k"}, "openai"),
        ({"base_url": "http://127.0.0.1:9/v1"}, "openai"),
        ({"api_key": "k", "writer": "extractive"}, "extractive"),
    ):
        with Assistant.open(config, **settings) as assistant:
            assert assistant.writer_kind() == kind
    with Assistant.open(config) as assistant, pytest.raises(AssetError, match="plenary assets"):
        assistant.ask(UPSAFE, writer="local")


def test_a_service_writes_and_its_words_are_checked(
    seed_index: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeModel(cite_first(KEYED), api_key="secret") as fake:
        monkeypatch.setenv("OPENAI_BASE_URL", fake.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "secret")
        monkeypatch.setenv("OPENAI_MODEL", "fake-model")
        monkeypatch.setenv("PLENARY_HOME", str(home))
        monkeypatch.setenv("PLENARY_STORE", str(seed_index))
        with Assistant.open() as assistant:
            answer = assistant.ask(UPSAFE)
            assert answer.writer == "fake-model" and not answer.abstained and answer.usage.calls == 1
            follow_up = assistant.ask("And what is its router?", [Turn("user", UPSAFE), Turn("assistant", answer.text)])
        assert [request.body["model"] for request in fake.history] == ["fake-model"] * len(fake.history)
        assert UPSAFE in fake.history[0].user and "UpSafe" in fake.history[-1].user
        assert follow_up.question == "And what is its router?"
        for claim in answer.claims:
            for citation in claim.citations:
                abstract = answer.papers[citation.n - 1].abstract
                assert abstract[citation.quote.start : citation.quote.end] == citation.quote.text


def test_a_missing_asset_is_named_with_the_command(tmp_path: Path) -> None:
    with pytest.raises(AssetError, match="`plenary assets"):
        Assistant.open(store=str(tmp_path / "index"), home=tmp_path)


def test_a_server_that_does_not_run_is_named(home: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(StoreError, match=rf"no Chroma server answers at http://127\.0\.0\.1:{port}; start it"):
        Assistant.open(store=f"http://127.0.0.1:{port}", home=home)
    assert issubclass(StoreError, OperatorError)
