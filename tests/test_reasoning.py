"""Reasoning never reaches the answer, and nothing else is taken for it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.reasoning import AnswerFilter


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<think>a\nb</think>\n\nAnswer. [k1]", "Answer. [k1]"),
        ("\n <thinking>a</thinking> Answer", "Answer"),
        ("<THINK>a</THINK>Answer", "Answer"),
        ("<think>a</think><think>b</think>Answer", "Answer"),
        ("First.\n<think>more</think>\nSecond.", "First.\n\nSecond."),
        ("<think>never closed", ""),
        ("First.\n<think>never closed", "First.\n"),
        ("A <think> token opens it and </think> ends it.", "A <think> token opens it and </think> ends it."),
        ("<thin ice>", "<thin ice>"),
        ("a < b\n< c", "a < b\n< c"),
        ("x\n<th", "x\n<th"),
        ("", ""),
    ],
)
def test_reasoning_is_taken_out(text: str, shown: str) -> None:
    whole = AnswerFilter()
    assert whole.feed(text) + whole.end() == shown
    single = AnswerFilter()
    assert "".join(map(single.feed, text)) + single.end() == shown


_FRAGMENTS = st.sampled_from(["<think>", "</think>", "<thinking>", "<th", "ink>", "\n", " ", "a", "<", "word"])


@given(st.lists(_FRAGMENTS, max_size=12), st.data())
def test_how_the_stream_is_split_never_matters(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    whole = AnswerFilter()
    expected = whole.feed(text) + whole.end()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    split = AnswerFilter()
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert "".join(map(split.feed, pieces)) + split.end() == expected
    assert split.orphaned == whole.orphaned


@given(st.text())
def test_text_without_tags_is_kept(text: str) -> None:
    kept = AnswerFilter()
    shown = kept.feed(text) + kept.end()
    if not re.search("</?think", text, re.IGNORECASE):
        assert shown == text.lstrip()
