"""Questions about many papers are told from questions about one, in English and in Chinese."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.theme_question import theme_request
from rag.types import ThemeRequest

THEMES = {
    "Summarise the main themes on LLM safety": "LLM safety",
    "What is going on in optimisation this year?": "optimisation",
    "What are the trends in reinforcement learning in these papers?": "reinforcement learning",
    "Can you give me an overview of research on graph neural networks?": "graph neural networks",
    "Summarize the work on safety alignment of LLMs.": "safety alignment of LLMs",
    "What do the papers say about hallucination?": "hallucination",
    "大语言模型安全有哪些主题？": "大语言模型安全",
    "今年优化领域有什么进展？": "优化",
    "LLM safety 有哪些研究方向": "LLM safety",
}
WHOLE = ["Overview of the whole conference", "What are the main themes?", "What topics does this conference cover?", "整个会议的概览"]
LISTS = {
    "Which papers use conformal prediction?": "conformal prediction",
    "List the papers on quantization": "quantization",
    "List all federated learning papers": "federated learning",
    "Are there any papers on weather forecasting?": "weather forecasting",
    "哪些论文使用了强化学习？": "强化学习",
    "列出所有关于量化的论文": "量化",
}
COUNTS = {
    "How many papers are about diffusion?": "diffusion",
    "How many of the papers use Transformers?": "Transformers",
    "有多少篇论文研究扩散模型？": "扩散模型",
    "关于强化学习的论文有多少篇？": "强化学习",
}
OTHERS = [
    "Which paper introduces QOP?",
    "Which solver does QOP extend?",
    "How many layers does X use?",
    "What is LoRA?",
    "What are the themes it covers?",
    "Which papers use it?",
    "How many papers did the authors review?",
    "How many datasets are used in LB-MCTS?",
    "LB-MCTS 在多少个 AMLB 数据集上做了实验？",
    "GridFormer 是如何预测天气的？",
    "Summarise QOP",
    "How does UpSafe keep models safe?",
    "What topics are in the training data of X-bench?",
    "Which two papers use reinforcement learning?",
    "What is the main topic of the QOP paper?",
    "Describe the research direction of QOP",
    "What directions does gradient descent take?",
    "How many works of art does the dataset contain?",
    "Do both papers use the same benchmark?",
    "",
]


@pytest.mark.parametrize(("question", "topic"), THEMES.items())
def test_theme_questions(question: str, topic: str) -> None:
    assert theme_request(question) == ThemeRequest("theme", topic, False)


@pytest.mark.parametrize("question", WHOLE)
def test_questions_about_everything(question: str) -> None:
    assert theme_request(question) == ThemeRequest("theme", "", True)


@pytest.mark.parametrize(("question", "topic"), LISTS.items())
def test_list_questions(question: str, topic: str) -> None:
    assert theme_request(question) == ThemeRequest("list", topic, False)


@pytest.mark.parametrize(("question", "topic"), COUNTS.items())
def test_count_questions(question: str, topic: str) -> None:
    assert theme_request(question) == ThemeRequest("count", topic, False)


def test_how_many_papers_there_are() -> None:
    assert theme_request("How many papers are there?") == ThemeRequest("count", "", True)


@pytest.mark.parametrize("question", OTHERS)
def test_other_questions_are_left_alone(question: str) -> None:
    assert theme_request(question) is None


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    request = theme_request(text)
    assert request is None or request.whole == (request.topic == "")


def test_a_long_hostile_text_takes_no_time() -> None:
    assert theme_request("list the " + "main themes and " * 5_000) is None
