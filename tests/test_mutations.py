"""The quote gate against thousands of edits of real sentences: no changed quote passes, no true one fails."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from eval.mutations import MEANING, typography
from rag.quote import find_quote
from rag.types import Span

ROOT = Path(__file__).parent.parent
SCITLDR = ROOT.parent / "shared" / "benchmarks" / "scitldr" / "dev.jsonl"
LEAST = 5_000
MORE_ABSTRACTS = 150
"""SciTLDR abstracts beside the seeds: those with most digits, since numbers change most easily."""

Abstracts = list[list[str]]


def seed_abstracts() -> Abstracts:
    """Sentences of the seed papers, split roughly: each part is a true quote all the same."""
    abstracts = []
    for file in sorted((ROOT / "data").glob("*.txt")):
        for paragraph in file.read_text(encoding="utf-8").split("\n\n")[1:]:
            parts = re.split(r"(?<=[a-z)]\.)\s+(?=[A-Z])", paragraph.strip())
            abstracts.append([part for part in parts if part])
    return abstracts


def scitldr_abstracts() -> Abstracts:
    if not SCITLDR.exists():
        return []
    abstracts = []
    for line in SCITLDR.read_text(encoding="utf-8").splitlines():
        sentences = [" ".join(part.split()) for part in json.loads(line)["source"]]
        # Where that set's own splitting went wrong there are pieces such as "do" + "not directly take".
        if all(part[-1:] in ".?!" for part in sentences):
            abstracts.append(sentences)
    abstracts.sort(key=lambda sentences: -sum(map(str.isdigit, " ".join(sentences))))
    return abstracts[:MORE_ABSTRACTS]


@pytest.fixture(scope="module")
def abstracts() -> Abstracts:
    return seed_abstracts() + scitldr_abstracts()


def test_no_changed_quote_is_accepted(abstracts: Abstracts) -> None:
    rng = random.Random(20261101)
    tried: Counter[str] = Counter()
    accepted: list[tuple[str, str, str]] = []
    rounds = 1 if SCITLDR.exists() else 3  # the seeds alone, edited more often
    for sentences in abstracts:
        abstract = " ".join(sentences)
        for sentence in sentences:
            seen = {sentence}
            for kind, edit in list(MEANING.items()) * rounds:
                for edited in list(edit(sentence, sentences, rng))[: 4 * rounds]:
                    if edited in seen or edited in sentences:
                        continue
                    seen.add(edited)
                    tried[kind] += 1
                    if find_quote(edited, abstract) is not None:
                        accepted.append((kind, sentence, edited))
    print(f"\nchanged quotes: {tried.total()} tried, {len(accepted)} accepted; {dict(tried)}")
    assert not accepted, accepted[:5]
    assert tried.total() >= LEAST
    assert all(tried[kind] >= 10 for kind in MEANING), tried


def test_no_true_quote_is_refused(abstracts: Abstracts) -> None:
    rng = random.Random(20261102)
    tried = 0
    refused: list[tuple[str, str]] = []
    rounds = 1 if SCITLDR.exists() else 8  # breaks and spaces fall elsewhere each time
    for sentences in abstracts:
        abstract = " ".join(sentences)
        position = 0
        for sentence in sentences:
            start = abstract.index(sentence, position)
            position = start + len(sentence)
            long = len(re.findall(r"[A-Za-z]{2,}", sentence)) >= 6
            forms = dict.fromkeys(form for _ in range(rounds) for form in typography(sentence, rng))
            for form in forms:
                tried += 1
                as_sentence = find_quote(form, abstract, start, position) == Span(start, position)
                if not as_sentence or (long and find_quote(form, abstract) is None):
                    refused.append((sentence, form))
    print(f"\ntrue quotes: {tried} tried, {len(refused)} refused")
    assert not refused, refused[:5]
    assert tried >= LEAST
