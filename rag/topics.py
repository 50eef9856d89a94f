"""Decides of every paper whether it is about a topic, from its words and vectors, and finds the sentence that says so.

A weighted sum of seven signals (`Signals`) gives a probability; above `LINE` a paper counts, between `BORDER` and
`LINE` it is borderline. An author's keyword that names the topic decides by itself. Nothing is cut off at a number of
papers: `reach` bounds from the index alone what a paper can come to, so that only those that could be borderline are
read, and none that could count is passed over.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.lexicon import KNOWN_ACRONYMS
from rag.rules_facts import expansions
from rag.telling import standing
from rag.types import Paper, Span
from rag.words import plain_stem

Tokenize = Callable[[Sequence[str]], Sequence[Sequence[str]]]
"""Stemmed content words of each text."""

WEIGHTS = (1.62, 1.18, 0.27, 1.03, 2.53, 3.5, 3.46)
BIAS = -8.6
LINE, BORDER = 0.25, 0.1
"""Logistic regression (C = 1) on 22 subjects named by authors' keywords among 5,000 conference papers whose keywords
were hidden; figures by `python -m eval.themes`. Lines set by looking at lists of twelve topics: of the papers above the
upper one that lack the keyword 54 of 78 were about the topic; between the lines fewer."""

LOOSE = 1.2
"""Added for a topic that is a combination of things: papers word it in many ways, so that no sentence does says
less. Set by looking at the lists of a few such topics, not measured."""

SMALL, THOUSAND = 0.3, 1_000
"""Added for each factor of e by which a corpus has fewer than a thousand papers: a short list is mostly made around
a subject, so that its papers are more likely about what is asked of it. Set by looking at the seeds, not measured."""

BY_KEYWORD = 0.95
"""The probability of a paper whose author names the topic among the keywords."""

SILENT = 0.9
"""Taken from the weighted sum of a paper whose author gives keywords and does not name the topic: of such papers just
above the line most only mention it."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of a topic that a paper has or lacks: runs of stemmed words that stand for each other, and its idf."""

    alternatives: tuple[tuple[str, ...], ...]
    weight: float


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as it is looked for.

    `forms` are ways to write it, to be embedded; `phrases` the same as runs of stemmed words; `acronym` is to be found
    as it is written, or None. A `loose` topic is no term but a combination ("LLM safety", "theory of diffusion"): a
    sentence names it that has all its `units`, in any order. `shift` is added to the weighted sum.
    """

    text: str
    forms: tuple[str, ...]
    units: tuple[Unit, ...]
    phrases: tuple[tuple[str, ...], ...]
    acronym: str | None = None
    loose: bool = False
    shift: float = 0.0


@dataclass(frozen=True, slots=True)
class Document:
    """A paper as it is read: stemmed words of its name, of its keywords and of its sentences, and these as text."""

    paper: Paper
    spans: tuple[Span, ...]
    name: tuple[str, ...]
    keywords: tuple[tuple[str, ...], ...]
    sentences: tuple[tuple[str, ...], ...]


def split_words(text: str) -> str:
    """Return a text whose compounds are separate words: "multi-agent" is "multi agent"."""
    return text.replace("-", " ")


def read_documents(papers: Sequence[Paper], spans: Sequence[Sequence[Span]], tokenize: Tokenize) -> list[Document]:
    """Return papers as documents; `spans` are the sentences of each."""
    texts: list[str] = []
    for paper, own in zip(papers, spans, strict=True):
        texts += [paper.name, *paper.keywords, *(paper.abstract[span.start : span.end] for span in own)]
    words = iter([tuple(row) for row in tokenize([split_words(text) for text in texts])] if texts else [])
    return [
        Document(
            paper,
            tuple(own),
            next(words),
            tuple(next(words) for _ in paper.keywords),
            tuple(next(words) for _ in own),
        )
        for paper, own in zip(papers, spans, strict=True)
    ]


def read_topic(
    text: str,
    tokenize: Tokenize,
    idf: Callable[[str], float],
    abstracts: Collection[str] = (),
    papers: int = THOUSAND,
) -> Topic:
    """Return a topic with what it is also called: "LLM" where it says "large language models", and the reverse.

    `idf` is that of a stemmed word. `abstracts` are some in which the topic's words stand: a short form counts when
    two of them introduce it, or when all papers use it (`lexicon.KNOWN_ACRONYMS`). `papers` is the size of the corpus.
    """
    known = {**_introduced(abstracts), **KNOWN_ACRONYMS}
    expansions_of = {short: tuple(_words(tokenize, long)) for short, long in known.items()}
    wanted = tuple(_words(tokenize, text))
    acronym = next((short for short, words in expansions_of.items() if words == wanted), None)
    forms = [text]
    for short, long in known.items():
        plain = re.sub(rf"(?<!\w){re.escape(short)}s?(?!\w)", long, text)
        if plain != text:
            forms.append(plain)
            acronym = short if re.fullmatch(rf"{re.escape(short)}s?", text) else acronym
    american = tuple(plain_stem(word) for word in re.findall(r"\w+", text.lower()) if tokenize([word])[0])
    phrases = [tuple(_words(tokenize, form)) for form in forms]
    units, combined = _units(wanted, {words: short.lower() for short, words in expansions_of.items()}, idf)
    joined = bool(_JOINED.search(text)) or len(wanted) > LONGEST_PHRASE
    loose = len(units) > 1 and (combined or joined)
    found = tuple(dict.fromkeys(phrase for phrase in [*phrases, american] if phrase))
    shift = (LOOSE if loose else 0.0) + SMALL * math.log(THOUSAND / min(max(papers, 1), THOUSAND))
    return Topic(text, tuple(dict.fromkeys(forms)), units, found, acronym, loose, shift)


_JOINED = re.compile(r"\b(?:of|for|in|with|and|on|to|from|against|by|under|via)\b", re.IGNORECASE)

LONGEST_PHRASE = 3
"""Words of a term; more are a combination, which a sentence may word in another order."""


def _words(tokenize: Tokenize, text: str) -> Sequence[str]:
    return tokenize([split_words(text)])[0]


def _introduced(abstracts: Collection[str]) -> dict[str, str]:
    """Return the short forms that at least two abstracts introduce, the most used meaning of each."""
    counts = Counter(
        (short, long.lower()) for abstract in abstracts for short, long in expansions(abstract).items()
    )
    # "CL" is continual learning, and contrastive.
    return {short: long for (short, long), uses in reversed(counts.most_common()) if uses >= 2 and len(short) > 2}


def _units(
    words: tuple[str, ...], known: Mapping[tuple[str, ...], str], idf: Callable[[str], float]
) -> tuple[tuple[Unit, ...], bool]:
    """Return the units of a topic, and whether one of them is something with an acronym beside other words."""
    shorts = {short: run for run, short in known.items()}
    units: list[Unit] = []
    place = 0
    combined = False
    while place < len(words):
        runs = (words[place : place + size] for size in (4, 3, 2))
        run = next((run for run in runs if run in known), words[place : place + 1])
        alternatives = [run, *((other,) for other in _derived(run[0]) if len(run) == 1)]
        long = run if run in known else shorts.get(run[0], ())
        # What is said of "language models" is mostly of large ones.
        alternatives += [long[start:] for start in range(len(long)) if long[start:] in known]
        alternatives += [(known[other],) for other in alternatives if other in known]
        combined = combined or bool(long)
        units.append(Unit(tuple(dict.fromkeys(alternatives)), max(map(idf, run)) or 1.0))
        place += len(run)
    return tuple(units), combined


def _derived(word: str) -> Iterator[str]:
    """Yield stems of words that Snowball leaves apart: safety and safe, security and secure, privacy and private."""
    for ending, other in (("iti", ""), ("ti", ""), ("aci", "at"), ("aci", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            yield word.removesuffix(ending) + other
    if word in ("safe", "fair", "secur", "privat"):
        yield from (f"{word}ti", f"{word}iti") if word != "privat" else ("privaci",)


def coverage_of(topic: Topic, words: Collection[str]) -> float:
    """Return the share of the topic's units, by idf, among some words; all of it where it is written in full."""
    if any(all(word in words for word in phrase) for phrase in topic.phrases):
        return 1.0
    mass = sum(unit.weight for unit in topic.units) or 1.0
    return sum(unit.weight for unit in topic.units if _has(unit, words)) / mass


