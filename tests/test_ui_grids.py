"""Comparisons and themes as they are shown: tables that cite, counts that are lengths of lists, the map."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from rag.types import (
    Answer,
    AnswerDone,
    Aspect,
    Cell,
    CellChecked,
    Citation,
    Claim,
    ClaimChecked,
    Comparison,
    ComparisonFound,
    Coverage,
    LeftOut,
    Paper,
    Place,
    Quote,
    Side,
    SideStatus,
    Support,
    Theme,
    ThemeReport,
    ThemesFound,
    ThemeWritten,
    Timings,
    Usage,
)
from ui.conversation import Exchange
from ui.panel import evidence_panel
from ui.spoken import choices, spoken, summary
from ui.themes import listed_ids, map_html, theme_at
from ui.words import CHINESE

BAD = '<img src=x onerror=alert(1)>"|'
ONE = Paper("p1", "UpA keeps models safe. It is fast.", "UpA", "UpA")
TWO = Paper("p2", f"Thin{BAD} is slow.", BAD, BAD)


def claim(paper: Paper, n: int, text: str | None = None) -> Claim:
    """Return a claim over the whole abstract; without a text it is the abstract's own."""
    quote = Quote(paper.id, paper.abstract, 0, len(paper.abstract))
    return Claim(text or paper.abstract, Support.SUPPORTED, f"because {BAD}", (Citation(n, paper.id, quote),), None, not text)


SIDES = (Side("UpA", ("p1",), SideStatus.FOUND, "UpA"), Side(BAD, ("p2",), SideStatus.FOUND, "Thin"))
GRID = Comparison(
    (*SIDES, Side("Gone", (), SideStatus.ABSENT, "Gone")),
    (Aspect("how", f"How {BAD}"), Aspect("cost", "Cost")),
    (Cell("how", 0, claim(ONE, 1)), Cell("how", 1, claim(TWO, 2)), Cell("cost", 0, None), Cell("cost", 1, claim(TWO, 2))),
)


def done(comparison: Comparison, claims: tuple[Claim, ...] = (), text: str = "") -> AnswerDone:
    """Return the last event of a comparison."""
    papers = (ONE, TWO) if comparison.cells else ()
    return AnswerDone(
        Answer("q", "comparative", not papers, text, claims, papers, (), "w", Usage(), Timings(), comparison=comparison)
    )


def test_a_grid_comes_at_once_and_its_cells_are_exchanged() -> None:
    """Quotes first; a cell said shorter takes its quote's place and no other; the summary stands above it."""
    exchange = Exchange(2, "How do UpA and Thin differ?")
    exchange.take(ComparisonFound(GRID, (ONE, TWO)))
    first = spoken(exchange)
    assert first.count("<tr>") == 3 and first.count('class="pl-quote"') == 3 and "not stated in the abstract" in first
    assert 'href="#card-2-1"' in first and 'href="#card-2-2"' in first
    assert "\n\n" not in first[first.index("<table") : first.index("</table>")]
    exchange.take(CellChecked(Cell("cost", 1, claim(TWO, 2, "It is slow.")), (ONE, TWO)))
    assert spoken(exchange).count('class="pl-said"') == 1 and spoken(exchange).count('class="pl-quote"') == 2
    exchange.take(ClaimChecked(claim(ONE, 1, "UpA is fast."), (ONE, TWO)))
    text = "“Gone” is not among the indexed papers. UpA is fast [1]. Thin does not say."
    exchange.take(done(exchange.comparison or GRID, exchange.claims, text))
    said = unescape(re.sub("<[^>]*>", "", spoken(exchange)))
    assert said.startswith("“Gone” is not among the indexed papers. UpA is fast [1]. Thin does not say.")
    assert summary(exchange).startswith("4 sentences checked")  # each once, wherever it stands


def test_nothing_of_a_comparison_becomes_markup() -> None:
    """Neither in the table nor in the panel, where every cell has its verdict and every quote is marked."""
    exchange = Exchange(1, "q")
    exchange.take(ComparisonFound(GRID, (ONE, TWO)))
    exchange.take(done(GRID))
    panel = evidence_panel(exchange)
    for html in (spoken(exchange), panel):
        assert "<img" not in html
    assert panel.count("✓ supported") == 3 and panel.count("<mark>") == 2
    assert "“Gone” is not among the indexed papers." in panel
    chinese = evidence_panel(exchange, CHINESE)
    assert "✓ 有依据" in chinese and "“Gone”" in chinese


