"""Counts tokens as OpenAI's o200k_base does, offline; without its table by a stated estimate."""

from __future__ import annotations

import os
import re
import shutil
from hashlib import sha1
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

import tiktoken

from rag import assets
from rag.errors import AssetError

_TABLE_URL = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
"""tiktoken names the file in its cache by the SHA-1 of this address; it is never asked for."""

_PIECES = re.compile(
    # Han, kana, hangul: one token each (o200k_base needs 0.6 to 0.8).
    r"[\u1100-\u11ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]"
    r"|[^\W\d_]{1,9}"  # a word: one token for each nine letters begun
    r"|\d{1,3}"  # o200k_base splits numbers into groups of three digits
    r"|[^\w\s]|_"  # punctuation and symbols
)

_loading = Lock()
_loaded: dict[Path, tiktoken.Encoding] = {}


def count_tokens(text: str, folder: Path | None = None) -> int:
    """Return the number of o200k_base tokens of a text; special tokens count as the text they are.

    `folder` is the folder of assets. Without the table there the number is `estimate_tokens(text)`.
    """
    encoding = _encoding(folder)
    if encoding is None:
        return estimate_tokens(text)
    return len(encoding.encode(text, disallowed_special=()))


def is_exact(folder: Path | None = None) -> bool:
    """Whether `count_tokens` counts (True) or estimates because the table was never fetched (False)."""
    return _encoding(folder) is not None


def truncate_tokens(text: str, limit: int, folder: Path | None = None) -> str:
    """Return the longest beginning of a text that a search by halves finds to be within `limit` tokens.

    The result is always a prefix of the text and never counts more than `limit`.
    """
    if limit <= 0:
        return ""
    if count_tokens(text, folder) <= limit:
        return text
    fits, too_long = 0, len(text)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if count_tokens(text[:middle], folder) <= limit:
            fits = middle
        else:
            too_long = middle
    return text[:fits]


def estimate_tokens(text: str) -> int:
    """Return an estimate of the number of o200k_base tokens, meant to err on the high side.

    One token for each nine letters of a word begun, for each Chinese, Japanese or Korean character, for
    each three digits begun, and for each other visible character. On the 38 seed abstracts the estimate is
    1.07 times the count on average (0.93 to 1.16), on 2,795 other abstracts 1.07 (0.89 to 1.25);
    characters / 4, the usual rule, is 1.35 times (0.84 to 1.65).
    """
    return sum(1 for _ in _PIECES.finditer(text))


def _encoding(folder: Path | None) -> tiktoken.Encoding | None:
    """Return tiktoken's encoding, or None while its table is not in the folder; never uses the network."""
    folder = folder or assets.default_folder()
    encoding = _loaded.get(folder)
    if encoding is None:
        try:
            table = assets.path(assets.TOKEN_TABLE, folder)
        except AssetError:
            return None  # asked again next time: it may have been fetched by then
        with _loading:
            encoding = _loaded.get(folder) or _load(table)
            _loaded[folder] = encoding
    return encoding


def _load(table: Path) -> tiktoken.Encoding:
    """Let tiktoken read a copy of a checked table (0.7 s).

    A copy, because tiktoken deletes a file of its cache that it holds to be corrupt; and its cache folder is
    named in the environment only for as long as it reads, so that other users of tiktoken are left alone.
    """
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    with TemporaryDirectory(prefix="plenary-") as cache:
        shutil.copyfile(table, Path(cache) / sha1(_TABLE_URL.encode(), usedforsecurity=False).hexdigest())
        os.environ["TIKTOKEN_CACHE_DIR"] = cache
        try:
            return tiktoken.get_encoding("o200k_base")
        finally:
            if before is None:
                del os.environ["TIKTOKEN_CACHE_DIR"]
            else:
                os.environ["TIKTOKEN_CACHE_DIR"] = before
