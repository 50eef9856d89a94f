"""Which records are one paper in two wordings, and the paper that results.

The rule was set on the 11,209 abstracts of eleven conference lists and on rewritten pairs of them; the
figures are in docs/formats.md and measured again by tests/test_versions.py.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rag.label_names import method_name
from rag.label_words import STOP
from rag.normal import match_key
from rag.types import Paper, Version

# Shares of content words in common (Jaccard). Among 62 million pairs of different papers the largest was
# 0.41; the resubmissions among them had 0.89 and more.
SAME_TEXT = 0.55
"""Enough by itself, when nothing speaks against it."""
SAME_TITLE = 0.45
"""Enough when the titles are the same and the authors do not disagree."""
CONTRADICTED = 0.85
"""Needed when titles and authors both differ, or the years lie further apart than `_YEARS`."""
SHORT, SHORT_TEXT, SHORT_TITLE = 20, 0.75, 0.6
"""Texts of fewer content words share more of them by chance: what they need in place of the first two."""

# Of the shorter abstract's content words, how many the longer must have when it is an extended version.
_CONTAINED = 0.75
# arXiv and proceedings versions are seldom further apart.
_YEARS = 3
# A paper's rarest words, by which candidates are found; words in more papers than that tell too little.
# Work grows with papers x rarest x most / 2 and so in proportion to the papers.
_RAREST = 20
_MOST_PAPERS = 64
_SHARED = 3

# Words of every abstract; they would make any two alike.
_JOINING = STOP | frozenset(("i", "e", "g", "et", "al", "s"))
_COMMAND = re.compile(r"\\[A-Za-z]+")
_WORD = re.compile(r"[^\W_]+")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]{2,}")
_ROMAN = re.compile(r"\b(?:part|volume|vol|chapter|episode)\s+([ivx]+|\d+|[a-h]|one|two|three|four)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Merged:
    """Papers with their versions folded in; `merged` counts the records that went into another."""

    papers: tuple[Paper, ...]
    merged: int


_Wording: TypeAlias = Paper | Version
"""What is compared: a record, or one wording of a stored paper."""


@dataclass(frozen=True, slots=True)
class _Text:
    """What the rule looks at."""

    words: frozenset[str]
    numbers: frozenset[str]
    title: str
    title_numbers: frozenset[str]
    authors: frozenset[str]


def paper_id(abstract: str, *, key: str | None = None) -> str:
    """Return a paper's id: the first 12 hex digits of the SHA-256 of its abstract's match key.

    `key` is that match key when the caller has it already.
    """
    key = match_key(abstract) if key is None else key
    return hashlib.sha256(key.encode()).hexdigest()[:12]


def merge_versions(papers: Sequence[Paper]) -> Merged:
    """Merge records of one paper: first equal ids, then wordings that `same_paper` takes for one paper.

    The first record of a paper keeps its id and abstract; so papers that are already stored come first.
    A wording is compared with the first ones only, never with another that was merged: no chains.
    """
    exact: dict[str, Paper] = {}
    for paper in papers:
        exact[paper.id] = folded(exact[paper.id], paper) if paper.id in exact else paper
    distinct = list(exact.values())
    texts = [_text(paper) for paper in distinct]
    candidates: dict[int, list[int]] = defaultdict(list)
    for earlier, later in _candidates(texts):
        candidates[later].append(earlier)
    into: dict[int, int] = {}
    for later in sorted(candidates):
        fits = [
            (overlap(texts[earlier].words, texts[later].words), -earlier)
            for earlier in candidates[later]
            if earlier not in into and _same(distinct[earlier], distinct[later], texts[earlier], texts[later])
        ]
        if fits:
            into[later] = -max(fits)[1]
    result = dict(enumerate(distinct))
    for later, earlier in into.items():
        result[earlier] = folded(result[earlier], distinct[later])
        del result[later]
    return Merged(tuple(result.values()), len(papers) - len(result))


def nearest(
    known: Sequence[Version], new: Sequence[Version], apart: Collection[frozenset[str]] = ()
) -> list[int | None]:
    """Return for each new wording the place of the known one that it is a version of, or None.

    `apart` holds pairs of ids that are not one paper, whatever the rule says.
    """
    texts = [_text(wording) for wording in (*known, *new)]
    best: dict[int, tuple[float, int]] = {}
    for earlier, later in _candidates(texts, len(known)):
        if earlier >= len(known):
            continue
        first, second = known[earlier], new[later - len(known)]
        if frozenset((first.id, second.id)) in apart or not _same(first, second, texts[earlier], texts[later]):
            continue
        fit = (overlap(texts[earlier].words, texts[later].words), -earlier)
        best[later] = max(best.get(later, fit), fit)
    return [-best[place][1] if place in best else None for place in range(len(known), len(texts))]


def same_paper(first: Paper, second: Paper) -> bool:
    """Whether two records are wordings of one paper; cautious: what is not certain stays two."""
    return first.id == second.id or _same(first, second, _text(first), _text(second))


def overlap(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the words in common as a share of all words of both, in [0, 1] (Jaccard)."""
    shared = len(first & second)
    return shared / ((len(first) + len(second) - shared) or 1)


