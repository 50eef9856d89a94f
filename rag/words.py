"""Words of a sentence as the rules see them: stem, clause, and whether a negation reaches them.

The owner of the stemmer (Snowball English, by PyStemmer).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
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
    NUMBER_WORDS,
    SCALES,
    SYNONYM_GROUPS,
)
from rag.normal import clean

NEGATION_REACH = 6
"""Content words after a negation that it reaches, as in NegEx (Chapman et al. 2001)."""

NEGATION_REACHES = {"non": 1, "lack": 2, "no": 3, "without": 3, "nor": 4, "neither": 4}
"""Negations that deny a noun and not a verb with all that follows reach fewer content words."""

_COMPOUND = regex.compile(r"[\p{L}\p{M}\p{N}_](?:[\p{L}\p{M}\p{N}_'^]|-(?=[\p{L}\p{N}]))*|[^\s\p{L}\p{N}]")
_NAME_FORM = regex.compile(r"\p{Lu}.*[\p{Lu}\p{N}]|\p{Ll}+\p{Lu}|\p{N}+\p{Lu}")
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

    `negator` says that it negates what follows, `negated` that a negation reaches it. `name` is the name that
    the word is or is part of, folded ("ultradpo" for both words of "Ultra-DPO"), or "".
    """

    text: str
    stem: str
    clause: int
    negator: bool
    negated: bool
    name: str = ""

    @property
    def unit(self) -> str:
        """What the word stands for: its name as a whole, else its stem."""
        return self.name or self.stem

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


_GENERIC = stems_in(GENERIC) | stems_in(NUMBER_WORDS) | stems_in(SCALES)
_LIGHT = stems_in(LIGHT)
_NEGATIVE_VERBS = stems_in(NEGATIVE_VERBS)


_LEAST_ROOT, _LONGEST_ENDING = 5, 4


def _roots(word_stem: str) -> Iterator[str]:
    """Yield the shorter stems that a stem may be derived from; "-less" turns the meaning round."""
    for length in range(max(_LEAST_ROOT, len(word_stem) - _LONGEST_ENDING), len(word_stem)):
        if not word_stem[length:].startswith("less"):
            yield word_stem[:length]


def related(first: str, second: str) -> bool:
    """Say whether two stems are derived from one word: one continues the other by at most four letters.

    "accur" (accurate) and "accuraci" are, "inter" and "interpret" are not.
    """
    short, long = sorted((first, second), key=len)
    return short == long or short in _roots(long)


@lru_cache(maxsize=4096)
def _all_roots(stems: frozenset[str]) -> frozenset[str]:
    return frozenset(root for one in stems for root in _roots(one))


def has_stem(sought: str, stems: Collection[str]) -> bool:
    """Say whether a stem, or one derived from the same word, is among some."""
    if sought in stems:
        return True
    known = stems if isinstance(stems, frozenset) else frozenset(stems)
    return sought in _all_roots(known) or any(root in known for root in _roots(sought))


@lru_cache(maxsize=2048)
def parse(text: str) -> Parsed:
    """Take a text apart. Compounds are split at their hyphens; "fine-tuning" also counts as "finetuning"."""
    cleaned = clean(text)
    words = tuple(_words(list(_tokens(cleaned))))
    content = [word for word in words if word.is_content]
    stems = {word.stem for word in content}
    stems |= {stem(first.text + second.text) for first, second in pairwise(words)}
    return Parsed(cleaned, words, frozenset(stems))


def _tokens(cleaned: str) -> Iterator[tuple[str, str]]:
    """Yield the words and other marks of a text, each with the name it belongs to."""
    for found in _COMPOUND.finditer(cleaned):
        parts = [part for part in found[0].split("-") if part]
        named = [part for part in parts if _NAME_FORM.search(part)]
        # of "LLM-based" only the first part is a name, "Ultra-DPO" is one as a whole
        whole = named and not any(part.islower() for part in parts)
        for part in parts:
            name = "".join(parts) if whole else part if part in named else ""
            yield part, name.lower().removesuffix("s")


def _words(tokens: list[tuple[str, str]]) -> Iterator[Word]:
    clause, reach = 0, 0
    for index, (token, name) in enumerate(tokens):
        lower = token.lower()
        if not (token[0].isalnum() or token[0] == "_"):
            if token in _CLAUSE_END:
                clause, reach = clause + 1, 0
            continue
        if lower in CLAUSE_WORDS:
            clause, reach = clause + 1, 0
        negator = _negates(lower, tokens[index + 1][0].lower() if index + 1 < len(tokens) else "")
        word_stem = stem(token)
        yield Word(token, word_stem, clause, negator, reach > 0, name)
        if negator:
            reach = NEGATION_REACHES.get(word_stem, NEGATION_REACH)
        elif reach and lower not in FUNCTION_WORDS:
            reach -= 1


def _negates(lower: str, following: str) -> bool:
    contracted = lower.endswith("n't")
    if following in HARMLESS_NEGATIONS.get("not" if contracted else lower, ()):
        return False
    return lower in NEGATORS or contracted or stem(lower) in _NEGATIVE_VERBS


def says_something(word: Word) -> bool:
    """Say whether a claim's word must be found in the evidence: not "paper", "propose" or "method".

    Numbers in words and "percent" or "times" are left to the rules on numbers.
    """
    return word.is_content and word.stem not in _GENERIC


def scope(words: tuple[Word, ...], index: int) -> list[Word]:
    """Return the content words that the negator at `index` reaches, without "any", "additional" and so on."""
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


Surroundings = tuple[frozenset[str], frozenset[str]]
"""The stems of the nearest content words before and after something."""

NOWHERE: Surroundings = (frozenset(), frozenset())
SURROUNDING_WORDS = 4
_SENTENCE_END = regex.compile(r"[.?!]\s|;")


def surroundings(text: str, start: int, end: int) -> Surroundings:
    """Return the stems of the content words nearest to `text[start:end]`, in its sentence."""
    before = _SENTENCE_END.split(text[max(0, start - 90) : start])[-1]
    after = _SENTENCE_END.split(text[end : end + 90], maxsplit=1)[0]
    left = [word.stem for word in parse(before).words if word.is_content and not word.text[0].isdigit()]
    right = [word.stem for word in parse(after).words if word.is_content and not word.text[0].isdigit()]
    return frozenset(left[-SURROUNDING_WORDS:]), frozenset(right[:SURROUNDING_WORDS])


def shared(first: Surroundings, second: Surroundings) -> int:
    """Count the words that two surroundings share, those on the same side twice.

    "increases the risk" is nearer to "a higher risk" than to "the risk is higher", but the same is said.
    """
    (before, after), (other_before, other_after) = first, second
    return (
        2 * len(after & other_after)
        + 2 * len(before & other_before)
        + len(after & other_before)
        + len(before & other_after)
    )


def nearness(first: Surroundings, second: Surroundings) -> int:
    """Count the words that two surroundings share, on whichever side: "by 5 % on X" is "on X by 5 %"."""
    return len((first[0] | first[1]) & (second[0] | second[1]))
