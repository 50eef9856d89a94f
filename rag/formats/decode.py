"""Bytes to text: byte order marks, UTF-16, legacy encodings, and files that are no text at all."""

from __future__ import annotations

import codecs
import re
import unicodedata
from dataclasses import dataclass

from rag.errors import InputError

# Longer marks first: the UTF-32 one begins with the UTF-16 one.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# First bytes of the files people give by mistake, with what they should do.
_BINARY = (
    (b"%PDF", "a PDF; save its text as .txt or export the list as CSV, BibTeX or RIS"),
    (b"PK\x03\x04", "a Word, Excel or ZIP file; unpack it or save it as .csv or .txt"),
    (b"\xd0\xcf\x11\xe0", "an old Office file; save it as .csv or .txt"),
    (b"\x1f\x8b", "compressed with gzip; unpack it first"),
    (b"SQLite format 3\x00", "a database; export it as CSV or BibTeX"),
    (b"\x89PNG", "an image; save the text as .txt"),
    (b"\xff\xd8\xff", "an image; save the text as .txt"),
)

_XML_ENCODING = re.compile(rb"\s*<\?xml[^>]{0,60}encoding=[\"']([A-Za-z0-9._-]{1,30})[\"']")

_EAST_ASIAN = (
    "gb18030",
    "gbk",
    "gb2312",
    "big5",
    "big5hkscs",
    "shift_jis",
    "cp932",
    "euc_jp",
    "euc_kr",
    "cp949",
)

REMEDY = "save it as UTF-8 text"

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class Decoded:
    """Decoded text with line ends as "\\n"; `damaged` when some bytes became U+FFFD."""

    text: str
    damaged: bool = False


def decode(data: bytes, file: str) -> Decoded:
    """Decode a file: its byte order mark, else UTF-8, else UTF-16 by its pattern of zeros, else a guess.

    A UTF-8 file with a few bad bytes keeps them as U+FFFD and is marked `damaged`, so that only the
    records they stand in are lost. NUL characters are dropped: no store or library downstream takes them.
    Raises `InputError` for binary files and undecodable ones.
    """
    for magic, what in _BINARY:
        if data.startswith(magic):
            raise InputError(file, 0, f"this is {what}.")
    damaged = False
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            text = data[len(mark) :].decode(encoding, errors="replace")
            damaged = REPLACEMENT in text
            break
    else:
        text, damaged = _decode_unmarked(data, file)
    return Decoded(text.replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n"), damaged)


def _decode_unmarked(data: bytes, file: str) -> tuple[str, bool]:
    zeros = data.count(0)
    if zeros * 5 > len(data):
        return _decode_utf16(data, file), False
    if zeros * 100 > len(data):
        raise InputError(file, 0, f"this is no text (it is full of zero bytes); {REMEDY}.")
    declared = _XML_ENCODING.match(data)
    if declared:
        try:
            return data.decode(declared[1].decode("ascii")), False
        except (LookupError, UnicodeDecodeError):
            pass  # a false declaration; go on as for any file
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        text = data.decode("utf-8", errors="replace")
    bad = text.count(REPLACEMENT)
    # A legacy encoding gives almost no valid multi-byte sequences by chance; a damaged UTF-8 file many.
    if len(re.findall(r"[^\x00-\x7f\ufffd]", text)) > bad:
        return text, True
    return _guess(data, file), False


def _decode_utf16(data: bytes, file: str) -> str:
    """UTF-16 without a mark: Latin text has its zeros in every second byte, which side tells the order."""
    even, odd = data[0::2].count(0), data[1::2].count(0)
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    try:
        if min(even, odd) * 20 > max(even, odd):
            raise ValueError
        text = data.decode(encoding)
        controls = sum(unicodedata.category(character) in ("Cc", "Cn", "Co") for character in text[:10_000])
        if controls - text[:10_000].count("\n") - text[:10_000].count("\r") > 0.05 * min(len(text), 10_000):
            raise ValueError
        return text
    except ValueError as error:
        raise InputError(file, 0, f"this is no text (it is full of zero bytes); {REMEDY}.") from error


def _guess(data: bytes, file: str) -> str:
    import charset_normalizer  # slow to import and rarely needed

    matches = charset_normalizer.from_bytes(data)
    best = matches.best()
    if best is None:
        raise InputError(file, 0, f"its encoding cannot be recognised; {REMEDY}.")
    # Single-byte encodings look alike; where Windows Latin reads as well as any, it is the likeliest.
    western = next((match for match in matches if match.encoding == "cp1252"), None)
    if western is not None and western.coherence >= best.coherence and best.encoding not in _EAST_ASIAN:
        best = western
    return str(best)
