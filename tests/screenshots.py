"""Draws the pictures of `docs/images`: `python -m tests.screenshots` asks the packaged papers in a real browser.

The answers are those without a language model, so that the pictures are the same on every machine.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag import Assistant, Config
from tests.browser import CHROMIUM, FLAGS, PATIENCE, Served, ask, expect, sync_playwright, tab
from ui.app import fill_if_empty
from ui.examples import ALL

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images"
LAPTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 860}}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}

SINGLE = "How does UpSafe℃ let one trade safety against utility at inference time?"
COMPARED = "How do UpSafe℃ and ThinkSafe differ?"


def _answer(page: Page) -> None:
    ask(page, SINGLE)
    page.locator("#pl-chat .pl-cite").first.click()
    expect(page.locator("#pl-evidence .pl-wanted")).to_be_visible()


def _comparison(page: Page) -> None:
    ask(page, COMPARED)


def _themes(page: Page) -> None:
    ask(page, ALL)
    page.locator("#pl-evidence .pl-theme").first.get_by_role("button").first.click()
    expect(page.locator("#pl-evidence .pl-list")).to_be_visible()


def _map(page: Page) -> None:
    ask(page, ALL)
    page.locator("#pl-map .pl-legend").scroll_into_view_if_needed()


def _library(page: Page) -> None:
    tab(page, "library")
    page.locator("#pl-find input, #pl-find textarea").fill("safety")
    expect(page.locator("#pl-table tbody tr")).to_have_count(9)
    page.locator("#pl-table").get_by_role("button", name="UpSafe").first.click()
    expect(page.locator("#pl-details article")).to_be_visible()


STATES: dict[str, tuple[dict[str, Any], Callable[[Page], None]]] = {
    "start": (LAPTOP, lambda page: None),
    "answer": (LAPTOP, _answer),
    "comparison": (LAPTOP, _comparison),
    "themes": (LAPTOP, _themes),
    "map": (LAPTOP, _map),
    "library": (LAPTOP, _library),
    "settings": (LAPTOP, lambda page: tab(page, "settings")),
    "dark": ({**LAPTOP, "color_scheme": "dark"}, _answer),
    "phone": (PHONE, _comparison),
}


def main() -> int:
    """Draw all pictures, or those that are named."""
    wanted = sys.argv[1:] or list(STATES)
    unknown = [name for name in wanted if name not in STATES]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are {', '.join(STATES)}", file=sys.stderr)
        return 2
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder)
        (own / "assets").symlink_to((Config.from_environment().home / "assets").resolve())
        assistant = Assistant.open(Config(store=str(own / "store"), home=own, writer="extractive"))
        fill_if_empty(assistant)
        served = Served(assistant)
        try:
            expect.set_options(timeout=PATIENCE)
            with sync_playwright() as running:
                browser = running.chromium.launch(executable_path=str(CHROMIUM), args=list(FLAGS))
                for name in wanted:
                    _draw(browser, served, name)
                browser.close()
        finally:
            served.close()
    return 0


def _draw(browser: Browser, served: Served, name: str) -> None:
    options, prepare = STATES[name]
    context = browser.new_context(**options, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(served.url)
    expect(page.locator("#pl-ask-button")).to_be_visible()
    prepare(page)
    page.wait_for_timeout(800)  # until what Gradio moves has come to rest
    page.screenshot(path=FOLDER / f"{name}.png")
    print(FOLDER / f"{name}.png", flush=True)
    context.close()


if __name__ == "__main__":
    sys.exit(main())
