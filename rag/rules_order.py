"""Rules on direction and roles: more or less of what, and who does it to whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from rag.lexicon import ANTONYMS, COMPARED_DOWN, COMPARED_UP, NOUNS_TOO, PREDICATES
from rag.types import Support, Verdict
from rag.words import (
    SURROUNDING_WORDS,
    Parsed,
    Surroundings,
    Word,
    has_stem,
    plain_stem,
    related,
    shared,
    stem,
)

_TO_THAN = 12
"""Words from a comparative to its "than": "lower memory consumption and faster time than"."""
_NOUN_ENDINGS = ("ity", "ities", "ness", "ive", "tial")
"""Endings of words that share the stem of a direction and give none ("activity", "potential")."""
_TO_BE = frozenset(("is", "are", "was", "were", "be", "been", "being", "get", "gets"))


@cache
def opposites() -> dict[str, frozenset[str]]:
    """Return for each stem the stems of opposite meaning. Synonyms are not made one here: "lower" must not
    become "reduce" on both sides of a pair."""
    table: dict[str, set[str]] = {}
    for left, right in ANTONYMS:
        lefts, rights = ({plain_stem(word) for word in side.split()} for side in (left, right))
        for one in lefts:
            table.setdefault(one, set()).update(rights - lefts)
        for one in rights:
            table.setdefault(one, set()).update(lefts - rights)
    return {one: frozenset(others) for one, others in table.items()}


def check_direction(claim: Parsed, cited: Sequence[Parsed]) -> Iterator[Verdict]:
    """A direction of the claim ("higher", "reduces") may not be the opposite of the cited one.

    Of the cited directions, the one with most words around it in common with the claim's decides. A denied
    direction ("no increase") is opposed to the same direction.
    """
    alike = compares_alike(claim, cited)
    for index, word in enumerate(claim.words):
        if alike and word.lower in COMPARED_UP | COMPARED_DOWN:
            continue  # "B needs more than A" is "A needs less than B"
        own = plain_stem(word.lower)
        contrary = opposites().get(own)
        if not contrary or word.lower.endswith(_NOUN_ENDINGS):
            continue
        around = _around(claim.words, index)
        agreeing, opposed, instead = 0, 0, ""
        for part in cited:
            for place, other in enumerate(part.words):
                other_stem = plain_stem(other.lower)
                same = other_stem == own or bool(opposites().get(other_stem, frozenset()) & contrary)
                if other.lower.endswith(_NOUN_ENDINGS) or not (same or other_stem in contrary):
                    continue
                common = shared(around, _around(part.words, place))
                turned = other.negated != word.negated
                if same and not turned:
                    agreeing = max(agreeing, common + (other_stem == own))
                elif same == turned and common > opposed:  # the same denied, or the opposite not denied
                    opposed, instead = common, ("not " if other.negated else "") + other.text
        if opposed > agreeing:
            said = ("not " if word.negated else "") + word.text
            yield Verdict(Support.CONTRADICTED, f'the claim says "{said}", the cited sentence "{instead}"')
            return


def _around(words: Sequence[Word], index: int) -> Surroundings:
    """Return the stems of the nearest content words before and after a word."""
    before = [word.stem for word in words[:index] if word.is_content][-SURROUNDING_WORDS:]
    after = [word.stem for word in words[index + 1 :] if word.is_content][:SURROUNDING_WORDS]
    return frozenset(before), frozenset(after)


def check_comparison(claim: Parsed, cited: Sequence[Parsed]) -> Iterator[Verdict]:
    """In a comparison the two sides may not be exchanged ("A is faster than B", "A outperforms B")."""
    if compares_alike(claim, cited) is False:
        yield Verdict(Support.CONTRADICTED, "the cited sentence compares the other way round")


def compares_alike(claim: Parsed, cited: Sequence[Parsed]) -> bool | None:
    """Say whether the claim's comparisons put the same side first as the cited ones; None if it has none.

    Each is held against the cited comparison of the same quality, by the words around it.
    """
    verdicts = []
    for mine in _comparisons(claim):
        rated = []
        for part in cited:
            for other in _comparisons(part):
                straight = _overlap(mine.first, other.first) + _overlap(mine.second, other.second)
                crossed = _overlap(mine.first, other.second) + _overlap(mine.second, other.first)
                if straight != crossed:
                    alike = (straight > crossed) == (mine.sign == other.sign)
                    rated.append((shared(mine.around, other.around), alike))
        if rated:
            best = max(common for common, _ in rated)
            verdicts.append(any(alike for common, alike in rated if common == best))
    return all(verdicts) if verdicts else None


def _overlap(first: frozenset[str], second: frozenset[str]) -> float:
    if not first or not second:
        return 0.0
    return sum(any(related(one, other) for other in second) for one in first) / min(len(first), len(second))


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A comparison: +1 or -1, the units of its two sides, and the words around it."""

    sign: int
    first: frozenset[str]
    second: frozenset[str]
    around: Surroundings


