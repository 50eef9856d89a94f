"""Recognises comparative questions and takes them apart: sides, group, asked aspect. Rules, no model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from itertools import combinations

from rag.comparison_chinese import chinese_readings
from rag.comparison_forms import (
    ASKING,
    BARE_GROUP,
    BARE_LISTS,
    BARE_SEPARATOR,
    BEATS,
    CLEAN,
    FORMS,
    GENERIC,
    GROUP,
    GROUP_BEFORE,
    HEAD,
    HEADS,
    LEAD_IN,
    LEAD_OUT,
    MOST_SEPARATORS,
    MOST_SPLIT,
    POINTER,
    RELATION,
    SENTENCES,
    SEPARATOR,
    TAIL_QUESTION,
    THAN,
    UNLIKE_FIRST,
    UNLIKE_LAST,
    VERB,
    VERSUS,
    WHICH_OF,
    WITHIN,
)
from rag.comparison_request import AS_BEFORE, MOST_SIDES, ComparisonRequest, Group, number_of
from rag.plan import MAX_QUESTION


def comparison_requests(question: str) -> tuple[ComparisonRequest, ...]:
    """Return the ways a comparative question can be taken apart, likeliest first; none for any other question.

    Cautious: a question about comparisons that a paper makes ("What does X compare against?", "How does X fare
    against prior work?") is none. Sides are only texts here; which reading is right shows when they are looked
    up (`sides.best_reading`).
    """
    text = re.sub(r"([,;:])(?:\s*[,;:])+", r"\1", " ".join(question[:MAX_QUESTION].split()))
    text = _SLIPS.sub(_corrected, text)
    if re.search(r"[\u4e00-\u9fff]", text):
        return tuple(chinese_readings(text))
    if WITHIN.search(text):
        return ()
    text = LEAD_IN.sub("Compare ", LEAD_OUT.sub("", text))
    sentences = SENTENCES.split(text)
    for place, sentence in enumerate(sentences[:-1]):  # a side does not go beyond its sentence
        readings = _sentence_readings(sentence)
        if any(not reading.weak for reading in readings):
            following = sentences[place + 1]
            about = _clean(following) if following.endswith("?") else None
            return tuple(replace(reading, aspect=reading.aspect or about) for reading in readings)
    return tuple((len(sentences) > 1 and _sentence_readings(sentences[-1])) or _sentence_readings(text))


def _sentence_readings(text: str) -> list[ComparisonRequest]:
    found = list(_found(text))
    tail = TAIL_QUESTION.match(text)
    if tail:
        about = _clean(tail["aspect"])
        found = [*(replace(reading, aspect=about) for reading in _found(tail["main"])), *found]
    readings = [_with_group(reading) for reading in found]
    return list(dict.fromkeys(reading for reading in readings if reading is not None))


_SLIPS = re.compile(r"\b(?:d[a-z]{5,12}|c[a-z]{5,8})\b", re.IGNORECASE)
_SPELLED = ("difference", "differences", "different", "compare", "contrast", "comparison")
_NO_SLIPS = frozenset({*_SPELLED, "compared", "compares", "comparing", "comparisons", "contrasts", "contrasted"})


def _corrected(match: re.Match[str]) -> str:
    """Return a word of comparing as it is spelled, any other as it stands."""
    word = match[0].lower()
    return (get_close_matches(word, _SPELLED, n=1, cutoff=0.88) or [match[0]])[0] if word not in _NO_SLIPS else match[0]


def _found(text: str) -> Iterator[ComparisonRequest]:
    """Yield what the forms find in a question, likeliest first."""
    which = WHICH_OF.match(text)
    if which:
        yield from _which_of(which["rest"])
    for form in FORMS:
        match = form.match(text)
        if match:
            loose = form is FORMS[-1] or bool(RELATION.search(text))
            yield from (replace(reading, loose=loose) for reading in _readings(match))
    yield from _looser(text)


def _readings(match: re.Match[str]) -> Iterator[ComparisonRequest]:
    """Yield what a form found; where it took the end for an aspect, also the reading where that is a side's.

    "Compare A and B on data" asks about data; "compare the two papers on data" and "how does the paper on X
    differ from the one about Y" do not.
    """
    parts = match.groupdict()
    aspect = _clean(parts.get("aspect") or "") or None
    last = "b" if parts.get("a") else "sides"
    text = _clean(match[last])
    readings = [(text, aspect)]
    if aspect and match.end(last) < match.start("aspect"):
        whole = (_clean(match.string[match.start(last) : match.end("aspect")]), None)
        ends_bare = re.search(
            rf"(?:^|\b(?:the|and|or|two|those|these|all)\s+)(?:{HEADS}|{HEAD})$", text, re.IGNORECASE
        )
        readings = [whole, *readings] if ends_bare else [*readings, whole]
    for last_text, about in readings:
        splits = ((_clean(match["a"]), last_text),) if last == "b" else tuple(splits_of(last_text))
        yield ComparisonRequest(splits, aspect=about)


def _which_of(rest: str) -> Iterator[ComparisonRequest]:
    """Take apart what follows "which of": the sides end where the verb begins."""
    words = rest.split()
    for place in range(len(words) - 1, 0, -1):
        if VERB.match(words[place]) and not SEPARATOR.fullmatch(f" {words[place - 1]} "):
            sides = _clean(" ".join(words[:place]))
            if re.search(r"\s(?:and|or|&)\s|,|、", sides) or POINTER.match(sides) or GROUP.match(sides):
                yield ComparisonRequest(tuple(splits_of(sides)), aspect=_clean(" ".join(words[place:])))


def _looser(text: str) -> Iterator[ComparisonRequest]:
    versus = VERSUS.split(text)
    if len(versus) > 2:
        last, *about = re.split(r"[:,]", versus[-1], maxsplit=1)
        sides = (ASKING.sub("", versus[0]), *versus[1:-1], last)
        yield ComparisonRequest((tuple(_clean(side) for side in sides),), aspect=_clean("".join(about)) or None)
    if len(versus) == 2:
        left = ASKING.sub("", versus[0])
        right, _, aspect = versus[1].partition(":") if ":" in versus[1] else versus[1].partition(",")
        yield ComparisonRequest(((_clean(left), _clean(right)),), aspect=_clean(aspect) or None)
    than = THAN.match(text)
    if than:
        for place in _phrase_ends(than["rest"]):
            predicate = than["rest"][place:].strip()
            if re.search(r"\b(?:more|less|fewer|better|worse|different|other|\w{3,}er)\b", predicate):
                sides = (_clean(than["rest"][:place]), _clean(than["b"]))
                yield ComparisonRequest((sides,), aspect=_clean(predicate), loose=True)
    beats = BEATS.match(text)
    if beats:
        yield ComparisonRequest(((_clean(beats["a"]), _clean(beats["b"])),), aspect=beats["aspect"], loose=True)
    yield from _listed(text)
    for form in BARE_LISTS:
        bare = form.match(text)
        if bare:
            parts = BARE_SEPARATOR.split(bare["sides"])
            sides = tuple(_clean(side) for side in (parts if len(parts) > 1 else bare["sides"].split()))
            if 1 < len(sides) <= MOST_SIDES and all(sides):
                yield ComparisonRequest((sides,), aspect=bare.groupdict().get("aspect"), weak=True)
    for pattern, own in ((UNLIKE_FIRST, "a"), (UNLIKE_LAST, "b")):
        unlike = pattern.match(text)
        if unlike:
            rest = ASKING.sub("", unlike["rest"])
            other, *about = unlike[own].split(": ", maxsplit=1)
            for place in _phrase_ends(rest):
                aspect = _clean(rest[place:]) or _clean("".join(about)) or None
                yield ComparisonRequest(((_clean(rest[:place]), _clean(other)),), aspect=aspect)


_LIST_LEAD = re.compile(
    r"\b(?:do|does|did|are|is|was|were|can|will|have|has|of|by|in|on|between|among|for|with|from|papers?|"
    r"abstracts?)\s+(?=\S)",
    re.IGNORECASE,
)
_IN_LIST = re.compile(r"\s*,\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+", re.IGNORECASE)


def _listed(text: str) -> Iterator[ComparisonRequest]:
    """Yield what a list in a question of another form may be: "How much is changed by A, by B and by C?"

    Where its first item begins and its last one ends is not known, so all likely ways are given.
    """
    items = _IN_LIST.split(text.rstrip("?.! "))
    words = list(re.finditer(r"\s+(\S+)", items[-1]))
    ends = [
        word.start() for word in words if VERB.match(word[1]) or re.match(r"(?:in|on|for|when|each|all)$", word[1])
    ][:3]
    splits = []
    for first in range(min(3, len(items) - 1)):  # the lead may have an "or" of its own
        if len(items) - first > MOST_SIDES:
            continue
        for start in [match.end() for match in _LIST_LEAD.finditer(items[first])][-3:]:
            for end in [len(items[-1]), *ends]:
                split = (items[first][start:], *items[first + 1 : -1], items[-1][:end])
                cleaned = tuple(_clean(re.sub(r"^(?:by|in|on|of|for|with)\s+", "", item)) for item in split)
                if all(cleaned):
                    splits.append(cleaned)
    if splits:
        yield ComparisonRequest(tuple(dict.fromkeys(splits)), aspect=_clean(text), weak=True)


def _phrase_ends(text: str) -> list[int]:
    """Return where the phrase that names a side may end at the start of a text, likeliest first."""
    ends = []
    head = re.match(rf"(?:the|this|that)\s+(?:[^\s]+\s+){{0,7}}?{HEAD}\b", text, re.IGNORECASE)
    if head:
        ends.append(head.end())
    name = re.match(r"(?:\S*[A-Z0-9℃]\S*)(?:\s+\S*[A-Z0-9℃]\S*)*", text)
    if name:
        ends.append(name.end())
    words = list(re.finditer(r"\S+", text))
    if not head and not name and words:
        verb = next((word.start() for word in words[1:] if VERB.match(word[0])), None)
        ends.append(verb - 1 if verb else words[0].end())
    return ends


def _with_group(request: ComparisonRequest) -> ComparisonRequest | None:
    """Return a request whose sides are a group or point back as such; None when its sides are none."""
    if not request.splits:
        return None
    first = request.splits[0]
    if len(first) == 1:
        return _alone(first[0], request.aspect)
    splits = tuple(split for split in request.splits if not any(GENERIC.match(side) or not side for side in split))
    return replace(request, splits=splits) if splits else None


def _alone(side: str, aspect: str | None) -> ComparisonRequest | None:
    """Return the comparison of one thing: several papers in one phrase, or those of earlier turns."""
    side = re.sub(r"\s+(?:with|from|to|against) (?:each other|one another)$", "", side, flags=re.IGNORECASE)
    pointed = POINTER.match(side)
    if pointed:
        number = re.search(r"\b(two|three|four|five|six|both|\d)\b", side.lower())
        return ComparisonRequest(pointer=number_of(number[1] if number else None) or AS_BEFORE, aspect=aspect)
    group = group_of(side)
    return ComparisonRequest(group=group, aspect=aspect) if group else None


def group_of(side: str) -> Group | None:
    """Return the group that a phrase names, None when it names none: "all methods for X", "the X papers"."""
    match = GROUP.match(side) or GROUP_BEFORE.match(side)
    if not match or BARE_GROUP.match(side):
        return None
    topic = re.sub(r"^(?:that|which|who)\s+|^(?:is|are)\s+", "", match["topic"].strip(), flags=re.IGNORECASE)
    if not re.search(r"\w", topic) or re.fullmatch(
        r"(?:these|those|them|it|this|other|two|prior|previous|existing)", topic, re.IGNORECASE
    ):
        return None
    return Group(topic, number_of(match["number"]))


def points_back(side: str) -> bool:
    """Tell whether a side stands for a paper of an earlier turn: "it", "the former", "that paper"."""
    return bool(POINTER.match(side))


def splits_of(sides: str) -> list[tuple[str, ...]]:
    """Return the ways a text can be split into sides at its "and"s and commas, those with most sides first.

    A text without any is one side. Of more than six separators all are used.
    """
    places = list(SEPARATOR.finditer(sides))
    if not places or group_of(sides):
        return [(_clean(sides),)]
    number = len(places)
    least = 1 if number <= MOST_SEPARATORS else number
    found: list[tuple[str, ...]] = []
    for size in range(number, least - 1, -1):
        for chosen in combinations(places, size):
            ends = [0, *(edge for place in chosen for edge in place.span()), len(sides)]
            split = tuple(_clean(sides[ends[i] : ends[i + 1]]) for i in range(0, len(ends), 2))
            if all(split) and len(split) <= MOST_SPLIT:
                found.append(split)
    return found


_LEADING = re.compile(
    rf"^(?:both(?!\s+(?:of|the|these|those|{HEADS})\b)|between|either|and|or)\s+(?=\S)", re.IGNORECASE
)


def _clean(text: str) -> str:
    previous = None
    while previous != text:
        previous, text = text, CLEAN.sub("", text)
    return text if text.lower() == "both" else _LEADING.sub("", text)
