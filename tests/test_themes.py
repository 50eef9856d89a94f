"""Groups: each paper in one or none, the order of no account, those that were there stay when others join."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from rag.themes import LEAST, assign_papers, group_papers, shift, theme_count, upper_count


def blobs(count: int, size: int, seed: int = 0, noise: float = 0.35) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors around `count` directions, and the direction of each."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(count, 24))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    labels = np.repeat(np.arange(count), size)
    vectors = centres[labels] + noise * random.normal(size=(count * size, 24)) / np.sqrt(24)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), labels


@pytest.mark.parametrize(("count", "size"), [(4, 10), (8, 60), (12, 300)])
def test_planted_groups_are_found(count: int, size: int) -> None:
    vectors, labels = blobs(count, size)
    found = group_papers(vectors, count)
    inside = found.groups >= 0
    assert inside.mean() > 0.95
    assert adjusted_rand_score(labels[inside], found.groups[inside]) > 0.95


def test_a_paper_far_from_all_is_in_none() -> None:
    vectors, _ = blobs(4, 50)
    strange = -vectors.mean(axis=0, keepdims=True)
    strange /= np.linalg.norm(strange)
    found = group_papers(np.concatenate([vectors, strange.astype(np.float32)]), 4)
    assert found.groups[-1] == -1


@given(st.integers(0, 40), st.integers(0, 3))
def test_every_size_of_corpus_is_grouped(papers: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(papers, 8)).astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    found = group_papers(vectors)
    assert len(found.groups) == papers and found.groups.max(initial=-1) < len(found.centres)
    sizes = np.bincount(found.groups[found.groups >= 0], minlength=len(found.centres))
    assert papers < 2 * LEAST or (sizes >= LEAST).all()
    assert len(found.parents) == len(found.centres)


def test_equal_vectors_are_one_group() -> None:
    vectors = np.tile(np.eye(1, 8, dtype=np.float32), (12, 1))
    found = group_papers(vectors)
    assert set(found.groups.tolist()) <= {-1, 0, 1} and len(found.groups) == 12


def test_the_same_papers_give_the_same_groups() -> None:
    vectors, _ = blobs(6, 40)
    assert (group_papers(vectors).groups == group_papers(vectors.copy()).groups).all()


def test_large_corpora_have_two_levels() -> None:
    vectors, _ = blobs(12, 300)
    found = group_papers(vectors)
    assert len(found.centres) == theme_count(3_600) and 1 < found.parents.max() + 1 == upper_count(len(found.centres))
    assert ((found.upper >= 0) == (found.groups >= 0)).all()
    small = group_papers(blobs(4, 20)[0])
    assert (small.parents == np.arange(len(small.centres))).all()


def test_new_papers_join_and_nothing_moves() -> None:
    vectors, labels = blobs(5, 80)
    old = group_papers(vectors[::2], 5)
    groups, near = assign_papers(vectors[1::2], old)
    joined = groups >= 0
    assert joined.mean() > 0.95 and (near[joined] >= old.floor).all()
    whole = np.concatenate([labels[::2], labels[1::2]])
    assert adjusted_rand_score(whole, np.concatenate([old.groups, groups])) > 0.9


def test_groups_formed_anew_from_old_centres_stay_together() -> None:
    vectors, _ = blobs(8, 60, noise=0.8)
    old = group_papers(vectors[:400], 8)
    new = group_papers(vectors, start=shift(old.centres + old.origin, vectors.mean(axis=0)))
    assert adjusted_rand_score(old.groups, new.groups[:400]) > 0.9
