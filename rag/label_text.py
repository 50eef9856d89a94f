"""Text without markup, for finding names and subjects in it, and labels cut to length."""

from __future__ import annotations

import re

# Wrappers around words; their content stays. Applied until nothing changes: they nest.
_WRAPPERS = (
    (re.compile(r"\\(?:emph|text(?:it|bf|tt|sc|sf|rm|sl|up)?|math(?:rm|bf|tt|it|sf|cal|bb)|underline|mbox|operatorname)"
                r"\s*\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\{\\(?:em|it|bf|tt|sc|sf)\s+([^{}]*)\}"), r"\1"),
    (re.compile(r"(?<![\w*])(\*{1,3})(?=\S)([^*\n]{1,80}?)(?<=\S)\1(?![\w*])"), r"\2"),
    (re.compile(r"(?<!\w)(_{1,2})(?=\S)([^_\n]{1,80}?)(?<=\S)\1(?!\w)"), r"\2"),
    (re.compile(r"\$\s*\\?([A-Za-z][\w+-]*)\s*\$"), r"\1"),
    (re.compile(r"\[([^\[\]]+)\]\(https?://[^\s)]*\)"), r"\1"),
)  # fmt: skip
# Nobody nests emphasis deeper; a hostile text does, and each round reads the whole of it.
_DEEPEST = 6
# Applied once, afterwards: quotes and addresses go, dashes stand free, escapes are resolved.
_MARKS = (
    (re.compile(r"https?://\S+"), " "),
    (re.compile(r"``|''|[“”\"`]"), " "),
    (re.compile(r"\{([-,])\}"), r"\1"),
    (re.compile(r"\s*(?:---?|–|—)\s*"), " – "),
    (re.compile(r"\\([%&#_$])"), r"\1"),
)
EMPHASISED = re.compile(
    r"\\(?:emph|textit|textbf)\{([^{}]{3,60})\}|(?<![\w*])\*{1,2}(?=\S)([^*\n]{3,60}?)(?<=\S)\*{1,2}(?![\w*])"
    r"|(?<!\w)_(?=\S)([^_\n]{3,60}?)(?<=\S)_(?!\w)"
)

TOKEN = re.compile(r"[^\W_][\w℃℉°+]*(?:[-–'’./&][\w℃℉°+]+)*\+*|[(),;:.!?]|[^\s\w]")
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z(])|\n\s*\n")


def unwrapped(text: str) -> str:
    """Return text without LaTeX and Markdown wrappers, quotes and addresses, for finding names in it."""
    for _ in range(_DEEPEST):
        bare = text
        for pattern, replacement in _WRAPPERS:
            bare = pattern.sub(replacement, bare)
        if bare == text:
            break
        text = bare
    for pattern, replacement in _MARKS:
        text = pattern.sub(replacement, text)
    return text


LONGEST = 48
"""Characters of a label at most."""


def cut(text: str) -> str:
    """Cut at a word so that at most `LONGEST` characters remain, an ellipsis for the rest."""
    text = text.strip(" ,;:.")
    if len(text) <= LONGEST:
        return text
    head = text[: LONGEST - 1]
    return (head.rsplit(" ", 1)[0] if " " in head else head).rstrip(" ,;:.-–") + "…"
