"""Characters and what each is matched as: quotation marks, dashes, ligatures, superscripts."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&", "&nbsp;": " ", "&quot;": '"', "&#39;": "'"}
DIGRAPHS = {"<=": "≤", ">=": "≥", "->": "→"}
DOUBLE_QUOTES = frozenset("“”„‟«»″〝〞＂")
SINGLE_QUOTES = frozenset("'‘’‚‛′‵ʼ`´＇")
DASHES = frozenset("-‐‑‒–—―−﹘﹣－⁃─")  # hyphens, dashes and the minus sign
_SAME = {"⩽": "≤", "⩾": "≥", "≦": "≤", "≧": "≥", "∼": "~", "⁓": "~", "ϵ": "ε", "∶": ":"}


@lru_cache(maxsize=4096)
def compose(cluster: str, after_digit: bool) -> str:
    """Return what a character with its combining marks is matched as."""
    composed = unicodedata.normalize("NFC", cluster)
    spelled = "".join(_spell(character, after_digit) for character in composed)
    return unicodedata.normalize("NFC", spelled)


def _spell(character: str, after_digit: bool) -> str:
    """Spell out a compatibility character as NFKC does, but keep what its form means."""
    if character in _SAME:
        return _SAME[character]
    if character in DASHES:
        return "-"
    parts = unicodedata.decomposition(character).split()
    if not parts or not parts[0].startswith("<"):
        return character
    spelled = "".join(_spell(chr(int(part, 16)), False) for part in parts[1:])
    if parts[0] == "<super>":
        return f"^{spelled}"
    if parts[0] == "<sub>":
        return f"_{spelled}"
    if parts[0] == "<circle>":
        return f"({spelled})"
    if parts[0] == "<fraction>":
        return (" " if after_digit else "") + spelled.replace("⁄", "/")
    return spelled
