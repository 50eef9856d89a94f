"""Tests of the parts of abstracts: which sentence states each, whose work it is about, and what a question asks."""

from __future__ import annotations

import numpy as np
import pytest

from rag.aspect_parts import PARTS
from rag.aspects import (
    ASKED,
    ASKED_LINE,
    MODEL_SENTENCES,
    asked_in_english,
    asked_label,
    asked_part,
    asked_scores,
    asked_words,
    choose,
    part_scores,
    rows,
    share_of_words,
    standing,
)
from rag.pointers import only_points_to_code
from rag.shared_phrases import shared_phrase
from rag.types import Evidence

ABSTRACT = (
    "Steering a model's values matters more and more.",
    "However, existing methods need access to model internals that black-box services do not expose.",
    "We focus on a setting with no weight updates, no training data and no internal access.",
    "We propose CALM, a framework that lets several personas disagree and corrects the answer by their spread.",
    "Across 20 countries and seven open models, CALM reduces misalignment by 24%.",
    "However, the overhead of our method remains substantial.",
)


def chosen(sentences: tuple[str, ...], key: str, name: str = "CALM") -> str | None:
    """Choose by the words alone: every sentence is equally near to the model sentences."""
    vectors = np.full((len(sentences), 4), 0.5, dtype=np.float32)
    models = np.full((len(MODEL_SENTENCES), 4), 0.25, dtype=np.float32)
    place = choose(part_scores(sentences, vectors, models, name), key)
    return None if place is None else sentences[place]


@pytest.mark.parametrize(
    ("key", "place"), [("problem", 1), ("approach", 3), ("data", 4), ("results", 4), ("needs", 2), ("limits", 5)]
)
def test_each_part_is_found(key: str, place: int) -> None:
    assert chosen(ABSTRACT, key) == ABSTRACT[place]


def test_what_no_sentence_states_is_not_stated() -> None:
    plain = ("Many things are known of trees.", "We propose CALM, a method that prunes them.")
    assert [part.key for part in PARTS if chosen(plain, part.key)] == ["problem", "approach"]


def test_the_subject_is_never_missing_but_without_sentences_nothing_is_chosen() -> None:
    assert chosen(("We propose CALM.",), "problem") == "We propose CALM."
    assert chosen((), "problem") is None


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("needs", "Existing methods do not require labels, and access to internals is assumed by many works."),
        ("needs", "The study has a multi-label annotation scheme."),
        ("limits", "Our method avoids the failures of prior models, which fail when data is scarce."),
        ("limits", "CALM breaks the traditional trade-off."),
        ("data", "It also calls for further study of how shared features carry over."),
        ("data", "Fair evaluations are still missing."),
    ],
)
def test_what_only_sounds_like_a_part_is_refused(key: str, sentence: str) -> None:
    assert chosen((*ABSTRACT[:1], ABSTRACT[3], sentence), key) is None


def test_proposing_wins_over_focusing() -> None:
    assert chosen(("We establish a bound.", "We focus on speed.", "We introduce a sampler."), "approach") == (
        "We introduce a sampler."
    )


def test_standing_turns_from_others_to_the_own_work() -> None:
    assert list(standing(ABSTRACT, "CALM")) == [-1, -1, 1, 1, 1, 1]


def test_standing_of_later_sentences_on_others_and_of_both() -> None:
    sentences = ("We propose CALM.", "It is fast.", "Prior methods fail.", "Existing methods fail, and we show why.")
    assert list(standing(sentences)) == [1, 0.5, -1, 0]
    assert list(standing(("We propose CALM.", "Unlike existing methods, our sampler is fast."))) == [1, 1]
    assert list(standing(("It rains.", "Existing methods fail."))) == [0, -1]


@pytest.mark.parametrize(
    ("aspect", "key"),
    [("data", "data"), ("limitations", "limits"), ("the results", "results"), ("which data or benchmarks", "data")],
)
def test_an_aspect_that_names_a_part(aspect: str, key: str) -> None:
    part = asked_part(aspect)
    assert part is not None
    assert part.key == key


@pytest.mark.parametrize("aspect", ["external teacher", "trade-offs", "needs model internals", "training data of images"])
def test_an_aspect_that_says_more_than_the_name_of_a_part(aspect: str) -> None:
    assert asked_part(aspect) is None


