"""The decision to refuse: does the evidence answer the question? Taken by code, before a word is written.

A question is refused when a weighted sum of signals falls below a line (`answerable`). The signals say what
the question asks for that the nearest papers do not have: names, kinds of figures, numbers, rare words; and
how near the best sentence is. Weights: logistic regression on `eval/abstention/calibration.jsonl`
(measured by `python -m eval.abstention`), the line where 3 % of its answerable questions would be refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass

from rag.retrieve import Query
from rag.types import Hit

REFUSAL: Mapping[str, str] = {
    "en": "The indexed papers do not answer this question.",
    "zh": "已索引的论文没有回答这个问题。",
}
"""The fixed refusal, by the language of the question; any other language gets the English one."""

_ATTRIBUTES = (
    "bleu rouge meteor perplexity accuracy f1 f-score auc auroc map mrr recall precision rmse mae psnr ssim fid "
    "wer iou dice kappa correlation error score top-1 top-5 gpu gpus tpu hardware memory flops latency energy "
    "carbon cost price dollars watts epoch epochs optimizer optimiser seed seeds hyperparameters layers heads "
    "dropout batch learning-rate weight-decay parameters iterations author authors wrote university affiliation "
    "institution published venue journal year license licence github repository code email reviewer reviewers "
    "hours minutes seconds days participants annotators license languages wall-clock"
).split()
"""What papers are often asked for and abstracts often leave out."""

_NUMBER_ASKED = re.compile(
    r"\bhow (?:many|much|large|big|long|fast|often|high|low|far|old)\b|\bby how\b|\bwhat (?:percentage|percent|share|"
    r"fraction|number|score|accuracy|rate|size|speedup|value)\b|多少|几个|百分之",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|million|half|third|quarter|"
    r"double|twice|times|fold|order of magnitude|exponential|linear|quadratic|constant)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Signals:
    """What is measured of a question against the nearest papers; each as large as named, shares in [0, 1].

    `near`: score of the best sentence, half cosine and half coverage. `covered`: share of the question's
    idf mass in the best paper. `names`: names asked that the best paper lacks, up to 3. `attributes`: kinds
    of figures or facts asked that it lacks, up to 2. `number`: a number is asked and no sentence near the
    question has one. `rarest`: idf of the rarest word it lacks, per ln of the corpus size. `unknown`: share of
    the idf mass in words that no paper has.
    """

    near: float
    covered: float
    names: float
    attributes: float
    number: float
    rarest: float
    unknown: float


def refusal(language: str) -> str:
    """Return the refusal in a language."""
    return REFUSAL.get(language, REFUSAL["en"])


def measure(
    query: Query, hits: Sequence[Hit], papers: int, tokenize: Callable[[str], Sequence[str]], names: Sequence[str]
) -> Signals:
    """Return the signals of a question for its best hits; `papers` is the size of the corpus.

    Each of the first three papers is looked at by itself and the one that fits best counts, so that what one
    paper has cannot make up for what another lacks. `names` are the names in the question.
    """
    mass = sum(query.weights.values()) or 1.0
    unknown = sum(w for w in query.weights.values() if w >= math.log(1 + (papers + 0.5) / 0.5) - 1e-9) / mass
    asked = [tokenize(item) for item in _asked_attributes(query.text)]
    best: Signals | None = None
    for hit in hits[:3]:
        text = f"{hit.paper.name} {hit.paper.label}\n{hit.paper.abstract}"
        words = set(tokenize(text))
        folded = re.sub(r"[\W_]+", "", text.casefold())
        missing = [weight for word, weight in query.weights.items() if word not in words]
        near = sorted(hit.sentences, key=lambda item: -item.score)[:3]
        signals = Signals(
            near=max((item.score for item in near), default=0.0) - 0.7 * hit.score,
            covered=1 - sum(missing) / mass,
            names=min(3, sum(not _has_name(name, folded, words, tokenize) for name in names)),
            attributes=min(2, sum(not set(tokens) <= words for tokens in asked)),
            number=float(
                bool(_NUMBER_ASKED.search(query.text)) and not any(_NUMBER.search(item.text) for item in near)
            ),
            rarest=max(missing, default=0.0) / math.log(papers + 2),
            unknown=unknown,
        )
        if best is None or _line(signals) > _line(best):
            best = signals
    return best or Signals(0, 0, 3, 0, 0, 1, 1)


def answerable(signals: Signals) -> float:
    """Return how likely the evidence answers the question, in [0, 1]; below `LINE` it is refused."""
    return 1 / (1 + math.exp(-_line(signals)))


WEIGHTS = (2.84, -0.35, -2.39, -1.49, -2.57, -1.34, -2.23)
BIAS = 0.27
LINE = 0.19
"""Logistic regression (C = 10) on the calibration questions; the line is where 4 % of the answerable ones
of a tenfold cross-validation fall below it."""


def _line(signals: Signals) -> float:
    return BIAS + sum(weight * value for weight, value in zip(WEIGHTS, astuple(signals), strict=True))


def _asked_attributes(question: str) -> list[str]:
    plain = re.sub(r"\b(learning rate|weight decay|wall clock)s?\b", lambda m: m[1].replace(" ", "-"), question.lower())
    words = re.findall(r"[a-z][a-z0-9\-]*", plain)
    return [word for word in dict.fromkeys(words) if word in _ATTRIBUTES]


def _has_name(name: str, folded: str, words: set[str], tokenize: Callable[[str], Sequence[str]]) -> bool:
    """Tell whether a paper holds a name: as letters and digits anywhere in it, or word by word."""
    bare = re.sub(r"[\W_]+", "", name.casefold())
    tokens = tokenize(name)
    return (len(bare) > 2 and bare in folded) or (bool(tokens) and set(tokens) <= words)
