"""The name of what an abstract brings: its method, model, benchmark or system."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag.label_text import EMPHASISED, SENTENCE, TOKEN, cut, unwrapped
from rag.label_words import ACHIEVES, AGENT, COMMON, KIND, PREPOSITION, STOP

# Verbs that bring something new, after which its name is looked for.
NEW = re.compile(
    r"(?:propos|introduc|present|formali[sz]|develop|devis|describ|design|releas|creat|construct|formulat|suggest|explor|"
    r"publish|contribut)(?:es?|ing|ed|s)?|builds?|built|yields?|offers?|termed?|names?|named|dub(?:bed)?|calls?|called|"
    r"coined?|denoted?|abbreviated",
    re.IGNORECASE,
)
NAMING = re.compile(r"termed|named?|names|dub(?:bed)?|calls?|called|coined?|denoted|abbreviated|term", re.IGNORECASE)
# What is released or built is more often the data than the method.
_DATA = re.compile(r"(?:releas|publish|construct|creat|contribut)(?:es?|ing|ed|s)?|builds?|built", re.IGNORECASE)


# Every coined name has a capital inside, or a capital and a digit or sign: a quick look before the tokens.
_CAPITALS = re.compile(r"[^\s(]\w{0,40}[A-Z]|[A-Z][^\s]{0,40}[\d+℃°]")


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A name and how strong the evidence is that the abstract brings it."""

    name: str
    score: float


def method_name(abstract: str) -> str | None:
    """Return the name of what an abstract brings, or None.

    Evidence, strongest first: a name, or a phrase with its short form, right after a verb such as
    "propose" or "introduce"; a name in apposition ("X, a framework ..."); a name that opens sentences
    and "outperforms". A name used before it is introduced is someone else's; one used often afterwards
    is the paper's own.
    """
    text = " ".join(unwrapped(abstract).split())
    sentences = SENTENCE.split(text)
    scores: dict[str, float] = defaultdict(float)
    before = ""
    for sentence in sentences:
        for candidate in _introduced(sentence):
            score = candidate.score
            if not uses_of(before, candidate.name):
                scores[candidate.name] = max(scores[candidate.name], score)
        before += " " + sentence
    for name in list(scores):
        scores[name] += 0.75 * min(uses_of(text, name) - 1, 4)
    best = max(scores.items(), key=lambda item: item[1], default=None)
    if best is not None and best[1] >= 1.5:
        return best[0]
    return _emphasised_name(abstract) or _capital_phrase(sentences)


def uses_of(text: str, name: str) -> int:
    """Return how often a name stands in a text, alone or at the head of a compound ("QOP-based")."""
    uses = start = 0
    while (start := text.find(name, start)) >= 0:
        end = start + len(name)
        before = text[start - 1] if start else " "
        after = text[end] if end < len(text) else " "
        uses += not (before.isalnum() or before in "_-" or after.isalnum() or after == "_")
        start = end
    return uses


def _introduced(sentence: str) -> Iterator[_Candidate]:
    if not _CAPITALS.search(sentence):
        return
    tokens = TOKEN.findall(sentence)
    if not any(map(is_name, tokens)):
        return
    for place, token in enumerate(tokens):
        if NEW.fullmatch(token):
            naming = NAMING.fullmatch(token) is not None
            agent = naming or any(word.lower() in AGENT for word in tokens[max(0, place - 4) : place])
            weight = 2.0 if _DATA.fullmatch(token) else 3.0
            yield from _after_verb(tokens, place + 1, weight if agent else 1.5, naming=naming)
        if is_name(token):
            yield from _apposition(tokens, place)
    if tokens and is_name(tokens[0]) and len(tokens) > 1 and tokens[1] in ACHIEVES:
        yield _Candidate(tokens[0], 0.5)


def _after_verb(tokens: Sequence[str], start: int, weight: float, *, naming: bool) -> Iterator[_Candidate]:
    """Look behind a verb: a name before the first preposition, or a phrase with its short form."""
    free = True
    for place in range(start, min(start + 28, len(tokens))):
        token = tokens[place]
        if token in ".;!?" or (naming and place > start + 4):
            return
        opens = place > start and tokens[place - 1] == "("
        if opens and is_name(token) and place + 1 < len(tokens) and tokens[place + 1] in "),":
            begin = phrase_start(tokens, place - 1, token)
            if begin is not None:
                introduced = not any(word.lower() in PREPOSITION for word in tokens[start:begin])
                introduced = introduced or tokens[begin - 1] in (",", "and")
                yield _Candidate(token, weight + (1.0 if introduced else -1.5))
            else:
                yield _Candidate(token, weight + (0.5 if free or place - start <= 8 else -1.0))
        elif is_name(token) and not opens:
            following = tokens[place + 1] if place + 1 < len(tokens) else "."
            direct = free and following in (
                ",",
                ".",
                "(",
                ":",
                "–",
                "which",
                "a",
                "an",
                "for",
                "to",
                "as",
                "that",
                ";",
                "and",
                "with",
            )
            if direct:
                yield _Candidate(token, weight + 0.5)
            elif free and following.lower() in KIND:
                yield _Candidate(token, weight - 0.5)
            elif tokens[place - 1] in (
                ",",
                ":",
                "–",
                "named",
                "called",
                "dubbed",
                "termed",
            ) and following in (",", ".", ")", "that", "which", "–"):
                yield _Candidate(token, weight - 0.25)
        if token.lower() in PREPOSITION:
            free = False


