"""Serving the page: an empty index is filled, nothing is public that was not meant, errors are for users."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

import ui
from rag import Assistant, Config, UserError
from tests.fake_model import FakeModel, Reply
from ui.answering import follow, writer_in_words
from ui.app import build_page, fill_if_empty, launch_options
from ui.conversation import Conversation
from ui.examples import example_questions
from ui.policy import CONTENT_POLICY
from ui.settings import Settings, settings_of
from ui.uploads import MOST_BYTES

QUESTIONS = (
    "How does UpSafe℃ let one trade safety against utility at inference time?",
    "What does CERTRA certify?",
    "How do UpSafe℃ and ThinkSafe differ?",
    "Who founded the company?",
)


@pytest.fixture(scope="module")
def assistant(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Iterator[Assistant]:
    """An assistant over the packaged papers, indexed as the chat does it."""
    own = tmp_path_factory.mktemp("chat")
    (own / "assets").symlink_to((home / "assets").resolve())
    with Assistant.open(Config(store=str(own / "store"), home=own, writer="extractive")) as assistant:
        fill_if_empty(assistant)
        yield assistant


@pytest.fixture(scope="module")
def url(assistant: Assistant) -> Iterator[str]:
    """The page being served."""
    page = build_page(assistant)
    _, url, _ = page.launch(server_name="127.0.0.1", **launch_options())
    yield url
    page.close(verbose=False)


def test_an_empty_index_is_filled_once(assistant: Assistant, capsys: pytest.CaptureFixture[str]) -> None:
    """With the packaged papers; one that holds papers is left alone."""
    assert assistant.status().papers == 38
    fill_if_empty(assistant)
    assert capsys.readouterr().err == ""


def test_the_example_questions_are_answered(assistant: Assistant) -> None:
    """Each of them, without a language model; they are of all three kinds."""
    questions = example_questions(assistant)
    answers = [assistant.ask(question) for question in questions]
    assert [answer.abstained for answer in answers] == [False] * 5
    assert {answer.kind for answer in answers} == {"single", "comparative", "theme"}


def test_only_the_interface_is_public_and_the_browser_is_told_its_limits(url: str) -> None:
    """Four endpoints and no other, the policy on every response, nothing recorded."""
    with httpx.Client(base_url=url) as client:
        start = client.get("/")
        assert start.headers["content-security-policy"] == CONTENT_POLICY
        info = client.get("/gradio_api/info")
        assert info.headers["content-security-policy"] == CONTENT_POLICY
        named = info.json()["named_endpoints"]
        assert named.keys() == {"/ask", "/search", "/themes", "/paper"}
        assert all(about["description"] for about in named.values())
        assert info.json()["unnamed_endpoints"] == {}
        config = client.get("/config").json()
        assert config.get("analytics_enabled") is False
        assert client.get("/gradio_api/runs").status_code == 404


def test_the_interface_answers(url: str, assistant: Assistant) -> None:
    """To a Gradio client and to plain HTTP, with the documents of the command line, errors in words."""
    client = Client(url, verbose=False, analytics_enabled=False)
    answer = client.predict("What does CERTRA certify?", api_name="/ask")
    assert not answer["abstained"] and answer["claims"][0]["citations"][0]["quote"]
    follow_up = client.predict("And why?", [["user", "What is QOP?"]], "extractive", api_name="/ask")
    assert follow_up["writer"] == "extractive"
    hits = client.predict("unpaired data", 3, api_name="/search")
    assert len(hits) == 3
    paper = client.predict(hits[0]["paper_id"], api_name="/paper")
    assert paper["abstract"] == assistant.paper(hits[0]["paper_id"]).abstract
    themes = client.predict(api_name="/themes")
    assert themes["coverage"]["read"] == 38 and themes["themes"]
    for arguments, name, words in (
        (("",), "/ask", "the question is empty"),
        (("x", [["robot", "x"]]), "/ask", "history must be"),
        (("x", None, "magic"), "/ask", "unknown writer"),
        (("x", 1_000), "/search", "k must be between 1 and 100"),
        (("none",), "/paper", "there is no paper 'none'"),
    ):
        with pytest.raises(AppError, match=words):
            client.predict(*arguments, api_name=name)
    with httpx.Client(base_url=url, timeout=60) as plain:
        event = plain.post("/gradio_api/call/search", json={"data": ["unpaired data", 1]}).json()["event_id"]
        assert "event: complete" in plain.get(f"/gradio_api/call/search/{event}").text


def test_no_file_of_the_machine_can_be_had(url: str, assistant: Assistant) -> None:
    """Neither fetched nor handed over as an upload, by whatever path; an upload has a limit."""
    secret = assistant.config.home / "chat.key"
    assert secret.exists()
    with httpx.Client(base_url=url, timeout=60) as client:
        for path in (str(secret), "/etc/passwd", "../../etc/passwd", str(Path(ui.__file__))):
            assert client.get(f"/gradio_api/file={path}").status_code in (403, 404)
        index = next(
            at["id"] for at in client.get("/config").json()["dependencies"] if at["api_name"] == "index"
        )
        session = "abc"
        for path in (str(secret), "/etc/passwd"):
            sent = {"path": path, "meta": {"_type": "gradio.FileData"}}
            data = {"data": [None, None, [sent]], "fn_index": index, "session_hash": session}
            assert client.post("/gradio_api/queue/join", json=data).status_code == 200
            with client.stream("GET", "/gradio_api/queue/data", params={"session_hash": session}) as events:
                done = next(line for line in events.iter_lines() if "process_completed" in line)
            assert '"success":false' in done
    assert assistant.status().papers == 38 and not (assistant.config.home / "uploads").exists()
    assert launch_options()["max_file_size"] == MOST_BYTES


def test_a_password(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it nothing is told; a malformed one is the user's mistake."""
    page = build_page(assistant)
    try:
        _, url, _ = page.launch(server_name="127.0.0.1", **launch_options("ada:s3cret:x"))
        with httpx.Client(base_url=url) as client:
            for path in ("/config", "/gradio_api/info"):
                assert client.get(path).status_code == 401
            assert client.post("/gradio_api/upload", files={"files": ("a.txt", b"x")}).status_code == 401
            assert client.post("/gradio_api/call/ask", json={"data": ["x"]}).status_code == 401
            assert client.post("/login", data={"username": "ada", "password": "wrong"}).status_code == 400
            assert client.post("/login", data={"username": "ada", "password": "s3cret:x"}).status_code == 200
            assert client.get("/config").status_code == 200
    finally:
        page.close(verbose=False)
    for wrong in ("secret", ":x", "x:"):
        with pytest.raises(UserError, match="a name and a password"):
            launch_options(wrong)
    monkeypatch.setenv("PLENARY_AUTH", "wrong")
    with pytest.raises(UserError, match="PLENARY_AUTH"):
        ui.launch(assistant.config)


