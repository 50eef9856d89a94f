"""`plenary themes` and theme questions on the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rag.__main__ import main


@pytest.fixture
def run(seed_copy: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]  # a helper of these tests
    """Run a command over the seeds with the extractive writer; returns its status and what it printed."""
    monkeypatch.setenv("PLENARY_HOME", str(home))
    monkeypatch.setenv("PLENARY_STORE", str(seed_copy))
    monkeypatch.setenv("PLENARY_WRITER", "extractive")

    def command(*arguments: str) -> tuple[int, str]:
        status = main(list(arguments))
        return status, capsys.readouterr().out

    return command


def test_json_is_one_document_with_themes_and_coverage(run) -> None:  # type: ignore[no-untyped-def]
    status, out = run("themes", "--json")
    document = json.loads(out)
    assert status == 0 and document["kind"] == "theme" and document["topic"] is None
    assert {"label", "size", "paper_ids", "claims", "representatives"} <= set(document["themes"][0])
    assert document["coverage"]["corpus"] == document["coverage"]["read"] == 38
    assert document["coverage"]["assigned"] + document["coverage"]["unassigned"] == document["coverage"]["relevant"]
    assert len(document["map"]) == 38


@pytest.mark.parametrize(
    ("question", "kind"),
    [("What are the main themes on alignment?", "theme"), ("Which papers are about alignment?", "list"),
     ("How many papers are about alignment?", "count")],
)  # fmt: skip
def test_ask_answers_questions_about_many_papers(run, question: str, kind: str) -> None:  # type: ignore[no-untyped-def]
    status, out = run("ask", question, "--json")
    document = json.loads(out)
    assert status == 0 and document["kind"] == kind and document["topic"] == "alignment"
    assert document["coverage"]["relevant"] == len(document["members"]) > 4
    status, text = run("ask", question)
    assert status == 0 and "38 of 38 papers read" in text


def test_formats(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    rows = list(csv.DictReader(io.StringIO(run("themes", "alignment", "--format", "csv")[1])))
    assert rows and all(row["quote"] for row in rows)
    assert run("themes", "--format", "markdown")[1].startswith("# Themes")
    assert run("themes", "alignment", "--format", "bibtex")[1].count("\n@") + 1 > 4
    picture = tmp_path / "map.svg"
    assert run("themes", "--format", "svg", "--out", str(picture)) == (0, "")
    assert len(ElementTree.parse(picture).getroot().findall(".//{*}circle")) > 38


def test_mistakes_are_the_users(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    assert run("themes", " ")[0] == 2
    assert run("themes", "--format", "csv", "--out", str(tmp_path / "absent" / "x.csv"))[0] == 2


def test_filters_are_told_of(run) -> None:  # type: ignore[no-untyped-def]
    document = json.loads(run("themes", "--year", "1999", "--json")[1])
    assert document["coverage"]["read"] == 0 and document["coverage"]["skipped"] == 38
    assert {left["reason"] for left in document["lists"]["skipped"]} == {"not admitted by the filters"}