def wordings(paper: Paper) -> tuple[Version, ...]:
    """Return all wordings of a paper, the stored one first."""
    return paper.versions or (
        Version(
            paper.id,
            paper.abstract,
            paper.sources,
            paper.title,
            paper.authors,
            paper.year,
            paper.venue,
            paper.url,
            paper.keywords,
        ),
    )


def paper_of_wordings(versions: Sequence[Version], label: str = "") -> Paper:
    """Return the paper that has these wordings: text and id of the first, each fact from the first that has it."""
    first = versions[0]
    return Paper(
        id=first.id,
        abstract=first.abstract,
        label=label,
        title=next((version.title for version in versions if version.title), None),
        authors=next((version.authors for version in versions if version.authors), ()),
        year=next((version.year for version in versions if version.year), None),
        venue=next((version.venue for version in versions if version.venue), None),
        url=next((version.url for version in versions if version.url), None),
        keywords=next((version.keywords for version in versions if version.keywords), ()),
        sources=tuple(dict.fromkeys(source for version in versions for source in version.sources)),
        versions=tuple(versions) if len(versions) > 1 else (),
    )


def supplemented(first: Version, second: Version) -> Version:
    """Return `first` with the sources of `second` added and what it lacks taken from there."""
    return replace(
        first,
        title=first.title or second.title,
        authors=first.authors or second.authors,
        year=first.year or second.year,
        venue=first.venue or second.venue,
        url=first.url or second.url,
        keywords=first.keywords or second.keywords,
        sources=tuple(dict.fromkeys(first.sources + second.sources)),
    )


def folded(first: Paper, second: Paper) -> Paper:
    """Return `first` with the wordings of `second` added, and what it lacks taken from there.

    A wording that differs in typography alone has the same id; it is one of its own if it differs at all,
    since a quote is a quote of one wording.
    """
    versions = list(wordings(first))
    for new in wordings(second):
        for place, old in enumerate(versions):
            if (old.id, old.abstract) == (new.id, new.abstract):
                versions[place] = supplemented(old, new)
                break
        else:
            versions.append(new)
    return paper_of_wordings(versions, first.label)


def _same(first: _Wording, second: _Wording, one: _Text, two: _Text) -> bool:
    share = overlap(one.words, two.words)
    shorter = min(len(one.words), len(two.words)) or 1
    contained = len(one.words & two.words) / shorter
    if shorter < SHORT and not _same_short(one, two, share, contained):
        return False
    if share < SAME_TITLE and contained < _CONTAINED:
        return False
    titled = bool(one.title and two.title)
    same_title = titled and one.title == two.title
    authors_differ = bool(one.authors and two.authors) and not one.authors & two.authors
    years_apart = first.year is not None and second.year is not None and abs(first.year - second.year) > _YEARS
    # "Part I" and "Part II", the shared task of 2021 and of 2022.
    if titled and one.title_numbers != two.title_numbers:
        return False
    if authors_differ and (titled and not same_title):
        return share >= CONTRADICTED
    if years_apart and share < CONTRADICTED:
        return False
    if same_title and not authors_differ:
        return True
    if share < SAME_TEXT or (authors_differ and share < CONTRADICTED):
        return False
    return not _numbers_differ(one, two) and not _names_differ(first.abstract, second.abstract)


