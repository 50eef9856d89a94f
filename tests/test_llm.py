"""The writer against a real HTTP service: what arrives, what goes wrong, and what the user is told."""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from fake_model import FakeModel, Reply
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.errors import OperatorError, ProviderError
from rag.llm import ChatWriter, Service
from rag.types import Piece, Prompt, Usage

KEY = "sk-secret-0123456789"
PROMPT = Prompt("Cite.", "What is Adam?", 50, examples=(("What is A?", "A is B. [k1]"),))
SOON = {"Retry-After": "0.01"}


def words(text: str) -> int:
    return len(text.split())


def make_writer(fake: FakeModel, **settings: Any) -> ChatWriter:
    values = {"base_url": fake.base_url, "api_key": KEY, "model": "fake-model", "timeout": 20.0, **settings}
    return ChatWriter(Service(**values), words)


def ask(fake: FakeModel, prompt: Prompt = PROMPT, **settings: Any) -> tuple[str, Piece]:
    """Return the whole text and the last piece."""
    pieces = list(make_writer(fake, **settings).write(prompt))
    assert all(piece.usage is None and piece.finished for piece in pieces[:-1])
    return "".join(piece.text for piece in pieces), pieces[-1]


def failure(fake: FakeModel, **settings: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        ask(fake, **settings)
    message = str(caught.value)
    assert KEY not in message
    assert "\n" not in message
    return caught.value


@pytest.fixture
def fake() -> Iterator[FakeModel]:
    with FakeModel() as server:
        yield server


# --- what is asked and what arrives


def test_request_carries_messages_examples_and_parameters(fake: FakeModel) -> None:
    fake.enqueue("Adam is an optimiser. [k1]")
    text, last = ask(fake, extra={"seed": 7})
    assert text == "Adam is an optimiser. [k1]"
    request = fake.history[0]
    assert [(message["role"], message["content"]) for message in request.messages] == [
        ("system", "Cite."),
        ("user", "What is A?"),
        ("assistant", "A is B. [k1]"),
        ("user", "What is Adam?"),
    ]
    assert request.headers["authorization"] == f"Bearer {KEY}"
    wanted = {
        "model": "fake-model",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens": 50,
        "temperature": 0.0,
        "seed": 7,
    }
    assert wanted.items() <= request.body.items()
    # What the service counted, in words here.
    assert last.usage == Usage(prompt_tokens=11, completion_tokens=5, calls=1)


def test_text_arrives_while_the_service_still_writes(fake: FakeModel) -> None:
    fake.enqueue(Reply(pieces=["first ", "second"], hold_after=1))
    pieces = make_writer(fake).write(PROMPT)
    assert next(pieces) == Piece("first ")
    pieces.close()  # type: ignore[attr-defined]  # a generator


def test_closing_the_iterator_closes_the_connection(fake: FakeModel) -> None:
    fake.enqueue(Reply(pieces=["first ", "second"], hold_after=1))
    pieces = make_writer(fake).write(PROMPT)
    next(pieces)
    assert not fake.history[0].hung_up.is_set()
    pieces.close()  # type: ignore[attr-defined]  # a generator
    assert fake.history[0].hung_up.wait(10)


def test_an_iterator_that_is_let_go_closes_the_connection_too(fake: FakeModel) -> None:
    fake.enqueue(Reply(pieces=["first ", "second"], hold_after=1))
    for _ in make_writer(fake).write(PROMPT):
        break
    assert fake.history[0].hung_up.wait(10)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=6), min_size=1, max_size=8))
def test_split_of_the_stream_never_changes_the_text(pieces: list[str]) -> None:
    whole = "Fixed " + "".join(pieces)
    with FakeModel() as fake:
        fake.enqueue(Reply(pieces=["Fixed ", *pieces]), Reply(whole))
        writer = make_writer(fake)
        streamed = "".join(piece.text for piece in writer.write(PROMPT))
        assert streamed == "".join(piece.text for piece in writer.write(PROMPT))
        assert streamed == whole or "<think" in whole or "</think" in whole


def test_usage_is_estimated_when_the_service_does_not_count(fake: FakeModel) -> None:
    fake.enqueue(Reply("one two three", usage=False))
    _, last = ask(fake)
    assert last.usage == Usage(prompt_tokens=11, completion_tokens=3, calls=1, estimated=True)


