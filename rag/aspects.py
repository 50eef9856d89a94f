"""What a comparison is drawn on: the aspects, which sentence of an abstract speaks of each, the asked one first.

An abstract has few sentences and its parts are told apart by whose work a sentence is about, by signal words, by
place and by nearness to model sentences of each part (`rag.aspect_parts`); what reaches no part's line is "not
stated". Figures are in eval/RESULTS.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from rag.aspect_parts import BESIDE, OTHERS, OWN, PARTS, PROBLEM, Part
from rag.types import Aspect, Vectors
from rag.words import plain_stem

ASKED = "asked"
"""Key of the row for what the question asks, where no part of an abstract is meant by it."""

ASKED_LINE = 0.43
"""Least score of a sentence that answers the asked aspect (see `asked_scores`)."""

GROUPED = 3.0
"""How much more a word weighs that has synonyms here: those are what comparisons ask for."""

SYNONYM = 0.6
"""What a word of the same group counts for a word that was asked for."""

SYNONYMS: tuple[str, ...] = (
    "cost costly overhead memory compute computation computational expensive cheap runtime latency fast faster slow "
    "slower speedup efficient efficiency lightweight negligible wall-clock storage",
    "data dataset benchmark corpus corpora",
    "supervision supervised label labelled annotated annotation teacher teach taught preference pseudo-labels",
    "internals internal internally inside hidden activations representations represented probing white-box black-box",
    "prove proved proof theorem theoretical theoretically bound guarantee certificate certify convergence converge",
    "cause caused reason explanation explain explained hypothesis arises induces driven",
    "limits limitation drawback weakness fails failure trade-off",
    "needs requires without access assumes",
    "accuracy performance quality results error",
    "goal aim improve improvement enhance better",
    "human people participants users annotators",
    "detect find locate localisation identify discover reveal",
    "safety safe harmful unsafe harm",
    "robust robustness adversarial noise perturbations corruption",
    "after post-hoc evaluation-time inference-time test-time afterwards",
)
"""Words that a question and an abstract use for each other, a group in each line."""

FURTHER = 0.15
"""What each further such word adds."""

MODEL_SENTENCES: tuple[str, ...] = tuple(sentence for part in PARTS for sentence in part.models)
"""To be embedded once, in this order, for `part_scores`."""

_BY_KEY = {part.key: part for part in PARTS}
_BACKGROUND, _CONTINUED, _OWN = -1.0, 0.5, 1.0


def standing(sentences: Sequence[str], name: str = "") -> NDArray[np.float64]:
    """Return whose work each sentence of an abstract is about: 1 the paper's own, 0.5 likely so, 0 both, -1 others'.

    An abstract turns once from what others did to what it does; `name` is the paper's label, which speaks of the
    paper where it is a name. All are 0 where nothing tells.
    """
    named = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE) if re.fullmatch(r"\S{2,30}", name) else None
    sentences = [" ".join(sentence.split()) for sentence in sentences]
    own = [_own(sentence, named) for sentence in sentences]
    turn = next((place for place, whose in enumerate(own) if whose), None)
    if turn is None:
        return np.array([_BACKGROUND if OTHERS.search(sentence) else 0.0 for sentence in sentences])
    found: list[float] = []
    for place, sentence in enumerate(sentences):
        others = bool(OTHERS.match(sentence))
        if own[place] is not None:
            found.append(own[place] or 0.0)
        else:
            found.append(_BACKGROUND if place < turn or others else _CONTINUED)
    return np.array(found)


def _own(sentence: str, named: re.Pattern[str] | None) -> float | None:
    """Return 1 for a sentence of the paper's own work, 0 when it begins with that of others, None without either."""
    places = [found.start() for found in (OWN.search(sentence), named and named.search(sentence)) if found]
    if not places:
        return None
    others = OTHERS.match(sentence)  # "Existing methods ..., and we show that they ..."
    return 0.0 if others and others.end() < min(places) and not BESIDE.match(sentence) else _OWN


