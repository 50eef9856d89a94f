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

_GROUP = re.compile(r"[\[【(（]([^\[\]【】()（）]{1,120})[\]】)）]")
_UNCLOSED = re.compile(r"[\[【(（][^\[\]【】()（）]{0,120}\Z")
_KEY = re.compile(r"k[0-9a-f]{4,16}\Z")
_BARE_KEY = re.compile(r"(?<![A-Za-z0-9_-])`?(k[0-9a-f]{4,16})`?(?![A-Za-z0-9_-])", re.IGNORECASE)
_MAYBE_KEY = re.compile(r"(?:`?k[0-9a-f]{0,16})?`?\Z", re.IGNORECASE)
_ATTRIBUTION = re.compile(
    r"\b(?:according to|as (?:stated|shown|reported|described) (?:in|by))\s*\Z", re.IGNORECASE
)
_SEPARATOR = re.compile(r"[\s,;、，；&|/]+|\band\b")
_FILLERS = frozenset(("key", "keys", "source", "sources", "see", "cf", "ref", "evidence"))
_BETWEEN = re.compile(r"[\s,;、，；]*")
_NUMBERS = re.compile(r"\s*[(（]\s*(?:\[[\d\s,;–-]+\][\s,;]*)+[)）]|\s*\[\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\]")
_INTERVAL = re.compile(
    r"(?:\b(?:interval|range|scale|domain|set)s?(?:\s+(?:of|from|is))?|[∈=]|\\in)\s*\$?\Z", re.IGNORECASE
)
_OPENING = re.compile(r"(?:[(（]\s*)?(?=[\[【(（])")
_CLOSING = re.compile(r"(?:\s*[.!?。！？]+)?[\"'”’]*\s*")
_ENDED = re.compile(r"(?:[.!?。！？][\"'”’)]*\s*|\n[ \t]*)(?:[-*•]|\(?\d{1,2}[.)])?\s*\Z")
_START = re.compile(r"\s*(?:(?:[-*•]|\(?\d{1,2}[.)])\s+)?")
_MAYBE_LIST = re.compile(r"(?:[-*•]|\(?\d{0,2}[.)]?)\Z")
_NOT_PROSE = re.compile(r"^[ \t]*```\w*[ \t]*$|```|^[ \t]*(?:[-*•]|\(?\d{1,2}[.)])[ \t]+(?=\S)", re.MULTILINE)


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

    A sentence is given out when the text after its citations begins, or at the end; how the text is cut into
    pieces makes no difference. A citation belongs to the one sentence before it, unless the text begins with
    one: then each belongs to the sentence behind it. Keys are recognised in any case, with stray punctuation,
    several in one bracket, in brackets of their own, or bare; a range of keys, an unknown key or a number
    such as [5] names nothing and is removed from the text, and the sentence counts as uncited. Brackets that
    hold anything else, such as [0, 1], [i] or an interval of the evidence, are text.
    """

    def __init__(self, evidence: Sequence[Evidence]) -> None:
        self._by_key = {item.key: item for item in evidence}
        self._sources = re.sub(r"\s", "", "\n".join(item.text for item in evidence))
        self._buffer = ""
        self._leading: bool | None = None  # whether citations stand before their sentences; None: not yet known

    def feed(self, text: str) -> Iterator[Draft]:
        """Take a piece of text and yield the drafts it completes."""
        self._buffer += text
        if self._leading is None:
            self._leading = self._begins_with_mark(self._buffer)
        if self._leading is None:
            return
        complete = 0
        boundaries = self._boundaries_before if self._leading else self._boundaries_behind
        for boundary in boundaries(self._buffer):
            yield from self._parse(self._buffer[complete:boundary])
            complete = boundary
        self._buffer = self._buffer[complete:]

    def finish(self, *, cut: bool = False) -> Iterator[Draft]:
        """Yield what is left; with `cut`, a last sentence that no citation closes is dropped as unfinished."""
        rest, self._buffer = self._buffer, ""
        drafts = list(self._parse(rest))
        if cut and drafts:
            ends = [end for _, end, _ in self._marks(rest)]
            closing = _CLOSING.match(rest, ends[-1]) if ends else None
            if closing is None or closing.end() < len(rest):
                drafts.pop()
        yield from drafts

    def _marks(self, text: str) -> Iterator[tuple[int, int, tuple[Evidence, ...]]]:
        """Yield (start, end, evidence) of every run of citations, with the space before and brackets around."""
        run: tuple[int, int, tuple[Evidence, ...]] | None = None
        for start, end, evidence in self._single_marks(text):
            if run and _BETWEEN.fullmatch(text, run[1], start):
                run = (run[0], end, run[2] + evidence)
                continue
            if run:
                yield _widened(text, *run)
            run = (start, end, evidence)
        if run:
            yield _widened(text, *run)

    def _single_marks(self, text: str) -> Iterator[tuple[int, int, tuple[Evidence, ...]]]:
        found = []
        for match in _GROUP.finditer(text):
            evidence = self._evidence_of(match[1])
            if evidence is not None:
                found.append((match.start(), match.end(), evidence))
        groups = list(found)
        unclosed = _UNCLOSED.search(text)  # its keys are not bare if it is still to be closed
        for match in _BARE_KEY.finditer(text, 0, unclosed.start() if unclosed else len(text)):
            item = self._by_key.get(match[1].lower())
            if item and not any(start <= match.start(1) < end for start, end, _ in groups):
                found.append((match.start(), match.end(), (item,)))
        yield from sorted(found, key=lambda mark: mark[:2])

    def _evidence_of(self, inside: str) -> tuple[Evidence, ...] | None:
        """Return the evidence that the inside of a bracket names; None when it holds anything but keys."""
        tokens = [token.strip(".:^#'\"`*").lower() for token in _SEPARATOR.split(inside)]
        tokens = [token for token in tokens if token and token not in _FILLERS]
        if not tokens or not all(_KEY.match(part) for token in tokens for part in re.split(r"[-–—]", token)):
            return None
        return tuple(self._by_key[token] for token in tokens if token in self._by_key)

    def _begins_with_mark(self, text: str) -> bool | None:
        """Tell whether a text begins with a citation; None while that cannot be told."""
        start = _START.match(text)
        place = start.end() if start else 0
        in_brackets = self._is_mark(text, place)
        if in_brackets is None or _MAYBE_LIST.match(text, place) or _MAYBE_KEY.match(text, place):
            return None
        bare = _BARE_KEY.match(text, place)
        return in_brackets or (bare is not None and bare[1].lower() in self._by_key)

    def _is_mark(self, text: str, place: int) -> bool | None:
        """Tell whether brackets that open at `place` hold citations; None while they are not closed."""
        opening = _OPENING.match(text, place)
        if opening is None:
            return False
        for begin in dict.fromkeys((place, opening.end())):
            if _UNCLOSED.match(text, begin) or begin == len(text):
                return None
            group = _GROUP.match(text, begin)
            if group:
                return self._evidence_of(group[1]) is not None
        return False

    def _boundaries_behind(self, text: str) -> Iterator[int]:
        """Yield the places behind a citation where a new sentence has begun."""
        previous = 0
        for start, end, _ in self._marks(text):
            closing = _CLOSING.match(text, end)
            after = closing.end() if closing else end
            if _MAYBE_KEY.match(text, after) or self._is_mark(text, after) is not False:
                continue  # the end, or another citation, or what may become one
            ended = re.search(r"[.!?。！？\n]", text[max(previous, start - 2) : start] + text[end:after])
            if ended or not (text[after].islower() or text[after].isdigit() or text[after] in ",;:，；、：)）"):
                previous = after
                yield after

    def _boundaries_before(self, text: str) -> Iterator[int]:
        """Yield the places before a citation that opens a new sentence."""
        for start, end, _ in self._marks(text):
            between = _BETWEEN.match(text, end)
            behind = between.end() if between else end
            if _MAYBE_KEY.match(text, behind) or self._is_mark(text, behind) is not False:
                continue  # the run of citations may go on
            if _ENDED.search(text[: end - len(text[start:end].lstrip())]):
                yield start

    def _parse(self, text: str) -> Iterator[Draft]:
        """Yield the sentences of a piece between boundaries with the citations that stand behind each."""
        plain = ""
        cited: list[tuple[int, Evidence]] = []
        position = 0
        for start, end, evidence in self._marks(text):
            plain = _ATTRIBUTION.sub("", plain + text[position:start])
            cited.extend((len(plain), item) for item in evidence)
            position = end
        plain += text[position:]
        plain = _NOT_PROSE.sub(lambda match: " " * len(match[0]), plain)
        sentences = [
            (line.start() + span.start, line.start() + span.end)
            for line in re.finditer(r"[^\n]+", plain)
            for span in split_sentences(line[0])
        ]
        sentences = [span for span in sentences if re.search(r"\w", plain[slice(*span)])]
        for place, (start, end) in enumerate(sentences):
            following = sentences[place + 1][0] if place + 1 < len(sentences) else len(plain)
            lower = start if place else -1
            found = [item for at, item in cited if lower < at <= following]
            sentence = tidy(_NUMBERS.sub(self._number_or_text, plain[start:end]))
            if re.search(r"\w", sentence):
                yield Draft(sentence, tuple(dict.fromkeys(found)))

    def _number_or_text(self, match: re.Match[str]) -> str:
        """Keep numbers in brackets that are an interval or stand in the evidence; others cite nothing."""
        is_text = (
            re.search(r"\b0\b", match[0])
            or re.sub(r"\s", "", match[0]) in self._sources
            or _INTERVAL.search(match.string, 0, match.start())
        )
        return match[0] if is_text else ""


def _widened(
    text: str, start: int, end: int, evidence: tuple[Evidence, ...]
) -> tuple[int, int, tuple[Evidence, ...]]:
    """Return a run of citations with the round brackets that hold nothing else and the space before it."""
    opening = re.search(r"[(（]\s*\Z", text[:start])
    closing = re.compile(r"\s*[)）]").match(text, end)
    if opening and closing:
        start, end = opening.start(), closing.end()
    return len(text[:start].rstrip()), end, evidence


def tidy(text: str) -> str:
    """Return a sentence without what a removed citation leaves behind: double spaces, a space before a
    full stop, doubled full stops, list marks at the start, and with a full stop where the end has no mark."""
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r"^(?:[-*•] |\(?\d{1,2}[.)] |[ !?。！？,;:，；：、]|\.(?!\d))+", "", text)
    text = re.sub(r" +(\.(?!\d)|[,;:!?。，；：！？])", r"\1", text)
    text = text.rstrip(" ,;:，；：、")
    text = re.sub(r"[,;:，；：、]+([.!?。！？]+)$", r"\1", text)
    text = re.sub(r"([.!?。！？])\.+$", r"\1", text)
    if text and not re.search(r"[.!?。！？…][\"'”’)）\]]*$", text):
        text += "。" if re.search(r"[\u4e00-\u9fff]\W*$", text) else "."
    return text


def citation(item: Evidence, n: int, paper: Paper) -> Citation:
    """Return a sentence as a citation of its paper, which has the number `n`."""
    return Citation(n, item.paper_id, Quote(item.paper_id, item.text, item.start, item.end), paper.source)


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
            citations.append(citation(item, n, papers[item.paper_id]))
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
