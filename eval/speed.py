"""Measures indexing and search: `python -m eval.speed` writes the speed section of `eval/RESULTS.md`.

The peer is the plain path in the same run: the same model in onnxruntime, batches of 32 padded texts of at most
256 word pieces in the order given, then Chroma's `add`; once for whole abstracts, and once for their sentences
too, which is what Plenary's index holds.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import onnxruntime
from chromadb.config import Settings
from tokenizers import Tokenizer

from eval.corpora import scifact, write_corpus
from eval.results import table, write_section
from rag import Assistant, Config

BATCH = 32


class PlainPath:
    """What a first version does: batch, pad, run, mean, add."""

    def __init__(self, model: Path, tokenizer: Path) -> None:
        self._session = onnxruntime.InferenceSession(str(model))
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(256)
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


def plain_seconds(plain: PlainPath, texts: Sequence[str]) -> float:
    """Return the seconds to embed texts and add them to a new embedded collection."""
    folder = tempfile.mkdtemp()
    began = time.perf_counter()
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
    seconds = time.perf_counter() - began
    shutil.rmtree(folder, ignore_errors=True)
    return seconds


def plenary_run(path: Path, queries: Sequence[str]) -> tuple[float, list[float], int]:
    """Return the seconds to index a file anew, those of each search, and the bytes of the index."""
    folder = tempfile.mkdtemp()
    with Assistant.open(Config.from_environment(store=folder, writer="extractive")) as assistant:
        began = time.perf_counter()
        assistant.index([path])
        seconds = time.perf_counter() - began
        for query in queries[:5]:
            assistant.search(query)
        latencies = []
        for query in queries:
            began = time.perf_counter()
            assistant.search(query)
            latencies.append(time.perf_counter() - began)
    size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
    shutil.rmtree(folder, ignore_errors=True)
    return seconds, latencies, size


def main() -> None:
    """Measure both paths over the same papers and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int, help="only the first so many abstracts of the 5,183")
    options = parser.parse_args()
    papers, cases = scifact()
    papers = papers[: options.papers]
    queries = [case.text for case in cases["dev"]]
    seconds, latencies, size = plenary_run(write_corpus(f"speed-{len(papers)}", papers), queries)
    folder = Config.from_environment().home / "assets"
    plain = PlainPath(next(folder.glob("*.onnx")), next(folder.glob("*tokenizer.json")))
    texts = [f"{paper['title']}. {paper['abstract']}" for paper in papers]
    whole = plain_seconds(plain, texts)
    # The sentences of every tenth abstract stand for all: this path would take an hour.
    some = [sentence for text in texts[::10] for sentence in re.split(r"(?<=[.!?])\s+", text)]
    sentences = plain_seconds(plain, some) * len(texts) / len(texts[::10])
    rows = [
        ["plain path, whole abstracts", f"{whole:.0f}", f"{len(papers) / whole:.1f}", "1.0"],
        ["plain path, abstracts and sentences", f"{whole + sentences:.0f}", f"{len(papers) / (whole + sentences):.1f}",
         f"{whole / (whole + sentences):.2f}"],
        ["Plenary (abstracts, sentences, keyword index)", f"{seconds:.0f}", f"{len(papers) / seconds:.1f}",
         f"{whole / seconds:.2f}"],
    ]  # fmt: skip
    middle, high = np.quantile(np.array(latencies) * 1000, [0.5, 0.95])
    text = table([f"{len(papers):,} abstracts of SciFact", "seconds", "papers a second", "ratio"], rows)
    text += (
        f"\n\nSearch among them, ten hits with their sentences, the query's vector included: p50 {middle:.0f} ms, "
        f"p95 {high:.0f} ms. The index takes {size / 1e6:.0f} MB."
    )
    write_section("speed", "Speed of indexing and search", text)


if __name__ == "__main__":
    main()