def test_name_is_the_model_unless_given(fake: FakeModel) -> None:
    service = Service(fake.base_url, None, "fake-model")
    assert ChatWriter(service, words).name == "fake-model"
    assert ChatWriter(service, words, name="Local").name == "Local"


def test_grammar_goes_to_the_local_model_only(fake: FakeModel) -> None:
    prompt = Prompt("s", "u", 5, grammar='root ::= "x"')
    fake.enqueue("x", "x")
    ask(fake, prompt, local=True, extra={"cache_prompt": True})
    ask(fake, prompt)
    assert fake.history[0].body["grammar"] == 'root ::= "x"'
    assert fake.history[0].body["cache_prompt"] is True
    assert "grammar" not in fake.history[1].body


def test_several_threads_may_write_at_a_time() -> None:
    with FakeModel(lambda request: f"about {request.user}", rejects=["temperature"]) as fake:
        writer = make_writer(fake)
        answers: dict[int, str] = {}

        def run(number: int) -> None:
            pieces = writer.write(Prompt("s", f"question {number}", 5))
            answers[number] = "".join(piece.text for piece in pieces)

        threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == {number: f"about question {number}" for number in range(8)}


# --- endings


def test_length_keeps_the_text_and_says_that_it_is_not_finished(fake: FakeModel) -> None:
    fake.enqueue(Reply("A whole sentence. Half a", finish_reason="length"))
    text, last = ask(fake)
    assert text == "A whole sentence. Half a"
    assert last.finished is False


@pytest.mark.parametrize(
    "reply",
    [
        Reply(pieces=["a ", "b ", "c"], cut_after=2),
        Reply(pieces=["a ", "b ", "c"], cut_after=2, cut="broken"),
        Reply(pieces=["a ", "b ", "c"], cut_after=0),
        Reply("whole text", finish_reason=None),
        Reply("whole text", finish_reason=None, done=False),
    ],
)
def test_a_stream_without_an_end_is_an_error_that_may_be_retried(fake: FakeModel, reply: Reply) -> None:
    fake.enqueue(reply)
    error = failure(fake)
    assert "cut off" in str(error)
    assert error.retry


def test_text_before_the_cut_was_delivered(fake: FakeModel) -> None:
    fake.enqueue(Reply(pieces=["a ", "b ", "c"], cut_after=2))
    pieces = make_writer(fake).write(PROMPT)
    assert [next(pieces).text, next(pieces).text] == ["a ", "b "]
    with pytest.raises(ProviderError):
        next(pieces)


def test_a_missing_done_mark_is_no_fault(fake: FakeModel) -> None:
    fake.enqueue(Reply("fine", done=False))
    assert ask(fake)[0] == "fine"


@pytest.mark.parametrize("text", ["", "  \n", "<think>hm</think>", "<think>never closed"])
def test_an_empty_answer_is_an_error(fake: FakeModel, text: str) -> None:
    fake.enqueue(Reply(text))
    error = failure(fake)
    assert "empty answer" in str(error)
    assert error.retry


def test_a_model_that_only_reasons_is_told_apart(fake: FakeModel) -> None:
    fake.enqueue(Reply("", reasoning="long thoughts", finish_reason="length"))
    error = failure(fake)
    assert "without an answer" in str(error)
    assert not error.retry


def test_a_filtered_answer_is_told_apart(fake: FakeModel) -> None:
    fake.enqueue(Reply("", finish_reason="content_filter"))
    assert "rephrase" in str(failure(fake))


# --- parameters that services reject


@pytest.mark.parametrize("parameter", ["temperature", "stream_options", "seed"])
def test_a_rejected_parameter_is_left_out_from_then_on(parameter: str) -> None:
    with FakeModel(lambda _: "fine", rejects=[parameter]) as fake:
        writer = make_writer(fake, extra={"seed": 7})
        assert "".join(piece.text for piece in writer.write(PROMPT)) == "fine"
        assert "".join(piece.text for piece in writer.write(PROMPT)) == "fine"
        assert [parameter in request.body for request in fake.history] == [True, False, False]


