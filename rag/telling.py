"""Which sentence of an abstract can stand for its paper: one that says by itself what the paper does."""

from __future__ import annotations

import re

from rag.generate import looks_like_instruction

SHORTEST, LONGEST = 40, 400
"""Characters of a sentence that may stand for a paper, and from which on it is too much at once."""

_OWN = re.compile(
    r"\b(?:we|our|this (?:paper|work|study|position paper))\b[^.]{0,40}?\b(?:propos|introduc|present|develop|study|"
    r"studies|show|prove|analy[sz]|investigat|formali[sz]|design|argue|address|establish|find|provide|demonstrate|characteri[sz])",
    re.IGNORECASE,
)
_LEANING = re.compile(
    r"^\W*(?:they|it|these|those|this|that|such|together|however|moreover|furthermore|yet|but|finally|code|to address|"
    r"existing|recent|our (?:code|data))\b|https?://|\bgithub\b",
    re.IGNORECASE,
)


def standing(sentence: str) -> float:
    """Return what is added to a sentence's cosine: more where the authors say what they do, less where it leans on
    the sentence before or speaks of others, of code or of addresses; far less where it talks to a model or is of a
    few words, so that it is only taken when there is no other."""
    value = 0.15 * bool(_OWN.search(sentence)) - 0.25 * bool(_LEANING.search(sentence))
    value -= 0.25 * (len(sentence) > LONGEST)
    return value - 10 * (looks_like_instruction(sentence) or len(sentence) < SHORTEST)
