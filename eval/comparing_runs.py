"""Compares two runs item by item: `python -m eval compare A B` tells what got better, what worse, and how surely."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.corpora import WORK
from eval.metrics import paired_interval, paired_p
from eval.results import table
from eval.runs import FOLDER
from eval.scoring import COSTS, GOOD
from rag import UserError


@dataclass(frozen=True, slots=True)
class Difference:
    """A measure in two runs, over the items both have and to which it applies: means, 95 % interval of the mean
    difference, p-value, and the ids of the items that got better and worse."""

    measure: str
    items: int
    first: float
    second: float
    interval: tuple[float, float]
    p: float
    better: tuple[str, ...]
    worse: tuple[str, ...]


def load_result(name: str) -> dict[str, Any]:
    """Return a run by the path of its file, or the newest whose file name begins so; raises `UserError`."""
    path = Path(name)
    if not path.is_file():
        found = [*FOLDER.glob(f"{name}*.json"), *(WORK / "results").glob(f"{name}*.json")]
        if not found:
            raise UserError(f"there is no run {name!r} in {FOLDER}; make one with `python -m eval run {name}`")
        path = max(found, key=lambda one: one.stat().st_mtime)
    try:
        result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        result["items"]
    except (json.JSONDecodeError, KeyError, TypeError):
        raise UserError(f"{path} is no result of a run; name a file that `python -m eval run` wrote") from None
    return result


def differences(
    first: Mapping[str, Any], second: Mapping[str, Any], system: str = "plenary", other: str | None = None
) -> list[Difference]:
    """Return the differences of a system between two runs, by measure; with `other` that of the second run is another
    system. Items are the same when id and question are."""
    rows = {_key(item): item["measures"] for item in first["items"] if item["system"] == system}
    pairs = [
        (item["id"], rows[_key(item)], item["measures"])
        for item in second["items"]
        if item["system"] == (other or system) and _key(item) in rows
    ]
    found = []
    for measure in (*GOOD, *COSTS):
        values = [
            (key, float(a[measure]), float(b[measure]))
            for key, a, b in pairs
            if a.get(measure) is not None and b.get(measure) is not None
        ]
        if not values:
            continue
        keys, before, after = zip(*values, strict=True)
        sign = 1 if measure in GOOD else -1
        changes = [(key, sign * (b - a)) for key, a, b in values]
        found.append(
            Difference(
                measure,
                len(values),
                sum(before) / len(keys),
                sum(after) / len(keys),
                paired_interval(before, after),
                paired_p(before, after),
                tuple(key for key, change in changes if change > 0),
                tuple(key for key, change in changes if change < 0),
            )
        )
    return found


def _key(item: Mapping[str, Any]) -> tuple[str, str]:
    return item["id"], item["question"]


def chance(p: float) -> str:
    """Return a p-value as it is printed."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


HEADER = ["measure", "items", "A", "B", "B − A (95 %)", "p", "better", "worse"]


def report(found: list[Difference], first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """Return the differences as a table and, for the measures where more is better, the items behind them."""
    rows = [
        [
            GOOD.get(one.measure, one.measure.replace("_", " ")), one.items, f"{one.first:.3f}", f"{one.second:.3f}",
            f"{one.second - one.first:+.3f} ({one.interval[0]:+.3f} to {one.interval[1]:+.3f})",
            chance(one.p), len(one.better), len(one.worse),
        ]
        for one in found
    ]  # fmt: skip
    lines = [
        f"A: {first['name']} at {first['commit']}; B: {second['name']} at {second['commit']}", "",
        table(HEADER, rows),
    ]  # fmt: skip
    for one in found:
        if one.measure not in GOOD:
            continue
        for word, ids in (("better", one.better), ("worse", one.worse)):
            if ids:
                lines.append(f"\n{GOOD[one.measure]}, {word}: {', '.join(ids)}")
    if not found:
        lines.append("\nThe two runs have no question of this system in common.")
    return "\n".join(lines)
