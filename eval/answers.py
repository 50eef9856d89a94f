"""Measures answers: `python -m eval.answers` asks the questions of `eval/questions` and writes a table.

Each item is kept in `.plenary/eval/answers-<writer>.jsonl` and not asked again while the prompts, the code of
`rag` and the questions are the same (`--fresh` asks all again).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eval.corpora import ROOT, WORK, records
from eval.metrics import facts_found, interval
from eval.results import table, write_section
from rag import Assistant, Config, PlenaryError, Prompt, answer_document, parse_history

KINDS = ("single", "followup", "chinese", "unanswerable")
TUTORIAL = """Answer the question using only the numbered abstracts below. Cite the abstract after every
sentence as [n]. If you cannot answer from the abstracts, say "I cannot answer this question."."""


def questions(names: Sequence[str], kind: str | None, limit: int | None, seed: int) -> list[dict[str, Any]]:
    """Return the questions of the named files and kind, or a random sample of `limit` of each file."""
    chosen: list[dict[str, Any]] = []
    for name in names:
        rows = [
            row for row in records(ROOT / "eval" / "questions" / f"{name}.jsonl") if kind in (None, row["kind"])
        ]
        if limit and limit < len(rows):
            rows = sorted(random.Random(seed).sample(rows, limit), key=lambda row: str(row["id"]))
        chosen += rows
    return chosen


def judge(item: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    """Return the measures of one answer: facts, right paper, precision of papers, refusal, seconds."""
    cited = [set(paper["sources"]) for paper in document["papers"]]
    gold = set(item["gold"])
    return {
        "id": item["id"],
        "kind": item["kind"],
        "abstained": document["abstained"],
        "facts": facts_found(document["text"], item["facts"]) if item["answerable"] else None,
        "right": any(sources & gold for sources in cited) if item["answerable"] else None,
        "precision": float(np.mean([bool(sources & gold) for sources in cited])) if cited and gold else None,
        "forbidden": any(facts_found(document["text"], [pattern]) for pattern in item.get("must_not") or []),
        "evidence": document["timings"]["evidence"],
        "first_word": document["timings"]["first_word"],
        "total": document["timings"]["total"],
        "prompt_tokens": document["usage"]["prompt_tokens"],
        "removed": len(document["removed"]),
        "removed_texts": [f"{claim['text']} ({claim['reason']})" for claim in document["removed"]],
        "claims": len(document["claims"]),
        "text": document["text"],
    }


def plenary(assistant: Assistant, writer: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return the product as a function from a question to its answer document."""
    return lambda item: answer_document(
        assistant.ask(item["question"], parse_history(item["history"]), writer=writer)
    )


