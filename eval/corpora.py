"""Builds the corpora that evaluation searches, as JSON Lines files in a working folder (never committed)."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
WORK = ROOT / ".plenary" / "eval"

POOL = 5_000
"""Papers among which the plain-language questions are searched."""


@dataclass(frozen=True, slots=True)
class Case:
    """A search: its text and the ids of the records that are right."""

    text: str
    relevant: frozenset[str]


def need(path: Path) -> Path:
    """Return a path, or stop with a sentence that names what is missing."""
    if not path.exists():
        raise SystemExit(f"{path} is missing: this evaluation needs the benchmarks and lists beside the repository")
    return path


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file."""
    with need(path).open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def write_corpus(name: str, papers: list[dict[str, Any]]) -> Path:
    """Write papers as `<name>.jsonl`; record n of the file is `papers[n - 1]`."""
    WORK.mkdir(parents=True, exist_ok=True)
    path = WORK / f"{name}.jsonl"
    text = "".join(json.dumps(paper, ensure_ascii=False) + "\n" for paper in papers)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return path


def scifact() -> tuple[list[dict[str, Any]], Mapping[str, list[Case]]]:
    """SciFact (Wadden et al. 2020): all abstracts; claims of train and dev with the documents they cite."""
    folder = SHARED / "benchmarks" / "scifact"
    papers = [
        {"id": str(row["doc_id"]), "title": row["title"], "abstract": " ".join(s.strip() for s in row["abstract"])}
        for row in records(folder / "corpus.jsonl")
    ]
    cases = {
        split: [
            Case(row["claim"], frozenset(str(doc) for doc in row["cited_doc_ids"]))
            for row in records(folder / f"claims_{split}.jsonl")
        ]
        for split in ("train", "dev")
    }
    return papers, cases


def scitldr() -> tuple[list[dict[str, Any]], Mapping[str, list[Case]]]:
    """SciTLDR (Cachola et al. 2020): ICLR abstracts; each TLDR is a search for its own paper."""
    folder = SHARED / "benchmarks" / "scitldr"
    papers: list[dict[str, Any]] = []
    cases: dict[str, list[Case]] = {}
    for split in ("train", "dev"):
        cases[split] = []
        for row in records(folder / f"{split}.jsonl"):
            abstract = " ".join(sentence.strip() for sentence in row["source"])
            papers.append({"id": row["paper_id"], "title": row["title"], "abstract": abstract})
            cases[split].append(Case(row["target"][0], frozenset([row["paper_id"]])))
    return papers, cases


def plain() -> tuple[list[dict[str, Any]], Mapping[str, list[Case]]]:
    """Conference lists: 5,000 papers with the right ones among them; plain-language questions."""
    questions = {
        split: list(records(ROOT / "eval" / "retrieval" / f"plain_{split}.jsonl")) for split in ("train", "test")
    }
    gold = {row["paper_id"] for rows in questions.values() for row in rows}
    papers = {paper["id"]: paper for paper in _conference_papers()}
    others = sorted(papers.keys() - gold)
    random.Random(1).shuffle(others)
    pool = [papers[paper_id] for paper_id in [*sorted(gold), *others[: POOL - len(gold)]]]
    cases = {
        split: [Case(row["question"], frozenset([row["paper_id"]])) for row in rows]
        for split, rows in questions.items()
    }
    return pool, cases


def _conference_papers() -> Iterator[dict[str, Any]]:
    folder = SHARED / "corpora"
    names = ["neurips2022_csv/papers.csv"]
    names += [f"neurips2023_csv/{kind}.csv" for kind in ("poster", "spotlight", "oral")]
    for name in names:
        with need(folder / name).open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row.get("abstract") and None not in row:
                    yield {"id": row["paper_id"], "title": row["title"], "abstract": row["abstract"]}
    for name in ("iclr2018", "colm2025"):
        for row in json.loads(need(folder / "papercopilot_json" / f"{name}.json").read_text("utf-8")):
            if len(row.get("abstract") or "") > 200:
                yield {"id": row["id"], "title": row["title"], "abstract": row["abstract"]}
    for row in json.loads(need(folder / "openreview_raw_json" / "neurips2025_oral.json").read_text("utf-8")):
        content = row["content"]
        yield {"id": row["id"], "title": content["title"]["value"], "abstract": content["abstract"]["value"]}
