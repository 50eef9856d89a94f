"""What a user has set: it holds for one tab and is kept in the browser."""

from __future__ import annotations

from dataclasses import dataclass

from rag import Assistant, Wishes
from ui.words import LANGUAGES, Words, words_of

MOST_SOURCES = 10


@dataclass(frozen=True, slots=True)
class Settings:
    """`writer` is one of `Assistant.writers`, `sources` how many papers an answer may draw on (0: as many as fit)."""

    writer: str = "auto"
    sources: int = 0
    short: bool = False
    language: str = "en"

    @property
    def words(self) -> Words:
        """The texts of the interface."""
        return words_of(self.language)

    @property
    def named_writer(self) -> str | None:
        """The writer that was chosen; None leaves it to the configuration."""
        return None if self.writer == "auto" else self.writer

    @property
    def wishes(self) -> Wishes | None:
        """What is wanted of an answer; None for what is usual."""
        return Wishes(self.sources or None, self.short) if self.sources or self.short else None


def settings_of(assistant: Assistant, writer: object, sources: object, length: object, language: object) -> Settings:
    """Return settings from what a browser sent; what cannot be meant is as it is by default."""
    count = int(sources) if isinstance(sources, int | float) and 0 <= sources <= MOST_SOURCES else 0
    return Settings(
        writer=writer if isinstance(writer, str) and writer in assistant.writers() else "auto",
        sources=count,
        short=length == "short",
        language=language if isinstance(language, str) and language in LANGUAGES else "en",
    )


__all__ = ["MOST_SOURCES", "Settings", "settings_of"]
