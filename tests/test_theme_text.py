"""Theme reports as text: numbers are lengths of lists, cells are safe for spreadsheets, quotes stay on one line."""

from __future__ import annotations

import csv
import io
import re

from hypothesis import given
from hypothesis import strategies as st

from rag.theme_text import answer_text, coverage_text, report_csv, report_markdown
from rag.types import Coverage, LeftOut, Member, Paper, Quote, Theme, ThemeReport


def made(relevant: int, borderline: int, unread: int, failed: str | None = None) -> tuple[ThemeReport, dict[str, Paper]]:
    """Return a report with so many papers of each kind, and all papers."""
    ids = [f"p{n}" for n in range(relevant + borderline + 3)]
    skipped = tuple(LeftOut(f"s{n}", "not admitted by the filters") for n in range(unread))
    members = tuple(Member(i, 0.5, Quote(i, f"Quote\nof {i}", 0, 9)) for i in ids[:relevant])
    border = tuple(Member(i, 0.2, Quote(i, f"Quote of {i}", 0, 9)) for i in ids[relevant : relevant + borderline])
    inside = ids[: max(0, relevant - 1)]
    themes = (Theme("A theme", tuple(inside), failed=failed),) if inside else ()
    coverage = Coverage(
        (*ids, *(left.paper_id for left in skipped)), tuple(ids), tuple(ids[:relevant]),
        tuple(m.paper_id for m in border), tuple(inside),
        tuple(LeftOut(i, "far") for i in ids[:relevant] if i not in inside), skipped,
    )  # fmt: skip
    papers = {i: Paper(i, "Text.", i, f"=Title {i}\n") for i in (*ids, *(left.paper_id for left in skipped))}
    return ThemeReport("theme", "fish", themes, coverage, members, border), papers


@given(st.integers(0, 30), st.integers(0, 5), st.integers(0, 5))
def test_the_account_counts_the_lists(relevant: int, borderline: int, unread: int) -> None:
    report, _ = made(relevant, borderline, unread)
    numbers = [int(number) for number in re.findall(r"\d+", coverage_text(report))]
    coverage = report.coverage
    expected = [len(coverage.read), len(coverage.corpus), relevant, borderline, len(coverage.assigned)]
    expected += [len(report.themes), len(coverage.unassigned)] + ([unread] if unread else [])
    assert numbers == expected


def test_a_failed_part_is_told_with_its_size() -> None:
    report, papers = made(5, 0, 0, failed="the service is down")
    for text in (answer_text(report, (), {}), report_markdown(report, papers)):
        assert "This part failed: the service is down" in text and "(4 papers)" in text
    assert "Title p0" in report_markdown(report, papers)


def test_nothing_found_is_said() -> None:
    report, _ = made(0, 2, 0)
    assert answer_text(report, (), {}).startswith("None of the 5 papers is about fish. 2 may be.")


def test_the_table_has_a_row_for_each_paper_and_no_formula() -> None:
    report, papers = made(4, 2, 1)
    rows = list(csv.DictReader(io.StringIO(report_csv(report, papers))))
    assert [row["decision"] for row in rows].count("relevant") == 4 and len(rows) == 6
    assert {row["theme"] for row in rows if row["decision"] == "relevant"} == {"A theme", "none of these"}
    assert all(row["title"].startswith("'=") and "\n" not in row["quote"] for row in rows)


def test_a_chinese_question_is_counted_in_chinese() -> None:
    report, _ = made(4, 2, 0)
    text = answer_text(report, (), {}, "zh")
    assert text.startswith("9 篇论文中有 4 篇与“fish”有关。") and text.endswith("1 篇不属于其中任何主题。")
    assert coverage_text(report, "ja") == coverage_text(report)
