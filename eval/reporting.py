"""Writes what a run found: the result as JSON, the page, and a table for `eval/RESULTS.md`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eval.comparing_runs import chance, differences
from eval.corpora import WORK
from eval.page import page
from eval.results import table
from eval.runs import FOLDER, summary
from eval.scoring import GOOD
from eval.systems import PARTS

SHOWN = (
    "facts", "right", "citation_precision", "citation_recall", "grounded", "quotes_exact", "answered", "refused",
    "unharmed", "recall_10", "all_sides_10", "sides_cited", "listed_recall", "listed_precision",
)  # fmt: skip
"""Columns of the table; the page has all."""


def keep(result: Mapping[str, Any], folder: Path | None = None) -> tuple[Path, Path]:
    """Write the result and its page and return their paths.

    Without `folder`, runs over the papers that come along go to `eval/results`; those over other lists, whose texts
    are not ours to publish, to the working folder.
    """
    chosen = folder or (FOLDER if result["wanted"]["corpus"] == "seeds" else WORK / "results")
    chosen.mkdir(parents=True, exist_ok=True)
    stem = chosen / f"{result['name']}-{result['commit']}"
    head = {name: value for name, value in result.items() if name != "items"}
    lines = ",\n".join(json.dumps(item, ensure_ascii=False) for item in result["items"])
    text = json.dumps(head, ensure_ascii=False)[:-1] + f', "items": [\n{lines}\n]}}\n'
    data, shown = stem.with_name(stem.name + ".json"), stem.with_name(stem.name + ".html")
    data.write_text(text, encoding="utf-8", errors="backslashreplace")
    shown.write_text(page(result), encoding="utf-8", errors="backslashreplace")
    return data, shown


def sections(result: Mapping[str, Any]) -> tuple[str, str]:
    """Return the title and the text of the run's section: every kind, the plain ways, and what each part is worth."""
    rows = []
    for name, kind, count, found in summary(result):
        if kind != "all" and name.startswith("without-"):
            continue
        cells = [f"{found[measure][0]:.2f}" if measure in found else "" for measure in SHOWN]
        seconds = f"{found['seconds'][0]:.1f}" if "seconds" in found else ""
        tokens = f"{found['prompt_tokens'][0]:.0f}" if "prompt_tokens" in found else ""
        removed = f"{found['removed'][0]:.2f}" if "removed" in found else ""
        rows.append([f"{name}: {kind.replace('_', ' ')} ({count})", *cells, removed, seconds, tokens])
    header = ["system: questions", *(GOOD[measure] for measure in SHOWN), "removed", "s", "prompt tokens"]
    wanted = result["wanted"]
    where = "seeds" if wanted["corpus"] == "seeds" else "seeds inside 5,000 papers"
    title = f"Every question over the {where}: {wanted['writer']} writer"
    text = [
        table(header, rows),
        "",
        "A citation is judged alone and by the rules of the checker, without its nearness of vectors; what these rules "
        'are worth stands under "The rules against human labels". Whether the right paper is cited and whether the '
        "facts are found does not depend on them. An answer that failed counts as wrong. Intervals and all measures "
        f"are on the page of the run ({result['name']}-{result['commit']}.html).",
    ]
    ablation = _ablation(result)
    return title, "\n".join([*text, *ablation])


def _ablation(result: Mapping[str, Any]) -> list[str]:
    """Return the lines of the table of parts: what is lost without each, pair by pair."""
    names = {item["system"] for item in result["items"]}
    rows = []
    for part, instead in PARTS.items():
        if f"without-{part}" not in names:
            continue
        changed = [
            f"{GOOD[one.measure]} {one.first - one.second:+.3f} (p {chance(one.p)})"
            for one in differences(result, result, "plenary", f"without-{part}")
            if one.measure in SHOWN and abs(one.first - one.second) >= 0.0005
        ]
        rows.append([part, instead, "; ".join(changed) or "nothing"])
    if not rows:
        return []
    header = ["part", "without it", "what it brings (mean difference, paired permutation test)"]
    return ["", "**What each part is worth**", "", table(header, rows)]
