"""The public endpoints, for `gradio_client`, curl and, as tools, for the Model Context Protocol.

They are the only ones: every listener of the page is private. Documents are those of `plenary ... --json`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

import gradio as gr
from gradio.events import api

from rag import Assistant, PlenaryError, UserError, answer_document, hits_document, paper_document, parse_history

MOST_HITS = 100
MOST_CHARACTERS = 2_000
"""Of a question, as in the chat."""

_P = ParamSpec("_P")


def add_endpoints(assistant: Assistant, at_once: int) -> None:
    """Add `ask`, `search`, `themes` and `paper` to the page being built; `at_once` answers are made at a time."""

    @_in_words
    def ask(question: str, history: list[list[str]] | None = None, writer: str | None = None) -> dict[str, Any]:
        """Answer a question about the indexed papers; every sentence cites a quote that was checked.

        Args:
            question: The question, in English or another language.
            history: Earlier turns, each ["user" or "assistant", "text"], oldest first.
            writer: "openai", "local" or "extractive"; by default what the server is set to.
        """
        turns = parse_history(history or [])
        return answer_document(assistant.ask(question[:MOST_CHARACTERS], turns, writer=writer or None))

    @_in_words
    def search(query: str, k: int = 10) -> list[dict[str, Any]]:
        """Find the papers nearest to a query, best first, each with its matching sentences.

        Args:
            query: What to look for.
            k: How many papers, at most 100.
        """
        if not 1 <= k <= MOST_HITS:
            raise UserError(f"k must be between 1 and {MOST_HITS}, not {k}")
        return hits_document(assistant.search(query[:MOST_CHARACTERS], int(k)))

    @_in_words
    def themes(topic: str = "", writer: str | None = None) -> dict[str, Any]:
        """Group all papers about a topic into themes, each with its papers and checked sentences.

        Args:
            topic: The topic; empty for all papers.
            writer: "openai", "local" or "extractive"; by default what the server is set to.
        """
        return answer_document(assistant.themes(topic[:MOST_CHARACTERS].strip() or None, writer or None))

    @_in_words
    def paper(paper_id: str) -> dict[str, Any]:
        """Return everything stored of a paper: title, authors, abstract, sources.

        Args:
            paper_id: The id, as the other endpoints tell it.
        """
        return paper_document(assistant.paper(paper_id))

    for function in (ask, search, themes, paper):
        # Long ones share the limit of the chat's answers and do not hold up the others.
        long = function.__name__ in ("ask", "themes")
        api(
            function,
            api_name=function.__name__,
            concurrency_limit=at_once,
            concurrency_id="answer" if long else "look-up",
        )


def _in_words(function: Callable[_P, Any]) -> Callable[_P, Any]:
    """Tell the caller of an error Plenary raises on purpose, and nothing of any other."""

    @wraps(function)
    def told(*arguments: _P.args, **named: _P.kwargs) -> Any:
        try:
            return function(*arguments, **named)
        except PlenaryError as error:
            raise gr.Error(str(error), print_exception=False) from error

    return told


__all__ = ["add_endpoints"]
