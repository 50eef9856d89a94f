"""The normalisation for matching: what it makes equal, what it keeps apart, and its map to the original."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.normal import _normal_text, clean, match_key, normalise
from tests.texts import abstracts

EQUAL = [
    ("3--15\\%", "3-15%"),
    ("3–15 %", "3−15%"),
    ("$1{,}649$", "1,649"),
    ("$82$--$94\\%$", "82–94%"),
    ("$O(N^{2})$", "O(N^2)"),
    ("$O(T/\\sqrt{n})$", "O(T/√n)"),
    ("$p \\le 0.05$", "p <= 0.05"),
    ("$p<0.05$", "p < 0.05"),
    ("$3\\times$ faster", "3x faster"),
    ("$3 \\times 3$", "3×3"),
    ("$\\alpha$-divergence", "α-divergence"),
    ("\\emph{distributional discrepancy}", "distributional discrepancy"),
    ("\\textbf{a \\textit{b} c}", "a b c"),
    ("{\\em quite} new", "quite new"),
    ("_limited-parameter finetuning_ (LPF)", "limited-parameter finetuning (LPF)"),
    ("a **bold** word", "a bold word"),
    ("``equal-rate'' dynamics", "“equal-rate” dynamics"),
    ("the model’s own", "the model's own"),
    ("optimi-\nsation", "optimisation"),
    ("long-\nterm", "long-term"),
    ("optimi\u00adsation", "optimisation"),
    ("zero\u200bwidth", "zerowidth"),
    ("line\nbreak  and\ttab", "line break and tab"),
    ("techniques---including", "techniques — including"),
    ("ﬁne-tuning", "fine-tuning"),
    ("UpSafe℃", "UpSafe°C"),
    ("ＡＢＣ１２", "ABC12"),
    ("Erd\\H{o}s and G\\\"odel", "Erdős and Gödel"),
    ("Erd{\\\"o}s", "Erdös"),
    ("Cafe\u0301", "Café"),
    ("Fig.~2", "Fig. 2"),
    ("$90^\\circ$", "90°"),
    ("p &lt; 0.05", "p<0.05"),
    ("N²", "$N^2$"),
    ("$10^{-3}$", "10⁻³"),
    ("$g_\\mathrm{SFT}$", "g_SFT"),
]  # fmt: skip

APART = [
    ("1.5", "15"),
    ("-3", "3"),
    ("−3", "3"),
    ("<", ">"),
    ("≤", "<"),
    ("10%", "10"),
    ("$O(N)$", "$O(N^2)$"),
    ("10²", "102"),
    ("H₂", "H2"),
    ("1½", "11/2"),
    ("①", "1"),
    ("$x^{1}0$", "$x^{10}$"),
    ("$\\frac{1}{23}$", "$\\frac{12}{3}$"),
    ("1\\frac{1}{2}", "11/2"),
    ("$\\sqrt{n}m$", "$\\sqrt{nm}$"),
    ("$f'$", "$f''$"),
    ("f'(x)", "f''(x)"),
    ("$x$ = 5", "$x$ ≠ 5"),
    ("\\neq 0", "= 0"),
    ("GPT-4", "GPT4"),
    ("LoRA", "LoRa"),
    ("$5 and $10", "5 and 10"),
    ("~10", "10"),
    ("±3", "3"),
    ("5 GB", "5 MB"),
    ("not stable", "stable"),
    ("3-15", "315"),
    ("1,649", "1.649"),
    ("$a_i$", "$a^i$"),
    ("10 -3", "10-3"),
    ("α", "β"),
    ("\\Omega(T)", "\\omega(T)"),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), EQUAL)
def test_typography_is_made_equal(left: str, right: str) -> None:
    assert normalise(left).text == normalise(right).text
    assert match_key(left) == match_key(right)


@pytest.mark.parametrize(("left", "right"), APART)
def test_meaning_is_kept_apart(left: str, right: str) -> None:
    assert normalise(left).text != normalise(right).text


def test_money_is_no_mathematics() -> None:
    assert normalise("$5 and $10 or $x$").text == "$5 and $10 or x"


def test_unknown_commands_and_braces_stay() -> None:
    assert normalise("\\foo{a} {b, c}").text == "\\foo{a} {b, c}"


@pytest.mark.parametrize(
    "text", ["", " ", "\\", "$", "{", "}", "\\emph{", "\\frac{1}", "$$", "\\(", "^{", "\u0301", "_", "**"]
)
def test_broken_markup_does_no_harm(text: str) -> None:
    found = normalise(text)
    assert len(found.text) == len(found.starts) == len(found.ends)


MARKUP = st.lists(
    st.one_of(
        st.text(max_size=8),
        st.sampled_from(["\\emph{", "}", "$", "\\%", "\\times", "--", "—", "\n", "-\n", "ﬁ", "℃", "İ", "N²",
                         "``", "''", "_x_",
                         "{,}", "\\sqrt{", "\\frac{", "^{", "é", "\u00ad", "\u200b", " word ",
                         "1.5", "\\\"o", "~", "<="]),
    ),
    max_size=12,
).map("".join)  # fmt: skip


@given(MARKUP)
def test_every_character_stands_for_a_range_of_the_original(text: str) -> None:
    found = normalise(text)
    assert len(found.text) == len(found.starts) == len(found.ends)
    position = 0
    for start, end in zip(found.starts, found.ends, strict=True):
        assert position <= start < end <= len(text)
        position = start
    # what stands for itself is the same character
    for character, start, end in zip(found.text, found.starts, found.ends, strict=True):
        if end - start == 1 and character.isascii() and character.isalnum() and text[start].isascii():
            assert character == text[start]


@given(st.text(alphabet=st.characters(codec="ascii", categories=["L", "N", "Zs"]), max_size=60))
def test_plain_text_only_loses_spaces(text: str) -> None:
    assert normalise(text).text == " ".join(text.split())


@given(st.text(max_size=40))
def test_the_key_ignores_case_and_form(text: str) -> None:
    assert match_key(text) == match_key(f"  {text}\n")
    assert match_key(match_key("ABC " + "x")) == match_key("abc X")
    decomposed = unicodedata.normalize("NFD", "PAC-Bayes é " + "ñ")
    assert match_key(decomposed) == match_key("pac-bayes É Ñ")


def test_the_seeds_keep_no_markup() -> None:
    for file in sorted((Path(__file__).parent.parent / "data").glob("*.txt")):
        text = normalise(file.read_text(encoding="utf-8")).text
        assert not any(mark in text for mark in ("\\%", "\\emph", "\\mathrm", "{,}", "\n", "  "))


def test_cleaning_keeps_the_words_of_compounds_and_clauses_apart() -> None:
    assert clean("fine-tuning---a \\emph{well-known} step") == "fine-tuning — a well-known step"
    assert clean("3--15\\% and joint--sequential") == "3-15% and joint — sequential"


@given(abstracts() | st.text(r"aA1 .,-–×x+=<≤%$\{}_^*'`()" + "\n\u00a0\u00ad\u200b\u0301ﬁ²中", max_size=30))
def test_the_key_is_made_of_the_same_text_without_the_map(text: str) -> None:
    assert _normal_text(text) == normalise(text).text
