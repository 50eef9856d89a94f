"""Rows of the store: what goes in comes out, and filters mean the same on both sides."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.rows import (
    Record,
    admits,
    chunk_rows,
    files_json,
    files_of,
    filter_conditions,
    filter_fields,
    is_part,
    mean_vector,
    pairs_json,
    pairs_of,
    paper_id_of,
    paper_of,
    paper_row,
    quantize,
    record_digest,
    sentences_of,
)
from rag.types import Chunk, Filters, Paper, Source, SourceFile, Span, Vectors, Version

words = st.text(max_size=12)
sources = st.lists(st.builds(Source, words, st.integers(1, 9), st.integers(0, 99)), max_size=3).map(tuple)
versions = st.builds(
    Version,
    id=words,
    abstract=words,
    sources=sources,
    title=st.none() | words,
    authors=st.lists(words, max_size=2).map(tuple),
    year=st.none() | st.integers(1900, 2100),
)
papers = st.builds(
    Paper,
    id=st.just("p1"),
    abstract=st.text(min_size=1),
    label=words,
    title=st.none() | words,
    authors=st.lists(words, max_size=3).map(tuple),
    year=st.none() | st.integers(1900, 2100),
    venue=st.none() | words,
    url=st.none() | words,
    keywords=st.lists(words, max_size=3).map(tuple),
    sources=sources,
    versions=st.lists(versions, max_size=3).map(tuple),
)


@given(papers)
def test_a_paper_comes_back_as_it_went(paper: Paper) -> None:
    row = json.loads(json.dumps(paper_row(paper)))
    assert paper_of(paper.id, paper.abstract, row) == paper
    assert row["digest"] == record_digest(paper)


@given(papers, papers)
def test_the_digest_tells_papers_apart(one: Paper, other: Paper) -> None:
    assert (record_digest(one) == record_digest(other)) == (one == other)


def unit(rows: int) -> Vectors:
    vectors = np.random.default_rng(0).normal(size=(rows, 16))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def test_sentences_come_back_in_the_order_of_the_abstract() -> None:
    spans = tuple(Span(n * 10, n * 10 + 9) for n in range(5))
    chunks = (
        Chunk("p1:0-29", "p1", 0, 29, "", spans[:3]),
        Chunk("p1:30-49", "p1", 30, 49, "", spans[3:]),
    )
    vectors = unit(5)
    record = Record(Paper("p1", "x" * 50, "l"), chunks, unit(2), vectors)
    rows = [row["metadata"] for row in chunk_rows(record)]
    found = sentences_of(reversed(rows), 16)["p1"]
    assert found.spans.tolist() == [[span.start, span.end] for span in spans]
    restored = found.vectors / np.linalg.norm(found.vectors, axis=1, keepdims=True)
    assert (restored * vectors).sum(axis=1) == pytest.approx(1, abs=1e-3)
    assert [paper_id_of(row["id"]) for row in chunk_rows(record)] == ["p1", "p1"]
    assert sentences_of([], 16) == {}


def test_bytes_keep_directions() -> None:
    vectors = unit(200)
    rows = quantize(vectors).astype(np.float32)
    cosines = (rows * vectors).sum(axis=1) / np.linalg.norm(rows, axis=1)
    assert cosines.min() > 1 - 1e-3 and not quantize(np.zeros((1, 16), np.float32)).any()
    assert quantize(np.zeros((0, 16), np.float32)).shape == (0, 16)
    assert np.linalg.norm(mean_vector(vectors)) == pytest.approx(1)
    assert not mean_vector(np.stack([vectors[0], -vectors[0]])).any()


def test_fields_to_filter_by_ignore_case_space_and_unicode_form() -> None:
    paper = Paper("p", "a", "l", None, ("Jürgen Müller", "Li"), 2026, " NeurIPS ", None, ("Größe",), (Source("A.txt", 1),))
    assert filter_fields(paper) == {
        "year": 2026,
        "venue": "neurips",
        "sources": ["a.txt"],
        "authors": ["jürgen müller", "li", "müller"],
        "keywords": ["grösse"],
    }
    assert filter_fields(Paper("p", "a", "l")) == {
        "year": 0,
        "venue": "",
        "sources": [""],
        "authors": [""],
        "keywords": [""],
    }


def test_conditions_are_joined() -> None:
    assert filter_conditions(Filters(years=frozenset({2025, 2024}))) == {"year": {"$in": [2024, 2025]}}
    assert filter_conditions(Filters(authors=frozenset({"Mu\u0308ller", "LI"}))) == {
        "$or": [{"authors": {"$contains": "li"}}, {"authors": {"$contains": "müller"}}]
    }
    both = filter_conditions(Filters(venues=frozenset({"ICLR"}), keywords=frozenset({"x"})))
    assert both == {"$and": [{"venue": {"$in": ["iclr"]}}, {"keywords": {"$contains": "x"}}]}


def test_a_row_of_an_index_without_versions_is_read() -> None:
    row = paper_row(Paper("p1", "text", "l"))
    assert "versions" not in row["record"] and paper_of("p1", "text", row).versions == ()


@given(st.dictionaries(words, st.tuples(words, words, words)), st.sets(st.frozensets(words, min_size=2, max_size=2)))
def test_files_and_pairs_come_back(files: dict[str, tuple[str, str, str]], pairs: set[frozenset[str]]) -> None:
    known = {name: SourceFile(name, *about) for name, about in files.items()}
    assert files_of(files_json(known.values())) == known and files_of("") == {}
    assert pairs_of(pairs_json(pairs)) == pairs and pairs_of("") == frozenset()


def test_a_venue_is_found_by_whole_words_of_its_name() -> None:
    for part, name in (
        ("neurips", "NeurIPS 2026"),
        ("NeurIPS 2026", "neurips 2026 oral"),
        ("ICML", "ICML2025"),
        ("2025", "icml2025"),
        ("Processing Systems", "Advances in Neural Information Processing Systems 36"),
        ("学报", "计算机学报"),
    ):
        assert is_part(part, name)
    for part, name in (("AI", "UAI 2023"), ("IPS", "NeurIPS"), ("202", "ICML 2025"), ("", "X"), ("--", "X"), ("x", "")):
        assert not is_part(part, name)


def test_filters_admit_as_the_store_does() -> None:
    fields = filter_fields(Paper("p", "a", "l", None, ("Ann Lee",), 2026, "ICLR 2026", None, ("Safety",), (Source("a.txt", 1),)))
    for wanted in ({"years": {2026, 1}}, {"venues": {"iclr"}}, {"sources": {"A.TXT"}}, {"authors": {"lee"}}, {"keywords": {"safety"}}):
        assert admits(Filters(**{name: frozenset(values) for name, values in wanted.items()}), fields)  # type: ignore[arg-type]
    for wanted in ({"years": {1}}, {"venues": {"LR"}}, {"sources": {"a"}}, {"authors": {"le"}}, {"keywords": {"x"}}):
        assert not admits(Filters(**{name: frozenset(values) for name, values in wanted.items()}), fields)  # type: ignore[arg-type]
    assert admits(Filters(), fields)
