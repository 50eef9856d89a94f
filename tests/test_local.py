"""The local model as it really is; what can be known without its big file is tested without it."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rag import assets
from rag.errors import AssetError, OperatorError, ProviderError
from rag.local import LocalModel, LocalWriter
from rag.types import Piece, Prompt

CAPITAL = Prompt("Answer in one word.", "What is the capital of France?", 5)
STORY = Prompt("You tell stories.", "Tell a long story about the sea.", 600)


def words(text: str) -> int:
    return len(text.split())


@pytest.fixture(scope="module")
def model_file(asset: Callable[[str], Path]) -> Path:
    """The model named by PLENARY_TEST_MODEL, else the fetched asset; skips where there is neither."""
    named = os.environ.get("PLENARY_TEST_MODEL")
    return Path(named) if named else asset(assets.LANGUAGE_MODEL)


@pytest.fixture(scope="module")
def model(model_file: Path) -> Iterator[LocalModel]:
    with LocalModel(model_file) as opened:
        yield opened


@pytest.fixture
def writer(model: LocalModel) -> LocalWriter:
    return model.writer(words)


def text_of(pieces: Iterator[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def get(model: LocalModel, path: str, key: str | None) -> str:
    """Return what the server answers; raises `urllib.error.HTTPError`."""
    root = (model.service.base_url or "").removesuffix("/v1")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with urllib.request.urlopen(urllib.request.Request(root + path, headers=headers)) as response:
        return str(response.read().decode())


def is_busy(model: LocalModel) -> bool:
    return any(slot["is_processing"] for slot in json.loads(get(model, "/slots", model.service.api_key)))


def wait_until_idle(model: LocalModel) -> None:
    deadline = time.monotonic() + 120
    while is_busy(model):
        assert time.monotonic() < deadline, "the model was not stopped"
        time.sleep(0.05)


# --- files that are no model


def damaged_files() -> dict[str, bytes]:
    """Files that begin like a model and are none; each once made a loader of such files stumble."""
    header = b"GGUF" + struct.pack("<I", 3)
    return {
        "only the magic": b"GGUF",
        "old version": b"GGUF" + struct.pack("<IQQ", 1, 0, 0),
        "nothing in it": header + struct.pack("<QQ", 0, 0),
        "billions of tensors": header + struct.pack("<QQ", 2**62, 0) + b"\0" * 64,
        "billions of keys": header + struct.pack("<QQ", 1, 2**62) + b"\0" * 64,
        "endless string": header + struct.pack("<QQQ", 0, 1, 2**63) + b"general.architecture",
        "noise": header + bytes(range(256)) * 64,
    }


@pytest.mark.parametrize("kind", damaged_files())
def test_a_damaged_file_is_one_clear_sentence(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(damaged_files()[kind])
    with (
        LocalModel(file) as opened,
        pytest.raises(AssetError, match=r"model\.gguf cannot be loaded.*plenary assets"),
    ):
        opened.service  # noqa: B018 - the attribute waits for the load


def test_a_truncated_model_is_one_clear_sentence(model_file: Path, tmp_path: Path) -> None:
    file = tmp_path / "half.gguf"
    with model_file.open("rb") as source:
        file.write_bytes(source.read(8_000_000))
    with LocalModel(file) as opened, pytest.raises(AssetError, match="cannot be loaded") as caught:
        text_of(opened.writer(words).write(CAPITAL))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"GGU", b"<html>Sign in</html>"])
def test_another_file_is_refused_at_once(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(content)
    with pytest.raises(AssetError, match="no language model"):
        LocalModel(file)


def test_a_missing_file_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(AssetError, match=r"cannot be read.*plenary assets"):
        LocalModel(tmp_path / "none.gguf")
    with pytest.raises(AssetError, match="cannot be read"):
        LocalModel(tmp_path)


# --- one for all


def test_two_models_at_a_time_are_refused(tmp_path: Path) -> None:
    first, second = tmp_path / "a.gguf", tmp_path / "b.gguf"
    first.write_bytes(b"GGUF")
    second.write_bytes(b"GGUF")
    with LocalModel(first):
        with pytest.raises(OperatorError, match="close it first"):
            LocalModel(second)
        with pytest.raises(OperatorError, match="close it first"):
            LocalModel(first, context=512)
    LocalModel(second).close()


def test_a_closed_model_says_so(tmp_path: Path) -> None:
    file = tmp_path / "a.gguf"
    file.write_bytes(b"GGUF")
    opened = LocalModel(file)
    opened.close()
    opened.close()
    with pytest.raises(OperatorError, match="closed"):
        text_of(opened.writer(words).write(CAPITAL))


def test_all_that_are_open_share_one_server(model: LocalModel) -> None:
    services = []

    def open_once() -> None:
        with LocalModel(model.path) as other:
            services.append(other.service)

    threads = [threading.Thread(target=open_once) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert services == [model.service] * 4
    assert get(model, "/health", None) == '{"status":"ok"}'


# --- writing


def test_a_reply_with_its_usage(writer: LocalWriter) -> None:
    pieces = list(writer.write(CAPITAL))
    assert "".join(piece.text for piece in pieces).strip(". ") == "Paris"
    usage = pieces[-1].usage
    assert usage is not None
    assert usage.prompt_tokens > 10
    assert usage.completion_tokens >= 1
    assert not usage.estimated
    assert writer.name.endswith("(local)")


def test_the_same_prompt_has_the_same_reply(writer: LocalWriter) -> None:
    prompt = Prompt("You answer.", "Name three colours.", 20)
    assert text_of(writer.write(prompt)) == text_of(writer.write(prompt))


def test_a_grammar_binds_the_reply(writer: LocalWriter) -> None:
    grammar = 'root ::= "The key is [" key "]."\nkey ::= "q7" | "z3"\n'
    prompt = Prompt("You answer.", "What is the capital of France?", 40, keys=("q7", "z3"), grammar=grammar)
    assert re.fullmatch(r"The key is \[(q7|z3)\]\.", text_of(writer.write(prompt)))


def test_a_faulty_grammar_is_one_clear_sentence(writer: LocalWriter) -> None:
    with pytest.raises(ProviderError, match="grammar"):
        list(writer.write(Prompt("", "x", 5, grammar="root ::= [")))


def test_the_token_limit_is_told(writer: LocalWriter) -> None:
    pieces = list(writer.write(Prompt("", "Count from one to one hundred.", 6)))
    assert not pieces[-1].finished
    usage = pieces[-1].usage
    assert usage is not None
    assert usage.completion_tokens == 6


def test_a_prompt_beyond_the_context_is_refused(writer: LocalWriter) -> None:
    with pytest.raises(ProviderError, match="too long"):
        list(writer.write(Prompt("", "word " * 5000, 5)))


def test_worked_examples_are_followed(writer: LocalWriter) -> None:
    prompt = Prompt("Reply as shown.", "blue", 8, examples=(("red", "<<red>>"), ("green", "<<green>>")))
    assert text_of(writer.write(prompt)).strip() == "<<blue>>"


def test_yes_and_no_are_weighed(writer: LocalWriter) -> None:
    def ask(question: str) -> float:
        return writer.yes_probability(Prompt("Answer yes or no.", question, 1))

    assert ask("Is Paris a city in France?") > 0.9
    assert ask("Is Rome a city in France?") < 0.5


def test_a_warm_prefix_is_not_read_again(model: LocalModel, writer: LocalWriter) -> None:
    system = "You answer questions about the sea. " * 12
    writer.warm(Prompt(system, "", 5))
    body = {
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": "What is a tide?"}],
        "max_tokens": 1,
    }
    service = model.service
    request = urllib.request.Request(
        f"{service.base_url}/chat/completions",
        json.dumps(body).encode(),
        {"Authorization": f"Bearer {service.api_key}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        usage = json.load(response)["usage"]
    assert usage["prompt_tokens_details"]["cached_tokens"] > 0.7 * usage["prompt_tokens"]


def test_several_threads_are_served_in_turn(writer: LocalWriter) -> None:
    cities = {"France": "Paris", "Japan": "Tokyo", "Italy": "Rome"}
    replies: dict[str, str] = {}

    def ask(country: str) -> None:
        prompt = Prompt("Answer in one word.", f"What is the capital of {country}?", 5)
        replies[country] = text_of(writer.write(prompt)).strip(". ")

    threads = [threading.Thread(target=ask, args=(country,)) for country in cities]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert replies == cities


# --- stopping


def test_closing_the_iterator_stops_the_writing(model: LocalModel, writer: LocalWriter) -> None:
    pieces = writer.write(STORY)
    next(pieces)
    assert is_busy(model)
    pieces.close()  # type: ignore[attr-defined]  # a generator
    wait_until_idle(model)
    assert text_of(writer.write(CAPITAL)).strip(". ") == "Paris"


def test_a_reply_that_waits_comes_after_one_given_up(model: LocalModel, writer: LocalWriter) -> None:
    first = writer.write(STORY)
    next(first)
    waiting = threading.Thread(target=lambda: text_of(writer.write(CAPITAL)))
    waiting.start()
    first.close()  # type: ignore[attr-defined]  # a generator
    waiting.join()
    wait_until_idle(model)


def test_a_dead_process_is_told_and_started_again(model: LocalModel, writer: LocalWriter) -> None:
    pieces = writer.write(STORY)
    next(pieces)
    os.kill(model.pid, signal.SIGTERM)
    with pytest.raises(ProviderError, match="cut off") as caught:
        list(pieces)
    assert caught.value.retry
    assert _asked_again(writer).strip(". ") == "Paris"


def _asked_again(writer: LocalWriter) -> str:
    """Ask; a process that has not wholly gone yet may be met once more, and says so."""
    try:
        return text_of(writer.write(CAPITAL))
    except ProviderError as error:
        assert error.retry
        return text_of(writer.write(CAPITAL))


_PARENT = """
import sys
from pathlib import Path
from rag.local import LocalModel
model = LocalModel(Path(sys.argv[1]))
print(model.service.base_url, model.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(os.name != "posix", reason="looks the process up by its number")
def test_the_process_ends_with_its_parent(model_file: Path) -> None:
    repository = Path(__file__).resolve().parent.parent
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT, str(model_file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=repository,
        text=True,
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline().split()[1])
    parent.kill()
    _, noise = parent.communicate()
    assert noise == ""
    deadline = time.monotonic() + 60
    while True:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            break
        assert time.monotonic() < deadline, "the model's process outlived its parent"
        time.sleep(0.05)


# --- who may use it


def test_only_the_holder_of_the_key_is_answered(model: LocalModel) -> None:
    for path in ("/v1/models", "/slots"):
        with pytest.raises(urllib.error.HTTPError, match="401"):
            get(model, path, None)
    assert model.name in get(model, "/v1/models", model.service.api_key)
    assert (model.service.base_url or "").startswith("http://127.0.0.1:")


def test_nothing_is_printed_and_no_key_is_logged(
    model: LocalModel,
    writer: LocalWriter,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    text_of(writer.write(CAPITAL))
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")
    key = model.service.api_key
    assert key
    assert key not in caplog.text
    assert key not in repr(model.service)
