"""Words of a sentence as the rules see them: stem, clause, and whether a negation reaches them.

The owner of the stemmer (Snowball English, by PyStemmer).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import regex
import Stemmer

from rag.lexicon import (
    CLAUSE_WORDS,
    FUNCTION_WORDS,
    GENERIC,
    HARMLESS_NEGATIONS,
    IRREGULAR,
    LIGHT,
    NEGATIVE_VERBS,
    NEGATORS,
    SYNONYM_GROUPS,
)
from rag.normal import clean

NEGATION_REACH = 6
"""Words after a negation that it reaches, as in NegEx (Chapman et al. 2001)."""

_TOKEN = regex.compile(r"[\p{L}\p{M}\p{N}_][\p{L}\p{M}\p{N}_'^]*|[^\s\p{L}\p{N}]")
_CLAUSE_END = frozenset(".,;:?!()—")
_BRITISH = (
    (regex.compile(r"([a-z]{3,})is(e|es|ed|ing|ation|ations|er|ers|ability|able)$"), r"\1iz\2"),
    (regex.compile(r"([a-z]{3,})ys(e|es|ed|ing)$"), r"\1yz\2"),
    (regex.compile(r"([a-z]{3,})our(s|ed|ing|al|ally|able|ite)?$"), r"\1or\2"),
    (regex.compile(r"([a-z]+[aeiou]l)l(ed|ing|er|ers)$"), r"\1\2"),
    (regex.compile(r"([a-z]{3,}[^aeiou])re$"), r"\1er"),
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: as it stands, its stem, the number of its clause.

    `negator` says that it negates what follows, `negated` that a negation reaches it.
    """

    text: str
    stem: str
    clause: int
    negator: bool
    negated: bool

    @property
    def lower(self) -> str:
        """The word in lower case."""
        return self.text.lower()

    @property
    def is_content(self) -> bool:
        """Whether the word says something by itself; numbers are judged apart."""
        return self.lower not in FUNCTION_WORDS and any(character.isalpha() for character in self.text)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text, cleaned of typography, with its words and the stems that say something."""

    text: str
    words: tuple[Word, ...]
    stems: frozenset[str]

    @property
    def content(self) -> tuple[Word, ...]:
        """The words that say something, in order."""
        return tuple(word for word in self.words if word.is_content)


@cache
def _stemmer() -> Any:
    return Stemmer.Stemmer("english")


@lru_cache(maxsize=65536)
def plain_stem(word: str) -> str:
    lower = IRREGULAR.get(word, word)
    for pattern, american in _BRITISH:
        lower = pattern.sub(american, lower)
    return str(_stemmer().stemWord(lower.removesuffix("'s").removesuffix("'")))


@cache
def _synonyms() -> dict[str, str]:
    """Return the stem that stands for the group of each stem with synonyms."""
    groups = [[plain_stem(word) for word in group.split()] for group in SYNONYM_GROUPS]
    return {member: group[0] for group in groups for member in group}


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the Snowball stem of a word, its spelling made American, its irregular form regular, and
    synonyms that papers use for each other made one."""
    plain = plain_stem(word.lower())
    return _synonyms().get(plain, plain)


def stems_in(listed: Iterable[str]) -> frozenset[str]:
    """Return the stems of listed words."""
    return frozenset(stem(word) for word in listed)


_GENERIC = stems_in(GENERIC)
_LIGHT = stems_in(LIGHT)
_NEGATIVE_VERBS = stems_in(NEGATIVE_VERBS)


def related(first: str, second: str) -> bool:
    """Say whether two stems are derived from one word: one continues the other by at most four letters.

    "accur" (accurate) and "accuraci" are, "inter" and "interpret" are not; "-less" turns the meaning round.
    """
    short, long = sorted((first, second), key=len)
    rest = long[len(short) :]
    return short == long or (
        len(short) >= 5 and len(rest) <= 4 and long.startswith(short) and not rest.startswith("less")
    )


def has_stem(sought: str, stems: Collection[str]) -> bool:
    """Say whether a stem, or one derived from the same word, is among some."""
    return sought in stems or any(related(sought, other) for other in stems)


@lru_cache(maxsize=2048)
def parse(text: str) -> Parsed:
    """Take a text apart. Compounds are split at their hyphens; "fine-tuning" also counts as "finetuning"."""
    cleaned = clean(text)
    tokens = [found[0] for found in _TOKEN.finditer(cleaned)]
    words = tuple(_words(tokens))
    content = [word for word in words if word.is_content]
    stems = {word.stem for word in content}
    stems |= {stem(first.text + second.text) for first, second in zip(words, words[1:], strict=False)}
    return Parsed(cleaned, words, frozenset(stems))


def _words(tokens: list[str]) -> Iterator[Word]:
    clause, reach = 0, 0
    for index, token in enumerate(tokens):
        lower = token.lower()
        if not (token[0].isalnum() or token[0] == "_"):
            if token in _CLAUSE_END:
                clause, reach = clause + 1, 0
            continue
        if lower in CLAUSE_WORDS:
            clause, reach = clause + 1, 0
        negator = _negates(lower, tokens[index + 1].lower() if index + 1 < len(tokens) else "")
        yield Word(token, stem(token), clause, negator, reach > 0)
        if negator:
            reach = 1 if lower == "non" else NEGATION_REACH  # "non-convex" negates one word
        elif reach and lower not in FUNCTION_WORDS:
            reach -= 1


def _negates(lower: str, following: str) -> bool:
    contracted = lower.endswith("n't")
    if following in HARMLESS_NEGATIONS.get("not" if contracted else lower, ()):
        return False
    return lower in NEGATORS or contracted or stem(lower) in _NEGATIVE_VERBS


def says_something(word: Word) -> bool:
    """Say whether a claim's word must be found in the evidence: not "paper", "propose" or "method"."""
    return word.is_content and word.stem not in _GENERIC


def scope(words: tuple[Word, ...], index: int) -> list[Word]:
    """Return the content words that the negator at `index` reaches, "any", "additional" and so on left out."""
    reached: list[Word] = []
    for word in words[index + 1 :]:
        if not word.negated or word.clause != words[index].clause:
            break
        if word.is_content and word.stem not in _LIGHT:
            reached.append(word)
    return reached


def stems_of(parsed: Iterable[Parsed]) -> frozenset[str]:
    """Return the stems of several texts together."""
    return frozenset().union(*(part.stems for part in parsed))
