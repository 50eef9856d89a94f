"""The subject of an abstract in a few words, for a paper whose method has no name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rag.label_names import NAMING, NEW, phrase_start, uses_of
from rag.label_text import EMPHASISED, TOKEN, cut, unwrapped
from rag.label_words import GENERIC, GENERIC_NAMES, HEADS, KIND, PREPOSITION, STOP, VAGUE

_OWN_SENTENCE = re.compile(r"[^.]{0,600}\b(?:[Ww]e|[Tt]his (?:paper|work)|[Oo]ur)\b[^.]*")
_STUDY = re.compile(
    r"\bwe\s+(?:\w+ly\s+)?(?:study|investigate|analy[sz]e|consider|examine|explore|characteri[sz]e|revisit|address|"
    r"focus\s+on|tackle|report)\s+(?:the\s+(?:problem|task|question|issue)\s+of\s+)?",
    re.IGNORECASE,
)

# "We call this failure the alignment illusion", "which we term token drift".
_NAMED = re.compile(
    r"\b(?:[Ww]e|which we|what we)\s+(?:name|call|term|dub)\s+"
    r"(?:(?:this|it|these|the)\s+(?:\w+\s+)?)?(?:as\s+)?(?:the\s+)?"
    r"(?P<phrase>[\w-]+(?:\s[\w-]+){1,2})(?=\s+and\s|[,.:;(]|\s–)"
)
# "value entanglement: a conflation between ...".
_DEFINED = re.compile(r"\b(?P<phrase>[a-z][\w-]+ [a-z][\w-]+)(?:: an? | – an? )")
_HAN = re.compile(r"[\u3400-\u9fff]")


@dataclass(slots=True)
class _Phrase:
    """A phrase as it was first spelled, how often it was used, and where its runs begin."""

    text: str
    uses: int = 0
    places: list[int] = field(default_factory=list)


def subject(abstract: str) -> str | None:
    """Return the subject of an abstract in a few words, or None.

    In this order: what is proposed, by its kind ("repair method for tree ensembles"); a concept the
    abstract emphasises or defines; its most used phrase, early ones first, where uses of a short form
    count; its first phrase.
    """
    text = " ".join(unwrapped(abstract).split())
    if _HAN.search(text) and not re.search(r"(?:[A-Za-z]{3,} ){3}", text):
        return re.split(r"[,。,;:]", text)[0][:16] or None
    found = _proposed_kind(text) or _concept(abstract, text) or _frequent_phrase(text) or _first_phrase(text)
    if not found:
        return None
    return cut(found[:1].upper() + found[1:] if found.split()[0].islower() else found)


def _proposed_kind(text: str) -> str | None:
    """Return the noun phrase after a verb that brings something new, when it says more than its kind."""
    tokens = TOKEN.findall(text)
    for place, token in enumerate(tokens):
        if not NEW.fullmatch(token) or NAMING.fullmatch(token):
            continue
        if not any(word.lower() in ("we", "paper", "work", "i") for word in tokens[max(0, place - 4) : place]):
            continue
        if place + 1 >= len(tokens) or tokens[place + 1].lower() not in (
            "a",
            "an",
            "the",
            "two",
            "three",
            "our",
            "novel",
            "new",
        ):
            continue
        phrase = _noun_phrase(tokens, place + 2)
        if phrase and _is_used(phrase, tokens):
            return phrase
    return None


def _is_used(phrase: str, tokens: Sequence[str]) -> bool:
    """Whether every telling word of a phrase comes at least twice: what is said once is not the subject."""
    pieces = Counter(_stem(piece) for token in tokens for piece in token.split("-"))
    telling = (piece for word in phrase.split() if word.lower() not in KIND for piece in word.split("-"))
    return all(pieces[_stem(piece)] >= 2 for piece in telling if len(piece) > 3)


def _noun_phrase(tokens: Sequence[str], start: int) -> str | None:
    """Read modifiers, a kind and perhaps what it is for: at most seven words, at least two that tell."""
    words: list[str] = []
    kind = False
    for place in range(start, min(start + 9, len(tokens))):
        lower = tokens[place].lower()
        if lower in KIND and words and (place + 1 == len(tokens) or tokens[place + 1].lower() not in KIND):
            words.append(tokens[place])
            kind = True
            break
        if lower in VAGUE or lower == ",":
            continue
        if not tokens[place][0].isalpha() or lower in PREPOSITION:
            break
        words.append(tokens[place])
    else:
        return None
    telling = [word for word in words if word.lower() not in KIND]
    end = start
    while end < len(tokens) and tokens[end] != (words[-1] if words else None):
        end += 1
    if kind and end + 1 < len(tokens) and tokens[end + 1].lower() in ("for", "of"):
        run = []
        for token in tokens[end + 2 : end + 6]:
            if not token[0].isalpha() or token.lower() in PREPOSITION:
                break
            if token.lower() not in ("the", "a", "an"):
                run.append(token)
        if run and any(word.lower() not in STOP for word in run) and len(words) + len(run) <= 6:
            words = [*words, tokens[end + 1], *run]
            telling += [word for word in run if word.lower() not in STOP]
    return " ".join(words) if kind and len(telling) >= 2 and len(words) <= 7 else None


def _concept(abstract: str, text: str) -> str | None:
    """Return a concept set off by emphasis, by a naming verb, or by a definition ("X: a conflation ...")."""
    for found in EMPHASISED.finditer(abstract):
        phrase = " ".join(unwrapped(next(group for group in found.groups() if group)).split())
        words = phrase.split()
        if 2 <= len(words) <= 4 and all(word[0].isalnum() for word in words) and not words[-1].endswith("ly"):
            return phrase
    named = _NAMED.search(text) or _DEFINED.search(text)
    if named:
        words = named["phrase"].split()
        if all(word.lower() not in STOP for word in words):
            return named["phrase"]
    return None


def _frequent_phrase(text: str) -> str | None:
    """Return the phrase used most; weights chosen on 722 abstracts by how often its words are in the title.

    Being used in the first sentence about the paper itself ("we", "our") counts as two further uses; a
    phrase loses weight the later it first comes.
    """
    phrases = _counted_phrases(text)
    own = _OWN_SENTENCE.search(text)
    begin, end = own.span() if own else (0, 0)

    def score(key: str) -> float:
        phrase = phrases[key]
        uses = phrase.uses + (2 if any(begin <= place < end for place in phrase.places) else 0)
        return uses * (1.0 + 0.2 * (len(key.split()) - 2)) * (1.0 - min(phrase.places[0], 2000) / 2500)

    telling = [
        key
        for key, phrase in phrases.items()
        if phrase.uses >= (2 if " " in key else 4)
        and key not in HEADS
        and key not in GENERIC
        and phrase.text.lower() not in GENERIC
    ]
    best = max(telling, key=lambda key: (score(key), -phrases[key].places[0]), default=None)
    return phrases[best].text if best else None


def _counted_phrases(text: str) -> dict[str, _Phrase]:
    """Return the phrases of one to four content words by their stems, uses of short forms counted in."""
    short_forms = _short_forms(text)
    phrases: dict[str, _Phrase] = {}

    def add(words: Sequence[str], place: int, uses: int) -> None:
        phrase = phrases.setdefault(" ".join(map(_stem, words)), _Phrase(" ".join(words)))
        phrase.uses += uses
        phrase.places.append(place)

    for run, at in _runs(text):
        for length in (4, 3, 2, 1):
            for begin in range(len(run) - length + 1):
                words = run[begin : begin + length]
                if length > 1 or words[0] in short_forms or _is_proper(words[0], at):
                    add(words, at, 1)
    for short, phrase in short_forms.items():
        uses = uses_of(text, short) + uses_of(text, short + "s")
        place = text.find(phrase)
        # A short form defined in the first words names what the abstract is about.
        opening = 0 <= place < 40
        if uses > (1 if opening else 2):
            add(phrase.split(), place, uses + 3 if opening else uses - 1)
        phrases.pop(_stem(short), None)
    return phrases


def _is_proper(word: str, at: int) -> bool:
    """A capitalised word inside a sentence, or a short form: alone it can be a subject ("Muon", "RLVR")."""
    return at > 0 and word[:1].isupper() and word not in GENERIC_NAMES and not word.islower()


def _short_forms(text: str) -> dict[str, str]:
    """Return the short forms an abstract defines, each with its phrase; generic ones left out."""
    found: dict[str, str] = {}
    tokens = TOKEN.findall(text)
    for place in range(1, len(tokens) - 2):
        short = tokens[place + 1]
        if tokens[place] == "(" and tokens[place + 2] in "),;" and short not in GENERIC_NAMES:
            bare = short[:-1] if short.endswith("s") and short[:-1].isupper() else short
            begin = phrase_start(tokens, place, bare) if sum(c.isupper() for c in bare) >= 2 else None
            if begin is not None and 2 <= place - begin <= 5:
                words = tokens[begin:place]
                if words[0].lower() not in ("and", "or", "the", "a", "of"):
                    found[bare] = " ".join(words)
    return found


def _first_phrase(text: str) -> str | None:
    study = _STUDY.search(text)
    for start in [study.end(), 0] if study else [0]:
        for run, _ in _runs(text[start : start + 300]):
            if len(run) >= 2:
                return " ".join(run[:4])
    return None


def _runs(text: str) -> Iterator[tuple[list[str], int]]:
    """Yield maximal runs of content words with the offset of their beginning."""
    run: list[str] = []
    begin = 0
    for found in TOKEN.finditer(text):
        word = found[0]
        lower = word.lower()
        content = len(word) > 1 and word[0].isalpha() and lower not in STOP and not lower.endswith("ly")
        # A general noun ends a phrase and does not begin one: "federated learning", "generative model".
        content = content or bool(run and lower in HEADS)
        # A gerund begins a phrase only when it is a compound: "fine-tuning" but not "producing".
        content = content and (bool(run) or not lower.endswith("ing") or "-" in lower)
        if content:
            if not run:
                begin = found.start()
            run.append(word)
        elif run:
            yield run, begin
            run = []
    if run:
        yield run, begin


def _stem(word: str) -> str:
    """Plural and case do not make another phrase."""
    lower = word.lower()
    if lower.endswith("ies") and len(lower) > 4:
        return lower[:-3] + "y"
    return lower[:-1] if lower.endswith("s") and not lower.endswith("ss") and len(lower) > 3 else lower
