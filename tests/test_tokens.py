"""Counting tokens: exact with the table, estimated without, never by the network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import tiktoken.registry
from hypothesis import given
from hypothesis import strategies as st

from rag import assets, tokens

TEXTS = st.text(max_size=300) | st.text(alphabet="ab c12.,模型\n", max_size=300)


@pytest.fixture(scope="module")
def table(asset: Callable[[str], Path]) -> Path:
    return asset(assets.TOKEN_TABLE)


@pytest.fixture
def emptied(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget tables that were read, as in a new process."""
    monkeypatch.setattr(tokens, "_loaded", {})
    yield


def abstracts(seeds: Path) -> list[str]:
    """The seed abstracts: the blocks long enough not to be a heading."""
    blocks = [block for file in sorted(seeds.glob("*.txt")) for block in file.read_text("utf-8").split("\n\n")]
    return [block for block in blocks if len(block) > 200]


def test_counts_are_those_of_o200k_base(table: Path) -> None:
    assert tokens.is_exact()
    assert tokens.count_tokens("") == 0
    assert tokens.count_tokens("hello world") == 2
    assert tokens.count_tokens("论文列表") > 0


def test_special_tokens_are_text(table: Path) -> None:
    assert tokens.count_tokens("<|endoftext|>") > 1


def test_odd_text_is_counted(table: Path) -> None:
    for text in ("\0", "\ud800", "a\ud800b", "👩‍👩‍👧", "x" * 20_000, " " * 20_000):
        assert tokens.count_tokens(text) >= 1


@pytest.mark.usefixtures("emptied")
def test_tiktoken_gets_a_copy_and_the_environment_back(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(table, tmp_path / table.name)
    for before in ("/somewhere/else", None):
        monkeypatch.setattr(tokens, "_loaded", {})
        monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
        if before is None:
            monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
        else:
            monkeypatch.setenv("TIKTOKEN_CACHE_DIR", before)
        assert tokens.is_exact(tmp_path)
        assert os.environ.get("TIKTOKEN_CACHE_DIR") == before
    assert (tmp_path / table.name).read_bytes() == table.read_bytes()


@pytest.mark.usefixtures("emptied")
def test_without_the_table_counts_are_estimates(tmp_path: Path) -> None:
    assert not tokens.is_exact(tmp_path)
    text = "Retrieval-augmented generation (RAG) reaches 95.3% on 检索."
    assert tokens.count_tokens(text, tmp_path) == tokens.estimate_tokens(text)


@pytest.mark.usefixtures("emptied")
def test_a_damaged_table_is_not_shown_to_tiktoken(table: Path, tmp_path: Path) -> None:
    """tiktoken would delete it and ask the network for another."""
    damaged = tmp_path / table.name
    damaged.write_bytes(table.read_bytes()[:-1] + b"!")
    assert not tokens.is_exact(tmp_path)
    assert damaged.exists()


@pytest.mark.usefixtures("emptied")
def test_a_table_fetched_later_is_used(table: Path, tmp_path: Path) -> None:
    assert not tokens.is_exact(tmp_path)
    shutil.copy(table, tmp_path / table.name)
    assert tokens.is_exact(tmp_path)


def test_the_estimate_is_as_good_as_documented(table: Path, seeds: Path) -> None:
    ratios = [tokens.estimate_tokens(text) / tokens.count_tokens(text) for text in abstracts(seeds)]
    assert len(ratios) == 38
    assert sum(ratios) / len(ratios) == pytest.approx(1.07, abs=0.01)
    assert min(ratios) > 0.92
    assert max(ratios) < 1.17


def test_the_estimate_does_not_miss_chinese(table: Path) -> None:
    for text in (
        "强化学习后的指令微调会不会抹掉之前学到的内容?",
        "検索拡張生成のための新しい手法を提案する。",
        "새로운 검색 증강 생성 방법을 제안한다.",
    ):
        assert 1.0 <= tokens.estimate_tokens(text) / tokens.count_tokens(text) < 2.0


@given(text=TEXTS, limit=st.integers(-1, 80))
def test_truncation_is_a_prefix_within_the_limit(text: str, limit: int) -> None:
    cut = tokens.truncate_tokens(text, limit)
    assert text.startswith(cut)
    assert tokens.count_tokens(cut) <= max(limit, 0)
    if tokens.count_tokens(text) <= limit:
        assert cut == text


def test_truncation_keeps_what_fits(table: Path, seeds: Path) -> None:
    for text in abstracts(seeds)[:5]:
        cut = tokens.truncate_tokens(text, 100)
        assert 97 <= tokens.count_tokens(cut) <= 100
