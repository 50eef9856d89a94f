"""Batches: every line checked first, answers written as they come, and a run goes on where one stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from rag import Assistant, Config, UserError
from rag.batch import run_batch
from rag.errors import InputError
from tests.fake_model import FakeModel, Reply, cite_first

UPSAFE = "What does UpSafe turn the safety-critical layers into?"
ITEMS: Sequence[dict[str, Any]] = (
    {"id": "one", "question": UPSAFE},
    {"id": 2, "question": "And what acts as its router?", "history": [["user", UPSAFE], ["assistant", "Into an MoE."]]},
    {"id": "s", "search": "safety of language models", "k": 3},
    {"id": "no", "question": "Who founded OpenAI?"},
)


@pytest.fixture(scope="module")
def assistant(seed_index: Path, home: Path) -> Iterator[Assistant]:
    with Assistant.open(Config(store=str(seed_index), home=home, writer="extractive")) as opened:
        yield opened


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(json.dumps(item) for item in ITEMS) + "\n\n", encoding="utf-8")
    return file


def answers(out: Path) -> list[dict[str, Any]]:
    text = out.read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text[:-1].split("\n")]


def test_every_line_gets_its_answer_in_order(assistant: Assistant, questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    assert list(run_batch(assistant, questions, out)) == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    one, follow_up, found, refused = answers(out)
    assert [answer["id"] for answer in (one, follow_up, found, refused)] == ["one", 2, "s", "no"]
    assert one["text"] == assistant.ask(UPSAFE).text and one["papers"][0]["n"] == 1
    assert follow_up["question"] == "And what acts as its router?" and follow_up["retrieved"][0] == one["papers"][0]["paper_id"]
    assert found.keys() == {"id", "hits"} and len(found["hits"]) == 3
    assert refused["abstained"] is True and refused["papers"] == []


def test_it_goes_on_where_it_stopped(assistant: Assistant, questions: Path, tmp_path: Path) -> None:
    out, whole = tmp_path / "answers.jsonl", tmp_path / "whole.jsonl"
    list(run_batch(assistant, questions, whole))
    lines = whole.read_text(encoding="utf-8").splitlines(keepends=True)
    run = run_batch(assistant, questions, out)
    assert [next(run), next(run)] == [(0, 4), (1, 4)]
    del run
    kept = out.read_text(encoding="utf-8")
    assert answers(out)[0]["id"] == "one" and len(answers(out)) == 1
    for cut in ("", lines[1][:40], lines[1][:-1], '{"id": 2'):
        out.write_text(kept + cut, encoding="utf-8")
        done = list(run_batch(assistant, questions, out))
        assert done[0] == (2 if cut == lines[1][:-1] else 1, 4) and done[-1] == (4, 4)
        assert [answer["id"] for answer in answers(out)] == ["one", 2, "s", "no"]
        assert out.read_text(encoding="utf-8").startswith(kept)
    assert list(run_batch(assistant, questions, out)) == [(4, 4)]
    # A first answer that was cut leaves nothing to go on from, and nothing to be glued to.
    out.write_text(kept[:30], encoding="utf-8")
    assert next(iter([*run_batch(assistant, questions, out)])) == (0, 4)
    assert [answer["id"] for answer in answers(out)] == ["one", 2, "s", "no"]


def test_what_a_line_of_json_may_hold_does_not_break_lines(assistant: Assistant, tmp_path: Path) -> None:
    odd = "What does UpSafe\u2028turn\u0085layers\x0b into \ud83d?"
    (tmp_path / "q").write_text(
        "\ufeff" + json.dumps({"id": "\u2028", "question": odd}) + "\r\n"
        + json.dumps({"id": "b", "search": "a\u2029b"}, ensure_ascii=False),
        encoding="utf-8",
    )
    out = tmp_path / "answers.jsonl"
    assert list(run_batch(assistant, tmp_path / "q", out))[-1] == (2, 2)
    assert [answer["id"] for answer in answers(out)] == ["\u2028", "b"]
    before = out.read_bytes()
    assert list(run_batch(assistant, tmp_path / "q", out)) == [(2, 2)]
    assert out.read_bytes() == before


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "not JSON"),
        ("[1]", 'expected an object with an "id"'),
        ('{"question": "Why?"}', 'expected an object with an "id"'),
        ('{"id": 1.5, "question": "Why?"}', 'expected an object with an "id"'),
        ('{"id": true, "question": "Why?"}', 'expected an object with an "id"'),
        ('{"id": "one", "question": "Why?"}', "the id 'one' stands twice"),
        ('{"id": 1}', 'expected a "question" or a "search"'),
        ('{"id": 1, "question": "  "}', 'expected a "question" or a "search"'),
        ('{"id": 1, "question": ["Why?"]}', 'expected a "question" or a "search"'),
        ('{"id": 1, "search": "a", "k": 0}', '"k" must be a whole number from 1'),
        ('{"id": 1, "search": "a", "k": true}', '"k" must be a whole number from 1'),
        ('{"id": 1, "question": "Why?", "history": ["a"]}', "history must be"),
        ('{"id": 1, "question": "Why?", "history": [["robot", "a"]]}', "history must be"),
    ],
)
def test_a_wrong_line_is_named_before_anything_is_answered(
    assistant: Assistant, tmp_path: Path, line: str, problem: str
) -> None:
    questions, out = tmp_path / "questions.jsonl", tmp_path / "answers.jsonl"
    questions.write_text('{"id": "one", "question": "Why?"}\n\n' + line + "\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        list(run_batch(assistant, questions, out))
    assert str(caught.value).startswith(f"{questions}, line 3: {problem}") and not out.exists()


def test_files_that_cannot_be_used_are_named(assistant: Assistant, questions: Path, tmp_path: Path) -> None:
    latin = tmp_path / "latin.jsonl"
    latin.write_bytes('{"id": 1, "question": "Größe?"}'.encode("latin-1"))
    prose = tmp_path / "prose.txt"
    prose.write_text("My notes.\nDo not lose them.\n", encoding="utf-8")
    for asked, out, problem in (
        (tmp_path / "absent", tmp_path / "out", "absent: cannot be read"),
        (tmp_path, tmp_path / "out", "cannot be read"),
        (latin, tmp_path / "out", "not UTF-8"),
        (questions, tmp_path / "no" / "out", "out: cannot be written"),
        (questions, tmp_path, "cannot be written"),
        (questions, questions, "the answers would overwrite the questions"),
        (questions, prose, "prose.txt, line 1: this is not a file of answers; choose another --out"),
    ):
        with pytest.raises(UserError, match=problem):
            list(run_batch(assistant, asked, out))
    assert prose.read_text(encoding="utf-8") == "My notes.\nDo not lose them.\n"
    assert len(questions.read_text(encoding="utf-8").splitlines()) == len(ITEMS) + 1


def test_a_question_on_which_the_service_failed_is_asked_again(seed_index: Path, home: Path, tmp_path: Path) -> None:
    questions, out = tmp_path / "questions.jsonl", tmp_path / "answers.jsonl"
    questions.write_text(
        "\n".join(json.dumps({"id": n, "question": UPSAFE}) for n in range(3)), encoding="utf-8"
    )
    with FakeModel(cite_first(r"^(?P<key>k[0-9a-f]+): (?P<text>.+)$")) as fake:
        config = Config(store=str(seed_index), home=home, writer="openai", base_url=fake.base_url, retries=0)
        with Assistant.open(config) as assistant:
            first = assistant.ask(UPSAFE).text
            fake.enqueue(Reply.failing(500))
            assert list(run_batch(assistant, questions, out))[-1] == (3, 3)
            failed, *answered = answers(out)
            assert failed.keys() == {"id", "question", "error"} and "fault of its own" in failed["error"]
            assert [answer["text"] for answer in answered] == [first] * 2
            asked = len(fake.history)
            assert list(run_batch(assistant, questions, out)) == [(2, 3), (3, 3)]
            assert len(fake.history) == asked + 1
    assert sorted(answer["id"] for answer in answers(out)) == [0, 1, 2]
    assert all("error" not in answer for answer in answers(out))
