"""Plans: languages, follow-ups, what a model may and may not do to a question."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag.plan import MAX_QUESTION, context_of, language_of, make_plan, names_in, needs_context
from rag.types import Piece, Plan, Prompt, Turn, Usage


class Scripted:
    """A writer that answers each prompt with the next text and keeps the prompts."""

    name = "scripted"

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.prompts: list[Prompt] = []

    def write(self, prompt: Prompt) -> Iterator[Piece]:
        self.prompts.append(prompt)
        yield Piece(self.texts.pop(0), Usage(10, 5, 1))


def plan(question: str, *history: Turn, writer: Scripted | None = None, known: str = "") -> Plan:
    found, _ = make_plan(question, history, writer, papers=8, is_known=lambda word: word.lower() in known)
    return found


LORA = (Turn("user", "What is LoRA?"), Turn("assistant", "LoRA adds low-rank matrices."))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("What is LoRA?", "en"),
        ("UpSafe 和 ThinkSafe 有什么不同？", "zh"),
        ("Does 模型 matter in a long English question about alignment methods?", "en"),
        ("これは何ですか", "ja"),
        ("무엇입니까", "ko"),
        ("", "en"),
        ("1 + 1", "en"),
    ],
)
def test_language(text: str, code: str) -> None:
    assert language_of(text) == code


@pytest.mark.parametrize(
    "question", ["And its drawbacks?", "why?", "How does it compare?", "What about memory?", "它有什么缺点？", "Which ones?"]
)
def test_leans_on_the_turns_before(question: str) -> None:
    assert needs_context(question, LORA)
    assert not needs_context(question, ())


@pytest.mark.parametrize("question", ["What does CERTRA guarantee?", "How do graph networks calibrate their confidence?"])
def test_stands_alone(question: str) -> None:
    assert not needs_context(question, LORA)


def test_context_goes_back_to_the_last_full_question() -> None:
    turns = [
        Turn("user", "What does UpSafe do at inference time?"),
        Turn("user", "And its drawbacks?"),
        Turn("user", "How does it compare with ThinkSafe?"),
    ]
    assert context_of(turns) == "How does it compare with ThinkSafe?" or "UpSafe" in context_of(turns)
    assert "UpSafe" in context_of(turns[:2])


def test_a_follow_up_is_searched_with_its_context() -> None:
    found = plan("And its drawbacks?", *LORA)
    assert "LoRA" in found.searches[0].text and "drawbacks" in found.searches[0].text
    assert found.question == "And its drawbacks?"


def test_a_model_rewrites_a_follow_up() -> None:
    writer = Scripted("What are the drawbacks of LoRA?")
    found = plan("And its drawbacks?", *LORA, writer=writer)
    assert found.standalone == "What are the drawbacks of LoRA?"
    assert "And its drawbacks?" in writer.prompts[0].user


def test_a_rewriting_that_invents_a_name_is_not_used() -> None:
    found = plan("And its drawbacks?", *LORA, writer=Scripted("What are the drawbacks of QLoRA4?"))
    assert "QLoRA4" not in found.standalone and "LoRA" in found.standalone


def test_chinese_is_translated_for_the_search() -> None:
    found = plan("UpSafe 是什么？", writer=Scripted("What is UpSafe?"))
    assert (found.standalone, found.language, found.note) == ("What is UpSafe?", "zh", None)


def test_a_translation_that_is_none_is_not_used() -> None:
    assert plan("UpSafe 是什么？", writer=Scripted("什么是 UpSafe？")).standalone == "UpSafe 是什么？"


def test_without_a_model_only_the_names_are_searched_and_the_plan_says_so() -> None:
    found = plan("UpSafe 和 Foo1 有什么不同？", known="upsafe")
    assert found.standalone == "UpSafe"
    assert found.note and "Chinese" in found.note and "UpSafe" in found.note


def test_a_huge_question_is_cut() -> None:
    assert len(plan("word " * 10_000).question) <= MAX_QUESTION


def test_names() -> None:
    assert names_in("What BLEU score does QOP reach on CIFAR-10?") == ["BLEU", "QOP", "CIFAR-10"]
    assert names_in("How do models forget?") == []
    assert names_in("Compare UpSafe℃ and Muon") == ["UpSafe℃", "Muon"]
