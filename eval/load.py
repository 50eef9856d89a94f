"""Measures many users at once: `python -m eval.load` asks in as many threads as there are users, all at a time.

Reported are the seconds to the evidence and to the end, and whether every answer is the one a user alone would get.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from eval.corpora import ROOT, records
from eval.results import table, write_section
from rag import AnswerDone, Assistant, Config, EvidenceFound


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with its answer's text, the seconds to the evidence and to the end."""

    question: str
    text: str
    evidence: float
    total: float


def main() -> None:
    """Ask, and print the table; `--write` puts it into the results."""
    parser = argparse.ArgumentParser(prog="python -m eval.load")
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3, help="questions that each user asks one after the other")
    parser.add_argument("--writer", default="extractive")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    questions = [row["question"] for row in records(ROOT / "eval" / "questions" / "single.jsonl")]
    with Assistant.open(Config.from_environment()) as assistant:
        papers = len(assistant.snapshot().paper_ids)
        alone = {question: assistant.ask(question, writer=options.writer).text for question in questions}

        def user(number: int) -> list[Asked]:
            places = range(number * options.rounds, (number + 1) * options.rounds)
            return [_ask(assistant, options.writer, questions[place % len(questions)]) for place in places]

        began = time.perf_counter()
        with ThreadPoolExecutor(options.users) as threads:
            asked = [one for all_of_one in threads.map(user, range(options.users)) for one in all_of_one]
        seconds = time.perf_counter() - began
    rows = [
        ["users at once, questions in all", f"{options.users}, {len(asked)}"],
        ["papers, writer", f"{papers:,}, {options.writer}"],
        ["seconds to the evidence: median, p95, longest", _spread([one.evidence for one in asked])],
        ["seconds to the end: median, p95, longest", _spread([one.total for one in asked])],
        ["answers a second", f"{len(asked) / seconds:.1f}"],
        ["answers that differ from those to a user alone", str(sum(one.text != alone[one.question] for one in asked))],
    ]
    text = table(["what", "measured"], rows)
    print(text)
    if options.write:
        write_section("load", "Many users at once", text)


def _ask(assistant: Assistant, writer: str, question: str) -> Asked:
    began = time.perf_counter()
    evidence = None
    text = ""
    for event in assistant.stream(question, writer=writer):
        if isinstance(event, EvidenceFound):
            evidence = time.perf_counter() - began
        elif isinstance(event, AnswerDone):
            text = event.answer.text
    total = time.perf_counter() - began
    return Asked(question, text, total if evidence is None else evidence, total)


def _spread(seconds: Sequence[float]) -> str:
    return ", ".join(f"{np.percentile(seconds, share):.2f}" for share in (50, 95, 100))


if __name__ == "__main__":
    main()