def test_the_limit_is_renamed_for_an_older_service() -> None:
    with FakeModel(lambda _: "fine", rejects=["max_completion_tokens"]) as fake:
        ask(fake)
        assert fake.history[-1].body["max_tokens"] == 50
        assert "max_completion_tokens" not in fake.history[-1].body


def test_everything_optional_may_be_rejected() -> None:
    names = ["temperature", "max_completion_tokens", "max_tokens", "stream_options", "seed"]
    with FakeModel(lambda _: "fine", rejects=names) as fake:
        text, last = ask(fake, extra={"seed": 7})
        assert text == "fine"
        assert last.usage is not None
        assert last.usage.estimated
        assert len(fake.history) == 6
        assert fake.history[-1].body.keys() == {"model", "messages", "stream"}


def test_a_service_that_may_not_stream_is_asked_for_the_whole(fake: FakeModel) -> None:
    message = "Your organization must be verified to stream this model."
    fake.enqueue(Reply.failing(400, message, param="stream", code="unsupported_value"), "the whole answer")
    text, last = ask(fake)
    assert text == "the whole answer"
    assert last.usage == Usage(prompt_tokens=11, completion_tokens=3, calls=1)
    assert not fake.history[-1].stream


@pytest.mark.parametrize(
    ("status", "error", "parameter"),
    [
        (
            400,
            {
                "message": "Unsupported value: 'temperature' does not support 0 with this model. "
                "Only the default (1) value is supported.",
                "param": "temperature",
            },
            "temperature",
        ),
        (
            400,
            {"message": "Unrecognized request argument supplied: max_completion_tokens", "param": None},
            "max_completion_tokens",
        ),
        (400, {"message": "unknown field `stream_options`, expected ..."}, "stream_options"),
        (400, {"message": "bad", "param": "stream_options.include_usage"}, "stream_options"),
    ],
)
def test_wordings_of_a_rejection(fake: FakeModel, status: int, error: dict[str, Any], parameter: str) -> None:
    fake.enqueue(Reply(status=status, error=error), "fine")
    assert ask(fake)[0] == "fine"
    assert parameter in fake.history[0].body
    assert parameter not in fake.history[1].body


def test_a_rejection_in_the_form_of_fastapi(fake: FakeModel) -> None:
    detail = [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]
    body = json.dumps({"detail": detail})
    fake.enqueue(Reply(status=422, body=body, content_type="application/json"), "fine")
    assert ask(fake)[0] == "fine"
    assert "stream_options" not in fake.history[1].body


def test_other_refusals_are_shown_in_the_words_of_the_service(fake: FakeModel) -> None:
    fake.enqueue(Reply.failing(400, "messages must alternate between roles."))
    error = failure(fake)
    assert "messages must alternate between roles" in str(error)
    assert not error.retry


def test_a_rejection_repeated_without_the_parameter_ends(fake: FakeModel) -> None:
    fake.enqueue(Reply.rejecting("temperature"), Reply.rejecting("temperature"))
    assert "temperature" in str(failure(fake))
    assert len(fake.history) == 2


# --- failures of the service


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_named_by_its_variable(fake: FakeModel, status: int) -> None:
    fake.enqueue(Reply.failing(status, f"Incorrect API key provided: {KEY}"))
    error = failure(fake)
    assert "OPENAI_API_KEY" in str(error)
    assert not error.retry


def test_a_missing_key_is_asked_for() -> None:
    with FakeModel(api_key=KEY) as fake:
        assert "set OPENAI_API_KEY" in str(failure(fake, api_key=None))


def test_not_found_names_model_and_address(fake: FakeModel) -> None:
    fake.enqueue(Reply.failing(404, "The model does not exist", code="model_not_found"))
    error = failure(fake, model="gpt-none")
    assert "'gpt-none'" in str(error)
    assert "OPENAI_BASE_URL" in str(error)
    assert not error.retry


def test_a_wrong_path_is_not_found(fake: FakeModel) -> None:
    error = failure(fake, base_url=fake.base_url.removesuffix("/v1"))
    assert "usually ends in /v1" in str(error)


def test_a_rate_limit_is_waited_for(fake: FakeModel) -> None:
    fake.enqueue(*[Reply.rate_limited(0.01)] * 3, "at last")
    assert ask(fake)[0] == "at last"
    assert len(fake.history) == 4


