"""Runs are kept, resumed, shown on a page that loads nothing, and compared; feedback becomes questions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from eval import __main__ as command
from eval import comparing_runs
from eval.cases import Case
from eval.comparing_runs import differences, load_result, report
from eval.feedback import feedback_rows, write_cases
from eval.page import badness, marked, page
from eval.plots import bars
from eval.reporting import keep, sections
from eval.runs import Kept, means, summary
from eval.systems import PARTS, systems_for
from rag import ProviderError, UserError

ABSTRACT = "We prune <b>weights</b>. Errors fall by 12 %."


def item(system: str, key: str, facts: float, **fields: Any) -> dict[str, Any]:
    quote = "Errors fall by 12 %."
    start = ABSTRACT.index(quote)
    citation = {"n": 1, "paper_id": "p", "quote": quote, "start": start, "end": start + len(quote)}
    return {
        "system": system, "id": key, "kind": "single", "group": "", "question": f"What of {key}?", "history": [["user", "Hi"]],
        "answerable": True, "either": False, "gold": ["p"], "facts": ["12"], "must_not": ["<script>"],
        "measures": {"facts": facts, "answered": 1.0, "seconds": 0.5}, "sentences": [{"text": "So.", "verdicts": [], "cited": []}],
        "document": {"text": "<script>alert(1)</script> Errors fall [1].", "abstained": False,
                     "claims": [{"text": "Errors fall.", "support": "supported", "reason": "quoted", "citations": [citation]}],
                     "papers": [{"n": 1, "paper_id": "p"}], "removed": [{"text": "Bad.", "reason": "number"}]},
        **fields,
    }  # fmt: skip


def result(name: str, facts: dict[str, float], systems: tuple[str, ...] = ("plenary",)) -> dict[str, Any]:
    return {
        "name": name, "commit": "abc1234", "code": "0", "time": "2026-01-01T00:00:00+00:00",
        "wanted": {"writer": "extractive", "corpus": "seeds"},
        "papers": {"p": {"title": None, "label": "<i>Pruning</i>", "sources": [], "abstract": ABSTRACT}},
        "items": [item(system, key, value) for system in systems for key, value in facts.items()],
    }  # fmt: skip


def test_means_have_intervals_and_leave_out_what_does_not_apply() -> None:
    found = means([{"facts": 1.0, "seconds": 2.0}, {"facts": 0.0}, {"right": None}])
    assert found["facts"][0] == 0.5 and found["facts"][1] <= 0.5 <= found["facts"][2]
    assert found["seconds"] == (2.0, 2.0, 2.0) and "right" not in found


def test_summary_has_each_kind_and_all() -> None:
    rows = list(summary(result("a", {"x": 1.0, "y": 0.0}, ("plenary", "bm25"))))
    assert [(name, kind, count) for name, kind, count, _ in rows] == [
        ("plenary", "single", 2), ("plenary", "all", 2), ("bm25", "single", 2), ("bm25", "all", 2),
    ]  # fmt: skip


def test_answers_are_kept_for_the_same_code_and_errors_are_not(tmp_path: Path) -> None:
    asked: list[str] = []

    def ask(case: Case) -> dict[str, Any]:
        asked.append(case.id)
        if case.id == "bad":
            raise ProviderError("the service has a fault; ask again later", retry=True)
        return {"text": "So."}

    good, bad = Case("good", "single", "Good?"), Case("bad", "single", "Bad?")
    for _ in range(2):  # the second time as after a restart
        kept = Kept(tmp_path / "run.jsonl", "code 1")
        assert kept.answer("plenary", "local", good, ask) == {"text": "So."}
        assert "fault" in kept.answer("plenary", "local", bad, ask)["error"]
    assert asked == ["good", "bad", "bad"]
    with (tmp_path / "run.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"key": "cut off')
    Kept(tmp_path / "run.jsonl", "code 1").answer("plenary", "local", good, ask)
    assert asked.count("good") == 1
    Kept(tmp_path / "run.jsonl", "code 2").answer("plenary", "local", good, ask)
    assert asked.count("good") == 2


def test_the_page_asks_nobody_and_runs_nothing() -> None:
    text = page(result("try", {"x": 1.0, "y": 0.0}, ("plenary", "bm25")))
    assert "<script" not in text and "<i>Pruning" not in text and "<b>weights" not in text
    assert not re.search(r"(?:src|href|url\(|@import)\s*[=(]?\s*[\"']?(?:https?:)?//", text)
    assert "default-src 'none'" in text
    assert "<mark>Errors fall by 12 %.</mark>" in text
    assert "<s>Bad.</s> number" in text and "cites nothing" in text
    assert text.index("<b>y</b>") < text.index("<b>x</b>"), "the worst first"


def test_what_was_forbidden_is_worse_than_a_missing_fact() -> None:
    assert badness({"measures": {"unharmed": 0.0}, "id": "a"}) < badness({"measures": {"facts": 0.0}, "id": "a"})


def test_marked_takes_ranges_as_they_are() -> None:
    assert marked("a<b c", [(0, 3), (2, 5)]) == "<mark>a&lt;b</mark><mark> c</mark>"
    assert marked("ab", [(1, 9)]) == "ab"


def test_bars_escape_names() -> None:
    drawn = bars([("a & b", 0.5, 0.25, 0.75)])
    assert "a &amp; b" in drawn and 'width="150.0"' in drawn


def test_a_result_is_written_and_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = result("try", {"x": 1.0})
    data, shown = keep(made, tmp_path)
    assert data.name == "try-abc1234.json" and shown.suffix == ".html"
    assert load_result(str(data)) == json.loads(json.dumps(made))
    monkeypatch.setattr(comparing_runs, "FOLDER", tmp_path)
    assert load_result("try")["name"] == "try"
    with pytest.raises(UserError, match="there is no run 'none'"):
        load_result("none")
    (tmp_path / "other.json").write_text("[]", encoding="utf-8")
    with pytest.raises(UserError, match="no result of a run"):
        load_result("other")


def test_differences_item_by_item() -> None:
    first = result("a", {"x": 0.0, "y": 1.0, "z": 0.0, "only": 1.0})
    second = result("b", {"x": 1.0, "y": 0.0, "z": 1.0})
    [facts] = [one for one in differences(first, second) if one.measure == "facts"]
    assert facts.items == 3 and facts.better == ("x", "z") and facts.worse == ("y",)
    assert facts.first == pytest.approx(1 / 3) and facts.second == pytest.approx(2 / 3) and facts.p == 1.0
    text = report(differences(first, second), first, second)
    assert "facts found, better: x, z" in text and "facts found, worse: y" in text
    assert "no question" in report(differences(first, result("c", {})), first, second)


def test_two_systems_of_a_run() -> None:
    one = result("a", {"x": 1.0}, ("plenary", "without-fusion"))
    one["items"][1]["measures"]["facts"] = 0.0
    assert differences(one, one, "plenary", "without-fusion")[0].worse == ("x",)
    _, text = sections(one)
    assert "| fusion | search by vectors alone | facts found +1.000" in text


def test_parts_that_matter() -> None:
    assert systems_for("extractive", parts=False) == ["plenary", "bm25"]
    assert "without-grammar" not in systems_for("extractive", parts=True)
    assert {f"without-{part}" for part in PARTS} <= set(systems_for("local", parts=True))


def feedback(**fields: Any) -> str:
    case = {
        "id": "feedback-1", "kind": "feedback", "question": "What is QOP?", "history": [], "gold": ["mine.txt#3"],
        "facts": [], "must_not": [], "answerable": True, "note": "fine", "helpful": True, "time": "now", "answer": {},
    }  # fmt: skip
    return json.dumps(case | fields)


def test_feedback_becomes_questions(tmp_path: Path) -> None:
    source, target = tmp_path / "feedback.jsonl", tmp_path / "out" / "cases.jsonl"
    bad = feedback(id="feedback-2", question="And?", gold=["mine.txt#4"], helpful=False, note="wrong paper")
    source.write_text("\n".join([feedback(note="first"), bad, "", feedback(id="feedback-3")]), encoding="utf-8")
    assert write_cases(source, target) == 2
    good, other = (json.loads(line) for line in target.read_text(encoding="utf-8").splitlines())
    assert good["id"] == "feedback-3" and good["gold"] == ["mine.txt#3"] and "answer" not in good
    assert other["gold"] == [] and other["answerable"] and other["note"] == "not helpful: wrong paper"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("{", ":1: no JSON"), ("[]", ":1: no JSON object"), (feedback(question=""), ":1: the question is empty"), ("", "holds no feedback")],
)  # fmt: skip
def test_wrong_feedback_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "f.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=re.escape(complaint)):
        write_cases(tmp_path / "f.jsonl", tmp_path / "out.jsonl")
    with pytest.raises(UserError, match="cannot be read"):
        feedback_rows(tmp_path / "none.jsonl")


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "f.jsonl").write_text(feedback(), encoding="utf-8")
    assert command.main(["feedback", str(tmp_path / "f.jsonl"), "--out", str(tmp_path / "out.jsonl")]) == 0
    first, _ = keep(result("a", {"x": 0.0}), tmp_path)
    second, _ = keep(result("b", {"x": 1.0}), tmp_path)
    assert command.main(["compare", str(first), str(second)]) == 0
    assert "facts found, better: x" in capsys.readouterr().out
    assert command.main(["compare", str(first), "nowhere"]) == 2
    assert "there is no run 'nowhere'" in capsys.readouterr().err
