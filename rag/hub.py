"""Loads a file by URL, going on where an earlier attempt stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from rag.errors import AssetError

PATIENCE = 5.0
"""Seconds a hub has for its first answer; where there is no way to it, this is all that is lost."""

_TIMEOUT = httpx.Timeout(30.0)  # for each read, not for the whole file


def answers(url: str) -> bool:
    """Whether a hub has the file and says so within `PATIENCE` seconds, name look-up included."""
    answered: list[bool] = []

    def ask() -> None:
        # ImportError and ValueError: a proxy setting that httpx cannot use.
        with suppress(httpx.HTTPError, httpx.InvalidURL, ImportError, ValueError):
            # A redirection is answer enough: where it leads to may be signed for loading only.
            answered.append(not httpx.head(url, timeout=PATIENCE).is_error)

    # A look-up of a name has no time limit of its own, so the wait for it is ended from outside.
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(PATIENCE)
    return bool(answered and answered[0])


def download(url: str, target: Path, size: int, advance: Callable[[int], object]) -> None:
    """Load a URL into a file, after the bytes that are in it already; `advance` is told of bytes.

    A file is never taken beyond one byte more than `size`, and the caller checks its hash. Raises
    `AssetError`; what was loaded until then stays, unless the server says that it does not fit.
    """
    host = urlsplit(url).netloc
    done = target.stat().st_size if target.exists() else 0
    headers = {"Accept-Encoding": "identity"}  # a range of compressed bytes would mean other bytes
    if done:
        headers["Range"] = f"bytes={done}-"
    try:
        with (
            httpx.Client(follow_redirects=True, timeout=_TIMEOUT) as client,
            client.stream("GET", url, headers=headers) as reply,
        ):
            reply.raise_for_status()
            if reply.status_code != httpx.codes.PARTIAL_CONTENT:
                done = 0  # the server sends all of it again
            advance(done)
            with target.open("ab" if done else "wb") as out:
                for block in reply.iter_bytes():
                    block = block[: size + 1 - done]
                    out.write(block)
                    done += len(block)
                    advance(len(block))
                    if done > size:
                        return
    except httpx.HTTPStatusError as error:
        target.unlink(missing_ok=True)  # 416 among them: what lies here does not fit the file
        raise AssetError(f"{host} answered {error.response.status_code}") from error
    except httpx.HTTPError as error:
        raise AssetError(f"the connection to {host} broke off ({type(error).__name__})") from error
    if done < size:
        raise AssetError(f"{host} sent {done} of {size} bytes")
