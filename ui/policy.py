"""What the browser may do on the chat's pages, told to it in headers: load from this server and nothing else.

Texts are escaped where they are shown; this holds even where that should fail one day.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

_Message: TypeAlias = MutableMapping[str, Any]
_Receive: TypeAlias = Callable[[], Awaitable[_Message]]
_Send: TypeAlias = Callable[[_Message], Awaitable[None]]
_Application: TypeAlias = Callable[[_Message, _Receive, _Send], Awaitable[None]]

CONTENT_POLICY = "; ".join(
    (
        "default-src 'self'",
        # Gradio's page has scripts within it, and its HTML component compiles templates.
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "media-src 'self' blob:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "frame-src 'none'",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'none'",
        "frame-ancestors 'self'",
    )
)

_HEADERS = (
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)


class ContentPolicy:
    """ASGI middleware that adds the headers to every response."""

    def __init__(self, app: _Application) -> None:
        self._app = app

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        async def send_with_headers(message: _Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        await self._app(scope, receive, send_with_headers)


__all__ = ["CONTENT_POLICY", "ContentPolicy"]
