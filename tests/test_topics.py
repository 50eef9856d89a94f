"""The decision whether a paper is about a topic: words side by side, acronyms, combinations, authors' keywords."""

from __future__ import annotations

import numpy as np
import pytest

from rag.chunk import split_sentences
from rag.keywords import tokenize
from rag.topics import (
    BORDER,
    BY_KEYWORD,
    LINE,
    Document,
    Topic,
    coverage_of,
    holds,
    probabilities,
    reach,
    read_documents,
    read_topic,
    telling_sentence,
)
from rag.types import Paper


def document(abstract: str, title: str = "A paper", keywords: tuple[str, ...] = ()) -> Document:
    paper = Paper("p", abstract, title, title, keywords=keywords)
    return read_documents([paper], [split_sentences(abstract)], tokenize)[0]


def topic(text: str, *abstracts: str) -> Topic:
    return read_topic(text, tokenize, lambda word: 3.0, abstracts)


def cosines(paper: float = 0.2, sentence: float = 0.25) -> np.ndarray:
    return np.array([[paper, sentence]], dtype=np.float32)


ABOUT = document("We study optimal transport between measures. Optimal transport is costly.", "Fast optimal transport")
APART = document("We transport goods in an optimal way. The weather is fine today.")


def test_a_paper_about_the_topic_counts_and_another_does_not() -> None:
    wanted = topic("optimal transport")
    assert probabilities(wanted, [ABOUT], cosines(0.5, 0.6))[0] > LINE
    assert probabilities(wanted, [APART], cosines())[0] < BORDER


def test_an_authors_keyword_decides() -> None:
    tagged = document("We move mass cheaply.", keywords=("Optimal Transport",))
    assert probabilities(topic("optimal transport"), [tagged], cosines())[0] == BY_KEYWORD


def test_what_the_index_says_bounds_the_decision() -> None:
    wanted = topic("optimal transport")
    for paper in (ABOUT, APART, document("Transport.", "Optimal")):
        words = {word for row in paper.sentences for word in row} | set(paper.name)
        share = np.array([coverage_of(wanted, words)])
        for cosine in (0.0, 0.3, 0.9):
            near = cosines(cosine, cosine)
            assert reach(wanted, share, near)[0] >= probabilities(wanted, [paper], near)[0] - 1e-9


def test_a_term_is_its_words_side_by_side() -> None:
    wanted = topic("optimal transport")
    assert not wanted.loose
    assert holds(wanted, ABOUT.sentences[0], "")
    assert not any(holds(wanted, row, "") for row in APART.sentences)


def test_a_combination_is_its_parts_in_one_sentence() -> None:
    wanted = topic("LLM safety")
    assert wanted.loose
    assert holds(wanted, document("Safe large language models are hard to build.").sentences[0], "")
    assert holds(wanted, document("The safety of language models is studied.").sentences[0], "")
    assert not holds(wanted, document("The safety of bridges is studied.").sentences[0], "")


@pytest.mark.parametrize("asked", ["graph neural networks", "GNN", "GNNs", "Graph Neural Network"])
def test_an_acronym_and_what_it_stands_for_are_one(asked: str) -> None:
    wanted = topic(asked)
    for text in ("We train a GNN on molecules.", "Graph neural networks are trained on molecules."):
        assert holds(wanted, document(text).sentences[0], text)


def test_a_short_form_that_the_papers_introduce_counts() -> None:
    wanted = topic("federated unlearning of clients", "Federated unlearning of clients (FUC).", "Federated unlearning of clients (FUC) is new.")
    assert wanted.acronym == "FUC"
    assert holds(wanted, (), "We improve FUC by half.") and not holds(wanted, (), "We improve FUCs2 by half.")


def test_spelling_makes_no_difference() -> None:
    assert holds(topic("optimisation"), document("We study optimization.").sentences[0], "")


def test_the_telling_sentence_names_the_topic() -> None:
    paper = document("Existing work is slow. We propose a solver for optimal transport on graphs. Code is at https://x.org.")
    assert telling_sentence(topic("optimal transport"), paper, np.zeros(3, np.float32)) == 1


def test_a_small_list_is_read_more_generously() -> None:
    assert read_topic("x", tokenize, lambda word: 1.0, papers=38).shift > read_topic("x", tokenize, lambda word: 1.0).shift


@pytest.mark.parametrize("text", ["", "的", "?!", "a of the", "\ud800"])
def test_any_topic_is_read(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    assert 0 <= probabilities(topic(text), [ABOUT], cosines())[0] <= 1


def test_keywords_that_are_silent_of_the_topic_speak_against_it() -> None:
    text = "We move mass by optimal transport."
    wanted, near = topic("optimal transport"), cosines(0.3, 0.3)
    without, silent = document(text), document(text, keywords=("Robotics",))
    assert probabilities(wanted, [silent], near)[0] < probabilities(wanted, [without], near)[0]


def test_an_acronym_among_the_keywords_names_the_topic() -> None:
    tagged = document("We study nets on molecules.", keywords=("GNN",))
    assert probabilities(topic("graph neural networks"), [tagged], cosines())[0] == BY_KEYWORD