def part_scores(
    sentences: Sequence[str], vectors: Vectors, models: Vectors, name: str = ""
) -> NDArray[np.float64]:
    """Return how much each sentence of an abstract belongs to each of `PARTS`, shape (sentences, parts).

    `vectors` are those of the sentences, `models` those of `MODEL_SENTENCES`, `name` is the paper's label. The score
    is 0.6 for strong signal words or 0.3 for weak ones, 0.1 more for both, minus 0.5 for words
    against, plus half the nearest model sentence's cosine, plus the weights of whose work it is and of its place.
    """
    scores = np.zeros((len(sentences), len(PARTS)))
    if not len(sentences):
        return scores
    cosines = vectors @ models.T
    whose = standing(sentences, name)
    place = 0.5 - np.arange(len(sentences)) / max(1, len(sentences) - 1)
    first = 0
    for column, part in enumerate(PARTS):
        near = cosines[:, first : first + len(part.models)].max(axis=1, initial=0.0)
        first += len(part.models)
        signals = np.array([_signals(part, " ".join(sentence.split())) for sentence in sentences])
        scores[:, column] = signals + 0.5 * near + part.own * whose + part.early * place
    return scores


def _signals(part: Part, sentence: str) -> float:
    strong, weak = part.strong.search(sentence), part.weak.search(sentence)
    score = 0.6 if strong else 0.3 if weak else 0.0
    return score + 0.1 * bool(strong and weak) - 0.5 * bool(part.against.search(sentence))


def choose(scores: NDArray[np.float64], key: str) -> int | None:
    """Return the sentence that states a part best, None when none reaches the part's line.

    An abstract begins with its subject, so that is never missing.
    """
    column = PARTS.index(_BY_KEY[key])
    if not len(scores):
        return None
    best = int(scores[:, column].argmax())
    if scores[best, column] >= _BY_KEY[key].line:
        return best
    return 0 if key == PROBLEM else None


# --- what is asked ------------------------------------------------------------------------------------

_IDLE = frozenset(
    [
        *("the", "a", "an", "of", "in", "on", "at", "to", "for", "from", "by", "with", "and", "or", "as", "is"),
        *("are", "was", "were", "be", "been", "do", "does", "did", "has", "have", "had", "can", "could", "will"),
        *("would", "it", "its", "they", "their", "them", "these", "those", "this", "that", "there", "one", "ones"),
        *("two", "what", "which", "who", "whom", "whose", "how", "where", "when", "why", "each", "both", "all"),
        *("other", "use", "used", "uses", "using", "get", "gets", "give", "gives", "take", "takes", "name", "want"),
        *("wants", "much", "many", "more", "most", "less", "least", "paper", "papers", "method", "methods", "work"),
        *("works", "approach", "approaches", "abstract", "abstracts", "study", "studies", "kind", "kinds", "type"),
        *("sort", "different", "difference", "differ", "same", "similar", "way", "ways", "part", "common", "about"),
        *("than", "so", "also", "really", "exactly", "any", "some", "respectively", "between", "among", "over"),
        *("keep", "lower", "higher", "larger", "smaller", "look", "looks", "try", "tried", "out", "not", "if", "we"),
        *("you", "i", "come", "comes", "make", "makes"),
    ]
)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_CHINESE_IDLE = re.compile(
    r"哪一个|哪一种|哪个|哪些|两者|二者|三者|各自|分别|是怎样|怎样|如何|有什么|有何|什么|差别|不同|区别|"
    r"的|是|吗|呢|[？?，,。、]"
)
_WORD = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")


def asked_label(aspect: str, sides: Iterable[Sequence[str]] = ()) -> str | None:
    """Return what an aspect asks about: without the names of sides and without question words at its ends.

    `sides` are the names each side goes by; of each side the first that occurs is left out. None when nothing is
    left ("where do they part"): then nothing but the comparison is asked for.
    """
    text = aspect
    for names in sides:
        forms = [re.compile(rf"(?<!\w){re.escape(name)}(?!\w)(?:'s)?", re.IGNORECASE) for name in names if name]
        found = next((form for form in forms if form.search(text)), None)
        text = found.sub(" ", text) if found else text
    if _CHINESE.search(text):
        rest = _CHINESE_IDLE.sub("", text).strip()
        return rest if len(rest) > 1 else None
    words = list(_WORD.finditer(text))
    telling = [place for place, word in enumerate(words) if word[0].lower() not in _IDLE]
    if not telling:
        return None
    kept = text[words[telling[0]].start() : words[telling[-1]].end()]
    return re.sub(r"\s+", " ", re.sub(r"(?:\s*,\s*)+(?:(?:and|or)\b\s*,?)?", ", ", kept)).strip(" ,")


