"""Groups papers by content: which are in one theme, which in none, two levels for large corpora. No randomness.

Everything is a function of the set of papers: they are taken in the order of their ids, which are hashes of their
contents, and nothing is drawn, so another order gives the same groups. The groups of a larger corpus are kept:
papers that are added go to the nearest group, and when so many have come that groups are formed anew, that starts
from the old middles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from rag.types import Vectors

EXACT = 3_000
"""Papers from which the hierarchy of Ward is built; of more it takes every n-th by id, and the rest follows by
Lloyd's steps from the middles it found."""

LEAST = 2
"""Papers of a theme; fewer are in none."""

LARGE = 300
"""Papers from which there are two levels."""

FAR = 3.5
"""Robust standard deviations (1.4826 × median absolute deviation) below the median of all cosines with the own
middle, from which a paper is in no theme."""

RENEWED = 0.25
"""Share of papers new or gone since the groups were formed, from which they are formed anew."""

_ROUNDS = 50
_BLOCK = 20_000


@dataclass(frozen=True, slots=True)
class Grouping:
    """Groups of n papers: `groups` (n,) has the group of each, -1 for none; `centres` (k, d) are unit vectors in
    the space shifted by `origin` (d,); `parents` (k,) is the upper theme of each group; `floor` is the least cosine
    with the own centre."""

    groups: NDArray[np.int64]
    centres: Vectors
    parents: NDArray[np.int64]
    origin: NDArray[np.float32]
    floor: float

    @property
    def upper(self) -> NDArray[np.int64]:
        """The upper theme of each paper, -1 for none."""
        return np.where(self.groups >= 0, self.parents[self.groups], -1)


def theme_count(papers: int) -> int:
    """Return how many groups are formed: the square root of half the papers (Mardia et al. 1979), at most 150."""
    return max(1, min(150, round(math.sqrt(papers / 2))))


def upper_count(groups: int) -> int:
    """Return how many upper themes hold `groups` groups: what one page can list."""
    return max(1, min(groups, round(1.6 * math.sqrt(groups))))


def group_papers(vectors: Vectors, count: int | None = None, start: Vectors | None = None) -> Grouping:
    """Group papers, their unit vectors in the order of the papers' ids; `start` are centres to begin from.

    Vectors are shifted by their mean, which takes away what all papers of a field have in common (Mu and
    Viswanath 2018). Ward's hierarchy (Ward 1963) over at most `EXACT` of them gives the first centres, Lloyd's
    steps the final ones. Groups below `LEAST` papers are dissolved into none.
    """
    papers = len(vectors)
    origin = np.asarray(vectors.mean(axis=0), dtype=np.float32) if papers else np.zeros(vectors.shape[1], np.float32)
    shifted = shift(vectors, origin)
    count = min(papers, count or theme_count(papers))
    if papers < 2 * LEAST or count < 2:
        centre = _unit(shifted.sum(axis=0, keepdims=True)) if papers else np.zeros((0, vectors.shape[1]), np.float32)
        return Grouping(np.zeros(papers, np.int64), centre, np.zeros(min(1, papers), np.int64), origin, -1.0)
    if start is None:
        start = _ward_centres(shifted[:: max(1, -(-papers // EXACT))], count)
    # One thread for small corpora: several would wait for each other where the cores are busy.
    with threadpool_limits(1 if papers < EXACT else None), catch_warnings():
        simplefilter("ignore", ConvergenceWarning)  # fewer distinct vectors than groups: those left empty are dissolved
        found = KMeans(len(start), init=start, n_init=1, max_iter=_ROUNDS, algorithm="lloyd").fit(shifted)
    groups, centres = _without_small(np.asarray(found.labels_, np.int64), _unit(found.cluster_centers_))
    near = np.asarray((shifted * centres[groups]).sum(axis=1) if len(centres) else np.zeros(papers), np.float32)
    floor = floor_of(near)
    groups = np.where(near >= floor, groups, -1)
    groups, centres = _without_small(groups, centres)
    parents = np.arange(len(centres))
    if papers >= LARGE:
        parents = _upper(centres, np.bincount(groups[groups >= 0], minlength=len(centres)))
    return Grouping(groups, centres, parents, origin, floor)


def assign_papers(vectors: Vectors, old: Grouping) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the group of each vector among those of `old`, -1 where it is far from all, and its cosine."""
    groups = np.full(len(vectors), -1, np.int64)
    near = np.zeros(len(vectors), np.float32)
    for first in range(0, len(vectors) if len(old.centres) else 0, _BLOCK):
        cosines = shift(vectors[first : first + _BLOCK], old.origin) @ old.centres.T
        best = cosines.argmax(axis=1)
        near[first : first + _BLOCK] = cosines[np.arange(len(best)), best]
        groups[first : first + _BLOCK] = np.where(near[first : first + _BLOCK] >= old.floor, best, -1)
    return groups, near


def shift(vectors: Vectors, origin: NDArray[np.float32]) -> Vectors:
    """Return unit vectors of what is left of `vectors` when `origin` is taken away."""
    return _unit(vectors - origin)


def floor_of(near: NDArray[np.float32]) -> float:
    """Return the cosine with the own centre below which a paper is far from all others (see `FAR`)."""
    if not len(near):
        return -1.0
    middle = float(np.median(near))
    spread = 1.4826 * float(np.median(np.abs(near - middle)))
    return middle - FAR * spread if spread > 0 else middle - 1e-6


def _ward_centres(sample: Vectors, count: int) -> Vectors:
    labels = AgglomerativeClustering(min(count, len(sample)), linkage="ward").fit_predict(sample)
    return np.stack([sample[labels == label].mean(axis=0) for label in range(labels.max() + 1)])


def _without_small(groups: NDArray[np.int64], centres: Vectors) -> tuple[NDArray[np.int64], Vectors]:
    """Return groups and centres without those of too few papers, which become -1; the largest come first."""
    sizes = np.bincount(groups[groups >= 0], minlength=len(centres))
    kept = [place for place in np.argsort(-sizes, kind="stable") if sizes[place] >= LEAST]
    new = np.full(len(centres) + 1, -1, np.int64)
    new[kept] = np.arange(len(kept))
    return new[groups], centres[kept]


def _upper(centres: Vectors, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the upper theme of each group, numbered from the one with most papers."""
    wanted = upper_count(len(centres))
    if wanted < 2:
        return np.zeros(len(centres), np.int64)
    labels = AgglomerativeClustering(wanted, linkage="ward").fit_predict(centres)
    papers = np.bincount(labels, weights=sizes, minlength=wanted)
    rank = np.empty(wanted, np.int64)
    rank[np.argsort(-papers, kind="stable")] = np.arange(wanted)
    return np.asarray(rank[labels], np.int64)


def _unit(vectors: NDArray[np.float32]) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)