def test_candidates_are_offered() -> None:
    """A side of several papers asks back with one question for each; a failed exchange offers nothing."""
    sides = (Side("UpA", ("p1", "p2"), SideStatus.AMBIGUOUS, "UpA"), SIDES[1])
    exchange = Exchange(1, "How do UpA and Thin differ?", candidates=(ONE, replace(TWO, title="UpA two")))
    assert choices(exchange) == []
    exchange.take(done(Comparison(sides, (), ()), text="Which one?"))
    assert choices(exchange) == [
        ("UpA", "Compare “UpA” with “Thin”"),
        ("UpA two", "Compare “UpA two” with “Thin”"),
    ]
    assert evidence_panel(exchange).count("<article") == 2
    asked = Exchange(1, "Is UpA faster than Thin?", candidates=exchange.candidates)
    asked.take(done(Comparison(sides, (), ()), text="Which one?"))
    assert choices(asked)[1][1] == "Is “UpA two” faster than Thin?"


IDS = tuple(f"p{n}" for n in range(300))
REPORT = ThemeReport(
    "theme",
    "",
    (Theme(BAD, IDS[:250], children=(Theme("Child", IDS[:7]),)), Theme("Small", IDS[250:298], failed=f"down {BAD}")),
    Coverage(IDS, IDS, IDS, (), IDS[:298], tuple(LeftOut(i, "far") for i in IDS[298:])),
    places=(Place("p0", 0.0, 1.0, 0), Place("p299", 1.0, 0.0, -1)),
)


def test_every_count_is_the_length_of_its_list() -> None:
    """Of the coverage, the themes and their parts; a long list says how many it does not show."""
    exchange = Exchange(1, "q")
    exchange.take(ThemesFound(REPORT))
    exchange.names = {i: f"Name {i}{BAD}" for i in IDS}
    html = evidence_panel(exchange)
    shown = dict(re.findall(r'data-act="list" data-target="([\w.]+)"[^>]*>([\d,]+)', html))
    assert shown == {"read": "300", "assigned": "298", "unassigned": "2", "0": "250", "0.0": "7", "1": "48"}
    for name, count in shown.items():
        assert len(listed_ids(REPORT, name)) == int(count)
    exchange.opened = {"0", "0.0"}
    opened = evidence_panel(exchange)
    assert "and 50 more" in opened and opened.count('aria-expanded="true"') == 2
    assert "<img" not in opened and f"This part failed: down {BAD}" in unescape(opened)


def test_a_theme_is_written_in_its_place() -> None:
    """Its claims cite the cards, its label leads to its card."""
    exchange = Exchange(3, "q")
    exchange.take(ThemesFound(REPORT))
    exchange.take(ThemeWritten(replace(REPORT.themes[0], claims=(claim(ONE, 1),)), 0, 2, (ONE,)))
    said = spoken(exchange)
    assert 'href="#theme-3-0"' in said and 'href="#card-3-1"' in said and "(250 papers)" in said
    assert "<img" not in said
    panel = evidence_panel(exchange)
    assert 'id="theme-3-0"' in panel and 'id="card-3-1"' in panel


def test_the_map_is_made_of_text() -> None:
    """A dot for each place, with its name; a legend with the counts."""
    html = map_html(REPORT, lambda paper_id: f"{paper_id} {BAD}")
    assert html.count("<circle") == 2 and 'data-target="p299"' in html and "250" in html
    assert "<img" not in html and unescape(html).count(BAD) == 3
    assert map_html(None, str) == "" == map_html(replace(REPORT, places=()), str)


@given(st.text(max_size=8))
def test_no_name_breaks_the_lists(name: str) -> None:
    """Whatever a browser sends names a list or nothing."""
    assert theme_at(REPORT, name) in (None, *REPORT.themes, REPORT.themes[0].children[0])
    assert len(listed_ids(REPORT, name)) <= 300
