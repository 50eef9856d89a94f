"""What a reader finds at one place of a file, before anything is judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Record:
    """One record as it stands in a file; every field may be missing.

    `ordinal` is its 1-based place among the file's records and `line` the 1-based line it begins on
    (0 if unknown). `problem` says why the reader could not make sense of it; such a record is reported
    and never becomes a paper.
    """

    ordinal: int
    line: int
    abstract: str | None = None
    title: str | None = None
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str | None = None
    url: str | None = None
    keywords: tuple[str, ...] = ()
    problem: str | None = None


Reader: TypeAlias = Callable[[str, str], list[Record]]
"""`reader(text, file)`: the records of a decoded file; raises `InputError` naming `file`."""