_ENGLISH = {
    **{"模型内部": "model internals", "内部": "internal", "访问": "access", "需要": "needs", "监督": "supervision"},
    **{"信号": "signal", "树": "tree", "结构": "structure", "计算": "computation", "开销": "overhead", "成本": "cost"},
    **{"代价": "cost", "内存": "memory", "显存": "memory", "数据": "data", "训练": "training", "推理": "inference"},
    **{"标注": "annotations", "偏好": "preference", "教师": "teacher", "安全": "safety", "鲁棒": "robustness"},
    **{"理论": "theoretical", "证明": "proof", "保证": "guarantee", "收敛": "convergence", "速度": "speed"},
    **{"效率": "efficiency", "准确": "accuracy", "误差": "error", "量化": "quantization", "剪枝": "pruning"},
    **{"微调": "fine-tuning", "采样": "sampling", "梯度": "gradient", "图像": "images", "视频": "video"},
    **{"文本": "text", "语言": "language", "外部": "external", "人类": "human", "原因": "cause", "解释": "explanation"},
}
"""What aspects are asked for in Chinese, for when there is no model to translate them."""


def asked_in_english(label: str) -> str:
    """Return an asked aspect in English as far as the small table of Chinese words goes; in English as it is."""
    if not _CHINESE.search(label):
        return label
    found = re.findall("|".join([*_ENGLISH, r"[A-Za-z][\w-]+"]), label)
    return " ".join(_ENGLISH.get(word, word) for word in found)


def asked_words(label: str) -> list[str]:
    """Return the words of an asked aspect that say something, in order."""
    return [word for word in _WORD.findall(label) if word.lower() not in _IDLE]


def asked_part(aspect: str) -> Part | None:
    """Return the part of an abstract that an asked aspect means as a whole ("data", "limitations"), if it does.

    Of more than two words an aspect says more than the name of a part and is searched for itself.
    """
    if _CHINESE.search(aspect):
        return next((part for part in PARTS if part.asked.search(aspect) and len(aspect) <= 6), None)
    words = [word for word in re.findall(r"[^\W_]+", aspect) if word.lower() not in _IDLE]
    words = words or re.findall(r"[^\W_]+", aspect)  # "method" is idle in a question, but not when it is all of it
    if not words or len(words) > 3:
        return None
    return next((part for part in PARTS if all(part.asked.search(word) for word in words)), None)


def asked_scores(
    cosines: NDArray[np.float64], covered: NDArray[np.float64], whose: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return how well each sentence answers an asked aspect, from about -0.2 to 1.1.

    Half its cosine with the aspect and half the share of the aspect's words that it has (`share_of_words`); 0.08
    more for the paper's own work and as much less than nothing for that of others, twice.
    """
    return 0.5 * np.maximum(cosines, 0.0) + 0.5 * covered + np.where(whose < 0, 0.16, 0.08) * whose


def share_of_words(weights: Mapping[str, float], sentence: str) -> float:
    """Return the share of the weights of asked words that a sentence has.

    A word of the same group in `SYNONYMS` counts `SYNONYM`, each further one `FURTHER` more; a word that has a group
    weighs `GROUPED` times.
    """
    groups = _groups()
    own = {plain_stem(word) for word in _parts(sentence)}
    total = got = 0.0
    for word, weight in weights.items():
        stem = plain_stem(word.lower())
        group = groups.get(stem)
        weight *= 1.0 if group is None else GROUPED
        total += weight
        near = sum(groups.get(other) == group for other in own) if group is not None else 0
        got += weight if stem in own else weight * min(1.0, SYNONYM + FURTHER * (near - 1)) if near else 0.0
    return got / total if total else 0.0


def _parts(text: str) -> Iterator[str]:
    """Yield the words of a text, and those that a hyphen joins."""
    for word in _WORD.findall(text.lower()):
        yield word
        yield from word.split("-")


@cache
def _groups() -> dict[str, int]:
    return {plain_stem(word): number for number, line in enumerate(SYNONYMS) for word in line.split()}


def rows(aspect: str | None, stated: Sequence[Sequence[bool]], chinese: bool = False) -> tuple[Aspect, ...]:
    """Return the rows of a grid: the asked aspect, then every part that some side states.

    `stated[side][part]` tells whether a side's abstract states a part of `PARTS`. Problem and approach are always
    rows, so that a grid never is empty.
    """
    part = asked_part(aspect) if aspect else None
    found = []
    if aspect and part is None:
        found.append(Aspect(ASKED, aspect, True))
    elif part:
        found.append(Aspect(part.key, part.chinese if chinese else part.label, True))
    for place, other in enumerate(PARTS):
        if other is part:
            continue
        if other.key in (PROBLEM, "approach") or any(row[place] for row in stated):
            found.append(Aspect(other.key, other.chinese if chinese else other.label))
    return tuple(found)
