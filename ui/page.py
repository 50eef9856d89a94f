"""The layout of the page, and its texts in the language of the interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import gradio as gr

from rag import Assistant
from ui.answering import corpus_in_words, writer_in_words
from ui.conversation import Conversation
from ui.examples import example_questions
from ui.library import LibraryView
from ui.panel import evidence_panel
from ui.settings import MOST_SOURCES, Settings
from ui.text import LATEX_DELIMITERS, attribute
from ui.uploads import ENDINGS
from ui.words import ENGLISH, LANGUAGES, Words, step_in_words

Updates: TypeAlias = dict[gr.blocks.Block, Any]

MAX_QUESTION = 2_000
"""Characters; longer questions are not read further."""

# What is chosen in HTML is told to the server by the name and target its button bears, and nothing else.
TELLS = """
element.addEventListener('click', (event) => {
  const button = event.target.closest('[data-act]');
  if (button) trigger('click', { act: button.dataset.act, target: button.dataset.target || '' });
});
"""


@dataclass(slots=True)
class ChatParts:
    """The parts of the first tab that change. `mail` carries what the browser is to do: keep, download, focus."""

    session: gr.State
    header: gr.HTML
    chat: gr.Chatbot
    panel: gr.HTML
    map: gr.HTML
    step: gr.HTML
    box: gr.Textbox
    ask: gr.Button
    stop: gr.Button
    new: gr.Button
    downloads: dict[str, gr.Button]
    history: gr.Accordion
    past: gr.HTML
    feedback: gr.Accordion
    rating: gr.Radio
    comment: gr.Textbox
    send: gr.Button
    thanks: gr.HTML
    mail: gr.Textbox
    saved: gr.Textbox


@dataclass(slots=True)
class SettingParts:
    """The parts of the settings tab."""

    writer: gr.Dropdown
    sources: gr.Slider
    length: gr.Radio
    language: gr.Radio
    used: gr.HTML

    @property
    def inputs(self) -> list[gr.blocks.Block]:
        """What is read, in the order of `settings_of`."""
        return [self.writer, self.sources, self.length, self.language]


@dataclass(slots=True)
class LibraryParts:
    """The parts of the library tab."""

    view: gr.State
    query: gr.Textbox
    filters: dict[str, gr.Dropdown]
    table: gr.HTML
    details: gr.HTML
    add: gr.Accordion
    files: gr.File
    index: gr.Button
    report: gr.HTML
    removal: gr.Accordion
    file: gr.Dropdown
    remove: gr.Button


@dataclass(slots=True)
class Parts:
    """All parts that change."""

    tabs: gr.Tabs
    tab: dict[str, gr.Tab]
    chat: ChatParts
    library: LibraryParts
    settings: SettingParts

    def texts(self) -> list[gr.blocks.Block]:
        """Return the parts that `relabelled` may change, and those that the conversation fills."""
        chat, library, own = self.chat, self.library, self.settings
        return [
            *self.tab.values(),
            *(chat.header, chat.chat, chat.panel, chat.map, chat.step, chat.box, chat.ask, chat.stop, chat.new),
            *chat.downloads.values(),
            *(chat.history, chat.past, chat.feedback, chat.rating, chat.comment, chat.send),
            *(own.writer, own.sources, own.length, own.language, own.used),
            *library.filters.values(),
            *(library.query, library.add, library.files, library.index, library.removal, library.file, library.remove),
        ]


def lay_out(assistant: Assistant) -> Parts:
    """Build the parts within the `Blocks` that is open."""
    words = ENGLISH
    header = gr.HTML(header_html(assistant, Settings()), js_on_load=None, elem_id="pl-header")
    with gr.Tabs(elem_id="pl-tabs") as tabs:
        tab = {}
        with gr.Tab(words["tab_chat"], id="chat") as tab["chat"]:
            chat = _chat(assistant, header, words)
        with gr.Tab(words["tab_library"], id="library") as tab["library"]:
            library = _library(words)
        with gr.Tab(words["tab_settings"], id="settings") as tab["settings"]:
            settings = _settings(assistant, words)
    return Parts(tabs, tab, chat, library, settings)


def _chat(assistant: Assistant, header: gr.HTML, words: Words) -> ChatParts:
    with gr.Row(elem_id="pl-main"):
        with gr.Column(scale=3, min_width=320):
            chat = gr.Chatbot(
                label=words["conversation"],
                elem_id="pl-chat",
                show_label=False,
                height="calc(100dvh - 22rem)",
                min_height=300,
                buttons=[],
                feedback_options=None,
                autoscroll=False,  # the page's script keeps the question in sight, not the end of the answer
                allow_tags=False,
                latex_delimiters=LATEX_DELIMITERS,
                examples=[{"text": question} for question in example_questions(assistant)],
                placeholder=words["placeholder"],
            )
            step = gr.HTML(step_html((), words), js_on_load=None, elem_id="pl-step")
            with gr.Row(elem_id="pl-ask"):
                box = gr.Textbox(
                    label=words["question"],
                    show_label=False,
                    placeholder=words["question"],
                    max_length=MAX_QUESTION,
                    scale=8,
                    min_width=160,
                    max_lines=6,
                    autofocus=True,
                    elem_id="pl-box",
                )
                ask = gr.Button(words["ask"], variant="primary", scale=1, min_width=80, elem_id="pl-ask-button")
                stop = gr.Button(words["stop"], visible=False, scale=1, min_width=80, elem_id="pl-stop-button")
            with gr.Row(elem_id="pl-tools"):
                new = gr.Button(words["new"], size="sm", min_width=110, elem_id="pl-new")
                downloads = {
                    kind: gr.Button(words[f"export_{kind}"], size="sm", min_width=110, elem_id=f"pl-export-{kind}")
                    for kind in ("markdown", "bibtex", "csv")
                }
            with gr.Accordion(words["history"], open=False, elem_id="pl-history") as history:
                past = gr.HTML(history_html(words), js_on_load=None)
        with gr.Column(scale=2, min_width=320):
            panel = gr.HTML(evidence_panel(None), label=words["evidence"], js_on_load=TELLS, elem_id="pl-evidence")
            themes = gr.HTML("", js_on_load=TELLS, elem_id="pl-map")
            with gr.Accordion(words["feedback"], open=False, elem_id="pl-feedback") as feedback:
                rating = gr.Radio(rating_choices(words), label=words["feedback"], show_label=False)
                comment = gr.Textbox(label=words["comment"], max_length=4_000, lines=2)
                send = gr.Button(words["send"], size="sm")
                thanks = gr.HTML("", js_on_load=None)
    # In the page, but not seen: what is not there cannot be handed to a script.
    mail = gr.Textbox("", visible="hidden", elem_id="pl-mail", label="mail")
    saved = gr.Textbox("", visible="hidden", elem_id="pl-saved", label="saved")
    return ChatParts(
        gr.State(Conversation()),
        *(header, chat, panel, themes, step, box, ask, stop, new, downloads, history, past),
        *(feedback, rating, comment, send, thanks, mail, saved),
    )


def _settings(assistant: Assistant, words: Words) -> SettingParts:
    with gr.Column(elem_id="pl-settings"):
        language = gr.Radio(
            [(texts["language"], name) for name, texts in LANGUAGES.items()], value="en", label=words["set_language"]
        )
        writer = gr.Dropdown(writer_choices(assistant, words), value="auto", label=words["set_writer"])
        sources = gr.Slider(0, MOST_SOURCES, value=0, step=1, label=words["set_sources"])
        length = gr.Radio(length_choices(words), value="normal", label=words["set_length"])
        used = gr.HTML(f"<p>{words['used_none']}</p>", js_on_load=None)
    return SettingParts(writer, sources, length, language, used)


def _library(words: Words) -> LibraryParts:
    with gr.Row(elem_id="pl-library"):
        with gr.Column(scale=3, min_width=320):
            query = gr.Textbox(label=words["search_papers"], max_lines=1, max_length=200, elem_id="pl-find")
            with gr.Row():
                filters = {
                    name: gr.Dropdown([], multiselect=True, label=words[name], min_width=140)
                    for name in ("source", "year", "venue", "keyword")
                }
            table = gr.HTML("", js_on_load=TELLS, elem_id="pl-table")
        with gr.Column(scale=2, min_width=320):
            details = gr.HTML("", js_on_load=TELLS, elem_id="pl-details")
            with gr.Accordion(words["add"], open=True, elem_id="pl-add") as add:
                files = gr.File(
                    label=words["upload"],
                    file_count="multiple",
                    file_types=list(ENDINGS),
                    height=140,
                    elem_id="pl-files",
                )
                index = gr.Button(words["index_files"], variant="primary", elem_id="pl-index")
                report = gr.HTML("", js_on_load=None, elem_id="pl-report")
            with gr.Accordion(words["remove_file"], open=False, elem_id="pl-removal") as removal:
                file = gr.Dropdown([], label=words["source"])
                remove = gr.Button(words["remove_file_button"], variant="stop", size="sm")
    return LibraryParts(
        gr.State(LibraryView()), query, filters, table, details, add, files, index, report, removal, file, remove
    )


def relabelled(assistant: Assistant, parts: Parts, settings: Settings, said: list[Any]) -> Updates:
    """Return the updates that put the page into the language of some settings; `said` are the chat's messages."""
    words = settings.words
    chat, library, own = parts.chat, parts.library, parts.settings
    updates: Updates = {parts.tab[name]: gr.Tab(label=words[f"tab_{name}"]) for name in parts.tab}
    updates |= {
        chat.header: header_html(assistant, settings),
        chat.chat: gr.Chatbot(said, placeholder=words["placeholder"]),
        chat.box: gr.Textbox(label=words["question"], placeholder=words["question"]),
        chat.ask: gr.Button(words["ask"]),
        chat.stop: gr.Button(words["stop"]),
        chat.new: gr.Button(words["new"]),
        chat.history: gr.Accordion(label=words["history"]),
        chat.past: history_html(words),
        chat.feedback: gr.Accordion(label=words["feedback"]),
        chat.rating: gr.Radio(rating_choices(words)),
        chat.comment: gr.Textbox(label=words["comment"]),
        chat.send: gr.Button(words["send"]),
        own.writer: gr.Dropdown(writer_choices(assistant, words), value=settings.writer, label=words["set_writer"]),
        own.sources: gr.Slider(value=settings.sources, label=words["set_sources"]),
        own.length: gr.Radio(
            length_choices(words), value="short" if settings.short else "normal", label=words["set_length"]
        ),
        own.language: gr.Radio(value=settings.language, label=words["set_language"]),
        library.query: gr.Textbox(label=words["search_papers"]),
        library.add: gr.Accordion(label=words["add"]),
        library.files: gr.File(label=words["upload"]),
        library.index: gr.Button(words["index_files"]),
        library.removal: gr.Accordion(label=words["remove_file"]),
        library.file: gr.Dropdown(label=words["source"]),
        library.remove: gr.Button(words["remove_file_button"]),
    }
    updates |= {button: gr.Button(words[f"export_{kind}"]) for kind, button in chat.downloads.items()}
    return updates | {box: gr.Dropdown(label=words[name]) for name, box in library.filters.items()}


