"""Loading: the two default lists, folders, titles beside lists, merging, errors, and real lists."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from rag.errors import InputError
from rag.load import load_paths, paper_id
from rag.types import Loaded

ROOT = Path(__file__).parents[1]
DATA = ROOT / "data"
CORPORA = ROOT.parent / "shared" / "corpora"

FIRST = "We study early stopping in the presence of label noise. It is enough to withstand thirty percent of it."
SECOND = "Sparse signals are recovered from few measurements by LASSO-X. It needs no tuning and comes with a proof."
THIRD = "Graphs with heterophily are hard for message passing. We rewire them by curvature and gain ten points."

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


def _sources(loaded: Loaded) -> list[list[str]]:
    return [[str(source) for source in paper.sources] for paper in loaded.papers]


# The default lists


def test_default_lists() -> None:
    loaded = load_paths([DATA])
    assert len(loaded.papers) == 38 and loaded.skipped == () and loaded.merged == 0
    assert sum(paper.title is not None for paper in loaded.papers) == 25
    by_source = {str(paper.sources[0]): paper for paper in loaded.papers}
    lists = sorted(path.name for path in DATA.glob("*.txt"))
    assert set(by_source) == {f"{name}#{ordinal}" for name in lists for ordinal in range(1, 20)}
    assert all(paper.year == 2026 and paper.venue == "NeurIPS" for paper in loaded.papers)
    upsafe = by_source[f"{lists[0]}#2"]
    assert upsafe.title == "UpSafe°C: Upcycling for Controllable Safety in Large Language Models"
    assert upsafe.authors[0] == "Yuhao Sun" and len(upsafe.authors) == 7
    assert upsafe.url == "https://arxiv.org/abs/2510.02194"
    qop = by_source[f"{lists[0]}#4"]
    assert qop.title is None and qop.label == "QOP" and qop.authors == ()


def test_default_abstracts_are_stored_as_they_stand() -> None:
    for path in sorted(DATA.glob("*.txt")):
        blocks = path.read_text(encoding="utf-8").strip().split("\n\n")[1:]
        papers = load_paths([path]).papers
        assert [paper.abstract for paper in papers] == [block.strip() for block in blocks]
        lines = path.read_text(encoding="utf-8").split("\n")
        assert all(lines[paper.sources[0].line - 1].strip() == paper.abstract for paper in papers)


def test_one_list_alone_has_its_titles_too() -> None:
    path = sorted(DATA.glob("*.txt"))[0]
    loaded = load_paths([path])
    assert len(loaded.papers) == 19
    assert sum(paper.title is not None for paper in loaded.papers) == 13


# Ids


def test_ids_come_from_the_content(write: Write) -> None:
    path = write("a.txt", f"{FIRST}\n\n{SECOND}\n")
    first, second = load_paths([path]).papers
    assert first.id == paper_id(FIRST) != second.id
    assert re.fullmatch("[0-9a-f]{12}", first.id)
    assert paper_id(FIRST.upper().replace(" ", "\n  ")) == paper_id(FIRST)


def test_repeated_ids_in_a_file_are_two_papers(write: Write) -> None:
    rows = [{"id": "1", "title": "A", "abstract": FIRST}, {"id": "1", "title": "A", "abstract": SECOND}]
    loaded = load_paths([write("a.json", json.dumps(rows))])
    assert [paper.abstract for paper in loaded.papers] == [FIRST, SECOND]


# Merging


def test_the_same_abstract_twice_is_one_paper_with_both_sources(write: Write) -> None:
    write("a.txt", f"{FIRST}\n\n{SECOND}\n")
    write("b.json", json.dumps([{"title": "Early Stopping", "authors": "Ada Lovelace", "abstract": f"  {FIRST}\n"}]))
    loaded = load_paths([write("c.txt", f"{FIRST}\n").parent])
    assert loaded.merged == 2
    assert _sources(loaded) == [["a.txt#1", "b.json#1", "c.txt#1"], ["a.txt#2"]]
    assert loaded.papers[0].title == "Early Stopping" and loaded.papers[0].authors == ("Ada Lovelace",)


def test_a_reworded_version_gives_its_title_and_stays_reachable(write: Write) -> None:
    reworded = FIRST.replace("thirty", "30").replace("It is enough", "This is enough")
    write("a.txt", f"{FIRST}\n\n{SECOND}\n")
    write("b.json", json.dumps([{"title": "Early Stopping", "year": 2024, "abstract": reworded}]))
    loaded = load_paths([write("c.txt", f"{THIRD}\n").parent])
    assert loaded.merged == 1
    assert _sources(loaded) == [["a.txt#1", "b.json#1"], ["a.txt#2"], ["c.txt#1"]]
    paper = loaded.papers[0]
    assert (paper.abstract, paper.title, paper.year, paper.id) == (FIRST, "Early Stopping", 2024, paper_id(FIRST))
    own, other = paper.versions
    assert (own.id, own.abstract, own.title) == (paper.id, FIRST, None)
    assert (other.abstract, other.id) == (reworded, paper_id(reworded))
    assert [str(source) for source in other.sources] == ["b.json#1"]


def test_one_title_with_two_abstracts_stays_two(write: Write) -> None:
    rows = [{"title": "Early Stopping", "abstract": FIRST}, {"title": "Early Stopping", "abstract": THIRD}]
    assert len(load_paths([write("a.json", json.dumps(rows))]).papers) == 2


def test_a_file_given_twice_is_read_once(write: Write) -> None:
    path = write("a.txt", f"{FIRST}\n")
    loaded = load_paths([path, path.parent, path])
    assert _sources(loaded) == [["a.txt#1"]] and loaded.merged == 0


def test_titles_of_a_list_beside_the_untitled_one(write: Write) -> None:
    with (DATA / "titles.json").open(encoding="utf-8") as file:
        assert len(json.load(file)) == 25
    seeds = load_paths([DATA]).papers[9]
    assert seeds.title is None
    path = write("list.json", json.dumps([{"title": "On Ultra-DPO", "authors": ["A B"], "abstract": seeds.abstract}]))
    loaded = load_paths([DATA, path])
    assert len(loaded.papers) == 38 and loaded.merged == 1
    assert loaded.papers[9].title == "On Ultra-DPO"
    assert [str(source) for source in loaded.papers[9].sources][1] == "list.json#1"


# The report


def test_each_skipped_record_has_file_line_and_reason(write: Write) -> None:
    path = write("a.csv", f'title,abstract\nA,"{FIRST}"\nB,N/A\nC,\n,\nD,"x "y", z"\nE, {SECOND}\n')
    loaded = load_paths([path])
    assert [paper.title for paper in loaded.papers] == ["A", "E"]
    report = [(skip.file, skip.line, skip.reason) for skip in loaded.skipped]
    assert [(file, line) for file, line, _ in report] == [("a.csv", 3), ("a.csv", 4), ("a.csv", 6)]
    assert "placeholder" in report[0][2] and "no abstract" in report[1][2] and "too short" in report[2][2]
    assert all(reason.endswith(".") for _, _, reason in report)


def test_a_text_under_many_titles_is_no_abstract(write: Write) -> None:
    notice = "Requests for name changes in the electronic proceedings will be accepted with no questions asked."
    rows = [{"title": f"Paper {number}", "abstract": notice} for number in "ABC"]
    loaded = load_paths([write("a.json", json.dumps([*rows, {"title": "D", "abstract": FIRST}]))])
    assert [paper.title for paper in loaded.papers] == ["D"]
    assert len(loaded.skipped) == 3 and "3 different titles" in loaded.skipped[0].reason


def test_a_list_of_titles_alone_is_refused(write: Write) -> None:
    path = write("a.json", json.dumps([{"title": "A"}, {"title": "B", "abstract": ""}]))
    with pytest.raises(InputError, match="2 titles and no abstracts") as caught:
        load_paths([path])
    assert caught.value.file == str(path) and caught.value.exit_status == 2


def test_a_list_of_titles_beside_others_is_reported_once(write: Write) -> None:
    write("a.json", json.dumps([{"title": "A"}, {"title": "B"}]))
    path = write("b.txt", f"{FIRST}\n")
    for paths in ([path.parent], [path.parent / "a.json", path]):
        loaded = load_paths(paths)
        assert len(loaded.papers) == 1
        (skip,) = loaded.skipped
        assert (skip.file, skip.line) == ("a.json", 0) and "2 titles" in skip.reason


def test_a_sidecar_for_what_is_not_there(write: Write) -> None:
    entries = [
        {"title": "T", "source": "a.txt#1"},
        {"title": "U", "source": "a.txt#9"},
        {"title": "V", "source": "z.txt#1"},
    ]
    write("titles.json", json.dumps(entries))
    loaded = load_paths([write("a.txt", f"{FIRST}\n")])
    assert loaded.papers[0].title == "T"
    (skip,) = loaded.skipped
    assert (skip.file, skip.line) == ("titles.json", 1) and "a.txt#9" in skip.reason


def test_a_sidecar_alone_is_no_list(write: Write) -> None:
    path = write("titles.json", json.dumps([{"title": "T", "source": "a.txt#1"}]))
    with pytest.raises(InputError, match="titles for other lists"):
        load_paths([path])


# Walking


def test_folders_take_every_format_and_report_the_rest(write: Write, tmp_path: Path) -> None:
    write("a.txt", f"{FIRST}\n")
    write("sub/b.jsonl", json.dumps({"abstract": SECOND}) + "\n")
    write("sub/c.docx", "x")
    write("d.json", "{broken")
    write("e.txt", " \n")
    write(".hidden.txt", f"{THIRD}\n")
    write(".git/f.txt", f"{THIRD}\n")
    loaded = load_paths([tmp_path])
    assert _sources(loaded) == [["a.txt#1"], ["b.jsonl#1"]]
    reasons = {skip.file: skip.reason for skip in loaded.skipped}
    assert set(reasons) == {"c.docx", "d.json", "e.txt"}
    assert "not read" in reasons["c.docx"] and "JSON" in reasons["d.json"] and "empty" in reasons["e.txt"]


def test_equal_names_are_told_apart_by_their_folders(write: Write, tmp_path: Path) -> None:
    write("2022/papers.txt", f"{FIRST}\n")
    write("2023/papers.txt", f"{SECOND}\n")
    write("2023/other.txt", f"{THIRD}\n")
    assert _sources(load_paths([tmp_path])) == [["2022/papers.txt#1"], ["other.txt#1"], ["2023/papers.txt#1"]]


def test_links_are_not_followed(write: Write, tmp_path: Path) -> None:
    path = write("a.txt", f"{FIRST}\n")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "b.txt").symlink_to("/etc/hosts")
    loaded = load_paths([tmp_path])
    assert len(loaded.papers) == 1
    assert sorted(skip.file for skip in loaded.skipped) == ["b.txt", "loop"]
    link = tmp_path / "named.txt"
    link.symlink_to(path)
    assert len(load_paths([link]).papers) == 1


def test_wrong_paths(write: Write, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file or folder"):
        load_paths([tmp_path / "missing.txt"])
    with pytest.raises(InputError, match=r"\.pdf are not read"):
        load_paths([write("a.pdf", "x")])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no abstract was found"):
        load_paths([tmp_path / "empty"])
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(InputError, match="no regular file"):
        load_paths([tmp_path / "pipe.txt"])


def test_a_broken_file_the_user_named_stops_with_its_line(write: Write) -> None:
    good = write("a.txt", f"{FIRST}\n")
    bad = write("b.json", '[\n {"abstract": "x"},\n oops]')
    with pytest.raises(InputError) as caught:
        load_paths([good, bad])
    assert (caught.value.file, caught.value.line) == (str(bad), 3)
    assert "export the list again" in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read every file")
def test_an_unreadable_file(write: Write) -> None:
    path = write("a.txt", FIRST)
    path.chmod(0)
    with pytest.raises(InputError, match="check its permissions"):
        load_paths([path])


def test_nine_thousand_papers(write: Write, tmp_path: Path) -> None:
    """No search among them may grow with their square: this would take minutes, not seconds."""
    words = [f"word{number}" for number in range(4000)]
    random = Random(0)
    with (tmp_path / "large.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["title", "abstract"])
        for number in range(9000):
            writer.writerow([f"Title {number}", f"We study {' '.join(random.sample(words, 30))}."])
    assert len(load_paths([tmp_path]).papers) == 9000


# Real lists


def _real_lists() -> list[tuple[str, ...]]:
    table = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8").split("## Real lists")[1]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.split("\n") if line.startswith("| `")
    ]
    return [tuple(row[:5]) for row in rows]


@pytest.mark.skipif(not CORPORA.is_dir(), reason="the conference lists are not part of the repository")
@pytest.mark.parametrize(("name", "records", "papers", "merged", "skipped"), _real_lists())
def test_real_lists(name: str, records: str, papers: str, merged: str, skipped: str) -> None:
    path = CORPORA / name.strip("`")
    if papers == "refused":
        with pytest.raises(InputError, match=f"{records} titles and no abstracts"):
            load_paths([path])
        return
    loaded = load_paths([path])
    assert (len(loaded.papers), loaded.merged, len(loaded.skipped)) == (int(papers), int(merged), int(skipped))
    assert int(papers) + int(merged) + int(skipped) == int(records)
    assert all(paper.label and paper.title for paper in loaded.papers)


@pytest.mark.skipif(not CORPORA.is_dir(), reason="the conference lists are not part of the repository")
def test_real_lists_are_all_in_the_table() -> None:
    found = {path.relative_to(CORPORA).as_posix() for path in CORPORA.rglob("*") if path.is_file()}
    assert found == {row[0].strip("`") for row in _real_lists()}


@pytest.mark.skipif(not CORPORA.is_dir(), reason="the conference lists are not part of the repository")
def test_repaired_rows_keep_every_character() -> None:
    path = CORPORA / "neurips2023_csv" / "oral.csv"
    lines = path.read_text(encoding="utf-8").split("\n")
    for paper in load_paths([path]).papers:
        line = lines[paper.sources[0].line - 1]
        assert f'"{paper.abstract}"' in line or paper.abstract in line
        assert paper.title is not None and f",{paper.title}," in line.replace('"', "")
