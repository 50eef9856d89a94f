"""Whether a translated sentence keeps the facts that can be checked across languages."""

from __future__ import annotations

import re
import unicodedata

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"\b[A-Za-z]*(?:[A-Z][A-Za-z]*[A-Z0-9]|[a-z][A-Z]|[A-Z]{2,}|[A-Za-z]\d)[\w-]*")


def keeps_facts(sentence: str, translation: str) -> bool:
    """Tell whether a translation holds exactly the numbers and all names of the sentence.

    Names are words with capitals or digits inside. An empty translation, or one that is the sentence
    itself, keeps nothing.
    """
    if not translation.strip() or translation.strip() == sentence.strip():
        return False
    plain, other = unicodedata.normalize("NFKC", sentence), unicodedata.normalize("NFKC", translation)
    if sorted(_NUMBER.findall(plain)) != sorted(_NUMBER.findall(other)):
        return False
    folded = other.casefold()
    return all(name.casefold() in folded for name in _NAME.findall(plain))
