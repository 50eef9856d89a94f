"""Rules on numbers, formulas, names and the expansions of acronyms: a claim may only use what is cited."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import regex

from rag.lexicon import KNOWN_ACRONYMS, SUBJECT_PRONOUNS
from rag.numbers import NEAR, Number, all_numbers, counts_same, formulas, numbers, same_unit, same_value
from rag.types import Support, Verdict
from rag.words import (
    Parsed,
    Surroundings,
    has_stem,
    nearness,
    parse,
    related,
    says_something,
    stem,
    stems_of,
    surroundings,
)

_NAME = regex.compile(
    r"(?<![\p{L}\p{N}])(?:"
    r"[\p{L}\p{N}]*\p{Lu}[\p{L}\p{N}]*\p{Lu}[\p{L}\p{N}]*(?:-[\p{L}\p{N}.]*[\p{L}\p{N}])*"  # LoRA, GPT-4
    r"|\p{Lu}[\p{Ll}\p{N}]*\p{N}[\p{L}\p{N}]*(?:[-.][\p{L}\p{N}]+)*"  # Qwen3, S2
    r"|\p{Lu}[\p{L}\p{N}]*(?:-[\p{L}\p{N}.]*[\p{L}\p{N}])+"  # Lanczos-Gauss, Llama-3.1
    r"|\p{N}+\p{Lu}[\p{L}\p{N}]*"  # 2LS
    r"|(?<=[\p{L}\p{N},;:(] |-|\()\p{Lu}\p{Ll}+"  # Muon, within a sentence
    r")(?:°C)?(?![\p{L}\p{N}])"
)
_SIZE = regex.compile(r"\d+(?:\.\d+)?[KMBT](?:-\d+(?:\.\d+)?[KMBT]?)?\Z")
_ACRONYM = regex.compile(
    r"(?P<words>(?:[\p{L}\p{N}'/-]+ ){1,8})\((?P<acronym>[\p{L}\p{N}.-]*\p{Lu}[\p{L}\p{N}.-]*?)s?[);,]"
)
_REVERSE = regex.compile(
    r"(?P<acronym>\b[\p{L}\p{N}-]*\p{Lu}[\p{L}\p{N}-]*\p{Lu}[\p{L}\p{N}]*?)s?"
    r"(?: \((?P<words>[\p{L}' -]+ [\p{L}' -]+)\)"
    r"|,? (?:which )?(?:stands|is short|short|standing) for (?P<words>[\p{L}' -]+))"
)
_SENTENCE_END = regex.compile(r"[.?!]\s")
_POWER = regex.compile(r"(?<![\p{L}\d^])\p{L}\^\(?[-+]?[\p{L}\d]+\)?")
_MARK = regex.compile(r"\(\d\)")
_PROPOSED = regex.compile(
    r"\b(?:propos(?:e|es|ed|ing)|introduc(?:e|es|ed|ing)|present(?:s|ed|ing)?|develop(?:s|ed|ing)?|call(?:s|ed)?|named?"
    r"|term(?:s|ed)?|dub(?:s|bed)?|describe[sd]?|formali[sz]e[sd]?|formulated?|defined?|releas(?:e|es|ed|ing)|yields|called)\s[^.,;:]{0,80}",
    regex.IGNORECASE,
)


CLEARLY = 2
"""How many words more the surroundings of another value must share (`words.nearness`): one may be chance."""


def check_numbers(claim: Parsed, cited: Sequence[Parsed], abstract: Parsed) -> Iterator[Verdict]:
    """Every number of the claim must be cited, with its unit, its bound and what it counts."""
    found = all_numbers(cited)
    for number in numbers(claim.text):
        verdict = _judge_number(number, found, abstract)
        if verdict is not None:
            yield verdict
    yield from _reversed_ranges(claim, cited)
    yield from _formulas(claim, cited)
    yield from _numbered_words(claim, cited)


_NUMBERED = regex.compile(r"(?<![\p{L}\d-])\p{Ll}+-\d+(?:\.\d+)*(?![\p{L}\d])")


def _numbered_words(claim: Parsed, cited: Sequence[Parsed]) -> Iterator[Verdict]:
    """A word with its number, "top-5", is no number and no name to the other rules: it is cited as it is."""
    known = {word for part in cited for word in _NUMBERED.findall(part.text)}
    for word in _NUMBERED.findall(claim.text):
        if word not in known:
            yield Verdict(Support.PARTIAL, f'"{word}" is not in the cited sentence')


def _formulas(claim: Parsed, cited: Sequence[Parsed]) -> Iterator[Verdict]:
    for pattern in (_POWER, _MARK):  # "T^2"; "(2)" of a list that the sentence has too
        found = {text for part in cited for text in pattern.findall(part.text)}
        for text in pattern.findall(claim.text):
            if text not in found and (found or pattern is _POWER):
                yield Verdict(Support.PARTIAL, f"{text} is not in the cited sentence")
    places = [
        (formula, surroundings(part.text, *span)) for part in cited for formula, span in formulas(part.text)
    ]
    known = {formula for formula, _ in places}
    for formula, span in formulas(claim.text):
        if formula not in known:
            support = Support.CONTRADICTED if known else Support.PARTIAL
            instead = f"; it has {', '.join(sorted(known))}" if known else ""
            yield Verdict(support, f"{formula} is not in the cited sentence{instead}")
        elif rival := _rival(surroundings(claim.text, *span), formula, places):
            yield Verdict(Support.PARTIAL, f"of this the cited sentence says {rival}, not {formula}")


def _rival(around: Surroundings, own: str, places: Sequence[tuple[str, Surroundings]]) -> str | None:
    """Return another value whose surroundings are clearly more like the claim's than those of its own."""
    best = max(nearness(around, other) for value, other in places if value == own)
    for value, other in places:
        if value != own and nearness(around, other) >= best + CLEARLY:
            return value
    return None


