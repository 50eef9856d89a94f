"""Keeps a model's replies and gives them again: a recording writer, and a server that speaks the OpenAI protocol.

A reply is found by a hash of the messages, so a prompt that changed has none. Only real replies are kept: whoever
changes a prompt records again.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from rag import Prompt


@dataclass(frozen=True, slots=True)
class Recorded:
    """A reply as it came: its text, the tokens it took, and whether it ended by itself."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    finished: bool


def message_hash(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the hash of chat messages by which a reply is found."""
    told = [[message["role"], message["content"]] for message in messages]
    return hashlib.sha256(json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()[:24]


def prompt_hash(prompt: Prompt) -> str:
    """Return the hash of a prompt: that of the messages it is sent as."""
    examples = [turn for asked, told in prompt.examples for turn in (("user", asked), ("assistant", told))]
    turns = [("system", prompt.system), *examples, ("user", prompt.user)]
    return message_hash([{"role": role, "content": content} for role, content in turns])


class RecordingWriter:
    """A writer that passes replies on and keeps each in `replies`."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self.replies: dict[str, Recorded] = {}

    @property
    def name(self) -> str:
        """The model's name."""
        return str(self._writer.name)

    def write(self, prompt: Prompt) -> Iterator[Any]:
        """Stream the reply and keep it when it is whole; one that the pipeline breaks off is read to its end."""
        pieces = []
        stream = self._writer.write(prompt)
        try:
            for piece in stream:
                pieces.append(piece)
                yield piece
        finally:
            pieces += list(stream)
            usage = next((piece.usage for piece in reversed(pieces) if piece.usage), None)
            self.replies[prompt_hash(prompt)] = Recorded(
                "".join(piece.text for piece in pieces),
                usage.prompt_tokens if usage else 0,
                usage.completion_tokens if usage else 0,
                all(piece.finished for piece in pieces),
            )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)


class ReplayServer:
    """Serves recorded replies on the loopback from its construction to `close`; a context manager.

    `unknown` collects the last message of each request that has no reply; those get status 400.
    """

    def __init__(self, replies: Mapping[str, Recorded]) -> None:
        self.replies = replies
        self.unknown: list[str] = []
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def base_url(self) -> str:
        """The address a client is given."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> ReplayServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, replay: ReplayServer) -> None:
        self.replay = replay
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        recorded = self.server.replay.replies.get(message_hash(body["messages"]))
        if recorded is None:
            self.server.replay.unknown.append(str(body["messages"][-1]["content"]))
            error = {"message": "no reply is recorded for this prompt", "type": "unknown_prompt"}
            self._send(400, "application/json", json.dumps({"error": error}))
        elif body.get("stream"):
            events = [json.dumps(event, ensure_ascii=False) for event in _events(recorded, str(body.get("model")))]
            text = "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"])
            self._send(200, "text/event-stream; charset=utf-8", text)
        else:
            self._send(400, "application/json", '{"error": {"message": "replies are streamed", "type": "wrong"}}')

    def _send(self, status: int, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def _events(recorded: Recorded, model: str) -> Iterator[dict[str, Any]]:
    """Yield the chunks of a streamed reply: its text, its end, its usage."""
    common = {"id": "recorded", "object": "chat.completion.chunk", "created": 0, "model": model}
    ended = "stop" if recorded.finished else "length"
    for delta, reason in (({"role": "assistant", "content": recorded.text}, None), ({}, ended)):
        yield {**common, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
    total = recorded.prompt_tokens + recorded.completion_tokens
    usage = {
        "prompt_tokens": recorded.prompt_tokens, "completion_tokens": recorded.completion_tokens, "total_tokens": total,
    }  # fmt: skip
    yield {**common, "choices": [], "usage": usage}
