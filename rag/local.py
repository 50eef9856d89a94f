"""The local language model: llama.cpp in a process of its own, one for all who use it, kept warm."""

from __future__ import annotations

import atexit
import json
import logging
import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

from rag.errors import AssetError, OperatorError
from rag.llm import ChatWriter, Service
from rag.types import Piece, Prompt

CONTEXT = 4096
"""Tokens of prompt and reply together that the model is given memory for: 117 MB."""

PATIENCE = 600.0
"""Seconds without a sign of life before a reply is given up: others may be before it in the queue."""

_MAGIC = b"GGUF"
_SCRIPT = Path(__file__).with_name("local_process.py")
_log = logging.getLogger(__name__)


class LocalModel:
    """A model file being served. It loads in the background from construction; the first use waits for it.

    All that are open at a time in this process share one server and must name the same file and settings.
    """

    def __init__(self, path: Path, *, threads: int | None = None, context: int = CONTEXT) -> None:
        """Start loading; `threads` None takes the physical cores, `context` is in tokens.

        Raises `AssetError` when the file is missing or is no model, `OperatorError` when another model is
        open. What only loading can find out is raised by `service`.
        """
        check_model_file(path)
        self.path = path
        self._settings = {"path": str(path.resolve()), "threads": threads, "context": context}
        self._open = True
        _share.acquire(self._settings)

    @property
    def name(self) -> str:
        """The model's name, from its file's."""
        return self.path.stem

    @property
    def service(self) -> Service:
        """The running server, started again if it has died; waits until the model is loaded.

        Raises `AssetError` when the model cannot be loaded, `OperatorError` after `close`.
        """
        if not self._open:
            raise OperatorError("the local model was closed; open it again")
        process = _share.running()
        return Service(
            base_url=process.url() + "/v1",
            api_key=process.key,
            model=self.name,
            timeout=PATIENCE,
            retries=0,
            # Progress shows the client, and with it the server, that the other side is still there.
            extra={"cache_prompt": True, "return_progress": True},
            local=True,
        )

    @property
    def pid(self) -> int:
        """The number of the server's process."""
        return _share.running().pid

    def writer(self, count_tokens: Callable[[str], int]) -> LocalWriter:
        """Return a writer; `count_tokens` is used only if the server should not report its usage."""
        return LocalWriter(self, count_tokens)

    def close(self) -> None:
        """Give the model up; the last to do so ends its process, and the reply it writes. May be repeated."""
        if self._open:
            self._open = False
            _share.release()

    def __enter__(self) -> LocalModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class LocalWriter:
    """A `Writer` over a `LocalModel`. Several threads may use it: the server answers them in turn."""

    def __init__(self, model: LocalModel, count_tokens: Callable[[str], int]) -> None:
        self._model = model
        self._count_tokens = count_tokens
        self._chat: ChatWriter | None = None

    @property
    def name(self) -> str:
        """What the user is told wrote the answer."""
        return f"{self._model.name} (local)"

    def write(self, prompt: Prompt) -> Iterator[Piece]:
        """Stream the reply, bound by `prompt.grammar` if it has one; see `ChatWriter.write`.

        Closing the iterator stops the model at once while it writes, and after the current 128 tokens
        while it reads. Raises `AssetError` when the model cannot be loaded.
        """
        yield from self._writer().write(prompt)

    def warm(self, prompt: Prompt) -> None:
        """Read a prompt and answer nothing: what a later prompt has in common with its start is read then.

        Raises what `write` raises.
        """
        self._writer().first_tokens(prompt)

    def yes_probability(self, prompt: Prompt) -> float:
        """Return how much of the first token's probability for "yes" or "no" is on "yes", in [0, 1].

        Counts the spellings among the 20 likeliest tokens; 0.5 when neither word is among them.
        """
        mass = {"yes": 0.0, "no": 0.0}
        for token, probability in self._writer().first_tokens(prompt).items():
            word = token.strip().lower()
            if word in mass:
                mass[word] += probability
        total = sum(mass.values())
        return mass["yes"] / total if total else 0.5

    def _writer(self) -> ChatWriter:
        service = self._model.service
        chat = self._chat
        if chat is None or chat.service != service:
            chat = self._chat = ChatWriter(service, self._count_tokens, name=self.name)
        return chat


def check_model_file(path: Path) -> None:
    """Raise `AssetError` unless `path` is a readable file that begins like a model."""
    remedy = "fetch it with `plenary assets`"
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise AssetError(f"the language model {path} cannot be read ({error.strerror}); {remedy}") from None
    if magic != _MAGIC:
        raise AssetError(f"{path} is no language model (it does not begin with GGUF); {remedy}")


class _Process:
    """One run of `local_process.py`."""

    def __init__(self, settings: dict[str, Any]) -> None:
        verbose = _log.isEnabledFor(logging.DEBUG)
        self.key = secrets.token_urlsafe(32)
        self._settings = settings
        self._lock = Lock()
        self._url = ""
        self._child = subprocess.Popen(
            # -P: beside the script lies a `types.py` that is not Python's.
            [sys.executable, "-P", str(_SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if verbose else subprocess.DEVNULL,
            encoding="utf-8",
            # Threads that wait by spinning make a busy machine slower by far.
            env={"OMP_WAIT_POLICY": "passive", **os.environ},
        )
        line = json.dumps({**settings, "key": self.key, "name": Path(settings["path"]).stem, "verbose": verbose})
        with suppress(BrokenPipeError):  # `url` tells why it died
            assert self._child.stdin is not None
            self._child.stdin.write(line + "\n")
            self._child.stdin.flush()

    @property
    def pid(self) -> int:
        return self._child.pid

    def alive(self) -> bool:
        return self._child.poll() is None

    def url(self) -> str:
        """Wait until the model is loaded and return the server's address; raises `AssetError`."""
        with self._lock:
            if not self._url:
                assert self._child.stdout is not None
                line = self._child.stdout.readline()
                answer = json.loads(line) if line else {}
                if "url" not in answer:
                    raise AssetError(self._failure())
                self._url = str(answer["url"])
            return self._url

    def _failure(self) -> str:
        status = self._child.wait()
        how = f", ended by signal {-status}" if status < 0 else ""
        return (
            f"the language model {self._settings['path']} cannot be loaded{how}: it is damaged or there is "
            "too little memory; fetch it again with `plenary assets`, or choose another writer"
        )

    def end(self) -> None:
        assert self._child.stdin is not None and self._child.stdout is not None
        with suppress(OSError):
            self._child.stdin.close()
        self._child.kill()
        self._child.wait()
        self._child.stdout.close()


class _Share:
    """The one process of all `LocalModel`s, and how many of them hold it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._settings: dict[str, Any] = {}
        self._holders = 0
        self._process: _Process | None = None

    def acquire(self, settings: dict[str, Any]) -> None:
        with self._lock:
            if self._holders and settings != self._settings:
                raise OperatorError(
                    f"the local model {self._settings['path']} is open with other settings; close it first"
                )
            self._settings = settings
            self._started()
            self._holders += 1

    def running(self) -> _Process:
        with self._lock:
            return self._started()

    def release(self) -> None:
        with self._lock:
            self._holders -= 1
            if not self._holders:
                self._end()

    def shut_down(self) -> None:
        with self._lock:
            self._end()

    def _started(self) -> _Process:
        if self._process is None or not self._process.alive():
            self._end()
            self._process = _Process(self._settings)
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None


_share = _Share()
atexit.register(_share.shut_down)
