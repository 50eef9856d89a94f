"""What users thought of answers, kept as JSON Lines that `eval` reads as cases like those of `eval/questions`."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from rag import Turn, UserError, answer_document
from ui.conversation import Exchange

MOST_COMMENT = 4_000
"""Characters of a comment that are kept."""

_lock = Lock()


def feedback_case(exchange: Exchange, history: list[Turn], comment: str) -> dict[str, Any]:
    """Return an exchange with its rating ("yes" or "no") as a case.

    The answer's papers are the right ones only where the user said so; what the facts are a person has to fill in.
    """
    now = datetime.now(UTC)
    good = exchange.rating == "yes"
    answered = exchange.answer is not None and not exchange.answer.abstained
    return {
        "id": f"feedback-{now:%Y%m%dT%H%M%S%f}",
        "kind": "feedback",
        "question": exchange.question,
        "history": [[turn.role, turn.text] for turn in history],
        "gold": [str(source) for paper in exchange.papers for source in paper.sources[:1]] if good else [],
        "facts": [],
        "must_not": [],
        "answerable": answered if good else True,
        "note": comment[:MOST_COMMENT],
        "helpful": good,
        "time": now.isoformat(timespec="seconds"),
        "answer": answer_document(exchange.answer) if exchange.answer else None,
    }


def keep_feedback(home: Path, case: dict[str, Any]) -> Path:
    """Append a case to `feedback.jsonl` in the home folder; raises `UserError` when it cannot be written."""
    path = home / "feedback.jsonl"
    line = json.dumps(case, ensure_ascii=False) + "\n"
    try:
        home.mkdir(parents=True, exist_ok=True)
        with _lock, path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(line)
    except OSError as error:
        raise UserError(f"{path} cannot be written ({error.strerror}); set PLENARY_HOME to another folder") from error
    return path


__all__ = ["MOST_COMMENT", "feedback_case", "keep_feedback"]