def phrase_start(tokens: Sequence[str], bracket: int, short: str) -> int | None:
    """Return where the phrase begins whose initials spell the short form in the bracket, or None."""
    wanted = [character.lower() for character in short if character.isalnum()]
    place = bracket
    words = 0
    while place > 0 and wanted and words < 12:
        place -= 1
        if tokens[place] in ".;()":
            return None
        words += 1
        pieces = re.split(r"[-–/]", tokens[place].lower())
        for piece in reversed(pieces):
            if wanted and piece:
                taken = _consumed(piece, wanted)
                if taken:
                    del wanted[len(wanted) - taken :]
    return place if not wanted else None


def _consumed(word: str, wanted: Sequence[str]) -> int:
    """Return how many last letters of the short form a word gives: as its beginning, longest first."""
    for length in range(min(len(word), len(wanted)), 0, -1):
        tail = "".join(wanted[-length:])
        if word.startswith(tail):
            return length
    # Inner letters in order ("TReFT": "Token-Regularized Finetuning" gives F and T).
    if wanted and len(word) > 3:
        for length in range(min(3, len(wanted)), 1, -1):
            letters = wanted[-length:]
            position = 0
            for letter in letters:
                position = word.find(letter, position) + 1
                if position == 0:
                    break
            else:
                if word[0] == letters[0]:
                    return length
    return 0


def _apposition(tokens: Sequence[str], place: int) -> Iterator[_Candidate]:
    """A name followed by what it is: "X, a unified framework", "X is a benchmark", "our method, X,"."""
    name = tokens[place]
    after = [token.lower() for token in tokens[place + 1 : place + 10]]
    before = [token.lower() for token in tokens[max(0, place - 6) : place]]
    if len(after) > 2 and after[0] in (",", "–", "is", "(") and after[1] in ("a", "an", "our", "the", "which"):
        kinds = [word for word in after[2:] if word in KIND]
        until = next((spot for spot, word in enumerate(after[2:]) if word in (".", ",", ";")), 9)
        if kinds and after[2:].index(kinds[0]) < until:
            yield _Candidate(name, 2.0 if after[1] != "the" else 1.0)
        elif after[1] == "which":
            yield _Candidate(name, 2.0 if before and before[-1] in ("with", "by", "via") else 1.0)
    known = ("popular", "widely", "common", "standard", "recent", "well-known", "classical")
    if before[-1:] == ["("] and after[:2] == [")", ","] and after[2:3] in (["a"], ["an"]) and after[3:4]:
        yield _Candidate(name, 0.0 if after[3] in known else 1.75)
    if before and before[-1] in (",", "–", *KIND) and ("our" in before or "proposed" in before or "new" in before):
        yield _Candidate(name, 1.75)


def _emphasised_name(abstract: str) -> str | None:
    """A phrase set off by emphasis right after a verb that brings something new, or named by one."""
    for found in EMPHASISED.finditer(abstract):
        phrase = next(group for group in found.groups() if group)
        before = re.findall(r"[A-Za-z]+", abstract[max(0, found.start() - 60) : found.start()])[-5:]
        if any(NEW.fullmatch(word) for word in before) and 1 <= len(phrase.split()) <= 5:
            clean = " ".join(unwrapped(phrase).split())
            if clean and not _is_common_word(clean):
                return cut(clean)
    return None


def _is_common_word(phrase: str) -> bool:
    return len(phrase.split()) == 1 and (phrase.lower() in STOP or phrase.islower())


def _capital_phrase(sentences: Sequence[str]) -> str | None:
    """A phrase of capitalised words that is brought: "the Lanczos Gaussian sampler", "Two-Stage Net"."""
    for sentence in sentences:
        found = re.search(
            r"\b(?:[Pp]ropose|[Ii]ntroduce|[Pp]resent|[Dd]evelop|[Dd]escribe|[Rr]elease)s?\s+(?:the|a|an)?\s*"
            r"(?:(?:new|novel|simple|first|so-called)\s+)*"
            r"(?P<phrase>[A-Z][\w-]+(?:\s+(?:[A-Z][\w-]+|of|for|as|with|and|sampler|method|algorithm|hypothesis|model|network))+)",
            sentence,
        )
        if found:
            words = found["phrase"].split()
            while words and words[-1] in ("of", "for", "as", "with", "and"):
                words.pop()
            if 2 <= len(words) <= 6 and sum(word[0].isupper() for word in words) >= 2:
                return cut(" ".join(words))
    return None


@lru_cache(maxsize=1 << 16)  # the same words come again in every abstract
def is_name(token: str) -> bool:
    """Whether a word is written like a coined name: capitals inside, or capitals with digits or hyphens.

    "UpSafe℃", "TG-ITE", "CERTRA", "cIPO" are; "Bayesian", "Pre-training" and "LLMs" are not.
    """
    if token.islower() or not 2 <= len(token) <= 30 or token in COMMON or token.rstrip("s") in COMMON:
        return False
    letters = [character for character in token if character.isalpha()]
    if len(letters) < 2:
        return False
    if not any(character.isupper() for character in letters) or (len(token) == 2 and token.isupper()):
        return False  # two capitals name a field ("RL", "FL") far more often than a method
    parts = re.split(r"[-–/]", token)
    if len(parts) > 1:
        # "Ultra-DPO", "TG-ITE", "LoRA-GT" but not "Quantization-aware", "Monte-Carlo" or "BO-based".
        return all(_coined(part) or part[:1].isupper() or part.isdigit() for part in parts) and any(
            _coined(part) for part in parts
        )
    return _coined(token)


def _coined(word: str) -> bool:
    if any(character.isupper() for character in word[1:]):
        return True
    return bool(re.search(r"\d|[+℃°]", word)) and any(character.isupper() for character in word)
