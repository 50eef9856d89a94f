"""The rest of the page in a real browser: library, settings, themes and their map, cards, feedback, access."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("playwright.sync_api", reason="the browser is driven by playwright")

from tests.browser import RECORDS, Opened, Served, answers, ask, expect, kept, said, settled, tab

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytest_plugins = ["tests.browser"]
pytestmark = pytest.mark.usefixtures("reset")  # a plugin's autouse fixture would reach every module

FIRST = "How does WIDGETRON freeze the gate of every widget?"
ALL = "What are the main themes of these papers?"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def test_a_card_can_be_asked_about(extractive: Served, opened: Opened) -> None:
    """Its buttons write the question; its BibTeX is copied."""
    page = opened(extractive)
    ask(page, FIRST)
    box = page.locator("#pl-box textarea")
    card = page.locator("#card-1-1")
    card.get_by_role("button", name="Ask about this paper").click()
    expect(box).to_have_value("What is new in “Widgets That Remember”?")
    expect(box).to_be_focused()
    card.get_by_role("button", name="Compare with …").click()
    expect(box).to_have_value("Compare “Widgets That Remember” with ")
    card.locator("summary").click()
    expect(card.locator("pre")).to_contain_text("title = {Widgets That Remember}")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    card.get_by_role("button", name="Copy").click()
    expect(card.get_by_role("button", name="Copied")).to_be_visible()
    assert "Widgets That Remember" in page.evaluate("navigator.clipboard.readText()")


def test_themes_and_their_map(extractive: Served, opened: Opened) -> None:
    """Counts open lists; a dot of the map, a theme and a listed paper can be asked about; the map zooms."""
    page = opened(extractive)
    ask(page, ALL)
    panel, themes, box = page.locator("#pl-evidence"), page.locator("#pl-map"), page.locator("#pl-box textarea")
    count = panel.locator(".pl-coverage").get_by_role("button", name=f"{len(RECORDS)} read")
    count.click()
    expect(panel.locator(".pl-list li")).to_have_count(len(RECORDS))
    expect(count).to_have_attribute("aria-expanded", "true")
    panel.locator(".pl-list").get_by_role("button", name="Drifting Satellites").click()
    expect(box).to_have_value("What is new in “Drifting Satellites”?")
    count.click()
    expect(panel.locator(".pl-list")).to_have_count(0)
    expect(themes.locator("circle")).to_have_count(len(RECORDS))
    dot = themes.locator("circle", has_text="GRIDNET for Speech")
    dot.click()
    expect(box).to_have_value("What is new in “GRIDNET for Speech”?")
    themes.get_by_role("button", name="Zoom in").click()
    assert themes.locator("svg").get_attribute("viewBox") == "135 135 630 630"
    themes.get_by_role("button", name="Whole map").click()
    assert themes.locator("svg").get_attribute("viewBox") == "0 0 900 900"
    label = themes.locator(".pl-legend button").first
    text = label.inner_text()
    label.click()
    expect(box).to_have_value(f"What do the papers about {text} do?")
    assert themes.locator("img, script, [onerror]").count() == 0


def test_the_library(extractive: Served, opened: Opened) -> None:
    """Searched, sorted, filtered; a paper opens as a card; what hostile fields hold is text."""
    page = opened(extractive)
    tab(page, "library")
    rows = page.locator("#pl-table tbody tr")
    expect(rows).to_have_count(len(RECORDS))
    page.locator("#pl-table thead").get_by_role("button", name="Year").click()
    expect(page.locator('#pl-table th[aria-sort="ascending"]')).to_contain_text("Year")
    expect(rows.first).to_contain_text("2023")
    expect(rows.last).to_contain_text("Hostile")
    page.locator("#pl-find input, #pl-find textarea").fill("satellites drift")
    expect(rows).to_have_count(1)
    rows.get_by_role("button").click()
    expect(page.locator("#pl-details .pl-abstract")).to_contain_text("LANTERN halves the error")
    page.locator("#pl-find input, #pl-find textarea").fill("")
    expect(rows).to_have_count(len(RECORDS))
    page.get_by_label("Venue", exact=True).click()
    page.get_by_role("option", name="ICML").click()
    expect(rows).to_have_count(2)
    page.locator("#pl-details").get_by_role("button", name="Compare with …").click()
    expect(page.locator("#pl-box textarea")).to_have_value("Compare “Drifting Satellites” with ")
    expect(page.locator("#pl-box textarea")).to_be_visible()
    assert page.locator("#pl-table img, #pl-table svg").count() == 0


def test_upload_and_removal(extractive: Served, opened: Opened, tmp_path: Path) -> None:
    """A file is added with the loader's report and can be asked about; then its paper is removed again."""
    page = opened(extractive)
    new = {"title": "Singing Bridges", "abstract": "Bridges sing in the wind. CANTABRIDGE damps the song of bridges."}
    lines = [json.dumps(new), json.dumps({"title": "Nothing", "abstract": ""}), "no JSON"]
    (tmp_path / "more.jsonl").write_text("\n".join(lines), encoding="utf-8")
    tab(page, "library")
    page.locator("#pl-files input[type=file]").set_input_files(tmp_path / "more.jsonl")
    expect(page.locator("#pl-files")).to_contain_text("more")
    page.locator("#pl-index").click()
    report = page.locator("#pl-report")
    expect(report).to_contain_text(f"1 added, 0 unchanged, 0 changed, 0 merged, 0 removed; {len(RECORDS) + 1} papers")
    expect(report).to_contain_text("2 records were left out")
    expect(report).to_contain_text("more.jsonl, 3")
    expect(page.locator("#pl-header")).to_contain_text(f"{len(RECORDS) + 1} papers")
    tab(page, "chat")
    ask(page, "What does CANTABRIDGE damp?")
    expect(page.locator("#card-1-1")).to_contain_text("Singing Bridges")
    tab(page, "library")
    page.locator("#pl-table").get_by_role("button", name="Singing Bridges").click()
    page.locator("#pl-details").get_by_role("button", name="Remove from the library").click()
    page.locator("#pl-details").get_by_role("button", name="Remove it?").click()
    expect(report).to_contain_text("1 paper was removed")
    expect(page.locator("#pl-table tbody tr")).to_have_count(len(RECORDS))
    tab(page, "chat")
    expect(page.locator("#card-1-1")).to_contain_text("Singing Bridges")  # the turn keeps its source


