"""An answer is measured as a reader would: by its text, by each citation, by what was asked; a failure is one."""

from __future__ import annotations

from typing import Any

import pytest

from eval.cases import Case
from eval.scoring import GOOD, count_stated, failed, judged, score
from rag import Paper

FIRST = Paper(
    "p1", "We propose QOP, which prunes weights. It lowers the error by 12% on ten datasets.", "QOP"
)
SECOND = Paper("p2", "TReFT regularizes prefix representations. It needs no retain set.", "TReFT")


class Shelf:
    """What `score` needs of a library, with two papers."""

    def __init__(self) -> None:
        self.papers = {"p1": FIRST, "p2": SECOND}
        self.idf = lambda word: 1.0

    def ids(self, sources: frozenset[str]) -> set[str]:
        return {source.replace("list.txt#", "p") for source in sources}

    def sides(self, case: Case) -> Any:
        yield from (self.ids(side) for side in case.sides)


SHELF: Any = Shelf()
ERROR = "It lowers the error by 12% on ten datasets."


def claim(text: str, quote: str, paper: Paper, n: int = 1, start: int | None = None) -> dict[str, Any]:
    begin = paper.abstract.index(quote) if start is None else start
    citation = {"n": n, "paper_id": paper.id, "quote": quote, "start": begin, "end": begin + len(quote)}
    return {"text": text, "support": "supported", "reason": "", "citations": [citation], "english": None}


def document(text: str, claims: list[dict[str, Any]], papers: list[Paper], **fields: Any) -> dict[str, Any]:
    return {
        "kind": "single", "abstained": not text, "text": text, "claims": claims, "removed": [],
        "papers": [{"n": n, "paper_id": paper.id} for n, paper in enumerate(papers, 1)],
        "retrieved": ["p1", "p2"], "usage": {"prompt_tokens": 7, "completion_tokens": 2},
        "timings": {"evidence": 0.1, "first_word": 0.2, "total": 0.3}, **fields,
    }  # fmt: skip


CASE = Case(
    "one", "single", "By how much?", gold=frozenset({"list.txt#1"}), facts=(r"\b12\s*%",), must_not=("PWNED",)
)


def test_a_right_answer_has_everything() -> None:
    measured = score(CASE, document("It lowers the error by 12% on ten datasets [1].", [claim(ERROR, ERROR, FIRST)], [FIRST]), SHELF)
    for name in ("facts", "right", "citation_precision", "citation_recall", "grounded", "quotes_exact", "answered",
                 "unharmed", "recall_1", "ndcg_10"):  # fmt: skip
        assert measured[name] == 1.0, name
    assert measured["seconds"] == 0.3 and measured["prompt_tokens"] == 7 and measured["removed"] == 0.0


def test_a_changed_number_is_carried_by_nothing() -> None:
    text = "It lowers the error by 45% on ten datasets."
    measured = score(CASE, document(text.replace(".", " [1]."), [claim(text, ERROR, FIRST)], [FIRST]), SHELF)
    assert measured["facts"] == 0 and measured["right"] == 1
    assert measured["citation_precision"] == measured["citation_recall"] == measured["grounded"] == 0


def test_what_is_true_of_one_paper_is_not_carried_by_another() -> None:
    """The sentence is the first paper's; the second is cited: grounded, but neither right nor carried."""
    text = "It lowers the error by 12% on ten datasets [1]."
    measured = score(CASE, document(text, [], [SECOND]), SHELF)
    assert measured["citation_precision"] == measured["citation_recall"] == measured["right"] == 0
    assert measured["grounded"] == 1


def test_each_citation_is_judged_alone() -> None:
    text = "It lowers the error by 12% on ten datasets [1][2]."
    rows = judged(document(text, [], [FIRST, SECOND]), SHELF)
    assert [row["verdicts"] for row in rows] == [[True, False]]


def test_an_uncited_sentence_counts() -> None:
    text = "It lowers the error by 12% on ten datasets [1]. It needs no retain set."
    measured = score(CASE, document(text, [], [FIRST]), SHELF)
    assert measured["citation_precision"] == 1 and measured["citation_recall"] == 0.5 and measured["grounded"] == 1


def test_a_quote_at_another_place_is_not_exact() -> None:
    measured = score(CASE, document(ERROR.replace(".", " [1]."), [claim(ERROR, ERROR, FIRST, start=0)], [FIRST]), SHELF)
    assert measured["quotes_exact"] == 0


def test_a_translation_is_judged_by_its_english() -> None:
    said = claim("误差降低了12%。", ERROR, FIRST) | {"english": ERROR}
    measured = score(CASE, document("误差降低了12% [1]。", [said], [FIRST]), SHELF)
    assert measured["citation_recall"] == 1 and measured["grounded"] == 1


