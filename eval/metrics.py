"""Measures of retrieval and answers: pure functions."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
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


def facts_found(text: str, facts: Sequence[str]) -> float:
    """Return the share of the patterns that occur in the text, without regard to case; 1 for no pattern."""
    return sum(bool(re.search(fact, text, re.IGNORECASE)) for fact in facts) / len(facts) if facts else 1.0


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
