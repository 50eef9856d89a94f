"""What the parts of the conversation do when they are used."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from typing import Any

import gradio as gr

from rag import Assistant, Paper, UserError
from ui.answering import follow
from ui.conversation import Conversation, Exchange
from ui.exporting import conversation_markdown, papers_bibtex, papers_csv
from ui.feedback import feedback_case, keep_feedback
from ui.page import MAX_QUESTION, ChatParts, Parts, Updates, relabelled, step_html
from ui.panel import evidence_panel
from ui.saving import Keeper
from ui.settings import settings_of
from ui.spoken import messages
from ui.text import attribute
from ui.themes import listed_ids, map_html, names_of, theme_at

AT_ONCE = 64
"""Questions being answered at a time; the local model takes them in turn, their evidence does not wait."""

PRIVATE: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
"""For every listener: each is a public endpoint else."""

QUICK: dict[str, Any] = {"queue": False, **PRIVATE}
"""For what is quick: it must not wait behind answers."""


class ChatEvents:
    """The listeners of the conversation; all state is that of the session they are given."""

    def __init__(self, assistant: Assistant, parts: Parts, keeper: Keeper) -> None:
        self.assistant, self.parts, self.page, self.keeper = assistant, parts, parts.chat, keeper

    def connect(self) -> None:
        """Add the listeners to the `Blocks` that is open."""
        page = self.page
        answering: dict[str, Any] = {
            "outputs": [
                *(page.chat, page.panel, page.map, page.step, page.box, page.ask, page.stop, page.mail),
                self.parts.settings.used,
            ],
            "concurrency_limit": AT_ONCE,
            "concurrency_id": "answer",
            "trigger_mode": "multiple",
            **PRIVATE,
        }
        asked = [page.box, page.session]
        gr.on([page.box.submit, page.ask.click], self.answer, asked, **answering)
        page.chat.example_select(_take_text, None, page.box, **QUICK).then(self.answer, asked, **answering)
        page.chat.option_select(_take_text, None, page.box, **QUICK).then(self.answer, asked, **answering)
        for place in (page.panel, page.map):
            place.click(self.act, [page.session], **answering)
        page.stop.click(self.stop, page.session, None, **QUICK)
        viewed = [page.panel, page.map]
        page.chat.select(self.view, page.session, viewed, trigger_mode="multiple", **QUICK)
        cleared = [*answering["outputs"], page.thanks]
        page.chat.clear(self.clear, page.session, cleared, **QUICK)
        page.new.click(self.clear, page.session, cleared, **QUICK)
        for kind, button in page.downloads.items():
            button.click(self._download(kind), page.session, page.mail, **QUICK)
        rated = [page.session, page.rating, page.comment]
        page.send.click(self.rate, rated, [page.thanks, page.rating, page.comment, page.mail], **QUICK)
        page.mail.change(None, page.mail, None, js="(mail) => window.plenary.take(mail)", **PRIVATE)

    def connect_settings(self, page: gr.Blocks) -> None:
        """Add the listeners of the settings, and that of the page being opened."""
        own = self.parts.settings
        outputs = self.parts.texts()
        page.load(
            self.open,
            [self.page.session, self.page.saved, *own.inputs],
            outputs,
            js="(...values) => window.plenary.restored(values)",
            **QUICK,
        )
        for box in (own.writer, own.sources, own.length, own.language):
            box.input(
                self.set,
                [self.page.session, *own.inputs],
                outputs,
                js="(...values) => window.plenary.keep(values)",
                **QUICK,
            )

    async def answer(self, question: str, session: Conversation) -> AsyncIterator[Updates]:
        """Answer a question; an empty one only ends the editing of an earlier one."""
        question = (question or "").strip()[:MAX_QUESTION]
        if session.run:
            return
        if not question:
            session.editing = 0
            yield {self.page.step: step_html((), session.words)}
            return
        async for exchange in follow(self.assistant, session, question):
            yield self._updates(session, exchange)

    async def act(self, session: Conversation, chosen: gr.EventData) -> AsyncIterator[Updates]:
        """Do what a button of the panel or the map says."""
        name, target = chosen_action(chosen)
        page, words = self.page, session.words
        exchange = session.shown()
        if name in ("ask", "compare"):
            paper = self._paper(target)
            if paper:
                text = words["ask_paper_text" if name == "ask" else "compare_text"].format(name=paper.name)
                yield {page.box: text, page.mail: mail(focus=True)}
        elif name == "theme" and exchange and exchange.report and (theme := theme_at(exchange.report, target)):
            yield {page.box: words["theme_ask_text"].format(name=theme.label), page.mail: mail(focus=True)}
        elif name == "list" and exchange and exchange.report:
            self._open_list(exchange, target)
            yield {page.panel: evidence_panel(exchange, words)}
        elif name in ("edit", "retry") and not session.run and (number := _number(target, session)):
            asked = session.exchanges[number - 1].question
            session.editing = number
            if name == "edit":
                notice = step_html((), words, words["editing"].format(n=number))
                yield {page.box: asked, page.step: notice, page.mail: mail(focus=True)}
            else:
                async for updates in self.answer(asked, session):
                    yield updates

    async def stop(self, session: Conversation) -> None:
        """Stop the answer on its way."""
        if session.run:
            session.run.stop()

    async def view(self, session: Conversation, chosen: gr.SelectData) -> Updates:
        """Show the evidence of the message that was chosen."""
        session.view_message(chosen.index if isinstance(chosen.index, int) else chosen.index[0])
        return self._shown(session)

    async def clear(self, session: Conversation) -> Updates:
        """Begin a new conversation; the old one stays in the browser's list."""
        session.clear()
        page = self.page
        return {
            page.chat: [],
            page.step: step_html((), session.words),
            page.thanks: "",
            page.mail: mail(new=True),
            self.parts.settings.used: self._used(session),
            **self._shown(session),
            **_buttons(page, False),
        }

    async def rate(self, session: Conversation, rating: str | None, comment: str | None) -> Updates:
        """Keep what the user thought of the answer in view."""
        page, words = self.page, session.words
        exchange = session.shown()
        if exchange is None or not exchange.ended or rating not in ("yes", "no"):
            return {page.thanks: f"<p>{words['feedback_nothing']}</p>"}
        exchange.rating = rating
        case = feedback_case(exchange, session.history(exchange.number), comment or "")
        try:
            keep_feedback(self.assistant.config.home, case)
        except UserError as error:
            return {page.thanks: f"<p>{attribute(words['not_done'].format(error=error))}</p>"}
        told = f'<p role="status">{words["thanks"]}</p>'
        return {page.thanks: told, page.rating: None, page.comment: "", page.mail: self._kept(session)}

    def open(self, session: Conversation, saved: str, *values: object) -> Updates:
        """Show the page as the tab had it: its settings and its conversation."""
        session.settings = settings_of(self.assistant, *values)
        if saved and not session.exchanges:
            restored = self.keeper.unpack(saved)
            session.exchanges = restored or []
            session.viewed = len(session.exchanges)
            session.notice = "" if restored is not None else session.words["restored_not"]
        return self._everything(session)

    def set(self, session: Conversation, *values: object) -> Updates:
        """Take new settings."""
        session.settings = settings_of(self.assistant, *values)
        return self._everything(session)

    def _everything(self, session: Conversation) -> Updates:
        page = self.page
        updates = relabelled(self.assistant, self.parts, session.settings, messages(session))
        notice, session.notice = session.notice, ""
        return {
            **updates,
            **self._shown(session),
            page.step: step_html((), session.words, notice),
            self.parts.settings.used: self._used(session),
        }

    def _updates(self, session: Conversation, exchange: Exchange) -> Updates:
        """Return what changes on the page when something of an exchange has arrived."""
        running = not exchange.ended
        page = self.page
        updates: Updates = {
            page.chat: messages(session),
            page.step: step_html(exchange.steps if running else (), session.words),
            **_buttons(page, running),
        }
        if running and not exchange.steps:
            updates |= {page.box: "", page.mail: mail(follow=True)}
        if not running:
            updates[page.mail] = self._kept(session)
            updates[self.parts.settings.used] = self._used(session)
        if session.viewed == exchange.number:  # else the evidence of another answer is being read
            updates[page.panel] = evidence_panel(exchange, session.words)
            # The map is large, and only its first and last state differ.
            if exchange.written == 0 or exchange.ended:
                updates[page.map] = self._map(session)
        return updates

    def _shown(self, session: Conversation) -> Updates:
        panel = evidence_panel(session.shown(), session.words)
        return {self.page.panel: panel, self.page.map: self._map(session)}

    def _map(self, session: Conversation) -> str:
        exchange = session.shown()
        if exchange is None or exchange.report is None:
            return ""
        names = self._names([place.paper_id for place in exchange.report.places])
        return map_html(exchange.report, lambda paper_id: names.get(paper_id, paper_id), session.words)

    def _open_list(self, exchange: Exchange, name: str) -> None:
        assert exchange.report is not None, "the caller has looked"
        if name in exchange.opened:
            exchange.opened.remove(name)
            return
        ids = listed_ids(exchange.report, name)
        if ids:
            exchange.opened.add(name)
            exchange.names |= self._names(ids)

    def _names(self, ids: Iterable[str]) -> dict[str, str]:
        return names_of(self._papers(ids))

    def _paper(self, paper_id: str) -> Paper | None:
        return next(iter(self._papers([paper_id])), None)

    def _papers(self, ids: Iterable[str]) -> list[Paper]:
        snapshot = self.assistant.snapshot()
        return snapshot.papers_of(paper_id for paper_id in ids if paper_id in snapshot.rows)

    def _used(self, session: Conversation) -> str:
        used, words = session.usage(), session.words
        if not used.calls:
            return f"<p>{words['used_none']}</p>"
        told = words["used"].format(
            read=f"{used.prompt_tokens:,}", written=f"{used.completion_tokens:,}", calls=f"{used.calls:,}"
        )
        return f"<p>{told}{words['used_estimated'] if used.estimated else ''}</p>"

    def _kept(self, session: Conversation) -> str:
        title = session.exchanges[0].question[:120] if session.exchanges else ""
        return mail(save=self.keeper.pack(session.exchanges), title=title, count=len(session.exchanges))

    def _download(self, kind: str) -> Callable[[Conversation], Coroutine[Any, Any, str]]:
        async def download(session: Conversation) -> str:
            ended = [exchange for exchange in session.exchanges if exchange.ended]
            if kind == "markdown":
                text, name, form = conversation_markdown(ended, self._papers), "plenary.md", "text/markdown"
            elif kind == "bibtex":
                text, name, form = papers_bibtex(ended), "plenary.bib", "application/x-bibtex"
            else:
                text, name, form = papers_csv(ended), "plenary.csv", "text/csv"
            return mail(download={"name": name, "type": form, "text": text})

        return download


def mail(**content: Any) -> str:
    """Return what the page's script is to do, as JSON that differs from any mail before."""
    return json.dumps({**content, "at": time.time_ns()}, ensure_ascii=False)


def chosen_action(event: gr.EventData) -> tuple[str, str]:
    """Return the name and the target of a button as the browser told them, whatever it sent."""
    data = event._data if isinstance(event._data, dict) else {}
    return str(data.get("act", ""))[:40], str(data.get("target", ""))[:200]


def _number(target: str, session: Conversation) -> int:
    """Return the number of an exchange that there is, else 0."""
    number = int(target) if target.isascii() and target.isdigit() else 0
    return number if number <= len(session.exchanges) else 0


async def _take_text(chosen: gr.SelectData) -> str:
    value = chosen.value
    return str(value["text"] if isinstance(value, dict) and "text" in value else value)


def _buttons(page: ChatParts, running: bool) -> Updates:
    return {page.ask: gr.Button(visible=not running), page.stop: gr.Button(visible=running)}


__all__ = ["AT_ONCE", "PRIVATE", "QUICK", "ChatEvents", "chosen_action", "mail"]
