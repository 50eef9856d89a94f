"""The quote gate: are these words really in the abstract, unchanged and not torn from what decides them?

A quote passes if its normalised form (see `normal`) occurs in the normalised abstract without a gap, and

- case agrees, since "LoRA" and "LORA" or "US" and "us" may differ in meaning; only the first letter may
  differ, because a quote from the middle of a sentence is often written with a capital, and only if the
  rest of its first word is in lower case;
- it begins and ends at token boundaries: not inside a word, a compound ("convex" of "non-convex"), a
  number ("12" of "112", "5" of "1.5", "15" of "3-15") or a formula, and not between a number and its sign,
  comparison, "at least" or unit;
- it does not begin just after a word that reverses or limits it ("not", "without", "few", "unless"), nor end
  just before one ("only if", "does not");
- it has at least `MIN_WORDS` words (`MIN_IDEOGRAPHS` characters in scripts without spaces), unless it is
  the whole sentence asked for; a bare number or a name proves nothing.
"""

from __future__ import annotations

import regex

from rag.lexicon import BOUNDS, CONDITIONS, LIMITERS, NEGATING_IDEOGRAPHS, NEGATORS, NUMBER_WORDS, SCALES
from rag.normal import Normalised, normalise
from rag.types import Span

MIN_WORDS = 4
"""Shorter quotes occur by chance: of the runs of three words in the 38 seed abstracts 16 % also stand in one
of the 2,795 abstracts of NeurIPS 2022, of the runs of four words 4 %."""

MIN_IDEOGRAPHS = 8
"""Chinese words have two characters on average, so this is `MIN_WORDS` in Chinese."""

_WORD = regex.compile(r"\p{L}[\p{L}\p{M}'’]*")
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]")
_STRONG_DASH = regex.compile(r"—|―|--|\s[-–−]\s")  # separates clauses; a single hyphen joins words
_LEADING = '"([{'
_TRAILING = '.,;:!?)]}"…'
_BEFORE_QUOTE = frozenset("+-<>≤≥≈≪≫~=≠±×·./^_$#@\\'*√∞∝")
"""Characters that, directly before a word, belong to it."""
_AFTER_QUOTE = frozenset("%°^_+-<>≤≥≈≪≫=≠±×·*/'′([{€‰")
"""Characters that, directly after a word, belong to it."""
_CLAUSE = regex.compile(r"[.,;:?!](?=\s|$)")
_OPENERS = regex.compile(r"(?:\\[A-Za-z]+\*?\s*\{|[$*_]|\\\(|\\\[)+$")
_CLOSERS = regex.compile(r"^(?:[}$*_]|\\\)|\\\])+")


def find_quote(text: str, abstract: str, start: int = 0, end: int | None = None) -> Span | None:
    """Return where a quote stands in `abstract[start:end]`, as a span of `abstract`, or None.

    The words to show are `abstract[span.start:span.end]`: the paper's, not the writer's. Quotation marks
    around `text` and punctuation at its end are not held against it. `start` and `end` restrict the search
    to a sentence; a text equal to the whole of it may be shorter than the least length.
    """
    end = len(abstract) if end is None else end
    needle = normalise(text.strip()).text
    whole = abstract[start:end].strip()
    if not whole or not regex.search(r"\p{L}", needle):
        return None
    first = start + abstract[start:end].index(whole)
    sentence = normalise(whole).text
    bare = _bare(needle)
    if any(form == sentence or form == _bare(sentence) for form in _case_forms(needle, bare)):
        return Span(first, first + len(whole))
    if not _long_enough(bare):
        return None
    haystack = normalise(abstract)
    for form in dict.fromkeys(_case_forms(needle, bare)):
        position = haystack.text.find(form)
        while form and position >= 0:
            span = _span(haystack, abstract, position, position + len(form))
            if start <= span.start and span.end <= end and _stands_alone(haystack, abstract, position, form):
                return span
            position = haystack.text.find(form, position + 1)
    return None


def _bare(needle: str) -> str:
    """Return a normalised quote without quotation marks around it and punctuation at its end.

    A leading point stays: ".5" is a number.
    """
    return needle.lstrip('" ').rstrip(' ".,;:!?…')


def _case_forms(*needles: str) -> list[str]:
    """Return the needles, and each with the case of its first letter changed where that is harmless."""
    forms = list(needles)
    for needle in needles:
        word = _WORD.search(needle)
        if word and not needle[: word.start()].strip('"('):
            letter, rest = word[0][0], word[0][1:]
            if rest == rest.lower() and not needle[word.end() : word.end() + 1].isdigit():
                forms.append(needle[: word.start()] + letter.swapcase() + needle[word.start() + 1 :])
    return forms


