"""Every measure against cases worked out by hand."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval import metrics


def test_recall_counts_the_relevant_among_the_first() -> None:
    assert metrics.recall_at(2, ["a", "b", "c"], {"a", "c"}) == 0.5
    assert metrics.recall_at(3, ["a", "b", "c"], {"a", "c"}) == 1.0
    assert metrics.recall_at(3, ["a"], set()) == 0.0


def test_ndcg_by_hand() -> None:
    # Gains at places 2 and 3: 1/log2(3) + 1/log2(4); the ideal has places 1 and 2.
    expected = (1 / log2(3) + 1 / log2(4)) / (1 + 1 / log2(3))
    assert metrics.ndcg_at(3, ["x", "a", "b"], {"a", "b"}) == pytest.approx(expected)
    assert metrics.ndcg_at(1, ["a", "b"], {"a", "b"}) == 1.0
    assert metrics.ndcg_at(10, ["x"], {"a"}) == 0.0


def test_reciprocal_rank() -> None:
    assert metrics.reciprocal_rank(["x", "y", "a"], {"a"}) == pytest.approx(1 / 3)
    assert metrics.reciprocal_rank(["x"], {"a"}) == 0.0


def test_one_side_missed_is_a_comparison_missed() -> None:
    sides = [{"a", "b"}, {"c"}]
    assert metrics.all_sides_at(2, ["b", "c"], sides) == 1.0
    assert metrics.all_sides_at(2, ["a", "b", "c"], sides) == 0.0
    assert metrics.all_sides_at(3, ["a"], []) == 0.0


def test_facts_found() -> None:
    assert metrics.facts_found("Three datasets, 12 % less.", ["three", r"\b13\b"]) == 0.5
    assert metrics.facts_found("", []) == 1.0


# Four sentences: one carried by its only citation; one with a right and a wrong citation; one that cites what does not
# carry it; one without citation. Citations: right, right, wrong, wrong. Sentences carried: 2 of 4.
VERDICTS = [[True], [True, False], [False], []]


def test_citation_precision_judges_each_citation_alone() -> None:
    assert metrics.citation_precision(VERDICTS) == 0.5
    assert metrics.citation_precision([[], []]) is None


def test_an_uncited_sentence_counts_against_recall() -> None:
    assert metrics.citation_recall(VERDICTS) == 0.5
    assert metrics.citation_recall([[True], []]) == 0.5
    assert metrics.citation_recall([]) is None


def test_two_papers_together_carry_nothing() -> None:
    """Each half of the claim stands in another paper: judged together it would pass, alone neither does."""
    assert metrics.citation_recall([[False, False]]) == 0.0


def test_a_quote_is_exact_at_its_place_alone() -> None:
    abstract = "İn 12 % of cases."
    quotes = [
        ("12 %", 3, 7, abstract),  # exact
        ("12 %", 4, 8, abstract),  # one off, as after lower-casing
        ("45 %", 3, 7, abstract),  # another number
        ("", 3, 3, abstract),  # no words at all
    ]
    assert metrics.quote_exactness(quotes) == 0.25
    assert metrics.quote_exactness([]) is None


def test_removed_rate() -> None:
    assert metrics.removed_rate(3, 1) == 0.25
    assert metrics.removed_rate(0, 2) == 1.0
    assert metrics.removed_rate(0, 0) is None


def test_refusing_everything_shows_in_wrong_refusals() -> None:
    assert metrics.abstention([True, True, False], [True, True, True]) == (0.0, 1.0)
    assert metrics.abstention([True, True, False, False], [False, True, False, True]) == (0.5, 0.5)
    assert metrics.abstention([True], [False]) == (None, 0.0)


def test_listed() -> None:
    assert metrics.listed_recall(["a", "x"], {"a", "b"}) == 0.5
    assert metrics.listed_precision(["a", "x", "y"], {"a", "x"}) == pytest.approx(2 / 3)
    assert metrics.listed_recall(["a"], set()) is None
    assert metrics.listed_precision([], {"a"}) is None


def test_interval_of_equal_values_is_a_point() -> None:
    assert metrics.interval([0.5] * 7) == (0.5, 0.5)
    assert metrics.interval([]) == (0.0, 0.0)


def test_interval_against_the_normal_one() -> None:
    """200 items, half right: the standard error is 0.5/√200, so the ends lie near 0.5 ± 1.96 · 0.0354."""
    low, high = metrics.interval([0.0, 1.0] * 100)
    assert low == pytest.approx(0.5 - 1.96 * 0.5 / np.sqrt(200), abs=0.01)
    assert high == pytest.approx(0.5 + 1.96 * 0.5 / np.sqrt(200), abs=0.01)


def test_paired_interval_sees_a_shift_that_two_intervals_hide() -> None:
    first = [0.1, 0.5, 0.9, 0.3]
    low, high = metrics.paired_interval(first, [value + 0.1 for value in first])
    assert (low, high) == (pytest.approx(0.1), pytest.approx(0.1))


def test_paired_p_by_hand() -> None:
    # Three pairs, all better by 1: of 8 sign changes only +++ and --- reach a sum of 3.
    assert metrics.paired_p([0, 0, 0], [1, 1, 1]) == 0.25
    # Differences 1, 1, -1 sum to 1; every one of the 8 sums is 1 or 3 in size.
    assert metrics.paired_p([0, 0, 1], [1, 1, 0]) == 1.0
    # A pair without difference changes nothing.
    assert metrics.paired_p([0, 0, 0, 1], [1, 1, 1, 1]) == 0.25
    # Ten better and none worse: 2 of 1,024.
    assert metrics.paired_p([0] * 10, [1] * 10) == 2 / 1024
    assert metrics.paired_p([1, 0], [1, 0]) == 1.0


def test_a_sampled_p_is_near_the_exact_one_and_never_zero() -> None:
    # 16 pairs, 12 better and 4 worse: the sign test's p is 2 · P(X ≥ 12) for Binomial(16, ½) = 0.0768.
    assert metrics.paired_p([0] * 12 + [1] * 4, [1] * 12 + [0] * 4) == pytest.approx(0.0768, abs=0.01)
    assert 0 < metrics.paired_p([0] * 40, [1] * 40) < 0.001


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=8))
def test_paired_p_does_not_depend_on_which_run_is_first(pairs: list[tuple[float, float]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    p = metrics.paired_p(first, second)
    assert 0 < p <= 1
    assert p == metrics.paired_p(second, first)


def test_mean_leaves_out_only_what_does_not_apply() -> None:
    rows: list[dict[str, float | None]] = [{"facts": 1.0}, {"facts": 0.0}, {"facts": None}, {}]
    assert metrics.mean_of(rows, "facts") == 0.5
    assert metrics.mean_of(rows, "right") is None
