"""A scripted model service: a real HTTP server on the loopback that speaks the OpenAI chat protocol.

It stands in for a language model in any test, below every client library, so that what a service can do to
Plenary (slow, cut, refused, malformed, rate limited) really happens to the bytes on the wire:

    with FakeModel() as fake:
        fake.enqueue(Reply("Adam needs two moments. [k1]"), Reply.rate_limited(1))
        writer = ChatWriter(Service(fake.base_url, "key", "fake-model"), count_tokens=len)
        ...
        assert fake.history[0].user == "What does Adam need?"

Replies are taken in the order they were enqueued. When none is left the `responder` decides: a function from
the `Request` to a text or a `Reply`, so that an end-to-end test can answer according to the prompt
(`cite_first` answers with the first evidence line and its key). Without a responder the request is refused
with status 400 and a sentence saying so. `history` keeps every request, the refused ones too.

`/v1/chat/completions` and `/v1/models` are served. Nothing here waits on the clock unless the reply asks for
it, and `close` ends whatever still waits.
"""

from __future__ import annotations

import json
import re
import select
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server does with one request. The default is a well-behaved service answering `text`.

    Shape of the answer:
    `pieces` splits a streamed text exactly so (default: after each word; `text` is ignored when given).
    `reasoning` is sent as `reasoning_content` before the text. `finish_reason` None is never sent.
    `usage` False leaves token counts out (they are counted in words, and a stream sends them only when
    `stream_options.include_usage` was asked). `done` False leaves out the closing `[DONE]`.
    `logprobs` are the alternatives of the first token, sent when the request asks for `logprobs`.

    What goes wrong:
    `status` other than 200 answers with `error` in OpenAI's format; `headers` are added.
    `body` is sent as it is in place of everything above, with `content_type`.
    `delay` seconds pass before the first byte, `pause` seconds before each further piece.
    `hold_after` pieces the connection stays open and silent until the client hangs up or the server closes.
    `cut_after` pieces the connection is closed: "quiet" looks like a normal end of the body and raises
    nothing in a client, "broken" resets the connection.
    """

    text: str = ""
    pieces: Sequence[str] | None = None
    reasoning: str = ""
    finish_reason: str | None = "stop"
    usage: bool = True
    done: bool = True
    logprobs: Mapping[str, float] | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: Mapping[str, Any] | None = None
    body: str | bytes | None = None
    content_type: str | None = None
    delay: float = 0.0
    pause: float = 0.0
    hold_after: int | None = None
    cut_after: int | None = None
    cut: Literal["quiet", "broken"] = "quiet"

    @classmethod
    def failing(
        cls,
        status: int,
        message: str = "scripted failure",
        *,
        code: str | None = None,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Return an error in OpenAI's format."""
        error = {"message": message, "type": "scripted_error", "param": param, "code": code}
        return cls(status=status, error=error, headers=headers or {})

    @classmethod
    def rejecting(cls, parameter: str) -> Reply:
        """Return the status 400 of a service that does not know a parameter of the request."""
        message = f"Unsupported parameter: '{parameter}' is not supported with this model."
        return cls.failing(400, message, code="unsupported_parameter", param=parameter)

    @classmethod
    def rate_limited(cls, retry_after: float | str) -> Reply:
        """Return a status 429 that asks to wait `retry_after` seconds (or until an HTTP date)."""
        return cls.failing(
            429,
            "Rate limit reached for requests",
            code="rate_limit_exceeded",
            headers={"Retry-After": str(retry_after)},
        )

    @classmethod
    def html(cls, status: int = 200) -> Reply:
        """Return a web page where an answer is expected, as a proxy or a wrong address does."""
        return cls(
            status=status,
            body="<!doctype html><html><title>Sign in</title></html>",
            content_type="text/html",
        )


