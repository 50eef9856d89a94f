"""The library's table: found, filtered, sorted, paged; the files that are uploaded to it."""

from __future__ import annotations

import asyncio
import re
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag import Assistant, Indexed, UserError
from rag.types import Filters, Paper, Skipped, Source
from ui.library import COLUMNS, Corpus, LibraryView, act, details, filters_of, found, table
from ui.uploads import index_files, keep, report, safe_name

PAPERS = [
    Paper("a1", "Widgets remember.", "WID", "Widgets", ("Ada",), 2024, "ICML", keywords=("memory",), sources=(Source("x.bib", 1),)),
    Paper("b2", "Lanterns shine.", "LAN", "Lanterns", ("Bo",), 2026, "NeurIPS", sources=(Source("y.csv", 1),)),
    Paper("c3", "Bridges sing of memory.", "BRI", None, (), None, None, sources=(Source("x.bib", 2),)),
]


@pytest.fixture
def corpus() -> Corpus:
    """The papers above as those of an index."""
    snapshot = SimpleNamespace(state="1")
    return Corpus(cast("Assistant", SimpleNamespace(snapshot=lambda: snapshot, papers=lambda: PAPERS)))


def ids(corpus: Corpus, view: LibraryView) -> str:
    """Return the first letters of what a view shows."""
    return "".join(paper.id[0] for paper in found(corpus.rows(), view))


def test_found_by_words_and_filters(corpus: Corpus) -> None:
    """Every word must occur, in whatever field; filters narrow it."""
    assert ids(corpus, LibraryView()) == "abc"
    assert ids(corpus, LibraryView("MEMORY")) == "ac"
    assert ids(corpus, LibraryView("memory sing")) == "c"
    assert ids(corpus, LibraryView("ada")) == "a"
    assert ids(corpus, LibraryView(filters=filters_of(["x.bib"], None, None, None))) == "ac"
    assert ids(corpus, LibraryView(filters=filters_of([], ["2026"], ["NeurIPS"], []))) == "b"
    assert ids(corpus, LibraryView(filters=filters_of(None, None, None, ["memory"]))) == "a"
    assert filters_of(None, ["x", "²"], None, None) == Filters()
    assert corpus.choices() == {
        "source": ["x.bib", "y.csv"],
        "year": ["2026", "2024"],
        "venue": ["ICML", "NeurIPS"],
        "keyword": ["memory"],
    }


def test_sorted_either_way(corpus: Corpus) -> None:
    """What is not known of a paper stands last both times; choosing a column again turns it round."""
    view = act(LibraryView(page=3), "sort", "year")
    assert (ids(corpus, view), view.page) == ("abc", 0)
    assert ids(corpus, act(view, "sort", "year")) == "bac"
    assert ids(corpus, act(LibraryView(), "sort", "source")) == "cba"
    for column in COLUMNS:
        assert len(ids(corpus, act(LibraryView(), "sort", column))) == 3


@given(st.text(max_size=12), st.text(max_size=12))
def test_no_action_breaks_a_view(name: str, target: str) -> None:
    """Whatever a browser sends; a page beyond the last is the last."""
    for known in (name, "sort", "page", "open"):
        view = act(LibraryView(), known, target)
        assert "<table" in table(PAPERS, view, 3)
        details(None, view)


def test_pages() -> None:
    """Cut after 25, with buttons where there is more."""
    many = [Paper(f"p{n}", "text", f"P{n}") for n in range(60)]
    assert table(many, LibraryView(), 80).count('data-act="open"') == 25
    last = table(many, act(LibraryView(), "page", "99"), 80)
    assert last.count('data-act="open"') == 10 and "60 of 80 papers, 51 to 60" in last and last.count('data-act="page"') == 1
    assert "No paper fits" in table([], LibraryView(), 80)


def test_fields_are_text() -> None:
    """Nothing of a paper becomes mark-up."""
    bad = '"><img src=x onerror=alert(1)>'
    html = table([Paper(bad, "a", bad, bad, (bad,), 2020, bad, sources=(Source(bad, 1),))], LibraryView(), 1)
    assert "<img" not in html and bad in unescape(html)
    assert "Remove it?" in details(PAPERS[0], LibraryView(opened="a1", sure="a1"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of uploads with a file in it."""
    (tmp_path / "up" / "h1").mkdir(parents=True)
    (tmp_path / "up" / "h1" / "more.bib").write_text("@misc{a, abstract={x}}")
    return tmp_path / "up"


def test_uploads_are_kept_by_their_content(folder: Path, tmp_path: Path) -> None:
    """The same file at the same place, another of its name at another."""
    (path,) = keep([str(folder / "h1" / "more.bib")], tmp_path / "home", folder)
    assert path.name == "more.bib" and path.read_text() == "@misc{a, abstract={x}}"
    assert keep([str(folder / "h1" / "more.bib")], tmp_path / "home", folder) == [path]
    (folder / "h1" / "more.bib").write_text("@misc{b, abstract={y}}")
    (other,) = keep([str(folder / "h1" / "more.bib")], tmp_path / "home", folder)
    assert other != path and other.name == path.name


def test_only_uploads_are_taken(folder: Path, tmp_path: Path) -> None:
    """No other file of the machine, however it is named; no unknown kind, not too many."""
    (tmp_path / "secret.txt").write_text("x")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "virus.exe").write_text("x")
    for name in ("../secret.txt", "link.txt", "h1", "none.bib"):
        with pytest.raises(UserError, match="only files that were uploaded"):
            keep([str(folder / name)], tmp_path / "home", folder)
    with pytest.raises(UserError, match="only files that were uploaded"):
        keep(["/etc/passwd"], tmp_path / "home", folder)
    with pytest.raises(UserError, match="no ending"):
        keep([str(folder / "virus.exe")], tmp_path / "home", folder)
    with pytest.raises(UserError, match="too many"):
        keep(["x"] * 21, tmp_path / "home", folder)


@given(st.text(max_size=300) | st.sampled_from(["..", "../../x.bib", "C:\\a\\b.bib", ".bib", "<b>.bib", "\0"]))
def test_a_safe_name_is_one_part_of_a_path(name: str) -> None:
    """It leads nowhere, hides nothing and is no mark-up."""
    safe = safe_name(name)
    assert safe and not safe.startswith(".") and len(safe) <= 92
    assert not re.search(r"[/\\<>\"'&\0]", safe)


def test_indexing_tells_how_far_it_is() -> None:
    """And, last, what became of every record, as text."""
    done = Indexed(5, 2, 0, 0, tuple(Skipped("<b>", n, "<i>") for n in range(30)), 1.0, renamed=("a/<u>",))

    class Slow:
        def index(self, files: list[Path], progress: Any) -> Indexed:
            progress(1, 2)
            return done

    async def follow() -> list[str | Indexed]:
        return [told async for told in index_files(cast("Assistant", Slow()), [Path("m.bib")])]

    told = asyncio.run(follow())
    assert told[0] == "Reading m.bib …" and told[-1] is done
    html = report(done)
    assert "30 records were left out" in html and "… and 10 more" in html and "2 added" in html
    assert not re.search("<[biu]>", html)
