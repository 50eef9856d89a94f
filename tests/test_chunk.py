"""Sentences and chunks: exact offsets, nothing lost, nothing twice, sizes within the budget."""

from __future__ import annotations

from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.chunk import CHUNK_TOKENS, chunk_paper, split_sentences
from rag.load import load_paths
from rag.types import Paper
from tests.texts import abstracts


def sentences(text: str) -> list[str]:
    return [text[span.start : span.end] for span in split_sentences(text)]


def words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "We extend BERT (Devlin et al. 2019), i.e. the encoder. It wins.",
            ["We extend BERT (Devlin et al. 2019), i.e. the encoder.", "It wins."],
        ),
        ("It is real, $p<0.05$. It holds, cf. Fig. 2.", ["It is real, $p<0.05$.", "It holds, cf. Fig. 2."]),
        ("The gain is $p<0.05$. It is 3.5 points. We stop.", ["The gain is $p<0.05$.", "It is 3.5 points.", "We stop."]),
        ("See Fig. 2 for it. Dr. Smith agrees.", ["See Fig. 2 for it.", "Dr. Smith agrees."]),
        ("我们提出一种方法。它很快！是吗？好。", ["我们提出一种方法。", "它很快！", "是吗？", "好。"]),
        ("One sentence without an end", ["One sentence without an end"]),
        ("", []),
        (" \n\t ", []),
        ("First paragraph.\n\nSecond one\nover two lines.", ["First paragraph.", "Second one\nover two lines."]),
        ("UpSafe℃ uses ﬁne 𝔸 gates. İt is fast.", ["UpSafe℃ uses ﬁne 𝔸 gates.", "İt is fast."]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.one_of(abstracts(), st.text()))
def test_sentences_cover_everything_but_white_space_once(text: str) -> None:
    end = 0
    for span in split_sentences(text):
        assert end <= span.start < span.end <= len(text)
        assert not text[end : span.start].strip()
        assert text[span.start : span.end] == text[span.start : span.end].strip()
        end = span.end
    assert not text[end:].strip()


@given(st.one_of(abstracts(), st.text()), st.integers(1, 60))
def test_chunks_are_runs_of_whole_sentences_of_the_abstract(text: str, budget: int) -> None:
    chunks = chunk_paper(Paper("p", text, "label"), words, budget)
    for chunk in chunks:
        assert chunk.paper_id == "p" and chunk.text == text[chunk.start : chunk.end]
        assert (chunk.start, chunk.end) == (chunk.sentences[0].start, chunk.sentences[-1].end)
        assert words(chunk.text) <= budget or len(chunk.sentences) == 1
    assert [span for chunk in chunks for span in chunk.sentences] == list(split_sentences(text))
    assert len({chunk.id for chunk in chunks}) == len(chunks)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=9), st.integers(9, 30))
def test_chunks_are_as_few_as_can_be_and_then_as_even(sizes: list[int], budget: int) -> None:
    text = " ".join("Word" + " word" * (size - 1) + "." for size in sizes)
    found = [words(chunk.text) for chunk in chunk_paper(Paper("p", text, "label"), words, budget)]
    divisions = [
        [sum(sizes[first:last]) for first, last in pairwise((0, *cuts, len(sizes)))]
        for count in range(len(sizes))
        for cuts in combinations(range(1, len(sizes)), count)
    ]
    best = min((len(division), max(division)) for division in divisions if max(division) <= budget)
    assert (len(found), max(found)) == best


def test_a_leftover_sentence_does_not_make_a_chunk_of_its_own() -> None:
    text = "Alpha beta gamma delta. " * 11
    chunks = chunk_paper(Paper("p", text, "label"), words, 40)
    assert [len(chunk.sentences) for chunk in chunks] == [6, 5]


def test_a_sentence_beyond_the_budget_stands_alone() -> None:
    text = "Short one. " + "long " * 50 + "end. Short two. Short three."
    chunks = chunk_paper(Paper("p", text, "label"), words, 10)
    assert [words(chunk.text) for chunk in chunks] == [2, 51, 4]


def test_no_sentence_no_chunk() -> None:
    assert chunk_paper(Paper("p", " \n", "label"), words) == ()


def test_the_seed_abstracts_need_three_chunks_at_most(seeds: Path) -> None:
    papers = load_paths([seeds]).papers
    counts = [len(chunk_paper(paper, lambda text: len(text) // 5, CHUNK_TOKENS)) for paper in papers]
    assert len(counts) == 38 and set(counts) <= {1, 2, 3}
