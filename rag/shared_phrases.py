"""Finds the noun phrase that all abstracts of a comparison have: what two papers have in common, in their words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from rag.label_words import ACHIEVES, COMMON, GENERIC, HEADS, KIND, PREPOSITION, STOP, VAGUE
from rag.types import Evidence
from rag.words import plain_stem

LONGEST = 3
"""Words of a phrase."""

_WORD = re.compile(r"[^\W\d_]+(?:[-'][^\W_]+)*")
_NOUN_GERUNDS = frozenset(
    {
        *("learning", "training", "sampling", "steering", "tuning", "finetuning", "pruning", "rounding", "decoding"),
        *("encoding", "scheduling", "clustering", "planning", "reasoning", "editing", "embedding", "matching"),
        *("teaming", "modeling", "modelling", "processing", "forecasting", "prompting", "grounding", "rendering"),
        *("unlearning", "boosting", "bandit", "mining", "hashing", "parsing", "routing", "quantizing", "testing"),
        *("coding", "shaping", "ranking", "scaling", "smoothing", "computing", "imaging", "hacking", "poisoning"),
        *("mapping", "pretraining"),
    }
)
_NO_NOUN_END = re.compile(r"(?:ly|ed|ive|ous|ful|able|ible|less|ical|ional|ular|ent|ant|ary|ory|ish|wise)$")
_NOUN_ANYWAY = frozenset(
    {
        *("objective", "objectives", "alternative", "environment", "environments", "alignment", "agent", "agents"),
        *("gradient", "judgment", "treatment", "experiment", "measurement", "component", "variant", "constant"),
        *("invariant", "memory", "trajectory", "theory", "category", "factory", "boundary", "vocabulary"),
        *("dictionary", "adversary", "covariant", "need", "speed", "seed", "feed", "embed", "perspective"),
        *("derivative", "transient", "client", "patient", "student", "moment", "segment", "document", "argument"),
        *("statement", "improvement", "deployment", "entanglement", "content", "misalignment", "disagreement"),
        *("agreement", "assessment", "refinement", "movement", "coefficient", "exponent"),
    }
)
_NO_BEGINNING = frozenset(
    {
        *("improve", "preserve", "mitigate", "maintain", "restore", "remain", "remains", "align", "learn", "train"),
        *("avoid", "estimate", "optimize", "optimise", "minimize", "maximize", "predict", "sample", "match", "lead"),
        *("share", "build", "converge", "degrade", "enhance", "employ", "adapt", "extract", "construct", "achieve"),
        *("yield", "depend", "tend", "state", "extensive", "different", "significant", "key", "main", "crucial"),
        *("critical", "strong", "better", "best", "higher", "lower", "larger", "smaller", "faster", "further", "via"),
        *("per", "e.g", "i.e", "et", "al", "non", "well", "base", "proposed"),
    }
)
_TELLING_NOTHING = STOP | VAGUE | PREPOSITION | ACHIEVES | _NO_BEGINNING


def shared_phrase(
    papers: Sequence[Sequence[Evidence]], rarity: Callable[[str], float]
) -> tuple[str, tuple[Evidence, ...]] | None:
    """Return the rarest noun phrase that all papers have, as the first writes it, with a sentence of each that has it.

    `rarity` is a word's idf. None when the papers share no phrase that tells something. Only words next to each
    other count, and of none of them a synonym, so that nothing is claimed but that all say them.
    """
    if len(papers) < 2:
        return None
    found = [_phrases(sentences) for sentences in papers]
    common = set(found[0]).intersection(*found[1:])
    if not common:
        return None
    best = max(common, key=lambda phrase: (sum(rarity(word) for word in _words(found[0][phrase][0])), phrase))
    return found[0][best][0], tuple(phrases[best][1] for phrases in found)


def _words(text: str) -> list[str]:
    return [word.lower() for word in re.split(r"[\s-]+", text)]


def _phrases(sentences: Sequence[Evidence]) -> dict[tuple[str, ...], tuple[str, Evidence]]:
    phrases: dict[tuple[str, ...], tuple[str, Evidence]] = {}
    for item in sentences:
        for run in _runs(item.text):
            for first in range(len(run)):
                for end in range(first + 2, min(first + LONGEST, len(run)) + 1):
                    words = run[first:end]
                    if _is_noun_phrase(words):
                        phrases.setdefault(tuple(plain_stem(word.lower()) for word in words), (" ".join(words), item))
    return phrases


def _runs(text: str) -> Iterator[list[str]]:
    """Yield the words that stand next to each other with nothing but a space between them."""
    run: list[str] = []
    last = -1
    for word in _WORD.finditer(text):
        if text[last : word.start()] != " " and run:
            yield run
            run = []
        run.append(word[0])
        last = word.end()
    if run:
        yield run


def _is_noun_phrase(words: Sequence[str]) -> bool:
    lower = [word.lower() for word in words]
    if any(word in _TELLING_NOTHING and word not in HEADS for word in lower) or lower[0] in HEADS | KIND:
        return False
    if any(word.endswith("ly") or len(word) < 3 for word in lower) or " ".join(lower) in GENERIC:
        return False
    if any(_is_verb_form(word) for word in lower[:-1]) or all(word in COMMON for word in words):
        return False
    end = lower[-1]
    if end in HEADS | KIND and len(words) == 2 and lower[0] in {"language", "neural", "machine", "deep"}:
        return False
    return not (_NO_NOUN_END.search(end) and end not in _NOUN_ANYWAY and not end.endswith("ment")) and not (
        end.endswith("ing") and end not in _NOUN_GERUNDS and "-" not in end
    )


def _is_verb_form(word: str) -> bool:
    """Tell whether a word before a noun is rather a verb: "improves alignment", "preserving safety"."""
    if "-" in word:
        return False
    if word.endswith("ing"):
        return word not in _NOUN_GERUNDS
    return word.endswith("ed") or (word.endswith("s") and not word.endswith(("ss", "us", "is", "ics", "yes", "ias")))
