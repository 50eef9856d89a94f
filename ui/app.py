"""Building the page and serving it."""

from __future__ import annotations

import hmac
import importlib.util
import ipaddress
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import resources
from pathlib import Path
from threading import Thread
from typing import Any, cast

import gradio as gr
from tqdm import tqdm

from rag import Assistant, Config, PlenaryError, UserError
from ui.api import add_endpoints
from ui.chat_events import AT_ONCE, ChatEvents
from ui.library_events import LibraryEvents
from ui.page import lay_out
from ui.policy import ContentPolicy
from ui.saving import Keeper
from ui.uploads import MOST_BYTES

_HERE = Path(__file__).parent

_NARROW = "<style>@media (max-width: 760px) { .gradio-container .main { padding: .6rem !important; } }</style>"
"""Of the margins around the page, where the rules of `css_paths` do not reach."""


def serve(config: Config, host: str, port: int, auth: str | None) -> None:
    """See `ui.launch`."""
    auth = auth or os.environ.get("PLENARY_AUTH") or None
    options = launch_options(auth)
    if not auth and not _is_loopback(host):
        print(f"warning: whoever reaches {host} can ask, add and remove papers; set PLENARY_AUTH", file=sys.stderr)
    with Assistant.open(config) as assistant:
        fill_if_empty(assistant)
        Thread(target=_warm, args=(assistant,), name="warm", daemon=True).start()
        page = build_page(assistant)
        try:
            _, url, _ = page.launch(server_name=host, server_port=port, **options)
        except OSError as error:
            raise UserError(f"port {port} of {host} cannot be used ({error}); choose another with --port") from error
        print(f"Plenary is at {url} (Ctrl-C ends it)", flush=True)
        page.block_thread()


def fill_if_empty(assistant: Assistant) -> None:
    """Index the papers that came along when there are none, with a line of progress on stderr."""
    if assistant.snapshot().paper_ids:
        return
    folder = Path(str(resources.files("data")))
    with tqdm(unit=" papers", file=sys.stderr, desc="indexing the papers that came along") as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        assistant.index([folder], progress)


def launch_options(auth: str | None = None) -> dict[str, Any]:
    """Return what `Blocks.launch` is given besides the address: looks, the password, and what is switched off.

    `auth` is "name:password". Raises `UserError` when it is not.
    """
    return {
        # System fonts: none is fetched.
        "theme": gr.themes.Soft(
            primary_hue="teal",
            secondary_hue="teal",
            neutral_hue="stone",
            font=["system-ui", "sans-serif"],
            font_mono=["monospace"],
        ).set(
            # `set` forgets Soft's own.
            background_fill_primary="*neutral_50",
            # White on teal, and teal on white, can be read only where the teal is dark.
            block_label_text_color="*primary_800",
            block_title_text_color="*primary_800",
            checkbox_label_background_fill_selected="*primary_700",
            body_text_color_subdued="*neutral_600",
            input_placeholder_color="*neutral_500",
            input_placeholder_color_dark="*neutral_300",
            link_text_color="*primary_700",
            link_text_color_hover="*primary_800",
            link_text_color_visited="*primary_700",
            button_primary_background_fill="*primary_700",
            button_primary_background_fill_hover="*primary_800",
            button_primary_background_fill_dark="*primary_700",
            button_primary_background_fill_hover_dark="*primary_800",
        ),
        "css_paths": [_HERE / "style.css"],
        "head": f"{_NARROW}<script>{(_HERE / 'chat.js').read_text(encoding='utf-8')}</script>",
        "app_kwargs": {"middleware": [(ContentPolicy, (), {})]},
        "auth": password_check(auth) if auth else None,
        "footer_links": [],
        "share": False,
        "ssr_mode": False,
        "pwa": False,
        # The endpoints of `ui.api` as tools, where the package for it is installed.
        "mcp_server": importlib.util.find_spec("mcp") is not None,
        "enable_monitoring": False,
        # Gradio would keep all calls in the browser and offer to send them elsewhere.
        "run_history": False,
        "max_file_size": MOST_BYTES,
        "quiet": True,
        "prevent_thread_lock": True,
    }


def password_check(auth: str) -> Callable[[str, str], bool]:
    """Return what tells whether a name and a password are those of "name:password"."""
    name, colon, password = auth.partition(":")
    if not name or not colon or not password:
        raise UserError("PLENARY_AUTH must be a name and a password with a colon between them")

    def is_right(given: str, secret: str) -> bool:
        # Both are compared, in a time that tells nothing.
        same_name = hmac.compare_digest(given.encode(), name.encode())
        return hmac.compare_digest(secret.encode(), password.encode()) and same_name

    return is_right


def build_page(assistant: Assistant) -> gr.Blocks:
    """Return the page over an open assistant; it holds no state but that of its sessions."""
    with gr.Blocks(title="Plenary", analytics_enabled=False, fill_width=True) as page:
        parts = lay_out(assistant)
        events = ChatEvents(assistant, parts, Keeper(assistant.config.home))
        events.connect()
        events.connect_settings(page)
        LibraryEvents(assistant, parts).connect()
        add_endpoints(assistant, AT_ONCE)
    page.queue(default_concurrency_limit=AT_ONCE)
    return cast("gr.Blocks", page)  # gradio's own `__enter__` has no type


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _warm(assistant: Assistant) -> None:
    with suppress(PlenaryError):  # the first question will tell
        assistant.pipeline()


__all__ = ["build_page", "fill_if_empty", "launch_options", "password_check", "serve"]
