"""What a comparative question asks for, taken apart: sides, group, pointer to earlier turns, asked aspect."""

from __future__ import annotations

from dataclasses import dataclass

MOST_SIDES = 10
"""Sides a comparison may have; further ones are named in a note."""

AS_BEFORE = -1
"""A pointer to the papers of the comparison before, two where there was none."""


@dataclass(frozen=True, slots=True)
class Group:
    """Papers asked for together: "the two papers on X". `number` is None when the question does not say."""

    topic: str
    number: int | None = None


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """A comparative question, taken apart.

    `splits` are the ways its sides can be told apart, likeliest first; a single empty split belongs to a group
    or to `pointer`, the number of papers of earlier turns that are meant ("compare the two"; `AS_BEFORE` for all of
    the comparison before, "which of them"). `aspect` is what the
    question asks about, in its words, `searched` the same in English where they are in another language. With `weak`
    nothing but a list of what may be papers speaks for a comparison. With `loose` the form
    is also that of other questions ("Does X need A or B?", "Is X larger than Y?"), so that each side must be a paper.
    """

    splits: tuple[tuple[str, ...], ...] = ()
    group: Group | None = None
    pointer: int = 0
    aspect: str | None = None
    weak: bool = False
    loose: bool = False
    searched: str | None = None


_NUMBERS = {
    **{"two": 2, "both": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10},
    **{"两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10},
}


def number_of(text: str | None) -> int | None:
    """Return the number a word or figure stands for, None when it is none."""
    if not text:
        return None
    return int(text) if text.isdecimal() else _NUMBERS.get(text.lower())
