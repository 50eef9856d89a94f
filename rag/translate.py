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
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|fails?|failed|failing|lacks?|lacking|unable|hardly)\b|n't\b",
    re.IGNORECASE,
)
_CJK_NEGATION = re.compile(r"[不没無无非未否勿免缺难]|ない|なし|없|않|아니|못|ず")
_NO_NEGATION = re.compile(r"不(?:仅|但|断|同|管|论|确定|变)|无(?:监督|论|限)|非(?:常|线性|凸)|未来|难度")
_NATIVE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def keeps_facts(sentence: str, translation: str) -> bool:
    """Tell whether a translation holds exactly the numbers, all names and the negations of the sentence.

    Names are words with capitals or digits inside. For Chinese, Japanese and Korean a negated sentence must stay
    negated and another must not become so. An empty translation, or one that is the sentence itself, keeps
    nothing. What else a sentence says cannot be checked across languages.
    """
    if not translation.strip() or translation.strip() == sentence.strip():
        return False
    plain, other = _plain(sentence), _plain(translation)
    if sorted(_NUMBER.findall(plain)) != sorted(_NUMBER.findall(other)):
        return False
    if _NATIVE.search(other):
        negated = bool(_CJK_NEGATION.search(_NO_NEGATION.sub("", other)))
        prefixed = bool(re.search(r"\b(?:un|in|im|dis|non)-?\w{3}", plain))  # "unstable" may become "not stable"
        if negated != bool(_NEGATION.search(plain)) and not (negated and prefixed):
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
