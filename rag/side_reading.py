"""Reads which papers a question compares: rules first, earlier turns and the model where rules do not suffice."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rag.comparison_question import comparison_requests
from rag.comparison_request import AS_BEFORE, ComparisonRequest, Group
from rag.generate import one_line, reply
from rag.keywords import tokenize
from rag.names import NameIndex
from rag.plan import MAX_QUESTION, language_of, names_in, needs_context
from rag.prompts import load_prompt
from rag.readings import Earlier, Reading, best_reading
from rag.retrieve import idf_weights
from rag.sides import Looked, Lookup
from rag.snapshot import Snapshot
from rag.topic_reading import collect
from rag.types import Claim, Draft, Evidence, Filters, Hit, Paper, Side, SideStatus, Turn, Usage, Verdict, Writer

_CUE = re.compile(
    r"\b(?:both|each|differ\w*|compar\w+|contrast\w*|versus|vs|the two|the one|another|the other|respectively|"
    r"same way|similar\w*|"
    r"unlike|whereas|in common|than)\b",
    re.IGNORECASE,
)
"""Words of questions that may compare; where the rules find no sides behind them, the model is asked."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What comparing needs of the rest: reading papers and sentences, ranking, checking, writing."""

    snapshot: Callable[[], Snapshot]
    search: Callable[[str, int, Filters | None], list[Hit]]
    papers: Callable[[Sequence[str]], dict[str, Paper]]
    encode: Callable[[Sequence[str]], NDArray[np.float32]]
    translate: Callable[[Claim, str], tuple[Claim, Usage]]
    check: Callable[[Draft, Mapping[str, Paper]], tuple[Verdict, tuple[Evidence, ...]]]
    writer: Writer | None
    writer_name: str
    small: bool


class SideReader:
    """Recognises comparative questions over one index and finds their sides."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools
        self._names: tuple[str, NameIndex] | None = None

    def read(
        self, question: str, history: Sequence[Turn], filters: Filters | None = None
    ) -> tuple[Reading | None, Usage]:
        """Return the sides of a comparative question, None for any other, and what the model used to find them."""
        requests = list(comparison_requests(question))
        if not requests:
            inherited = _inherited(question, history)
            requests = [inherited] if inherited else []
        usage = Usage()
        if language_of(question) != "en":
            requests, usage = self._translated(requests)
        if requests:
            lookup = self._lookup(filters)
            earlier = self._earlier(history, lookup)
            reading = best_reading(requests, lookup, earlier) or _pointing_nowhere(question, requests, earlier)
            if reading or not all(request.weak for request in requests):
                return (reading if reading and _is_comparison(reading) else None), usage
        if self.tools.writer is None or not _CUE.search(question) or language_of(question) != "en":
            return None, usage
        request, used = self._asked_model(question)
        reading = best_reading([request], self._lookup(filters)) if request else None
        if reading and any(looked.side.status is not SideStatus.FOUND for looked in reading.sides):
            reading = None  # a model that names what is not there has misread the question
        return reading, usage + used

    def _lookup(self, filters: Filters | None) -> Lookup:
        snapshot = self.tools.snapshot()
        if self._names is None or self._names[0] != snapshot.state:
            papers = self.tools.papers
            self._names = (
                snapshot.state,
                NameIndex(snapshot.names, snapshot.paper_ids, lambda paper_id: papers([paper_id])[paper_id].label),
            )
        memory: dict[tuple[str, int], list[Hit]] = {}

        def search(text: str, count: int) -> list[Hit]:
            if (text, count) not in memory:
                memory[text, count] = self.tools.search(text, count, filters)
            return memory[text, count]

        admitted = snapshot.allowed(filters) if filters else None
        return Lookup(
            self._names[1],
            search,
            self.is_known,
            self.covered,
            lambda paper_id: admitted is None or bool(admitted[snapshot.rows[paper_id]]),
            lambda topic: [member.paper_id for member in collect(snapshot, self.tools.encode, topic, filters).members],
        )

    def is_known(self, word: str) -> bool:
        """Tell whether a word occurs in the papers."""
        tokens = tokenize([word.replace("-", " ")])[0]
        return bool(tokens) and all(self.tools.snapshot().keywords.document_frequency(token) for token in tokens)

    def covered(self, sought: str, text: str) -> float:
        """Return the share of a text's words, by idf, that another text has."""
        words, own = tokenize([sought, text])
        snapshot = self.tools.snapshot()
        weights = idf_weights(words, len(snapshot.paper_ids), snapshot.keywords.document_frequency)
        having = set(own)
        return sum(weight for word, weight in weights.items() if word in having) / (sum(weights.values()) or 1.0)

    def _translated(self, requests: Sequence[ComparisonRequest]) -> tuple[list[ComparisonRequest], Usage]:
        """Return requests with described sides in English; without a model only those whose sides are names."""
        usage = Usage()
        done: list[ComparisonRequest] = []
        english: dict[str, str] = {}
        for request in requests:
            topics = [request.group.topic] if request.group else []
            for text in [*(side for split in request.splits for side in split), *topics, request.aspect or ""]:
                if text not in english:
                    english[text], used = self._in_english(text)
                    usage += used
            if not all(english[text] for text in [*(side for split in request.splits for side in split), *topics]):
                continue
            splits = tuple(tuple(english[side] for side in split) for split in request.splits)
            group = Group(english[request.group.topic], request.group.number) if request.group else None
            about = english[request.aspect] if request.aspect else ""
            done.append(replace(request, splits=splits, group=group, searched=about or None))
        return done, usage

    def _in_english(self, text: str) -> tuple[str, Usage]:
        """Return a phrase in English, without a model what Latin names it has that the papers know."""
        if language_of(text) == "en":
            return text, Usage()
        named = " ".join(name for name in names_in(f"xx {text}") if self.is_known(name))
        if self.tools.writer is None:
            return named, Usage()
        prompt = load_prompt("translate_question").render(max_tokens=60, question=one_line(text))
        translation, usage = reply(self.tools.writer, prompt)
        if not translation or language_of(translation) != "en":
            return named, usage
        return _uncapitalised(translation.rstrip(".?! "), text), usage

    def _asked_model(self, question: str) -> tuple[ComparisonRequest | None, Usage]:
        """Let the model name the sides of a question whose form the rules do not know."""
        assert self.tools.writer is not None
        prompt = load_prompt("compare_sides").render(max_tokens=90, question=one_line(question))
        pieces = list(self.tools.writer.write(prompt))
        usage = next((piece.usage for piece in reversed(pieces) if piece.usage), Usage(calls=1))
        lines = [line.strip(" -*•\t") for line in "".join(piece.text for piece in pieces).splitlines()]
        sides = tuple(line for line in lines if re.search(r"\w{2}", line) and line.upper() != "NONE")
        return (ComparisonRequest((sides,), aspect=question) if len(sides) > 1 else None), usage

    def _earlier(self, history: Sequence[Turn], lookup: Lookup) -> Earlier:
        """Return the papers that earlier turns were about, oldest first, each where it was spoken of last."""
        found: dict[tuple[str, ...], Looked] = {}
        last = 0
        asked = [turn for turn in history if turn.role == "user"][-_TURNS:]
        for place, turn in enumerate(asked):
            text = turn.text[:MAX_QUESTION]
            if found and _leans(text, asked[:place]):
                continue  # it speaks of the same papers
            reading = best_reading(comparison_requests(text), lookup, Earlier(tuple(found.values()), last))
            sides = list(reading.sides) if reading else [self._meant(text, lookup)]
            sides = [looked for looked in sides if looked.side.status is SideStatus.FOUND]
            for looked in sides:
                found.pop(looked.side.paper_ids, None)
                found[looked.side.paper_ids] = looked
            last = len(sides) if reading else 0
        return Earlier(tuple(found.values()), last)

    def _meant(self, question: str, lookup: Lookup) -> Looked:
        """Return the paper a single question was about: the one it names, else the best for its words."""
        for name in names_in(f"x {question}"):
            looked = lookup.side(name)
            if looked.confidence >= 0.95 and looked.side.status is SideStatus.FOUND:  # its label, not a mention
                return looked
        hits = lookup.search(question, 1)
        if not hits:
            return Looked(Side(question, (), SideStatus.ABSENT, question), 0.0)
        paper = hits[0].paper
        return Looked(Side(paper.label, (paper.id,), SideStatus.FOUND, question), 0.7)