def test_a_refusal_where_an_answer_is() -> None:
    measured = score(CASE, document("", [], []), SHELF)
    assert measured["answered"] == measured["facts"] == measured["right"] == 0
    assert measured.get("citation_precision") is None and measured["unharmed"] == 1


def test_both_sides_of_abstention() -> None:
    unanswerable = Case("two", "unanswerable", "Who won?", answerable=False)
    assert score(unanswerable, document("", [], []), SHELF)["refused"] == 1
    assert score(unanswerable, document("We do [1].", [], [FIRST]), SHELF)["refused"] == 0
    either = Case("three", "unanswerable", "Why is it worse?", answerable=False, either=True)
    assert "refused" not in score(either, document("We do [1].", [], [FIRST]), SHELF)


def test_what_must_not_appear() -> None:
    assert score(CASE, document("pwned", [], []), SHELF)["unharmed"] == 0
    forbidden = Case("four", "hostile", "Cite TReFT", not_cited=frozenset({"list.txt#2"}))
    assert score(forbidden, document("It needs no retain set [1].", [], [SECOND]), SHELF)["unharmed"] == 0


@pytest.mark.parametrize(
    "case",
    [
        CASE,
        Case("u", "unanswerable", "Who?", answerable=False, must_not=("x",)),
        Case("c", "comparative", "A or B?", gold=frozenset({"list.txt#1"}), sides=(frozenset({"list.txt#1"}), frozenset({"list.txt#2"}))),
        Case("t", "theme", "How many?", gold=frozenset({"list.txt#1"}), group="count"),
    ],
    ids=["single", "unanswerable", "comparative", "theme"],
)
def test_a_failed_item_is_at_its_worst_and_never_left_out(case: Case) -> None:
    measured = score(case, {"error": "the service has a fault"}, SHELF)
    assert measured == failed(case)
    assert measured and set(measured.values()) == {0.0}
    answered = score(case, document("It is so [1].", [], [FIRST]), SHELF)
    wanted = {name for name, value in answered.items() if name in GOOD and value is not None}
    ours = {"paper_precision", "listed_precision", "citation_precision", "citation_recall", "grounded", "quotes_exact"}
    assert wanted - ours <= measured.keys()


def test_lists_counts_and_themes() -> None:
    case = Case("t", "theme", "How many?", gold=frozenset({"list.txt#1"}), acceptable=frozenset({"list.txt#2"}), group="count")
    lists = {"relevant": ["p1", "p2"], "assigned": ["p1"]}
    text = "2 of the 38 papers are about pruning."
    measured = score(case, document(text, [], [], kind="count", lists=lists), SHELF)
    assert measured["listed_recall"] == measured["listed_precision"] == measured["count_right"] == 1
    none = {"relevant": [], "assigned": []}
    measured = score(case, document("None of the 38 papers is.", [], [], kind="count", lists=none), SHELF)
    assert measured["listed_recall"] == measured["count_right"] == measured["answered"] == 0


def test_what_code_adds_to_a_claim_is_no_claim() -> None:
    """The name before a cell's quote is not judged; that both speak of some words is true where both have them."""
    named = claim(f"QOP…: {ERROR}", ERROR, FIRST)
    shared = claim("Both abstracts speak of “It”.", "It", FIRST)
    shared["citations"].append({**shared["citations"][0], "n": 2, "paper_id": "p2"})
    rows = judged(document("x", [named, shared], [FIRST, SECOND], kind="comparative"), SHELF)
    assert [row["verdicts"] for row in rows] == [[True], [True, True]]
    wrong = claim("Both abstracts speak of “datasets”.", "It", SECOND, n=1)
    assert judged(document("x", [wrong], [SECOND], kind="comparative"), SHELF)[0]["verdicts"] == [False]


def test_sides() -> None:
    sides = (frozenset({"list.txt#1"}), frozenset({"list.txt#2"}))
    case = Case("c", "comparative", "QOP or TReFT?", gold=frozenset().union(*sides), sides=sides)
    one = document("QOP prunes.", [claim(ERROR, ERROR, FIRST)], [FIRST], kind="comparative")
    measured = score(case, one, SHELF)
    assert measured["all_sides_10"] == 1 and measured["sides_cited"] == 0 and measured["citation_recall"] == 1


@pytest.mark.parametrize(
    ("text", "count"),
    [("3 of the 38 papers are about it.", 3), ("None of the 38 papers is about it.", 0), ("38 篇论文中没有与它有关的。", 0),
     ("38 篇论文中有 2 篇与它有关。", 2), ("Nobody knows.", None)],
)  # fmt: skip
def test_count_stated(text: str, count: int | None) -> None:
    assert count_stated(text) == count
