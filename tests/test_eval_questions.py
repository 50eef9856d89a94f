"""The sets of comparative questions hold what they promise, and the check of them sees what is wrong."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.corpora import SHARED
from eval.questions_check import GROUPS, listed, validate_comparative
from rag.load import load_paths

ROOT = Path(__file__).parent.parent
SEEDS = ROOT / "eval" / "questions" / "comparative.jsonl"
PLAIN = ROOT / "eval" / "retrieval" / "comparative.jsonl"

Row = dict[str, Any]
Write = Callable[..., Path]


def rows_of(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def good() -> Row:
    first, second = rows_of(SEEDS)[0]["sides"]
    return {
        "id": "one", "kind": "comparative", "comparison": True, "question": "How do they differ?", "history": [],
        "sides": [first, second], "aspect": None, "group": "two_named",
        "must_mention": [{"side": second["name"], "pattern": "refusal steering"}], "note": "",
    }


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_rows(*rows: Row) -> Path:
        path = tmp_path / "set.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write_rows


@pytest.mark.parametrize("path", [SEEDS, PLAIN], ids=["seeds", "plain"])
def test_sets_are_valid(path: Path) -> None:
    assert validate_comparative(path) == []


def test_every_group_is_there() -> None:
    groups = Counter(row["group"] for row in rows_of(SEEDS))
    assert groups.keys() == GROUPS
    assert sum(groups.values()) - groups["not_a_comparison"] >= 40
    assert groups["not_a_comparison"] >= 10


def test_absent_sides_are_in_no_abstract() -> None:
    text = "\n".join(paper.abstract for paper in load_paths(sorted((ROOT / "data").glob("*.txt"))).papers)
    absent = {side["name"] for row in rows_of(SEEDS) for side in row["sides"] if side["status"] == "absent"}
    assert absent
    for name in absent:
        assert not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE), name


def test_facts_tell_the_two_sides_apart() -> None:
    """A fact of one side that stood in the other paper too could not show that cells were exchanged."""
    abstracts = {
        str(source): paper.abstract
        for paper in load_paths(sorted((ROOT / "data").glob("*.txt"))).papers
        for source in paper.sources
    }
    for row in rows_of(SEEDS):
        for fact in row["must_mention"]:
            others = [paper for side in row["sides"] if side["name"] != fact["side"] for paper in side["papers"]]
            shared = [paper for paper in others if re.search(fact["pattern"], abstracts[paper], re.IGNORECASE)]
            assert not shared, (row["id"], fact)


def test_no_words_of_unlicensed_abstracts_are_copied() -> None:
    """Titles are facts; five words in a row of an abstract are not ours to publish."""
    if not (SHARED / "corpora" / "neurips2022_csv").exists():
        pytest.skip("the conference lists are not beside the repository")
    for row in rows_of(PLAIN):
        own = [row["question"], row["note"], *(text for _, text in row["history"])]
        for side in row["sides"]:
            for paper in side["papers"]:
                _, text_of_paper = listed(paper["corpus"])[paper["paper_id"]]
                abstract = " ".join(re.findall(r"\w+", text_of_paper.lower()))
                for text in own:
                    words = re.findall(r"\w+", text.lower())
                    runs = (" ".join(words[at : at + 5]) for at in range(len(words) - 4))
                    assert not [run for run in runs if run in abstract], row["id"]


def test_good_row_has_no_complaint(write: Write) -> None:
    assert validate_comparative(write(good())) == []


def change(**fields: Any) -> Callable[[Row], Row]:
    return lambda row: row | fields


def change_side(**fields: Any) -> Callable[[Row], Row]:
    return lambda row: row | {"sides": [row["sides"][0] | fields, row["sides"][1]]}


WRONG = [
    (lambda row: {key: row[key] for key in row if key != "aspect"}, "the field aspect is missing"),
    (change(extra=1), "unknown field extra"),
    (change(question=3), "the field question is of the wrong type"),
    (change(question=" "), "the question is empty"),
    (change(kind="single"), "kind is 'single'"),
    (change(group="pairs"), "unknown group 'pairs'"),
    (change(comparison=False), "comparison is False in the group two_named"),
    (change(comparison=False, group="not_a_comparison", must_mention=[]), "has no sides"),
    (change(sides=[], must_mention=[]), "a comparison needs sides"),
    (change(group="three_or_more"), "only 2 sides"),
    (change(group="absent"), "no absent side"),
    (change(group="follow_up"), "a follow-up needs a history"),
    (change(history=[["robot", "hello"]]), "is no [role, text]"),
    (change(not_stated=["nobody"]), "no side is called 'nobody'"),
    (change(acceptable=["000_b60cf5948f5e6197.txt#99"]), "#99 is in no list"),
    (change(must_mention=[{"side": "ThinkSafe", "pattern": "("}]), "is wrong"),
    (change(must_mention=[{"side": "ThinkSafe", "pattern": "quantum annealing"}]), "occurs in no abstract"),
    (change(must_mention=[{"side": "nobody", "pattern": "a"}]), "no side with papers is called 'nobody'"),
    (change_side(papers=["004_3bdd56fea200ce42.txt#40"]), "#40 is in no list"),
    (change_side(papers=[]), "has 0 papers, not one"),
    (change_side(papers=[{"title": "A"}]), "names no paper"),
    (change_side(status="perhaps"), "unknown status 'perhaps'"),
    (change_side(status=["found"]), "unknown status"),
    (change_side(name=["UpSafe"]), "needs a name"),
    (change(must_mention=[{"side": "ThinkSafe", "pattern": 3}]), "is no fact"),
    (change_side(status="absent"), "has papers"),
    (change_side(status="ambiguous"), "fewer than two papers"),
    (change_side(name="ThinkSafe"), "two sides have the same name"),
    (change_side(colour="red"), "is no side with name, papers and status"),
]


@pytest.mark.parametrize(("edit", "complaint"), WRONG, ids=[complaint for _, complaint in WRONG])
def test_wrong_rows_are_named_with_their_line(write: Write, edit: Callable[[Row], Row], complaint: str) -> None:
    path = write(good(), edit(good()) | {"id": "two"})
    found = validate_comparative(path)
    assert any(complaint in text for text in found), found
    assert all(text.startswith("set.jsonl:2: ") for text in found)


def test_an_id_stands_once(write: Write) -> None:
    assert validate_comparative(write(good(), good())) == ["set.jsonl:2: the id one stands in line 1 already"]


def test_lines_that_are_no_object_are_named(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text("{\n[]\n", encoding="utf-8")
    complaints = validate_comparative(path)
    assert complaints[0].startswith("set.jsonl:1: no JSON")
    assert complaints[1] == "set.jsonl:2: no JSON object"


def test_papers_of_lists_are_looked_up(write: Write) -> None:
    row = rows_of(PLAIN)[0]
    paper = row["sides"][0]["papers"][0]
    if not (SHARED / "corpora" / paper["corpus"]).exists():
        pytest.skip("the conference lists are not beside the repository")
    row["sides"][0]["papers"] = [paper | {"paper_id": "none"}]
    assert any("none is not in" in text for text in validate_comparative(write(row)))
    row["sides"][0]["papers"] = [paper | {"title": "Another"}]
    assert any("not 'Another'" in text for text in validate_comparative(write(row)))
