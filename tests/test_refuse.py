"""The decision to refuse: each signal by itself, and real questions over the seeds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rag.refuse import LINE, REFUSAL, Signals, answerable, measure, refusal
from rag.retrieve import Query
from rag.types import Evidence, Hit, Paper

GOOD = Signals(sentence=0.45, paper=0.4, covered=0.5, names=0, words=0, attributes=0, number=0, size=-3)


def words(text: str) -> list[str]:
    return [word.strip(".?,").lower() for word in text.split()]


def paper_hit(abstract: str, label: str = "QOP", score: float = 0.7) -> Hit:
    paper = Paper(label, abstract, label)
    return Hit(paper, 1.0, (Evidence("", label, 0, len(abstract), abstract, score + 0.7),), score, score)


def signals(question: str, hits: list[Hit], names: list[str], weights: dict[str, float]) -> Signals:
    query = Query(question, np.zeros(2, dtype=np.float32), weights)
    return measure(query, hits, 38, words, names, lambda name: name != "BLEU")


def test_a_good_match_is_answered_and_each_lack_counts_against_it() -> None:
    best = answerable(GOOD)
    assert best >= LINE
    for name, value in {"sentence": 0.1, "paper": 0.1, "covered": 0.0, "names": 2, "attributes": 1, "number": 1}.items():
        worse = replace(GOOD, **{name: value})  # type: ignore[arg-type]  # the names are those of floats
        assert answerable(worse) < best, name


def test_what_the_question_asks_and_the_paper_lacks() -> None:
    hits = [paper_hit("QOP prunes and quantizes language models.")]
    found = signals("What BLEU score does QOP reach?", hits, ["BLEU", "QOP"], {"bleu": 4.0, "qop": 4.0, "score": 2.0})
    assert (found.names, found.attributes, found.absent) == (1, 2, True)
    assert answerable(found) == 0
    assert signals("How many layers?", hits, [], {"layers": 2.0}).number == 1


def test_names_are_found_in_any_spelling() -> None:
    hits = [paper_hit("We propose UpSafe℃ and TG-ITE.", "UpSafe℃")]
    assert signals("upsafe tg-ite", hits, ["UPSAFE", "TGITE"], {"upsafe": 3.0}).names == 0


def test_each_paper_is_looked_at_alone() -> None:
    """What one paper has cannot make up for what another lacks."""
    hits = [paper_hit("QOP prunes.", "QOP"), paper_hit("Another reports BLEU.", "Other")]
    found = signals("BLEU of QOP", hits, ["BLEU", "QOP"], {"bleu": 4.0, "qop": 4.0})
    assert found.names == 1


def test_nothing_found_is_refused() -> None:
    assert answerable(signals("anything", [], [], {"anything": 1.0})) < LINE


@pytest.mark.parametrize(("language", "text"), [("en", REFUSAL["en"]), ("zh", REFUSAL["zh"]), ("fr", REFUSAL["en"])])
def test_the_refusal_is_fixed(language: str, text: str) -> None:
    assert refusal(language) == text
