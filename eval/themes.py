"""Measures themes and topic collection: `python -m eval.themes` writes their section of `eval/RESULTS.md`.

Topics are authors' keywords (NeurIPS 2022 and 2023, ICLR 2018, COLM 2025). `--step` runs one part: planted, groups,
growth. The indexes are made once, which takes most of an hour, and kept in the working folder.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, normalized_mutual_info_score

from eval.corpora import ROOT, SHARED, WORK, need, plain, records, write_corpus
from eval.results import table, write_section
from rag import Assistant, Config, Theme, group_papers

TOPICS: Mapping[str, tuple[str, ...]] = {
    "diffusion models": (),
    "graph neural networks": ("gnn",),
    "multi-agent reinforcement learning": ("marl",),
    "domain adaptation": (),
    "active learning": (),
    "few-shot learning": (),
    "meta-learning": (),
    "multi-armed bandits": ("multi armed bandit",),
    "vision transformers": ("vit",),
    "combinatorial optimization": (),
    "fairness": ("fair",),
    "large language models": ("llm",),
    "self-supervised learning": ("ssl",),
    "equivariance": ("equivariant",),
    "adversarial examples": (),
    "semantic segmentation": (),
    "normalizing flows": (),
    "causal discovery": ("causal structure learning",),
    "inverse problems": (),
    "pruning": (),
    "calibration": (),
    "spiking neural networks": (),
}
"""Topics with other keywords that mean the same. The weights were fitted on others; the lines, and what is taken from
papers whose keywords are silent, were set after looking at lists of these too."""

HIDDEN, AMONG = 60, 5_000
MEASURES = ("recall", "with_border", "precision")
LEAST_KEYWORD = 10
CAVEAT = (
    "With keywords in the lists recall says little: an author's keyword decides by itself, and it is also "
    "what is sought. "
    "The weights were fitted on other topics, but the lines, and what is taken from papers whose keywords are silent, "
    "were set after looking at lists of these topics, so that these figures are not held out. The judgements are "
    "those of one reader, not blind; the sample was drawn before the last change, and counts as far as it is "
    "still collected."
)
JUDGED = ROOT / "eval" / "questions" / "topics_judged.jsonl"
"""Papers that lack the keyword but were collected, and the reverse: are they about the topic? One reader, not blind,
by the title and the sentence that says most of the topic."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A record of a list with its keywords, folded."""

    title: str
    keywords: frozenset[str]