def _uncapitalised(text: str, original: str) -> str:
    """Return a translation without the capitals of a title: only words of the original keep theirs."""
    return re.sub(r"\b[A-Z][a-z]+\b", lambda match: match[0] if match[0] in original else match[0].lower(), text)


def _is_comparison(reading: Reading) -> bool:
    """Tell whether what was read is a comparison of papers: a single member of a group is none."""
    if len(reading.sides) > 1:
        return True
    return reading.sides[0].side.status is SideStatus.AMBIGUOUS or bool(reading.request.pointer)


def _inherited(question: str, history: Sequence[Turn]) -> ComparisonRequest | None:
    """Return what a follow-up such as "And which is faster?" asks of the sides of the comparison before it."""
    asked = [turn for turn in history if turn.role == "user"]
    while asked and _leans(asked[-1].text, asked[:-1]):
        asked.pop()
    if not asked or not _leans(question, asked) or not comparison_requests(asked[-1].text):
        return None
    return ComparisonRequest(pointer=AS_BEFORE, aspect=question.strip(" ?.!？。"))


def _leans(question: str, history: Sequence[Turn]) -> bool:
    """Tell whether a question that is no comparison itself goes on with the one before: "And which is faster?"."""
    return (
        bool(_GOES_ON.match(question.strip()))
        and needs_context(question, history)
        and not comparison_requests(question)
    )


_GOES_ON = re.compile(r"(?:and\s+|but\s+|so\s+)?(?:which|who|what about|how about|on)\b|哪|那", re.IGNORECASE)
_TURNS = 20
"""Earlier questions that are looked at."""
_POINTS = re.compile(r"\b(?:(?:the |these |those |of )?(?:two|three|four)|both|them|they)\b", re.IGNORECASE)


def _pointing_nowhere(question: str, requests: Sequence[ComparisonRequest], earlier: Earlier) -> Reading | None:
    """Return a reading whose one side is the pointer to earlier papers where there are none to compare."""
    pointing = next((request for request in requests if request.pointer), None)
    pointer = _POINTS.search(question)
    if pointing is None or pointer is None or len(earlier.papers) > 1:
        return None
    return Reading(pointing, (Looked(Side(pointer[0], (), SideStatus.ABSENT, pointer[0]), 0.9),), 0.9)
