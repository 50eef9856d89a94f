"""Translated sentences: numbers and names survive, or the translation is not shown."""

from __future__ import annotations

import pytest

from rag.translate import keeps_facts


@pytest.mark.parametrize(
    ("sentence", "translation"),
    [
        ("GridFormer cuts the error by 12%.", "GridFormer 将误差降低了12%。"),
        ("UpSafe℃ works on 3 models.", "UpSafe℃ 适用于 3 个模型。"),
        ("LLMs and LLM-based agents use GPT-4.", "LLM和基于LLM的智能体使用GPT-4。"),
        ("MoE-style routing beats BERT-large.", "MoE式路由优于BERT-large。"),
        ("PAC-Bayes bounds hold with $O(N^2)$ steps.", "PAC-Bayes界在$O(N^2)$步内成立。"),
        ("It takes 3,000 steps at 0.5.", "在0.5下需要3000步。"),
        ("Full-width digits: 12.", "全角数字：１２。"),
        ("The method is fast.", "该方法很快。"),
    ],
)
def test_kept(sentence: str, translation: str) -> None:
    assert keeps_facts(sentence, translation)


@pytest.mark.parametrize(
    ("sentence", "translation"),
    [
        ("It falls by 12%.", "它下降了45%。"),
        ("It falls by 12%.", "它下降了。"),
        ("It falls by 12% in 3 runs.", "它下降了12%。"),
        ("It falls.", "它在3次中下降。"),
        ("It is 12.5 points.", "它是125点。"),
        ("GridFormer is fast.", "网格模型很快。"),
        ("It uses GPT-4.", "它使用GPT-4o。"),
        ("It uses AI.", "He said so."),
        ("BERT-large wins.", "BERT胜出。"),
        ("ImageNet is used.", "使用了ImageNette。"),
        ("The method is fast.", ""),
        ("The method is fast.", " \n"),
        ("The method is fast.", "The method is fast."),
    ],
)
def test_not_kept(sentence: str, translation: str) -> None:
    assert not keeps_facts(sentence, translation)