def _comparisons(parsed: Parsed) -> Iterator[_Comparison]:
    """Yield the comparisons of a text: "higher ... than" and "outperforms"."""
    words = parsed.words
    for index, word in enumerate(words):
        sign = 1 if word.lower in COMPARED_UP else -1 if word.lower in COMPARED_DOWN else 0
        verb = 0 if sign else _verb_sign(word)
        if not sign and not verb:
            continue
        start = index + 1
        if sign:
            reach = range(index + 1, min(index + _TO_THAN, len(words)))
            than = next((place for place in reach if words[place].lower == "than"), None)
            if than is None:
                continue
            start = than + 1
        second = _phrase(words[start : start + 6], words[index].clause)
        first = {
            other.unit for other in words[:index] if other.is_content and other.clause >= word.clause - 1
        }
        passive = bool(verb) and any(other.lower == "by" for other in words[index + 1 : index + 3])
        turned = word.negated != passive
        yield _Comparison(
            -(sign or verb) if turned else sign or verb,
            frozenset(first) - second,
            second,
            _around(words, index),
        )


def _verb_sign(word: Word) -> int:
    plain = stem(word.lower)
    return 1 if plain == stem("outperform") else -1 if plain == stem("underperform") else 0


def _phrase(words: Sequence[Word], clause: int) -> frozenset[str]:
    kept = []
    for word in words:
        if word.clause != clause or word.lower in (
            "in",
            "on",
            "across",
            "under",
            "when",
            "while",
            "and",
            "with",
            "for",
        ):
            break
        if word.is_content:
            kept.append(word.unit)
    return frozenset(kept)


@cache
def _predicates() -> frozenset[str]:
    """Return the forms of the verbs with two sides that can only be verbs: "uses" and "used", not "use"."""
    forms: set[str] = set()
    for verb in PREDICATES:
        root = verb.removesuffix("e")
        forms |= {verb + "s", verb + "es", root + "ed", root + "es", verb[:-1] + "ies", verb[:-1] + "ied"}
        if verb not in NOUNS_TOO:
            forms.add(verb)
    return frozenset(forms)


def _is_active(words: Sequence[Word], index: int) -> bool:
    """Say whether a verb is in the active voice, as far as form shows: no "-ed" after a form of "to be"."""
    if not words[index].lower.endswith("ed"):
        return True
    return not any(word.lower in _TO_BE for word in words[max(0, index - 3) : index])


def check_roles(claim: Parsed, cited: Sequence[Parsed]) -> Iterator[Verdict]:
    """Two things may not stand on other sides of a verb than they do in the cited sentence.

    Looks for u ... verb ... v in one cited sentence and v ... verb ... u in the claim; a passive may turn the
    order round.
    """
    for part in cited:
        for index, verb in enumerate(claim.words):
            places = _same_verb(verb, part)
            if len(places) != 1 or _is_active(claim.words, index) != _is_active(part.words, places[0]):
                continue
            before, after = _sides(claim.words, index, -1), _sides(claim.words, index, 1)
            cited_before, cited_after = _sides(part.words, places[0], -1), _sides(part.words, places[0], 1)
            moved_on = (before & cited_after) - cited_before - after
            moved_back = (after & cited_before) - cited_after - before
            if moved_on and moved_back:
                one, other = written(claim, min(moved_on)), written(claim, min(moved_back))
                yield Verdict(
                    Support.CONTRADICTED,
                    f'the claim exchanges the sides of "{verb.text}": "{one}" and "{other}"',
                )
                return


def _same_verb(verb: Word, part: Parsed) -> list[int]:
    if verb.lower not in _predicates():
        return []
    return [
        index
        for index, word in enumerate(part.words)
        if word.stem == verb.stem and word.lower in _predicates()
    ]


def written(parsed: Parsed, sought: str) -> str:
    return next((word.text for word in parsed.words if word.unit == sought), sought)


def _sides(words: Sequence[Word], index: int, step: int) -> frozenset[str]:
    """Return the content stems on one side of a word, within its clause."""
    clause, found = words[index].clause, []
    place = index + step
    while 0 <= place < len(words) and words[place].clause == clause:
        if words[place].is_content:
            found.append(words[place].unit)
        place += step
    return frozenset(found)


def check_subject(claim: Parsed, cited: Sequence[Parsed], own: frozenset[str]) -> Iterator[Verdict]:
    """What the claim says of one thing must not be cited of another.

    The subject stands before the claim's first verb of `lexicon.PREDICATES`. If a cited sentence says the
    same of something else, and has the claim's subject only after the verb, the subject was exchanged. `own`
    are the stems of the paper's own names, for which "we" or "it" may stand.
    """
    for index, verb in enumerate(claim.words):
        if verb.lower not in _predicates() or not _is_active(claim.words, index):
            continue
        subject, said = _sides(claim.words, index, -1), _sides(claim.words, index, 1)
        if not subject or not said or subject & own:
            return
        for part in cited:
            for place in _same_verb(verb, part):
                same = 2 * len(said & _sides(part.words, place, 1)) >= len(said)
                if same and _is_active(part.words, place) and _other_subject(subject, part, place):
                    named = written(claim, min(subject))
                    yield Verdict(
                        Support.CONTRADICTED, f'the cited sentence does not say "{verb.text}" of "{named}"'
                    )
        return


def _other_subject(subject: frozenset[str], part: Parsed, place: int) -> bool:
    """Say whether the verb at a place has another subject: the given one stands only after it, or the verb's
    clause begins with another name."""
    before = {word.unit for word in part.words[:place] if word.is_content}
    after = {word.unit for word in part.words[place + 1 :] if word.is_content}
    if before and subject & after and not any(has_stem(one, before) for one in subject):
        return True
    names = {word.name for word in part.words if word.name}
    beside = _sides(part.words, place, -1)
    return bool(subject & names and beside & names and not subject & beside)
