"""JSON and JSON Lines: arrays, wrapped arrays, `{"value": ...}` nesting, CSL JSON, titles beside lists."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rag.errors import InputError
from rag.fields import ABSTRACT, TITLE, is_abstract, normal_name, record_from_fields, unwrapped
from rag.formats.record import Record

# Wrapped arrays seen in the trade are at most three deep ({"data": {"papers": {"results": [...]}}}).
_DEPTH = 6
# Keys of lists of bare abstracts.
_BARE = ("abstracts", "summaries", "texts")
# What the decoder skips between values.
_SPACE = re.compile(r"[ \t\n\r]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SIDECAR_KEY = re.compile(r"(?P<file>.+)#(?P<ordinal>\d+)")


@dataclass(frozen=True, slots=True)
class Placed:
    """A decoded value and the line it begins on (0 if unknown)."""

    value: object
    line: int


def read_json(text: str, file: str) -> list[Record]:
    """Read a JSON file; one that turns out to be JSON Lines is read as such."""
    try:
        return _records(_top_level(text, file))
    except InputError as error:
        lines = text.strip().split("\n", 2)
        if len(lines) > 1 and all(line.strip()[:1] == "{" and line.strip()[-1:] == "}" for line in lines[:2]):
            return read_json_lines(text, file)
        raise error


def read_json_lines(text: str, file: str) -> list[Record]:
    """Read one JSON value a line; a broken line is a record with a problem, the others are kept."""
    records: list[Record] = []
    ordinal = 0
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        ordinal += 1
        try:
            value = _decoded(content, file, line)
        except InputError as error:
            records.append(Record(ordinal, line, problem=error.reason))
            continue
        if isinstance(value, Mapping):
            records.append(record_from_fields(_flattened(value), ordinal, line))
        elif isinstance(value, str):
            records.append(Record(ordinal, line, abstract=_clean_text(value)))
        else:
            records.append(Record(ordinal, line, problem="this line holds no JSON object."))
    return records


def read_sidecar(text: str, file: str) -> dict[tuple[str, int], Record] | None:
    """Read titles kept beside untitled lists, or None when the file is no such thing.

    A sidecar is a JSON array of objects that have a `source` ("file name#ordinal") and a `title` and no
    abstract. Its records describe their neighbours and are never papers themselves.
    """
    head = text.lstrip()[:1]
    if head != "[" or '"source"' not in text:
        return None
    values = [placed for placed in _top_level(text, file)]
    found: dict[tuple[str, int], Record] = {}
    for placed in values:
        if not isinstance(placed.value, Mapping) or any(is_abstract(str(key)) for key in placed.value):
            return None
        key = _SIDECAR_KEY.fullmatch(str(placed.value.get("source", "")))
        if key is None or not isinstance(placed.value.get("title"), str):
            return None
        ordinal = int(key["ordinal"])
        found[key["file"], ordinal] = record_from_fields(placed.value, ordinal, placed.line)
    return found or None


def _decoded(text: str, file: str, line: int) -> object:
    try:
        return _clean(json.loads(text))
    except json.JSONDecodeError as error:
        raise _broken(file, line + error.lineno - 1, error) from error
    except RecursionError as error:
        raise _too_deep(file, line) from error
    except ValueError as error:  # an integer of thousands of digits
        raise InputError(file, line, "a number here is too long to be read; remove it.") from error


def _broken(file: str, line: int, error: json.JSONDecodeError) -> InputError:
    reason = f"this is no valid JSON ({error.msg}, column {error.colno}); mend it or export the list again."
    return InputError(file, line, reason)


def _too_deep(file: str, line: int) -> InputError:
    return InputError(file, line, "the JSON is nested too deeply to be a list of papers; flatten it.")


def _top_level(text: str, file: str) -> Iterator[Placed]:
    """Yield the elements of the file's array with their lines, or the file's single value.

    An array is decoded element by element, which is what gives each record its line.
    """
    start = _after_space(text, 0)
    if text[start : start + 1] != "[":
        yield Placed(_decoded(text, file, 1), 1 + text.count("\n", 0, start))
        return
    line_starts = [0, *(found.end() for found in re.finditer("\n", text))]
    decoder = json.JSONDecoder()
    position = _after_space(text, start + 1)
    if text[position : position + 1] == "]":
        position += 1
    else:
        while True:
            line = bisect_right(line_starts, position)
            try:
                value, position = decoder.raw_decode(text, position)
                value = _clean(value)
            except json.JSONDecodeError as error:
                raise _broken(file, error.lineno, error) from error
            except RecursionError as error:
                raise _too_deep(file, line) from error
            except ValueError as error:
                raise InputError(file, line, "a number here is too long to be read; remove it.") from error
            yield Placed(value, line)
            position = _after_space(text, position)
            separator = text[position : position + 1]
            position = _after_space(text, position + 1)
            if separator == "]":
                break
            if separator != ",":
                stop = json.JSONDecodeError("Expecting ',' or ']'", text, min(position, len(text)))
                raise _broken(file, stop.lineno, stop)
    if text[position:].strip():
        rest = json.JSONDecodeError("Extra data", text, position)
        raise _broken(file, rest.lineno, rest)


def _after_space(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _clean_text(text: str) -> str:
    """A lone surrogate (half of a broken emoji) cannot be stored or hashed; NUL neither."""
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text).replace("\x00", "")


def _clean(value: object) -> object:
    """Apply `_clean_text` to every string of a decoded value."""
    if isinstance(value, str):
        return _clean_text(value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_clean_text(key): _clean(item) for key, item in value.items()}
    return value


def _records(values: Iterator[Placed]) -> list[Record]:
    found: list[Placed] = []
    for placed in values:
        found.extend(_find(placed, 0))
    records: list[Record] = []
    for ordinal, placed in enumerate(found, start=1):
        if isinstance(placed.value, str):
            records.append(Record(ordinal, placed.line, abstract=placed.value))
        elif isinstance(placed.value, Mapping):
            records.append(record_from_fields(_flattened(placed.value), ordinal, placed.line))
    return records


def _find(placed: Placed, depth: int) -> Iterator[Placed]:
    """Yield the records inside a value: objects that describe a paper, at any depth up to `_DEPTH`."""
    value = placed.value
    if isinstance(value, str) and depth <= 1:
        yield placed
    elif isinstance(value, Mapping):
        if _describes_paper(value):
            yield placed
        elif depth < _DEPTH:
            for name, item in value.items():
                if name.casefold() in _BARE and isinstance(item, list):
                    yield from (Placed(text, placed.line) for text in item if isinstance(text, str))
                if isinstance(item, list | Mapping):
                    yield from _find(Placed(item, placed.line), depth + 1)
    elif isinstance(value, list) and depth < _DEPTH:
        for item in value:
            if not isinstance(item, str) or depth == 0:
                yield from _find(Placed(item, placed.line), depth + 1)


def _describes_paper(value: Mapping[str, object]) -> bool:
    """Whether an object has an abstract, or a title and no list of objects, itself or in its `content`.

    A title beside a list of objects is the list's.
    """
    inner = _flattened(value)
    if any(is_abstract(key) and isinstance(unwrapped(inner[key]), str | list) for key in inner):
        return True
    titled = any(normal_name(key) in TITLE and isinstance(unwrapped(inner[key]), str) for key in inner)
    return titled and not any(_holds_objects(item) for item in inner.values())


def _holds_objects(value: object) -> bool:
    """Whether a value is a list of papers; its first objects tell."""
    return isinstance(value, list) and any(
        isinstance(item, Mapping) and any(normal_name(str(key)) in TITLE + ABSTRACT for key in _flattened(item))
        for item in value[:20]
    )


def _flattened(value: Mapping[str, object]) -> dict[str, object]:
    """Lift the fields of `content` (OpenReview) to the record; the record's own id and forum stay."""
    content = value.get("content")
    flat = {str(key): item for key, item in value.items() if key != "content"}
    if isinstance(content, Mapping):
        flat.update({str(key): item for key, item in content.items()})
    return flat
