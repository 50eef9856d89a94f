"""Edits of real sentences: kinds that change what a sentence says, and kinds that only change how it looks.

Every function takes a sentence and a seeded generator and returns edited sentences, each different from the
original; they know nothing of the code that has to notice them.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

Edit = Callable[[str, Sequence[str], random.Random], Iterator[str]]
"""(sentence, all sentences of its abstract, generator) -> edited sentences."""

_NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:(?:,|\{,\})\d{3})*(?:\.\d+)?(?![\w])")
_NAME = re.compile(r"\b(?=\w*[A-Z]\w*[A-Z])[A-Za-z][A-Za-z0-9]{2,}\b|\b[A-Z][a-z]+[A-Z0-9]\w*\b")


def _replace(sentence: str, found: re.Match[str], words: str) -> str:
    return sentence[: found.start()] + words + sentence[found.end() :]


def number(sentence: str, _: Sequence[str], rng: random.Random) -> Iterator[str]:
    """Change a digit, the decimal point, the sign or the order of magnitude of a number."""
    for found in _NUMBER.finditer(sentence):
        old = found[0]
        digits = [index for index, character in enumerate(old) if character.isdigit()]
        place = rng.choice(digits)
        yield _replace(
            sentence, found, old[:place] + str((int(old[place]) + rng.randint(1, 9)) % 10) + old[place + 1 :]
        )
        yield _replace(sentence, found, old + "0" if "." not in old else old.replace(".", "", 1))
        if sentence[: found.start()][-1:] not in tuple("-–—"):  # "CIFAR--10" would be no other number
            yield _replace(sentence, found, old[1:] if old[0] in "-−" else "-" + old)
        if len(digits) > 1:
            yield _replace(sentence, found, old[: digits[-1]].rstrip(".,"))
            if "." not in old and "," not in old:
                yield _replace(sentence, found, old[: digits[1]] + "." + old[digits[1] :])


_UNITS = (
    "%",
    "percent",
    "GB",
    "MB",
    "ms",
    "s",
    "seconds",
    "minutes",
    "hours",
    "days",
    "points",
    "times",
    "x",
    "dB",
    "K",
    "M",
    "B",
    "million",
    "billion",
    "tokens",
    "parameters",
    "mg",
    "kg",
    "mm",
    "cm",
    "Hz",
    "FPS",
    "GPUs",
    "layers",
)
_UNIT = re.compile(r"(?<=\d)(\\?\s?(?:\\?%|\$?\\times\$?|[-\s]?(?:" + "|".join(_UNITS[1:]) + r")\b))")


def unit(sentence: str, _: Sequence[str], rng: random.Random) -> Iterator[str]:
    """Drop the unit of a number, or give it another."""
    for found in _UNIT.finditer(sentence):
        yield _replace(sentence, found, "")
        other = rng.choice([name for name in _UNITS if name.lower() not in found[0].lower()])
        yield _replace(sentence, found, "%" if other == "%" else " " + other)


def name(sentence: str, abstract: Sequence[str], rng: random.Random) -> Iterator[str]:
    """Change one letter of a name or acronym, or put another name of the abstract in its place."""
    others = sorted({found[0] for part in abstract for found in _NAME.finditer(part)})
    for found in _NAME.finditer(sentence):
        old = found[0]
        place = rng.randrange(len(old))
        letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if old[place].isupper() else "abcdefghijklmnopqrstuvwxyz"
        yield _replace(
            sentence, found, old[:place] + rng.choice(letters.replace(old[place], "")) + old[place + 1 :]
        )
        yield _replace(sentence, found, old[:place] + old[place + 1 :])
        rest = [other for other in others if other != old]
        if rest:
            yield _replace(sentence, found, rng.choice(rest))


_OPPOSITES = [
    ("lower", "higher"),
    ("low", "high"),
    ("better", "worse"),
    ("best", "worst"),
    ("more", "less"),
    ("faster", "slower"),
    ("larger", "smaller"),
    ("large", "small"),
    ("increases", "decreases"),
    ("increase", "decrease"),
    ("increasing", "decreasing"),
    ("increased", "decreased"),
    ("improves", "degrades"),
    ("improve", "degrade"),
    ("improving", "degrading"),
    ("outperforms", "underperforms"),
    ("outperform", "underperform"),
    ("outperforming", "underperforming"),
    ("above", "below"),
    ("greater", "smaller"),
    ("stronger", "weaker"),
    ("superior", "inferior"),
    ("reduces", "increases"),
    ("reduce", "increase"),
    ("reducing", "increasing"),
    ("gain", "loss"),
    ("gains", "losses"),
    ("before", "after"),
    ("easier", "harder"),
    ("shorter", "longer"),
    ("<", ">"),
    (r"\le", r"\ge"),
    (r"\leq", r"\geq"),
    ("≤", "≥"),
    ("least", "most"),
    ("minimum", "maximum"),
    ("exceeds", "trails"),
    ("simple", "complex"),
    ("strong", "weak"),
    ("early", "late"),
    ("fewer", "more"),
]
_FLIPS = {**dict(_OPPOSITES), **{right: left for left, right in reversed(_OPPOSITES)}}


def _flip(sentence: str, table: dict[str, str]) -> Iterator[str]:
    for found in re.finditer(r"\\?[A-Za-z]+|[<>≤≥]", sentence):
        new = table.get(found[0].lower())
        if new:
            yield _replace(sentence, found, new.capitalize() if found[0][0].isupper() else new)


def comparison(sentence: str, _: Sequence[str], __: random.Random) -> Iterator[str]:
    """Turn one comparison or direction round."""
    yield from _flip(sentence, _FLIPS)


_DROPS = re.compile(
    r"\b(?:(?:do|does|did) not|not|never|no|No|cannot|can't|without|Without)\b ?"
    r"|(?<=\w)n't\b|\b[Nn]on-?(?=[a-z])"
)
_AUXILIARY = re.compile(r"\b(is|are|was|were|can|could|will|would|may|should|does|do|has|have)\b(?! not)")
_WITH = re.compile(r"\b[Ww]ith\b")


def negation(sentence: str, _: Sequence[str], __: random.Random) -> Iterator[str]:
    """Drop or add a negation."""
    for found in _DROPS.finditer(sentence):
        new = {"cannot": "can ", "can't": "can ", "without": "with ", "Without": "With "}.get(
            found[0].strip(), ""
        )
        yield _replace(sentence, found, new)
    for found in _AUXILIARY.finditer(sentence):
        yield _replace(sentence, found, "cannot" if found[0] == "can" else found[0] + " not")
        if found[0] not in ("may", "can"):
            yield _replace(sentence, found, found[0] + "n't")
        yield _replace(sentence, found, found[0] + " never")
    for found in _WITH.finditer(sentence):
        yield _replace(sentence, found, found[0] + "out")
    found_we = re.search(r"\b([Ww]e) (?=[a-z]+\b(?<!are)(?<!have))", sentence)
    if found_we:
        yield _replace(sentence, found_we, found_we[1] + " do not ")


_QUANTIFIERS = {
    "all": "some",
    "some": "all",
    "every": "some",
    "each": "some",
    "most": "few",
    "many": "few",
    "several": "all",
    "few": "many",
    "always": "sometimes",
    "often": "rarely",
    "usually": "never",
    "only": "also",
    "any": "no",
    "both": "neither",
    "multiple": "no",
    "various": "no",
    "significantly": "slightly",
    "consistently": "rarely",
    "must": "may",
    "may": "must",
    "can": "must",
}


def quantifier(sentence: str, _: Sequence[str], __: random.Random) -> Iterator[str]:
    """Change a quantifier or the strength of a statement."""
    yield from _flip(sentence, _QUANTIFIERS)


def swapped(sentence: str, _: Sequence[str], rng: random.Random) -> Iterator[str]:
    """Exchange two words."""
    words = sentence.split(" ")
    for _attempt in range(2):
        if len(words) < 6:
            return
        first, second = sorted(rng.sample(range(len(words)), 2))
        if words[first].strip(".,").lower() != words[second].strip(".,").lower():
            edited = list(words)
            edited[first], edited[second] = words[second], words[first]
            yield " ".join(edited)


def dropped(sentence: str, _: Sequence[str], rng: random.Random) -> Iterator[str]:
    """Leave out one to four words in the middle."""
    words = sentence.split(" ")
    for length in (1, rng.randint(2, 4)):
        if len(words) > length + 4:
            first = rng.randint(2, len(words) - length - 2)
            if words[first] and words[first - 1] != words[first + length - 1]:
                yield " ".join(words[:first] + words[first + length :])


def joined(sentence: str, abstract: Sequence[str], rng: random.Random) -> Iterator[str]:
    """Join the beginning of the sentence to the end of another."""
    others = [part for part in abstract if part != sentence and len(part.split()) > 8]
    words = sentence.split(" ")
    if others and len(words) > 8:
        other = rng.choice(others).split(" ")
        yield " ".join(words[: len(words) // 2] + other[len(other) // 2 :])
        yield " ".join(words).rstrip(".") + ", and " + " ".join(other)


MEANING: dict[str, Edit] = {
    "number": number,
    "unit": unit,
    "name": name,
    "comparison": comparison,
    "negation": negation,
    "quantifier": quantifier,
    "swapped": swapped,
    "dropped": dropped,
    "joined": joined,
}
"""Kinds of edit that change what a sentence says."""


# --- edits that change nothing ------------------------------------------------------------------------

_LATEX = [
    (re.compile(r"\\%"), "%"),
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\\times\b ?"), "×"),
    (re.compile(r"\\leq?\b ?"), "≤"),
    (re.compile(r"\\geq?\b ?"), "≥"),
    (re.compile(r"\\alpha\b"), "α"),
    (re.compile(r"\\Omega\b"), "Ω"),
    (re.compile(r"\\Delta\b"), "Δ"),
    (re.compile(r"\\(?:emph|textbf|textit|texttt|mathrm|mathbf|mathcal|mathbb|text)\{([^{}]*)\}"), r"\1"),
]


def _without_latex(sentence: str) -> str:
    for pattern, plain in _LATEX:
        sentence = pattern.sub(plain, sentence)
    return re.sub(r"\$(\S(?:[^$\\]*\S)?)\$(?!\d)", r"\1", sentence)


def _broken(sentence: str, rng: random.Random) -> str:
    long = [found for found in re.finditer(r"(?<![\w\\-])[a-z]{8,}(?![\w-])", sentence)]
    if not long:
        return sentence
    found = rng.choice(long)
    place = found.start() + rng.randint(3, len(found[0]) - 3)
    return sentence[:place] + rng.choice(("-\n", "\u00ad", "\u200b", "-\n  ")) + sentence[place:]


def typography(sentence: str, rng: random.Random) -> Iterator[str]:
    """Yield the sentence as it is, and with other dashes, quotes, spaces, ligatures, breaks and LaTeX."""
    yield sentence
    yield re.sub(r"---|—", lambda _: rng.choice(("—", "---", "--", "–")), sentence)
    yield re.sub(r"(?<=\w)-(?=\w)", lambda _: rng.choice(("‐", "‑", "–", "-")), sentence)
    yield re.sub(r"(?<=\w)'(?=\w)|(?<=\w)’(?=\w)", lambda _: rng.choice("'’"), sentence)
    yield re.sub(r"[“”]|``|''", '"', sentence).replace('"', rng.choice('"“”'))
    yield re.sub(r" ", lambda _: rng.choice((" ", " ", "  ", "\n", "\u00a0", "\t", "\u2009")), sentence)
    yield _without_latex(sentence)
    first = sentence.split(" ")[0]
    yield sentence[:1].lower() + sentence[1:] if first[1:].islower() else sentence
    yield f"“{sentence.rstrip('.')}”"
    yield sentence.replace("fi", "ﬁ").replace("fl", "ﬂ").replace("°C", "℃")
    yield unicodedata.normalize("NFD", sentence)
    yield _broken(sentence, rng)


_OPENINGS = re.compile(
    r"^(?:In this (?:paper|work),|In particular,|Specifically,|Moreover,|Furthermore,|However,|Finally,"
    r"|Additionally,|To this end,|Here,|Thus,|Therefore,|Experimentally,|Empirically,)\s*"
)
_ALIKE = {
    "propose": "introduce",
    "introduce": "present",
    "show": "demonstrate",
    "demonstrate": "show",
    "use": "employ",
    "improves": "enhances",
    "improve": "enhance",
    "reduces": "decreases",
    "outperforms": "surpasses",
    "requires": "needs",
    "enables": "allows",
    "evaluate": "assess",
    "dataset": "data set",
    "obtain": "attain",
}


def shortened(sentence: str, _: Sequence[str], __: random.Random) -> Iterator[str]:
    """Leave out an opening phrase or what stands in parentheses."""
    for plain in (_OPENINGS.sub("", sentence), re.sub(r"\s*\([^()]*\)", "", sentence)):
        if plain != sentence:
            yield plain[:1].upper() + plain[1:]


def reported(sentence: str, _: Sequence[str], __: random.Random) -> Iterator[str]:
    """Speak of the authors instead of "we"."""
    if re.match(r"We [a-z]+(?<!s) ", sentence):
        yield "The authors " + sentence[3:]
    elif re.search(r"\b[Ww]e [a-z]", sentence) or "our " in sentence:
        yield re.sub(r"\bour\b", "their", re.sub(r"\b[Ww]e\b", "the authors", sentence))


def reworded(sentence: str, _: Sequence[str], __: random.Random) -> Iterator[str]:
    """Put words of the same meaning for some."""
    plain = re.sub(r"[A-Za-z]+", lambda found: _ALIKE.get(found[0], found[0]), sentence)
    if plain != sentence:
        yield plain


def exchanged(sentence: str, _: Sequence[str], __: random.Random) -> Iterator[str]:
    """Exchange the names on the two sides of a verb or "than"."""
    found = list(_NAME.finditer(sentence))
    for first, second in pairwise(found):
        between = sentence[first.end() : second.start()]
        if first[0] != second[0] and re.search(r"\b(?:than|outperforms?|improves?|into|from|to)\b", between):
            yield sentence[: first.start()] + second[0] + between + first[0] + sentence[second.end() :]


MEANING["exchanged"] = exchanged

HARMLESS: dict[str, Edit] = {"shortened": shortened, "reported": reported, "reworded": reworded}
"""Kinds of edit after which a sentence still says nothing that the original does not."""