def _has(unit: Unit, words: Collection[str]) -> bool:
    return any(all(word in words for word in run) for run in unit.alternatives)


def reach(
    topic: Topic, coverage: NDArray[np.float64], cosines: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Return the most each paper's probability can be, from what the index says of it.

    `coverage` (n,) is that of its words, `cosines` (n, 2) those of the paper and of its best sentence. Only a paper
    with all words of the topic can hold it as a phrase.
    """
    whole = (coverage >= 0.999).astype(np.float64)
    words = np.stack([whole, whole, 3 * whole, coverage, coverage], axis=1)
    return _logistic(topic, np.concatenate([words, cosines], axis=1))


def probabilities(
    topic: Topic, documents: Sequence[Document], cosines: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Return how likely each document is about the topic; `cosines` (n, 2) as in `reach`."""
    rows = measure(topic, documents, cosines)
    found = _logistic(topic, rows)
    named = np.array([_by_keyword(topic, document) for document in documents], dtype=bool)
    silent = np.array([bool(document.keywords) for document in documents], dtype=bool) & ~named
    found = np.where(silent, found / (found + (1 - found) * math.exp(SILENT)), found)
    return np.where(named, np.maximum(found, BY_KEYWORD), found)


def _by_keyword(topic: Topic, document: Document) -> bool:
    """Tell whether an author's keyword names the topic."""
    raw = document.paper.keywords
    return any(holds(topic, own, text) for own, text in zip(document.keywords, raw, strict=True))


def measure(topic: Topic, documents: Sequence[Document], cosines: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the seven signals of each document, shape (n, 7).

    The topic stands in the title; in a sentence; in how many (up to three); the largest share of its words in one
    sentence; their share in the whole paper; the cosine with the paper; that with its best sentence.
    """
    rows = np.zeros((len(documents), len(WEIGHTS)))
    for place, document in enumerate(documents):
        texts = sentence_texts(document) if topic.acronym else [""] * len(document.spans)
        uses = sum(holds(topic, words, text) for words, text in zip(document.sentences, texts, strict=True))
        title = holds(topic, document.name, document.paper.name)
        best = max((coverage_of(topic, words) for words in document.sentences), default=0.0)
        everything = {word for words in document.sentences for word in words} | set(document.name)
        share = 1.0 if uses or title else coverage_of(topic, everything)
        best = 1.0 if uses else best
        rows[place] = (title, uses > 0, min(uses, 3), best, share, *cosines[place])
    return rows


def holds(topic: Topic, words: Sequence[str], text: str) -> bool:
    """Tell whether a text names the topic: its words side by side (anywhere, of a loose one), or its acronym as it
    is written."""
    if topic.loose and all(_has(unit, words) for unit in topic.units):
        return True
    for phrase in topic.phrases:
        size = len(phrase)
        if any(tuple(words[i : i + size]) == phrase for i in range(len(words) - size + 1)):
            return True
    return bool(topic.acronym and re.search(rf"(?<![\w]){re.escape(topic.acronym)}s?(?![\w])", text))


def sentence_texts(document: Document) -> list[str]:
    """Return the sentences of a document as they stand in the abstract."""
    return [document.paper.abstract[span.start : span.end] for span in document.spans]


def telling_sentence(topic: Topic, document: Document, cosines: NDArray[np.float32]) -> int:
    """Return the place of the sentence that says most of the topic; `cosines` (sentences,) are those with it."""
    texts = sentence_texts(document)
    scores = [
        0.3 * holds(topic, words, text) + 0.5 * coverage_of(topic, words) + float(cosine) + standing(text)
        for words, text, cosine in zip(document.sentences, texts, cosines, strict=True)
    ]
    return int(np.argmax(scores)) if scores else 0


def _logistic(topic: Topic, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    values = rows @ np.array(WEIGHTS) + BIAS + topic.shift
    return np.asarray(1 / (1 + np.exp(-values)), dtype=np.float64)
