"""Which reading of a comparative question is right: the one whose sides are surest to be papers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag.comparison_question import group_of, points_back
from rag.comparison_request import AS_BEFORE, MOST_SIDES, ComparisonRequest, Group
from rag.sides import Looked, Lookup, is_a_paper
from rag.types import Side, SideStatus


@dataclass(frozen=True, slots=True)
class Reading:
    """A request with its sides looked up; `confidence` compares readings of one question.

    `beyond` are the names of further sides, which are not compared.
    """

    request: ComparisonRequest
    sides: tuple[Looked, ...]
    confidence: float
    beyond: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Earlier:
    """The papers of earlier turns, the one spoken of last at the end; `last` of them are the last comparison's."""

    papers: tuple[Looked, ...] = ()
    last: int = 0

    def pointed(self, text: str) -> Looked | None:
        """Return the paper that "it", "the former" or "the first one" stands for, None where there is none."""
        if not self.papers:
            return None
        among = self.papers[-self.last :] if self.last > 1 else self.papers
        place = next((place for place, word in _PLACES if re.search(rf"\b{word}\b", text, re.IGNORECASE)), -1)
        return among[place] if -len(among) <= place < len(among) else None


_PLACES = ((-2, "former"), (0, "first"), (1, "second"), (2, "third"))
"""Words for a paper by its place among those of the last comparison; all others mean the last one."""


def read(request: ComparisonRequest, lookup: Lookup, earlier: Earlier) -> Reading | None:
    """Look up the sides of a request; None when it has fewer than two.

    `earlier` are the papers which "it" and "the two" stand for.
    """
    if request.pointer:
        number = max(earlier.last, 2) if request.pointer == AS_BEFORE else request.pointer
        sides = earlier.papers[-number:]
        return Reading(request, sides, 0.9) if len(sides) > 1 else None
    if request.group:
        members = lookup.group(request.group)
        return _first_sides(request, members) if members else None
    readings = [found for split in request.splits if (found := _read_split(request, split, lookup, earlier))]
    if request.weak:  # of the ways to read a list, the one with most papers
        return max(readings, key=lambda r: (_is_plausible(r), len(r.sides), r.confidence), default=None)
    return max(readings, key=lambda reading: reading.confidence, default=None)


_NO_PAPERS = Earlier()


def _read_split(
    request: ComparisonRequest, split: Sequence[str], lookup: Lookup, earlier: Earlier
) -> Reading | None:
    sides: list[Looked] = []
    groups: list[Group] = []
    for text in split:
        group = group_of(text)
        if points_back(text):
            pointed = earlier.pointed(text)
            sides.append(
                replace(pointed, confidence=0.9)
                if pointed
                else Looked(Side(text, (), SideStatus.ABSENT, text), 0.3)  # as unsure as a description of nothing
            )
        elif group:
            groups.append(group)
        else:
            sides.append(lookup.side(text))
    named = [p for looked in sides if looked.side.status is SideStatus.FOUND for p in looked.side.paper_ids]
    sides = [_without(looked, named, lookup) for looked in sides]
    for group in groups:
        sides += lookup.group(group, named)
    distinct = {looked.side.paper_ids or (looked.side.asked.casefold(),): looked for looked in sides}
    if len(distinct) < 2 or len(distinct) < len(split) - len(groups):
        return None
    return _first_sides(replace(request, splits=(tuple(split),)), list(distinct.values()))


def _first_sides(request: ComparisonRequest, sides: Sequence[Looked]) -> Reading:
    """Return the reading with as many sides as are compared; the names of the others are kept."""
    kept = tuple(sides[:MOST_SIDES])
    beyond = tuple(looked.side.name for looked in sides[MOST_SIDES:])
    return Reading(request, kept, sum(looked.confidence for looked in kept) / len(kept), beyond)


def _without(looked: Looked, others: Sequence[str], lookup: Lookup) -> Looked:
    """Return an ambiguous side without the papers that are other sides; found if one candidate is left."""
    left = tuple(paper for paper in looked.side.paper_ids if paper not in others)
    if looked.side.status is not SideStatus.AMBIGUOUS or len(left) in (0, len(looked.side.paper_ids)):
        return looked
    if len(left) > 1:
        return replace(looked, side=replace(looked.side, paper_ids=left))
    return replace(looked, side=Side(lookup.label(left[0]), left, SideStatus.FOUND, looked.side.asked))


def best_reading(
    requests: Sequence[ComparisonRequest], lookup: Lookup, earlier: Earlier = _NO_PAPERS
) -> Reading | None:
    """Return the surest reading of a question, None when none has two sides.

    Earlier readings win ties; a reading all of whose sides are unknown descriptions is none.
    """
    readings = [found for request in requests if (found := read(request, lookup, earlier)) and _is_plausible(found)]
    return max(readings, key=lambda reading: round(reading.confidence, 2), default=None)


def _is_plausible(reading: Reading) -> bool:
    """Tell whether a reading has a side that is sure; a mere list must be one of papers, two of them by name.

    Of a loose form every side must be a paper by its words: "the relation of loss and accuracy" compares none.
    """
    if not reading.request.weak:
        if reading.request.loose and not all(is_a_paper(looked) for looked in reading.sides):
            return False
        return any(looked.confidence >= 0.5 for looked in reading.sides)
    named = sum(looked.confidence >= 0.9 for looked in reading.sides)
    found = all(
        looked.confidence >= (0.6 if looked.side.status is SideStatus.FOUND else 0.9)
        and looked.side.status is not SideStatus.ABSENT
        for looked in reading.sides
    )
    return found and named >= 2