def test_twenty_users_at_once(assistant: Assistant) -> None:
    """Each is answered what one alone would be, and nobody sees another's question."""
    questions = [QUESTIONS[user % len(QUESTIONS)] for user in range(20)]
    alone = {question: assistant.ask(question).text for question in QUESTIONS}
    sessions = [Conversation() for _ in questions]

    async def one(session: Conversation, question: str) -> None:
        async for _ in follow(assistant, session, question):
            pass

    async def all_at_once() -> None:
        await asyncio.gather(*map(one, sessions, questions))

    asyncio.run(all_at_once())
    for session, question in zip(sessions, questions, strict=True):
        (exchange,) = session.exchanges
        assert exchange.question == question and exchange.answer is not None
        assert exchange.answer.text == alone[question]


def test_settings_from_a_browser(assistant: Assistant) -> None:
    """What cannot be meant is as it is by default; what can holds for the answer."""
    assert settings_of(assistant, "magic", -1, None, "xx") == Settings()
    assert settings_of(assistant, ["a"], "3", 7, {}) == Settings()
    settings = settings_of(assistant, "extractive", 2, "short", "zh")
    assert settings == Settings("extractive", 2, True, "zh")
    session = Conversation(settings=settings)

    async def ask() -> None:
        async for _ in follow(assistant, session, QUESTIONS[0]):
            pass

    asyncio.run(ask())
    assert len(session.exchanges[0].claims) == 1
    assert Settings(writer="auto").named_writer is None and Settings().wishes is None


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
    stand_in = SimpleNamespace(config=config, writer_kind=lambda writer: kind)
    assert writer_in_words(cast("Assistant", stand_in)) == words


def test_a_long_answer_does_not_hold_up_another_user(assistant: Assistant) -> None:
    """While a model is silent within one user's answer, another one has the evidence, and can stop the wait."""
    with FakeModel() as fake:
        fake.responder = lambda request: Reply("It is so and so on", hold_after=1)
        service = {"writer": "openai", "base_url": fake.base_url, "api_key": "key", "model": "m", "retries": 0}
        with Assistant.open(assistant.config, **service) as written:
            sessions = [Conversation(), Conversation()]

            async def until_evidence(session: Conversation) -> None:
                async for exchange in follow(written, session, QUESTIONS[1]):
                    if exchange.evidence and session.run and not session.run.stopped:
                        if session is sessions[1]:
                            assert not sessions[0].exchanges[0].ended
                            for other in sessions:
                                assert other.run is not None
                                other.run.stop()
                        elif not other_user:
                            # The first one's model is being waited for from here on.
                            other_user.append(asyncio.create_task(until_evidence(sessions[1])))

            other_user: list[asyncio.Task[None]] = []

            async def both() -> None:
                await until_evidence(sessions[0])
                await asyncio.gather(*other_user)

            asyncio.run(both())
            assert all(session.exchanges[0].stopped and session.exchanges[0].evidence for session in sessions)


def test_an_empty_library_is_said(home: Path, tmp_path: Path) -> None:
    """With what to do; the page can be built over it, and the next question works once there are papers."""
    (tmp_path / "assets").symlink_to((home / "assets").resolve())
    session = Conversation()

    async def ask(assistant: Assistant) -> None:
        async for _ in follow(assistant, session, QUESTIONS[1]):
            pass

    with Assistant.open(Config(store=str(tmp_path / "store"), home=tmp_path, writer="extractive")) as empty:
        build_page(empty)
        asyncio.run(ask(empty))
        assert "add some in the tab “Library”" in (session.exchanges[0].error or "")
        fill_if_empty(empty)
        asyncio.run(ask(empty))
    assert session.exchanges[1].answer is not None and not session.exchanges[1].answer.abstained
