"""Every setting in one frozen value, read once from the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import platformdirs

from rag.errors import UserError

WRITERS = ("auto", "openai", "local", "extractive")
DEFAULT_MODEL = "gpt-4.1-mini"


@dataclass(frozen=True, slots=True)
class Config:
    """All settings.

    `store` is a folder or the URL of a Chroma server; `home` holds assets and caches. `writer` is one of
    `WRITERS`; "auto" takes the service when a key or base URL is set, else the local model when its file is
    there, else the extractive writer. `papers` is how many papers a search for an answer brings. `threads`
    is for the local model (None: the physical cores). `api_key` never appears in `repr`.
    """

    store: str
    home: Path
    writer: str = "auto"
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    model: str = DEFAULT_MODEL
    timeout: float = 60.0
    retries: int = 4
    papers: int = 8
    threads: int | None = None

    def __post_init__(self) -> None:
        """Take paths of either kind; raises `UserError` for a writer or a store there cannot be."""
        object.__setattr__(self, "store", os.fspath(self.store))
        object.__setattr__(self, "home", Path(self.home).expanduser())
        if self.writer not in WRITERS:
            raise UserError(f"unknown writer {self.writer!r}; choose one of {', '.join(WRITERS)}")
        if not _is_store(self.store):
            raise UserError(f"{self.store!r} is no store; give a folder or an address like http://localhost:8000")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ, **overrides: Any) -> Config:
        """Read `PLENARY_*` and `OPENAI_*`; `overrides` that are not None win. Raises `UserError`."""
        home = Path(environment.get("PLENARY_HOME") or platformdirs.user_data_dir("plenary"))
        given = {name: value for name, value in overrides.items() if value is not None}
        settings: dict[str, Any] = dict(
            store=environment.get("PLENARY_STORE") or str(home / "store"),
            home=home,
            writer=environment.get("PLENARY_WRITER") or "auto",
            base_url=environment.get("OPENAI_BASE_URL") or None,
            api_key=environment.get("OPENAI_API_KEY") or None,
            model=environment.get("PLENARY_MODEL") or environment.get("OPENAI_MODEL") or DEFAULT_MODEL,
            timeout=_number(environment, "PLENARY_TIMEOUT", 60.0),
            retries=int(_number(environment, "PLENARY_RETRIES", 4)),
            papers=int(_number(environment, "PLENARY_PAPERS", 8)),
            threads=int(_number(environment, "PLENARY_THREADS", 0)) or None,
        )
        return cls(**{**settings, **given})

    @property
    def remote(self) -> bool:
        """Whether the store is a server reached by URL."""
        return self.store.lower().startswith(("http://", "https://"))


def _is_store(store: str) -> bool:
    if "://" not in store:
        return bool(store)
    try:
        address = urlsplit(store)
        return address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:  # a port that is no number
        return False


def _number(environment: Mapping[str, str], name: str, default: float) -> float:
    text = environment.get(name)
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        raise UserError(f"{name} must be a number, not {text!r}") from None
    if not 0 <= value < 1e9:
        raise UserError(f"{name} must be a number from 0, not {text!r}")
    return value