def test_a_rate_limit_that_lasts_is_reported_after_the_retries(fake: FakeModel) -> None:
    fake.enqueue(*[Reply.rate_limited(0.01)] * 3)
    error = failure(fake, retries=2)
    assert "more requests than it allows" in str(error)
    assert error.retry
    assert fake.left == 0


def test_a_wait_that_is_too_long_is_told_at_once(fake: FakeModel) -> None:
    fake.enqueue(Reply.rate_limited(600))
    assert "ask again in 600 s" in str(failure(fake))
    assert len(fake.history) == 1


def test_spent_credit_is_told_apart_from_a_rate_limit(fake: FakeModel) -> None:
    fake.enqueue(Reply.failing(429, "You exceeded your quota", code="insufficient_quota", headers=SOON))
    error = failure(fake, retries=0)
    assert "no credit" in str(error)
    assert not error.retry


@pytest.mark.parametrize("status", [500, 502, 503, 529])
def test_a_fault_of_the_service(fake: FakeModel, status: int) -> None:
    fake.enqueue(Reply.failing(status, headers=SOON), Reply.failing(status, headers=SOON))
    error = failure(fake, retries=1)
    assert f"status {status}" in str(error)
    assert error.retry


def test_a_fault_of_the_service_is_retried(fake: FakeModel) -> None:
    fake.enqueue(Reply.failing(503, headers=SOON), "fine")
    assert ask(fake)[0] == "fine"


@pytest.mark.parametrize(
    "error",
    [
        {
            "message": "This model's maximum context length is 8192 tokens. However, your messages "
            "resulted in 9000 tokens. Please reduce the length of the messages or max_completion_tokens.",
            "code": "context_length_exceeded",
            "param": "messages",
        },
        {
            "message": "request (9000 tokens) exceeds the available context size (4096 tokens)",
            "type": "exceed_context_size_error",
            "code": 400,
        },
    ],
)
def test_a_prompt_that_is_too_long(fake: FakeModel, error: dict[str, Any]) -> None:
    fake.enqueue(Reply(status=400, error=error))
    message = str(failure(fake))
    assert "too long" in message
    assert "PLENARY_PAPERS" in message
    assert len(fake.history) == 1


def test_nobody_listens() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        writer = ChatWriter(Service(f"http://user:{KEY}@{address}/v1", KEY, "m", retries=0), words)
        with pytest.raises(ProviderError) as caught:
            list(writer.write(PROMPT))
    message = str(caught.value)
    assert message.startswith(f"{address} cannot be reached")
    assert "refused" in message
    assert "OPENAI_BASE_URL" in message
    assert KEY not in message
    assert caught.value.retry


def test_silence_before_the_answer(fake: FakeModel) -> None:
    fake.enqueue(Reply("late", delay=60))
    error = failure(fake, timeout=0.3, retries=0)
    assert "silent for 0.3 s" in str(error)
    assert "PLENARY_TIMEOUT" in str(error)
    assert error.retry


def test_silence_within_the_answer(fake: FakeModel) -> None:
    fake.enqueue(Reply(pieces=["a ", "b"], hold_after=1))
    assert "silent for" in str(failure(fake, timeout=0.3, retries=0))


@pytest.mark.parametrize(
    "reply",
    [
        Reply.html(),
        Reply(body="", content_type="application/json"),
        Reply(body="{not json", content_type="application/json"),
        Reply(body="data: {not json\n\n", content_type="text/event-stream"),
        Reply(body='data: "a string"\n\n', content_type="text/event-stream"),
        Reply(body="data: []\n\n", content_type="text/event-stream"),
        Reply(body='data: {"choices": [{}]}\n\n', content_type="text/event-stream"),
        Reply(body='data: {"choices": {"delta": 1}}\n\n', content_type="text/event-stream"),
        Reply(body='data: {"choices": [{"delta": "x"}]}\n\n', content_type="text/event-stream"),
        Reply(body=b"data: \xff\xfe\n\n", content_type="text/event-stream"),
        Reply(body='{"choices": [{"message": {"content": "x"}}]}', content_type="application/json"),
    ],
)
def test_replies_of_the_wrong_form(fake: FakeModel, reply: Reply) -> None:
    fake.enqueue(reply)
    message = str(failure(fake))
    assert "does not answer in the OpenAI format" in message
    assert "OPENAI_BASE_URL" in message


