"""A conversation as one text for the browser to keep, and back; signed, since it comes back from a browser.

What is restored is shown as checked, so only what this Plenary wrote is taken: the signature's key lies in the home
folder and never leaves it.
"""

from __future__ import annotations

import hmac
import os
import secrets
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from pydantic import TypeAdapter, ValidationError

from rag import Answer, Claim, Comparison, Paper, ThemeReport
from ui.conversation import Exchange

MOST_CHARACTERS = 4_000_000
"""Of a saved conversation; browsers keep about five million for a site."""

_KEY_LENGTH = 32


@dataclass(frozen=True, slots=True)
class _Saved:
    """What of an exchange is kept: what is shown once it has ended. An answer has the rest within it."""

    question: str
    answer: Answer | None
    claims: tuple[Claim, ...]
    papers: tuple[Paper, ...]
    comparison: Comparison | None
    report: ThemeReport | None
    error: str | None
    stopped: bool
    candidates: tuple[Paper, ...]
    rating: str


class Keeper:
    """Packs and unpacks conversations with the key of a home folder."""

    def __init__(self, home: Path) -> None:
        """Read the key, or make it; where the folder cannot be written it lasts as long as the program."""
        self._key = _key_of(home / "chat.key")
        self._adapter: TypeAdapter[list[_Saved]] | None = None
        self._lock = Lock()

    def pack(self, exchanges: list[Exchange]) -> str:
        """Return the ended exchanges as text; the oldest are left out where it would be too long, "" for none."""
        ended = [_saved(exchange) for exchange in exchanges if exchange.ended]
        while ended:
            data = urlsafe_b64encode(zlib.compress(self._types().dump_json(ended), 6)).decode()
            if len(data) <= MOST_CHARACTERS:
                return f"{self._signature(data)}.{data}"
            del ended[0]
        return ""

    def unpack(self, text: str) -> list[Exchange] | None:
        """Return the exchanges of a text, None when it is not one this Plenary wrote."""
        signature, _, data = text.partition(".")
        if not data.isascii() or not hmac.compare_digest(signature.encode(), self._signature(data).encode()):
            return None
        try:
            kept = self._types().validate_json(zlib.decompress(urlsafe_b64decode(data)))
        except (ValidationError, ValueError, zlib.error):  # another version wrote it
            return None
        return [_restored(number, saved) for number, saved in enumerate(kept, 1)]

    def _signature(self, data: str) -> str:
        return hmac.new(self._key, data.encode(), "sha256").hexdigest()

    def _types(self) -> TypeAdapter[list[_Saved]]:
        with self._lock:
            if self._adapter is None:
                self._adapter = TypeAdapter(list[_Saved])
            return self._adapter


def _saved(exchange: Exchange) -> _Saved:
    answered = exchange.answer is not None
    return _Saved(
        exchange.question,
        exchange.answer,
        () if answered else exchange.claims,
        () if answered else exchange.papers,
        None if answered else exchange.comparison,
        None if answered else exchange.report,
        exchange.error,
        exchange.stopped,
        exchange.candidates,
        exchange.rating,
    )


def _restored(number: int, saved: _Saved) -> Exchange:
    answer = saved.answer
    report = answer.themes if answer else saved.report
    return Exchange(
        number,
        saved.question,
        claims=answer.claims if answer else saved.claims,
        papers=answer.papers if answer else saved.papers,
        comparison=answer.comparison if answer else saved.comparison,
        report=report,
        written=len(report.themes) if report else 0,
        answer=answer,
        error=saved.error,
        stopped=saved.stopped,
        candidates=saved.candidates,
        rating=saved.rating,
    )


def _key_of(path: Path) -> bytes:
    made = secrets.token_bytes(_KEY_LENGTH)
    try:
        if not path.parent.is_dir():
            path.parent.mkdir(parents=True)
        # Whoever comes first makes it; nobody else may read it.
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(made)
        return made
    except OSError:  # it is there, or cannot be
        with suppress(OSError):
            kept = path.read_bytes()
            return kept if len(kept) == _KEY_LENGTH else made
        return made


__all__ = ["MOST_CHARACTERS", "Keeper"]
