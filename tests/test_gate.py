"""The gate: a small set is asked end to end with every test run, and no headline may fall below what was recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval import gate
from eval.gate import COPIED, HEADLINES, WRITTEN, cases_named, fallen, measured, read_numbers, read_recording, replayed
from eval.replay import Recorded, RecordingWriter, ReplayServer, message_hash, prompt_hash
from eval.scoring import Measures
from rag import Assistant, Config, Prompt, UserError
from rag.llm import ChatWriter, Service, to_messages
from tests.fake_model import FakeModel, cite_first

AGAIN = (
    "the prompts no longer match the recorded replies: if they were changed on purpose, record again with "
    "`python -m eval record` (ten questions to the local model) and commit eval/recordings"
)


@pytest.fixture
def config(seed_index: Path, home: Path) -> Config:
    return Config(store=str(seed_index), home=home, writer="extractive")


def test_extractive_answers_have_not_fallen(config: Config) -> None:
    with Assistant.open(config) as assistant:
        rows = measured(None, assistant, cases_named(COPIED))
    assert fallen(rows, read_numbers()["extractive"]) == []


def test_the_local_models_recorded_replies_have_not_fallen(config: Config) -> None:
    try:
        replies = read_recording()
    except UserError as error:
        pytest.skip(str(error))
    with ReplayServer(replies) as server:
        rows = replayed(config, server, cases_named(WRITTEN))
    if server.unknown:
        pytest.fail(f"{AGAIN}. {len(server.unknown)} have no reply; the first ends: …{server.unknown[0][-200:]}")
    assert fallen(rows, read_numbers()["local"]) == []


ROWS: list[Measures] = [{"facts": 1.0, "refused": 1.0}, {"facts": 0.0, "refused": 1.0}]


def test_a_measure_falls_below_its_interval_or_not() -> None:
    assert fallen(ROWS, {"facts": [0.6, 0.5, 0.7], "refused": [1.0, 1.0, 1.0]}) == []
    [told] = fallen(ROWS, {"facts": [0.9, 0.6, 1.0]})
    assert told == "facts found fell to 0.50; recorded were 0.90, and at least 0.60 is wanted"
    [told] = fallen(ROWS, {"right": [0.9, 0.6, 1.0]})
    assert "is not measured" in told
    assert fallen(ROWS, {"seconds": [0.0, 0.0, 0.0]}) == []


def test_a_service_that_is_down_falls(config: Config) -> None:
    """A run in which every answer failed may not pass for one in which nothing was measured."""
    with ReplayServer({}) as server:
        rows = replayed(config, server, cases_named(WRITTEN[:2]))
    assert server.unknown
    assert {name for name in ("facts", "right", "answered") if all(row[name] == 0 for row in rows)} == {"facts", "right", "answered"}


def test_sets_have_their_questions() -> None:
    assert len(set(COPIED)) == len(COPIED) and len(set(WRITTEN)) == len(WRITTEN) == 10
    assert {case.id for case in cases_named(COPIED)} == set(COPIED)
    assert {case.kind for case in cases_named(COPIED)} >= {"single", "followup", "unanswerable", "comparative", "theme", "hostile"}


PROMPT = Prompt("Answer.", "k1: Ice melts.\n\nQuestion: 什么?", 50, examples=(("Q", "A [k0]."),))


def test_a_prompt_and_its_messages_have_one_hash() -> None:
    roles = {"system": "system", "human": "user", "ai": "assistant"}
    messages = [{"role": roles[one.type], "content": one.content} for one in to_messages(PROMPT)]
    assert prompt_hash(PROMPT) == message_hash(messages)
    assert prompt_hash(replace(PROMPT, user=PROMPT.user + " ")) != prompt_hash(PROMPT)


@pytest.fixture
def writer_of() -> Iterator[Callable[[str], ChatWriter]]:
    yield lambda url: ChatWriter(Service(url, "key", "model", retries=0), len)


@pytest.mark.parametrize("finished", [True, False])
def test_a_reply_comes_back_as_it_was(writer_of: Callable[[str], ChatWriter], finished: bool) -> None:
    recorded = Recorded("冰 melts [k1].", 9, 4, finished)
    with ReplayServer({prompt_hash(PROMPT): recorded}) as server:
        pieces = list(writer_of(server.base_url).write(PROMPT))
    assert "".join(piece.text for piece in pieces) == recorded.text
    assert pieces[-1].finished is finished
    assert pieces[-1].usage is not None and pieces[-1].usage.prompt_tokens == 9


def test_what_a_model_writes_is_recorded_and_replayed_to_the_same_answers(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the whole pipeline: a scripted service is recorded, then the recording answers in its place."""
    ids = ("single-021", "hostile-001")
    with FakeModel(cite_first()) as fake:
        service = replace(config, writer="openai", base_url=fake.base_url, api_key="none", model="fake-model")
        with Assistant.open(service) as assistant:
            plain: Any = assistant.pipeline("openai")
            writer = RecordingWriter(plain.parts.writer)
            pipeline = type(plain)(replace(plain.parts, writer=writer, small=True))
            numbers = gate.record_replies(pipeline, writer, assistant, tmp_path, ids)
    assert numbers.keys() <= set(HEADLINES) and numbers["right"][0] > 0
    kept = json.loads((tmp_path / gate.REPLIES).read_text(encoding="utf-8"))
    assert kept["questions"] == list(ids) and kept["replies"]
    with ReplayServer(read_recording(tmp_path)) as server:
        rows = replayed(config, server, cases_named(ids))
    assert server.unknown == [] and fallen(rows, numbers) == []


def test_without_a_recording_the_remedy_is_named(tmp_path: Path) -> None:
    for read in (read_recording, read_numbers):
        with pytest.raises(UserError, match="python -m eval record"):
            read(tmp_path)
