"""What becomes of stored papers when files are loaded: joining, replacing, splitting; every record is somewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from rag.join import Joined, join, relabelled
from rag.types import Paper, Source
from rag.versions import merge_versions, paper_id

NOISE = (
    "Training data often contain label noise, and networks memorise it in the end. We study when stopping early is "
    "enough to withstand such noise. For mixtures of Gaussians we prove that gradient descent first fits the clean "
    "labels and that its early iterates generalise well."
)
REWORDED = NOISE.replace("often contain", "frequently contain").replace("We study", "Here we analyse")
YEAST = "We watch how proteins fold in yeast cells. Folding takes three seconds in the warm and nine in the cold."
GATES = "Mixtures of experts have gates. We close some of them and save energy without a loss of accuracy on images."


def paper(abstract: str, file: str = "a.txt", place: int = 1, **facts: object) -> Paper:
    made = Paper(paper_id(abstract), abstract, "", sources=(Source(file, place),))
    return relabelled(replace(made, **facts))  # type: ignore[arg-type]  # fields of Paper by name


def applied(stored: dict[str, Paper], result: Joined) -> dict[str, Paper]:
    after = {paper_id: paper for paper_id, paper in stored.items() if paper_id not in result.gone}
    return {**after, **{paper.id: paper for paper in (*result.new, *result.touched)}}


def index(stored: dict[str, Paper], *loaded: Paper, files: Sequence[str] = (), apart: Sequence[frozenset[str]] = ()) -> tuple[dict[str, Paper], Joined]:
    result = join(stored, loaded, files or {s.file for p in loaded for s in p.sources}, apart)
    return applied(stored, result), result


def counts(result: Joined) -> tuple[int, ...]:
    return (result.added, result.unchanged, result.changed, result.merged, result.removed)


def sources(paper: Paper) -> list[str]:
    return [str(source) for source in paper.sources]


def test_a_list_with_titles_gives_them_to_the_untitled_papers_that_are_there() -> None:
    seeds, _ = index({}, paper(NOISE), paper(YEAST, place=2))
    listed = paper(REWORDED, "b.csv", title="Early Stopping", authors=("Ada Lovelace",), year=2024)
    after, result = index(seeds, listed)
    assert counts(result) == (0, 0, 0, 1, 0) and after.keys() == seeds.keys()
    joined = after[paper_id(NOISE)]
    assert (joined.id, joined.abstract, joined.title, joined.year) == (paper_id(NOISE), NOISE, "Early Stopping", 2024)
    assert sources(joined) == ["a.txt#1", "b.csv#1"] and str(joined.source) == "a.txt#1"
    assert [(v.id, v.abstract, v.title) for v in joined.versions] == [
        (paper_id(NOISE), NOISE, None),
        (paper_id(REWORDED), REWORDED, "Early Stopping"),
    ]
    # Either list again, or both, changes nothing any more.
    assert counts(index(after, listed)[1]) == (0, 1, 0, 0, 0)
    assert counts(index(after, paper(NOISE), paper(YEAST, place=2))[1]) == (0, 2, 0, 0, 0)
    both = map(relabelled, merge_versions([paper(NOISE), paper(YEAST, place=2), listed]).papers)
    assert counts(index(after, *both)[1]) == (0, 2, 0, 0, 0)


def test_a_text_that_differs_in_typography_is_a_version_of_its_own() -> None:
    after, _ = index({}, paper(NOISE))
    after, result = index(after, paper(NOISE.replace(" ", "\n", 3), "b.txt"))
    (joined,) = after.values()
    assert counts(result) == (0, 0, 0, 1, 0) and joined.abstract == NOISE and str(joined.source) == "a.txt#1"
    assert [v.id for v in joined.versions] == [joined.id, joined.id] and "\n" in joined.versions[1].abstract


def test_replacing_a_file_removes_what_it_holds_no_more() -> None:
    stored, _ = index({}, paper(NOISE), paper(YEAST, place=2), paper(GATES, place=3))
    stored, _ = index(stored, paper(GATES, "b.txt"))
    after, result = index(stored, paper(YEAST, place=1))
    assert counts(result) == (0, 0, 1, 0, 1)
    assert {p.abstract: sources(p) for p in after.values()} == {YEAST: ["a.txt#1"], GATES: ["b.txt#1"]}
    assert result.gone == [paper_id(NOISE)]
    assert {p.id for p in result.touched} == {paper_id(YEAST), paper_id(GATES)} and not result.new


def test_a_reworded_record_of_the_same_file_is_the_paper_in_its_new_wording() -> None:
    stored, _ = index({}, paper(NOISE, title="Old"))
    after, result = index(stored, paper(REWORDED, title="New"))
    (now,) = after.values()
    assert (now.id, now.abstract, now.title, now.versions) == (paper_id(REWORDED), REWORDED, "New", ())
    assert counts(result) == (0, 0, 1, 0, 0) and result.gone == [paper_id(NOISE)]


def test_when_the_stored_wording_goes_the_next_one_takes_its_place() -> None:
    stored, _ = index({}, paper(NOISE), paper(YEAST, place=2))
    stored, _ = index(stored, paper(REWORDED, "b.csv", title="Early Stopping"))
    after = applied(stored, join(stored, (), {"a.txt"}))
    (left,) = after.values()
    assert (left.id, left.abstract, left.title, sources(left)) == (paper_id(REWORDED), REWORDED, "Early Stopping", ["b.csv#1"])
    after = applied(stored, join(stored, (), {"b.csv"}))
    assert after[paper_id(NOISE)].title is None and after[paper_id(NOISE)].versions == ()


def test_what_a_user_split_stays_apart() -> None:
    other = replace(paper(REWORDED, "b.csv"), title="Another Paper")
    apart = [frozenset((paper_id(NOISE), paper_id(REWORDED)))]
    stored, _ = index({}, paper(NOISE))
    after, result = index(stored, other, apart=apart)
    assert counts(result) == (1, 0, 0, 0, 0) and len(after) == 2
    # Also when the loader has taken both for one, at first and when they are there.
    (both,) = merge_versions([paper(NOISE), other]).papers
    for before, told in (({}, (2, 0, 0, -1, 0)), (after, (0, 2, 0, -1, 0))):
        now, result = index(before, both, apart=apart)
        assert counts(result) == told
        assert {i: (p.title, sources(p)) for i, p in now.items()} == {
            paper_id(NOISE): (None, ["a.txt#1"]),
            paper_id(REWORDED): ("Another Paper", ["b.csv#1"]),
        }


def test_an_older_index_without_files_is_taken_over() -> None:
    stored = {paper_id(NOISE): paper(NOISE, sources=())}
    after, result = index(stored, paper(YEAST))
    assert counts(result) == (1, 0, 0, 0, 0) and len(after) == 2
    assert index(after, paper(NOISE), files=("a.txt",))[0][paper_id(NOISE)].sources == (Source("a.txt", 1),)


TEXTS = (NOISE, REWORDED, NOISE.replace(" ", "  ", 1), YEAST, YEAST.replace("watch", "see"), GATES)
RECORDS = st.lists(st.tuples(st.integers(0, 5), st.sampled_from("abc")), max_size=8)


@settings(max_examples=150)
@given(st.lists(RECORDS, min_size=1, max_size=4))
def test_every_record_is_in_one_paper_and_none_of_what_was_replaced(runs: Sequence[Sequence[tuple[int, str]]]) -> None:
    stored: dict[str, Paper] = {}
    held: dict[str, list[tuple[str, str]]] = {}
    for run in runs:
        files = sorted({file for _, file in run})
        records = [paper(TEXTS[text], file, place) for place, (text, file) in enumerate(run, 1)]
        held.update({file: [(p.abstract, str(p.source)) for p in records if str(p.source)[0] == file] for file in files})
        merged = merge_versions(records)
        stored, result = index(stored, *merged.papers, files=files)
        places = Counter(str(source) for p in stored.values() for source in p.sources)
        assert places == Counter(place for found in held.values() for _, place in found)
        # Each place stands at its own wording.
        texts = {str(s): v.abstract for p in stored.values() for v in p.versions for s in v.sources}
        texts |= {str(s): p.abstract for p in stored.values() if not p.versions for s in p.sources}
        assert texts == {place: text for found in held.values() for text, place in found}
        assert result.added + result.unchanged + result.changed + result.merged + merged.merged == len(records)
        assert all(found.id == paper_id(found.abstract) == key for key, found in stored.items())
        again = index(stored, *merged.papers, files=files)
        assert again[0] == stored and not again[1].new and not again[1].touched and not again[1].gone