def _judge_number(number: Number, found: Sequence[Number], abstract: Parsed) -> Verdict | None:
    equal = [other for other in found if same_value(number, other)]
    exact = [other for other in equal if same_unit(number, other)]
    shown = number.text
    if not equal:
        small = number.text.isalpha() and number.value <= 4 and number.unit == ""
        if small and _is_counted(number, found):
            return None
        if any(same_value(number, other) and same_unit(number, other) for other in numbers(abstract.text)):
            return Verdict(
                Support.PARTIAL,
                f"the number {shown} stands elsewhere in the abstract, not in the cited sentence",
            )
        rivals = [other for other in found if same_unit(number, other) and _same_thing(number, other)]
        if rivals:
            nearest = min(rivals, key=lambda other: abs(other.value - number.value))
            rounded = abs(nearest.value - number.value) <= NEAR * abs(nearest.value)
            support = Support.PARTIAL if rounded else Support.CONTRADICTED
            return Verdict(support, f"the cited sentence says {nearest.text}, not {shown}")
        return Verdict(Support.PARTIAL, f"the number {shown} is not in the cited sentence")
    if not exact:
        return Verdict(Support.PARTIAL, f"the cited sentence says {equal[0].text}, the claim says {shown}")
    counted = [other for other in exact if counts_same(number, other)]
    if not counted and number.text.isalpha() and number.value <= 4 and _is_counted(number, found):
        counted = exact
    if not counted:
        return Verdict(Support.PARTIAL, f"in the cited sentence {shown} counts something else")
    if rival := _other_number(number, counted, found):
        return Verdict(Support.PARTIAL, f"of this the cited sentence says {rival.text}, not {shown}")
    bounds = {other.bound for other in counted}
    if number.bound in bounds or number.bound == "about":
        return None
    if number.bound == "" and bounds & {"upper", "lower"}:
        limit = "at most" if "upper" in bounds else "at least"
        return Verdict(Support.PARTIAL, f"the cited sentence gives {shown} as a bound ({limit})")
    if {number.bound, *bounds} == {"upper", "lower"}:
        return Verdict(Support.CONTRADICTED, f"the cited sentence bounds {shown} from the other side")
    if number.bound in ("upper", "lower") and any(other.value == number.value for other in counted):
        return Verdict(Support.PARTIAL, f"the cited sentence gives {shown} itself, not a bound")
    return None


