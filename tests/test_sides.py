"""The sides of a comparison are looked up among real papers: found, absent or ambiguous."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag import Assistant, Config
from rag.comparison_request import AS_BEFORE, MOST_SIDES, ComparisonRequest, Group
from rag.readings import Earlier, best_reading, read
from rag.sides import Looked, Lookup, content_words, core_of, has_coined_word, is_name_only
from rag.types import Side, SideStatus

ONE, TWO = "000_b60cf5948f5e6197.txt", "004_3bdd56fea200ce42.txt"
FOUND, ABSENT, AMBIGUOUS = SideStatus.FOUND, SideStatus.ABSENT, SideStatus.AMBIGUOUS


@pytest.fixture(scope="module")
def assistant(seed_index: Path, home: Path) -> Iterator[Assistant]:
    with Assistant.open(Config(store=str(seed_index), home=home, writer="extractive")) as opened:
        yield opened


@pytest.fixture(scope="module")
def ids(assistant: Assistant) -> dict[str, str]:
    """The papers' ids by their place in the seed lists."""
    return {str(source): paper.id for paper in assistant.papers() for source in paper.sources}


@pytest.fixture(scope="module")
def lookup(assistant: Assistant) -> Lookup:
    return assistant.pipeline()._comparing.sides._lookup(None)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("UpSafe℃", f"{ONE}#2"),
        ("upsafe", f"{ONE}#2"),
        ("the UpSafe paper", f"{ONE}#2"),
        ("UpSafe's", f"{ONE}#2"),
        ("“ThinkSafe”", f"{TWO}#2"),
        ("think safe", f"{TWO}#2"),
        ("lora gt", f"{TWO}#1"),
        ("LARA++", f"{TWO}#11"),
        ("TherapyGim", f"{TWO}#4"),
        ("the method called DISCA", f"{ONE}#16"),
        ("The Geometry of Alignment Collapse: When Fine-Tuning Breaks Safety", f"{TWO}#12"),
        ("the paper on on-policy distillation", f"{TWO}#10"),
        ("the work on calibrating graph neural networks", f"{ONE}#7"),
        ("pruning quantized weights in one shot", f"{ONE}#4"),
        ("the grokking paper", f"{ONE}#12"),
    ],
)
def test_a_side_is_found_by_name_title_or_description(
    lookup: Lookup, ids: dict[str, str], text: str, place: str
) -> None:
    side = lookup.side(text).side
    assert (side.status, side.paper_ids) == (FOUND, (ids[place],))
    assert side.asked == text and side.name == lookup.label(ids[place])


@pytest.mark.parametrize("text", ["GPTQ", "Wanda", "QLoRA", "ChatGPT", "Paris", "the paper on federated learning", "SparseGPT"])
def test_what_no_paper_is_about_is_absent(lookup: Lookup, text: str) -> None:
    side = lookup.side(text).side
    assert (side.status, side.paper_ids) == (ABSENT, ())


def test_a_name_that_papers_only_mention_is_absent_with_those_papers(lookup: Lookup, ids: dict[str, str]) -> None:
    looked = lookup.side("Adam")
    assert looked.side.status is ABSENT and ids[f"{ONE}#18"] in looked.mentioned


def test_what_fits_several_papers_is_ambiguous(lookup: Lookup, ids: dict[str, str]) -> None:
    side = lookup.side("the Muon paper").side
    assert side.status is AMBIGUOUS and {ids[f"{ONE}#6"], ids[f"{ONE}#18"]} <= set(side.paper_ids)


@pytest.mark.parametrize("text", ["", " ", "?", "🔥", "the", "the paper", "'\"", "()"])
def test_nothing_is_absent(lookup: Lookup, text: str) -> None:
    assert lookup.side(text).side.status is not FOUND


def test_a_paper_that_the_filters_exclude_is_absent(assistant: Assistant, ids: dict[str, str]) -> None:
    from rag import Filters

    only = assistant.pipeline()._comparing.sides._lookup(Filters(sources=frozenset({TWO})))
    assert only.side("ThinkSafe").side.paper_ids == (ids[f"{TWO}#2"],)
    assert only.side("UpSafe").side.status is ABSENT
    assert all(ids[f"{ONE}#{n}"] not in looked.side.paper_ids for n in (6, 18) for looked in only.group(Group("Muon")))


