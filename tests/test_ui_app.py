"""Serving the page: an empty index is filled, nothing is public that was not meant, errors are for users."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

import ui
from rag import Assistant, Config, UserError, assets
from ui.app import build_page, fill_if_empty, launch_options, writer_in_words
from ui.examples import example_questions
from ui.policy import CONTENT_POLICY


@pytest.fixture(scope="module")
def assistant(tmp_path_factory: pytest.TempPathFactory, asset: Callable[[str], Path]) -> Iterator[Assistant]:
    """An assistant over the packaged papers, indexed as the chat does it."""
    home = asset(assets.EMBEDDING_MODEL).parent.parent
    asset(assets.TOKENIZER)
    store = tmp_path_factory.mktemp("chat") / "store"
    with Assistant.open(Config(store=str(store), home=home, writer="extractive")) as assistant:
        fill_if_empty(assistant)
        yield assistant


def test_an_empty_index_is_filled_once(assistant: Assistant, capsys: pytest.CaptureFixture[str]) -> None:
    """With the packaged papers; one that holds papers is left alone."""
    assert assistant.status().papers == 38
    fill_if_empty(assistant)
    assert capsys.readouterr().err == ""


def test_the_example_questions_are_answered(assistant: Assistant) -> None:
    """Each of them, without a language model, by the paper it was written for."""
    questions = example_questions(assistant)
    assert len(questions) == 5
    for question in questions:
        answer = assistant.ask(question)
        assert not answer.abstained, question


def test_nothing_is_public_and_the_browser_is_told_its_limits(assistant: Assistant) -> None:
    """No endpoint for strangers, no page of an interface description, the policy on every response."""
    page = build_page(assistant)
    try:
        _, url, _ = page.launch(server_name="127.0.0.1", **launch_options())
        with httpx.Client(base_url=url) as client:
            start = client.get("/")
            assert start.headers["content-security-policy"] == CONTENT_POLICY
            info = client.get("/gradio_api/info")
            assert info.headers["content-security-policy"] == CONTENT_POLICY
            assert info.json() == {"named_endpoints": {}, "unnamed_endpoints": {}}
            assert client.get("/config").json().get("analytics_enabled") is False
    finally:
        page.close(verbose=False)


def test_a_taken_port_is_said(assistant: Assistant) -> None:
    """With the option that helps."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=rf"port {port} .* choose another with --port"):
            ui.launch(assistant.config, port=port)


@pytest.mark.parametrize(
    ("kind", "settings", "words"),
    [
        ("extractive", {}, "no language model: answers are sentences of the papers, word for word"),
        ("local", {}, "the language model on this computer; nothing leaves it"),
        ("openai", {}, "the language model gpt-x at api.openai.com"),
        ("openai", {"base_url": "http://me:secret@host:8000/v1"}, "the language model gpt-x at host:8000"),
    ],
)
def test_the_writer_is_named_in_words(kind: str, settings: dict[str, Any], words: str) -> None:
    """And a service by its place, without the credentials an address may carry."""
    config = Config("store", Path("home"), model="gpt-x", **settings)
    stand_in = SimpleNamespace(config=config, writer_kind=lambda: kind)
    assert writer_in_words(cast("Assistant", stand_in)) == words
