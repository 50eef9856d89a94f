"""Citations: what a writer's text says is cited, however it is written and however it streams in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag.chunk import split_sentences
from rag.cite import DraftParser, assign_keys, citation_key, number, render, render_draft, tidy
from rag.load import load_paths
from rag.types import Claim, Draft, Evidence, Paper, Support
from tests.texts import ENDS, PIECES

SEEDS = Path(__file__).resolve().parent.parent / "data"
SENTENCES = [
    (paper.id, span.start, span.end, paper.abstract[span.start : span.end])
    for paper in load_paths([SEEDS]).papers
    for span in split_sentences(paper.abstract)
]


def evidence(*texts: str) -> tuple[Evidence, ...]:
    """Return sentences of different papers with the keys kaaa1, kaaa2, ..."""
    return tuple(Evidence(f"kaaa{n}", f"paper{n}", 0, len(text), text) for n, text in enumerate(texts, 1))


THREE = evidence("Values lie in [0.1, 0.9] and [2, 3].", "Layers are frozen.", "Speed doubles.")


def parse(text: str, known: Sequence[Evidence] = THREE, *, cut: bool = False) -> list[Draft]:
    parser = DraftParser(known)
    return [*parser.feed(text), *parser.finish(cut=cut)]


def said(text: str, known: Sequence[Evidence] = THREE, *, cut: bool = False) -> list[tuple[str, str]]:
    """Return each draft's text and the last digits of its keys."""
    return [
        (draft.text, "".join(item.key[-1] for item in draft.evidence)) for draft in parse(text, known, cut=cut)
    ]


# Keys


def test_a_key_is_opaque_and_always_the_same() -> None:
    assert citation_key("abc", 0, 10) == citation_key("abc", 0, 10) == "k" + citation_key("abc", 0, 10, 12)[1:5]
    assert re.fullmatch(r"k[0-9a-f]{4}", citation_key("abc", 0, 10))
    assert len({citation_key(paper, start, end, 12) for paper, start, end, _ in SENTENCES}) == len(SENTENCES)


def test_keys_are_as_short_as_keeps_them_apart() -> None:
    found: dict[str, Evidence] = {}
    for start in range(2_000):
        item = Evidence("", "paper", start, start + 1, "x")
        other = found.setdefault(citation_key("paper", start, start + 1), item)
        if other is not item:
            break
    alone, together = assign_keys([item]), assign_keys([other, item])
    assert len(alone[0].key) == 5
    assert together[0].key != together[1].key and {len(kept.key) for kept in together} == {6}
    assert [replace(kept, key="") for kept in together] == [other, item]
    assert assign_keys([]) == ()
    assert len({kept.key for kept in assign_keys([item, item])}) == 1


# Reading what render_draft writes


drafts_of_seeds = st.lists(
    st.tuples(
        st.integers(0, len(SENTENCES) - 1),
        st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True),
    ),
    min_size=1,
    max_size=4,
)
known_of_seeds = st.lists(st.integers(0, len(SENTENCES) - 1), min_size=6, max_size=6, unique=True)


def seed_evidence(places: Sequence[int]) -> tuple[Evidence, ...]:
    return assign_keys([Evidence("", *SENTENCES[place]) for place in places])


@given(known_of_seeds, drafts_of_seeds)
def test_parsing_reads_what_rendering_writes(places: list[int], chosen: list[tuple[int, list[int]]]) -> None:
    known = seed_evidence(places)
    drafts = [
        Draft(tidy(SENTENCES[place][3]), tuple(known[item] for item in cited)) for place, cited in chosen
    ]
    # What sentencex itself takes for two sentences cannot come back as one draft.
    drafts = [draft for draft in drafts if len(split_sentences(draft.text)) == 1]
    assert parse(" ".join(map(render_draft, drafts)), known) == drafts


MARKS = ("[kaaa1]", "[kaaa2]", "(kaaa3)", "([kaaa1])", "[kaaa1][kaaa2]", "kaaa3", "[kffff]", "[5]", "【kaaa2】", "[KAAA1,]")
texts_with_marks = st.lists(
    st.tuples(
        st.sampled_from((*PIECES, "Foo", "bar", "Three gates", "and then", "- a", "1. b", "```", "(We note)", '"So')),
        st.sampled_from(("", *MARKS)),
        st.sampled_from(ENDS),
        st.sampled_from((" ", "", "\n", " ")),
        st.sampled_from(("", "", *MARKS)),
    ).map(lambda parts: f"{parts[0]} {parts[1]}{parts[2]}{parts[3]} {parts[4]}"),
    max_size=7,
).map(" ".join)


