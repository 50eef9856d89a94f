"""The page: its layout, what its parts do, and serving it."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from importlib import resources
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple, TypeAlias, cast
from urllib.parse import urlsplit

import gradio as gr
from tqdm import tqdm

from rag import Assistant, Config, PlenaryError, UserError
from ui.cards import evidence_panel
from ui.conversation import FAULT, Conversation, Exchange
from ui.examples import example_questions
from ui.policy import ContentPolicy
from ui.running import Event, Run
from ui.text import LATEX_DELIMITERS, attribute

Updates: TypeAlias = dict[gr.blocks.Block, Any]

AT_ONCE = 64
"""Questions being answered at a time; the local model takes them in turn, their evidence does not wait."""

MAX_QUESTION = 2_000
"""Characters; longer questions are not read further."""

PRIVATE: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
"""For every listener: each is a public endpoint else."""

_HERE = Path(__file__).parent


def serve(config: Config, host: str, port: int) -> None:
    """See `ui.launch`."""
    with Assistant.open(config) as assistant:
        fill_if_empty(assistant)
        Thread(target=_warm, args=(assistant,), name="warm", daemon=True).start()
        page = build_page(assistant)
        try:
            _, url, _ = page.launch(server_name=host, server_port=port, **launch_options())
        except OSError as error:
            raise UserError(f"port {port} of {host} cannot be used ({error}); choose another with --port") from error
        print(f"Plenary is at {url} (Ctrl-C ends it)", flush=True)
        page.block_thread()


def fill_if_empty(assistant: Assistant) -> None:
    """Index the papers that came along when there are none, with a line of progress on stderr."""
    if assistant.snapshot().paper_ids:
        return
    folder = Path(str(resources.files("data")))
    with tqdm(unit=" papers", file=sys.stderr, desc="indexing the papers that came along") as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        assistant.index([folder], progress)


def launch_options() -> dict[str, Any]:
    """Return what `Blocks.launch` is given besides the address: looks, and what is switched off."""
    return {
        # System fonts: none is fetched.
        "theme": gr.themes.Soft(
            primary_hue="teal", neutral_hue="stone", font=["system-ui", "sans-serif"], font_mono=["monospace"]
        ).set(
            # `set` forgets Soft's own.
            background_fill_primary="*neutral_50",
            # White on teal can be read only where the teal is dark.
            button_primary_background_fill="*primary_700",
            button_primary_background_fill_hover="*primary_800",
            button_primary_background_fill_dark="*primary_700",
            button_primary_background_fill_hover_dark="*primary_800",
        ),
        "css_paths": [_HERE / "style.css"],
        "head": f"<script>{(_HERE / 'chat.js').read_text(encoding='utf-8')}</script>",
        "app_kwargs": {"middleware": [(ContentPolicy, (), {})]},
        "footer_links": [],
        "share": False,
        "ssr_mode": False,
        "pwa": False,
        "mcp_server": False,
        "enable_monitoring": False,
        # Nothing is uploaded in this chat, but Gradio takes files all the same.
        "max_file_size": "1kb",
        "quiet": True,
        "prevent_thread_lock": True,
    }


class Parts(NamedTuple):
    """The parts of the page that change."""

    session: gr.State
    header: gr.HTML
    chat: gr.Chatbot
    panel: gr.HTML
    step: gr.HTML
    box: gr.Textbox
    ask: gr.Button
    stop: gr.Button


def build_page(assistant: Assistant) -> gr.Blocks:
    """Return the page over an open assistant; it holds no state but that of its sessions."""
    with gr.Blocks(title="Plenary", analytics_enabled=False, fill_width=True) as page:
        parts = _lay_out(assistant)
        _connect(assistant, parts)
        # The index may have grown since the page was built. (A function given to a component as its value
        # would become a public endpoint.)
        page.load(lambda: _header(assistant), None, parts.header, queue=False, **PRIVATE)
    page.queue(default_concurrency_limit=AT_ONCE)
    return cast("gr.Blocks", page)  # gradio's own `__enter__` has no type


def _lay_out(assistant: Assistant) -> Parts:
    session = gr.State(Conversation())
    header = gr.HTML(_header(assistant), js_on_load=None, elem_id="pl-header")
    with gr.Row(elem_id="pl-main"):
        with gr.Column(scale=3, min_width=320):
            chat = gr.Chatbot(
                label="Conversation",
                elem_id="pl-chat",
                show_label=False,
                height="calc(100dvh - 17rem)",
                min_height=320,
                buttons=[],
                feedback_options=None,
                allow_tags=False,
                latex_delimiters=LATEX_DELIMITERS,
                examples=[{"text": question} for question in example_questions(assistant)],
                placeholder="### Ask what the papers say\nor begin with one of these questions",
            )
            step = gr.HTML(_step(""), js_on_load=None, elem_id="pl-step")
            with gr.Row(elem_id="pl-ask"):
                box = gr.Textbox(
                    label="Your question",
                    show_label=False,
                    placeholder="Your question",
                    max_length=MAX_QUESTION,
                    scale=8,
                    min_width=160,
                    max_lines=6,
                    autofocus=True,
                    elem_id="pl-box",
                )
                ask = gr.Button("Ask", variant="primary", scale=1, min_width=80, elem_id="pl-ask-button")
                stop = gr.Button("Stop", visible=False, scale=1, min_width=80, elem_id="pl-stop-button")
        with gr.Column(scale=2, min_width=320):
            panel = gr.HTML(evidence_panel(None), label="Evidence", js_on_load=None, elem_id="pl-evidence")
    return Parts(session, header, chat, panel, step, box, ask, stop)


def _connect(assistant: Assistant, page: Parts) -> None:
    async def answer(question: str, session: Conversation) -> AsyncIterator[Updates]:
        question = question.strip()[:MAX_QUESTION]
        if question and not session.run:
            async for exchange in follow(assistant, session, question):
                yield _updates(page, session, exchange)

    async def stop_answer(session: Conversation) -> None:
        if session.run:
            session.run.stop()

    async def view(session: Conversation, chosen: gr.SelectData) -> str:
        session.view_message(chosen.index)
        return evidence_panel(session.shown())

    async def clear(session: Conversation) -> Updates:
        session.clear()
        return {page.chat: [], page.panel: evidence_panel(None), page.step: _step(""), **_buttons(page, False)}

    async def take_example(chosen: gr.SelectData) -> str:
        return str(chosen.value["text"])

    # What is quick is not queued: it must not wait behind answers.
    quick: dict[str, Any] = {"queue": False, **PRIVATE}
    answering: dict[str, Any] = {
        "inputs": [page.box, page.session],
        "outputs": [page.chat, page.panel, page.step, page.box, page.ask, page.stop],
        "concurrency_limit": AT_ONCE,
        "concurrency_id": "answer",
        **PRIVATE,
    }
    gr.on([page.box.submit, page.ask.click], answer, **answering)
    page.chat.example_select(take_example, None, page.box, **quick).then(answer, **answering)
    page.stop.click(stop_answer, page.session, None, **quick)
    page.chat.select(view, page.session, page.panel, **quick)
    page.chat.clear(clear, page.session, [page.chat, page.panel, page.step, page.ask, page.stop], **quick)


def _updates(page: Parts, session: Conversation, exchange: Exchange) -> Updates:
    """Return what changes on the page when something of an exchange has arrived."""
    running = not exchange.ended
    updates: Updates = {
        page.chat: session.messages(),
        page.step: _step(" … ".join(exchange.steps) if running else ""),
        **_buttons(page, running),
    }
    if running and not exchange.steps:
        updates[page.box] = ""
    if session.viewed == exchange.number:  # else the evidence of another answer is being read
        updates[page.panel] = evidence_panel(exchange)
    return updates


def _buttons(page: Parts, running: bool) -> Updates:
    return {page.ask: gr.Button(visible=not running), page.stop: gr.Button(visible=running)}


async def follow(assistant: Assistant, session: Conversation, question: str) -> AsyncIterator[Exchange]:
    """Ask a question in a session and yield its exchange each time something arrived, until it has ended."""
    history = session.history()
    exchange = session.begin(question)

    def events() -> Iterator[Event]:
        yield from assistant.stream(question, history)

    run = session.run = Run(events)
    try:
        yield exchange
        async for event in run:
            if exchange.take(event) and not exchange.ended:
                yield exchange
    except PlenaryError as error:
        exchange.error = f"No answer: {error}."
    finally:
        # Also when the tab was closed meanwhile, which ends this generator where it waits.
        if session.run is run:
            session.run = None
        if not exchange.ended:
            exchange.stopped = run.stopped
            exchange.error = None if run.stopped else FAULT
        run.stop()
    if exchange in session.exchanges:  # else the conversation was cleared meanwhile
        yield exchange


def writer_in_words(assistant: Assistant) -> str:
    """Return who writes the answers, as a person would say it."""
    config = assistant.config
    match assistant.writer_kind():
        case "openai":
            place = urlsplit(config.base_url or "https://api.openai.com").netloc.rpartition("@")[2]
            return f"the language model {config.model} at {place}"
        case "local":
            return "the language model on this computer; nothing leaves it"
        case _:
            return "no language model: answers are sentences of the papers, word for word"


def _header(assistant: Assistant) -> str:
    papers = len(assistant.snapshot().paper_ids)
    count = f"{papers:,} paper{'' if papers == 1 else 's'}"
    return (
        f"<h1>Plenary</h1><p><strong>{count}</strong> · every sentence of an answer is checked against their "
        f"abstracts · Writer: {attribute(writer_in_words(assistant))}</p>"
    )


def _step(text: str) -> str:
    return f'<p role="status" aria-live="polite">{attribute(text)}</p>'


def _warm(assistant: Assistant) -> None:
    with suppress(PlenaryError):  # the first question will tell
        assistant.pipeline()


__all__ = ["build_page", "fill_if_empty", "follow", "launch_options", "serve", "writer_in_words"]
