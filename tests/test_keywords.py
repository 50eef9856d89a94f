"""The keyword index: saved is loaded, any script, nothing where nothing matches."""

from __future__ import annotations

import math
from pathlib import Path
from tempfile import TemporaryDirectory

import bm25s
import numpy as np
import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.errors import StoreError
from rag.keywords import K1, B, KeywordIndex, _spaced, tokenize

TEXTS = {
    "a": "Safety-aware upcycling turns safety layers into experts.",
    "b": "We prune attention heads of transformers; heads are redundant.",
    "c": "我们提出一种安全的大语言模型对齐方法。",
    "d": "The ℃ unit and the ﬁne gates, 12 heads.",
}


@pytest.fixture(scope="module")
def index() -> KeywordIndex:
    return KeywordIndex.build(list(TEXTS), TEXTS.values())


def best(index: KeywordIndex, query: str) -> str:
    return index.paper_ids[int(np.argmax(index.scores(query)))]


def test_words_are_stemmed_folded_and_without_stop_words() -> None:
    assert tokenize(["The Pruned HEADS of ﬁne models"]) == [["prune", "head", "fine", "model"]]
    assert tokenize(["大语言模型 AI 好"]) == [["大语", "语言", "言模", "模型", "ai", "好好"]]
    assert tokenize(["", "the of", "!?"]) == [[], [], []]


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=60), max_size=5))
def test_tokens_are_those_of_the_library(texts: list[str]) -> None:
    texts = [*texts, *TEXTS.values(), "LoRA-GT's the THE of_it x"]
    theirs = bm25s.tokenize(
        [_spaced(text) for text in texts], stopwords="en", stemmer=Stemmer.Stemmer("english"),
        return_ids=False, show_progress=False,
    )  # fmt: skip
    assert tokenize(texts) == [list(row) for row in theirs]


def test_tokens_have_the_numbers_of_the_index(index: KeywordIndex) -> None:
    numbers = [index.number(token) for token in tokenize([TEXTS["b"]])[0]]
    assert None not in numbers and len(set(numbers)) == len(set(tokenize([TEXTS["b"]])[0]))
    assert index.number("absent") is None


def test_scores_are_bm25(index: KeywordIndex) -> None:
    """Lucene's form, computed by hand for one word that stands twice in one of four texts."""
    lengths = [len(tokens) for tokens in tokenize(list(TEXTS.values()))]
    idf = math.log(1 + (4 - 2 + 0.5) / (2 + 0.5))
    norm = K1 * (1 - B + B * lengths[1] / (sum(lengths) / 4))
    assert index.scores("heads")[1] == pytest.approx(idf * 2 / (2 + norm), rel=1e-5)
    assert index.idf("heads") == pytest.approx(idf)
    assert index.document_frequency("head") == 2 and index.document_frequency("absent") == 0
    assert index.idf("the") == 0 and index.idf("unheard") > index.idf("heads")


def test_each_text_is_found_by_its_words(index: KeywordIndex) -> None:
    assert best(index, "Which layers become experts?") == "a"
    assert best(index, "pruning a transformer's head") == "b"
    assert best(index, "大语言模型如何对齐？") == "c"
    assert best(index, "fine gate") == "d"


@pytest.mark.parametrize("query", ["", "?!", "the of and", "квантовый", "كيف", "量子计算", "unheard", "\ud83d\ude00"])
def test_where_nothing_matches_all_are_zero(index: KeywordIndex, query: str) -> None:
    scores = index.scores(query)
    assert scores.shape == (4,) and scores.dtype == np.float32 and not scores.any()


@settings(max_examples=40)
@given(st.lists(st.text(max_size=40), min_size=1, max_size=6), st.text(max_size=30))
def test_saved_is_loaded(texts: list[str], query: str) -> None:
    built = KeywordIndex.build([str(n) for n in range(len(texts))], texts)
    with TemporaryDirectory() as folder:
        built.save(Path(folder) / "index")
        loaded = KeywordIndex.load(Path(folder) / "index")
        assert loaded.paper_ids == built.paper_ids
        for asked in (query, *texts):
            np.testing.assert_array_equal(loaded.scores(asked), built.scores(asked))
            assert loaded.idf(asked) == built.idf(asked)


@pytest.mark.parametrize("texts", [[], [""], ["the of"], ["", "a word"]])
def test_texts_without_words(texts: list[str], tmp_path: Path) -> None:
    ids = [str(n) for n in range(len(texts))]
    KeywordIndex.build(ids, texts).save(tmp_path / "index")
    index = KeywordIndex.load(tmp_path / "index")
    assert index.paper_ids == tuple(ids) and index.scores("nothing").shape == (len(ids),)
    assert index.idf("nothing") >= 0


def test_a_query_does_not_build_the_index_again(index: KeywordIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("built again")

    monkeypatch.setattr(bm25s.BM25, "index", fail)
    assert index.scores("heads").any() and index.scores("layers").any()


def test_every_damage_is_noticed_or_harmless(index: KeywordIndex, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    index.save(folder)
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    assert len(files) > 4
    noticed = 0
    for file in files:
        whole = file.read_bytes()
        for damaged in (b"", whole[: len(whole) // 2], b"\x00" * len(whole), b"null", None):
            if damaged is None:
                file.unlink()
            else:
                file.write_bytes(damaged)
            try:
                loaded = KeywordIndex.load(folder)
            except StoreError as error:
                assert str(folder) in str(error)
                noticed += 1
            else:
                assert len(loaded.scores("heads")) == 4
            file.write_bytes(whole)
    assert noticed >= 4 * len(files)
    assert best(KeywordIndex.load(folder), "heads") == "b"


def test_british_and_american_spellings_are_one_word() -> None:
    """"optimisation", "behaviour", "analysed" find their American forms; "hour" and "four" stay what they are."""
    british = tokenize(["quantised optimisation behaviour analysed neighbourhoods modelling"])
    american = tokenize(["quantized optimization behavior analyzed neighborhoods modeling"])
    assert british == american
    assert tokenize(["four hours"]) == [["four", "hour"]]


def test_papers_that_hold_a_stem_are_found_by_it() -> None:
    """Stemming a stem again may give another word: "inverse" is "invers" is "inver"."""
    index = KeywordIndex.build(["a", "b", "c"], ["inverse problems", "a problem", "nothing here"])
    token = tokenize(["inverse"])[0][0]
    assert tokenize([token])[0] != [token]
    assert [index.paper_ids[row] for row in index.holding(token)] == ["a"]
    assert len(index.holding("absent")) == 0
