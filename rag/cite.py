"""Citation keys and the only parser of citations: from a writer's text to drafts, from claims to numbers.

A key is opaque: `k` and at least four hexadecimal digits of a content hash. Mathematics cannot produce one
and a model cannot guess one. Numbers such as [1] exist only in what is shown.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rag.chunk import split_sentences
from rag.types import Citation, Claim, Draft, Evidence, Paper, Quote

_GROUP = re.compile(r"\s*[\[【(（]([^\[\]【】()（）]{1,120})[\]】)）]")
_KEY = re.compile(r"k[0-9a-f]{4,16}\Z")
_BARE_KEY = re.compile(r"\s?\b(k[0-9a-f]{4,16})\b", re.IGNORECASE)
_SEPARATOR = re.compile(r"[\s,;、，；&|/]+|\band\b")
_NUMBERS = re.compile(r"\s*\[\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\]")
_OPENING = "[【(（"
_CLOSING = re.compile(r"[\s.!?。！？\"'”’]*")


def citation_key(paper_id: str, start: int, end: int, length: int = 4) -> str:
    """Return the key of a sentence: `k` and `length` hexadecimal digits of the SHA-256 of its place."""
    return "k" + hashlib.sha256(f"{paper_id}:{start}-{end}".encode()).hexdigest()[:length]


def assign_keys(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Give each sentence its key, as short as keeps them apart (four digits but for rare collisions)."""
    for length in range(4, 17):
        keys = [citation_key(item.paper_id, item.start, item.end, length) for item in evidence]
        if len(set(keys)) == len({(item.paper_id, item.start, item.end) for item in evidence}):
            break
    return tuple(replace(item, key=key) for item, key in zip(evidence, keys, strict=True)) if evidence else ()


class DraftParser:
    """Parses a writer's text as it streams in; each draft is one sentence with its evidence.

    A sentence is given out when the text after its citations begins, or at the end. A citation belongs to
    the one sentence before it. Keys are recognised in any case, with stray punctuation, several in one
    bracket or in brackets of their own; a range of keys, an unknown key or a bare number such as [5] names
    nothing and is removed from the text, and the sentence counts as uncited. Brackets that hold anything
    else, such as [0, 1] where the evidence has it or [i], are text.
    """

    def __init__(self, evidence: Sequence[Evidence]) -> None:
        self._by_key = {item.key: item for item in evidence}
        self._sources = "\n".join(item.text for item in evidence)
        self._buffer = ""

    def feed(self, text: str) -> Iterator[Draft]:
        """Take a piece of text and yield the drafts it completes."""
        self._buffer += text
        complete = 0
        for boundary in self._boundaries(self._buffer):
            yield from self._parse(self._buffer[complete:boundary])
            complete = boundary
        self._buffer = self._buffer[complete:]

    def finish(self, *, cut: bool = False) -> Iterator[Draft]:
        """Yield what is left; with `cut`, a last sentence without a citation is dropped as unfinished."""
        rest, self._buffer = self._buffer, ""
        drafts = list(self._parse(rest))
        if cut and drafts and not drafts[-1].evidence:
            drafts.pop()
        yield from drafts

    def _groups(self, text: str) -> Iterator[tuple[int, int, tuple[Evidence, ...]]]:
        """Yield (start, end, evidence) of every bracket that holds keys and nothing else."""
        for match in _GROUP.finditer(text):
            tokens = [token.strip(".:^#'\"`*").lower() for token in _SEPARATOR.split(match[1])]
            tokens = [token for token in tokens if token and token not in ("key", "keys", "source")]
            if tokens and all(_KEY.match(part) for token in tokens for part in re.split(r"[-–—]", token)):
                yield match.start(), match.end(), tuple(
                    self._by_key[token] for token in tokens if token in self._by_key
                )

    def _boundaries(self, text: str) -> Iterator[int]:
        """Yield the places behind a citation where a new sentence has begun."""
        for start, end, _ in self._groups(text):
            closing = _CLOSING.match(text, end)
            after = closing.end() if closing else end
            if after == len(text) or text[after] in _OPENING:
                continue
            ended = re.search(r"[.!?。！？]", text[max(0, start - 2) : start] + text[end:after])
            if ended or not (text[after].islower() or text[after] in ",;:，；、：)）"):
                yield after

    def _parse(self, text: str) -> Iterator[Draft]:
        """Yield the sentences of a piece between boundaries; a citation belongs to the sentence before it."""
        plain = ""
        cited: list[tuple[int, Evidence]] = []
        position = 0
        for start, end, evidence in self._groups(text):
            plain += text[position:start]
            cited.extend((len(plain), item) for item in evidence)
            position = end
        plain += text[position:]
        sentences = [
            (line.start() + span.start, line.start() + span.end)
            for line in re.finditer(r"[^\n]+", plain)
            if not line[0].startswith("```")
            for span in split_sentences(line[0])
        ]
        sentences = [span for span in sentences if re.search(r"\w", plain[slice(*span)])]
        for place, (start, end) in enumerate(sentences):
            following = sentences[place + 1][0] if place + 1 < len(sentences) else len(plain)
            lower = start if place else -1
            found = [item for at, item in cited if lower < at <= following]
            sentence = _NUMBERS.sub(self._number_or_text, plain[start:end])
            sentence = _BARE_KEY.sub(lambda match: "" if match[1].lower() in self._by_key else match[0], sentence)
            yield Draft(tidy(sentence), tuple(dict.fromkeys(found)))

    def _number_or_text(self, match: re.Match[str]) -> str:
        return match[0] if match[0].strip() in self._sources else ""


