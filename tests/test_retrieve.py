"""Fusion of the two sides, scores of sentences, and the choice of evidence."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.retrieve import (
    Candidate,
    Query,
    fuse,
    idf_weights,
    keyword_agreement,
    keyword_share,
    name_certainty,
    score_sentences,
    select_evidence,
)
from rag.types import Evidence, Hit, Paper, Span

VECTOR = np.array([1.0, 0.0], dtype=np.float32)
RARE = Query("rare words", VECTOR, {"rare": 5.0, "word": 3.0})


def test_agreement_is_the_share_of_the_idf_mass() -> None:
    assert keyword_agreement(RARE, [Candidate("a", 0, 0, 4.0), Candidate("b", 0, 0, 2.0)]) == 0.5
    assert keyword_agreement(RARE, []) == 0
    assert keyword_agreement(Query("the", VECTOR, {}), [Candidate("a", 1, 1, 1)]) == 0


def test_a_question_in_other_words_trusts_the_vectors_more() -> None:
    assert keyword_share(0.05) < keyword_share(0.9)
    near, worded = Candidate("near", 0.9, 0.9, 0.1), Candidate("worded", 0.2, 0.2, 0.4)
    assert fuse(RARE, [near, worded])[0][0] is near
    shared = Candidate("worded", 0.5, 0.5, 8.0)
    other = Candidate("other", 0.6, 0.6, 0.0)
    low = Candidate("low", 0.0, 0.0, 0.0)
    assert fuse(RARE, [shared, other, low])[0][0] is shared


def test_a_name_is_certain_where_few_papers_hold_it_and_few_bear_it() -> None:
    assert name_certainty(1, 1) == 1 and name_certainty(2, 2) == 1
    assert name_certainty(1, 2) == 0.5 > name_certainty(1, 124)  # "HIV" stands in many papers
    assert name_certainty(3, 3) == name_certainty(0, 0) == 0
    assert name_certainty(1, 0) == 1  # a label made of another form of the word


def test_a_paper_is_lifted_as_far_as_its_name_is_certain() -> None:
    def first(certainty: float | None) -> str:
        bearer = Candidate("bearer", 0.5, 0.5, 2.0, certainty)
        other = Candidate("other", 0.6, 0.6, 3.0, None if certainty is None else 0.0)
        low = Candidate("low", 0.0, 0.0, 0.0, None if certainty is None else 0.0)
        return fuse(RARE, [bearer, other, low])[0][0].paper_id

    assert first(1.0) == "bearer" and first(0.01) == first(None) == "other"


def test_one_side_alone() -> None:
    pair = [Candidate("dense", 0.9, 0.9, 0.0), Candidate("keyword", 0.1, 0.1, 9.0)]
    assert fuse(RARE, pair, "dense")[0][0].paper_id == "dense"
    assert fuse(RARE, pair, "keyword")[0][0].paper_id == "keyword"


@given(
    st.lists(
        st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 30)), min_size=1, max_size=20
    )
)
def test_fusion_keeps_every_candidate_and_stays_in_range(rows: list[tuple[float, float, float]]) -> None:
    candidates = [Candidate(f"p{n:02}", *row) for n, row in enumerate(rows)]
    ranked = fuse(RARE, candidates)
    assert {candidate.paper_id for candidate, _ in ranked} == {c.paper_id for c in candidates}
    scores = [score for _, score in ranked]
    assert scores == sorted(scores, reverse=True) and all(-1e-9 <= score <= 1 + 1e-9 for score in scores)
    assert fuse(RARE, candidates[::-1]) == ranked  # the order given does not matter


def test_a_sentence_scores_by_meaning_and_by_words() -> None:
    paper = Paper("p", "Rare words here. Nothing else.", "P")
    spans = [Span(0, 16), Span(17, 30)]
    vectors = np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    first, second = score_sentences(RARE, paper, spans, vectors, [{"rare", "word"}, {"else"}], 1.0)
    assert first.text == "Rare words here." and second.text == "Nothing else."
    assert first.score == pytest.approx(0.5 + 0.5 + 0.7) and second.score == pytest.approx(0.7)


def hit(paper_id: str, *scores: float) -> Hit:
    sentences = tuple(
        Evidence("", paper_id, n * 10, n * 10 + 9, f"{paper_id} sentence {n}.", score) for n, score in enumerate(scores)
    )
    return Hit(Paper(paper_id, "x", paper_id), 1.0, sentences)


def test_evidence_keeps_to_its_budget_and_to_the_order_of_the_abstract() -> None:
    hits = [hit("a", 0.1, 0.9, 0.5), hit("b", 0.8), hit("c", 0.99)]
    chosen = select_evidence(hits, 2, 3 * 9, lambda text: 3)
    assert [(item.paper_id, item.start) for item in chosen] == [("a", 10), ("a", 20), ("b", 0)]
    assert len({item.key for item in chosen}) == 3


def test_at_least_one_sentence_is_chosen() -> None:
    assert len(select_evidence([hit("a", 0.1)], 3, 1, lambda text: 500)) == 1
    assert select_evidence([], 3, 100, len) == ()


def test_idf() -> None:
    weights = idf_weights(["a", "b", "a"], 10, {"a": 10, "b": 0}.__getitem__)
    assert weights["a"] == pytest.approx(math.log(1 + 0.5 / 10.5))
    assert weights["b"] == pytest.approx(math.log(1 + 10.5 / 0.5))
