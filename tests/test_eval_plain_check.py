"""The sets of questions hold what they promise and cover what they must; the check sees what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval.cases import case_of, judged_among_others, load_cases
from eval.plain_check import LEAST, plain_row, uncovered
from eval.questions_check import QUESTIONS, SETS, main, validate
from rag import UserError

Row = dict[str, Any]
ABSTRACTS = {"a.txt#1": "We reach 12 % on Ships.", "a.txt#2": "Boats need no rudder."}


def good() -> Row:
    return {
        "id": "one", "kind": "single", "question": "What is reached?", "history": [], "gold": ["a.txt#1"],
        "facts": [r"\b12\b"], "must_not": ["rudder"], "answerable": True, "note": "",
    }  # fmt: skip


@pytest.mark.parametrize("name", SETS)
def test_sets_are_valid(name: str) -> None:
    assert validate(QUESTIONS / f"{name}.jsonl") == []


def test_everything_is_covered(capsys: pytest.CaptureFixture[str]) -> None:
    """Each paper has a fact and a paraphrase, each kind has enough, no id stands twice."""
    assert main([]) == 0
    assert "nothing wrong" in capsys.readouterr().out


def test_good_row_has_no_complaint() -> None:
    assert list(plain_row(good(), ABSTRACTS)) == []


WRONG = [
    ({"kind": "riddle"}, "unknown kind 'riddle'"),
    ({"question": " "}, "the question is empty"),
    ({"history": [["robot", "hello"]]}, "is no [role, text]"),
    ({"kind": "followup"}, "a follow-up needs a history"),
    ({"kind": "theme", "group": "map"}, "unknown group 'map'"),
    ({"kind": "hostile"}, "unknown group None"),
    ({"gold": ["a.txt#9"]}, "gold: a.txt#9 is in no list"),
    ({"not_cited": ["b.txt#1"]}, "not_cited: b.txt#1 is in no list"),
    ({"gold": []}, "needs gold papers"),
    ({"answerable": False, "gold": []}, "has no facts"),
    ({"answerable": False, "facts": []}, "has no gold papers"),
    ({"acceptable": ["a.txt#1"]}, "acceptable or not to be cited as well"),
    ({"facts": ["("]}, "facts: the pattern '(' is wrong"),
    ({"facts": [3]}, "facts: the pattern 3 is wrong"),
    ({"facts": [r"\b13\b"]}, "occurs in no gold abstract"),
    ({"must_not": ["ships"]}, "must_not: 'ships' occurs in a gold abstract"),
    ({"colour": "red"}, "unknown field colour"),
    ({"answerable": 1}, "the field answerable is of the wrong type"),
]


@pytest.mark.parametrize(("fields", "complaint"), WRONG, ids=[complaint for _, complaint in WRONG])
def test_wrong_rows(fields: Row, complaint: str) -> None:
    assert any(complaint in found for found in plain_row(good() | fields, ABSTRACTS))


def test_a_missing_field_is_named() -> None:
    row = good()
    del row["facts"]
    assert list(plain_row(row, ABSTRACTS)) == ["the field facts is missing"]


def test_what_is_not_covered_is_named() -> None:
    found = list(uncovered([good(), good()], ABSTRACTS))
    assert "no fact question about a.txt#2" in found
    assert "no paraphrase question about a.txt#1" in found
    assert f"0 theme questions, at least {LEAST['theme']} are needed" in found
    assert "no unanswerable question of the sort 'near miss'" in found
    assert "no hostile question of the group 'prompt'" in found
    assert "the id one stands in several files" in found


def test_complaints_name_file_and_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps(good() | {"gold": [], "facts": [], "answerable": False}) + "\n{\n", encoding="utf-8")
    assert main([str(path)]) == 1
    assert capsys.readouterr().out.startswith("own.jsonl:2: no JSON")


def test_cases_of_all_sets() -> None:
    cases = load_cases()
    assert len({case.id for case in cases}) == len(cases)
    by_id = {case.id: case for case in cases}
    assert by_id["unanswerable-021"].either
    assert len(by_id["cmp-11"].sides) == 2 and len(by_id["cmp-11"].gold) == 2
    assert by_id["hostile-008"].not_cited


def test_what_nobody_judged_is_not_asked_among_other_papers() -> None:
    left = {(case.kind, case.group) for case in load_cases() if not judged_among_others(case)}
    assert {kind for kind, _ in left} == {"theme", "unanswerable"}
    assert {group for kind, group in left if kind == "unanswerable"} == {"method not in the corpus"}


def test_a_sample_is_the_same_for_a_seed() -> None:
    assert load_cases(["single"], limit=5, seed=1) == load_cases(["single"], limit=5, seed=1)
    assert load_cases(["single"], limit=5, seed=1) != load_cases(["single"], limit=5, seed=2)
    assert {case.kind for case in load_cases(["single"], kind="paraphrase")} == {"paraphrase"}


def test_an_unknown_set_is_refused() -> None:
    with pytest.raises(UserError, match="choose a file"):
        load_cases(["riddles"])


def test_a_comparison_that_may_be_asked_back_wants_no_side() -> None:
    row = {
        "id": "c", "kind": "comparative", "question": "A or B?", "history": [], "comparison": True, "group": "ambiguous",
        "must_mention": [{"side": "A", "pattern": "x"}],
        "sides": [{"name": "A", "papers": ["p"], "status": "found"}, {"name": "B", "papers": ["q", "r"], "status": "ambiguous"}],
    }  # fmt: skip
    case = case_of(row)
    assert case.either and not case.sides and not case.facts