def header_html(assistant: Assistant, settings: Settings) -> str:
    """Return the head of the page: what the corpus is, and who writes."""
    words = settings.words
    writer = writer_in_words(assistant, settings.named_writer, words)
    corpus = corpus_in_words(assistant, words)
    return f"<h1>Plenary</h1><p>{attribute(corpus)} · {words['writer']}: {attribute(writer)}</p>"


def step_html(steps: tuple[str, ...] | list[str], words: Words, notice: str = "") -> str:
    """Return the line that tells what is being done: the steps so far, the last one in bold."""
    told = [attribute(step_in_words(step, words)) for step in steps]
    if told:
        told[-1] = f"<strong>{told[-1]}</strong>"
    return f'<p role="status" aria-live="polite">{" … ".join(told) or attribute(notice)}</p>'


def history_html(words: Words) -> str:
    """Return the empty list of earlier conversations: the script of the page fills it from the browser's storage."""
    empty, delete = attribute(words["history_empty"]), attribute(words["history_delete"])
    return f'<div id="pl-past" data-empty="{empty}" data-delete="{delete}"></div>'


def writer_choices(assistant: Assistant, words: Words) -> list[tuple[str, str]]:
    """Return the writers that can be chosen with their names."""
    return [(words["writer_auto" if name == "auto" else f"name_{name}"], name) for name in assistant.writers()]


def length_choices(words: Words) -> list[tuple[str, str]]:
    """Return the lengths of answers with their names."""
    return [(words["normal"], "normal"), (words["short"], "short")]


def rating_choices(words: Words) -> list[tuple[str, str]]:
    """Return the ratings with their names."""
    return [(words["yes"], "yes"), (words["no"], "no")]


__all__ = [
    "MAX_QUESTION",
    "ChatParts",
    "LibraryParts",
    "Parts",
    "SettingParts",
    "Updates",
    "header_html",
    "lay_out",
    "relabelled",
    "step_html",
]
