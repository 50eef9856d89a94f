"""Measures the rules that judge claims on human labels: `python -m eval.verifier [--shared DIR] [--tune]`.

Prints a Markdown table. The sets are read from a folder of benchmarks: SciFact (claims CC BY 4.0, abstracts
ODC-By; Wadden et al. 2020), AttributionBench (Li et al. 2024), WiCE (ODC-By and CC BY-SA; Kamoi et al. 2023)
and SciTLDR (Apache-2.0; Cachola et al. 2020), whose sentences are edited by `eval.mutations`. Thresholds come
from SciFact train, AttributionBench dev and edits of SciTLDR train alone; the table shows the other parts.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.mutations import HARMLESS, MEANING
from rag import Support, coverage, judge

SHARED = Path(__file__).resolve().parents[2] / "shared" / "benchmarks"


@dataclass(frozen=True, slots=True)
class Case:
    """A claim, the sentences it cites, their abstract, and whether people say that they support it."""

    claim: str
    cited: tuple[str, ...]
    abstract: str
    supported: bool
    kind: str = ""


def _lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def scifact(folder: Path, part: str, *, gold: bool) -> Iterator[Case]:
    """Yield claims with their gold sentences (support against contradict), or with the whole cited abstract
    (support against contradict and not enough information)."""
    corpus = {str(row["doc_id"]): row["abstract"] for row in _lines(folder / "corpus.jsonl")}
    for row in _lines(folder / f"claims_{part}.jsonl"):
        for document in map(str, row["cited_doc_ids"]):
            sentences = corpus[document]
            rationales = row["evidence"].get(document, [])
            supported = bool(rationales) and rationales[0]["label"] == "SUPPORT"
            if gold and not rationales:
                continue
            chosen = sorted({index for one in rationales for index in one["sentences"]})
            cited = [sentences[index] for index in chosen] if gold else sentences
            yield Case(row["claim"], tuple(cited), " ".join(sentences), supported)


def attributionbench(file: Path) -> Iterator[Case]:
    """Yield claims with the passages cited for them."""
    for row in _lines(file):
        passages = tuple(row["references"])
        claim = re.sub(r"\s*\[\d+\]", "", row["claim"])  # the marks of its citations
        yield Case(claim, passages, " ".join(passages), row["attribution_label"] == "attributable")


def wice(file: Path) -> Iterator[Case]:
    """Yield claims with their evidence page; partly supported counts as not supported."""
    for row in _lines(file):
        evidence = tuple(row["evidence"])
        yield Case(row["claim"], evidence, " ".join(evidence), row["label"] == "supported")


def edits(file: Path, papers: slice, seed: int) -> Iterator[Case]:
    """Yield edited sentences that cite the sentence they were made from."""
    rng = random.Random(seed)
    for row in _lines(file)[papers]:
        sentences = [" ".join(part.split()) for part in row["source"]]
        if not all(part[-1:] in ".?!" for part in sentences):
            continue
        abstract = " ".join(sentences)
        for sentence in sentences:
            for kinds, supported in ((MEANING, False), (HARMLESS, True)):
                for kind, edit in kinds.items():
                    for edited in list(edit(sentence, sentences, rng))[:1]:
                        if edited != sentence and len(edited.split()) > 4:
                            yield Case(edited, (sentence,), abstract, supported, kind)


def document_frequency(texts: Iterable[str]) -> Callable[[str], float]:
    """Return the idf of a word among texts, `ln(1 + (N - n + ½)/(n + ½))`."""
    counts: Counter[str] = Counter()
    total = 0
    for text in texts:
        total += 1
        counts.update(set(re.findall(r"\w+", text.lower())))
    return lambda word: math.log(1 + (total - counts[word] + 0.5) / (counts[word] + 0.5))


def area(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the area under the curve: how often a supported claim scores above another, ties half."""
    positive = [score for score, label in zip(scores, labels, strict=True) if label]
    negative = [score for score, label in zip(scores, labels, strict=True) if not label]
    wins = sum((high > low) + (high == low) / 2 for high in positive for low in negative)
    return wins / (len(positive) * len(negative))