def test_chinese_aspects() -> None:
    part = asked_part("数据")
    assert part is not None
    assert part.key == "data"
    assert asked_in_english("需要访问模型内部") == "needs access model internals"
    assert asked_in_english("cost") == "cost"


@pytest.mark.parametrize(
    ("aspect", "sides", "label"),
    [
        ("which approximates softmax at the lower cost", [], "approximates softmax at the lower cost"),
        ("what is the quantisation for?", [], "quantisation"),
        ("Where do A-DPO, cIPO and XY get their supervision from", [("A-DPO",), ("the cIPO", "cIPO"), ("XY",)], "supervision"),
        ("where do they part", [], None),
        ("哪一个需要标注", [], "需要标注"),
    ],
)
def test_what_an_aspect_asks_about(aspect: str, sides: list[tuple[str, ...]], label: str | None) -> None:
    assert asked_label(aspect, sides) == label


def test_words_and_synonyms_of_an_asked_aspect() -> None:
    weights = dict.fromkeys(asked_words("quantisation cost"), 1.0)
    assert share_of_words(weights, "Quantization has a cost.") == pytest.approx(1.0)
    synonym = share_of_words(weights, "The computational overhead is high.")
    assert 0.3 < synonym < 0.75
    assert share_of_words(weights, "It rains.") == 0.0
    assert share_of_words({}, "It rains.") == 0.0


def test_a_sentence_on_others_loses_for_an_asked_aspect() -> None:
    scores = asked_scores(np.array([0.3, 0.3, -0.4]), np.array([0.6, 0.6, 0.0]), np.array([-1.0, 1.0, 0.5]))
    assert scores[0] < ASKED_LINE < scores[1]
    assert scores[2] < ASKED_LINE


def test_rows_have_the_asked_aspect_first_and_drop_what_nobody_states() -> None:
    stated = [[True, True, False, True, False, False], [True, True, False, False, False, False]]
    assert [row.key for row in rows(None, stated)] == ["problem", "approach", "results"]
    assert [row.key for row in rows("external teacher", stated)] == [ASKED, "problem", "approach", "results"]
    limits = rows("limitations", stated)
    assert (limits[0].key, limits[0].asked) == ("limits", True)
    assert [row.key for row in limits].count("limits") == 1
    assert rows("局限", stated, chinese=True)[0].label == "局限"


@pytest.mark.parametrize(
    "sentence",
    [
        "Code: https://example.org/x.",
        "Code, models, and datasets are available at this [Github](https://example.org/x) and [HF](https://example.org/y).",
        "Our codes are available at https://example.org/x.",
        "The code is publicly available.",
        "Project page and codes: \\url{https://example.org/demo/}.",
    ],
)
def test_lines_that_only_say_where_code_is(sentence: str) -> None:
    assert only_points_to_code(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "We release a benchmark of 1,200 annotated street images at https://example.org/x.",
        "Our code model improves the pass rate by 12%.",
        "We see that the models agree.",
        "It was incorporated into the verifier that won the competition, available at https://example.org/verifier.",
    ],
)
def test_lines_that_say_more_are_kept(sentence: str) -> None:
    assert not only_points_to_code(sentence)


def evidence(*sentences: str) -> list[Evidence]:
    return [Evidence(f"E{n}", "p", 0, len(text), text) for n, text in enumerate(sentences)]


def test_a_shared_noun_phrase_tells_something() -> None:
    first = evidence("Models are increasingly deployed.", "We study harmful content in answers.")
    second = evidence("They are increasingly deployed and emit harmful content.")
    found = shared_phrase([first, second], lambda word: 1.0)
    assert found is not None
    assert found[0] == "harmful content"
    assert [item.text for item in found[1]] == [first[1].text, second[0].text]


def test_papers_may_share_nothing_that_tells() -> None:
    assert shared_phrase([evidence("It is increasingly deployed.")] * 2, lambda word: 1.0) is None
    assert shared_phrase([evidence("We propose a large language model.")] * 2, lambda word: 1.0) is None
    assert shared_phrase([evidence("Harmful content is removed.")], lambda word: 1.0) is None
