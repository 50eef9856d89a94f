"""Measures search: `python -m eval.retrieval` writes the retrieval table of `eval/RESULTS.md`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from eval.corpora import WORK, Case, plain, scifact, scitldr, write_corpus
from eval.metrics import interval, ndcg_at, recall_at, reciprocal_rank
from eval.results import table, write_section
from rag import Assistant, Config

RANKINGS = ("dense", "keyword", "fused")
SETS: Mapping[str, tuple[Callable[[], tuple[list[dict[str, Any]], Mapping[str, list[Case]]]], str]] = {
    "SciFact": (scifact, "dev"),
    "SciTLDR": (scitldr, "dev"),
    "plain": (plain, "test"),
}


def open_corpus(name: str, papers: list[dict[str, Any]]) -> tuple[Assistant, dict[str, str]]:
    """Return an assistant over the papers and the record id behind each paper id; indexed once."""
    path = write_corpus(name, papers)
    config = Config.from_environment(store=str(WORK / f"store-{name}"), writer="extractive")
    assistant = Assistant.open(config)
    assistant.index([path], lambda done, total: print(f"\r{name}: {done} of {total}", end="", flush=True))
    ids = {
        f"{path.name}#{ordinal}": str(paper["id"]) for ordinal, paper in enumerate(papers, 1)
    }
    return assistant, ids


def ranked_ids(assistant: Assistant, ids: Mapping[str, str], text: str, ranking: str) -> list[str]:
    """Return the record ids found for a text, best first; all versions of a paper count as found."""
    found = []
    for hit in assistant.search(text, 100, ranking=ranking):
        found += [ids[str(source)] for source in hit.paper.sources]
    return found


def measure(name: str, split: str) -> tuple[list[list[object]], list[float]]:
    """Return the rows of the table for one set, and the seconds of each fused search."""
    papers, cases = SETS[name][0]()
    assistant, ids = open_corpus(name.lower(), papers)
    rows: list[list[object]] = []
    seconds: list[float] = []
    with assistant:
        for ranking in RANKINGS:
            lists = []
            for case in cases[split]:
                began = time.perf_counter()
                lists.append(ranked_ids(assistant, ids, case.text, ranking))
                if ranking == "fused":
                    seconds.append(time.perf_counter() - began)
            rows.append([f"{name} {split}", ranking, *_figures(lists, cases[split])])
    return rows, seconds


def _figures(lists: Sequence[Sequence[str]], cases: Sequence[Case]) -> list[str]:
    pairs = list(zip(lists, cases, strict=True))
    ndcg = [ndcg_at(10, found, case.relevant) for found, case in pairs]
    low, high = interval(ndcg)
    columns = [
        [recall_at(k, found, case.relevant) for found, case in pairs] for k in (1, 10, 100)
    ]
    reciprocal = [reciprocal_rank(found, case.relevant) for found, case in pairs]
    return [
        f"{np.mean(ndcg):.3f} ({low:.3f}–{high:.3f})",
        *(f"{np.mean(column):.3f}" for column in columns),
        f"{np.mean(reciprocal):.3f}",
    ]


def main() -> None:
    """Measure the sets asked for and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", choices=SETS, default=list(SETS))
    parser.add_argument("--train", action="store_true", help="the training questions; nothing is written")
    options = parser.parse_args()
    rows: list[list[object]] = []
    latency: list[float] = []
    for name in options.sets:
        more, seconds = measure(name, "train" if options.train else SETS[name][1])
        rows += more
        latency += seconds
    text = table(["questions", "ranking", "nDCG@10 (95 %)", "recall@1", "@10", "@100", "reciprocal rank"], rows)
    low, high = np.quantile(np.array(latency) * 1000, [0.5, 0.95])
    text += f"\n\nA search with 100 hits, vector of the query included: p50 {low:.0f} ms, p95 {high:.0f} ms."
    if options.train or set(options.sets) != set(SETS):
        print(text)
    else:
        write_section("retrieval", "Retrieval", text)


if __name__ == "__main__":
    main()
