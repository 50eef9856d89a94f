"""The decision to refuse: does the evidence answer the question? Taken by code, before a word is written."""

from __future__ import annotations

from collections.abc import Mapping

REFUSAL: Mapping[str, str] = {
    "en": "The indexed papers do not answer this question.",
    "zh": "已索引的论文没有回答这个问题。",
}
"""The fixed refusal, by the language of the question; any other language gets the English one."""


def refusal(language: str) -> str:
    """Return the refusal in a language."""
    return REFUSAL.get(language, REFUSAL["en"])