def tutorial(assistant: Assistant) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return the plain chain: the four nearest whole abstracts, one prompt, the same local model."""
    model = assistant.writer("local")
    assert model is not None, "the local writer has a model"

    def ask(item: dict[str, Any]) -> dict[str, Any]:
        began = time.perf_counter()
        hits = assistant.search(item["question"], 4, ranking="dense")
        found = time.perf_counter()
        context = "\n\n".join(f"[{n}] {hit.paper.abstract}" for n, hit in enumerate(hits, 1))
        first, text, usage = 0.0, "", {"prompt_tokens": 0}
        for piece in model.write(Prompt(TUTORIAL, f"{context}\n\nQuestion: {item['question']}", 300)):
            first = first or time.perf_counter() - began
            text += piece.text
            if piece.usage:
                usage = {"prompt_tokens": piece.usage.prompt_tokens}
        refused = "cannot answer" in text.lower()
        cited = [] if refused else [hit for n, hit in enumerate(hits, 1) if f"[{n}]" in text]
        return {
            "text": text,
            "abstained": refused,
            "papers": [{"sources": [str(source) for source in hit.paper.sources]} for hit in cited],
            "claims": [],
            "removed": [],
            "usage": usage,
            "timings": {
                "evidence": found - began,
                "first_word": first,
                "total": time.perf_counter() - began,
            },
        }

    return ask


def run(
    ask: Callable[[dict[str, Any]], dict[str, Any]], items: Sequence[dict[str, Any]], kept: Path
) -> Iterator[dict[str, Any]]:
    """Yield the measures of each item, asked or kept from an earlier run; a failed one counts as refused."""
    state = _code_state()
    known = {}
    if kept.exists():
        known = {row["key"]: row for row in records(kept) if row.get("state") == state}
    with kept.open("a", encoding="utf-8") as file:
        for number, item in enumerate(items, 1):
            key = hashlib.sha256(json.dumps(item, sort_keys=True).encode()).hexdigest()[:16]
            if key not in known:
                try:
                    measures = judge(item, ask(item))
                except PlenaryError as error:
                    measures = {**judge(item, _failed()), "error": str(error)}
                known[key] = {"key": key, "state": state, **measures}
                file.write(json.dumps(known[key], ensure_ascii=False) + "\n")
                file.flush()
            print(f"\r{number} of {len(items)}", end="", flush=True)
            yield known[key]
    print()


def _failed() -> dict[str, Any]:
    timings = {"evidence": 0.0, "first_word": 0.0, "total": 0.0}
    return {
        "text": "", "abstained": True, "papers": [], "claims": [], "removed": [],
        "usage": {"prompt_tokens": 0}, "timings": timings,
    }  # fmt: skip


def _code_state() -> str:
    files = [*sorted((ROOT / "rag").rglob("*.py")), *sorted((ROOT / "prompts").glob("*.md"))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def figures(rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Return a table row for each kind: facts, right paper, paper precision, refusals, seconds, tokens."""
    table_rows = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        own = [row for row in rows if row["kind"] == kind]
        facts = [row["facts"] for row in own if row["facts"] is not None]
        low, high = interval(facts)
        precision = [row["precision"] for row in own if row["precision"] is not None]
        answered = [row for row in own if not row["abstained"]]
        table_rows.append(
            [
                f"{kind} ({len(own)})",
                f"{np.mean(facts):.2f} ({low:.2f}–{high:.2f})" if facts else "",
                f"{np.mean([row['right'] for row in own]):.2f}" if facts else "",
                f"{np.mean(precision):.2f}" if precision else "",
                f"{np.mean([row['abstained'] for row in own]):.2f}",
                _median(own, "evidence"),
                _median(answered, "first_word"),
                _median(answered, "total"),
                _median(answered, "prompt_tokens", "{:.0f}"),
                f"{np.mean([row['removed'] for row in own]):.2f}",
            ]
        )
    return table_rows


def _median(rows: Sequence[dict[str, Any]], name: str, form: str = "{:.1f}") -> str:
    return form.format(np.median([row[name] for row in rows])) if rows else ""


HEADER = [
    "questions", "facts found", "right paper cited", "paper precision", "refused",
    "s to evidence", "s to first word", "s in all", "prompt tokens", "removed sentences",
]  # fmt: skip


def main() -> None:
    """Ask, print and write the section of the writer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writer", default="local", choices=["local", "extractive", "openai", "tutorial"])
    parser.add_argument("--questions", nargs="*", choices=KINDS, default=list(KINDS))
    parser.add_argument("--kind", help="only questions of this kind, single or paraphrase say")
    parser.add_argument("--limit", type=int, help="at most so many of each file, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fresh", action="store_true", help="ask again what was asked before")
    parser.add_argument("--write", action="store_true", help="write the section of eval/RESULTS.md")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    kept = WORK / f"answers-{options.writer}.jsonl"
    if options.fresh:
        kept.unlink(missing_ok=True)
    config = Config.from_environment(store=str(WORK / "store-seeds"), writer="extractive")
    with Assistant.open(config) as assistant:
        assistant.index([ROOT / "data"])
        ask = tutorial(assistant) if options.writer == "tutorial" else plenary(assistant, options.writer)
        rows = list(run(ask, questions(options.questions, options.kind, options.limit, options.seed), kept))
    text = table(HEADER, figures(rows))
    if options.write:
        write_section(f"answers-{options.writer}", f"Answers over the seeds: {options.writer} writer", text)
    else:
        print(text)
    for row in rows:
        failed = row["facts"] is not None and row["facts"] < 1
        if failed or row["right"] is False or (row["right"] is None) is not row["abstained"]:
            print(f"- {row['id']} facts={row['facts']} right={row['right']} refused={row['abstained']}: {row['text']}")


if __name__ == "__main__":
    main()