def test_the_papers_of_a_group_are_its_sides(lookup: Lookup, ids: dict[str, str]) -> None:
    sides = [looked.side for looked in lookup.group(Group("Muon"))]
    assert {paper for side in sides for paper in side.paper_ids} == {ids[f"{ONE}#6"], ids[f"{ONE}#18"]}
    assert lookup.group(Group("Muon"), but=[ids[f"{ONE}#6"]])[0].side.paper_ids == (ids[f"{ONE}#18"],)
    assert lookup.group(Group("cooking with gas", 2)) == []


def test_a_topic_with_many_alternatives_is_one_topic(lookup: Lookup) -> None:
    topic = " or ".join(f"thing {n}" for n in range(200))
    assert isinstance(lookup.group(Group(topic)), list)


def test_an_ambiguous_side_is_what_is_left_beside_the_others(lookup: Lookup, ids: dict[str, str]) -> None:
    request = ComparisonRequest((("Muon", "A River-Valley Perspective on the Muon Optimizer"),))
    reading = read(request, lookup, Earlier())
    named = lookup.side("A River-Valley Perspective on the Muon Optimizer").side
    if named.status is FOUND:  # then the other Muon paper is meant
        assert reading and {p for looked in reading.sides for p in looked.side.paper_ids} == {
            ids[f"{ONE}#6"],
            ids[f"{ONE}#18"],
        }


def test_the_same_paper_twice_is_no_comparison(lookup: Lookup) -> None:
    assert read(ComparisonRequest((("QOP", "the QOP paper"),)), lookup, Earlier()) is None


def test_sides_beyond_the_most_are_named(lookup: Lookup) -> None:
    names = ("UpSafe", "ThinkSafe", "QOP", "LPF", "SAR", "TPA", "TPC", "UCCA", "CERTRA", "DISCA", "cIPO", "Ultra-DPO")
    reading = read(ComparisonRequest((names,)), lookup, Earlier())
    assert reading and len(reading.sides) == MOST_SIDES and reading.beyond == ("cIPO", "Ultra-DPO")


def test_of_several_readings_the_surest_is_taken(lookup: Lookup, ids: dict[str, str]) -> None:
    wrong = ComparisonRequest((("QOP and", "SAR something unheard of"),))
    right = ComparisonRequest((("QOP", "SAR"),))
    reading = best_reading([wrong, right], lookup)
    assert reading and [looked.side.paper_ids[0] for looked in reading.sides] == [ids[f"{ONE}#4"], ids[f"{TWO}#15"]]
    assert best_reading([], lookup) is None


def looked(name: str) -> Looked:
    return Looked(Side(name, (name,), FOUND, name), 1.0)


def test_words_that_point_back_stand_for_papers_by_their_place() -> None:
    earlier = Earlier((looked("old"), looked("a"), looked("b"), looked("c")), 3)
    for text, name in (("it", "c"), ("the latter", "c"), ("the former", "b"), ("the first", "a"), ("the second one", "b")):
        found = earlier.pointed(text)
        assert found and found.side.name == name, text
    assert Earlier((looked("a"),)).pointed("the former") is None
    assert Earlier().pointed("it") is None


def test_a_pointer_stands_for_as_many_papers_as_it_says(lookup: Lookup) -> None:
    earlier = Earlier((looked("old"), looked("a"), looked("b"), looked("c")), 3)
    for pointer, names in ((2, ["b", "c"]), (AS_BEFORE, ["a", "b", "c"]), (9, ["old", "a", "b", "c"])):
        reading = read(ComparisonRequest(pointer=pointer), lookup, earlier)
        assert reading and [item.side.name for item in reading.sides] == names
    assert read(ComparisonRequest(pointer=2), lookup, Earlier((looked("a"),))) is None


@pytest.mark.parametrize(
    ("text", "core"),
    [
        ("the paper on value heads", "value heads"),
        ("UpSafe's method", "UpSafe"),
        ("the UpSafe paper", "UpSafe"),
        ("  “ThinkSafe” ", "ThinkSafe"),
        ("QOP", "QOP"),
    ],
)
def test_the_core_is_what_identifies_a_side(text: str, core: str) -> None:
    assert core_of(text) == core


def test_names_and_descriptions_are_told_apart() -> None:
    assert is_name_only("LB-MCTS") and is_name_only("Muon") and not is_name_only("value heads") and not is_name_only("")
    assert has_coined_word("the LoRA trick") and not has_coined_word("Vision-Language Alignment")
    assert content_words("the paper on pruning of LLMs") == ["pruning"]