@given(texts_with_marks, st.lists(st.integers(0, 400), max_size=30), st.booleans())
@example("A [kaaa1]. B[kaaa2] c", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], False)
@example("A is fast [kaaa1] KAAA2 so", list(range(30)), False)
@example("([kaaa1]) A is fast. ([kaaa2]) B is slow.", list(range(60)), False)
def test_pieces_make_no_difference(text: str, cuts: list[int], cut: bool) -> None:
    parser = DraftParser(THREE)
    places = sorted({0, len(text), *(place for place in cuts if place < len(text))})
    streamed = [draft for start, end in pairwise(places) for draft in parser.feed(text[start:end])]
    streamed += parser.finish(cut=cut)
    assert streamed == parse(text, cut=cut)


@given(texts_with_marks)
def test_nothing_of_a_citation_is_left_in_the_text(text: str) -> None:
    for draft in parse(text):
        assert not re.search(r"kaaa\d|kffff|\(\s*\)|【|[,;]\.$|^\s|\s$|  ", draft.text, re.IGNORECASE), draft.text
        assert re.search(r"\w", draft.text)


def test_a_draft_is_given_out_when_the_next_sentence_begins() -> None:
    parser = DraftParser(THREE)
    assert list(parser.feed("Layers are frozen [kaaa2]. ")) == []
    assert [draft.text for draft in parser.feed("Speed")] == ["Layers are frozen."]
    assert [draft.text for draft in parser.feed(" doubles [kaaa3].")] == []
    assert [draft.text for draft in parser.finish()] == ["Speed doubles."]
    assert list(parser.finish()) == []


# The faults that comparable systems have


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # an author and a year are no key
        ("X helps (Smith et al., 2024).", [("X helps (Smith et al., 2024).", "")]),
        # keys that are nearly right
        ("Gates help [kaaa1.].", [("Gates help.", "1")]),
        ("Gates help [KAAA1].", [("Gates help.", "1")]),
        ("Gates help [kaaa1;kaaa2].", [("Gates help.", "12")]),
        ("Gates help [kaaa1 and kaaa2].", [("Gates help.", "12")]),
        ("Gates help [kaaa1], [kaaa2].", [("Gates help.", "12")]),
        ("Gates help [kaaa1-kaaa3].", [("Gates help.", "")]),
        ("Gates help [source: kaaa1].", [("Gates help.", "1")]),
        ("Gates help `kaaa1`.", [("Gates help.", "1")]),
        ("Gates help, kaaa1.", [("Gates help.", "1")]),
        ("According to [kaaa1], gates help.", [("gates help.", "1")]),
        ("Gates help [kaaa11].", [("Gates help.", "")]),
        ("门控有帮助【kaaa1】。层被冻结kaaa2。", [("门控有帮助。", "1"), ("层被冻结。", "2")]),
        # numbers cite nothing
        ("Gates help [5]. Layers freeze [7].", [("Gates help.", ""), ("Layers freeze.", "")]),
        ("Gates help ([5], [6]) here [1-3].", [("Gates help here.", "")]),
        # the last valid citation survives the invalid ones
        ("Gates help [kaaa1][kaaa2][kaaa3][kfff5].", [("Gates help.", "123")]),
        ("Gates help [kaaa1][5].", [("Gates help.", "1")]),
        # mathematics is text
        ("The loss in [0, 1] and index [i] fall [kaaa1].", [("The loss in [0, 1] and index [i] fall.", "1")]),
        ("It is in [2,3] [kaaa1].", [("It is in [2,3].", "1")]),
        ("A scale of [1, 5] is used [kaaa1].", [("A scale of [1, 5] is used.", "1")]),
        ("We write $x \\in [3, 4]$ and $a_{[k]}$ [kaaa2].", [("We write $x \\in [3, 4]$ and $a_{[k]}$.", "2")]),
        # a key inside a word
        ("The pref2 tuning and ref 2 or xkaaa1 help.", [("The pref2 tuning and ref 2 or xkaaa1 help.", "")]),
        # what a removed key leaves behind
        ("Gates help ([kaaa1]). Layers freeze (kaaa2) .", [("Gates help.", "1"), ("Layers freeze.", "2")]),
        ("Gates help (kffff). Layers freeze [kffff] .", [("Gates help.", ""), ("Layers freeze.", "")]),
        ("Gates, [kffff].", [("Gates.", "")]),
        # two claims from one paper both carry it
        ("Gates help [kaaa1]. Layers freeze [kaaa1].", [("Gates help.", "1"), ("Layers freeze.", "1")]),
        # code fences
        ("```\nGates help [kaaa1].\n```", [("Gates help.", "1")]),
        ("```text\nGates help [kaaa1].\n```\n", [("Gates help.", "1")]),
        ("```Gates help [kaaa1].```", [("Gates help.", "1")]),
    ],
)
def test_faults_of_others(text: str, expected: list[tuple[str, str]]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Gates help [kaaa1] Layers freeze [kaaa2]", [("Gates help.", "1"), ("Layers freeze.", "2")]),
        ("Gates help. [kaaa1] Layers freeze. [kaaa2]", [("Gates help.", "1"), ("Layers freeze.", "2")]),
        ("Gates [kaaa1] and layers [kaaa2] help.", [("Gates and layers help.", "12")]),
        ("It has [kaaa1] 12 gates.", [("It has 12 gates.", "1")]),
        ("[kaaa1] Gates help. [kaaa2] Layers freeze.", [("Gates help.", "1"), ("Layers freeze.", "2")]),
        ("kaaa1: Gates help.\nkaaa2: Layers freeze.", [("Gates help.", "1"), ("Layers freeze.", "2")]),
        ("- [kaaa1] Gates help\n- [kaaa2] Layers freeze", [("Gates help.", "1"), ("Layers freeze.", "2")]),
        ("- Gates help [kaaa1]\n- Layers freeze [kaaa2]", [("Gates help.", "1"), ("Layers freeze.", "2")]),
        ("1. Gates help [kaaa1].\n2. 5 layers freeze [kaaa2].", [("Gates help.", "1"), ("5 layers freeze.", "2")]),
        ('Gates help [kaaa1]. "All" layers freeze [kaaa2].', [("Gates help.", "1"), ('"All" layers freeze.', "2")]),
        ("Gates help [kaaa1]. (We note) they freeze [kaaa2].", [("Gates help.", "1"), ("(We note) they freeze.", "2")]),
        ("Gates help. Layers freeze [kaaa2].", [("Gates help.", ""), ("Layers freeze.", "2")]),
        ("Gates (all) [kaaa1] Layers freeze.", [("Gates (all).", "1"), ("Layers freeze.", "")]),
        ("  \n ", []),
        ("[kaaa1]", []),
        ("...", []),
    ],
)
def test_where_a_citation_belongs(text: str, expected: list[tuple[str, str]]) -> None:
    assert said(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Gates help [kaaa1]. Layers fr", [("Gates help.", "1")]),
        ("Gates help [kaaa1]. Layers freeze.", [("Gates help.", "1")]),
        ("Gates help [kaaa1]. Layers [kaaa2] improve by 3.", [("Gates help.", "1")]),
        ("Gates help [kaaa1]. Layers freeze [kaa", [("Gates help.", "1")]),
        ("Gates help [kaaa1]. Layers freeze [kaaa2]", [("Gates help.", "1"), ("Layers freeze.", "2")]),
    ],
)
def test_a_reply_cut_at_its_limit_loses_the_unfinished_sentence(text: str, expected: list[tuple[str, str]]) -> None:
    assert said(text, cut=True) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  A  gate\nhelps ", "A gate helps."),
        ("It falls to .05 , then rises", "It falls to .05, then rises."),
        ("It ends .", "It ends."),
        ("It ends..", "It ends."),
        ("Really ?", "Really?"),
        ("- A gate helps,", "A gate helps."),
        ("2) A gate helps", "A gate helps."),
        (", A gate helps", "A gate helps."),
        (".5 is enough", ".5 is enough."),
        ("He said “yes.”", "He said “yes.”"),
        ("He said “yes”", "He said “yes”."),
        ("It is fast (very)", "It is fast (very)."),
        ("门控有帮助", "门控有帮助。"),
        ("提高 12%", "提高 12%."),
        ("", ""),
    ],
)
def test_tidy(text: str, expected: str) -> None:
    assert tidy(text) == expected


