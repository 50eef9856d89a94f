"""Whether a translated sentence keeps the facts that can be checked across languages."""

from __future__ import annotations

import re
import unicodedata

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# The English half of "LLM-based" and the plural of "LLMs" are translated; the halves of "BERT-large" are its name.
_ENGLISH = re.compile(
    r"-(?:aware|based|driven|enhanced|free|generated|guided|induced|level|like|only|powered|related|specific|style|"
    r"trained|tuned|wise)$|(?<=[A-Z])s$"
)
_NAME = re.compile(r"\b[A-Za-z]*(?:[A-Z][A-Za-z]*[A-Z0-9]|[a-z][A-Z]|[A-Z]{2,}|[A-Za-z]\d)[\w-]*")


def keeps_facts(sentence: str, translation: str) -> bool:
    """Tell whether a translation holds exactly the numbers and all names of the sentence.

    Names are words with capitals or digits inside. An empty translation, or one that is the sentence
    itself, keeps nothing.
    """
    if not translation.strip() or translation.strip() == sentence.strip():
        return False
    plain, other = _plain(sentence), _plain(translation)
    if sorted(_NUMBER.findall(plain)) != sorted(_NUMBER.findall(other)):
        return False
    names = {_ENGLISH.sub("", name) for name in _NAME.findall(plain)}
    # Chinese stands beside a name without a space; another Latin letter or digit makes another name.
    return all(
        re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-rt-z0-9]|s[A-Za-z0-9])", other, re.IGNORECASE)
        for name in names
    )


def _plain(text: str) -> str:
    """Return the compatibility form without commas between thousands."""
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", unicodedata.normalize("NFKC", text))