def tidy(text: str) -> str:
    """Return a sentence without what a removed citation leaves behind: double spaces, a space before a
    full stop, doubled full stops, list marks at the start, and with a full stop where the end has no mark."""
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"^(?:[-*•]|\(?\d{1,2}[.)])\s+|^[.!?。！？,;:、]\s*", "", text)
    text = re.sub(r"\s+([.,;:!?。，；：！？])", r"\1", text)
    text = re.sub(r"([.!?。！？])\.+$", r"\1", text)
    if text and text[-1] not in ".!?。！？…\"”)":
        text = text.rstrip(",;:，；：") + ("。" if re.search(r"[\u4e00-\u9fff]", text[-1]) else ".")
    return text


def number(
    claims: Sequence[tuple[Claim, Sequence[Evidence]]], papers: Mapping[str, Paper]
) -> tuple[tuple[Claim, ...], tuple[Paper, ...]]:
    """Give the cited papers numbers from 1 in the order of their first citation.

    Returns the claims with their citations and the cited papers, `papers[n - 1]` being paper n.
    """
    order: dict[str, int] = {}
    numbered = []
    for claim, evidence in claims:
        citations = []
        for item in evidence:
            n = order.setdefault(item.paper_id, len(order) + 1)
            citations.append(Citation(n, item.paper_id, Quote(item.paper_id, item.text, item.start, item.end)))
        numbered.append(replace(claim, citations=tuple(citations)))
    return tuple(numbered), tuple(papers[paper_id] for paper_id in order)


def render(claims: Sequence[Claim]) -> str:
    """Return the text of an answer: each claim with its numbers before its full stop, `... better [1][2].`"""
    return " ".join(
        _marked(claim.text, "".join(f"[{n}]" for n in dict.fromkeys(c.n for c in claim.citations)))
        for claim in claims
    )


def render_draft(draft: Draft) -> str:
    """Return a draft as a writer would write it, with keys; `DraftParser` reads it back."""
    return _marked(draft.text, "".join(f"[{item.key}]" for item in draft.evidence))


def _marked(text: str, marks: str) -> str:
    if not marks:
        return text
    closing = re.search(r"[.!?。！？]+$", text)
    place = closing.start() if closing else len(text)
    return f"{text[:place]} {marks}{text[place:]}"
