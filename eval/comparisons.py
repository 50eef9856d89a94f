"""Measures comparative questions: `python -m eval.comparisons [--corpus seeds|mixed] [--writer extractive]`.

`seeds` asks `eval/questions/comparative.jsonl` of the 38 papers that come along; `mixed` asks the same of them inside
5,000 papers of conference lists, and `eval/retrieval/comparative.jsonl`, whose sides are among those. Beside it the
same questions go through one retrieval that may bring as many papers.

`eval/comparison_cells.json` holds how many cells of 93 papers were judged right, wrong, silent and missed by hand, and
how that was done. Only its last round (108 cells of 18 papers, read after the rules were fixed) judges them as they
are.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eval.corpora import ROOT, WORK, plain, records, write_corpus
from eval.metrics import interval
from eval.results import table, write_section
from rag import Assistant, Config, answer_document, parse_history

QUESTIONS = ROOT / "eval" / "questions" / "comparative.jsonl"
LISTED = ROOT / "eval" / "retrieval" / "comparative.jsonl"


def gold_ids(record: Mapping[str, Any], ids: Mapping[str, str]) -> list[tuple[Mapping[str, Any], set[str]]]:
    """Return the sides of a record with the ids of their papers; `ids` has them by source and by title."""
    sides = []
    for side in record["sides"]:
        keys = [paper if isinstance(paper, str) else plain_title(paper["title"]) for paper in side["papers"]]
        sides.append((side, {ids[key] for key in keys}))
    return sides


def judge(
    record: Mapping[str, Any],
    document: Mapping[str, Any],
    ids: Mapping[str, str],
    single: Sequence[str],
    *,
    mixed: bool = False,
) -> dict[str, Any]:
    """Return the measures of one answer; None where a measure does not apply. `single` is one retrieval, best first.

    `mixed` says that the papers stand inside many others.
    """
    comparison = document.get("comparison") or {"sides": [], "aspects": [], "cells": []}
    is_comparison = document["kind"] == "comparative"
    got = {
        status: [s for s in comparison["sides"] if s["status"] == status] for status in ("found", "absent", "ambiguous")
    }
    gold = gold_ids(record, ids)
    wanted = [papers for side, papers in gold if side["status"] == "found"]
    found = {paper for side in got["found"] for paper in side["paper_ids"]}
    titles = " \n ".join(ids) if mixed else ""
    absent = [side for side, _ in gold if side["status"] == "absent"]
    absent = [side for side in absent if not re.search(rf"(?<![\w-]){re.escape(side['name'].lower())}(?![\w])", titles)]
    ambiguous = [papers for side, papers in gold if side["status"] == "ambiguous"]
    asked_back = bool(ambiguous) and document["abstained"]
    # Inside many other papers those of a group, and which of them fit a vague side, are not known.
    complete = bool(wanted) and not ambiguous and (not mixed or record["group"] != "group")
    offered = found | {paper for side in got["ambiguous"] for paper in side["paper_ids"]}
    budget = max(len(wanted), len(found))
    columns = _columns(comparison, ids, gold)
    patterns = [(item["side"], item["pattern"]) for item in record.get("must_mention") or []]
    silent = [name for name in record.get("not_stated") or []]
    return {
        "id": record["id"],
        "group": record["group"],
        "comparison": record["comparison"],
        "recognised": is_comparison == record["comparison"],
        "all_sides": all(papers & found for papers in wanted) if complete else None,
        "offered": all(papers & offered for papers in wanted) if complete else None,
        "single_same": all(papers & set(single[:budget]) for papers in wanted) if complete else None,
        "single_10": all(papers & set(single[:10]) for papers in wanted) if complete else None,
        "extra": len(found - set().union(*wanted, _acceptable(record, ids))) if complete else None,
        "absent": _absent_named(absent, got["absent"], document["text"]) if absent else None,
        "asked_back": (bool(got["ambiguous"]) if mixed else _asked_back(ambiguous, got["ambiguous"]))
        if ambiguous
        else None,
        "mentions": _share([bool(re.search(p, columns.get(side, ""), re.I)) for side, p in patterns])
        if complete and is_comparison and not asked_back
        else None,
        "silent": _share([_is_silent(comparison, columns, name) for name in silent])
        if silent and is_comparison
        else None,
        "cells": sum(cell["support"] != "not_stated" for cell in comparison["cells"]),
        "own": _share([_is_own(cell, comparison) for cell in comparison["cells"] if cell["support"] != "not_stated"]),
        "evidence": document["timings"]["evidence"],
        "total": document["timings"]["total"],
        "removed": len(document["removed"]),
    }


def plain_title(title: str) -> str:
    """Return a title without doubled spaces and difference of case."""
    return " ".join(title.split()).casefold()


def _acceptable(record: Mapping[str, Any], ids: Mapping[str, str]) -> set[str]:
    return {ids[key] for key in record.get("acceptable") or [] if key in ids}


def _share(values: Sequence[bool]) -> float | None:
    return float(np.mean(values)) if values else None


def _columns(
    comparison: Mapping[str, Any], ids: Mapping[str, str], gold: Sequence[tuple[Mapping[str, Any], set[str]]]
) -> dict[str, str]:
    """Return by the gold side's name the text of its column."""
    texts: dict[str, str] = {}
    for side, papers in gold:
        names = [found["name"] for found in comparison["sides"] if papers & set(found["paper_ids"])]
        cells = [cell for cell in comparison["cells"] if cell["side"] in names and cell["citations"]]
        texts[side["name"]] = "\n".join([cell["text"] for cell in cells])
    return texts


