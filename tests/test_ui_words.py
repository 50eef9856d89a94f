"""The texts of the interface: the same in every language, and every one is used."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

from ui.words import CHINESE, ENGLISH, LANGUAGES, counted, plural, step_in_words, words_of

UI = Path(__file__).resolve().parent.parent / "ui"


def fields(text: str) -> set[str]:
    """Return the names that are filled in."""
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("name", LANGUAGES)
def test_no_text_is_missing(name: str) -> None:
    """Each has the same keys, and in each text the same is filled in."""
    words = LANGUAGES[name]
    assert words.keys() == ENGLISH.keys()
    assert {key: fields(text) for key, text in words.items()} == {key: fields(text) for key, text in ENGLISH.items()}
    assert all(text.strip() and "<" not in text for text in words.values())


def test_every_text_is_used() -> None:
    """By its key, or by one that begins like it."""
    source = "\n".join(file.read_text(encoding="utf-8") for file in UI.glob("*.py") if file.name != "words.py")
    built = ("writer_", "name_", "tab_", "export_", "set_")
    verdicts = ("supported", "partial", "contradicted", "unchecked", "paper", "papers")
    unused = [
        key
        for key in ENGLISH
        if not re.search(rf"[\"']{key.removesuffix('_one')}[\"']", source)
        and not key.startswith(built)
        and key not in verdicts
    ]
    assert unused == []


def test_numbers_and_steps_in_words() -> None:
    """One is not many, and an unknown step is told as it is."""
    assert (counted(ENGLISH, 1), counted(ENGLISH, 3218)) == ("1 paper", "3,218 papers")
    assert plural(ENGLISH, "checked", 1) == "1 sentence checked"
    assert step_in_words("searching 3,218 papers", CHINESE) == "检索 3,218 篇论文"
    assert step_in_words("writing about theme 2 of 7", CHINESE) == "撰写主题 2/7"
    assert step_in_words("humming", CHINESE) == "humming"
    assert step_in_words("writing", ENGLISH) == "writing"
    assert words_of("fr") is ENGLISH
