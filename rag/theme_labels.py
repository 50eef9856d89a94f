"""Names groups of papers by the terms that set each apart: class-based TF-IDF over phrases, checked on members."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer

from rag.label_text import TOKEN, unwrapped
from rag.label_words import HEADS, KIND, STOP
from rag.types import Paper

SHARE = 0.15
"""Least share of a group's members that hold each term of its label."""

SAMPLE = 60
"""Members of a group whose texts are read for terms, the nearest to its middle: bounds the time and the memory."""

LONGEST_TERM = 3
"""Words of a term."""

PHRASE_BONUS = 0.3
"""What each further word of a term adds to its score, as a share: people name subjects by phrases."""

ENDS = 0.4
"""Share of its uses in which a single word of a label ends a phrase."""

CONTAINED = 0.6
"""Share of the papers with a term that also hold a longer one around it, from which the longer one stands for it."""

Runs: TypeAlias = list[list[str]]
"""The runs of content words of one paper: what stands between function words and punctuation."""

_MATHS = re.compile(r"\$[^$]{0,400}\$|\\\(.{0,400}?\\\)|\\[A-Za-z]+\*?|[{}_^~]", re.DOTALL)
_PLURAL_KEPT = ("ss", "us", "is", "ics")


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith(_PLURAL_KEPT) and len(word) > 3 else word


_PLAIN = frozenset(_singular(word) for word in HEADS | KIND)
"""Words that are no term alone."""
_BEGINNING = frozenset({"time", "data", "information", "attention"})
"""Words of all abstracts that begin phrases of their own: "time series", "data augmentation"."""
_VERBAL = frozenset({"based", "aware", "free", "driven", "aided", "guided"})


def read_runs(papers: Iterable[Paper]) -> list[Runs]:
    """Return for each paper the runs of content words of its name, keywords and abstract, as they are written."""
    return [list(_runs(_MATHS.sub(" ", unwrapped(paper_text(paper))))) for paper in papers]


def candidate_terms(runs: Runs) -> Iterator[tuple[str, str]]:
    """Yield every phrase of runs, up to `LONGEST_TERM` words long, as (folded, as written).

    Folding makes one term of plural and singular, of any case, and of "fine-tuning" and "fine tuning".
    """
    for run in runs:
        folded = [_folded(word) for word in run]
        ends = [word.lower() not in _VERBAL for word in run]
        for begin in range(len(run)):
            for end in range(begin + 1, min(begin + LONGEST_TERM, len(run)) + 1):
                if ends[end - 1] and (end > begin + 1 or folded[begin] not in _PLAIN):
                    yield " ".join(folded[begin:end]), " ".join(run[begin:end])


def _runs(text: str) -> Iterator[list[str]]:
    run: list[str] = []
    for found in TOKEN.finditer(text):
        word = found[0]
        lower = word.lower()
        content = len(word) > 1 and word[0].isalpha() and word.isascii() and not lower.endswith("ly")
        if content and (lower not in STOP or lower in _BEGINNING or (run and lower in HEADS)):
            run.append(word)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _folded(word: str) -> str:
    return _singular(word.lower().replace("-", " "))


def paper_text(paper: Paper) -> str:
    """Return what is read of a paper for terms: title or label, keywords, abstract, as sentences of their own."""
    return "\n.\n".join([paper.name, *paper.keywords, paper.abstract])


def term_sets(runs: Iterable[Runs]) -> list[frozenset[str]]:
    """Return the folded terms of each paper."""
    return [frozenset(term for term, _ in candidate_terms(own)) for own in runs]


def naming_words(runs: Iterable[Runs], names: Iterable[str]) -> frozenset[str]:
    """Return the single words that can name a subject: papers' `names` (titles, keywords) use them, and they end
    phrases ("LLM safety") in at least `ENDS` of their uses, unlike adjectives ("inference-time")."""
    named = {_folded(word) for name in names for run in _runs(name) for word in run}
    uses: Counter[str] = Counter()
    ending: Counter[str] = Counter()
    for own in runs:
        for run in own:
            uses.update(map(_folded, run))
            ending[_folded(run[-1])] += 1
    return frozenset(word for word, count in ending.items() if word in named and count >= max(2, ENDS * uses[word]))