def _other_number(number: Number, own: Sequence[Number], found: Sequence[Number]) -> Number | None:
    """Return a number of the same unit that stands where the claim has its own, if one clearly does."""
    if any(number.counted & other.counted for other in own):
        return None
    best = max(nearness(number.around, other.around) for other in own)
    for other in found:
        closer = nearness(number.around, other.around) >= best + CLEARLY
        if closer and same_unit(number, other) and other not in own:
            return other
    return None


def _same_thing(number: Number, other: Number) -> bool:
    return bool(number.unit) or bool(number.counted & other.counted)


def _is_counted(number: Number, found: Sequence[Number]) -> bool:
    """Say whether a small number in words is one the sentence need not spell out ("two methods")."""
    return not any(number.counted & other.counted for other in found)


def _reversed_ranges(claim: Parsed, cited: Sequence[Parsed]) -> Iterator[Verdict]:
    """ "from 0.1 to 0.6" is not "from 0.6 to 0.1"."""

    def ranges(part: Parsed) -> set[tuple[object, object]]:
        listed = numbers(part.text)
        return {
            (first.value, second.value)
            for first, second in pairwise(listed)
            if regex.fullmatch(r"\s?%?\s(?:up |down )?to\s", part.text, pos=first.end, endpos=second.start)
        }

    known = set().union(*(ranges(part) for part in cited)) if cited else set()
    for low, high in ranges(claim):
        if (high, low) in known and (low, high) not in known:
            yield Verdict(
                Support.CONTRADICTED,
                f"the cited sentence goes from {high} to {low}, not from {low} to {high}",
            )


# --- names --------------------------------------------------------------------------------------------


@lru_cache(maxsize=2048)
def names(text: str) -> tuple[str, ...]:
    """Return the names and acronyms of a cleaned text, each once, in order; sizes such as "8B" are none.

    A capitalised word at the beginning of a sentence is none, unless its form shows it to be a name.
    """
    found = (match[0] for match in _NAME.finditer(text))
    return tuple(dict.fromkeys(name for name in found if not _SIZE.match(name)))


def _key(name: str) -> str:
    """Fold what may differ between two mentions of a name: hyphens, spaces, the plural's s."""
    folded = regex.sub(r"[\s-]", "", name)
    return folded[:-1] if len(folded) > 2 and folded.endswith("s") and folded[-2].isupper() else folded


def has_name(name: str, text: str) -> bool:
    """Say whether a cleaned text names something as a whole word, with or without its hyphens."""
    escaped = r"[\s-]?".join(regex.escape(part) for part in regex.split(r"[\s-]", _key_parts(name)))
    # "DPO" is not named by "Ultra-DPO", though "LLM" is by "non-LLM"
    form = regex.compile(
        rf"(?<!\p{{Lu}}[\p{{L}}\p{{N}}]*-)(?<![\p{{L}}\p{{N}}]){escaped}s?(?![\p{{L}}\p{{N}}])"
    )
    if form.search(text):
        return True
    if name.isalpha() and name[1:].islower():  # a capitalised word may stand in lower case
        return has_stem(stem(name), parse(text).stems)
    folded = _key(name)
    if any(_key(other) == folded for other in names(text)):
        return True
    # of "HIV-positive" the second part is a word like any other and judged by coverage
    parts = [part for part in name.split("-") if not part.islower()]
    if parts == [name] or not parts or not all(part.isalpha() and len(part) > 1 for part in parts):
        return False  # "GPT-4" is not named by "GPT-3 ... 4 tasks"
    return all(has_name(part, text) for part in parts)


def _key_parts(name: str) -> str:
    return name[:-1] if len(name) > 2 and name.endswith("s") and name[-2].isupper() else name


def check_names(
    claim: Parsed, cited: Sequence[Parsed], abstract: Parsed, known: Sequence[str]
) -> Iterator[Verdict]:
    """Every name of the claim must be cited, or be the paper's own name carried over into the sentence."""
    text = " ".join(part.text for part in cited)
    expanded = expansions(abstract.text)
    for name in names(claim.text):
        if has_name(name, text) or _spelled_out(name, cited, expanded):
            continue
        if any(has_name(name, other) for other in known):
            continue
        if not has_name(name, abstract.text):
            yield Verdict(Support.PARTIAL, f"the name {name} is not in the paper's abstract")
        elif not _carried_over(name, cited, abstract):
            yield Verdict(
                Support.PARTIAL,
                f"the name {name} stands elsewhere in the abstract, not in the cited sentence",
            )


