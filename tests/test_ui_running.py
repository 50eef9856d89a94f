"""Following an answer that is made in a thread: order, failures, stopping."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from rag.errors import ProviderError
from rag.types import StepStarted
from ui.running import Event, Run

STEPS = [StepStarted(f"step {n}") for n in range(5)]


def test_events_arrive_in_order() -> None:
    """All of them, and then the end."""

    async def follow() -> list[Event]:
        return [event async for event in Run(lambda: (step for step in STEPS))]

    assert asyncio.run(follow()) == STEPS


def test_an_error_arrives_after_what_came_before_it() -> None:
    """The user sees what was there, then the reason."""

    def failing() -> Iterator[Event]:
        yield STEPS[0]
        raise ProviderError("the service is down; ask again", retry=True)

    seen: list[Event] = []

    async def follow() -> None:
        async for event in Run(failing):
            seen.append(event)

    with pytest.raises(ProviderError, match="down"):
        asyncio.run(follow())
    assert seen == STEPS[:1]


def test_stopping_ends_at_once_and_closes_the_events() -> None:
    """The follower does not wait for a silent model; the model is closed at its next sign of life."""
    go_on, closed = threading.Event(), threading.Event()

    def slow() -> Iterator[Event]:
        try:
            yield STEPS[0]
            go_on.wait(30)
            yield STEPS[1]
            pytest.fail("asked for more after the stop")
        finally:
            closed.set()

    async def follow() -> list[Event]:
        run = Run(slow)
        seen = []
        async for event in run:
            seen.append(event)
            run.stop()
        assert run.stopped
        return seen

    assert asyncio.run(follow()) == STEPS[:1]
    assert not closed.is_set()
    go_on.set()
    assert closed.wait(30)


def test_a_fault_ends_the_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error nobody foresaw is reported by the thread and does not leave the follower waiting."""
    reported = threading.Event()
    monkeypatch.setattr(threading, "excepthook", lambda fault: reported.set())

    def broken() -> Iterator[Event]:
        yield STEPS[0]
        raise ZeroDivisionError

    async def follow() -> list[Event]:
        return [event async for event in Run(broken)]

    assert asyncio.run(follow()) == STEPS[:1]
    assert reported.wait(30)
