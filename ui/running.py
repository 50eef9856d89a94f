"""An answer being made in a thread of its own, followed from the event loop and left at any time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import closing, suppress
from threading import Event as Flag
from threading import Thread
from typing import cast

from rag import Event, PlenaryError, Stopped, stopped_when


class Run:
    """One answer on its way. Create it and iterate over it in one event loop.

    The thread is a daemon, and not of a pool: a service that stays silent must neither keep the program from
    ending nor take the threads from other users' questions.
    """

    def __init__(self, start: Callable[[], Iterator[Event]]) -> None:
        """Begin; `start` returns the events and is called in the thread, as may be slow."""
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Event | PlenaryError | None] = asyncio.Queue()
        self._left = Flag()
        Thread(target=self._work, args=(start,), name="answer", daemon=True).start()

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._left.is_set()

    def stop(self) -> None:
        """End the iteration at once, and the model with the next piece that it writes or reads."""
        self._left.set()
        self._queue.put_nowait(None)

    async def __aiter__(self) -> AsyncIterator[Event]:
        """Yield the events until the last, or until `stop`. Raises the `PlenaryError` that ended them."""
        while (item := await self._queue.get()) is not None and not self._left.is_set():
            if isinstance(item, PlenaryError):
                raise item
            yield item

    def _work(self, start: Callable[[], Iterator[Event]]) -> None:
        try:
            # Events come from a generator: closing it closes the model's connection.
            with stopped_when(self._left.is_set), closing(cast("Generator[Event]", start())) as events:
                for event in events:
                    if self._left.is_set():
                        return
                    self._tell(event)
        except Stopped:
            pass  # whoever stopped knows
        except PlenaryError as error:
            self._tell(error)
        finally:
            self._tell(None)

    def _tell(self, item: Event | PlenaryError | None) -> None:
        with suppress(RuntimeError):  # the event loop has ended with the program: nobody listens
            self._loop.call_soon_threadsafe(self._queue.put_nowait, item)


__all__ = ["Event", "Run"]
