"""The map: a point for each paper, placed points stay, and text in the picture is only text."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.manifold import trustworthiness

from rag.theme_map import lay_out, map_svg, place_beside
from rag.types import Place, Theme
from tests.test_themes import blobs


def test_neighbours_stay_neighbours() -> None:
    vectors, _ = blobs(6, 40)
    points = lay_out(vectors)
    assert points.shape == (240, 2) and points.min() >= 0 and points.max() <= 1
    assert trustworthiness(vectors, points, n_neighbors=10) > 0.85
    assert (points == lay_out(vectors)).all()


def test_a_handful_of_papers_has_points() -> None:
    vectors, _ = blobs(1, 6)
    for papers in range(6):
        assert lay_out(vectors[:papers]).shape == (papers, 2)


def test_new_papers_stand_by_their_neighbours() -> None:
    vectors, labels = blobs(4, 50)
    points = lay_out(vectors[::2])
    beside = place_beside(vectors[1::2], vectors[::2], points)
    middles = np.stack([points[labels[::2] == label].mean(axis=0) for label in range(4)])
    nearest = np.linalg.norm(beside[:, None] - middles, axis=2).argmin(axis=1)
    assert (nearest == labels[1::2]).mean() > 0.95


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_picture_is_xml_whatever_the_names(name: str, label: str) -> None:
    svg = map_svg([Place("a", 0.1, 0.9, 0), Place("b", 0.5, 0.5, -1)], [Theme(label, ("a",))], {"a": name})
    root = ElementTree.fromstring(svg.encode("utf-8"))
    assert root.tag.endswith("svg")
    assert {element.tag.rpartition("}")[2] for element in root.iter()} <= {"svg", "title", "rect", "circle", "text"}


def test_markup_in_a_title_is_shown_and_not_run() -> None:
    svg = map_svg([Place("a", 0, 0, 0)], [Theme("<b>x</b>", ("a",))], {"a": '<img src=x onerror="alert(1)">'})
    assert "<img" not in svg and "<b>" not in svg and "&lt;img" in svg
    assert "(1)" in svg