def test_settings_are_kept(written: Served, opened: Opened) -> None:
    """Another writer, a short answer and the Chinese interface hold, also after a reload; tokens are told."""
    page = opened(written)
    ask(page, FIRST)
    expect(page.locator("#pl-chat .pl-foot")).to_contain_text("tokens read")
    tab(page, "settings")
    expect(page.locator("#pl-settings")).to_contain_text("in 1 calls")
    page.get_by_label("Writer", exact=True).click()
    page.get_by_role("option", name="none (word for word)").click()
    expect(page.locator("#pl-header")).to_contain_text("no language model")
    page.locator("#pl-settings").get_by_label("short").check()
    page.locator("#pl-settings").get_by_label("中文").check()
    expect(page.locator("#pl-header")).to_contain_text(f"{len(RECORDS)} 篇论文")
    kept(page, 1)
    page.reload()
    expect(page.locator("#pl-ask-button")).to_have_text("提问")
    expect(page.locator("#pl-header")).to_contain_text("答案是论文的原句")
    assert page.evaluate("document.documentElement.lang") == "zh"
    expect(answers(page)).to_have_count(1)
    ask(page, FIRST)
    expect(page.locator("#pl-evidence .pl-verdict")).to_have_text(["✓ 有依据"])


def test_feedback_is_kept(extractive: Served, opened: Opened) -> None:
    """As a case that the evaluation reads."""
    page = opened(extractive)
    ask(page, FIRST)
    page.locator("#pl-feedback button").first.click()
    page.locator("#pl-feedback").get_by_label("👍 Yes").check()
    page.locator("#pl-feedback textarea").fill("It is <b>right</b>.")
    page.locator("#pl-feedback").get_by_role("button", name="Send").click()
    expect(page.locator("#pl-feedback")).to_contain_text("Kept. Thank you.")
    lines = (extractive.assistant.config.home / "feedback.jsonl").read_text(encoding="utf-8").splitlines()
    case = json.loads(lines[-1])
    assert case["question"] == FIRST and case["note"] == "It is <b>right</b>." and case["gold"] == ["papers.jsonl#1"]


def test_the_keyboard_is_enough(extractive: Served, opened: Opened) -> None:
    """A question is asked, a citation followed and a verdict opened without a mouse, in sight all the while."""
    page = opened(extractive)
    page.keyboard.type(FIRST)  # the box has the focus at the start
    page.keyboard.press("Enter")
    expect(answers(page)).to_have_count(1)
    settled(page)
    reach(page, "el => el.matches('#pl-chat .pl-cite')")
    page.keyboard.press("Enter")
    expect(page.locator("#card-1-1")).to_be_focused()
    reach(page, "el => el.matches('#pl-evidence .pl-claims summary')", "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#pl-evidence .pl-reason").first).to_be_visible()
    reach(page, "el => el.matches('#card-1-1 [data-act=compare]')")
    page.keyboard.press("Enter")
    expect(page.locator("#pl-box textarea")).to_be_focused()


def reach(page: Page, wanted: str, key: str = "Tab") -> None:
    """Press a key until an element has the focus."""
    for _ in range(80):
        page.keyboard.press(key)
        if page.evaluate(f"({wanted})(document.activeElement)"):
            return
    pytest.fail(f"{wanted} is not reached by {key}")


def test_a_phone(extractive: Served, opened: Opened) -> None:
    """Nothing is wider than the screen in any state: tables scroll within themselves."""
    page = opened(extractive, **PHONE)
    for question in ("Compare “GRIDNET for Speech” with “Widgets That Remember”", ALL):
        ask(page, question)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert said(page)
    for name in ("library", "settings"):
        tab(page, name)
        expect(page.locator("#pl-find" if name == "library" else "#pl-settings")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_no_serious_barrier(extractive: Served, opened: Opened) -> None:
    """axe-core finds no serious violation on the main states, in light and in dark."""
    axe = pytest.importorskip("axe_playwright_python.base", reason="axe-core comes with axe-playwright-python")
    page = opened(extractive)

    def serious(state: str) -> list[str]:
        page.evaluate(axe.AXE_SCRIPT)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        return [
            f"{state}: {rule['id']} at {rule['nodes'][0]['target']}"
            for rule in found
            if rule["impact"] in ("serious", "critical")
        ]

    barriers = serious("start")
    ask(page, "Compare “GRIDNET for Speech” with “Widgets That Remember”")
    barriers += serious("comparison")
    ask(page, ALL)
    barriers += serious("themes")
    for name in ("library", "settings"):
        tab(page, name)
        expect(page.locator("#pl-table table" if name == "library" else "#pl-settings")).to_be_visible()
        barriers += serious(name)
    page.goto(f"{extractive.url}?__theme=dark")
    expect(answers(page).first).to_be_visible()
    barriers += serious("dark")
    assert barriers == []
