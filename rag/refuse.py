"""The decision to refuse: does the evidence answer the question? Taken by code, before a word is written.

A question is refused when it asks for a name that no paper has, or when a weighted sum of signals falls below
a line (`answerable`). The signals say what the question asks for that the nearest papers do not have (names,
kinds of figures, numbers) and how near the best paper and sentence are. They do not depend on the words'
frequencies, which in a corpus of forty papers say little.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace

from rag.plan import is_strong
from rag.retrieve import Query
from rag.types import Hit

REFUSAL: Mapping[str, str] = {
    "en": "The indexed papers do not answer this question.",
    "zh": "已索引的论文没有回答这个问题。",
}
"""The fixed refusal, by the language of the question; any other language gets the English one."""

_ATTRIBUTES = frozenset(
    {
        *("bleu", "rouge", "meteor", "perplexity", "accuracy", "f1", "f-score", "auc"),
        *("auroc", "map", "mrr", "recall", "precision", "rmse", "mae", "psnr"),
        *("ssim", "fid", "wer", "iou", "dice", "kappa", "correlation", "error"),
        *("score", "top-1", "top-5", "gpu", "gpus", "tpu", "hardware", "memory"),
        *("flops", "latency", "energy", "carbon", "cost", "price", "dollars", "watts"),
        *("epoch", "epochs", "optimizer", "optimiser", "seed", "seeds", "hyperparameters", "layers"),
        *("heads", "dropout", "batch", "learning-rate", "weight-decay", "parameters", "iterations", "author"),
        *("authors", "wrote", "university", "affiliation", "institution", "published", "venue", "journal"),
        *("year", "license", "licence", "github", "repository", "code", "email", "reviewer"),
        *("reviewers", "hours", "minutes", "seconds", "days", "participants", "annotators", "license"),
        *("languages", "wall-clock"),
    }
)
"""What papers are often asked for and abstracts often leave out."""

_NUMBER_ASKED = re.compile(
    r"\bhow (?:many|much|large|big|long|fast|often|high|low|far|old)\b|\bby how\b|\bwhat (?:percentage|percent|share|"
    r"fraction|number|score|accuracy|rate|size|speedup|value)\b|多少|几个|百分之",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\$|O\(|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|million|half|third|quarter|"
    r"double|twice|times|fold|order of magnitude|exponential|linear|quadratic|constant)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Signals:
    """What is measured of a question against the paper that fits it best.

    `sentence` and `paper`: cosines of the best sentence and of the paper, up to `NEAR`: beyond it nearness says
    nothing more. `covered`: share of the question's content words in the paper, up to a half. `names` and
    `words`: names with capitals or digits inside, and other capitalised words, that it lacks. `attributes`:
    kinds of figures or facts asked that it lacks. `number`: a number is asked and no sentence near the
    question has one. `size`: ln of the corpus size in thousands. `absent`: a name asked that no paper has.
    """

    sentence: float
    paper: float
    covered: float
    names: float
    words: float
    attributes: float
    number: float
    size: float
    absent: bool = False


NEAR = (0.45, 0.4)
NAMED = (0.4, 0.35)
WEIGHTS = (6.72, 3.01, 1.5, -1.23, -2.0, -1.89, -3.57, -0.1)
BIAS = -4.09
LINE = 0.16
"""Logistic regression (C = 10) on `eval/abstention/calibration.jsonl`, each question asked of random corpora of
38, of 300 and of all 2,587 papers. The line is where 5 % of the answerable ones fall below in a tenfold
cross-validation; figures by `python -m eval.abstention`."""


def refusal(language: str) -> str:
    """Return the refusal in a language."""
    return REFUSAL.get(language, REFUSAL["en"])


def measure(
    query: Query,
    hits: Sequence[Hit],
    papers: int,
    tokenize: Callable[[str], Sequence[str]],
    names: Sequence[str],
    is_known: Callable[[str], bool],
) -> Signals:
    """Return the signals of a question for its best hits; `papers` is the size of the corpus.

    Each of the first three papers is looked at by itself and the one that fits best counts, so that what one
    paper has cannot make up for what another lacks. `names` are the names in the question; `is_known` tells
    whether a word occurs in any paper.
    """
    size = math.log(max(papers, 1) / 1000)
    asked = [tokenize(item) for item in _asked_attributes(query.text)]
    wants_number = bool(_NUMBER_ASKED.search(query.text))
    strong = [name for name in names if is_strong(name)]
    lacking = set(strong)
    found: list[Signals] = []
    for hit in hits[:3]:
        text = f"{hit.paper.name} {hit.paper.label}\n{hit.paper.abstract}"
        words = set(tokenize(text))
        folded = re.sub(r"[\W_]+", "", text.casefold())
        missing = [name for name in names if not _has_name(name, folded, words, tokenize)]
        lacking &= set(missing)
        # A paper that has the names asked for is near, however little a short question says beside them.
        least = NAMED if strong and not set(missing) & set(strong) else (0.0, 0.0)
        near = sorted(hit.sentences, key=lambda item: -item.score)[:3]
        has_number = any(_NUMBER.search(item.text) for item in near)
        found.append(
            Signals(
                sentence=min(NEAR[0], max(least[0], hit.sentence_cosine)),
                paper=min(NEAR[1], max(least[1], hit.paper_cosine)),
                covered=min(0.5, sum(word in words for word in query.weights) / max(1, len(query.weights))),
                names=min(2, sum(name in strong for name in missing)),
                words=min(3, len(missing)) - min(2, sum(name in strong for name in missing)),
                attributes=min(2, sum(not set(tokens) <= words for tokens in asked)),
                number=float(wants_number and not has_number),
                size=size,
            )
        )
    best = max(found, key=_line, default=Signals(0, 0, 0, 2, 0, 0, 0, size))
    return replace(best, absent=any(not is_known(name) for name in lacking))


def answerable(signals: Signals) -> float:
    """Return how likely the evidence answers the question, in [0, 1]; below `LINE` it is refused."""
    return 0.0 if signals.absent else 1 / (1 + math.exp(-_line(signals)))


def _line(signals: Signals) -> float:
    values = astuple(signals)[: len(WEIGHTS)]
    return BIAS + float(sum(weight * value for weight, value in zip(WEIGHTS, values, strict=True)))


def _asked_attributes(question: str) -> list[str]:
    plain = re.sub(r"\b(learning rate|weight decay|wall clock)s?\b", lambda m: m[1].replace(" ", "-"), question.lower())
    words = re.findall(r"[a-z][a-z0-9\-]*", plain)
    return [word for word in dict.fromkeys(words) if word in _ATTRIBUTES]


def _has_name(name: str, folded: str, words: set[str], tokenize: Callable[[str], Sequence[str]]) -> bool:
    """Tell whether a paper holds a name: as letters and digits anywhere in it, or word by word."""
    bare = re.sub(r"[\W_]+", "", name.casefold())
    tokens = tokenize(name.replace("-", " "))
    return (len(bare) > 2 and bare in folded) or (bool(tokens) and set(tokens) <= words)
