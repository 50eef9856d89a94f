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


def seed_abstracts() -> list[list[str]]:
    """Sentences of the seed papers, split roughly: each part is a true quote all the same."""
    abstracts = []
    for file in sorted((ROOT / "data").glob("*.txt")):
        for paragraph in file.read_text(encoding="utf-8").split("\n\n")[1:]:
            parts = re.split(r"(?<=[a-z)]\.)\s+(?=[A-Z])", paragraph.strip())
            abstracts.append([part for part in parts if part])
    return abstracts


def all_abstracts() -> list[list[str]]:
    abstracts = seed_abstracts()
    if SCITLDR.exists():
        for line in SCITLDR.read_text(encoding="utf-8").splitlines()[:250]:
            sentences = [" ".join(part.split()) for part in json.loads(line)["source"]]
            # Where that set's own splitting went wrong there are pieces such as "do" + "not directly take".
            if all(part[-1:] in ".?!" for part in sentences):
                abstracts.append(sentences)
    return abstracts


@pytest.fixture(scope="module")
def abstracts() -> list[list[str]]:
    return all_abstracts()


def test_no_changed_quote_is_accepted(abstracts: list[list[str]]) -> None:
    rng = random.Random(20261101)
    tried: Counter[str] = Counter()
    accepted: list[tuple[str, str, str]] = []
    for sentences in abstracts:
        abstract = " ".join(sentences)
        for sentence in sentences:
            for kind, edit in MEANING.items():
                for edited in list(edit(sentence, sentences, rng))[:4]:
                    if edited == sentence or edited in abstract.split(sentence):
                        continue
                    tried[kind] += 1
                    if find_quote(edited, abstract) is not None:
                        accepted.append((kind, sentence, edited))
    print(f"\nchanged quotes: {tried.total()} tried, {len(accepted)} accepted; {dict(tried)}")
    assert not accepted, accepted[:5]
    assert tried.total() >= LEAST
    assert all(tried[kind] >= 20 for kind in MEANING), tried


def test_no_true_quote_is_refused(abstracts: list[list[str]]) -> None:
    rng = random.Random(20261102)
    tried, refused = 0, []
    for sentences in abstracts:
        abstract = " ".join(sentences)
        position = 0
        for sentence in sentences:
            start = abstract.index(sentence, position)
            position = start + len(sentence)
            for form in dict.fromkeys(typography(sentence, rng)):
                tried += 1
                found = find_quote(form, abstract, start, position)
                if found != Span(start, position) or find_quote(sentence, abstract) is None:
                    refused.append((form, found and abstract[found.start : found.end]))
    print(f"\ntrue quotes: {tried} tried, {len(refused)} refused")
    assert not refused, refused[:5]
    assert tried >= 1_000


def test_true_quotes_are_found_without_knowing_the_sentence(abstracts: list[list[str]]) -> None:
    rng = random.Random(20261103)
    tried, refused = 0, []
    for sentences in abstracts:
        abstract = " ".join(sentences)
        for sentence in sentences:
            if len(re.findall(r"[A-Za-z]{2,}", sentence)) < 6:
                continue
            for form in dict.fromkeys(typography(sentence, rng)):
                tried += 1
                found = find_quote(form, abstract)
                if found is None:
                    refused.append((sentence, form))
    print(f"\ntrue quotes in the whole abstract: {tried} tried, {len(refused)} refused")
    assert not refused, refused[:5]
    assert tried >= LEAST or not SCITLDR.exists()
