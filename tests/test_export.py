"""Exports: what was written loads again to the same papers, whatever their texts hold."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rag.export import EXPORTS
from rag.fields import year_of
from rag.load import load_paths
from rag.types import Paper
from rag.versions import paper_id

ENDINGS = {"bibtex": "bib", "ris": "ris", "csl": "json", "csv": "csv", "jsonl": "jsonl"}
NASTY = (
    *("{", "}", "{x}", "\\", "\\emph{fast}", "$O(N^2)$", "$", "%", "&", "#", "_", "~", "^", '"', "''", "``", "'", "--"),
    *("@article{a,", "@", "=cmd()", "+1", "-1", ",", ";", " and ", "TY  - JOUR", "ER  - ", "<b>", "中文 摘要", "。", "é", "Å"),
    *("\\'e", "\\\"o", "℃", "[", "]", "(1)", "|", "#1", "a b", "Word", "tail\\", "2024", "n/a", "—", "ß", "𝔸", "!`", "\\%"),
)
pieces = st.sampled_from(NASTY) | st.text("abc XYZ,;{}\\'\"$%&-=@\u2028é中\t", max_size=6)


def one_line(text: str) -> str:
    return " ".join(text.split())


def lines(least: int = 1, most: int = 5) -> st.SearchStrategy[str]:
    return st.lists(pieces, min_size=least, max_size=most).map(" ".join).map(one_line).filter(bool)


titles = lines().map(lambda text: f"On {text} things")
venues = lines().map(lambda text: f"Venue {text}").filter(lambda text: year_of(text) is None)
names = lines(1, 2).map(lambda text: f"A {text}") | st.sampled_from(("Ada Lovelace", "李雷", "Lovelace, Ada", "Barnes and Noble, Inc."))
keywords = lines(1, 2)
LONG = "We study how proteins fold in yeast cells and find that folding takes three seconds in the warm."
abstracts = st.lists(pieces | st.just("\n") | st.just("\n\n"), max_size=8).map(
    lambda parts: (LONG + " " + "".join(parts) + " end" + (parts[-1] if parts else "")).strip()
)


def made(abstract: str, **facts: object) -> Paper:
    return Paper(paper_id(abstract), abstract, "", **facts)  # type: ignore[arg-type]


papers = st.builds(
    made,
    abstracts,
    title=st.none() | titles,
    authors=st.lists(names, max_size=3, unique=True).map(tuple),
    year=st.none() | st.integers(1900, 2099),
    venue=st.none() | venues,
    url=st.none() | st.sampled_from(("https://example.org/?a=1&b=%20c#d", "https://openreview.net/forum?id=a_b-c~d")),
    keywords=st.lists(keywords, max_size=3, unique=True).map(tuple),
)


def facts(found: Paper) -> tuple[object, ...]:
    return (found.id, found.abstract, found.title, found.authors, found.year, found.venue, found.url, found.keywords)


def again(written: Sequence[Paper], form: str) -> list[Paper]:
    """Write papers and load what was written."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"out.{ENDINGS[form]}"
        file.write_text(EXPORTS[form](written), encoding="utf-8", newline="")
        return list(load_paths([file]).papers)


@pytest.mark.parametrize("form", EXPORTS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(paper=papers)
@example(paper=made(LONG + " a } b {"))
@example(paper=made(LONG + "\nER  - \nTY  - JOUR\nAB  - x", title="On {B", authors=("Lovelace, Ada",)))
@example(paper=made("=1+1 " + LONG, title="@sum", keywords=("a;b", "c, d"), authors=("'=x y",)))
def test_a_paper_comes_back_as_it_was(form: str, paper: Paper) -> None:
    (found,) = again([paper], form)
    assert facts(found) == facts(paper)


@pytest.mark.parametrize("form", EXPORTS)
def test_the_seeds_come_back(form: str, seeds: Path) -> None:
    written = load_paths([seeds]).papers
    found = again(written, form)
    assert [facts(paper) for paper in found] == [facts(paper) for paper in written] and len(found) == 38
    assert EXPORTS[form](found) == EXPORTS[form](written)


@pytest.mark.parametrize("form", EXPORTS)
def test_nothing_is_no_paper(form: str) -> None:
    assert LONG not in EXPORTS[form]([])


@pytest.mark.parametrize("form", EXPORTS)
def test_no_field_is_invented(form: str) -> None:
    text = EXPORTS[form]([made(LONG)])
    for name in ("author", "year", "issued", "venue", "booktitle", "URL", "keyword", "AU  -", "PY  -", "T2  -"):
        assert name not in text or form == "csv"
    if form == "csv":
        (row,) = csv.DictReader(io.StringIO(text))
        assert {name for name, cell in row.items() if cell} == {"plenary_id", "abstract"}


@given(paper=papers)
def test_no_cell_is_a_formula(paper: Paper) -> None:
    rows = csv.reader(io.StringIO(EXPORTS["csv"]([paper])))
    assert not any(cell[:1] in ("=", "+", "-", "@", "\t", "\r") and cell for row in rows for cell in row)


def test_a_guard_is_taken_off_only_where_it_was_put_on(tmp_path: Path) -> None:
    (tmp_path / "foreign.csv").write_text(f'title,abstract\nT,"\'-5 degrees: {LONG}"\n', encoding="utf-8")
    (found,) = load_paths([tmp_path / "foreign.csv"]).papers
    assert found.abstract.startswith("'-5 degrees")


def test_json_lines_say_what_is_known() -> None:
    (line,) = EXPORTS["jsonl"]([made(LONG, title="T", authors=("Ada Lovelace",), year=1843)]).splitlines()
    assert json.loads(line) == {
        "id": paper_id(LONG),
        "title": "T",
        "authors": ["Ada Lovelace"],
        "year": 1843,
        "abstract": LONG,
    }
