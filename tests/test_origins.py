"""Names of files across commands: the same file keeps its name, another one of that name gets its own."""

from __future__ import annotations

from rag.origins import with_known_names
from rag.types import Loaded, Paper, Skipped, Source, SourceFile, Version


def loaded(*files: tuple[str, str, str]) -> Loaded:
    papers = tuple(
        Paper(name, "text", "", sources=(Source(name, 1),), versions=(Version(name, "text", (Source(name, 1),)),) * 2)
        for name, _, _ in files
    )
    return Loaded(papers, tuple(Skipped(name, 1, "r") for name, _, _ in files), 0, tuple(SourceFile(*f) for f in files))


def names(found: Loaded) -> list[str]:
    result = [file.name for file in found.files]
    assert result == [paper.sources[0].file for paper in found.papers] == [skip.file for skip in found.skipped]
    assert result == [paper.versions[1].sources[0].file for paper in found.papers]
    return result


def known(*files: tuple[str, str, str]) -> dict[str, SourceFile]:
    return {name: SourceFile(name, path, digest, "2026") for name, path, digest in files}


def test_the_same_file_keeps_its_name_whatever_it_holds() -> None:
    assert names(with_known_names(loaded(("a.csv", "/x/a.csv", "2")), known(("a.csv", "/x/a.csv", "1")))) == ["a.csv"]
    assert names(with_known_names(loaded(("a.csv", "/x/a.csv", "2")), known(("x/a.csv", "/x/a.csv", "1")))) == ["x/a.csv"]
    assert names(with_known_names(loaded(("a.csv", "/x/a.csv", "2")), {})) == ["a.csv"]


def test_another_file_of_the_name_gets_its_folders() -> None:
    index = known(("a.csv", "/x/2022/a.csv", "1"))
    assert names(with_known_names(loaded(("a.csv", "/x/2023/a.csv", "2")), index)) == ["2023/a.csv"]
    index = known(("a.csv", "/x/2022/a.csv", "1"), ("2023/a.csv", "/y/2023/a.csv", "3"))
    assert names(with_known_names(loaded(("a.csv", "/x/2023/a.csv", "2")), index)) == ["x/2023/a.csv"]
    assert names(with_known_names(loaded(("a.csv", "/a.csv", "2")), index)) == ["/a.csv"]


def test_the_same_bytes_elsewhere_and_files_of_older_indexes_are_the_known_file() -> None:
    assert names(with_known_names(loaded(("a.csv", "/y/a.csv", "1")), known(("a.csv", "/x/a.csv", "1")))) == ["a.csv"]
    assert names(with_known_names(loaded(("a.csv", "/y/a.csv", "1")), known(("a.csv", "", "")))) == ["a.csv"]


def test_two_files_of_one_load_never_share_a_name() -> None:
    index = known(("a.csv", "/x/2022/a.csv", "1"))
    both = loaded(("2022/a.csv", "/x/2022/a.csv", "1"), ("2023/a.csv", "/x/2023/a.csv", "1"))
    assert names(with_known_names(both, index)) == ["a.csv", "2023/a.csv"]
    same = loaded(("a.csv", "/y/a.csv", "1"), ("b/a.csv", "/x/2022/a.csv", "1"))
    assert names(with_known_names(same, index)) == ["y/a.csv", "a.csv"]
