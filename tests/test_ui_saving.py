"""Conversations kept in the browser: the same again after a reload, and only those this Plenary wrote."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from rag.types import Answer, AnswerDone, Citation, Claim, ClaimChecked, Paper, Quote, Source, Support, Timings, Usage
from ui import saving
from ui.conversation import Conversation, Exchange
from ui.panel import evidence_panel
from ui.saving import Keeper
from ui.spoken import spoken

PAPER = Paper("p1", "Widgets are blue.", "WID", None, ("A",), 2026, sources=(Source("f.txt", 1, 3),))
CLAIM = Claim("Widgets are blue.", Support.SUPPORTED, "r", (Citation(1, "p1", Quote("p1", PAPER.abstract, 0, 17)),))


def exchanges() -> list[Exchange]:
    """Return one answered, one stopped and one failed question, and one that is still being answered."""
    session = Conversation()
    answer = Answer("one", "single", False, "t", (CLAIM,), (PAPER,), ("p1",), "w", Usage(5, 6, 1), Timings(1, 2, 3))
    session.begin("one").take(AnswerDone(answer))
    stopped = session.begin("two <b>")
    stopped.take(ClaimChecked(CLAIM, (PAPER,)))
    stopped.stopped = True
    session.begin("three").error = "No answer: the service is down."
    session.begin("four")
    return session.exchanges


def test_a_conversation_comes_back(tmp_path: Path) -> None:
    """With its answers, sources and verdicts; what was not finished is not kept."""
    before = exchanges()
    after = Keeper(tmp_path).unpack(Keeper(tmp_path).pack(before))  # the key outlives the program
    assert after is not None
    assert [exchange.question for exchange in after] == ["one", "two <b>", "three"]
    for old, new in zip(before, after, strict=False):
        assert (new.answer, new.claims, new.papers, new.error) == (old.answer, old.claims, old.papers, old.error)
        assert spoken(new) == spoken(old)
        assert evidence_panel(new) == evidence_panel(old)


@pytest.mark.parametrize("change", [lambda t: t[:-1] + "A", lambda t: ("1" if t[0] == "0" else "0") + t[1:], lambda t: t.partition(".")[2]])
def test_what_was_changed_is_not_taken(tmp_path: Path, change: object) -> None:
    """Nothing that was not checked here is ever shown as checked."""
    assert callable(change)
    text = Keeper(tmp_path).pack(exchanges())
    assert Keeper(tmp_path).unpack(change(text)) is None


@pytest.mark.parametrize("text", ["", ".", "x.y", "ü.ü", "{}", "a" * 100])
def test_nonsense_is_not_taken(tmp_path: Path, text: str) -> None:
    """Whatever a browser sends."""
    assert Keeper(tmp_path).unpack(text) is None


def test_another_home_has_another_key(tmp_path: Path) -> None:
    """And nobody else may read it; a folder that cannot be written still works for as long as the program."""
    text = Keeper(tmp_path / "one").pack(exchanges())
    assert Keeper(tmp_path / "two").unpack(text) is None
    assert stat.S_IMODE((tmp_path / "one" / "chat.key").stat().st_mode) == 0o600
    (tmp_path / "file").write_text("")
    keeper = Keeper(tmp_path / "file")
    assert keeper.unpack(keeper.pack(exchanges())) is not None


def test_the_oldest_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A conversation longer than a browser keeps loses its first turns; one with nothing to keep is empty."""
    keeper = Keeper(tmp_path)
    assert keeper.pack([]) == ""
    monkeypatch.setattr(saving, "MOST_CHARACTERS", len(keeper.pack(exchanges()).partition(".")[2]) - 1)
    after = keeper.unpack(keeper.pack(exchanges()))
    assert after is not None and after[0].question != "one"
