"""Numbers, units, bounds and formulas as they are read from sentences."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.normal import clean
from rag.numbers import formulas, numbers


def read(text: str) -> list[tuple[str, str, str]]:
    return [(str(number.value.normalize()), number.unit, number.bound) for number in numbers(clean(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$1{,}649$ humans", [("1649", "", "")]),
        ("3--15\\% of it", [("3", "%", ""), ("15", "%", "")]),
        ("by 2-10 points", [("2", "points", ""), ("1E+1", "points", "")]),
        ("8B-14B parameters", [("8E+9", "", ""), ("1.4E+10", "", "")]),
        ("27-32B parameters", [("2.7E+10", "", ""), ("3.2E+10", "", "")]),
        ("10 percent", [("1E+1", "%", "")]),
        ("20 million people", [("2E+7", "", "")]),
        ("three times, twice, 2-fold, $2\\times$", [("3", "x", "")] + [("2", "x", "")] * 3),
        ("twenty-one tasks", [("21", "", "")]),
        ("a loss of -3 dB", [("-3", "db", "")]),
        ("$10^{-3}$ and $3 \\times 10^5$", [("0.001", "", ""), ("3E+5", "", "")]),
        ("$p<0.05$", [("0.05", "", "upper")]),
        (
            "at least five, at most six, about seven",
            [("5", "", "lower"), ("6", "", "upper"), ("7", "", "about")],
        ),
        ("no more than 3", [("3", "", "upper")]),
        ("GPT-4 on CIFAR-100 with Llama-3.1-8B, top-1, 3D, 1st", []),
        ("(1) one thing and (2) another", []),
        ("zero-shot and one of them", []),
    ],
)
def test_values_units_and_bounds(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert read(text) == expected


def test_what_is_counted_stands_after_the_number_or_before_of() -> None:
    counted = [
        number.counted for number in numbers(clean("116 dialogues with 1,270 expert ratings; an F1 of 85"))
    ]
    assert [sorted(stems) for stems in counted] == [["dialogu"], ["expert", "rate"], ["f1"]]


def test_formulas_are_read_whole() -> None:
    found = formulas(clean("from $O(T/n)$ to $O(T/\\sqrt{n})$, not $\\Omega( 1 )$, also (27 papers)"))
    assert [formula for formula, _ in found] == ["O(T/n)", "O(T/√n)", "Ω(1)"]


@given(st.integers(0, 10**9))
def test_thousands_may_be_written_in_three_ways(value: int) -> None:
    ways = (f"{value} items", f"{value:,} items", f"${value:,}$ items".replace(",", "{,}"))
    for way in ways:
        assert [number.value for number in numbers(clean(way))] == [Decimal(value)]
