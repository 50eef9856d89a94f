"""Comparative questions in Chinese are recognised and taken apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.comparison_chinese import chinese_readings
from rag.comparison_question import comparison_requests
from rag.comparison_request import AS_BEFORE, Group


@pytest.mark.parametrize(
    "question",
    [
        "QOP 和 SAR 有什么不同？",
        "QOP与SAR的区别",
        "QOP 跟 SAR 有何区别？",
        "比较 QOP 和 SAR",
        "请比较一下 QOP 和 SAR。",
        "请对比QOP与SAR",
        "请 compare QOP 和 SAR",
        "请问 QOP 和 SAR 之间有哪些共同点？",
        "QOP 和 SAR 在数据方面有什么不同？",
        "QOP 与 SAR 相比，哪一个更省内存？",
        "QOP 和 SAR 哪个更好？",
        "QOP 比 SAR 好吗？",
        "QOP 优于 SAR 吗？",
        "QOP vs SAR 有什么区别？",
        "QOP、SAR 的异同",
        "QOP 和 SAR，两者各自怎样剪枝？",
    ],
)
def test_the_two_sides_are_told(question: str) -> None:
    splits = [tuple(side.split(" ")[0] for side in split) for request in comparison_requests(question) for split in request.splits]
    assert ("QOP", "SAR") in splits


def test_three_sides_and_the_aspect_are_told() -> None:
    found = list(chinese_readings("LPF、QOP 和 SAR 在内存方面有什么差别？"))
    assert (("LPF", "QOP", "SAR"),) in [request.splits for request in found]
    assert "内存" in [request.aspect for request in found]


@pytest.mark.parametrize("question", ["请比较两篇关于剪枝的论文。", "两篇关于剪枝的论文有什么不同？"])
def test_a_group_is_told_with_its_number(question: str) -> None:
    assert Group("剪枝", 2) in [request.group for request in chinese_readings(question)]


@pytest.mark.parametrize(
    ("question", "pointer"), [("这两篇论文有什么不同？", 2), ("它们有什么区别？", AS_BEFORE), ("这三者有什么不同？", 3)]
)
def test_what_points_back_is_told(question: str, pointer: int) -> None:
    assert pointer in [request.pointer for request in chinese_readings(question)]


@pytest.mark.parametrize(
    "question",
    ["QOP 与哪些基线做了比较？", "什么是剪枝？", "QOP 和现有方法有什么不同？", "有哪些关于对齐的论文？", "QOP 优于其他方法吗？", "比较", "？"],
)
def test_what_only_sounds_like_a_comparison_is_none(question: str) -> None:
    assert list(chinese_readings(question)) == []


@given(st.lists(st.sampled_from("比较对和与跟的有什么不同区别哪个更好两篇三者关于论文在方面，、？QOP vsa "), max_size=400).map("".join))
def test_any_text_gives_whole_requests(text: str) -> None:
    for request in chinese_readings(text):
        assert bool(request.splits) + bool(request.group) + bool(request.pointer) == 1
        assert all(len(split) > 1 and all(split) for split in request.splits)
