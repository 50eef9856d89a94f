"""Stopping what a model writes from another thread: whoever asks says when it is no longer wanted.

Closing an iterator of events stops the model between two events only. Between them a model may write for long, or
read its prompt; the client of the model looks here at each sign of life that the service gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rag.errors import PlenaryError

_unwanted: ContextVar[Callable[[], bool] | None] = ContextVar("unwanted", default=None)


class Stopped(PlenaryError):
    """What was asked for is no longer wanted; nothing went wrong."""

    def __init__(self) -> None:
        super().__init__("stopped")


@contextmanager
def stopped_when(unwanted: Callable[[], bool]) -> Iterator[None]:
    """Within this block and thread, end every model call with `Stopped` once `unwanted` says so.

    Only at the next piece, or progress, that the service sends: a silent connection is not interrupted.
    """
    token = _unwanted.set(unwanted)
    try:
        yield
    finally:
        _unwanted.reset(token)


def check_wanted() -> None:
    """Raise `Stopped` if the answer in this thread is no longer wanted."""
    unwanted = _unwanted.get()
    if unwanted is not None and unwanted():
        raise Stopped


__all__ = ["Stopped", "check_wanted", "stopped_when"]
