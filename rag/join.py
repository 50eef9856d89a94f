"""What becomes of the stored papers when files are loaded: what is new, what joins, what changes, what goes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rag.labels import label_for
from rag.types import Paper, Source, Version
from rag.versions import nearest, paper_of_wordings, supplemented, wordings

Pairs = Collection[frozenset[str]]
"""Pairs of ids that are not one paper, because a user split them."""


@dataclass(slots=True)
class Joined:
    """What is to be done, in this order: embed and store `new`, store the facts of `touched`, delete `gone`.

    Of the papers given `added` were new, `unchanged` are there as they are, `changed` bring other facts or another
    text, and `merged` went into a paper of another file; `merged` may be negative where the loader had merged
    what is two papers here. `removed` counts the stored papers that no file holds any more.
    """

    new: list[Paper] = field(default_factory=list)
    touched: list[Paper] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    added: int = 0
    unchanged: int = 0
    changed: int = 0
    merged: int = 0
    removed: int = 0

    def count(self, outcome: str) -> None:
        """Count one record whose paper was added, unchanged, changed or merged."""
        self.added += outcome == "added"
        self.unchanged += outcome == "unchanged"
        self.changed += outcome == "changed"
        self.merged += outcome == "merged"


def join(
    stored: Mapping[str, Paper], loaded: Sequence[Paper], files: Collection[str] = (), apart: Pairs = ()
) -> Joined:
    """Bring loaded papers together with the stored ones, which keep their ids and texts.

    A record goes to the paper that has its wording already, else to the one it is a version of by the rule of
    `rag.versions`, else it is new. `files` were read wholly: what they held before and hold no more goes. A
    paper whose stored wording went becomes that of its next wording, under that one's id.
    """
    targets = _targets(stored, loaded, apart)
    incoming: dict[str, list[Paper]] = defaultdict(list)
    for paper, goals in zip(loaded, targets, strict=True):
        for goal in dict.fromkeys(goals):
            part = [version for version, own in zip(wordings(paper), goals, strict=True) if own == goal]
            # The label belongs to the whole of what was loaded.
            incoming[goal].append(paper if len(part) == len(goals) else paper_of_wordings(part))
    result = Joined()
    outcomes = {goal: _settle(stored.get(goal), parts, files, result) for goal, parts in incoming.items()}
    for paper_id, paper in stored.items():
        if paper_id not in incoming and any(source.file in files for source in paper.sources):
            _settle(paper, (), files, result)
    _count(outcomes, targets, result)
    return result


def combine(stored: Paper, loaded: Paper, files: Collection[str] = ()) -> Paper | None:
    """Return the stored paper with what another record of it adds; None if no wording is left.

    The places in a file that the record names are taken from it, since the records of that file may have
    moved; those in other files stay, but for `files`. Facts that are missing are added; where no place is left of
    a stored wording the record is a newer reading of it, and its facts and its text count.
    """
    return _combined(stored, [loaded], files)


def relabelled(paper: Paper) -> Paper:
    """Return a paper with the label that its text and title give."""
    return replace(paper, label=label_for(paper.abstract, paper.title), sources=in_order(paper.sources))


def in_order(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Return the sources in the order of files and places, so that the same ones are stored the same way."""
    return tuple(sorted(set(sources), key=lambda source: (source.file, source.ordinal, source.line)))