@pytest.mark.parametrize("body", ["<html>Sign in</html>", "[]", '{"choices": null}', '{"choices": [{}]}'])
def test_replies_of_the_wrong_form_without_streaming(fake: FakeModel, body: str) -> None:
    fake.enqueue(Reply.failing(400, param="stream"), Reply(body=body, content_type="application/json"))
    assert "does not answer in the OpenAI format" in str(failure(fake))


def test_a_wrong_content_type_does_not_matter(fake: FakeModel) -> None:
    fake.enqueue(Reply("fine", content_type="text/plain"))
    assert ask(fake)[0] == "fine"


def test_a_web_page_as_an_error_is_not_repeated(fake: FakeModel) -> None:
    fake.enqueue(Reply.html(status=400))
    message = str(failure(fake))
    assert "status 400" in message
    assert "<" not in message


def test_an_error_within_the_stream(fake: FakeModel) -> None:
    body = 'data: {"error": {"message": "the engine died", "code": 500}}\n\n'
    fake.enqueue(Reply(body=body, content_type="text/event-stream"))
    error = failure(fake)
    assert "the engine died" in str(error)
    assert error.retry


def test_the_key_reaches_no_log(fake: FakeModel, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    fake.enqueue("fine", Reply.failing(401, f"wrong key {KEY}"), Reply.failing(400, f"{KEY} is odd"))
    writer = make_writer(fake)
    list(writer.write(PROMPT))
    for _ in range(2):
        with pytest.raises(ProviderError) as caught:
            list(writer.write(PROMPT))
        assert KEY not in str(caught.value)
    assert KEY not in repr(writer.service)
    # The client logs the service's own words at the level of debugging; a service that repeats the key is
    # the only way it could get there.
    assert not [record for record in caplog.records if KEY in record.getMessage()]


# --- settings


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host/v1", "http://", "http://host:port/v1", "nonsense"])
def test_an_unusable_address(url: str) -> None:
    with pytest.raises(OperatorError, match="OPENAI_BASE_URL"):
        ChatWriter(Service(url, KEY, "m"), words)


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel"])
def test_an_unusable_key_is_not_shown(key: str) -> None:
    with pytest.raises(OperatorError, match="OPENAI_API_KEY") as caught:
        ChatWriter(Service("http://localhost/v1", key, "m"), words)
    assert key not in str(caught.value)


def test_openai_itself_needs_a_key() -> None:
    with pytest.raises(OperatorError, match="OPENAI_API_KEY"):
        ChatWriter(Service(None, None, "m"), words)


def test_space_around_the_key_is_dropped(fake: FakeModel) -> None:
    fake.enqueue("fine")
    ask(fake, api_key=f" {KEY}\n")
    assert fake.history[0].headers["authorization"] == f"Bearer {KEY}"


def test_no_variable_of_the_environment_redirects_the_prompts(fake: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeModel() as other:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "OPENAI_PROXY"):
            monkeypatch.setenv(name, other.base_url.removesuffix("/v1"))
        for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "LANGSMITH_GATEWAY"):
            monkeypatch.setenv(name, other.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "another")
        monkeypatch.setenv("LANGSMITH_GATEWAY_API_KEY", "lsv2_another")
        fake.enqueue("fine")
        assert ask(fake)[0] == "fine"
        assert other.history == []
    assert fake.history[0].headers["authorization"] == f"Bearer {KEY}"


# --- reasoning


def test_reasoning_in_its_own_field_is_ignored(fake: FakeModel) -> None:
    fake.enqueue(Reply("Answer.", reasoning="thoughts"))
    assert ask(fake)[0] == "Answer."


def test_a_reply_with_only_the_closing_tag_is_never_an_answer(fake: FakeModel) -> None:
    fake.enqueue(*["the reasoning\n</think>\n\nAnswer."] * 2)
    writer = make_writer(fake)
    with pytest.raises(ProviderError, match="ask again") as caught:
        list(writer.write(PROMPT))
    assert caught.value.retry
    assert "".join(piece.text for piece in writer.write(PROMPT)) == "Answer."
