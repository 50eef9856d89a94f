"""The fake service does on the wire what its replies say; other tests stand on that."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import islice
from typing import Any

import httpx
import openai
import pytest
from fake_model import FakeModel, Reply, Request, cite_first

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "k1: Adam adapts.\nWhy?"}]


@pytest.fixture
def fake() -> Iterator[FakeModel]:
    with FakeModel() as server:
        yield server


def client(fake: FakeModel, **settings: Any) -> openai.OpenAI:
    return openai.OpenAI(base_url=fake.base_url, api_key="key", **{"max_retries": 0, "timeout": 20, **settings})


def create(fake: FakeModel, *, stream: bool = False, **body: Any) -> Any:
    chat: Any = client(fake).chat.completions
    return chat.create(model="fake-model", messages=MESSAGES, stream=stream, **body)


def test_replies_in_order_and_history(fake: FakeModel) -> None:
    fake.enqueue("first", Reply("second"))
    answers = [create(fake).choices[0].message.content for _ in range(2)]
    assert answers == ["first", "second"]
    assert [request.body["model"] for request in fake.history] == ["fake-model"] * 2
    request = fake.history[0]
    assert (request.system, request.user) == ("Be brief.", "k1: Adam adapts.\nWhy?")
    assert not request.stream
    assert request.headers["authorization"] == "Bearer key"
    assert request.finished.wait(10)
    assert not request.hung_up.is_set()


def test_stream_in_the_given_pieces(fake: FakeModel) -> None:
    fake.enqueue(Reply(pieces=["tw", "o ℃ ", "words"], reasoning="hm"))
    chunks = list(create(fake, stream=True, stream_options={"include_usage": True}))
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert [delta.content for delta in deltas if delta.content] == ["tw", "o ℃ ", "words"]
    assert [delta.reasoning_content for delta in deltas if hasattr(delta, "reasoning_content")] == ["hm"]
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].usage.completion_tokens == 3


def test_usage_only_when_asked_or_not_at_all(fake: FakeModel) -> None:
    fake.enqueue("one two", "one two", Reply("one two", usage=False))
    assert all(chunk.usage is None for chunk in create(fake, stream=True))
    assert create(fake).usage.completion_tokens == 2
    assert create(fake).usage is None


def test_responder_answers_when_the_script_is_done() -> None:
    with FakeModel(lambda request: request.user.upper()) as fake:
        fake.enqueue("scripted")
        assert [create(fake).choices[0].message.content for _ in range(2)] == [
            "scripted",
            "K1: ADAM ADAPTS.\nWHY?",
        ]


def test_cite_first_takes_the_first_evidence_line() -> None:
    respond = cite_first()
    request = Request("", {}, {"messages": MESSAGES})
    assert respond(request) == "Adam adapts. [k1]"
    assert respond(Request("", {}, {"messages": []})) == "No line."
    other = cite_first(r"^<(?P<key>\w+)> (?P<text>.+)$")
    assert other(Request("", {}, {"messages": [{"role": "user", "content": "x\n<s7> Yes."}]})) == "Yes. [s7]"


def test_no_reply_left_is_a_clear_error(fake: FakeModel) -> None:
    with pytest.raises(openai.BadRequestError, match="no reply left"):
        create(fake)


def test_errors_have_the_form_of_openai(fake: FakeModel) -> None:
    fake.enqueue(Reply.failing(500), Reply.rejecting("temperature"), Reply.html(503))
    with pytest.raises(openai.InternalServerError, match="scripted failure"):
        create(fake)
    with pytest.raises(openai.BadRequestError) as rejected:
        create(fake, temperature=1)
    assert (rejected.value.param, rejected.value.code) == ("temperature", "unsupported_parameter")
    with pytest.raises(openai.InternalServerError) as page:
        create(fake)
    assert "Sign in" in page.value.response.text


def test_retry_after_reaches_the_client(fake: FakeModel) -> None:
    fake.enqueue(Reply.rate_limited(7))
    with pytest.raises(openai.RateLimitError) as limited:
        create(fake)
    assert limited.value.response.headers["retry-after"] == "7"


def test_rejected_parameters_and_keys() -> None:
    with FakeModel(lambda _: "fine", rejects=["seed"], api_key="other") as fake:
        with pytest.raises(openai.AuthenticationError):
            create(fake)
        fake.api_key = "key"
        with pytest.raises(openai.BadRequestError, match="seed"):
            create(fake, seed=1)
        assert create(fake).choices[0].message.content == "fine"
        assert len(fake.history) == 3


def test_quiet_cut_raises_nothing_and_broken_cut_does(fake: FakeModel) -> None:
    pieces = ["a", "b", "c"]
    fake.enqueue(Reply(pieces=pieces, cut_after=2), Reply(pieces=pieces, cut_after=2, cut="broken"))
    chunks = list(create(fake, stream=True))
    assert "".join(chunk.choices[0].delta.content for chunk in chunks) == "ab"
    assert all(chunk.choices[0].finish_reason is None for chunk in chunks)
    with pytest.raises((openai.APIConnectionError, httpx.HTTPError)):
        list(create(fake, stream=True))


def test_hold_waits_for_the_client_to_hang_up(fake: FakeModel) -> None:
    fake.enqueue(Reply(pieces=["a", "b"], hold_after=1))
    with create(fake, stream=True) as stream:
        text = "".join(chunk.choices[0].delta.content for chunk in islice(stream, 2))
        assert text == "a"
        assert not fake.history[0].hung_up.is_set()
    assert fake.history[0].hung_up.wait(10)


def test_close_ends_what_waits() -> None:
    fake = FakeModel()
    fake.enqueue(Reply("late", delay=600))
    failed = threading.Event()

    def ask() -> None:
        with pytest.raises(openai.APIConnectionError):
            create(fake)
        failed.set()

    asking = threading.Thread(target=ask)
    asking.start()
    while not fake.history:
        time.sleep(0.01)
    fake.close()
    fake.close()
    asking.join(10)
    assert failed.is_set()


def test_body_as_given(fake: FakeModel) -> None:
    fake.enqueue(Reply(body=b"\xff{", content_type="text/odd", headers={"X-Test": "1"}))
    response = httpx.post(f"{fake.base_url}/chat/completions", json={"messages": []}, trust_env=False)
    assert (response.content, response.headers["content-type"]) == (b"\xff{", "text/odd")
    assert response.headers["x-test"] == "1"


def test_logprobs_when_asked(fake: FakeModel) -> None:
    reply = Reply("yes", logprobs={"yes": -0.1, "no": -2.5})
    fake.enqueue(reply, reply)
    answer = create(fake, logprobs=True, top_logprobs=2)
    assert {token.token for token in answer.choices[0].logprobs.content[0].top_logprobs} == {"yes", "no"}
    assert create(fake).choices[0].logprobs is None


def test_models_and_unknown_paths(fake: FakeModel) -> None:
    assert [model.id for model in client(fake).models.list()] == ["fake-model"]
    with pytest.raises(openai.NotFoundError):
        client(fake).embeddings.create(model="m", input="x")
