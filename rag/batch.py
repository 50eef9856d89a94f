"""Answers a JSON Lines file of questions and searches into another, going on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rag.build import Assistant
from rag.chain import parse_history
from rag.documents import answer_document, hits_document
from rag.errors import InputError, ProviderError, UserError


def run_batch(assistant: Assistant, questions: Path, out: Path) -> Iterator[tuple[int, int]]:
    """Answer every line of `questions` that has no answer in `out` yet; yield (answered, total).

    All lines are checked before the first answer: `InputError` names the line. A question on which the model
    service failed gets `{"id", "error"}` and is asked again by the next run.
    """
    items = _read(questions)
    done = _finished(out)
    if len(done):
        _rewrite(out, done)
    answered = sum(item["id"] in done for item in items)
    yield answered, len(items)
    with out.open("a", encoding="utf-8") as file:
        for item in items:
            if item["id"] in done:
                continue
            file.write(json.dumps(_document(assistant, item), ensure_ascii=False) + "\n")
            file.flush()
            answered += 1
            yield answered, len(items)


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
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 ({error}); save it as UTF-8") from error
    items: dict[Any, dict[str, Any]] = {}
    for number, line in enumerate(lines, 1):
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
    if not isinstance(item, dict) or not isinstance(item.get("id"), str | int):
        return 'expected an object with an "id"'
    if item["id"] in seen:
        return f"the id {item['id']!r} stands twice; ids must differ, or answers could not be told apart"
    wanted = item.get("search", item.get("question"))
    if not isinstance(wanted, str) or not wanted.strip():
        return 'expected a "question" or a "search" that is not empty'
    k = item.get("k", 10)
    if not isinstance(k, int) or k < 1:
        return '"k" must be a whole number from 1'
    try:
        parse_history(item.get("history") or [])
    except UserError as error:
        return str(error)
    return None


def _finished(out: Path) -> dict[Any, str]:
    """Return the whole lines of an earlier run by id; a line cut by an interruption or an error is left out."""
    done: dict[Any, str] = {}
    if out.exists():
        for line in out.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                document = json.loads(line)
            except ValueError:
                continue
            if isinstance(document, dict) and "id" in document and "error" not in document:
                done[document["id"]] = line
    return done


def _rewrite(out: Path, done: dict[Any, str]) -> None:
    fresh = out.with_name(out.name + ".part")
    fresh.write_text("".join(f"{line}\n" for line in done.values()), encoding="utf-8")
    fresh.replace(out)
