"""Answers are split into sentences with what they cite, and brackets of formulas cite nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.sentences import Sentence, sentences

CASES = [
    ("A is better [1]. B is not.", [("A is better.", (1,)), ("B is not.", ())]),
    ("A is so. [2] B is [1][3].", [("A is so.", (2,)), ("B is.", (1, 3))]),
    ("It gains accuracy[1].", [("It gains accuracy.", (1,))]),
    ("Loss in [0, 1], index x[1] and $a[2]$ [3].", [("Loss in [0, 1], index x[1] and $a[2]$.", (3,))]),
    ("It holds that f([1]) = [2].", [("It holds that f([1]) =.", (2,))]),
    ("Only three are there [7].", [("Only three are there.", ())]),
    ("The same twice [1][1].", [("The same twice.", (1,))]),
    ("See e.g. Adam vs. SGD [1].", [("See e.g. Adam vs. SGD.", (1,))]),
    ("甲方法更好 [1]。乙方法较差 [2]。", [("甲方法更好。", (1,)), ("乙方法较差。", (2,))]),
    ("第一[1]。", [("第一。", (1,))]),
    ("One line [1]\nanother line", [("One line", (1,)), ("another line", ())]),
    ("", []),
    ("[1]", []),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[text[:30] for text, _ in CASES])
def test_sentences(text: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    assert sentences(text, 3) == [Sentence(*one) for one in expected]


@given(st.lists(st.tuples(st.from_regex(r"[A-Z][a-z]{3,9} [a-z]{3,9} [a-z]{4,9}", fullmatch=True),
                          st.lists(st.integers(1, 5), max_size=2, unique=True)), min_size=1, max_size=4))  # fmt: skip
def test_what_was_marked_is_found_again(claims: list[tuple[str, list[int]]]) -> None:
    text = " ".join(f"{said} {''.join(f'[{n}]' for n in cited)}.".replace(" .", ".") for said, cited in claims)
    assert [one.cited for one in sentences(text, 5)] == [tuple(cited) for _, cited in claims]


@given(st.text(max_size=60), st.integers(0, 9))
def test_any_text_can_be_split(text: str, highest: int) -> None:
    assert all(1 <= number <= highest for one in sentences(text, highest) for number in one.cited)
