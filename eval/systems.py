"""What is measured: Plenary, Plenary without one of its parts, and two plain ways beside it.

A system is a function from a case to an answer document. The plain ways give documents of the same form, so that
everything is measured alike. Parts are taken out of a pipeline of its own by wrapping what it works with and by
replacing single steps of that one object; the product has no switch for them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np

from eval.cases import Case
from rag import (
    Answer,
    Assistant,
    Claim,
    Hit,
    Paper,
    Prompt,
    Support,
    UserError,
    answer_document,
    coverage,
    parse_history,
    theme_request,
)

Ask: TypeAlias = Callable[[Case], dict[str, Any]]

TUTORIAL = """Answer the question using only the numbered abstracts below. Cite the abstract after every
sentence as [n]. If you cannot answer from the abstracts, say "I cannot answer this question."."""

PARTS: Mapping[str, str] = {
    "fusion": "search by vectors alone",
    "evidence": "the first sentences of each paper in place of the nearest",
    "grammar": "the model may write what it likes",
    "gate": "every question is answered",
    "checks": "every sentence is shown as it was written",
    "sides": "a comparison is one search like any question",
}
"""Parts that can be left out, and what is done without them."""
OF_MODELS = frozenset({"grammar", "checks"})
"""Parts that do nothing where the writer copies sentences."""


def system(name: str, assistant: Assistant, writer: str) -> Ask:
    """Return a system by its name: "plenary", "bm25", "tutorial", or "without-" and a part; raises `UserError`."""
    if name == "plenary":
        return plenary(assistant, writer)
    if name == "bm25":
        return bm25(assistant)
    if name == "tutorial":
        return tutorial(assistant, writer)
    if not name.startswith("without-"):
        raise UserError(f"unknown system {name!r}; choose plenary, bm25, tutorial or without- and a part")
    return without(name.removeprefix("without-"), assistant, writer)


def systems_for(writer: str, *, parts: bool) -> list[str]:
    """Return the names of the systems of a run: with `parts` also Plenary without each part that matters."""
    names = ["plenary", "bm25"] + (["tutorial"] if writer != "extractive" else [])
    matter = [part for part in PARTS if writer != "extractive" or part not in OF_MODELS]
    return names + [f"without-{part}" for part in matter if parts]


def plenary(assistant: Assistant, writer: str) -> Ask:
    """Return the product."""
    return lambda case: answer_document(
        assistant.ask(case.question, parse_history(list(case.history)), writer=writer)
    )


def tutorial(assistant: Assistant, writer: str = "local") -> Ask:
    """Return the plain chain: the four nearest whole abstracts, one prompt, the same model."""
    model = assistant.writer(writer)
    if model is None:
        raise UserError("the plain prompt needs a model; choose --writer local or openai")

    def ask(case: Case) -> dict[str, Any]:
        began = time.perf_counter()
        hits = assistant.search(case.question, 4, ranking="dense")
        found = time.perf_counter()
        context = "\n\n".join(f"[{n}] {hit.paper.abstract}" for n, hit in enumerate(hits, 1))
        first, text, usage = 0.0, "", (0, 0)
        for piece in model.write(Prompt(TUTORIAL, f"{context}\n\nQuestion: {case.question}", 300)):
            first = first or time.perf_counter() - began
            text += piece.text
            if piece.usage:
                usage = (piece.usage.prompt_tokens, piece.usage.completion_tokens)
        refused = "cannot answer" in text.lower()
        cited = [] if refused else [(n, hit.paper) for n, hit in enumerate(hits, 1) if f"[{n}]" in text]
        timings = (found - began, first, time.perf_counter() - began)
        return _document(text, refused, cited, hits, timings, usage)

    return ask


def bm25(assistant: Assistant) -> Ask:
    """Return search by words alone, answered by the sentence of the first paper that shares most of the question's
    words; it refuses where no word is found."""
    idf = assistant.snapshot().keywords.idf

    def ask(case: Case) -> dict[str, Any]:
        began = time.perf_counter()
        hits = assistant.search(case.question, 10, ranking="keyword")
        found = time.perf_counter()
        if not hits or hits[0].keyword <= 0 or not hits[0].sentences:
            return _document("", True, [], hits, (found - began, 0.0, time.perf_counter() - began), (0, 0))
        paper = hits[0].paper
        best = max(hits[0].sentences, key=lambda item: coverage(case.question, [item.text], idf=idf))
        text = re.sub(r"([.!?]*)$", r" [1]\1", best.text, count=1)
        now = time.perf_counter() - began
        document = _document(text, False, [(1, paper)], hits, (found - began, now, now), (0, 0))
        citation = {"n": 1, "paper_id": paper.id, "quote": best.text, "start": best.start, "end": best.end}
        claim = {"text": best.text, "support": "unchecked", "reason": "", "citations": [citation], "verbatim": True}
        return {**document, "claims": [claim]}

    return ask


def _document(
    text: str,
    refused: bool,
    cited: list[tuple[int, Paper]],
    hits: list[Hit],
    timings: tuple[float, float, float],
    usage: tuple[int, int],
) -> dict[str, Any]:
    return {
        "kind": "single",
        "text": text,
        "abstained": refused,
        "papers": [
            {"n": n, "paper_id": paper.id, "title": paper.name, "sources": [str(source) for source in paper.sources]}
            for n, paper in cited
        ],
        "retrieved": [hit.paper.id for hit in hits],
        "claims": [],
        "removed": [],
        "usage": dict(zip(("prompt_tokens", "completion_tokens"), usage, strict=True)),
        "timings": dict(zip(("evidence", "first_word", "total"), timings, strict=True)),
    }


def without(part: str, assistant: Assistant, writer: str) -> Ask:
    """Return Plenary without a part (`PARTS`); questions about many papers go their usual way."""
    if part not in PARTS:
        raise UserError(f"there is no part {part!r} to leave out; choose from {', '.join(PARTS)}")
    # What wraps a part has no type of its own: it is the part but for one thing.
    full: Any = assistant.pipeline(writer)
    parts = full.parts
    if part == "fusion":
        parts = replace(parts, snapshot=lambda: _WithoutWords(full.parts.snapshot()))
    elif part == "grammar" and parts.writer is not None:
        parts = replace(parts, writer=_WithoutGrammar(parts.writer))
    pipeline = type(full)(parts)
    if part == "evidence":
        choose = pipeline._evidence
        pipeline._evidence = lambda kind, hits: choose(kind, [_first_sentences(*ranked) for ranked in enumerate(hits)])
    elif part == "gate":
        pipeline._answerable = lambda run: True
    elif part == "checks":
        pipeline._settle = _unchecked
    elif part == "sides":
        read = pipeline._comparing.sides.read
        pipeline._comparing = SimpleNamespace(
            sides=SimpleNamespace(read=lambda *asked: (None, read(*asked)[1])), stream=None
        )

    def ask(case: Case) -> dict[str, Any]:
        history = parse_history(list(case.history))
        if theme_request(case.question) is not None:
            return answer_document(assistant.ask(case.question, history, writer=writer))
        answer: Answer = pipeline.ask(case.question, history)
        return answer_document(answer)

    return ask


def _first_sentences(rank: int, hit: Hit) -> Hit:
    """Return a hit whose sentences are the better the earlier they stand, those of better papers before others."""
    scored = [
        replace(sentence, score=1 / (1 + 10 * rank + place)) for place, sentence in enumerate(hit.sentences)
    ]
    return replace(hit, sentences=tuple(scored))


def _unchecked(draft: Any, run: Any) -> tuple[Claim, Any] | None:
    """Take a draft as it is, if it cites anything at all."""
    if not draft.evidence:
        return None
    return Claim(draft.text, Support.UNCHECKED, "not checked", ()), draft.evidence


class _WithoutWords:
    """A snapshot in which no word and no name is found."""

    def __init__(self, snapshot: Any) -> None:
        self._snapshot = snapshot
        self.keywords = _NoScores(snapshot.keywords)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._snapshot, name)

    def named(self, name: str) -> list[int]:
        """Return that no paper bears a name."""
        return []


class _NoScores:
    """A keyword index that finds nothing and still knows how rare a word is."""

    def __init__(self, keywords: Any) -> None:
        self._keywords = keywords

    def __getattr__(self, name: str) -> Any:
        return getattr(self._keywords, name)

    def scores(self, text: str) -> Any:
        """Return a score of 0 for every paper."""
        return np.zeros_like(self._keywords.scores(text))


class _WithoutGrammar:
    """A writer that is not bound to any form."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    @property
    def name(self) -> str:
        """The model's name."""
        return str(self._writer.name)

    def write(self, prompt: Prompt) -> Iterator[Any]:
        """Stream the reply to a prompt without its grammar."""
        yield from self._writer.write(replace(prompt, grammar=None))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)
