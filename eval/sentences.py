"""Splits the text of an answer into its sentences with the numbers they cite; a bracket in a formula is no citation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import sentencex

_MARKS = re.compile(
    r"(?:^|(?<=[\s.!?。！？”\")\u4e00-\u9fff])|(?<=[a-z]{3}))(?P<marks>(?:\[\d{1,3}\])+)(?=[\s.,;:!?。！？，；]|$)"
)
"""One or more numbers in brackets, after a space, a stop or a word and before a space or a stop: `x[1]`, `[0, 1]` and
`f([3])` are none."""

_MATHEMATICS = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$|\\\(.+?\\\)|\\\[.+?\\\]", re.DOTALL)
_STOP = re.compile(r"(?<=[.!?。！？])(?P<space>\s*)(?P<marks>(?:\[\d{1,3}\])+)(?=\s|$)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer: `text` without citation marks, `cited` the numbers of its marks in order."""

    text: str
    cited: tuple[int, ...]


def sentences(text: str, highest: int) -> list[Sentence]:
    """Return the sentences of an answer whose sources are numbered 1 to `highest`; other numbers cite nothing.

    Marks may stand before the full stop or after it ("It is so. [1]"): they belong to the sentence before them.
    """
    masked, formulas = _masked(text)
    # Marks behind a full stop are put before it, where the library does not take them for a sentence of their own.
    masked = _STOP.sub(lambda found: f" {found['marks']}", masked)
    masked = re.sub(r"([.!?。！？])( (?:\[\d{1,3}\])+)(?=\s|$)", r"\2\1", masked)
    return [
        Sentence(_unmasked(_MARKS.sub("", piece), formulas), _numbers(piece, highest))
        for line in masked.splitlines()
        for piece in _pieces(line)
    ]


def _pieces(line: str) -> Iterator[str]:
    """Yield the sentences of a line that say anything."""
    for boundary in sentencex.get_sentence_boundaries("en", line):
        piece = line[boundary["start_index"] : boundary["end_index"]].strip()
        # Chinese stops are followed by no space, and the rules of English know none.
        for part in re.split(r"(?<=[。！？])", piece):
            if re.search(r"\w", _MARKS.sub("", part)):
                yield part.strip()


def _numbers(piece: str, highest: int) -> tuple[int, ...]:
    found = [int(number) for marks in _MARKS.finditer(piece) for number in re.findall(r"\d+", marks["marks"])]
    return tuple(number for number in dict.fromkeys(found) if 1 <= number <= highest)


def _masked(text: str) -> tuple[str, list[str]]:
    """Return the text with each formula as one word, and the formulas."""
    formulas: list[str] = []

    def mask(found: re.Match[str]) -> str:
        formulas.append(found[0])
        return f"\ue000{len(formulas) - 1}\ue001"

    return _MATHEMATICS.sub(mask, text), formulas


def _unmasked(text: str, formulas: list[str]) -> str:
    restored = re.sub(r"\ue000(\d+)\ue001", lambda found: formulas[int(found[1])], text)
    return re.sub(r"\s+(?=[.,;:!?。！？]|$)", "", restored).strip()