def _targets(stored: Mapping[str, Paper], loaded: Sequence[Paper], apart: Pairs) -> list[list[str]]:
    """Return for each wording of each loaded paper the id of the paper it goes to, a stored or a new one."""
    homes = dict.fromkeys(stored, "")
    for paper in stored.values():
        for version in paper.versions:
            homes.setdefault(version.id, paper.id)
    homes.update((paper_id, paper_id) for paper_id in stored)
    strangers = {
        version.id: version for paper in loaded for version in wordings(paper) if version.id not in homes
    }
    if strangers and stored:
        known = [wordings(paper)[0] for paper in stored.values()]
        for wording, place in zip(strangers.values(), nearest(known, list(strangers.values()), apart), strict=True):
            if place is not None:
                homes[wording.id] = known[place].id
    targets = []
    for paper in loaded:
        fresh: str | None = None
        goals = []
        for version in wordings(paper):
            if version.id not in homes:
                # What the loader found to be one paper stays one, unless the user split it.
                joins = fresh is not None and frozenset((fresh, version.id)) not in apart
                homes[version.id] = fresh if joins and fresh is not None else version.id
                fresh = homes[version.id]
            goals.append(homes[version.id])
        targets.append(goals)
    return targets


def _settle(before: Paper | None, parts: Sequence[Paper], files: Collection[str], result: Joined) -> str:
    """Work out one paper and note what is to be done; return what it means for the records."""
    after = _combined(before, parts, files)
    if before is None:
        assert after is not None, "a new paper has a wording"
        result.new.append(after)
        return "added"
    if after is None:
        result.gone.append(before.id)
        result.removed += 1
        return "changed"
    if after == before:
        return "unchanged"
    if after.id != before.id:
        result.gone.append(before.id)
    # Title and text are part of the vectors.
    same = (before.id, before.title, before.abstract) == (after.id, after.title, after.abstract)
    (result.touched if same else result.new).append(after)
    names = {source.file for part in parts for source in part.sources}
    return "changed" if names & {source.file for source in before.sources} else "merged"


def _count(outcomes: Mapping[str, str], targets: Sequence[Sequence[str]], result: Joined) -> None:
    """Count each loaded paper once, and the parts of one that are apart here for themselves."""
    seen: set[str] = set()
    for goals in targets:
        parts = dict.fromkeys(goals)
        result.merged -= len(parts) - 1
        for goal in parts:
            result.count("merged" if goal in seen else outcomes[goal])
            seen.add(goal)


@dataclass(slots=True)
class _Place:
    """A wording while records come in: its sources are those that remain; `lost` when none of several do."""

    version: Version
    lost: bool = False

    def take(self, wording: Version) -> None:
        """Add a record of this wording: a newer reading where nothing remains of the old one."""
        first, second = (self.version, wording) if self.version.sources else (wording, self.version)
        self.version, self.lost = supplemented(first, second), False


def _combined(before: Paper | None, parts: Sequence[Paper], files: Collection[str]) -> Paper | None:
    strip = {*files, *(source.file for part in parts for source in part.sources)}
    places: list[_Place] = []
    for version in wordings(before) if before else ():
        rest = tuple(source for source in version.sources if source.file not in strip)
        places.append(_Place(replace(version, sources=rest), lost=bool(version.sources) and not rest))
    newer = not places or not places[0].version.sources
    other = []
    for wording in (version for part in parts for version in wordings(part)):
        place = next((p for p in places if _text_of(p.version) == _text_of(wording)), None)
        if place:
            place.take(wording)
        else:
            other.append(wording)
    for wording in other:
        place = next((p for p in places if p.version.id == wording.id and p.lost), None)
        place = place or next((p for p in places if _text_of(p.version) == _text_of(wording)), None)
        if place:
            place.take(wording)
        else:
            places.append(_Place(wording))
    versions = [p.version for p in places if not p.lost]
    if not versions:
        return None
    after = paper_of_wordings([replace(version, sources=in_order(version.sources)) for version in versions])
    known = [*parts, before] if newer else [before, *parts]
    return replace(after, label=_label(after, known), sources=in_order(after.sources))


def _text_of(version: Version) -> tuple[str, str]:
    return version.id, version.abstract


def _label(paper: Paper, known: Iterable[Paper | None]) -> str:
    """Return the label that was made for this text and title, else make it."""
    for other in known:
        if other and other.label and (other.id, other.title) == (paper.id, paper.title):
            return other.label
    return label_for(paper.abstract, paper.title)
