"""Turns what users thought of answers (`feedback.jsonl` of the chat) into questions for an evaluation.

What users said is good gives the papers that are right. What they said is bad tells only that a question deserves a
look: its answer is not taken for anything. Facts are for a person to fill in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eval.plain_check import FIELDS, plain_row
from rag import UserError


def feedback_rows(path: Path) -> list[dict[str, Any]]:
    """Return the cases of a feedback file, one for each question with its history: the last rating counts.

    Raises `UserError` for a file that cannot be read and for a line that is no feedback, by its number.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read ({error}); name the feedback.jsonl of the chat's home folder") from None
    rows: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            case = json.loads(line)
        except json.JSONDecodeError as error:
            raise UserError(f"{path}:{number}: no JSON ({error.msg}); correct or remove the line") from None
        row = _row(case, f"{path}:{number}")
        rows[json.dumps([row["question"], row["history"]], ensure_ascii=False)] = row
    return list(rows.values())


def _row(case: Any, place: str) -> dict[str, Any]:
    if not isinstance(case, Mapping):
        raise UserError(f"{place}: no JSON object; correct or remove the line")
    row = {name: case[name] for name in FIELDS if name in case}
    if not case.get("helpful"):
        row |= {"gold": [], "answerable": True, "note": f"not helpful: {row.get('note', '')}".rstrip(": ")}
    complaints = list(plain_row(row, {}))
    if complaints:
        raise UserError(f"{place}: {complaints[0]}; correct or remove the line")
    return row


def write_cases(source: Path, target: Path) -> int:
    """Write the cases of a feedback file as questions (JSON Lines) and return how many; raises `UserError`."""
    rows = feedback_rows(source)
    if not rows:
        raise UserError(f"{source} holds no feedback")
    target.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    target.write_text(text, encoding="utf-8", errors="backslashreplace")
    return len(rows)