def _absent_named(gold: Sequence[Mapping[str, Any]], got: Sequence[Mapping[str, Any]], text: str) -> bool:
    plain_names = ["".join(re.findall(r"\w", side["asked"] or side["name"])).lower() for side in got]
    return all(any(_same_name(side["name"], name) for name in plain_names) and len(text) > 0 for side in gold)


def _same_name(gold: str, got: str) -> bool:
    wanted = "".join(re.findall(r"\w", gold)).lower()
    return wanted in got or got in wanted


def _asked_back(gold: Sequence[set[str]], got: Sequence[Mapping[str, Any]]) -> bool:
    return all(any(len(papers & set(side["paper_ids"])) >= 2 for side in got) for papers in gold)


def _is_silent(comparison: Mapping[str, Any], columns: Mapping[str, str], name: str) -> bool:
    """Tell whether the asked row says nothing for a side that does not state it."""
    if not comparison["aspects"]:
        return False
    first = comparison["aspects"][0]
    cells = [cell for cell in comparison["cells"] if cell["aspect"] == first]
    own = [cell for cell in cells if cell["text"] not in columns.get(name, "")]
    return any(cell["support"] == "not_stated" for cell in own)


def _is_own(cell: Mapping[str, Any], comparison: Mapping[str, Any]) -> bool:
    """Tell whether a cell is supported and cites nothing but its own side's paper."""
    papers = {side["name"]: set(side["paper_ids"]) for side in comparison["sides"]}
    cited = {citation["paper_id"] for citation in cell["citations"]}
    return cell["support"] == "supported" and bool(cited) and cited <= papers[cell["side"]]


def rows(results: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return the table: one row a group, and all together."""
    groups = [*dict.fromkeys(result["group"] for result in results), "all"]
    lines = []
    for group in groups:
        own = [result for result in results if group in ("all", result["group"])]
        lines.append(
            [
                f"{group.replace('_', ' ')} ({len(own)})",
                _mean(own, "recognised"),
                _mean(own, "all_sides", with_interval=group == "all"),
                _mean(own, "offered"),
                _mean(own, "single_same"),
                _mean(own, "single_10"),
                _mean(own, "absent"),
                _mean(own, "asked_back"),
                _mean(own, "mentions"),
                _mean(own, "own"),
                f"{np.median([result['evidence'] for result in own]):.2f}",
                f"{np.median([result['total'] for result in own]):.1f}",
            ]
        )
    return lines


def _mean(results: Sequence[Mapping[str, Any]], name: str, *, with_interval: bool = False) -> str:
    values = [float(result[name]) for result in results if result[name] is not None]
    if not values:
        return ""
    text = f"{np.mean(values):.2f}"
    if with_interval:
        low, high = interval(values)
        text += f" ({low:.2f}–{high:.2f})"
    return text


HEADER = [
    "questions", "told from other kinds", "all sides found", "found or offered",
    "one retrieval of as many papers", "one retrieval of ten",
    "absent sides named", "asked back", "facts in the grid", "cells from their own paper", "s to the grid", "s in all",
]  # fmt: skip


def main() -> None:
    """Ask, print the misses and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="seeds", choices=["seeds", "mixed"])
    parser.add_argument("--writer", default="extractive", choices=["local", "extractive", "openai"])
    parser.add_argument("--limit", type=int, help="only so many questions, evenly drawn")
    parser.add_argument("--group", help="only questions of this group")
    parser.add_argument("--write", action="store_true", help="write the section of eval/RESULTS.md")
    options = parser.parse_args()
    questions = list(records(QUESTIONS)) + (list(records(LISTED)) if options.corpus == "mixed" else [])
    questions = [record for record in questions if options.group in (None, record["group"])]
    if options.limit and options.limit < len(questions):
        questions = [questions[i] for i in np.linspace(0, len(questions) - 1, options.limit).astype(int)]
    paths = [ROOT / "data"]
    if options.corpus == "mixed":
        paths.append(write_corpus("plain", plain()[0]))
    config = Config.from_environment(store=str(WORK / f"store-{options.corpus}"), writer="extractive")
    results = []
    with Assistant.open(config) as assistant:
        assistant.index(paths)
        papers = list(assistant.papers())
        ids = {plain_title(paper.title): paper.id for paper in papers if paper.title}
        ids |= {str(source): paper.id for paper in papers for source in paper.sources}
        for number, record in enumerate(questions, 1):
            answer = assistant.ask(record["question"], parse_history(record["history"]), writer=options.writer)
            hits = assistant.search(record["question"], 20)
            document = json.loads(json.dumps(answer_document(answer)))
            single = [hit.paper.id for hit in hits]
            results.append(judge(record, document, ids, single, mixed=options.corpus == "mixed"))
            print(f"\r{number} of {len(questions)}", end="", flush=True)
    print()
    text = table(HEADER, rows(results))
    if options.write:
        where = "over the seeds" if options.corpus == "seeds" else "over the seeds inside 5,000 papers"
        write_section(f"comparisons-{options.corpus}-{options.writer}", f"Comparisons {where}: {options.writer}", text)
    else:
        print(text)
    for result in results:
        wrong = not result["recognised"] or any(
            result[name] in (False, 0.0) for name in ("all_sides", "absent", "asked_back")
        )
        if wrong:
            print("-", {name: value for name, value in result.items() if value is not None})


if __name__ == "__main__":
    main()