@dataclass(slots=True)
class Request:
    """One request as it arrived: path, headers (names in lower case) and the parsed JSON body.

    `reply` is what it was answered with. `hung_up` is set when the client closed the connection before the
    reply was complete: wait on it to see a cancellation arrive. `finished` is set when the server is done
    with the request, however it ended.
    """

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    reply: Reply | None = None
    hung_up: threading.Event = field(default_factory=threading.Event)
    finished: threading.Event = field(default_factory=threading.Event)

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages, each with `role` and `content`."""
        return list(self.body.get("messages", []))

    @property
    def system(self) -> str:
        """The text of the first system message, or an empty one."""
        texts = (m["content"] for m in self.messages if m["role"] in ("system", "developer"))
        return next(texts, "")

    @property
    def user(self) -> str:
        """The text of the last user message, or an empty one."""
        texts = (m["content"] for m in reversed(self.messages) if m["role"] == "user")
        return next(texts, "")

    @property
    def stream(self) -> bool:
        """Whether a streamed answer was asked."""
        return bool(self.body.get("stream"))


Responder: TypeAlias = Callable[[Request], "str | Reply"]


def cite_first(line: str = r"^(?P<key>[^\s:]+): (?P<text>.+)$") -> Responder:
    """Return a responder that answers with the first evidence line of the user message, citing its key.

    `line` is a multi-line pattern with the groups `key` and `text`. A message without such a line is
    answered with "No line."
    """
    pattern = re.compile(line, re.MULTILINE)

    def respond(request: Request) -> str:
        found = pattern.search(request.user)
        return f"{found['text']} [{found['key']}]" if found else "No line."

    return respond


class FakeModel:
    """The server; a context manager that is listening from its construction to `close`.

    `rejects` names parameters that any request may not carry (status 400 each, in the order given).
    `api_key`, when given, is the only key accepted: others get status 401.
    """

    def __init__(
        self,
        responder: Responder | None = None,
        *,
        rejects: Sequence[str] = (),
        models: Sequence[str] = ("fake-model",),
        api_key: str | None = None,
    ) -> None:
        self.responder = responder
        self.rejects = tuple(rejects)
        self.models = tuple(models)
        self.api_key = api_key
        self.history: list[Request] = []
        self.closing = threading.Event()
        self._replies: deque[Reply] = deque()
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def base_url(self) -> str:
        """The address a client is given, ending in `/v1`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def enqueue(self, *replies: str | Reply) -> None:
        """Add replies to the script; a string is a plain answer."""
        with self._lock:
            self._replies.extend(Reply(reply) if isinstance(reply, str) else reply for reply in replies)

    @property
    def left(self) -> int:
        """How many scripted replies were not used."""
        return len(self._replies)

    def reply_to(self, request: Request) -> Reply:
        """Record a request and choose its reply."""
        with self._lock:
            self.history.append(request)
            request.reply = self._choose(request)
            return request.reply

    def _choose(self, request: Request) -> Reply:
        if self.api_key is not None and request.headers.get("authorization") != f"Bearer {self.api_key}":
            return Reply.failing(401, "Incorrect API key provided", code="invalid_api_key")
        for parameter in self.rejects:
            if parameter in request.body:
                return Reply.rejecting(parameter)
        if self._replies:
            return self._replies.popleft()
        if self.responder is None:
            return Reply.failing(400, "the script of this FakeModel has no reply left")
        reply = self.responder(request)
        return Reply(reply) if isinstance(reply, str) else reply

    def close(self) -> None:
        """Stop listening and end every request that still waits; may be called twice."""
        if not self.closing.is_set():
            self.closing.set()
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    def __enter__(self) -> FakeModel:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, fake: FakeModel) -> None:
        self.fake = fake
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Each piece leaves at once, as a packet of its own.
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            models = [{"id": name, "object": "model", "owned_by": "tests"} for name in self.server.fake.models]
            self._send(200, {"object": "list", "data": models})
        else:
            self._send(404, {"error": {"message": f"no {self.path} here", "type": "not_found"}})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != "/v1/chat/completions":
            self._send(404, {"error": {"message": f"no {self.path} here", "type": "not_found"}})
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, headers, json.loads(raw))
        try:
            self._answer(request, self.server.fake.reply_to(request))
        except (BrokenPipeError, ConnectionResetError):
            request.hung_up.set()
            self.close_connection = True
        finally:
            request.finished.set()

    def _answer(self, request: Request, reply: Reply) -> None:
        self._wait(reply.delay)
        if reply.body is not None:
            body = reply.body.encode() if isinstance(reply.body, str) else reply.body
            self._send(reply.status, body, reply.headers, reply.content_type or "text/plain")
        elif reply.status != 200 or reply.error is not None:
            self._send(reply.status, {"error": reply.error}, reply.headers, reply.content_type)
        elif request.stream:
            self._stream(request, reply)
        else:
            if reply.hold_after is not None:
                self._wait(None)
            self._send(200, _completion(request, reply), reply.headers, reply.content_type)

    def _stream(self, request: Request, reply: Reply) -> None:
        # Without a length the body ends where the connection does, so "quiet" looks complete to a client.
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", reply.content_type or "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self._event(_chunk(request, {"role": "assistant", "content": ""}))
        if reply.reasoning:
            self._event(_chunk(request, {"reasoning_content": reply.reasoning, "content": None}))
        pieces = _pieces(reply)
        for place in range(len(pieces) + 1):
            if place == reply.hold_after:
                self._wait(None)
            if place == reply.cut_after:
                self._cut(reply)
                return
            if place < len(pieces):
                self._wait(reply.pause if place else 0.0)
                self._event(_chunk(request, {"content": pieces[place]}, _logprobs(request, reply, place)))
            elif reply.finish_reason is not None:
                self._event(_chunk(request, {}, finish_reason=reply.finish_reason))
        if reply.usage and (request.body.get("stream_options") or {}).get("include_usage"):
            self._event({**_chunk(request, {}), "choices": [], "usage": _usage(request, reply)})
        if reply.done:
            self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, data: Mapping[str, Any]) -> None:
        self.wfile.write(b"data: " + json.dumps(data, ensure_ascii=False).encode() + b"\n\n")

    def _cut(self, reply: Reply) -> None:
        if reply.cut == "broken":
            # Lingering for zero seconds makes the close a reset.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

    def _send(
        self,
        status: int,
        body: bytes | Mapping[str, Any],
        headers: Mapping[str, str] | None = None,
        content_type: str | None = None,
    ) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", content_type or "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _wait(self, seconds: float | None) -> None:
        """Wait `seconds` (None: for ever), until the client hangs up, or until the server closes."""
        step = 0.02
        left = seconds
        while left is None or left > 0:
            if self.server.fake.closing.wait(step if left is None else min(step, left)):
                raise ConnectionResetError
            readable = select.select([self.connection], [], [], 0)[0]
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                raise ConnectionResetError
            left = None if left is None else left - step

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the output of tests clean; `FakeModel.history` is the log."""


def _pieces(reply: Reply) -> Sequence[str]:
    if reply.pieces is not None:
        return reply.pieces
    return re.findall(r"\S+\s*|\s+", reply.text)


def _whole(reply: Reply) -> str:
    return reply.text if reply.pieces is None else "".join(reply.pieces)


def _usage(request: Request, reply: Reply) -> dict[str, int]:
    asked = sum(len(str(message.get("content")).split()) for message in request.messages)
    written = len(_whole(reply).split())
    return {"prompt_tokens": asked, "completion_tokens": written, "total_tokens": asked + written}


def _logprobs(request: Request, reply: Reply, place: int) -> dict[str, Any] | None:
    if place or reply.logprobs is None or not request.body.get("logprobs"):
        return None
    tokens = [{"token": token, "logprob": value} for token, value in reply.logprobs.items()]
    return {"content": [{**tokens[0], "top_logprobs": tokens}]}


def _chunk(
    request: Request,
    delta: Mapping[str, Any],
    logprobs: Mapping[str, Any] | None = None,
    finish_reason: str | None = None,
) -> dict[str, Any]:
    choice = {"index": 0, "delta": dict(delta), "logprobs": logprobs, "finish_reason": finish_reason}
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": request.body.get("model", ""),
        "choices": [choice],
    }


def _completion(request: Request, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": _whole(reply)}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    choice = {
        "index": 0,
        "message": message,
        "logprobs": _logprobs(request, reply, 0),
        "finish_reason": reply.finish_reason,
    }
    completion = {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 0,
        "model": request.body.get("model", ""),
        "choices": [choice],
    }
    return {**completion, "usage": _usage(request, reply)} if reply.usage else completion
