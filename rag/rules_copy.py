"""Rules on claims that repeat a sentence: what came in between, what went out, and what changed its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise

from rag.lexicon import EXACT_OPPOSITES, HARMLESS_NEGATIONS, NEGATIVE_PREFIXES, NEGATORS
from rag.rules_order import opposites, written
from rag.types import Support, Verdict
from rag.words import Parsed, plain_stem

_WHOLE, _WHOLE_LEAST, _ALONE = 0.85, 6, 2
"""A claim repeats a sentence if they have so much of their words in common, and so many; a moved run of at
most so many words is no phrase."""
_REPEATED = 0.7
"""Share of a claim's words that stand in the same order in a sentence when it is written after it."""
_SHORT_GAP = 4
"""Words that a claim leaves out between words it repeats; more of them are a phrase with its own negation."""


def check_altered(claim: Parsed, cited: Sequence[Parsed]) -> Iterator[Verdict]:
    """Where a claim repeats a sentence word for word, no negation or opposite may have come in or gone out.

    Sees what `check_negation` leaves open because words near by may deny the same ("is not limited to").
    """
    mine = [word.lower for word in claim.words]
    for part in cited:
        theirs = [word.lower for word in part.words]
        matcher = SequenceMatcher(None, theirs, mine, autojunk=False)
        blocks = [block for block in matcher.get_matching_blocks() if block.size]
        if sum(block.size for block in blocks) < _REPEATED * len(mine):
            continue
        for before, after in pairwise(blocks):
            gone = theirs[before.a + before.size : after.a]
            come = mine[before.b + before.size : after.b]
            added = _negations(come) - _negations(gone)
            dropped = added < 0 and len(gone) <= _SHORT_GAP
            if added > 0 or dropped or _opposed(come, gone):
                said, instead = " ".join(come) or "nothing", " ".join(gone) or "nothing"
                yield Verdict(
                    Support.CONTRADICTED, f'the claim says "{said}" where the cited sentence says "{instead}"'
                )
                return


def _negations(words: Sequence[str]) -> int:
    """Count the negations of a run of words; "not only" as a whole is none."""
    return sum(
        (word in NEGATORS or word.endswith("n't")) and following not in HARMLESS_NEGATIONS.get(word, ())
        for word, following in pairwise([*words, ""])
    )


def _opposed(come: Sequence[str], gone: Sequence[str]) -> bool:
    """Say whether a word was replaced by its opposite: by one of `ANTONYMS`, or with or without "un-"."""
    table = _replaced_opposites()
    for new in come:
        for old in gone:
            short, long = sorted((new, old), key=len)
            prefixed = len(short) > 3 and long in {prefix + short for prefix in NEGATIVE_PREFIXES}
            if prefixed or plain_stem(old) in table.get(plain_stem(new), frozenset()):
                return True
    return False


@cache
def _replaced_opposites() -> dict[str, frozenset[str]]:
    table = dict(opposites())
    for left, right in EXACT_OPPOSITES:
        for one, other in ((plain_stem(left), plain_stem(right)), (plain_stem(right), plain_stem(left))):
            table[one] = table.get(one, frozenset()) | {other}
    return table


def check_exchange(claim: Parsed, cited: Sequence[Parsed]) -> Iterator[Verdict]:
    """Two things may not have changed places while the words beside each stayed where they were.

    Sees what `check_roles` does not: verbs it does not know, and things other than sides of a verb. Members
    of a list ("A, B and C") may change places, and so may the sides of a passive.
    """
    mine = _neighbours(claim)
    for part in cited:
        theirs = _neighbours(part)
        common = [unit for unit in mine if unit in theirs]
        moved = [unit for unit in common if mine[unit] != theirs[unit]]
        for rank, one in enumerate(moved):
            for other in moved[rank + 1 :]:
                swapped = _same_place(mine[one], theirs[other]) and _same_place(mine[other], theirs[one])
                if swapped and not _turned_passive(claim, part):
                    texts = written(claim, one), written(claim, other)
                    yield Verdict(Support.CONTRADICTED, f'the claim exchanges "{texts[0]}" and "{texts[1]}"')
                    return


def check_order(claim: Parsed, cited: Sequence[Parsed]) -> Iterator[Verdict]:
    """In a claim that repeats a whole sentence, single words may not stand in other places than there.

    A phrase may have been moved to the front as a whole; two words that moved each for itself have changed
    what they belong to.
    """
    mine = [word for word in claim.content if not word.lower.endswith("ly")]
    units = [word.unit for word in mine]
    for part in cited:
        theirs = [word.unit for word in part.content if not word.lower.endswith("ly")]
        alike = sum((Counter(units) & Counter(theirs)).values())
        if len(units) < _WHOLE_LEAST or alike < _WHOLE * max(len(units), len(theirs)):
            continue
        matcher = SequenceMatcher(None, theirs, units, autojunk=False)
        moved = [
            mine[start]
            for kind, _, _, start, end in matcher.get_opcodes()
            if kind in ("insert", "replace") and end - start <= _ALONE and units[start] in theirs
        ]
        listed = _listed(claim)
        if (
            len(moved) > 1
            and not all(word.unit in listed for word in moved)
            and not _turned_passive(claim, part)
        ):
            texts = f'"{moved[0].text}" and "{moved[1].text}"'
            yield Verdict(Support.PARTIAL, f"{texts} stand in other places in the cited sentence")
            return


def _listed(parsed: Parsed) -> set[str]:
    """Return the members of lists: the things on both sides of "and" and "or"."""
    words = parsed.words
    found: set[str] = set()
    for index, word in enumerate(words):
        if word.lower in ("and", "or"):
            near = [other.unit for other in words[max(0, index - 3) : index + 4] if other.is_content]
            found |= set(near)
    return found


_Beside = tuple[str, str]
"""The units before and after a word, "" at the ends."""


def _neighbours(parsed: Parsed) -> dict[str, _Beside]:
    """Return the neighbours of each thing that a text mentions once, members of a list aside."""
    units: list[str] = []
    listed: set[str] = set()
    joined = False
    for word in parsed.words:
        if word.is_content:
            if units and units[-1] == word.unit:
                continue  # the second word of a name
            if joined:
                listed |= {units[-1], word.unit}
            units.append(word.unit)
            joined = False
        else:
            joined = bool(units) and word.lower in ("and", "or")
    counts = Counter(units)
    return {
        unit: (units[place - 1] if place else "", units[place + 1] if place + 1 < len(units) else "")
        for place, unit in enumerate(units)
        if counts[unit] == 1 and unit not in listed
    }


def _same_place(mine: _Beside, theirs: _Beside) -> bool:
    """Say whether a word of the claim stands between the words that another stands between in the cited text.

    A claim may end on one side where the cited text goes on.
    """
    return any(mine) and all(one in ("", other) for one, other in zip(mine, theirs, strict=True))


def _turned_passive(claim: Parsed, part: Parsed) -> bool:
    return ("by" in {word.lower for word in claim.words}) != ("by" in {word.lower for word in part.words})
