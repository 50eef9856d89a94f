"""Ranks papers and their sentences: dense and keyword scores fused by a weight that depends on the question."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.cite import assign_keys
from rag.types import Evidence, Hit, Paper, Span

CANDIDATES = 200
"""Papers each side proposes; the fused order beyond them is of no use to anybody."""


@dataclass(frozen=True, slots=True)
class Query:
    """A search: its text, unit vector (d,), and the idf of each of its stemmed content words."""

    text: str
    vector: NDArray[np.float32]
    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A paper either side proposed: cosine of its vector, of its best sentence, and its BM25 score.

    `named` is the mean certainty with which the names in the query are its label, None when they name no paper.
    """

    paper_id: str
    paper: float
    sentence: float
    keyword: float
    named: float | None = None


def keyword_agreement(query: Query, candidates: Sequence[Candidate]) -> float:
    """Return how much of the query's idf mass the best keyword match holds, in [0, 1].

    Near 1 the question shares its paper's words; near 0 it avoids them. A term's share of BM25 (Lucene's
    form) is below its idf, so the ratio of the best score to the sum of idf is a lower bound of coverage.
    """
    mass = sum(query.weights.values())
    best = max((candidate.keyword for candidate in candidates), default=0.0)
    return min(1.0, best / mass) if mass else 0.0


def fuse(
    query: Query, candidates: Sequence[Candidate], ranking: str = "fused"
) -> list[tuple[Candidate, float]]:
    """Return the candidates with their fused scores in [0, 1], best first.

    The score is a convex sum of the min-max normalised cosine of the paper, that of its best sentence
    and the BM25 score (Bruch et al. 2023). The weight of the keywords grows with `keyword_agreement`.
    Constants: chosen on the training questions named in `eval/RESULTS.md`. Ties go by id, so the order is
    the same on every machine. `ranking` "dense" or "keyword" leaves the other side out, to compare.
    """
    if not candidates:
        return []
    keyword_weight = (
        keyword_share(keyword_agreement(query, candidates)) if ranking == "fused" else float(ranking == "keyword")
    )
    dense_weight = 1 - keyword_weight
    columns = np.array([(c.paper, c.sentence, c.keyword) for c in candidates], dtype=np.float64)
    low, high = columns.min(axis=0), columns.max(axis=0)
    scaled = (columns - low) / np.maximum(high - low, 1e-9)
    weights = np.array([dense_weight * PAPER_SHARE, dense_weight * (1 - PAPER_SHARE), keyword_weight])
    scores = scaled @ weights
    if ranking == "fused" and candidates[0].named is not None:
        named = np.array([candidate.named or 0.0 for candidate in candidates])
        scores = (scores + NAME_BONUS * named) / (1 + NAME_BONUS)
    order = sorted(range(len(candidates)), key=lambda i: (-scores[i], candidates[i].paper_id))
    return [(candidates[i], float(scores[i])) for i in order]


NAME_BONUS = 0.4
"""Lift of a paper whose name surely stands in the query, as a share of the whole scale: enough to put it before
papers that share the question's other words. Chosen with `name_certainty` on SciFact train (nDCG@10 .747; .745
without a lift, .723 with one of .5 for every name) and on the questions over the seeds."""

BEARERS = 2
"""A name that more papers bear tells no paper from another."""


def name_certainty(bearers: int, frequency: int) -> float:
    """Return how surely a word names the papers that bear it as their label, in [0, 1].

    It is the share of its `bearers` among the papers that hold the rarest of its tokens (`frequency`): the name
    of a method stands in few other papers, that of a gene, a disease or a data set in dozens, and then the
    paper that bears it is just one about it.
    """
    return min(1.0, bearers / max(1, frequency)) if 0 < bearers <= BEARERS else 0.0


PAPER_SHARE = 0.5
"""Share of the paper's cosine in the dense part; the best sentence's has the rest."""


def keyword_share(agreement: float) -> float:
    """Return the weight of the keyword score for a `keyword_agreement`: a ramp between two plateaus."""
    low, high, start, end = 0.15, 0.4, 0.2, 0.35
    return low + (high - low) * min(1.0, max(0.0, (agreement - start) / (end - start)))


def score_sentences(
    query: Query,
    paper: Paper,
    spans: Sequence[Span],
    vectors: NDArray[np.float32],
    words: Sequence[Collection[str]],
    paper_score: float,
) -> list[Evidence]:
    """Return the sentences of a paper with scores, in the order of the abstract.

    A sentence's score is half its cosine with the query and half the share of the query's idf mass that
    its `words` (stemmed, one collection for each sentence) cover, plus 0.7 of the paper's fused score, which
    keeps sentences of a weak paper behind.
    """
    mass = sum(query.weights.values()) or 1.0
    cosines = vectors @ query.vector
    found = []
    for span, cosine, own in zip(spans, cosines, words, strict=True):
        text = paper.abstract[span.start : span.end]
        covered = sum(weight for word, weight in query.weights.items() if word in own) / mass
        score = 0.5 * max(0.0, float(cosine)) + 0.5 * covered + 0.7 * paper_score
        found.append(Evidence("", paper.id, span.start, span.end, text, score))
    return found


def select_evidence(
    hits: Sequence[Hit], cited_papers: int, budget: int, count_tokens: Callable[[str], int]
) -> tuple[Evidence, ...]:
    """Choose the sentences a writer sees: the best ones of the first `cited_papers` papers within `budget`
    tokens, in the order of papers and abstracts, with their keys. At least one is chosen."""
    pool = sorted(
        (item for hit in hits[:cited_papers] for item in hit.sentences), key=lambda item: -item.score
    )
    chosen: list[Evidence] = []
    spent = 0
    for item in pool:
        size = count_tokens(item.text) + 6  # the key and the line break
        if chosen and spent + size > budget:
            continue
        chosen.append(item)
        spent += size
    place = {hit.paper.id: rank for rank, hit in enumerate(hits)}
    return assign_keys(sorted(chosen, key=lambda item: (place[item.paper_id], item.start)))


def idf_weights(tokens: Sequence[str], papers: int, frequency: Callable[[str], int]) -> dict[str, float]:
    """Return the idf of each distinct token, `ln(1 + (N - n + ½)/(n + ½))` (Robertson and Spärck Jones)."""
    counts = {token: frequency(token) for token in tokens}
    return {token: math.log(1 + (papers - n + 0.5) / (n + 0.5)) for token, n in counts.items()}