@given(st.text())
def test_tidying_twice_changes_nothing_more(text: str) -> None:
    assert tidy(tidy(text)) == tidy(text)


# Numbers


def claim(text: str) -> Claim:
    return Claim(text, Support.SUPPORTED, "", ())


def test_numbers_begin_at_one_and_open_their_paper() -> None:
    one, two, three = THREE
    again = Evidence("kaaa9", "paper2", 40, 50, "More.")
    papers = {item.paper_id: Paper(item.paper_id, "", item.paper_id) for item in THREE}
    claims, cited = number([(claim("A."), [two]), (claim("B."), [one, again]), (claim("C"), [])], papers)
    assert [paper.id for paper in cited] == ["paper2", "paper1"]
    assert [[c.n for c in kept.citations] for kept in claims] == [[1], [2, 1], []]
    for kept in claims:
        for citation in kept.citations:
            assert cited[citation.n - 1].id == citation.paper_id == citation.quote.paper_id
    assert claims[1].citations[1].quote.text == "More." and claims[1].citations[1].quote.start == 40
    assert render(claims) == "A [1]. B [2][1]. C"
    assert number([], papers) == ((), ())
    assert three.paper_id not in {paper.id for paper in cited}


def test_a_paper_cited_twice_by_one_claim_is_shown_once() -> None:
    first, second = Evidence("k1", "p", 0, 1, "a"), Evidence("k2", "p", 5, 6, "b")
    claims, _ = number([(claim("门控有帮助。"), [first, second])], {"p": Paper("p", "", "p")})
    assert len(claims[0].citations) == 2
    assert render(claims) == "门控有帮助 [1]。"
