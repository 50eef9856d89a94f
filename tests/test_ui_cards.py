"""The evidence panel: quotes marked at their offsets, verdicts in words, everything escaped."""

from __future__ import annotations

import re
from html import escape, unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.types import (
    Answer,
    AnswerDone,
    Citation,
    Claim,
    ClaimChecked,
    Evidence,
    EvidenceFound,
    Hit,
    Paper,
    Plan,
    Quote,
    Source,
    Support,
    Timings,
    Usage,
)
from ui.cards import marked, paper_card, web_address
from ui.conversation import Exchange
from ui.panel import evidence_panel
from ui.words import CHINESE, LANGUAGES, Words

OWN_TAGS = {"article", "h3", "h4", "p", "span", "mark", "a", "ol", "ul", "li", "details", "summary", "div", "button", "pre"}
TEXT = st.text(max_size=40) | st.sampled_from(
    ["<img src=x onerror=alert(1)>", "p<0.05 and k>3", '" onload="x', "</article><script>x</script>", "İﬁ℃"]
)


def tags(html: str) -> set[str]:
    """Return the names of all tags."""
    return {name.lower() for name in re.findall(r"<\s*/?\s*([a-zA-Z][\w-]*)", html)}


def unescaped(html: str) -> str:
    """Undo `html.escape`; `html.unescape` also replaces characters that were never escaped."""
    for character in "'\"><&":
        html = html.replace(escape(character), character)
    return html


def text_of(html: str) -> str:
    """Return what is between the tags."""
    return unescape(re.sub(r"<[^>]*>", "", html))


@settings(deadline=None)
@given(st.text(max_size=80), st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80)), max_size=5))
def test_quotes_are_marked_at_their_offsets(abstract: str, pairs: list[tuple[int, int]]) -> None:
    """The abstract stands there unchanged, and exactly the quoted characters are in `<mark>`."""
    ranges = [(min(a, b), max(a, b)) for a, b in pairs if max(a, b) <= len(abstract) and a != b]
    html = marked(abstract, ranges)
    assert unescaped(re.sub("</?mark>", "", html)) == abstract
    quoted = "".join(c for place, c in enumerate(abstract) if any(a <= place < b for a, b in ranges))
    assert unescaped("".join(re.findall("<mark>(.*?)</mark>", html, re.DOTALL))) == quoted


@settings(deadline=None)
@given(TEXT, TEXT, TEXT, TEXT, TEXT)
def test_nothing_of_a_paper_becomes_markup(title: str, author: str, venue: str, url: str, abstract: str) -> None:
    """Whatever stands in a paper's fields, the card has the tags of cards only, and no attribute of theirs."""
    paper = Paper("id", abstract, "label", title, (author,), 2026, venue, url, sources=(Source(f"{venue}.txt", 1),))
    html = paper_card(paper, [(0, len(abstract))], 1, "card-1-1")
    assert tags(html) <= OWN_TAGS
    assert not re.search(r"<[^>]*\son\w+\s*=", html)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://arxiv.org/abs/2602.19101", "https://arxiv.org/abs/2602.19101"),
        ("HTTP://host/x?a=1&b=2", "http://host/x?a=1&b=2"),
        ("javascript:alert(1)", None),
        ("data:text/html,x", None),
        ("//host/x", None),
        ("http://[broken", None),
        ("https://", None),
        (None, None),
    ],
)
def test_only_addresses_of_the_web_are_linked(url: str | None, address: str | None) -> None:
    """A link opens beside the chat and tells the other side nothing."""
    assert web_address(url) == address
    card = paper_card(Paper("id", "text", "label", url=url), [])
    assert ("<a " in card) is (address is not None)
    if address:
        assert 'rel="noopener noreferrer nofollow"' in card


ABSTRACT = "We study widgets. Our method needs 12% less memory. It is slow."
FIRST = Paper("p1", ABSTRACT, "WID", None, ("Ada B.", "Cy D."), 2026, "NeurIPS", "https://host.example/1")
OTHER = Paper("p2", "Nothing to do with it. At all.", "OTHER")
CLAIM = Claim(
    "It needs 12% less memory.",
    Support.SUPPORTED,
    "every word is in the sentence",
    (Citation(1, "p1", Quote("p1", ABSTRACT[18:51], 18, 51)),),
)
FOUND = EvidenceFound(
    Plan("q", "q", "en", "single", ()),
    (Hit(FIRST, 0.9), Hit(OTHER, 0.5)),
    (Evidence("kaaaa", "p1", 18, 51, ABSTRACT[18:51]), Evidence("kbbbb", "p2", 0, 22, OTHER.abstract[:22])),
)


def done(claims: tuple[Claim, ...], papers: tuple[Paper, ...], removed: tuple[Claim, ...] = ()) -> AnswerDone:
    """Return the last event of an answer."""
    abstained = not claims
    text = "refused" if abstained else "text"
    return AnswerDone(Answer("q", "single", abstained, text, claims, papers, (), "w", Usage(), Timings(), removed))


def test_the_panel_follows_the_answer() -> None:
    """Found papers at once and unnumbered; then the cited one with its claim; at the end the cited ones only."""
    exchange = Exchange(3, "q")
    assert "Searching" in evidence_panel(exchange)
    exchange.take(FOUND)
    found = evidence_panel(exchange)
    assert found.count("<article") == 2 and "[1]" not in found
    assert f"<mark>{ABSTRACT[18:51]}</mark>" in found
    exchange.take(ClaimChecked(CLAIM, (FIRST,)))
    half = evidence_panel(exchange)
    assert half.count("<article") == 2 and half.count('id="card-3-1"') == 1
    exchange.take(done((CLAIM,), (FIRST,)))
    panel = evidence_panel(exchange)
    assert panel.count("<article") == 1 and "OTHER" not in panel
    for part in ("[1] WID", "Ada B., Cy D.", "NeurIPS 2026", "supported", "every word is in the sentence"):
        assert part in text_of(panel)
    assert f"<mark>{ABSTRACT[18:51]}</mark>" in panel


def test_a_refusal_has_no_sources() -> None:
    """Neither while nor after it; what did not pass is counted and can be read."""
    exchange = Exchange(1, "q")
    exchange.take(FOUND)
    removed = Claim("It needs 21% less.", Support.CONTRADICTED, "the number 21 is not in the sentence", ())
    exchange.take(done((), (), (removed,)))
    panel = evidence_panel(exchange)
    assert "<article" not in panel and "No sources" in panel
    assert "1 sentence did not pass" in panel and "the number 21 is not in the sentence" in panel
    assert "contradicted" in panel


@pytest.mark.parametrize("support", Support)
@pytest.mark.parametrize("words", LANGUAGES.values())
def test_each_verdict_is_a_word(support: Support, words: Words) -> None:
    """Colour is not needed to read it, in any language of the interface."""
    exchange = Exchange(1, "q")
    claim = Claim("x", support, "r", CLAIM.citations)
    exchange.take(done((claim,), (FIRST,)))
    verdict = words[support.value]
    assert len(verdict) > 3
    assert verdict in text_of(evidence_panel(exchange, words))


def test_a_card_can_be_used() -> None:
    """Its buttons name the paper, its BibTeX can be read and copied."""
    card = paper_card(FIRST, [], words=CHINESE)
    assert card.count('data-target="p1"') == 2
    assert "@inproceedings{p1," in unescape(card) and "data-copy" in card
    assert CHINESE["ask_paper"] in card