def _same_short(one: _Text, two: _Text, share: float, contained: float) -> bool:
    """Whether short texts agree enough; texts made after one pattern often differ in a figure only."""
    figures = [frozenset(word for word in text.words if word.isdigit()) for text in (one, two)]
    if all(figures) and figures[0] != figures[1]:
        return False
    if one.title and one.title == two.title:
        return share >= SHORT_TITLE or contained >= CONTRADICTED
    return share >= SHORT_TEXT


def _numbers_differ(one: _Text, two: _Text) -> bool:
    """Whether both texts give several figures and have hardly one in common: sister papers of a series."""
    fewer = min(len(one.numbers), len(two.numbers))
    return fewer >= 2 and len(one.numbers & two.numbers) < 0.34 * fewer


def _names_differ(first: str, second: str) -> bool:
    """Whether each text brings a method of its own that the other does not know."""
    one, two = method_name(first), method_name(second)
    return bool(one and two) and str(one) not in second and str(two) not in first


def _text(paper: _Wording) -> _Text:
    words = content_words(paper.abstract)
    title = " ".join(_WORD.findall(unicodedata.normalize("NFKC", paper.title or "").casefold()))
    parts = {found[1] for found in _ROMAN.finditer(title)}
    return _Text(
        words=words,
        numbers=frozenset(word for word in words if word.isdigit() and len(word) > 1),
        title=title,
        title_numbers=frozenset(re.findall(r"\d+", title)) | frozenset(parts),
        authors=frozenset(author.split()[-1].casefold() for author in paper.authors if author.split()),
    )


def content_words(text: str) -> frozenset[str]:
    """Return the distinct words of a text that tell something; of Chinese text its pairs of characters."""
    plain = unicodedata.normalize("NFKC", text)
    plain = (_COMMAND.sub(" ", plain) if "\\" in plain else plain).casefold()
    words = set(_WORD.findall(plain)) - _JOINING
    for run in () if plain.isascii() else _HAN.findall(plain):
        words.discard(run)
        words.update(run[place : place + 2] for place in range(len(run) - 1))
    return frozenset(words)


def _candidates(texts: Sequence[_Text], known: int = 0) -> Iterator[tuple[int, int]]:
    """Yield pairs (earlier, later) that share rare words or a title; the later is none of the first `known`."""
    yield from _sharing_titles(texts, known)
    yield from _sharing_words(texts, known)


def _sharing_titles(texts: Sequence[_Text], known: int) -> Iterator[tuple[int, int]]:
    groups: dict[str, list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        if text.title:
            # A title borne by hundreds ("Editorial") must not cost their square.
            if place >= known:
                for earlier in groups[text.title][-_MOST_PAPERS:]:
                    yield earlier, place
            groups[text.title].append(place)


@lru_cache(maxsize=_MOST_PAPERS)
def _pairs_of(number: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of all pairs of that many things, earlier and later."""
    earlier, later = np.triu_indices(number, 1)
    return earlier, later


def _sharing_words(texts: Sequence[_Text], known: int) -> Iterator[tuple[int, int]]:
    """Pairs with at least `_SHARED` of their `_RAREST` words in common (fewer for very short texts).

    Two texts with more than half of their words in common have their rare ones in common as often.
    """
    used = Counter(word for text in texts for word in text.words)
    bearers: dict[str, list[int]] = defaultdict(list)
    signature_sizes = np.zeros(len(texts), dtype=np.int64)
    for place, text in enumerate(texts):
        rare = sorted((word for word in text.words if 2 <= used[word] <= _MOST_PAPERS), key=lambda w: (used[w], w))
        signature_sizes[place] = len(rare[:_RAREST])
        for word in rare[:_RAREST]:
            bearers[word].append(place)
    blocks: list[NDArray[np.int64]] = []
    for places in bearers.values():
        if len(places) > 1 and places[-1] >= known:
            held = np.asarray(places, dtype=np.int64)
            earlier, later = _pairs_of(len(held))
            block = held[later] * len(texts) + held[earlier]
            blocks.append(block[held[later] >= known] if known else block)
    if not blocks:
        return
    pairs, counts = np.unique(np.concatenate(blocks), return_counts=True)
    later, earlier = np.divmod(pairs, len(texts))
    smaller = np.minimum(signature_sizes[earlier], signature_sizes[later])
    enough = counts >= np.minimum(_SHARED, np.maximum(1, smaller // 2))
    yield from zip(earlier[enough].tolist(), later[enough].tolist(), strict=True)
