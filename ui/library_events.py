"""What the parts of the library do when they are used."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import gradio as gr

from rag import Assistant, Indexed, PlenaryError
from ui.chat_events import PRIVATE, QUICK, chosen_action, mail
from ui.conversation import Conversation
from ui.library import Corpus, LibraryView, act, details, filters_of, found, table
from ui.page import Parts, Updates, header_html
from ui.text import attribute
from ui.uploads import index_files, keep, report
from ui.words import Words, plural


class LibraryEvents:
    """The listeners of the library; what a tab shows is in the view it is given, the papers are common to all."""

    def __init__(self, assistant: Assistant, parts: Parts) -> None:
        self.assistant, self.parts, self.page = assistant, parts, parts.library
        self.corpus = Corpus(assistant)

    def connect(self) -> None:
        """Add the listeners to the `Blocks` that is open."""
        page, chat = self.page, self.parts.chat
        session: list[gr.blocks.Block] = [chat.session, page.view]
        shown = [page.table, page.details, page.view]
        wanted: list[gr.Textbox | gr.Dropdown] = [page.query, *page.filters.values()]
        everything = [*shown, *page.filters.values(), page.file, page.report, chat.header]
        self.parts.tab["library"].select(self.refresh, session, everything, **QUICK)
        # Typing is answered as it goes: only the last state of it counts.
        for box in wanted:
            box.change(self.find, [*session, *wanted], shown, trigger_mode="always_last", **QUICK)
        acted = [*shown, chat.box, chat.mail, self.parts.tabs]
        page.table.click(self.act, session, acted, trigger_mode="multiple", **QUICK)
        page.details.click(self.act, session, [*acted, *everything[len(shown) :]], trigger_mode="multiple", **QUICK)
        page.index.click(
            self.index,
            [*session, page.files],
            [*everything, page.files],
            concurrency_limit=1,
            concurrency_id="index",
            **PRIVATE,
        )
        page.remove.click(self.remove_file, [*session, page.file], everything, **QUICK)

    def refresh(self, session: Conversation, view: LibraryView) -> Updates:
        """Show the library as it is now."""
        page, words = self.page, session.words
        choices = self.corpus.choices()
        updates: Updates = {box: gr.Dropdown(choices[name]) for name, box in page.filters.items()}
        updates[page.file] = gr.Dropdown(choices["source"], value=None)
        return {
            **updates,
            **self._shown(view, words),
            page.report: gr.skip(),
            self.parts.chat.header: header_html(self.assistant, session.settings),
        }

    def find(
        self, session: Conversation, view: LibraryView, query: str | None, *chosen: list[str] | None
    ) -> Updates:
        """Show the papers that have the words and pass the filters."""
        view = replace(view, query=(query or "")[:200], filters=filters_of(*chosen), page=0)
        return self._shown(view, session.words)

    def act(self, session: Conversation, view: LibraryView, event: gr.EventData) -> Updates:
        """Do what a button of the table or the card says."""
        name, target = chosen_action(event)
        words = session.words
        if name == "remove" and target == view.opened:
            if view.sure != target:
                return self._shown(replace(view, sure=target), words)
            return self._removed(session, replace(view, opened="", sure=""), target)
        if name in ("ask", "compare") and (paper := self.corpus.paper(target)):
            text = words["ask_paper_text" if name == "ask" else "compare_text"].format(name=paper.name)
            chat = self.parts.chat
            return {chat.box: text, chat.mail: mail(focus=True), self.parts.tabs: gr.Tabs(selected="chat")}
        return self._shown(act(view, name, target), words)

    async def index(
        self, session: Conversation, view: LibraryView, uploaded: list[str] | None
    ) -> AsyncIterator[Updates]:
        """Add uploaded files, telling how far it is."""
        page, words = self.page, session.words
        if not uploaded:
            yield {page.report: _told(words["upload_none"])}
            return
        try:
            files = await asyncio.to_thread(keep, uploaded, self.assistant.config.home)
            async for told in index_files(self.assistant, files, words):
                if isinstance(told, Indexed):
                    updates = await asyncio.to_thread(self.refresh, session, view)
                    yield {**updates, page.report: report(told, words), page.files: None}
                else:
                    yield {page.report: _told(told)}
        except PlenaryError as error:
            yield {page.report: _told(words["not_done"].format(error=error))}

    def remove_file(self, session: Conversation, view: LibraryView, name: str | None) -> Updates:
        """Remove all papers that only a file has."""
        return self._removed(session, view, name) if name else {self.page.report: gr.skip()}

    def _removed(self, session: Conversation, view: LibraryView, name: str) -> Updates:
        words = session.words
        try:
            gone = self.assistant.remove([name])
        except PlenaryError as error:
            return {**self._shown(view, words), self.page.report: _told(words["not_done"].format(error=error))}
        return {**self.refresh(session, view), self.page.report: _told(plural(words, "gone", gone))}

    def _shown(self, view: LibraryView, words: Words) -> dict[Any, Any]:
        page = self.page
        rows = self.corpus.rows()
        papers = found(rows, view)
        opened = self.corpus.paper(view.opened) if view.opened else None
        return {
            page.table: table(papers, view, len(rows), words),
            page.details: details(opened, view, words),
            page.view: view,
        }


def _told(text: str) -> str:
    return f'<p role="status">{attribute(text)}</p>'


__all__ = ["LibraryEvents"]