def group_terms(
    terms: Sequence[frozenset[str]],
    groups: NDArray[np.int64],
    count: int,
    limit: int = 3,
    naming: frozenset[str] | None = None,
) -> list[list[str]]:
    """Return for each of `count` groups up to `limit` terms that set it apart, the most telling first.

    `groups` gives the group of each paper, -1 for none. The score is class-based TF-IDF (Grootendorst 2022) with
    papers in place of occurrences, so that one long abstract does not decide: the share of members that hold a
    term, times ln(1 + A/f), A the papers of an average group and f the papers with the term. A term in fewer than
    `SHARE` of the members, or in a single one, is none; so is a single word that is not in `naming`, where given.
    """
    if not terms or count == 0:
        return [[] for _ in range(count)]
    inside = np.flatnonzero(groups >= 0)
    sizes = np.maximum(np.bincount(groups[inside], minlength=count), 1)
    # No term of fewer papers can reach `SHARE` anywhere: leaving them out takes most of the time away.
    uses = Counter(term for own in terms for term in own)
    least = max(2, math.ceil(SHARE * int(sizes.min())))
    names = np.array(sorted(term for term, papers in uses.items() if papers >= least))
    if not len(names):
        return [[] for _ in range(count)]
    vectorizer = CountVectorizer(analyzer=lambda own: own, binary=True, vocabulary=names.tolist())
    table = csr_matrix(vectorizer.transform(terms), dtype=np.float32)
    member = csr_matrix((np.ones(len(inside), np.float32), (groups[inside], inside)), shape=(count, len(terms)))
    held = np.asarray((member @ table).todense())
    total = np.maximum(held.sum(axis=0), 1)
    shares = held / sizes[:, None]
    words = np.array([name.count(" ") for name in names])
    scores = shares * np.log1p(len(inside) / count / total) * (1 + PHRASE_BONUS * words)
    # What a group holds no more than the others says nothing of it.
    apart = shares > 1.3 * (total / max(len(inside), 1)) if count > 1 else shares > 0
    scores[(shares < SHARE) | (held < 2) | ~apart] = 0
    if naming is not None:
        scores[:, [" " not in name and name not in naming for name in names]] = 0
    return [_distinct(names, scores[group], table[groups == group], limit) for group in range(count)]


def _distinct(names: NDArray[np.str_], scores: NDArray[np.float32], rows: csr_matrix, limit: int) -> list[str]:
    """Return the best terms that say different things: of two that share a word the one that stands for both."""
    order = np.argsort(-scores, kind="stable")[:40]
    columns = {int(place): np.asarray(rows[:, place].todense()).ravel() > 0 for place in order if scores[place] > 0}
    chosen: list[int] = []
    for place in columns:
        own = set(names[place].split())
        rivals = [other for other in chosen if own & set(names[other].split())]
        if not rivals:
            chosen.append(place)
            continue
        for other in rivals:
            longer = own > set(names[other].split())
            both = (columns[place] & columns[other]).sum() / max(1, columns[other].sum())
            if longer and both >= CONTAINED:
                chosen[chosen.index(other)] = place
                break
    return [str(names[place]) for place in list(dict.fromkeys(chosen))[:limit]]


def written_forms(terms: Iterable[str], runs: Iterable[Runs]) -> dict[str, str]:
    """Return each folded term as most papers write it: "LLM" stays one, "Federated learning" loses its capital
    unless it is mostly written with it."""
    forms: dict[str, Counter[str]] = {term: Counter() for term in terms}
    for own in runs:
        for term, written in candidate_terms(own):
            if term in forms:
                forms[term][written] += 1
    return {term: _best_form(counts) if counts else term for term, counts in forms.items()}


def _best_form(counts: Counter[str]) -> str:
    folded: Counter[str] = Counter()
    for written, uses in counts.items():
        # Titles and sentences begin words with capitals; what is also written without them is no name.
        plain = " ".join(word.lower() if word[1:].islower() else word for word in written.split())
        folded[plain if counts.get(plain, 0) * 5 >= uses or plain in counts else written] += uses
    return min(folded, key=lambda written: (-folded[written], written))


def label_of(forms: Sequence[str]) -> str:
    """Return a label made of terms, with a capital at its beginning."""
    label = ", ".join(dict.fromkeys(forms))
    first = label.split(" ")[0]
    return label[:1].upper() + label[1:] if first.islower() or "-" in first else label


def label_holds(label: str, members: Sequence[frozenset[str]], tokenize: Callable[[str], Sequence[str]]) -> bool:
    """Tell whether each word of a label that a model wrote stands in at least `SHARE` of the members.

    `members` are the stemmed tokens of each member's text. A label without a word that counts does not hold.
    """
    words = tokenize(label)
    least = max(1.0, SHARE * len(members))
    return bool(words) and all(sum(word in own for own in members) >= least for word in words)
