"""Measures of retrieval and answers, and what may be said of their means: pure functions.

The citations of an answer are measured sentence by sentence (`eval.sentences`); whether a cited paper carries a
sentence is somebody else's verdict, handed in. A measure that does not apply to an item is None; that an item failed
is never a reason to leave it out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import product
from math import log2

import numpy as np


def recall_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Return the share of the relevant ids among the first `k`; 0 when nothing is relevant."""
    return len(set(ranked[:k]) & set(relevant)) / len(relevant) if relevant else 0.0


def ndcg_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Return nDCG@k with binary relevance (Järvelin and Kekäläinen 2002); 0 when nothing is relevant."""
    gain = sum(1 / log2(place + 2) for place, item in enumerate(ranked[:k]) if item in relevant)
    ideal = sum(1 / log2(place + 2) for place in range(min(k, len(relevant))))
    return gain / ideal if ideal else 0.0


def reciprocal_rank(ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Return one over the place of the first relevant id, 0 when there is none."""
    return next((1 / place for place, item in enumerate(ranked, 1) if item in relevant), 0.0)


def all_sides_at(k: int, ranked: Sequence[str], sides: Sequence[Collection[str]]) -> float:
    """Return 1 when each side has a paper of its own among the first `k`, else 0: one side missed is a comparison
    missed. 0 without sides."""
    return float(bool(sides) and all(set(ranked[:k]) & set(side) for side in sides))


def facts_found(text: str, facts: Sequence[str]) -> float:
    """Return the share of the patterns that occur in the text, without regard to case; 1 for no pattern."""
    return sum(bool(re.search(fact, text, re.IGNORECASE)) for fact in facts) / len(facts) if facts else 1.0


def citation_precision(verdicts: Sequence[Sequence[bool]]) -> float | None:
    """Return the share of citations that carry their sentence by themselves; None when nothing is cited.

    `verdicts` has one row a sentence, with the verdict on each of its citations, each judged alone: two papers that
    only together say what a sentence says do not carry it. (Gao et al. 2023 also count a citation that others need.)
    """
    flat = [verdict for row in verdicts for verdict in row]
    return sum(flat) / len(flat) if flat else None


def citation_recall(verdicts: Sequence[Sequence[bool]]) -> float | None:
    """Return the share of sentences that one of their citations carries; a sentence without citation is one that
    none carries. None when there is no sentence."""
    return sum(any(row) for row in verdicts) / len(verdicts) if verdicts else None


def quote_exactness(quotes: Sequence[tuple[str, int, int, str]]) -> float | None:
    """Return the share of quotes (text, start, end, abstract) that stand at just their place in the abstract."""
    exact = [bool(text) and abstract[start:end] == text for text, start, end, abstract in quotes]
    return sum(exact) / len(exact) if exact else None


def removed_rate(shown: int, removed: int) -> float | None:
    """Return the share of a writer's sentences that did not pass; None when it wrote none."""
    return removed / (shown + removed) if shown + removed else None


def abstention(answerable: Sequence[bool], refused: Sequence[bool]) -> tuple[float | None, float | None]:
    """Return the share of wrong answers among what cannot be answered and that of wrong refusals among what can.

    Each is None without such a question. Both belong together: to refuse everything gives (0, 1).
    """
    pairs = list(zip(answerable, refused, strict=True))
    wrong_answers = [not no for can, no in pairs if not can]
    wrong_refusals = [no for can, no in pairs if can]
    return _share(wrong_answers), _share(wrong_refusals)


def listed_recall(listed: Collection[str], gold: Collection[str]) -> float | None:
    """Return the share of the papers that must be listed; None when none must."""
    return len(set(listed) & set(gold)) / len(set(gold)) if gold else None


def listed_precision(listed: Collection[str], allowed: Collection[str]) -> float | None:
    """Return the share of the listed papers that may be; None when none is listed."""
    return len(set(listed) & set(allowed)) / len(set(listed)) if listed else None


def _share(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None


def interval(values: Sequence[float], rounds: int = 2_000, seed: int = 0) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean (percentile method, Efron 1979); (0, 0) for no value."""
    if not values:
        return 0.0, 0.0
    array = np.asarray(values, dtype=float)
    draws = np.random.default_rng(seed).integers(0, len(array), (rounds, len(array)))
    low, high = np.quantile(array[draws].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def paired_interval(
    first: Sequence[float], second: Sequence[float], rounds: int = 2_000, seed: int = 0
) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean difference `second - first`, item by item."""
    return interval([b - a for a, b in zip(first, second, strict=True)], rounds, seed)


EXACT_PAIRS = 12
"""Up to so many differing pairs all 2^n sign changes are tried, beyond it a sample."""


def paired_p(first: Sequence[float], second: Sequence[float], rounds: int = 10_000, seed: int = 0) -> float:
    """Return the two-sided p-value of the paired permutation test (Fisher 1935) that two runs do as well.

    Under that hypothesis each difference might as well have the other sign. The statistic is the absolute sum of
    differences; the p-value is the share of sign changes that reach it, pairs without a difference left out. A sample
    of sign changes counts the observed one as well (Phipson and Smyth 2010), so the value is never 0. 1 when no pair
    differs.
    """
    differences = np.array([b - a for a, b in zip(first, second, strict=True)])
    differences = differences[differences != 0]
    if not len(differences):
        return 1.0
    exact = len(differences) <= EXACT_PAIRS
    if exact:
        signs = np.array(list(product((-1.0, 1.0), repeat=len(differences))))
    else:
        signs = np.random.default_rng(seed).choice([-1.0, 1.0], (rounds, len(differences)))
    reached = int(np.sum(np.abs(signs @ differences) >= abs(differences.sum()) - 1e-9))
    return reached / len(signs) if exact else (reached + 1) / (rounds + 1)


def mean_of(rows: Sequence[Mapping[str, float | None]], name: str) -> float | None:
    """Return the mean of a measure over the items to which it applies, None when it applies to none."""
    values = [value for row in rows if (value := row.get(name)) is not None]
    return float(np.mean(values)) if values else None
