"""Measures indexing and search: `python -m eval.speed` writes the speed section of `eval/RESULTS.md`.

The peer is the plain path in the same run: the same model in onnxruntime, batches of 32 padded texts in the order
given, then Chroma's `add`; with abstracts cut at 256 word pieces, as the model's own package does, with the same
abstracts as long as the model can read (512), and with their sentences too, which is what Plenary's index holds.
Beside the time on the clock stands that of the processors, which other work on the machine changes less.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import onnxruntime
from chromadb.config import Settings
from tokenizers import Tokenizer

from eval.corpora import scifact, write_corpus
from eval.results import table, write_section
from eval.retrieval import open_corpus
from rag import Assistant, Config

BATCH = 32


class PlainPath:
    """What a first version does: batch, pad, run, mean, add."""

    def __init__(self, model: Path, tokenizer: Path, pieces: int = 256) -> None:
        self._session = onnxruntime.InferenceSession(str(model))
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(pieces)
        self._tokenizer.enable_padding()

    def encode(self, texts: Sequence[str]) -> Any:
        """Return one unit vector for each text."""
        rows = []
        for first in range(0, len(texts), BATCH):
            encodings = self._tokenizer.encode_batch(list(texts[first : first + BATCH]))
            ids = np.array([encoding.ids for encoding in encodings], dtype=np.int64)
            mask = np.array([encoding.attention_mask for encoding in encodings], dtype=np.int64)
            inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            states = self._session.run(None, inputs)[0]
            means = (states * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
            rows.append(means / np.linalg.norm(means, axis=1, keepdims=True))
        return np.concatenate(rows)


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds on the clock and seconds of all processors that a number of papers took."""

    papers: int
    clock: float
    processors: float

    def __add__(self, other: Cost) -> Cost:
        """Return the cost of both for the papers of this one."""
        share = self.papers / other.papers
        return Cost(self.papers, self.clock + share * other.clock, self.processors + share * other.processors)


def measured(papers: int, work: Callable[[], object]) -> Cost:
    """Return what some work over `papers` papers costs."""
    clock, processors = time.perf_counter(), time.process_time()
    work()
    return Cost(papers, time.perf_counter() - clock, time.process_time() - processors)


def add_plainly(plain: PlainPath, texts: Sequence[str]) -> None:
    """Embed texts and add them to a new embedded collection."""
    folder = tempfile.mkdtemp()
    client = chromadb.PersistentClient(folder, settings=Settings(anonymized_telemetry=False))
    collection = client.create_collection(
        "plain", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    vectors = plain.encode(texts)
    for first in range(0, len(texts), 1_000):
        part = range(first, min(first + 1_000, len(texts)))
        collection.add(
            ids=[str(n) for n in part], embeddings=vectors[first : first + 1_000], documents=[texts[n] for n in part]
        )
    shutil.rmtree(folder, ignore_errors=True)


def index_anew(path: Path, papers: int) -> tuple[Cost, int]:
    """Return what indexing a file into an empty index costs, and the bytes of the index."""
    folder = tempfile.mkdtemp()
    with Assistant.open(Config.from_environment(store=folder, writer="extractive")) as assistant:
        cost = measured(papers, lambda: assistant.index([path]))
    size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
    shutil.rmtree(folder, ignore_errors=True)
    return cost, size


def search_seconds(papers: list[dict[str, Any]], queries: Sequence[str]) -> list[float]:
    """Return the seconds of each search for ten papers among all of SciFact."""
    assistant, _ = open_corpus("scifact", papers)
    latencies = []
    with assistant:
        for query in queries[:5]:
            assistant.search(query)
        for query in queries:
            began = time.perf_counter()
            assistant.search(query)
            latencies.append(time.perf_counter() - began)
    return latencies


def main() -> None:
    """Measure all paths over the same papers and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int, help="index only the first so many abstracts of the 5,183")
    options = parser.parse_args()
    everything, cases = scifact()
    latencies = search_seconds(everything, [case.text for case in cases["dev"]])
    papers = everything[: options.papers]
    ours, size = index_anew(write_corpus(f"speed-{len(papers)}", papers), len(papers))
    folder = Config.from_environment().home / "assets"
    files = next(folder.glob("*.onnx")), next(folder.glob("*tokenizer.json"))
    cut, uncut = PlainPath(*files), PlainPath(*files, pieces=512)
    texts = [f"{paper['title']}. {paper['abstract']}" for paper in papers]
    plain = measured(len(texts), lambda: add_plainly(cut, texts))
    # A part stands for all: these paths would take an hour.
    fourth, tenth = texts[::4], texts[::10]
    whole = measured(len(fourth), lambda: add_plainly(uncut, fourth))
    pieces = [sentence for text in tenth for sentence in re.split(r"(?<=[.!?])\s+", text)]
    sentences = measured(len(tenth), lambda: add_plainly(cut, pieces))
    rows = [
        [name, f"{cost.papers / cost.clock:.1f}", f"{plain.clock / plain.papers * cost.papers / cost.clock:.2f}",
         f"{cost.processors / cost.papers:.3f}"]
        for name, cost in (
            ("plain path, abstracts cut at 256 word pieces", plain),
            ("plain path, whole abstracts", whole),
            ("plain path, cut abstracts and all sentences", plain + sentences),
            ("Plenary (whole abstracts, all sentences, keyword index)", ours),
        )
    ]  # fmt: skip
    middle, high = np.quantile(np.array(latencies) * 1000, [0.5, 0.95])
    titles = [f"{len(papers):,} abstracts of SciFact", "papers a second", "ratio", "processor seconds a paper"]
    text = table(titles, rows)
    text += (
        f"\n\nSearch among {len(everything):,} abstracts, ten hits with their sentences, the query's vector included: "
        f"p50 {middle:.0f} ms, p95 {high:.0f} ms. The index of {len(papers):,} takes {size / 1e6:.0f} MB."
    )
    write_section("speed", "Speed of indexing and search", text)


if __name__ == "__main__":
    main()
