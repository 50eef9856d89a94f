"""Stopping a model within what it writes, from another thread."""

from __future__ import annotations

import threading

import pytest

from rag.llm import ChatWriter, Service
from rag.stopping import Stopped, check_wanted, stopped_when
from rag.types import Prompt
from tests.fake_model import FakeModel, Reply


def test_only_within_the_block() -> None:
    """Outside of it, and in other threads, nothing is stopped."""
    check_wanted()
    others: list[bool] = []

    def other() -> None:
        check_wanted()
        others.append(True)

    with stopped_when(lambda: True):
        with pytest.raises(Stopped):
            check_wanted()
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    check_wanted()
    assert others == [True]


def test_wanted_until_it_is_not() -> None:
    """The question is asked anew each time."""
    flag = threading.Event()
    with stopped_when(flag.is_set):
        check_wanted()
        flag.set()
        with pytest.raises(Stopped):
            check_wanted()


def test_a_model_stops_within_its_sentence() -> None:
    """The connection is closed with the next piece, without an event in between."""
    unwanted = threading.Event()
    with FakeModel() as fake:
        fake.enqueue(Reply(pieces=["so on "] * 2_000, pause=0.01))
        writer = ChatWriter(Service(fake.base_url, "key", "model", retries=0), len)
        seen = []
        with stopped_when(unwanted.is_set), pytest.raises(Stopped):
            for piece in writer.write(Prompt("system", "question", 100)):
                seen.append(piece)
                unwanted.set()
        assert len(seen) < 10
        assert fake.history[0].hung_up.wait(30)
