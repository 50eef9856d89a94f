"""What a session remembers: turns with their own sources, the history of the next question."""

from __future__ import annotations

import sys
from dataclasses import replace
from subprocess import run

from rag.types import (
    Answer,
    AnswerDone,
    Citation,
    Claim,
    ClaimChecked,
    Paper,
    Quote,
    StepStarted,
    Support,
    Timings,
    Turn,
    Usage,
)
from ui.conversation import Conversation
from ui.spoken import messages, spoken, summary

PAPER = Paper("p1", "Widgets are blue.", "WID")
CLAIM = Claim("Widgets are blue.", Support.SUPPORTED, "r", (Citation(1, "p1", Quote("p1", PAPER.abstract, 0, 17)),))


def answered(question: str, claims: tuple[Claim, ...] = (CLAIM,), note: str | None = None) -> AnswerDone:
    """Return an answer's last event."""
    removed = (Claim("Widgets are red.", Support.UNCHECKED, "r", ()),)
    text = "Widgets are blue [1]." if claims else "The papers do not answer this."
    papers = (PAPER,) if claims else ()
    return AnswerDone(
        Answer(question, "single", not claims, text, claims, papers, (), "w", Usage(), Timings(), removed, note)
    )


def test_history_holds_what_was_answered() -> None:
    """Refusals and stopped answers are part of it, failures are not."""
    session = Conversation()
    session.begin("one").take(answered("one"))
    session.begin("two").error = "No answer: the service is down."
    stopped = session.begin("three")
    stopped.take(ClaimChecked(CLAIM, (PAPER,)))
    stopped.stopped = True
    session.begin("four").take(answered("four", ()))
    assert session.history() == [
        Turn("user", "one"),
        Turn("assistant", "Widgets are blue [1]."),
        Turn("user", "three"),
        Turn("assistant", "Widgets are blue."),
        Turn("user", "four"),
        Turn("assistant", "The papers do not answer this."),
    ]


def test_each_turn_keeps_its_own_sources() -> None:
    """A message, the question's or the answer's, brings back the evidence of its exchange."""
    session = Conversation()
    first, second = session.begin("one"), session.begin("two")
    assert session.shown() is second
    for place, expected in ((0, first), (1, first), (3, second), (2, second)):
        session.view_message(place)
        assert session.shown() is expected
    session.view_message(99)
    assert session.shown() is second
    assert (first.card, second.card) == ("card-1", "card-2")


def test_the_conversation_is_spoken_in_safe_markdown() -> None:
    """What users and papers wrote is text; notes, errors and counts stand beside the answer."""
    session = Conversation()
    exchange = session.begin("is <b>it</b> blue?\nReally?")
    assert exchange.take(StepStarted("searching"))
    assert not exchange.take(StepStarted("searching")) and exchange.steps == ["searching"]
    asked, waiting = messages(session)
    assert asked["content"] == "<span>is &#60;b&#62;it&#60;/b&#62; blue?<br>Really?</span>"
    assert "pl-wait" in waiting["content"]
    exchange.take(ClaimChecked(CLAIM, (PAPER,)))
    assert 'href="#card-1-1"' in spoken(exchange) and summary(exchange) == ""
    exchange.take(answered("q", note="This question is in Chinese."))
    said = spoken(exchange)
    assert "This question is in Chinese." in said
    assert "1 sentence checked · 1 removed because it did not pass" in said
    failed = session.begin("two")
    failed.error = "No answer: <script>."
    assert "<script>" not in spoken(failed) and "No answer" in spoken(failed)
    refused = session.begin("three")
    refused.take(answered("q", ()))
    assert '<span class="pl-answer">The papers do not answer this.</span>' in spoken(refused)


def test_a_cleared_conversation_is_empty() -> None:
    """Nothing of it is left for the next question."""
    session = Conversation()
    session.begin("one").take(answered("one"))
    session.clear()
    assert (messages(session), session.history(), session.shown()) == ([], [], None)


def test_importing_the_package_does_not_import_gradio() -> None:
    """The command line imports `ui` for its one command: that must not cost every command seconds."""
    code = "import sys, ui; sys.exit('gradio' in sys.modules)"
    assert run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_edited_question_replaces_what_followed() -> None:
    """What was said after it is neither shown nor part of the next question's history."""
    session = Conversation()
    for question in ("one", "two", "three"):
        session.begin(question).take(answered(question))
    session.editing = 2
    assert [turn.text for turn in session.history() if turn.role == "user"] == ["one"]
    session.begin("another")
    assert [exchange.question for exchange in session.exchanges] == ["one", "another"]
    assert session.editing == 0 and session.viewed == 2


def test_what_was_used_is_summed_up() -> None:
    """Over all answers, and in words under each."""
    session = Conversation()
    for _ in range(2):
        event = answered("q")
        used = Usage(1200, 30, 1, estimated=True)
        session.begin("q").take(AnswerDone(replace(event.answer, usage=used)))
    assert session.usage() == Usage(2400, 60, 2, estimated=True)
    assert "about 1,200 tokens read, 30 written" in summary(session.exchanges[0])