def folded(text: str) -> str:
    """Return the words of a text in lower case and without a plural s, a space on either side of each."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    return " " + " ".join(w[:-1] if len(w) > 3 and w.endswith("s") and not w.endswith("ss") else w for w in words) + " "


def listed() -> dict[str, Listed]:
    """Return the records that have keywords by their folded titles."""
    rows: list[tuple[str, list[str]]] = []
    folder = SHARED / "corpora"
    names = ["neurips2022_csv/papers.csv", *(f"neurips2023_csv/{k}.csv" for k in ("poster", "spotlight", "oral"))]
    for name in names:
        with need(folder / name).open(encoding="utf-8", newline="") as file:
            whole = [row for row in csv.DictReader(file) if None not in row]
        rows += [(row["title"], re.split(r"[,;]", row["keywords"] or "")) for row in whole]
    for name in ("iclr2018", "colm2025"):
        data = json.loads(need(folder / "papercopilot_json" / f"{name}.json").read_text("utf-8"))
        rows += [(r["title"], (r["keywords"] or "").split(";")) for r in data]
    return {
        folded(title): Listed(title, frozenset(folded(keyword) for keyword in keywords if keyword.strip()))
        for title, keywords in rows
        if any(keyword.strip() for keyword in keywords)
    }


def has_topic(keywords: Iterable[str], topic: str) -> bool:
    """Tell whether a keyword holds the topic, or one that means the same."""
    names = [folded(name) for name in (topic, *TOPICS[topic])]
    return any(name in keyword for keyword in keywords for name in names)


def opened(store: str) -> Assistant:
    """Open an index of the working folder with the extractive writer."""
    return Assistant.open(Config.from_environment(store=str(WORK / f"store-{store}"), writer="extractive"))


def indexed(store: str, paths: Sequence[Path], start_from: str | None = None) -> None:
    """Make an index unless it is there, perhaps from a copy of another."""
    if (WORK / f"store-{store}").exists():
        return
    if start_from:
        shutil.copytree(WORK / f"store-{start_from}", WORK / f"store-{store}")
    with opened(store) as assistant:
        assistant.index([need(path) for path in paths])


def prepare() -> None:
    """Make the indexes: the seeds, NeurIPS 2023, with 2020 to 2022, and 5,000 papers without keywords."""
    corpora = SHARED / "corpora"
    indexed("seeds", [ROOT / "data"])
    indexed("neurips2023", [corpora / "neurips2023_csv"])
    indexed("neurips", [corpora / "neurips2022_csv", corpora / "neurips_txt"], "neurips2023")
    indexed("plain", [write_corpus("plain", plain()[0])])


# --- planted topics -----------------------------------------------------------------------------------


def planted(store: str, hidden: int | None) -> list[dict[str, Any]]:
    """Collect each topic from an index; with `hidden`, count only so many papers with the keyword among 5,000."""
    known = listed()
    rows = []
    shutil.rmtree(WORK / f"store-{store}" / "themes", ignore_errors=True)  # answers made by earlier code
    with opened(store) as assistant:
        papers = {paper.id: known.get(folded(paper.title or "")) for paper in assistant.papers()}
        judged = judgements()
        for topic in TOPICS:
            gold = {i for i, record in papers.items() if record and has_topic(record.keywords, topic)}
            inside = set(papers)
            if hidden:
                gold = set(random.Random(topic).sample(sorted(gold), min(hidden, len(gold))))
                others = sorted(i for i, r in papers.items() if r and not has_topic(r.keywords, topic))
                inside = gold | set(random.Random(1).sample(others, min(len(others), AMONG)))
            if len(gold) < 15:
                continue
            began = time.perf_counter()
            report = assistant.ask(f"Which papers are about {topic}?").themes
            seconds = time.perf_counter() - began
            assert report is not None, "a list question has a report"
            found = {member.paper_id for member in report.members} & inside
            border = {member.paper_id for member in report.borderline} & inside
            extra, missed = found - gold, gold - found
            rows.append(
                {
                    "topic": topic,
                    "gold": len(gold),
                    "found": len(found),
                    "recall": len(found & gold) / len(gold),
                    "with_border": len((found | border) & gold) / len(gold),
                    "precision": len(found & gold) / max(1, len(found)),
                    "extra": sorted(extra),
                    "missed": sorted(missed),
                    "judged_extra": [judged[topic, i] for i in sorted(extra) if (topic, i) in judged],
                    "judged_missed": [judged[topic, i] for i in sorted(missed) if (topic, i) in judged],
                    "seconds": seconds,
                }
            )
    return rows


def judgements() -> dict[tuple[str, str], bool]:
    """Return what the reader found of (topic, paper id)."""
    return {(row["topic"], row["paper_id"]): row["about"] for row in records(JUDGED)} if JUDGED.exists() else {}


def planted_text() -> str:
    """Return the tables of planted topics."""
    parts = []
    for title, store, hidden in (
        (f"{HIDDEN} papers by keyword among {AMONG:,}, keywords in the lists (NeurIPS 2022, 2023)", "neurips", HIDDEN),
        ("All papers with the keyword among 4,999, keywords hidden: title and abstract alone decide", "plain", None),
    ):
        rows = planted(store, hidden)
        (WORK / f"planted-{store}.json").write_text(json.dumps(rows), encoding="utf-8")
        cells: list[list[object]] = [
            [r["topic"], r["gold"], r["found"], *(f"{r[name]:.2f}" for name in MEASURES), f"{r['seconds']:.1f}"]
            for r in rows
        ]
        means = [np.mean([r[name] for r in rows]) for name in (*MEASURES, "seconds")]
        cells.append(["mean", "", "", *(f"{mean:.2f}" for mean in means)])
        header = ["topic", "with keyword", "collected", "recall", "with borderline", "precision", "s"]
        parts.append(f"**{title}**\n\n{table(header, cells)}\n\n{_read_by_hand(rows)}")
    return "\n\n".join([*parts, CAVEAT])


def _read_by_hand(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what the judged samples say of precision and recall."""
    extra = [about for row in rows for about in row["judged_extra"]]
    missed = [about for row in rows for about in row["judged_missed"]]
    if not extra:
        return "No paper of these was judged."
    share = sum(extra) / len(extra)
    right = [row["found"] * row["precision"] for row in rows]
    about = [r + share * (row["found"] - r) for r, row in zip(right, rows, strict=True)]
    precision = np.mean([number / max(1, row["found"]) for number, row in zip(about, rows, strict=True)])
    text = (
        f"Judged by title and one sentence: of {len(extra)} collected papers without the keyword {sum(extra)} are "
        f"about the topic, so that precision is about {precision:.2f}"
    )
    if missed:
        lost = sum(missed) / len(missed)
        recall = np.mean([n / (n + lost * len(row["missed"])) for n, row in zip(about, rows, strict=True)])
        text += (
            f"; of {len(missed)} papers with the keyword that were not collected {sum(missed)} are about it, so that "
            f"recall is about {recall:.2f}"
        )
    return text + "."