def measure(cases: Sequence[Case], idf: Callable[[str], float]) -> dict[str, float]:
    """Return the figures of one set: counts, area of coverage, and of the verdict "supported" its precision,
    recall and balanced accuracy."""
    labels = [case.supported for case in cases]
    scores = [coverage(case.claim, case.cited, idf=idf, abstract=case.abstract) for case in cases]
    verdicts = [judge(case.claim, case.cited, case.abstract, idf=idf).support for case in cases]
    passed = [verdict is Support.SUPPORTED for verdict in verdicts]
    right = sum(ok and label for ok, label in zip(passed, labels, strict=True))
    refused = sum(not ok and not label for ok, label in zip(passed, labels, strict=True))
    positive, negative = sum(labels), len(labels) - sum(labels)
    contradicted = [
        label for verdict, label in zip(verdicts, labels, strict=True) if verdict is Support.CONTRADICTED
    ]
    return {
        "supported": positive,
        "other": negative,
        "area": area(scores, labels),
        "recall": right / positive,
        "refused": refused / negative,
        "balanced": (right / positive + refused / negative) / 2,
        "precision": right / max(sum(passed), 1),
        "contradicted": len(contradicted),
        "wrongly contradicted": sum(contradicted),
    }


def sets(shared: Path, *, tune: bool) -> Iterator[tuple[str, list[Case]]]:
    """Yield the sets by name: those for choosing thresholds, or those for the report."""
    part = "train" if tune else "dev"
    yield f"SciFact {part}, gold sentences", list(scifact(shared / "scifact", part, gold=True))
    yield f"SciFact {part}, whole abstract", list(scifact(shared / "scifact", part, gold=False))
    bench = "dev_all_subset_balanced" if tune else "test_all_subset_balanced_sampled500"
    yield (
        f"AttributionBench {bench.split('_')[0]}",
        list(attributionbench(shared / "attributionbench" / f"{bench}.jsonl")),
    )
    if not tune:
        yield "WiCE dev", list(wice(shared / "wice" / "claim_dev.jsonl"))
    chosen = slice(0, 60) if tune else slice(0, 120)
    yield (
        f"edits of SciTLDR {part}",
        list(edits(shared / "scitldr" / f"{part}.jsonl", chosen, 7 if tune else 8)),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=SHARED, help="folder of the benchmarks")
    parser.add_argument("--tune", action="store_true", help="the parts that thresholds are chosen on")
    options = parser.parse_args(arguments)
    corpus = _lines(options.shared / "scifact" / "corpus.jsonl")
    abstracts = [" ".join(row["abstract"]) for row in corpus]
    abstracts += [" ".join(row["source"]) for row in _lines(options.shared / "scitldr" / "train.jsonl")]
    idf = document_frequency(abstracts)
    print(
        "| set | supported / other | area of coverage | supported found | others refused | balanced "
        "| precision |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, cases in sets(options.shared, tune=options.tune):
        row = measure(cases, idf)
        print(
            f"| {name} | {row['supported']:.0f} / {row['other']:.0f} | {row['area']:.3f} "
            f"| {row['recall']:.2f} | {row['refused']:.2f} | {row['balanced']:.2f} | {row['precision']:.2f} |"
        )
    print("\n| kind of edit | cases | judged supported | contradicted |\n|---|---|---|---|")
    for kind in (*MEANING, *HARMLESS):
        chosen = [case for case in cases if case.kind == kind]
        verdicts = [judge(case.claim, case.cited, case.abstract, idf=idf).support for case in chosen]
        shares = [sum(verdict is wanted for verdict in verdicts) / max(len(verdicts), 1)
                  for wanted in (Support.SUPPORTED, Support.CONTRADICTED)]  # fmt: skip
        print(f"| {kind} | {len(chosen)} | {shares[0]:.2f} | {shares[1]:.2f} |")


if __name__ == "__main__":
    main()
