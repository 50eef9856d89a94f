"""Rules on direction and roles: more or less of what, and who does it to whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from rag.lexicon import ANTONYMS, COMPARED_DOWN, COMPARED_UP, NOUNS_TOO, PREDICATES
from rag.types import Support, Verdict
from rag.words import Parsed, Word, has_stem, plain_stem, related, stem

_WINDOW = 4
"""Content words on each side of a direction among which what it is said of stands."""

_TO_BE = frozenset(("is", "are", "was", "were", "be", "been", "being", "get", "gets"))


@cache
def _opposites() -> dict[str, frozenset[str]]:
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
    """A direction in the claim ("higher", "reduces") may not be the opposite of what is cited of the same thing.

    Of the cited directions, the one with most words around it in common with the claim's decides. A denied
    direction ("no increase") is opposed to the same direction.
    """
    for index, word in enumerate(claim.words):
        own = plain_stem(word.lower)
        contrary = _opposites().get(own)
        if not contrary:
            continue
        around = _around(claim.words, index)
        agreeing, opposed, instead = 0, 0, ""
        for part in cited:
            for place, other in enumerate(part.words):
                other_stem = plain_stem(other.lower)
                same = other_stem == own or bool(_opposites().get(other_stem, frozenset()) & contrary)
                if not same and other_stem not in contrary:
                    continue
                shared = _shared(around, _around(part.words, place))
                turned = other.negated != word.negated
                if same and not turned:
                    agreeing = max(agreeing, shared + (other_stem == own))
                elif same == turned and shared > opposed:  # the same denied, or the opposite not denied
                    opposed, instead = shared, ("not " if other.negated else "") + other.text
        if opposed > agreeing:
            said = ("not " if word.negated else "") + word.text
            yield Verdict(Support.CONTRADICTED, f'the claim says "{said}", the cited sentence "{instead}"')
            return


_Around = tuple[frozenset[str], frozenset[str]]


def _around(words: Sequence[Word], index: int) -> _Around:
    """Return the stems of the nearest content words before and after a word."""
    before = [word.stem for word in words[:index] if word.is_content][-_WINDOW:]
    after = [word.stem for word in words[index + 1 :] if word.is_content][:_WINDOW]
    return frozenset(before), frozenset(after)


def _shared(first: _Around, second: _Around) -> int:
    """Count the words two surroundings share, on the same side twofold ("increases the risk", "risk increases")."""
    (before, after), (other_before, other_after) = first, second
    return (
        2 * len(after & other_after)
        + len(before & other_before)
        + len(after & other_before)
        + len(before & other_after)
    )


def check_comparison(claim: Parsed, cited: Sequence[Parsed]) -> Iterator[Verdict]:
    """In a comparison the two sides may not be exchanged ("A is faster than B", "A outperforms B")."""
    for sign, first, second in _comparisons(claim):
        verdicts = []
        for part in cited:
            for other_sign, other_first, other_second in _comparisons(part):
                straight = _overlap(first, other_first) + _overlap(second, other_second)
                crossed = _overlap(first, other_second) + _overlap(second, other_first)
                if straight == crossed:
                    continue
                verdicts.append((straight > crossed) == (sign == other_sign))
        if verdicts and not any(verdicts):
            yield Verdict(Support.CONTRADICTED, "the cited sentence compares the other way round")
            return


def _overlap(first: frozenset[str], second: frozenset[str]) -> float:
    if not first or not second:
        return 0.0
    return sum(any(related(one, other) for other in second) for one in first) / min(len(first), len(second))


_Comparison = tuple[int, frozenset[str], frozenset[str]]


def _comparisons(parsed: Parsed) -> Iterator[_Comparison]:
    """Yield (+1 or -1, first side, second side) of every comparison of a text."""
    words = parsed.words
    for index, word in enumerate(words):
        sign = 1 if word.lower in COMPARED_UP else -1 if word.lower in COMPARED_DOWN else 0
        verb = 0 if sign else _verb_sign(word)
        if not sign and not verb:
            continue
        start = index + 1
        if sign:
            than = next((place for place in range(index + 1, min(index + 12, len(words))) if words[place].lower == "than"), None)
            if than is None:
                continue
            start = than + 1
        second = _phrase(words[start : start + 6], words[index].clause)
        first = frozenset(
            other.stem for other in words[:index] if other.is_content and other.clause >= word.clause - 1
        ) - second
        passive = any(other.lower == "by" for other in words[index + 1 : index + 3]) and bool(verb)
        sign = (sign or verb) * (-1 if word.negated else 1)
        yield (-sign if passive else sign), first, second


def _verb_sign(word: Word) -> int:
    plain = stem(word.lower)
    return 1 if plain == stem("outperform") else -1 if plain == stem("underperform") else 0


def _phrase(words: Sequence[Word], clause: int) -> frozenset[str]:
    kept = []
    for word in words:
        if word.clause != clause or word.lower in ("in", "on", "across", "under", "when", "while", "and", "with", "for"):
            break
        if word.is_content:
            kept.append(word.stem)
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
                one, other = _written(claim, min(moved_on)), _written(claim, min(moved_back))
                yield Verdict(
                    Support.CONTRADICTED, f'the claim exchanges the sides of "{verb.text}": "{one}" and "{other}"'
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


def _written(parsed: Parsed, sought: str) -> str:
    return next((word.text for word in parsed.words if word.stem == sought), sought)


def _sides(words: Sequence[Word], index: int, step: int) -> frozenset[str]:
    """Return the content stems on one side of a word, within its clause."""
    clause, found = words[index].clause, []
    place = index + step
    while 0 <= place < len(words) and words[place].clause == clause:
        if words[place].is_content:
            found.append(words[place].stem)
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
        for part in cited if subject and said and not subject & own else ():
            for place in _same_verb(verb, part):
                before = {word.stem for word in part.words[:place] if word.is_content}
                after = _sides(part.words, place, 1)
                exchanged = subject & after and not any(has_stem(one, before) for one in subject)
                if exchanged and before and _is_active(part.words, place) and len(said & after) * 2 >= len(said):
                    word = _written(claim, min(subject & after))
                    yield Verdict(
                        Support.CONTRADICTED, f'the cited sentence does not say "{verb.text}" of "{word}"'
                    )
        return
