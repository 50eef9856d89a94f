"""Which papers a question compares, read over the seed lists: by rules, by earlier turns, by a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rag import Assistant, Config, Filters, Turn
from rag.readings import Reading
from rag.side_reading import SideReader
from rag.types import Piece, Prompt, SideStatus, Usage
from tests.test_comparison_question import NO_COMPARISON, PHRASINGS

ONE, TWO = "000_b60cf5948f5e6197.txt", "004_3bdd56fea200ce42.txt"
PLACES = {
    **{"QOP": f"{ONE}#4", "LPF": f"{ONE}#9", "UpSafe": f"{ONE}#2", "UCCA": f"{ONE}#3", "DISCA": f"{ONE}#16"},
    **{"SAR": f"{TWO}#15", "TPA": f"{TWO}#18", "TPC": f"{TWO}#17", "ThinkSafe": f"{TWO}#2", "cIPO": f"{TWO}#19"},
    **{"Muon in LoRA": f"{ONE}#6", "Muon rivers": f"{ONE}#18", "FocusFlow": f"{ONE}#17", "Lanczos": f"{TWO}#5"},
}


@pytest.fixture(scope="module")
def assistant(seed_index: Path, home: Path) -> Iterator[Assistant]:
    with Assistant.open(Config(store=str(seed_index), home=home, writer="extractive")) as opened:
        yield opened


@pytest.fixture(scope="module")
def reader(assistant: Assistant) -> SideReader:
    return assistant.pipeline()._comparing.sides


@pytest.fixture(scope="module")
def names(assistant: Assistant) -> dict[str, str]:
    """What the papers are called here, by their ids."""
    places = {str(source): paper.id for paper in assistant.papers() for source in paper.sources}
    return {places[place]: name for name, place in PLACES.items()}


def compared(reading: Reading | None, names: dict[str, str]) -> list[str]:
    """The sides of a reading, absent ones as they were asked for; empty where there is no comparison."""
    return [
        names.get(looked.side.paper_ids[0], "?") if looked.side.status is SideStatus.FOUND else f"no {looked.side.asked}"
        for looked in (reading.sides if reading else ())
    ]


def asked(*questions: str) -> list[Turn]:
    return [turn for question in questions for turn in (Turn("user", question), Turn("assistant", "Yes [1]."))]


@pytest.mark.parametrize(("question", "sides"), PHRASINGS)
def test_every_phrasing_is_read_as_its_papers(
    reader: SideReader, names: dict[str, str], question: str, sides: tuple[str, ...]
) -> None:
    assert compared(reader.read(question, [])[0], names) == [side.upper() for side in sides]


LOOK_ALIKES = (
    "Which papers compare LLMs with humans?", "What does UCCA compare against?", "How does DISCA differ from earlier work?",
    "Does UpSafe outperform existing guardrails?", "By how much does QOP outperform the baselines?",
    "What is the difference between OPD and OPSD?", "How do grokking and double descent differ?",
    "Is there a comparison of samplers in the Lanczos paper?", "How many comparisons do dueling bandits need?",
    "What happens when the personas of DISCA disagree?", "Which layers of UpSafe are safety-critical?",
    "What makes kernelized attention worse than softmax attention?", "Is the Lanczos sampler faster than usual?",
    "What is the contrastive objective of TPC good for?", "Why is the alignment tax larger in some layers than in others?",
    "What do the two stages of UpSafe do?", "How do the two objectives of SFT and RL conflict?",
    "Does LPF use fewer parameters than full finetuning?", "Which of the two stages of UpSafe comes first?",
    "What is QOP and how does it work?", "What do ThinkSafe and its baselines have in common?",
    "What is vision and language alignment?",
    "Does UpSafe work on more than one benchmark?", "Are results on Atari better than before?",
    "Why do pruning and quantization interact?", "How are safety and helpfulness traded off by UpSafe?",
    "Which trade-offs between safety and utility are there?", "Is UpSafe good or bad?", "Is QOP a pruning or a quantization method?",
    "Does FocusFlow need training or fine-tuning?", "What is the relation between curvature and alignment collapse?",
    "Do large and small models behave the same?", "Which data did ThinkSafe and nobody else use?", "QOP: how does it work?",
    "What is proved about gradient descent and stochastic gradient descent?", "Differences", "UpSafe differences",
    "Which one?", "Is it?", "Should I use QOP?", "Give me a table of results", "List all papers on safety or alignment",
)  # fmt: skip


@pytest.mark.parametrize("question", [*LOOK_ALIKES, *NO_COMPARISON])
def test_a_look_alike_is_no_comparison(reader: SideReader, question: str) -> None:
    assert reader.read(question, [])[0] is None


@pytest.mark.parametrize(
    ("before", "question", "sides"),
    [
        (["What is QOP?"], "How does it differ from SAR?", ["QOP", "SAR"]),
        (["What is QOP?"], "Compare that with SAR", ["QOP", "SAR"]),
        (["What is QOP?"], "Is GPTQ any different from it?", ["no GPTQ", "QOP"]),
        (["What is QOP?", "And what is SAR?"], "Compare the two.", ["QOP", "SAR"]),
        (["What is QOP?", "What is SAR?"], "How do they differ?", ["QOP", "SAR"]),
        (["What is QOP?", "What is SAR?", "What is LPF?"], "Compare the last two", ["SAR", "LPF"]),
        (["What is QOP?", "What is SAR?", "What is LPF?"], "Put all three next to each other", ["QOP", "SAR", "LPF"]),
        (["Compare QOP and SAR"], "How does the former differ from LPF?", ["QOP", "LPF"]),
        (["Compare QOP and SAR"], "How does the latter differ from LPF?", ["SAR", "LPF"]),
        (["Compare QOP, SAR and TPA"], "How does the first one differ from LPF?", ["QOP", "LPF"]),
        (["Compare QOP, SAR and TPA"], "Which of them is cheapest?", ["QOP", "SAR", "TPA"]),
        (["Compare QOP, SAR and TPA"], "And which needs gradients?", ["QOP", "SAR", "TPA"]),
        (["Compare QOP and SAR"], "Which of the two is faster?", ["QOP", "SAR"]),
        (["Compare QOP and SAR", "And which is faster?"], "And which needs labels?", ["QOP", "SAR"]),
        (["Compare QOP and SAR", "Which of them is faster?", "What about data?"], "And on which models?", ["QOP", "SAR"]),
        (["Compare QOP and SAR", "What is LPF?"], "Compare it with TPA", ["LPF", "TPA"]),
        (["Compare QOP and SAR"], "What is LPF?", []),
        (["Compare QOP and SAR"], "How does it compare with existing guardrails?", []),
    ],
)
def test_follow_ups_mean_the_papers_before(
    reader: SideReader, names: dict[str, str], before: Sequence[str], question: str, sides: list[str]
) -> None:
    assert compared(reader.read(question, asked(*before))[0], names) == sides


def test_histories_do_not_mix(reader: SideReader, names: dict[str, str]) -> None:
    first, second = asked("Compare QOP and SAR"), asked("Compare LPF and TPA")
    for history, sides in ((first, ["QOP", "SAR"]), (second, ["LPF", "TPA"]), (first, ["QOP", "SAR"])):
        assert compared(reader.read("Which of the two is faster?", history)[0], names) == sides


@pytest.mark.parametrize("question", ["Compare the two.", "How do they differ?", "Which of both is faster?", "Which of them is faster?"])
def test_pointing_without_anything_before_is_said(reader: SideReader, question: str) -> None:
    reading, _ = reader.read(question, [])
    assert reading and [looked.side.status for looked in reading.sides] == [SideStatus.ABSENT]


def test_long_histories_are_read(reader: SideReader, names: dict[str, str]) -> None:
    history = asked(*["compare " + "a and " * 5_000] * 2, *["What is LPF?"] * 40, "Compare QOP and SAR")
    assert compared(reader.read("Which of the two is faster?", history)[0], names) == ["QOP", "SAR"]


def test_sides_are_looked_for_within_the_filters(reader: SideReader, names: dict[str, str]) -> None:
    reading, _ = reader.read("Compare QOP with SAR", [], Filters(sources=frozenset({ONE})))
    assert compared(reading, names) == ["QOP", "no SAR"]
    reading, _ = reader.read("Compare QOP with SAR", [], Filters(years=frozenset({1999})))
    assert compared(reading, names) == ["no QOP", "no SAR"]
    reading, _ = reader.read("What do the Muon papers disagree on?", [], Filters(sources=frozenset({ONE})))
    assert sorted(compared(reading, names)) == ["Muon in LoRA", "Muon rivers"]
    reading, _ = reader.read("What do the Muon papers disagree on?", [], Filters(sources=frozenset({TWO})))
    assert not {"Muon in LoRA", "Muon rivers"} & set(compared(reading, names))


class Scripted:
    """A writer that always replies the same."""

    name = "scripted"

    def __init__(self, text: str) -> None:
        self.text, self.prompts = text, list[Prompt]()

    def write(self, prompt: Prompt) -> Iterator[Piece]:
        self.prompts.append(prompt)
        yield Piece(self.text)
        yield Piece("", Usage(5, 5, 1))


ACCOUNTS = "One paper prunes quantized weights in one shot, another samples with Lanczos. How do the two accounts differ?"


def with_writer(reader: SideReader, writer: Scripted) -> SideReader:
    return SideReader(replace(reader.tools, writer=writer, writer_name=writer.name))


def test_the_model_names_sides_where_the_rules_find_none(reader: SideReader, names: dict[str, str]) -> None:
    writer = Scripted("- the paper that prunes quantized weights in one shot\n- the Lanczos Gaussian sampler\n")
    reading, usage = with_writer(reader, writer).read(ACCOUNTS, [])
    assert compared(reading, names) == ["QOP", "Lanczos"] and usage.calls == 1


@pytest.mark.parametrize(
    "reply", ["", "NONE", "QOP", "QOP\nQOP", '{"sides": ["QOP"', "GPTQ\nWanda", "QOP\nGPTQ", "x\n" * 500, "- \n* \n", "\x00\n\ud800"]
)
def test_what_the_model_says_is_only_believed_when_it_is_there(reader: SideReader, reply: str) -> None:
    assert with_writer(reader, Scripted(reply)).read(ACCOUNTS, [])[0] is None


def test_the_model_is_not_asked_where_rules_suffice(reader: SideReader) -> None:
    writer = Scripted("QOP\nSAR")
    own = with_writer(reader, writer)
    for question in ("Compare QOP and SAR", "What is QOP?", "How does QOP differ from prior work?"):
        own.read(question, [])
    assert [prompt.user for prompt in writer.prompts if "prior" not in prompt.user] == []


def test_a_chinese_question_is_read_by_its_names(reader: SideReader, names: dict[str, str]) -> None:
    assert compared(reader.read("QOP 和 SAR 有什么不同？", [])[0], names) == ["QOP", "SAR"]
    assert compared(reader.read("QOP 和 GPTQ 有什么区别？", [])[0], names) == ["QOP", "no GPTQ"]


def test_a_chinese_description_is_translated_by_the_model(reader: SideReader, names: dict[str, str]) -> None:
    writer = Scripted("the Lanczos Gaussian sampler")
    reading, usage = with_writer(reader, writer).read("QOP 和那篇关于兰佐斯采样的论文有什么不同？", [])
    assert compared(reading, names) == ["QOP", "Lanczos"] and usage.calls >= 1