def _carried_over(name: str, cited: Sequence[Parsed], abstract: Parsed) -> bool:
    """Say whether a sentence without the name may speak of it: as the paper's own, or by "it"."""
    own = any(has_name(name, other) for other in proposed(abstract.text))
    pronoun = any(word.lower in SUBJECT_PRONOUNS for part in cited for word in part.words)
    return own or (pronoun and _key_parts(name) in expansions(abstract.text))


@lru_cache(maxsize=1024)
def proposed(text: str) -> tuple[str, ...]:
    """Return the names of what a cleaned abstract proposes ("we present Unpaired CCA (UCCA)"): those in the
    words after the verb, and the acronyms expanded in the rest of its sentence."""
    given = expansions(text)
    found: list[str] = []
    for match in _PROPOSED.finditer(text):
        found += names(match[0])
        rest = _SENTENCE_END.split(text[match.end() :], maxsplit=1)[0]
        found += [acronym for acronym in given if f"({acronym})" in rest]
    return tuple(dict.fromkeys(found))


def _spelled_out(name: str, cited: Sequence[Parsed], expanded: dict[str, str]) -> bool:
    """Say whether the cited sentences have an acronym's words, as the abstract expands it."""
    words = expanded.get(_key_parts(name)) or KNOWN_ACRONYMS.get(_key_parts(name))
    stems = stems_of(cited)
    if words:
        wanted = [word.stem for word in parse(words).words if says_something(word)]
        return bool(wanted) and all(has_stem(one, stems) for one in wanted)
    letters = _key_parts(name).lower()
    if not name.isupper() or len(letters) < 2 or not letters.isalpha():
        return False
    return (
        any(letters in "".join(word.lower[0] for word in part.words) for part in cited) and len(letters) >= 3
    )


@lru_cache(maxsize=1024)
def expansions(text: str) -> dict[str, str]:
    """Return the acronyms a cleaned text expands: "Unpaired CCA (UCCA)" gives {"UCCA": "Unpaired CCA"}."""
    found: dict[str, str] = {}
    for match in _ACRONYM.finditer(text):
        words = _expanding(match["words"].split(), match["acronym"])
        if words:
            found.setdefault(match["acronym"], " ".join(words))
    for match in _REVERSE.finditer(text):
        words = _expanding(match["words"].split(), match["acronym"])
        if words:
            found.setdefault(match["acronym"], " ".join(words))
    return found


def _expanding(words: list[str], acronym: str) -> list[str]:
    """Return the last words that an acronym can stand for: its first letter begins the first of them."""
    letters = [letter.lower() for letter in acronym if letter.isalpha()]
    for size in range(1, len(words) + 1):
        tail = words[-size:]
        if (
            tail[0][0].lower() == letters[0]
            and len(regex.split(r"[\s-]", " ".join(tail))) >= len(letters) / 2
        ):
            return tail
    return []


def check_expansions(claim: Parsed, abstract: Parsed) -> Iterator[Verdict]:
    """An acronym may only be expanded as the abstract expands it."""
    given = expansions(abstract.text)
    stems = abstract.stems
    for pattern in (_ACRONYM, _REVERSE):
        for match in pattern.finditer(claim.text):
            acronym = _key_parts(match["acronym"])
            words = _expanding(match["words"].split(), acronym)
            if not words:  # what stands before "(ShapeNet)" need not be its expansion
                words = match["words"].split()[-len(acronym) :] if acronym in given else []
            claimed = [stem(word) for word in regex.split(r"[\s-]", " ".join(words)) if word]
            if acronym in given:
                true = [word.stem for word in parse(given[acronym]).words]
                if not all(any(related(one, other) for other in true) for one in claimed):
                    yield Verdict(
                        Support.CONTRADICTED,
                        f"the abstract expands {acronym} as {given[acronym]}, not {' '.join(words)}",
                    )
            elif (
                words
                and has_name(acronym, abstract.text)
                and not all(has_stem(one, stems) for one in claimed)
            ):
                yield Verdict(Support.PARTIAL, f"the abstract does not say what {acronym} stands for")
