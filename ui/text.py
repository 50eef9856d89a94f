"""Text of papers, models and users as Markdown that shows exactly that text: no HTML, no image, no link.

The only mark-up that reaches the browser is made here: citations, which link to the evidence cards, and
mathematics. Gradio finds mathematics by delimiters; the usual ones also match prices, so what is
mathematics is decided here and handed over between characters that occur in no text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import NamedTuple

from rag import Claim, Paper

_INLINE = ("\ue000", "\ue001")
_DISPLAY = ("\ue002", "\ue003")

LATEX_DELIMITERS: list[dict[str, str | bool]] = [
    {"left": _DISPLAY[0], "right": _DISPLAY[1], "display": True},
    {"left": _INLINE[0], "right": _INLINE[1], "display": False},
]
"""For `gr.Chatbot(latex_delimiters=...)`: characters of Unicode's private use area."""

_MATHEMATICS = re.compile(
    r"\\\((?P<round>.{1,500}?)\\\)"
    r"|\\\[(?P<square>.{1,500}?)\\\]"
    r"|(?<!\\)\$\$(?P<double>[^$]{1,500})\$\$"
    # Pandoc's rule for single dollars: no space inside at either end, no digit behind. In "$5 and $6" the
    # second dollar has a space before it, in "$5-$6" a digit behind it.
    r"|(?<![\\$\w])\$(?P<single>(?=[^\s$])(?:\\.|[^$\\]){0,500}?(?<=[^\s]))\$(?![\w$])",
    re.DOTALL,
)
_PRICE = re.compile(r"\d[^\\^_=<>+*/{}]*[^\W\d_]{2}")
"""A "formula" that begins with a number and has a word in it, no operator: "5 or 6 dollars"."""

_UNWANTED = re.compile(
    r"\\(?:href|url|includegraphics|html\w*|rule|m?kern|[mh]skip|[hv]space|raisebox|llap|rlap|smash"
    r"|[egx]?def|let|global|futurelet|(?:re)?newcommand|providecommand)(?![A-Za-z])"
)
"""Commands that link, load, define macros or draw outside of their place: such a formula stays text."""

_MARKUP = re.compile(r":(?=/)|(?<=\bwww)\.|[#$%&*<>@\[\\\]^_`{|}~]", re.IGNORECASE)
"""What can mean something in Markdown or HTML within a line, or makes an address a link."""

_UNSHOWN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ue000-\ue003]")
_END = re.compile(r"[.!?。！？]+$")


class Mathematics(NamedTuple):
    """A formula of a text: its place with the delimiters, its LaTeX, whether it has a line of its own."""

    start: int
    end: int
    latex: str
    display: bool


def find_mathematics(text: str) -> Iterator[Mathematics]:
    r"""Yield the formulas of a text in order: `$…$`, `$$…$$`, `\(…\)`, `\[…\]`; prices are none."""
    position = 0
    while found := _MATHEMATICS.search(text, position):
        kind = found.lastgroup or ""
        latex = found[kind].strip()
        if not latex or (kind == "single" and _PRICE.match(latex)):
            position = found.start() + 1
            continue
        position = found.end()
        if not _UNWANTED.search(latex):
            yield Mathematics(found.start(), found.end(), latex, kind in ("square", "double"))


def plain(text: str) -> str:
    """Return Markdown that shows a text as it is, on one line of Markdown; line breaks become `<br>`."""
    shown = _MARKUP.sub(lambda found: f"&#{ord(found[0])};", _UNSHOWN.sub("\ufffd", text))
    return "<br>".join(line.strip() for line in shown.splitlines() if line.strip())


def with_mathematics(text: str) -> str:
    """Return Markdown that shows a text as it is but for its formulas, which are typeset."""
    text = " ".join(_UNSHOWN.sub("\ufffd", text).split())
    parts = []
    position = 0
    for start, end, latex, display in find_mathematics(text):
        left, right = _DISPLAY if display else _INLINE
        # Gradio puts formulas back after it made HTML of the rest, so they are escaped as HTML.
        parts += [_plain_part(text[position:start]), left, attribute(latex), right]
        position = end
    return "".join([*parts, _plain_part(text[position:])])


def attribute(text: str) -> str:
    """Return a text escaped for HTML between tags or within a quoted attribute, on one line.

    The percent sign too: Gradio holds the place of formulas with `%%%`.
    """
    return escape(" ".join(_UNSHOWN.sub("\ufffd", text).split()), quote=True).replace("%", "&#37;")


def claim_markdown(claim: Claim, papers: Sequence[Paper], card: str) -> str:
    """Return a claim with its citations before its full stop, as `Answer.text` has them.

    `papers[n - 1]` is paper n; `card` begins the id of its evidence card (see `cards.card_id`). Each citation
    links to the card and tells the title and the quote when pointed at.
    """
    ending = _END.search(claim.text)
    place = ending.start() if ending else len(claim.text)
    marks = []
    for n in dict.fromkeys(citation.n for citation in claim.citations):
        quotes = " … ".join(f"“{c.quote.text}”" for c in claim.citations if c.n == n)
        hover = attribute(f"{papers[n - 1].name}: {quotes}")
        marks.append(f'<a class="pl-cite" href="#{card}-{n}" title="{hover}">&#91;{n}&#93;</a>')
    if not marks:
        return with_mathematics(claim.text)
    return f"{with_mathematics(claim.text[:place])} {''.join(marks)}{plain(claim.text[place:])}"


def answer_markdown(claims: Iterable[Claim], papers: Sequence[Paper], card: str) -> str:
    """Return the claims of an answer as one paragraph of Markdown: what it shows is `Answer.text`."""
    return " ".join(claim_markdown(claim, papers, card) for claim in claims)


def _plain_part(text: str) -> str:
    # `plain` strips the ends, where formulas and citations need their spaces.
    lead, trail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{lead}{plain(text)}{trail}" if text.strip() else text


__all__ = [
    "LATEX_DELIMITERS",
    "Mathematics",
    "answer_markdown",
    "attribute",
    "claim_markdown",
    "find_mathematics",
    "plain",
    "with_mathematics",
]
