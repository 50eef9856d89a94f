"""A question asked in a session: its exchange, followed until it has ended, been stopped or has failed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit

from rag import Assistant, Config, Event, Paper, PlenaryError, SideStatus
from ui.conversation import Conversation, Exchange
from ui.running import Run
from ui.words import ENGLISH, Words, counted


async def follow(assistant: Assistant, session: Conversation, question: str) -> AsyncIterator[Exchange]:
    """Ask a question in a session and yield its exchange each time something arrived, until it has ended."""
    history, settings, words = session.history(), session.settings, session.words
    exchange = session.begin(question)
    if not assistant.snapshot().paper_ids:
        exchange.error = words["no_papers"]
        yield exchange
        return

    def events() -> Iterator[Event]:
        yield from assistant.stream(question, history, writer=settings.named_writer, wishes=settings.wishes)

    run = session.run = Run(events)
    try:
        yield exchange
        async for event in run:
            if exchange.take(event):
                if exchange.ended:
                    exchange.candidates = _candidates(assistant, exchange)
                else:
                    yield exchange
    except PlenaryError as error:
        exchange.error = words["no_answer"].format(error=error)
    finally:
        # Also when the tab was closed meanwhile, which ends this generator where it waits.
        if session.run is run:
            session.run = None
        if not exchange.ended:
            exchange.stopped = run.stopped
            exchange.error = None if run.stopped else words["fault"]
        run.stop()
    if exchange in session.exchanges:  # else the conversation was cleared meanwhile
        yield exchange


def writer_in_words(assistant: Assistant, writer: str | None = None, words: Words = ENGLISH) -> str:
    """Return who writes the answers, as a person would say it."""
    config: Config = assistant.config
    kind = assistant.writer_kind(writer)
    place = urlsplit(config.base_url or "https://api.openai.com").netloc.rpartition("@")[2]
    return words[f"writer_{kind}"].format(model=config.model, place=place)


def corpus_in_words(assistant: Assistant, words: Words = ENGLISH) -> str:
    """Return how large the corpus is and what an answer is checked against."""
    return words["header"].format(papers=counted(words, len(assistant.snapshot().paper_ids)))


def _candidates(assistant: Assistant, exchange: Exchange) -> tuple[Paper, ...]:
    sides = exchange.comparison.sides if exchange.comparison else ()
    ids = [paper_id for side in sides if side.status is SideStatus.AMBIGUOUS for paper_id in side.paper_ids]
    snapshot = assistant.snapshot()
    return tuple(snapshot.papers_of(i for i in dict.fromkeys(ids) if i in snapshot.rows))


__all__ = ["corpus_in_words", "follow", "writer_in_words"]
