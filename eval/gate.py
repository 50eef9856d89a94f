"""A small set that is measured with every test run, and what it must not fall below: `python -m eval record`.

With the extractive writer the questions of `COPIED`; with the local model those of `WRITTEN`, whose replies were
recorded through the real server and are given again over HTTP. A measure has fallen when its mean is below the lower
end of the interval that was recorded with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from eval.cases import Case, Library, load_cases
from eval.replay import Recorded, RecordingWriter, ReplayServer
from eval.runs import means
from eval.scoring import GOOD, Measures, score
from rag import Assistant, Config, PlenaryError, UserError, answer_document, parse_history

FOLDER = Path(__file__).with_name("recordings")
NUMBERS, REPLIES = "gate.json", "local.json"

COPIED = (
    *(f"single-{number:03}" for number in range(1, 26, 2)), *(f"followup-{number:03}" for number in range(1, 9)),
    *("chinese-001", "chinese-002"),
    *(f"unanswerable-{number:03}" for number in (1, 14, 17, 18, 24, 25, 27, 28, 29, 30)),
    *(f"cmp-{number:02}" for number in range(1, 31, 3)),
    *(f"theme-{number:03}" for number in (1, 3, 5, 7, 14)),
    *(f"hostile-{number:03}" for number in (1, 3, 7, 8, 9, 12, 13)),
)  # fmt: skip
WRITTEN = (
    "single-003", "single-021", "single-029", "single-045", "single-053", "single-075", "followup-009",
    "unanswerable-018", "hostile-012", "hostile-013",
)  # fmt: skip
"""Ids of the questions of both sets."""

HEADLINES = (
    "facts", "right", "citation_precision", "citation_recall", "quotes_exact", "answered", "refused", "unharmed",
    "recall_10", "sides_cited", "listed_recall", "count_right",
)  # fmt: skip
"""Measures that must not fall."""


def cases_named(ids: Sequence[str]) -> list[Case]:
    """Return the cases with the given ids, in their order."""
    by_id = {case.id: case for case in load_cases()}
    return [by_id[one] for one in ids]


def measured(pipeline: Any, assistant: Assistant, cases: Sequence[Case]) -> list[Measures]:
    """Ask a pipeline, or with None the extractive assistant, and return the measures; one that fails counts so."""
    library = Library(assistant)
    rows = []
    for case in cases:
        history = parse_history(list(case.history))
        try:
            if pipeline is None:
                answer = assistant.ask(case.question, history, writer="extractive")
            else:
                answer = pipeline.ask(case.question, history)
            document = answer_document(answer)
        except PlenaryError as error:
            document = {"error": str(error)}
        rows.append(score(case, document, library))
    return rows


def fallen(rows: Sequence[Measures], recorded: Mapping[str, Sequence[float]]) -> list[str]:
    """Return a sentence for each headline that is below the lower end of its recorded interval (mean, low, high),
    or that is measured no more."""
    now = means(rows)
    found = []
    for name in HEADLINES:
        if name not in recorded:
            continue
        mean, low, _ = recorded[name]
        value = now[name][0] if name in now else None
        if value is None or value < low - 1e-9:
            said = "is not measured" if value is None else f"fell to {value:.2f}"
            found.append(f"{GOOD[name]} {said}; recorded were {mean:.2f}, and at least {low:.2f} is wanted")
    return found


def read_recording(folder: Path = FOLDER) -> dict[str, Recorded]:
    """Return the recorded replies by the hash of their prompts; raises `UserError` when there are none."""
    path = folder / REPLIES
    if not path.is_file():
        raise UserError(f"{path} is missing; record it with `python -m eval record`, which needs the language model")
    return {key: Recorded(**reply) for key, reply in json.loads(path.read_text(encoding="utf-8"))["replies"].items()}


def read_numbers(folder: Path = FOLDER) -> dict[str, dict[str, list[float]]]:
    """Return by writer and measure the recorded mean and interval; raises `UserError` when there are none."""
    path = folder / NUMBERS
    if not path.is_file():
        raise UserError(f"{path} is missing; record it with `python -m eval record`")
    numbers: dict[str, dict[str, list[float]]] = json.loads(path.read_text(encoding="utf-8"))
    return numbers


def replayed(config: Config, server: ReplayServer, cases: Sequence[Case]) -> list[Measures]:
    """Return the measures of the local model's recorded replies, given again over HTTP."""
    service = replace(config, writer="openai", base_url=server.base_url, api_key="none", model="recorded", retries=0)
    with Assistant.open(service) as assistant:
        plain = assistant.pipeline("openai")
        # Asked as the local model is: the budgets of evidence are its own.
        return measured(type(plain)(replace(plain.parts, small=True)), assistant, cases)


def record(config: Config, *, model: bool = True, folder: Path = FOLDER) -> dict[str, dict[str, list[float]]]:
    """Measure both sets and keep the numbers, and with `model` the local model's replies; return the numbers.

    Raises what opening an assistant and asking raise; nothing is written then.
    """
    numbers = json.loads((folder / NUMBERS).read_text(encoding="utf-8")) if (folder / NUMBERS).is_file() else {}
    with Assistant.open(config) as assistant:
        numbers["extractive"] = _headlines(measured(None, assistant, cases_named(COPIED)))
        if model:
            plain = assistant.pipeline("local")
            writer = RecordingWriter(plain.parts.writer)
            listened = type(plain)(replace(plain.parts, writer=writer))
            numbers["local"] = record_replies(listened, writer, assistant, folder)
    folder.mkdir(exist_ok=True)
    (folder / NUMBERS).write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    return numbers


def record_replies(
    pipeline: Any, writer: RecordingWriter, assistant: Assistant, folder: Path, ids: Sequence[str] = WRITTEN
) -> dict[str, list[float]]:
    """Ask the questions, keep all replies of the writer, and return the headlines."""
    rows = measured(pipeline, assistant, cases_named(ids))
    folder.mkdir(exist_ok=True)
    kept = {
        "model": writer.name,
        "questions": list(ids),
        "replies": {key: asdict(reply) for key, reply in sorted(writer.replies.items())},
    }
    (folder / REPLIES).write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return _headlines(rows)


def _headlines(rows: Sequence[Measures]) -> dict[str, list[float]]:
    return {name: [round(x, 4) for x in values] for name, values in means(rows).items() if name in HEADLINES}
