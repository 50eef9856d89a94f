"""Words of a sentence: stems, clauses, names and what a negation reaches."""

from __future__ import annotations

import pytest

from rag.words import has_stem, parse, related, stem


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("generalisation", "generalize"),
        ("behaviour", "behaviors"),
        ("labelled", "labeling"),
        ("analyse", "analyzing"),
        ("improves", "enhanced"),
        ("found", "finds"),
        ("matrices", "matrix"),
        ("centre", "center"),
    ],
)
def test_spellings_and_synonyms_have_one_stem(first: str, second: str) -> None:
    assert stem(first) == stem(second)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("accurate", "accuracy", True),
        ("interact", "interpret", False),
        ("state", "static", False),
        ("error", "errorless", False),
    ],
)
def test_derived_words_are_related(first: str, second: str, same: bool) -> None:
    assert related(stem(first), stem(second)) is same
    assert has_stem(stem(first), {stem(second)}) is same


def test_a_negation_reaches_its_clause_and_no_further() -> None:
    words = {
        word.lower: word
        for word in parse("It does not need any labels, but it learns non-convex losses").words
    }
    assert words["not"].negator and words["need"].negated and words["labels"].negated
    assert not words["learns"].negated
    assert words["convex"].negated and not words["losses"].negated


@pytest.mark.parametrize(
    "text", ["It is not only fast", "It takes no more than two", "It doesn't just learn"]
)
def test_some_negations_deny_nothing(text: str) -> None:
    assert not any(word.negator for word in parse(text).words)


def test_names_are_one_unit() -> None:
    words = {word.text: word for word in parse("Ultra-DPO beats LLM-based agents and DPO").words}
    assert words["Ultra"].unit == "ultradpo"
    assert words["DPO"].unit == "dpo"
    assert words["LLM"].unit == "llm"
    assert words["based"].name == ""


def test_compounds_are_known_with_and_without_their_hyphen() -> None:
    assert stem("finetuning") in parse("fine-tuning").stems
    assert {stem("fine"), stem("tuning")} <= parse("fine-tuning").stems