# --- groups against keywords ------------------------------------------------------------------------


def vectors_of(assistant: Assistant) -> tuple[list[str], NDArray[np.float32]]:
    """Return the ids of all papers, sorted, and their unit vectors."""
    snapshot = assistant.snapshot()
    ids = sorted(snapshot.paper_ids)
    rows = np.asarray(snapshot.papers[[snapshot.rows[i] for i in ids]], np.float32)
    return ids, rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _labels(ids: Sequence[str], themes: Sequence[Theme]) -> NDArray[np.int64]:
    place = {i: n for n, theme in enumerate(themes) for i in theme.paper_ids}
    return np.array([place.get(i, -1) for i in ids])


def agreement(pairs: Sequence[tuple[int, str]], labels: NDArray[np.int64]) -> list[str]:
    """Return the groups, the share in none, and NMI and adjusted MI with keywords over (paper, keyword) pairs."""
    own = [int(labels[row]) for row, _ in pairs]
    keywords = [keyword for _, keyword in pairs]
    return [
        str(len(set(labels[labels >= 0].tolist()))),
        f"{(labels < 0).mean():.2f}",
        f"{normalized_mutual_info_score(keywords, own):.3f}",
        f"{adjusted_mutual_info_score(keywords, own):.3f}",
    ]


def groups_text() -> str:
    """Return the table of groups against authors' keywords, and what keeps groups together."""
    known = listed()
    with opened("neurips2023") as assistant:
        ids, vectors = vectors_of(assistant)
        papers = assistant.papers()
        report = assistant.themes().themes
    assert report is not None, "themes have a report"
    by_id = {paper.id: known.get(folded(paper.title or "")) for paper in papers}
    counts = Counter(keyword for record in by_id.values() if record for keyword in record.keywords)
    pairs = [
        (row, keyword)
        for row, paper_id in enumerate(ids)
        if (record := by_id[paper_id])
        for keyword in sorted(record.keywords)
        if counts[keyword] >= LEAST_KEYWORD
    ]
    fine = _labels(ids, [child for theme in report.themes for child in (theme.children or (theme,))])
    count = len(set(fine[fine >= 0].tolist()))
    rows: list[list[object]] = [["Plenary, groups", *agreement(pairs, fine), "1.000"]]
    upper = _labels(ids, report.themes)
    rows.append(["Plenary, upper themes", *agreement(pairs, upper), "1.000"])
    means = [KMeans(count, n_init=1, random_state=seed).fit_predict(vectors) for seed in range(5)]
    rows.append([f"k-means, {count} (mean of 5 seeds)", *_mean([agreement(pairs, m) for m in means]), _rand(means)])
    for name, made in _bertopic(vectors):
        rows.append([name, *_mean([agreement(pairs, m) for m in made]), _rand(made)])
    header = ["groups", "number", "in none", "NMI", "adjusted MI", "Rand between seeds"]
    text = table(header, rows)
    return (
        f"NeurIPS 2023, {len(ids):,} papers; {len(pairs):,} pairs of a paper and a keyword that at least "
        f"{LEAST_KEYWORD} papers have.\n\n{text}\n\n{_stability(vectors)}"
    )


def _mean(rows: Sequence[Sequence[str]]) -> list[str]:
    columns = np.array(rows, float).mean(axis=0)
    return [f"{columns[0]:.0f}", f"{columns[1]:.2f}", f"{columns[2]:.3f}", f"{columns[3]:.3f}"]


def _rand(made: Sequence[NDArray[np.int64]]) -> str:
    values = [adjusted_rand_score(made[0], other) for other in made[1:]]
    return f"{np.mean(values):.3f}" if values else ""


def _bertopic(vectors: NDArray[np.float32]) -> Iterable[tuple[str, list[NDArray[np.int64]]]]:
    """Yield BERTopic's default reduction and clustering (UMAP to 5 dimensions, HDBSCAN of at least 10 papers)."""
    try:
        from umap import UMAP
    except ImportError:
        print("umap-learn is not installed: BERTopic's defaults are left out", file=sys.stderr)
        return
    made = []
    for seed in range(3):
        reduced = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=seed).fit_transform(
            vectors
        )
        made.append(HDBSCAN(min_cluster_size=10, copy=True).fit_predict(reduced))
    yield "BERTopic's defaults: UMAP and HDBSCAN (3 seeds)", made


