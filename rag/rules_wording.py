"""Rules on negation, quantity and certainty: words that turn a sentence round or change how far it goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag.lexicon import (
    COVERING,
    EXCLUSIVE,
    EXISTENTIAL,
    MAJORITY,
    NECESSARY,
    NECESSITY,
    NEGATIVE_PREFIXES,
    SCARCE,
    SOFT_NEGATIVES,
    STRICT_MAJORITY,
    UNCERTAIN,
    UNIVERSAL,
)
from rag.types import Support, Verdict
from rag.words import Parsed, Word, has_stem, related, scope, stems_in

_SOFT = stems_in(SOFT_NEGATIVES)
_UNCERTAIN = stems_in(UNCERTAIN)
_NEAR = 5
"""Words between a word and a soft negative ("avoids the costly training") that speaks of it."""


def check_negation(claim: Parsed, cited: Sequence[Parsed]) -> Iterator[Verdict]:
    """A word that the claim denies must be denied in the cited sentences, and the other way round."""
    for index, word in enumerate(claim.words):
        if word.negator:
            denied = scope(claim.words, index) or _before(claim.words, index)
            if (wrong := _affirmed(denied, cited)) is not None:
                yield Verdict(
                    Support.CONTRADICTED,
                    f'the claim says "{word.text}" of "{wrong.text}", the cited sentence does not',
                )
    for part in cited:
        for index, word in enumerate(part.words):
            if not word.negator:
                continue
            denied = scope(part.words, index)[:1]
            elliptic = not denied
            denied = denied or _before(part.words, index)
            if (wrong := _affirmed(denied, [claim])) is None or _denies(claim, wrong):
                continue
            if not _also_affirmed(wrong, claim, cited):
                support = Support.PARTIAL if elliptic else Support.CONTRADICTED
                yield Verdict(
                    support, f'the cited sentence says "{word.text}" of "{wrong.text}", the claim does not'
                )
    yield from _prefixes(claim, cited)


def _before(words: Sequence[Word], index: int) -> list[Word]:
    """Return the two content words before a negation that ends its clause ("evaluations cannot")."""
    clause = words[index].clause
    if index + 1 < len(words) and words[index + 1].clause == clause:
        return []
    return [word for word in words[:index] if word.clause == clause and word.is_content][-1:]


def _plain(cited: Sequence[Parsed]) -> list[Word]:
    return [word for part in cited for word in part.words if not word.negated and not word.negator]


def _also_affirmed(denied: Word, claim: Parsed, cited: Sequence[Parsed]) -> bool:
    """Say whether the cited sentences also have the word without a negation, in the form of the claim.

    "without paired samples" is not taken back by "the true pairing".
    """
    forms = {word.lower for word in claim.words if related(word.stem, denied.stem)}
    if denied.lower in forms:
        return any(other.lower in forms for other in _plain(cited))
    return any(related(denied.stem, other.stem) for other in _plain(cited))


def _affirmed(denied: Sequence[Word], texts: Sequence[Parsed]) -> Word | None:
    """Return the first of the denied words that the texts have, if they have it without any negation."""
    for rank, word in enumerate(denied[:2]):
        if rank and any(other.negator for part in texts for other in part.words):
            return None  # the texts deny something themselves, perhaps this in other words
        seen = [
            (part, index)
            for part in texts
            for index, other in enumerate(part.words)
            if other.is_content and related(word.stem, other.stem)
        ]
        if not seen:
            continue
        plain = all(
            not part.words[index].negated and not _softly_denied(part.words, index) for part, index in seen
        )
        return word if plain else None
    return None


def _softly_denied(words: Sequence[Word], index: int) -> bool:
    clause = words[index].clause
    near = words[max(0, index - _NEAR) : index + _NEAR + 1]
    return any(other.clause == clause and (other.stem in _SOFT or other.negator) for other in near)


def _denies(claim: Parsed, word: Word) -> bool:
    """Say whether a claim denies a word by a prefix ("untrained" for "not trained")."""
    prefixed = {prefix + word.stem for prefix in NEGATIVE_PREFIXES}
    return bool(prefixed & claim.stems)


def _prefixes(claim: Parsed, cited: Sequence[Parsed]) -> Iterator[Verdict]:
    """ "supervised" in one text and only "unsupervised" in the other are opposites."""
    stems = {word.stem for part in cited for word in part.content}
    said = {word.stem for word in claim.content}
    negated = {word.stem for part in (claim, *cited) for word in part.words if word.negated}
    for own, other, own_negated in ((said, stems, False), (stems, said, True)):
        for short in own:
            if len(short) < 4 or short in other or short in negated:
                continue
            for prefix in NEGATIVE_PREFIXES:
                long = prefix + short
                if long in other and long not in own and long not in negated and long not in _CHANCE:
                    pair = (short, long) if not own_negated else (long, short)
                    yield Verdict(
                        Support.CONTRADICTED, f'the claim says "{pair[0]}…", the cited sentence "{pair[1]}…"'
                    )


_CHANCE = stems_in(("information", "inform", "intense", "incorporate", "invaluable", "internal", "infer"))
"""Words that only seem to be the opposite of what remains without their first letters."""


def check_quantity(claim: Parsed, cited: Sequence[Parsed]) -> Iterator[Verdict]:
    """ "all", "most", "few", "only" and "some" may not replace each other, and doubt may not be dropped."""
    said = {word.lower for word in claim.words}
    found = {word.lower for part in cited for word in part.words}
    for word in sorted(said & UNIVERSAL - {"entire", "entirely", "completely"}):
        if found & (UNIVERSAL | COVERING):
            continue
        weaker = found & (EXISTENTIAL | MAJORITY | SCARCE)
        support = Support.CONTRADICTED if weaker else Support.PARTIAL
        instead = f' but "{min(weaker)}"' if weaker else ""
        yield Verdict(support, f'the cited sentence does not say "{word}"{instead}')
    majority = said & STRICT_MAJORITY | _most(claim)
    for group, allowed in (
        (said & NECESSITY, NECESSARY),
        (said & {"least"}, {"least"}),
        (majority, MAJORITY | UNIVERSAL | COVERING),
        (said & SCARCE, SCARCE),
        (_exclusive(claim), set().union(*map(_exclusive, cited))),
    ):
        for word in sorted(group):
            if not found & allowed:
                contrary = bool(word in SCARCE and found & (UNIVERSAL | MAJORITY | {"many"}))
                yield Verdict(
                    Support.CONTRADICTED if contrary else Support.PARTIAL,
                    f'the cited sentence does not say "{word}"',
                )
    if (
        said & EXISTENTIAL & {"some", "sometimes", "occasionally", "partially", "partly"}
        and not found & EXISTENTIAL
    ):
        stronger = found & (UNIVERSAL | {"each"}) - {"entire"}
        if stronger:
            yield Verdict(Support.PARTIAL, f'the cited sentence says "{min(stronger)}"')
    yield from _doubt(claim, cited)


def _exclusive(parsed: Parsed) -> set[str]:
    """Return the words that say "only"; not those of "not only", nor of "only 3 %", which judges a number."""
    padded = (None, *parsed.words, None)
    return {
        word.lower
        for previous, word, following in zip(padded, parsed.words, padded[2:], strict=False)
        if word.lower in EXCLUSIVE
        and not (previous and previous.lower in ("not", "but"))
        and not (following and following.text[0].isdigit())
    }


def _most(claim: Parsed) -> set[str]:
    """Return {"most"} if it counts ("most models"), not if it compares ("the most efficient")."""
    for previous, word, following in zip((None, *claim.words), claim.words, claim.words[1:], strict=False):
        counts = following.lower == "of" or following.lower.endswith("s")
        if word.lower == "most" and counts and not (previous and previous.lower == "the"):
            return {"most"}
    return set()


def _doubt(claim: Parsed, cited: Sequence[Parsed]) -> Iterator[Verdict]:
    if any(word.stem in _UNCERTAIN for word in claim.words):
        return
    for part in cited:
        for index, word in enumerate(part.words):
            if word.lower not in ("may", "might", "could", "potentially", "possibly", "perhaps"):
                continue
            doubted = [
                other
                for other in part.words[index + 1 : index + 5]
                if other.is_content and not other.lower.endswith("ly")
            ][:1]
            elsewhere = {other.stem for part_ in cited for other in part_.words[:index]} if doubted else set()
            if doubted and has_stem(doubted[0].stem, claim.stems) and doubted[0].stem not in elsewhere:
                yield Verdict(
                    Support.PARTIAL,
                    f'the cited sentence says "{word.lower} {doubted[0].text}", the claim is certain',
                )