def _long_enough(needle: str) -> bool:
    ideographs = len(_UNSPACED.findall(needle))
    words = len(_WORD.findall(_UNSPACED.sub(" ", needle)))
    return words + ideographs * MIN_WORDS / MIN_IDEOGRAPHS >= MIN_WORDS


def _span(haystack: Normalised, abstract: str, position: int, stop: int) -> Span:
    """Return the original range of a match, with the LaTeX or Markdown marks around it if they balance."""
    start, end = haystack.starts[position], haystack.ends[stop - 1]
    before = abstract[haystack.ends[position - 1] if position else 0 : start]
    after = abstract[end : haystack.starts[stop] if stop < len(haystack.text) else len(abstract)]
    opened, closed = _OPENERS.search(before), _CLOSERS.search(after)
    wide_start = start - len(opened[0]) if opened else start
    wide_end = end + len(closed[0]) if closed else end
    for low, high in ((wide_start, wide_end), (wide_start, end), (start, wide_end)):
        if (low, high) != (start, end) and normalise(abstract[low:high]).text == haystack.text[position:stop]:
            return Span(low, high)
    return Span(start, end)


def _stands_alone(haystack: Normalised, abstract: str, position: int, form: str) -> bool:
    """Say whether a match begins and ends where nothing that decides its meaning is cut off."""
    inner = len(form) - len(form.lstrip(_LEADING))
    first = position + inner
    last = position + len(form.rstrip(_TRAILING)) - 1
    if last < first:
        return False
    return _begins_well(haystack, abstract, first) and _ends_well(haystack, abstract, last)


def _word_character(character: str) -> bool:
    return (character.isalnum() or character == "_") and not _UNSPACED.match(character)


def _begins_well(haystack: Normalised, abstract: str, first: int) -> bool:
    text = haystack.text
    before = next((index for index in range(first - 1, -1, -1) if text[index].isalnum()), None)
    if before is None:
        return not (first and text[first - 1] in _BEFORE_QUOTE)
    between = text[before + 1 : first]
    raw = abstract[haystack.ends[before] : haystack.starts[first]]
    if text[before] in NEGATING_IDEOGRAPHS and not between:
        return False
    strong = bool(_STRONG_DASH.search(raw)) and not text[first].isdigit()
    if between in ("", "-"):
        unspaced = bool(_UNSPACED.match(text[first]) or _UNSPACED.match(text[before]))
        return strong or (between == "" and unspaced)
    if between[-1] in _BEFORE_QUOTE and not strong:
        new_sentence = between[-1] == "." and text[first].isupper() and text[before].islower()
        if not new_sentence:
            return False
    if between.strip():
        return True
    previous = text[: before + 1].rsplit(" ", 1)[-1].lower().strip('"([{')
    following = text[first:].split(" ", 1)[0].lower().strip(_TRAILING)
    if previous in NEGATORS or previous in LIMITERS or previous.endswith("n't"):
        return False
    starts_with_number = following[:1].isdigit() or following in NUMBER_WORDS
    if starts_with_number and previous in BOUNDS:
        return False
    return not (following in SCALES and (previous[-1:].isdigit() or previous in NUMBER_WORDS))


def _ends_well(haystack: Normalised, abstract: str, last: int) -> bool:
    text = haystack.text
    after = next((index for index in range(last + 1, len(text)) if text[index].isalnum()), None)
    between = text[last + 1 : after] if after is not None else text[last + 1 :]
    if after is None:
        return not (between and between[0] in "%°′^_+‰")
    raw = abstract[haystack.ends[last] : haystack.starts[after]]
    strong = bool(_STRONG_DASH.search(raw)) and not text[last].isdigit()
    if between in ("", "-"):
        joined = _word_character(text[last]) and _word_character(text[after])
        return strong or (between == "" and not joined)
    if between[0] in _AFTER_QUOTE and not strong:
        return False
    if between in (".", ","):  # "1.5", "1,649", "example.com"; a missing space after a full stop is none
        return not (text[after].isdigit() and text[last].isdigit()) and not (
            between == "." and text[after].islower()
        )
    ending = text[: last + 1].rsplit(" ", 1)[-1].lower()
    if not between.isspace():
        return True
    if text[last].isdigit() or ending in NUMBER_WORDS:
        return False  # the unit, or what is counted, is cut off
    following = [word.lower() for word in _CLAUSE.split(text[after:], 1)[0].split()[:3]]
    reversed_soon = any(word in NEGATORS or word.endswith("n't") for word in following)
    return not (reversed_soon or following[0] in CONDITIONS)
