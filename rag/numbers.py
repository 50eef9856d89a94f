"""Numbers in sentences: their values, units, bounds and what they count; and formulas.

"$1{,}649$" is 1,649, "8B" is 8 billion, "three" is 3, "10 percent" is 10 %, "2-fold" and "twice" are 2 times.
A number inside a name ("GPT-4", "CIFAR-100", "top-1") is part of the name and no number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

import regex

from rag.lexicon import APPROXIMATE, LOWER_BOUNDS, NUMBER_WORDS, UPPER_BOUNDS
from rag.words import NOWHERE, Parsed, Surroundings, parse, says_something, surroundings

NEAR = Decimal("0.02")
"""How far a number may be from one that a claim calls "about" or "nearly", as a share of it. Rounding 33.5 to
"about 34" is 1.5 %; at 5 % "about 60" would cover 57."""

_SCALES = {
    **{"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "trillion": 10**12},
    **{"k": 1_000, "K": 1_000, "M": 10**6, "B": 10**9, "T": 10**12},
}
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_UNIT_NAMES = (
    "GB|MB|KB|TB|GiB|MiB|ms|ns|s|seconds?|minutes?|min|hours?|h|days?|weeks?|months?|years?|dB|Hz|kHz|MHz|GHz|FPS|fps"
    "|mg|kg|g|mm|cm|km|m|nm|ml|l|bits?|bytes?|°C|°|K|W|kW|V|eV|FLOPs|GFLOPs|TFLOPs|tokens/s"
)
_UNIT = (
    r"(?P<unit>\s?%|[\s-]?percent(?:age)?[\s-]points?|[\s-]percent(?:age)?\b|\s?pp\b|\s?points?\b"
    r"|x(?![\p{L}\d])|[\s-]?(?:times|fold)\b|[\s-]?(?:" + _UNIT_NAMES + r")(?![\p{L}\d]))"
)
_ONE = (
    rf"(?:(?P<digits>{_DIGITS})(?:x10\^\(?(?P<power>-?\d+)\)?|e(?P<exponent>-?\d+))?(?:\^\(?(?P<raised>-?\d+)\)?)?"
    r"(?P<scale>[kKMBT](?![\p{L}\d])|\s(?:hundred|thousand|million|billion|trillion)\b)?"
    rf"|\b(?P<words>(?:{_TENS})-(?:one|two|three|four|five|six|seven|eight|nine)"
    rf"|{'|'.join(word for word in NUMBER_WORDS if word not in ('zero', 'one'))})\b"
    r"(?P<wordscale>\s(?:hundred|thousand|million|billion)\b)?)"
)
_NUMBER = regex.compile(
    r"(?<![\p{L}\d_.^\\])(?P<sign>(?<![\p{L}\d%)])-)?" + _ONE + _UNIT + "?", regex.IGNORECASE
)
_NAME_TAIL = regex.compile(r"[\p{L}_^]|-(?:shot|order)\b|(?<=\d)(?:st|nd|rd|th)\b")
_RANGE = regex.compile(r"\s?-\s?|\sto\s|\sand\s")
_NAMED = regex.compile(r"(?<![\p{L}\d-])\p{L}[\p{L}\d._]*-[\p{L}\d.-]*\d[\p{L}\d.-]*")  # GPT-4, Llama-3.1-8B
_LISTED = regex.compile(r"\(\d\)")  # "(1) ..., (2) ..." number parts of a sentence
_FORMULA = regex.compile(r"(?<!\p{L})(?:[OΩΘωo]|\\tilde\{O\})\s?\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
_MULTIPLES = regex.compile(
    r"\b(?P<two>twice|twofold|doubl(?:es|ed|ing))\b|\b(?P<three>tripl(?:es|ed|ing)|threefold)\b"
    r"|\b(?P<half>half|halv(?:e|es|ed|ing))\b",
    regex.IGNORECASE,
)
_PHRASE_END = regex.compile(r"[.,;:()]|\s(?:and|or|to|in|on|for|with|by|than|of|from)\s")
_MEASURED = regex.compile(r"(?P<phrase>[^.;:()]*)\s(?:of|is|was|are|were|at)\s(?:about\s|around\s)?\Z")
_BEFORE = 24
"""Characters before a number among which a bound stands ("no more than about ")."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a text: its value, unit ("%", "x", "points", "gb" or ""), bound, words and place.

    `bound` is "upper", "lower", "about" or ""; `counted` holds the stems of the words after it; `start` and
    `end` are offsets into the cleaned text.
    """

    value: Decimal
    unit: str
    bound: str
    counted: frozenset[str]
    text: str
    start: int
    end: int
    around: Surroundings = NOWHERE


def _unit_of(written: str | None) -> str:
    unit = (written or "").strip(" -").lower()
    if unit in ("pp", "point", "points") or unit.endswith(("points", "point")):
        return "points"
    if unit.startswith("percent"):
        return "%"
    if unit in ("times", "fold"):
        return "x"
    singular = unit.removesuffix("s") if len(unit) > 3 else unit
    return {"second": "s", "minute": "min", "hour": "h"}.get(singular, singular)


def _bound_before(text: str, start: int) -> str:
    before = " " + text[max(0, start - _BEFORE) : start].lower()
    for bound, phrases in (("upper", UPPER_BOUNDS), ("lower", LOWER_BOUNDS), ("about", APPROXIMATE)):
        for phrase in phrases:
            tail = before.rstrip(" $(")
            if tail.endswith(phrase) and (not phrase[0].isalpha() or not tail[: -len(phrase)][-1:].isalpha()):
                negated = bound == "lower" and phrase == "more than" and tail.endswith("no more than")
                return "upper" if negated else bound
    return ""


@lru_cache(maxsize=2048)
def numbers(text: str) -> tuple[Number, ...]:
    """Return the numbers of a cleaned text (`normal.clean`) in order; a range shares its unit."""
    covered = [found.span() for pattern in (_FORMULA, _NAMED, _LISTED) for found in pattern.finditer(text)]
    found_numbers: list[Number] = []
    scales: list[Decimal] = []
    for found in _NUMBER.finditer(text):
        inside = any(start <= found.start() < end for start, end in covered)
        if inside or _NAME_TAIL.match(text, found.end()):
            continue
        value, scale = _value(found)
        unit = _unit_of(found["unit"])
        if found_numbers and _RANGE.fullmatch(text, found_numbers[-1].end, found.start()):
            first = found_numbers[-1]
            if not first.unit:
                shared = scale if scales[-1] == 1 else Decimal(1)
                counted = first.counted or _counted(text, found.start(), found.end())
                found_numbers[-1] = replace(first, value=first.value * shared, unit=unit, counted=counted)
        number = Number(
            value, unit, _bound_before(text, found.start()), _counted(text, found.start(), found.end()),
            found[0].strip(), found.start(), found.end(), surroundings(text, found.start(), found.end()),
        )  # fmt: skip
        found_numbers.append(number)
        scales.append(scale)
    return tuple(sorted([*found_numbers, *_multiples(text)], key=lambda number: number.start))


def _value(found: regex.Match[str]) -> tuple[Decimal, Decimal]:
    """Return the value of a match and the scale it was written with."""
    if found["words"]:
        parts = found["words"].lower().split("-")
        value = Decimal(sum(NUMBER_WORDS[part] for part in parts))
        scale = Decimal(_SCALES.get((found["wordscale"] or "").strip().lower(), 1))
        return value * scale, scale
    value = Decimal(found["digits"].replace(",", ""))
    if found["raised"] and abs(int(found["raised"])) <= 400:
        value = value ** int(found["raised"])
    power = found["power"] or found["exponent"]
    if power and abs(int(power)) <= 400:
        value *= Decimal(10) ** int(power)
    written = (found["scale"] or "").strip()
    scale = Decimal(_SCALES.get(written, _SCALES.get(written.lower(), 1)))
    return (-value if found["sign"] else value) * scale, scale


def _multiples(text: str) -> Iterator[Number]:
    for found in _MULTIPLES.finditer(text):
        value = 2 if found["two"] else 3 if found["three"] else 50
        unit = "%" if found["half"] else "x"
        yield Number(
            Decimal(value),
            unit,
            _bound_before(text, found.start()),
            frozenset(),
            found[0],
            found.start(),
            found.end(),
        )


def _counted(text: str, start: int, end: int) -> frozenset[str]:
    """Return the stems of the up to three words that a number counts or measures: those after it ("116
    dialogues", "85.16 POPE F1"), or before "of" and "is" if there are none ("a POPE F1 of 85.16")."""
    following = _PHRASE_END.split(text[end : end + 80], maxsplit=1)[0]
    words = [word for word in parse(following).words if not any(map(str.isdigit, word.text))]
    stems = frozenset(word.stem for word in words[:3] if says_something(word))
    of = _MEASURED.search(text, max(0, start - 80), start)
    if stems or not of:
        return stems
    before = [word.stem for word in parse(_PHRASE_END.split(of["phrase"])[-1]).words if says_something(word)]
    return frozenset(before[-3:])


def formulas(text: str) -> tuple[tuple[str, tuple[int, int]], ...]:
    """Return the orders of growth in a cleaned text, such as "O(N^2)", without spaces, with places."""
    return tuple((regex.sub(r"\s+", "", found[0]), found.span()) for found in _FORMULA.finditer(text))


def same_value(claimed: Number, found: Number) -> bool:
    """Say whether a claimed number is the one found, given what the claim calls it ("about", "over")."""
    if claimed.value == found.value:
        return True
    larger = max(abs(found.value), abs(claimed.value))
    gap = found.value - claimed.value
    near = larger > 0 and abs(gap) / larger <= NEAR
    if claimed.bound == "about":
        return near
    # "over 90 %" of 90.5 %, "under 2" of 1.97; "over 50 %" of 90 % would hide what was found
    return near and ((claimed.bound == "lower" and gap > 0) or (claimed.bound == "upper" and gap < 0))


def same_unit(claimed: Number, found: Number) -> bool:
    """Say whether two numbers have one unit; "half" is also 50 % of something uncounted."""
    return claimed.unit == found.unit


def counts_same(claimed: Number, found: Number) -> bool:
    """Say whether two numbers may count the same: they have a unit, or a word after them in common."""
    if claimed.unit or not claimed.counted or not found.counted:
        return True
    return bool(claimed.counted & found.counted)


def all_numbers(parsed: Sequence[Parsed]) -> list[Number]:
    """Return the numbers of several texts."""
    return [number for part in parsed for number in numbers(part.text)]