def _stability(vectors: NDArray[np.float32]) -> str:
    """Return what happens to groups when the order changes, papers go, or papers come."""
    whole = group_papers(vectors).groups
    order = np.random.default_rng(0).permutation(len(vectors))
    turned = np.empty_like(whole)
    turned[order] = group_papers(vectors[order]).groups
    kept = np.random.default_rng(1).random(len(vectors)) >= 0.05
    fewer = group_papers(vectors[kept]).groups
    again = group_papers(vectors, start=_centres(vectors, kept)).groups
    return (
        "Adjusted Rand index, nothing is drawn and papers are taken in the order of their ids, so another order or "
        f"seed gives 1.000; the bare algorithm in another order {adjusted_rand_score(whole, turned):.3f}; formed anew "
        f"without a twentieth of the papers {adjusted_rand_score(whole[kept], fewer):.3f}; formed from the old centres "
        f"after these came back {adjusted_rand_score(fewer, again[kept]):.3f}. Papers that join a kept index move no "
        "other."
    )


def _centres(vectors: NDArray[np.float32], kept: NDArray[np.bool_]) -> NDArray[np.float32]:
    old = group_papers(vectors[kept])
    moved = old.centres + old.origin - vectors.mean(axis=0)
    return np.asarray(moved / np.linalg.norm(moved, axis=1, keepdims=True), np.float32)


# --- time and memory -------------------------------------------------------------------------------


def growth_text() -> str:
    """Return seconds and memory by the size of the corpus, each in a process of its own."""
    rows: list[list[object]] = []
    for store in ("seeds", "neurips2023", "neurips"):
        done = subprocess.run(
            [sys.executable, "-m", "eval.themes", "--measure", store], check=True, stdout=subprocess.PIPE, text=True
        )
        found = json.loads(done.stdout.splitlines()[-1])
        rows.append(
            [
                f"{found['papers']:,}",
                *(f"{found[name]:.1f}" for name in ("first", "again", "topic", "cached")),
                *(f"{found[name]:.0f}" for name in ("memory", "before")),
            ]
        )
    many, seconds = _hundred_thousand()
    header = ["papers", "themes of all, s", "kept, s", "a topic, s", "the same again, s", "memory, MB", "before, MB"]
    return (
        f"{table(header, rows)}\n\nExtractive writer; themes of all include terms and map. Memory is the "
        "largest of the process, `before` that of the opened index after one search. Grouping alone of "
        f"{many:,} vectors (those of NeurIPS 2020 to 2023, repeated with noise): {seconds:.0f} s."
    )


def _hundred_thousand() -> tuple[int, float]:
    """Return a number of papers that no list here has, and the seconds to group as many vectors."""
    with opened("neurips") as assistant:
        _, vectors = vectors_of(assistant)
    random_numbers = np.random.default_rng(0)
    times = -(-100_000 // len(vectors))
    noise = random_numbers.standard_normal((times, *vectors.shape), np.float32)
    many = (vectors + 0.02 * noise).reshape(-1, vectors.shape[1])
    many = many[:100_000] / np.linalg.norm(many[:100_000], axis=1, keepdims=True)
    began = time.perf_counter()
    group_papers(many)
    return len(many), time.perf_counter() - began


def measure(store: str) -> dict[str, float]:
    """Return seconds and memory of one index, its kept themes deleted first."""
    shutil.rmtree(WORK / f"store-{store}" / "themes", ignore_errors=True)
    found: dict[str, float] = {}
    with opened(store) as assistant:
        assistant.search("stochastic gradient descent")
        found["papers"] = len(assistant.snapshot().paper_ids)
        found["before"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        steps: dict[str, Callable[[], object]] = {
            "first": assistant.themes,
            "again": lambda: assistant.ask("How many papers are there?"),
            "topic": lambda: assistant.themes("reinforcement learning"),
            "cached": lambda: assistant.themes("reinforcement learning"),
        }
        for name, ask in steps.items():
            began = time.perf_counter()
            ask()
            found[name] = time.perf_counter() - began
        found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


STEPS = {
    "planted": ("Collecting a topic", planted_text),
    "groups": ("Themes of everything against authors' keywords", groups_text),
    "growth": ("Themes: time and memory", growth_text),
}


def main() -> None:
    """Measure and write the sections."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--step", choices=STEPS, action="append", help="default: all")
    parser.add_argument("--measure", metavar="STORE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure)))
        return
    prepare()
    for step in options.step or STEPS:
        title, made = STEPS[step]
        write_section(f"themes-{step}", title, made())


if __name__ == "__main__":
    main()
