"""Answers a JSON Lines file of questions and searches into another, going on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rag.build import Assistant
from rag.documents import answer_document, hits_document, parse_history
from rag.errors import InputError, ProviderError, UserError


def run_batch(assistant: Assistant, questions: Path, out: Path) -> Iterator[tuple[int, int]]:
    """Answer every line of `questions` that has no answer in `out` yet; yield (answered, total).

    All lines are checked before the first answer: `InputError` names the line. A question on which the model
    service failed gets `{"id", "error"}` and is asked again by the next run.
    """
    items = _read(questions)
    done = _finished(questions, out)
    answered = sum(item["id"] in done for item in items)
    yield answered, len(items)
    try:
        # What JSON may hold and UTF-8 may not, half a surrogate pair, is written as JSON's escape.
        with out.open("a", encoding="utf-8", errors="backslashreplace") as file:
            for item in items:
                if item["id"] in done:
                    continue
                file.write(json.dumps(_document(assistant, item), ensure_ascii=False) + "\n")
                file.flush()
                answered += 1
                yield answered, len(items)
    except OSError as error:
        raise _unwritable(out, error) from error


def _document(assistant: Assistant, item: dict[str, Any]) -> dict[str, Any]:
    if "search" in item:
        return {"id": item["id"], "hits": hits_document(assistant.search(item["search"], item.get("k", 10)))}
    try:
        answer = assistant.ask(item["question"], parse_history(item.get("history") or []))
    except ProviderError as error:
        return {"id": item["id"], "question": item["question"], "error": str(error)}
    return {"id": item["id"], **answer_document(answer)}


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 ({error}); save it as UTF-8") from error
    items: dict[Any, dict[str, Any]] = {}
    for number, line in enumerate(text.split("\n"), 1):  # not splitlines: U+2028 may stand inside JSON
        if not line.strip():
            continue
        try:
            item = json.loads(line)
        except ValueError as error:
            raise InputError(str(path), number, f"not JSON ({error}); one object a line is expected") from error
        problem = _problem(item, items)
        if problem:
            raise InputError(str(path), number, problem)
        items[item["id"]] = item
    return list(items.values())


def _problem(item: Any, seen: dict[Any, dict[str, Any]]) -> str | None:
    if not isinstance(item, dict) or not _is_id(item.get("id")):
        return 'expected an object with an "id", a text or a whole number'
    if item["id"] in seen:
        return f"the id {item['id']!r} stands twice; ids must differ, or answers could not be told apart"
    wanted = item.get("search", item.get("question"))
    if not isinstance(wanted, str) or not wanted.strip():
        return 'expected a "question" or a "search" that is not empty'
    k = item.get("k", 10)
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        return '"k" must be a whole number from 1'
    try:
        parse_history(item.get("history") or [])
    except UserError as error:
        return str(error)
    return None


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _finished(questions: Path, out: Path) -> set[str | int]:
    """Return the ids answered by an earlier run, and leave nothing but whole answers in `out`.

    An error is asked again, and so is a last line that an interruption has cut. Raises `UserError` when
    `out` is not a file of answers: it would be overwritten.
    """
    try:
        if not out.exists():
            out.touch()  # find out now, not after the first answer, that it cannot be written
            return set()
        if out.samefile(questions):
            raise UserError(f"{out}: the answers would overwrite the questions; choose another --out")
        text = out.read_text(encoding="utf-8", errors="replace")
        done = _whole_lines(text, out)
        kept = "".join(f"{line}\n" for line in done.values())
        if kept != text:
            fresh = out.with_name(out.name + ".part")
            fresh.write_text(kept, encoding="utf-8")
            fresh.replace(out)
    except OSError as error:
        raise _unwritable(out, error) from error
    return set(done)


def _whole_lines(text: str, out: Path) -> dict[str | int, str]:
    """Return the lines that answer by id."""
    done: dict[str | int, str] = {}
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            document = json.loads(line)
        except ValueError:
            document = None
        if isinstance(document, dict) and _is_id(document.get("id")):
            if "error" not in document:
                done[document["id"]] = line
        elif number < len(lines):
            raise InputError(str(out), number, "this is not a file of answers; choose another --out")
    return done


def _unwritable(out: Path, error: OSError) -> UserError:
    return UserError(f"{out}: cannot be written ({error.strerror}); choose another --out")
