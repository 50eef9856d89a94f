"""The chat in the browser: the conversation on the left, the evidence of the answer in view on the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag import Config


def launch(config: Config, host: str = "127.0.0.1", port: int = 7860, auth: str | None = None) -> None:
    """Serve the chat until interrupted; prints the address when it is ready.

    `auth` is "name:password" for whoever opens it, by default that of `PLENARY_AUTH`, if any. An empty index is
    filled with the papers that came along first. Raises `UserError` when the port is taken or `auth` is neither,
    and what opening the index raises.
    """
    from ui.app import serve  # gradio takes seconds to import: only who wants the chat pays for it

    serve(config, host, port, auth)


__all__ = ["launch"]
