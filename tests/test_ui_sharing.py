"""What leaves a conversation: its export, and what its user thought of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag import UserError
from rag.types import (
    Answer,
    AnswerDone,
    Citation,
    Claim,
    ClaimChecked,
    Coverage,
    Paper,
    Quote,
    Source,
    Support,
    Theme,
    ThemeReport,
    Timings,
    Turn,
    Usage,
)
from ui.conversation import Conversation, Exchange
from ui.exporting import cited_papers, conversation_markdown, papers_bibtex, papers_csv
from ui.feedback import feedback_case, keep_feedback

PAPER = Paper("p1", "Widgets are blue.", "WID", "On *Widgets*", ("Ada B.",), 2026, "ICML", sources=(Source("f.txt", 1),))
OTHER = Paper("p2", "Lanterns shine.", "LAN", "=HYPERLINK(1)", sources=(Source("f.txt", 2),))


def claim(paper: Paper, n: int) -> Claim:
    """Return a claim that is the whole abstract of a paper."""
    quote = Quote(paper.id, paper.abstract, 0, len(paper.abstract))
    return Claim(paper.abstract, Support.SUPPORTED, "r", (Citation(n, paper.id, quote),))


def answer(question: str, papers: tuple[Paper, ...], themes: ThemeReport | None = None) -> Answer:
    """Return an answer that quotes papers."""
    claims = tuple(claim(paper, n) for n, paper in enumerate(papers, 1))
    text = " ".join(f"{c.text[:-1]} [{n}]." for n, c in enumerate(claims, 1)) or "The papers do not say."
    kind = "theme" if themes else "single"
    return Answer(question, kind, not papers, text, claims, papers, (), "w", Usage(), Timings(), themes=themes)


def conversation() -> list[Exchange]:
    """Return an answer, a refusal, a failure, a stopped answer and themes."""
    session = Conversation()
    session.begin("Are # widgets blue?").take(AnswerDone(answer("Are # widgets blue?", (PAPER,))))
    session.begin("Why?").take(AnswerDone(answer("Why?", ())))
    session.begin("Broken?").error = "No answer: the service is down."
    stopped = session.begin("And lanterns?")
    stopped.take(ClaimChecked(claim(OTHER, 1), (OTHER,)))
    stopped.stopped = True
    ids = ("p1", "p2")
    report = ThemeReport("theme", "", (Theme("Blue things", ids),), Coverage(ids, ids, ids, (), ids))
    session.begin("Themes?").take(AnswerDone(answer("Themes?", (PAPER,), report)))
    return session.exchanges


def test_a_conversation_as_markdown() -> None:
    """Each question with its answer, its references and their quotes; what users and papers wrote is text."""
    papers = {"p1": PAPER, "p2": OTHER}
    text = conversation_markdown(conversation(), lambda ids: [papers[i] for i in ids])
    assert text.startswith("# Plenary\n\n## Are \\# widgets blue?\n\nWidgets are blue [1].\n\n### Papers\n\n1. **On \\*Widgets\\***")
    assert "“Widgets are blue.” (0–17)" in text
    assert "## Why?\n\nThe papers do not say." in text
    assert "## Broken?\n\nNo answer: the service is down." in text
    assert "Lanterns shine [1]." in text and "Stopped before the end." in text
    assert "### Blue things (2 papers)" in text and "1. On *Widgets*" in text
    gone = conversation_markdown(conversation(), lambda ids: [])
    assert "## Themes?" in gone


def test_the_cited_papers() -> None:
    """Each once; a spreadsheet computes nothing."""
    assert cited_papers(conversation()) == [PAPER, OTHER]
    assert papers_bibtex(conversation()).count("\n@") + 1 >= 2
    lines = papers_csv(conversation()).splitlines()
    assert len(lines) == 3 and "\"'=HYPERLINK(1)\"" in lines[2]
    assert papers_bibtex([]).strip() == ""


def test_feedback_is_a_case(tmp_path: Path) -> None:
    """One line for each, in the form of the evaluation's questions; the right papers only where the user said so."""
    first, refused = conversation()[:2]
    first.rating, refused.rating = "yes", "no"
    history = [Turn("user", "Before?"), Turn("assistant", "This.")]
    path = keep_feedback(tmp_path / "new", feedback_case(first, history, "line\nbreak" + "x" * 9_000))
    keep_feedback(tmp_path / "new", feedback_case(refused, [], "\ud800"))
    good, bad = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    asked = json.loads((Path(__file__).parent.parent / "eval/questions/single.jsonl").read_text().splitlines()[0])
    assert asked.keys() <= good.keys() and asked.keys() <= bad.keys()
    assert good["gold"] == ["f.txt#1"] and good["answerable"] and good["history"] == [["user", "Before?"], ["assistant", "This."]]
    assert len(good["note"]) == 4_000 and good["answer"]["text"] == "Widgets are blue [1]."
    assert bad["gold"] == [] and bad["answerable"] and not bad["helpful"]


def test_a_home_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """With the setting that helps."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="set PLENARY_HOME"):
        keep_feedback(tmp_path / "file", {})
