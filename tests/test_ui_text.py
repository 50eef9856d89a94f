"""Texts as Markdown: what is shown is the text, and nothing in it is mark-up."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rag.cite import render
from rag.types import Citation, Claim, Paper, Quote, Support
from ui.text import answer_markdown, attribute, find_mathematics, plain, with_mathematics

# As permissive as a browser's renderer gets: HTML, tables, strike-through.
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

FORMULA = re.compile("\ue000.*?\ue001|\ue002.*?\ue003")

NASTY = st.lists(
    st.sampled_from(
        [
            *("<img src=x onerror=alert(1)>", "![x](http://host/?q=secret)", "[a](javascript:alert(1))", "</span>"),
            *("<http://host.example>", "http://host.example/a_b", "www.host.example", "a@b.example", "<!-- x -->"),
            *("&lt;b&gt;", "&amp;", "&#36;", "`code`", "**b**", "_i_", "~~s~~", "# h", "1. x", "- x", "> q", "|a|b|"),
            *("---", "===", "```", "    ", "\n", "\n\n", "\t", "\\", "\\(", "$", "$$", "%%%LATEX_BLOCK_0%%%"),
            *("${alert(1)}", "{{value}}", "\ue000", "\ue001", "p<0.05 and k>3", "℃", "模型", "ﬁ", "[0, 1]", "[1]"),
        ]
    )
    | st.text(max_size=12),
    max_size=12,
).map(" ".join)


class _Page(HTMLParser):
    """The tags and the text of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.text += "\n" if tag == "br" else ""

    def handle_comment(self, data: str) -> None:
        self.tags.append("!--")

    def handle_data(self, data: str) -> None:
        self.text += data


def shown(markdown: str) -> _Page:
    """Return what the chat shows of Markdown within a `<span>`: as Gradio does, formulas are put aside while
    the rest becomes HTML, and put back as they are."""
    formulas = FORMULA.findall(markdown)
    held = FORMULA.sub("%%%LATEX_BLOCK%%%", markdown)
    html = MARKDOWN.render(f"<span>{held}</span>")
    assert html.count("%%%LATEX_BLOCK%%%") == len(formulas)
    for formula in formulas:
        html = html.replace("%%%LATEX_BLOCK%%%", formula, 1)
    return _Page(html)


def squeezed(text: str) -> str:
    """Return a text as far as HTML can show it: runs of space are one, control characters none."""
    text = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ue000-\ue003]", "\ufffd", text)
    return " ".join(text.split())


@settings(deadline=None)
@given(NASTY)
@example("1. <script>alert(1)</script>\n\n# head\r1. x\x85- y\x0cz")
def test_plain_text_shows_itself_and_nothing_else(text: str) -> None:
    """No tag but line breaks, and every character is there."""
    page = shown(plain(text))
    assert set(page.tags) <= {"p", "span", "br"}
    assert squeezed(page.text) == squeezed(text)


@settings(deadline=None)
@given(NASTY)
def test_text_with_formulas_shows_itself_between_its_delimiters(text: str) -> None:
    """Formulas are handed over between private characters; the rest is plain, all of it is there."""
    markdown = with_mathematics(text)
    page = shown(markdown)
    assert set(page.tags) <= {"p", "span", "br"}
    left = [m.latex for m in find_mathematics(squeezed(text))]
    handed = [unescape(a or b) for a, b in re.findall("\ue000(.*?)\ue001|\ue002(.*?)\ue003", markdown)]
    assert [squeezed(latex) for latex in left] == handed
    outside = FORMULA.sub("", markdown)
    assert "$$" not in outside and "<" not in outside.replace("<br>", "")


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("costs $5 and $6", []),
        ("between $5-$6, or US$5M (vs. US$3M)", []),
        (r"\$5 and \$6", []),
        ("it costs $20, while $x$ grows", ["x"]),
        ("about $5 or 6 dollars$ in all", []),
        ("the rate is $O(n^2)$.", ["O(n^2)"]),
        (r"a gain of $95\%$ at $n=3$, not $5", [r"95\%", "n=3"]),
        (r"\( O(n^2) \) and \[ x < y \]", ["O(n^2)", "x < y"]),
        ("$$E = mc^2$$ holds", ["E = mc^2"]),
        ("loss in [0, 1] and index [i]", []),
        (r"$\href{http://host}{x}$ and $\def\a{b}$", []),
        (r"$\left(x\right)$ and $\mu$", [r"\left(x\right)", r"\mu"]),
    ],
)
def test_formulas_and_prices_are_told_apart(text: str, formulas: list[str]) -> None:
    """Money does not become mathematics; the four usual ways of writing mathematics do."""
    assert [found.latex for found in find_mathematics(text)] == formulas


@settings(deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_attributes_cannot_be_left(title: str, quote: str) -> None:
    """A title or quote ends neither its attribute nor the line."""
    html = attribute(f"{title}: {quote}")
    assert not set(html) & set("<>\"'\n%")
    assert unescape(html) == squeezed(f"{title}: {quote}")


PAPERS = tuple(
    Paper(id=f"p{n}", abstract="x", label="L", title=title)
    for n, title in enumerate(("A <b>bold</b> title", 'B "quoted" $x$'), 1)
)


def claim(text: str, *numbers: int) -> Claim:
    """Return a supported claim that cites papers by number."""
    citations = tuple(Citation(n, f"p{n}", Quote(f"p{n}", f"quote <{n}>", 0, 9)) for n in numbers)
    return Claim(text, Support.SUPPORTED, "the words of the paper", citations)


@pytest.mark.parametrize(
    "claims",
    [
        (claim("Adam needs two moments.", 1),),
        (claim("It holds for p<0.05 and k>3!", 1, 2), claim("Costs are $5 and $6", 2)),
        (claim("模型更好。", 2), claim("The index [1] is kept in [0, 1].", 1), claim("Nothing cited.")),
    ],
)
def test_an_answer_reads_as_the_text_of_the_answer(claims: tuple[Claim, ...]) -> None:
    """Citations stand where `Answer.text` has them, link to their card and show title and quote."""
    markdown = answer_markdown(claims, PAPERS, "card-7")
    page = shown(markdown)
    assert page.text.strip() == render(claims)
    for cited in {c.n for item in claims for c in item.citations}:
        assert f'href="#card-7-{cited}" title="{attribute(PAPERS[cited - 1].name)}: “quote &lt;' in markdown
    assert set(page.tags) <= {"p", "span", "a"}
