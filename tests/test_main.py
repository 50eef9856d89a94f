"""The command line: its contract, with real commands over a real index."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag import Assistant, assets
from rag.__main__ import main
from rag.build import MODEL_ID
from rag.embed import DIMENSIONS
from rag.store import Store
from tests.fake_model import FakeModel, cite_first
from tests.test_store import emptied

ROOT = Path(__file__).resolve().parent.parent
UPSAFE = "What does UpSafe turn the safety-critical layers into?"
PLANETS = "We weigh 12 planets with a new scale and find that all of them are heavier than thought."
REFUSED = "What BLEU score does QOP reach?"
ANSWER_KEYS = {"question", "kind", "abstained", "text", "claims", "papers", "retrieved", "writer", "usage", "timings"}


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch, home: Path, seed_index: Path) -> None:
    """The index of the seeds, read only, and no model."""
    monkeypatch.setenv("PLENARY_HOME", str(home))
    monkeypatch.setenv("PLENARY_STORE", str(seed_index))
    monkeypatch.setenv("PLENARY_WRITER", "extractive")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command in this process; return its status, stdout and stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as error:  # argparse
            status = int(error.code or 0)
        told = capsys.readouterr()
        assert "Traceback" not in told.err
        return status, told.out, told.err

    return run


@pytest.fixture
def document(run: Callable[..., tuple[int, str, str]]) -> Callable[..., Any]:
    """Run a command with `--json`; return the one document it prints."""

    def document(*arguments: object) -> Any:
        status, out, err = run(*arguments, "--json")
        assert status == 0, err
        return json.loads(out)

    return document


Run = Callable[..., tuple[int, str, str]]
Document = Callable[..., Any]


def test_index(document: Document, run: Run, tmp_path: Path, seeds: Path) -> None:
    store = tmp_path / "index"
    made = document("index", seeds / "000_b60cf5948f5e6197.txt", "--store", store)
    assert made.keys() >= {"papers", "added", "unchanged", "merged", "skipped", "seconds"}
    assert (made["papers"], made["added"], made["unchanged"], made["merged"]) == (19, 19, 0, 0) and made["seconds"] > 0
    more = tmp_path / "more.csv"
    more.write_text(f"title,abstract\nHeavy,{PLANETS}\nLight,n/a\n", encoding="utf-8")
    second = document("index", more, "--store", store)
    assert (second["papers"], second["added"]) == (20, 1)
    (skipped,) = second["skipped"]
    assert skipped.keys() == {"file", "line", "reason"} and (skipped["file"], skipped["line"]) == ("more.csv", 3)
    status, out, err = run("index", more, "--store", store)
    assert status == 0 and out.startswith("20 papers in the index: 0 added, 1 unchanged, 0 changed, 0 merged, 1 skipped")
    assert f"skipped more.csv, line 3: {skipped['reason']}" in err


def test_search(document: Document, run: Run) -> None:
    hits = document("search", "keeping language models safe", "-k", 4)
    assert len(hits) == 4 and all(hit.keys() >= {"paper_id", "title", "score", "sources", "sentences"} for hit in hits)
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    assert all(hit["sources"][0].partition("#")[0].endswith(".txt") for hit in hits)
    by_source = document("search", "safe", "--source", "004_3BDD56fea200ce42.txt", "-k", 100)
    assert {hit["sources"][0].partition("#")[0] for hit in by_source} == {"004_3bdd56fea200ce42.txt"}
    assert document("search", "safe", "--year", 1950) == []
    status, out, _ = run("search", "keeping language models safe", "-k", 1)
    assert status == 0 and out.startswith("1. ") and hits[0]["paper_id"] in out and "“" in out
    assert run("search", "safe", "--venue", "nowhere")[:2] == (0, "no paper found\n")


def test_ask(document: Document, run: Run) -> None:
    answer = document("ask", UPSAFE)
    assert answer.keys() >= ANSWER_KEYS and answer["abstained"] is False and answer["writer"] == "extractive"
    assert answer["timings"].keys() == {"evidence", "first_word", "total"}
    assert answer["papers"][0].keys() == {"n", "paper_id", "title", "authors", "url", "sources"}
    assert answer["papers"][0]["sources"] == ["000_b60cf5948f5e6197.txt#2"]
    abstract = document("show", answer["papers"][0]["paper_id"])["abstract"]
    for claim in answer["claims"]:
        assert claim.keys() >= {"text", "support", "reason", "citations"}
        for citation in claim["citations"]:
            assert citation["quote"] == abstract[citation["start"] : citation["end"]]
            assert f"[{citation['n']}]" in answer["text"]
    status, out, err = run("ask", UPSAFE)
    assert status == 0 and answer["claims"][0]["text"] in out and "[1] " in out and "claims checked" in err


def test_a_refused_question_is_no_failure(document: Document, run: Run) -> None:
    refusal = document("ask", REFUSED)
    assert refusal.keys() >= ANSWER_KEYS and refusal["abstained"] is True
    assert refusal["claims"] == refusal["papers"] == [] and refusal["retrieved"]
    status, out, _ = run("ask", REFUSED)
    assert (status, out.strip()) == (0, refusal["text"])


def test_ask_with_a_history(document: Document, run: Run, tmp_path: Path) -> None:
    history = tmp_path / "history.json"
    history.write_text("\ufeff" + json.dumps([["user", UPSAFE], ["assistant", "Into experts."]]), encoding="utf-8")
    answer = document("ask", "And what acts as its router?", "--history", history)
    assert answer["retrieved"][0] == document("ask", UPSAFE)["papers"][0]["paper_id"]
    for text in ("{", "[[1, 2]]", '{"a": 1}', '[["user"]]', "null", '"text"', "\x00"):
        history.write_text(text, encoding="utf-8")
        status, out, err = run("ask", UPSAFE, "--history", history, "--json")
        assert (status, out) == (2, "") and err.startswith("plenary: ") and err.count("\n") == 1
    for missing in (tmp_path / "absent.json", tmp_path):
        status, out, err = run("ask", UPSAFE, "--history", missing)
        assert (status, out) == (2, "") and f"{missing}: cannot be read" in err


def test_ask_a_service(document: Document, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeModel(cite_first(r"^(?P<key>k[0-9a-f]+): (?P<text>.+)$")) as fake:
        monkeypatch.setenv("OPENAI_BASE_URL", fake.base_url)
        monkeypatch.setenv("PLENARY_MODEL", "fake-model")
        monkeypatch.setenv("PLENARY_RETRIES", "0")
        answer = document("ask", UPSAFE, "--writer", "openai")
        assert answer["writer"] == "fake-model" and not answer["abstained"] and answer["usage"]["calls"] == 1
        assert "[1]" in run("ask", UPSAFE, "--writer", "openai")[1]
    status, out, err = run("ask", UPSAFE, "--writer", "openai", "--json")
    assert (status, out) == (1, "") and "cannot be reached" in err and "OPENAI_BASE_URL" in err


def test_batch(run: Run, tmp_path: Path) -> None:
    questions, out = tmp_path / "q.jsonl", tmp_path / "a.jsonl"
    questions.write_text(
        json.dumps({"id": "a", "question": UPSAFE}) + "\n" + json.dumps({"id": "b", "search": "safety", "k": 2}) + "\n",
        encoding="utf-8",
    )
    status, printed, err = run("batch", questions, "--out", out)
    assert (status, printed) == (0, "") and f"2 of 2 answered in {out}" in err
    first, second = map(json.loads, out.read_text(encoding="utf-8").splitlines())
    assert first.keys() >= ANSWER_KEYS | {"id"} and len(second["hits"]) == 2
    before = out.read_bytes()
    assert run("batch", questions, "--out", out)[0] == 0 and out.read_bytes() == before
    questions.write_text('{"id": "a", "question": "Why?"}\n{"id": "b"}\n', encoding="utf-8")
    status, printed, err = run("batch", questions, "--out", out)
    assert (status, printed) == (2, "") and err.startswith(f"plenary: {questions}, line 2: ")


def test_show_and_status(document: Document, run: Run) -> None:
    paper_id = document("search", "UpSafe", "-k", 1)[0]["paper_id"]
    shown = document("show", paper_id)
    assert shown["paper_id"] == paper_id and shown["label"].startswith("UpSafe") and shown["abstract"].startswith("Large Language")
    status, out, _ = run("show", paper_id)
    assert status == 0 and shown["abstract"] in out and "sources: 000_b60cf5948f5e6197.txt#2" in out
    held = document("status")
    assert held["papers"] == 38 and held["store"] == os.environ["PLENARY_STORE"] and held["writer"] == "extractive"
    assert held.keys() >= {"papers", "chunks", "sentences", "model", "state", "sources", "store"}
    assert "papers: 38" in run("status")[1]


def test_remove(document: Document, run: Run, seed_copy: Path) -> None:
    paper_id = document("search", "UpSafe", "-k", 1, "--store", seed_copy)[0]["paper_id"]
    assert document("remove", paper_id, "--store", seed_copy) == {"removed": 1, "papers": 37}
    assert run("show", paper_id, "--store", seed_copy)[0] == 2
    removed = document("remove", "004_3bdd56fea200ce42.txt", "--store", seed_copy)
    assert removed == {"removed": 19, "papers": 18}
    status, out, err = run("remove", "nonsense", "--store", seed_copy)
    assert (status, out, err) == (2, "", "plenary: neither a paper nor a file of the index: nonsense\n")
    assert document("status")["papers"] == 38  # PLENARY_STORE is another one


def test_assets(document: Document, run: Run) -> None:
    rows = document("assets", "--status")
    assert {row["name"] for row in rows} == {asset.name for asset in assets.ASSETS}
    assert all(row.keys() >= {"name", "present", "path", "licence"} for row in rows)
    (row,) = document("assets", assets.TOKENIZER, "--status")
    assert row["present"] is True and Path(row["path"]).is_file()
    assert run("assets", "--status")[1].count("\n") == len(rows)
    assert run("assets", assets.TOKENIZER)[0] == 0  # it is there: nothing to fetch
    status, out, err = run("assets", "nonsense", "--status", "--json")
    assert (status, out) == (2, "") and "there is no asset 'nonsense'" in err


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["index", "/no/such/list.txt"], 2, "/no/such/list.txt: there is no such file or folder; check the path."),
        (["show", "nonsense"], 2, "there is no paper 'nonsense' in the index"),
        (["ask", " "], 2, "the question is empty"),
        (["search", ""], 2, "the question is empty"),
        (["search", "safety", "-k", "0"], 2, "-k must be at least 1"),
        (["status", "--store", "ftp://host"], 2, "'ftp://host' is no store"),
        (["status", "--store", "http://host:port"], 2, "'http://host:port' is no store"),
        (["search", "safety", "-k", "many"], 2, "invalid int value"),
        (["ask", "Why?", "--writer", "pen"], 2, "invalid choice"),
        (["nonsense"], 2, "invalid choice"),
        ([], 2, "required"),
    ],
)
def test_mistakes(run: Run, arguments: list[str], status: int, words: str) -> None:
    found = run(*arguments)
    assert found[0] == status and found[1] == "" and words in found[2]


def test_settings_that_are_wrong(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value, status, words in (
        ("PLENARY_TIMEOUT", "soon", 2, "PLENARY_TIMEOUT must be a number"),
        ("PLENARY_WRITER", "pen", 2, "unknown writer 'pen'"),
        ("PLENARY_HOME", str(tmp_path), 1, "plenary assets"),
    ):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            found = run("status", "--json")
            assert found[:2] == (status, "") and words in found[2] and found[2].count("\n") == 1
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    status, out, err = run("status", "--store", f"http://127.0.0.1:{port}", "--json")
    assert (status, out) == (1, "") and "no Chroma server answers at" in err and err.count("\n") == 1


def test_a_store_that_is_being_written(run: Run, seed_copy: Path, seeds: Path) -> None:
    with Store(str(seed_copy), MODEL_ID, DIMENSIONS).writing():
        status, out, err = run("index", seeds, "--store", seed_copy, "--json")
        assert (status, out) == (1, "") and err.count("\n") == 1
        assert f"another process is writing the index at {seed_copy}; wait until it has finished" in err
        assert run("search", "safety", "--store", seed_copy)[0] == 0
    assert run("index", seeds, "--store", seed_copy)[0] == 0


def test_an_interruption_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Assistant, "index", interrupt)
    status, out, err = run("index", "--json")
    assert (status, out) == (1, "") and err.endswith("plenary: interrupted\n")


def test_a_server_by_its_address(document: Document, chroma_server: str, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text(f"{PLANETS}\n", encoding="utf-8")
    assert document("index", tmp_path / "list.txt", "--store", emptied(chroma_server))["added"] == 1
    answer = document("ask", "How many planets are weighed with the new scale?", "--store", chroma_server)
    assert answer["papers"][0]["sources"] == ["list.txt#1"] and "12" in answer["text"]
    assert document("status", "--store", chroma_server)["store"] == chroma_server


def test_as_a_program_stdout_holds_one_document_in_utf_8() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rag", "ask", UPSAFE, "--json"],
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode()
    answer = json.loads(done.stdout.decode("utf-8"))
    assert answer.keys() >= ANSWER_KEYS and b"Traceback" not in done.stderr


def test_as_a_program_a_reader_that_leaves_is_no_failure() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "rag", "status"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout and process.stderr
    process.stdout.close()
    assert (process.stderr.read(), process.wait()) == (b"", 0)


# The papers of an index


def listed(folder: Path, name: str, *rows: dict[str, object]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder / name


def upsafe(document: Document, store: Path) -> dict[str, Any]:
    return document("show", document("search", "UpSafe", "-k", 1, "--store", store)[0]["paper_id"], "--store", store)


def test_a_list_with_titles_gives_the_seeds_theirs(document: Document, run: Run, tmp_path: Path, seeds: Path) -> None:
    store, name = tmp_path / "index", "000_b60cf5948f5e6197.txt"
    (tmp_path / "a").mkdir()
    untitled = Path(shutil.copy(seeds / name, tmp_path / "a"))  # without the titles beside it
    assert document("index", untitled, "--store", store)["papers"] == 19
    before = upsafe(document, store)
    assert before["title"] is None
    words = before["abstract"].replace("demonstrate", "show", 1).replace("Large Language Models", "Large language models")
    row = {"title": "UpSafe: Upcycling for Controllable Safety", "authors": ["Ada Lovelace"], "abstract": words + " Code is available."}
    more = listed(tmp_path / "b", "more.jsonl", row)
    made = document("index", more, "--store", store)
    assert (made["papers"], made["added"], made["merged"], made["changed"]) == (19, 0, 1, 0)
    after = upsafe(document, store)
    assert (after["paper_id"], after["abstract"]) == (before["paper_id"], before["abstract"])
    assert (after["title"], after["authors"]) == (row["title"], row["authors"])
    assert after["sources"] == ["000_b60cf5948f5e6197.txt#2", "more.jsonl#1"]
    own, other = after["versions"]
    assert (own["id"], own["sources"], own["abstract"]) == (before["paper_id"], before["sources"], before["abstract"])
    assert (other["sources"], other["abstract"]) == (["more.jsonl#1"], row["abstract"])
    # A version's id finds its paper, and the text shows both wordings.
    assert document("show", other["id"], "--store", store) == after
    text = run("show", other["id"], "--store", store)[1]
    assert f"version 2 of 2: {other['id']}" in text and str(row["abstract"]) in text and "; stored and quoted" in text
    # What is quoted is the stored wording, and its place is told.
    answer = document("ask", UPSAFE, "--store", store)
    assert {c["source"] for claim in answer["claims"] for c in claim["citations"] if c["paper_id"] == after["paper_id"]} == {"000_b60cf5948f5e6197.txt#2"}
    assert f"({after['paper_id']}; 000_b60cf5948f5e6197.txt#2)" in run("ask", UPSAFE, "--store", store)[1]
    # Nothing changes when either is indexed again.
    for path in (more, untitled):
        again = document("index", path, "--store", store)
        assert (again["added"], again["merged"], again["changed"], again["removed"]) == (0, 0, 0, 0)
    # A wrong merge is split, and stays so whatever is indexed again.
    parts = document("split", other["id"], "--store", store)
    assert parts["paper"] | {"versions": 0} == before | {"versions": 0}
    assert (parts["split"]["title"], parts["split"]["sources"]) == (row["title"], ["more.jsonl#1"])
    for paths in ([more], [untitled], [untitled, more]):
        assert document("index", *paths, "--store", store)["papers"] == 20
    assert document("show", other["id"], "--store", store) == parts["split"]
    assert document("remove", "more.jsonl", "--store", store) == {"removed": 1, "papers": 19}
    assert document("index", more, "--store", store)["added"] == 1
    for wrong, words in ((before["paper_id"], "one wording only"), ("nonsense", "there is no paper 'nonsense'")):
        status, out, err = run("split", wrong, "--store", store)
        assert (status, out) == (2, "") and words in err


def test_replacing_a_file(document: Document, run: Run, tmp_path: Path) -> None:
    store = tmp_path / "index"
    rows = [{"title": f"T{n}", "abstract": f"{PLANETS} Number {n} of {word}s is a {word}."} for n, word in enumerate(("stone", "comet", "moon"))]
    file = listed(tmp_path / "x", "list.jsonl", *rows)
    assert document("index", file, "--store", store)["added"] == 3
    assert document("index", listed(tmp_path / "y", "other.jsonl", rows[1]), "--store", store)["merged"] == 1
    listed(tmp_path / "x", "list.jsonl", rows[0])
    made = document("index", file, "--store", store)
    assert (made["papers"], made["unchanged"], made["removed"]) == (2, 1, 1)
    held = document("status", "--store", store)
    assert held["sources"] == {"list.jsonl": 1, "other.jsonl": 1}
    assert [(row["file"], row["papers"], row["path"]) for row in held["files"]] == [
        ("list.jsonl", 1, str(file)),
        ("other.jsonl", 1, str(tmp_path / "y" / "other.jsonl")),
    ]
    assert all(row["indexed"] for row in held["files"])
    text = run("status", "--store", store)[1]
    assert f"  list.jsonl: 1 papers; indexed {held['files'][0]['indexed']}; {file}\n" in text
    # Another file of the same name does not replace it silently.
    status, out, err = run("index", listed(tmp_path / "z", "list.jsonl", rows[2]), "--store", store)
    assert status == 0 and out.startswith("3 papers in the index: 1 added") and "this one is called z/list.jsonl" in err
    assert document("status", "--store", store)["sources"] == {"list.jsonl": 1, "other.jsonl": 1, "z/list.jsonl": 1}
    assert document("remove", "z/list.jsonl", "--store", store) == {"removed": 1, "papers": 2}


def test_export(document: Document, run: Run, tmp_path: Path, seed_copy: Path) -> None:
    for form, ending in (("bibtex", "bib"), ("ris", "ris"), ("csl", "json"), ("csv", "csv"), ("jsonl", "jsonl")):
        out = tmp_path / f"seeds.{ending}"
        assert run("export", "--format", form, "--out", out) == (0, "", f"38 papers written to {out}\n")
        # The files hold the very papers of the index: each joins its own.
        made = document("index", out, "--store", seed_copy)
        assert (made["papers"], made["added"], made["merged"], made["skipped"]) == (38, 0, 38, [])
    status, out, _ = run("export", "--format", "jsonl", "--source", "004_3bdd56fea200ce42.txt")
    assert status == 0 and out.count("\n") == 19
    paper_id = json.loads(out.splitlines()[0])["id"]
    assert run("export", paper_id, "--format", "jsonl")[1] == out.splitlines(keepends=True)[0]
    assert run("export", "nonsense", "--format", "csv")[0] == run("export", "--format", "csv", "--out", tmp_path)[0] == 2


def test_copy(document: Document, run: Run, chroma_server: str, seed_copy: Path, seed_index: Path, tmp_path: Path) -> None:
    server, folder = emptied(chroma_server), tmp_path / "copied"
    assert document("copy", seed_copy, server) == {"copied": 38, "unchanged": 0, "papers": 38}
    assert document("copy", server, folder) == {"copied": 38, "unchanged": 0, "papers": 38}
    assert document("copy", seed_copy, folder) == {"copied": 0, "unchanged": 38, "papers": 38}
    held = document("status")
    for store in (server, folder):
        assert document("status", "--store", store) | {"store": ""} == held | {"store": ""}
        there = document("search", "keeping models safe", "--store", store)
        assert there == document("search", "keeping models safe")
    more = listed(tmp_path / "b", "more.jsonl", {"title": "Heavy", "abstract": PLANETS})
    document("index", more, "--store", folder)
    status, out, err = run("copy", seed_copy, folder)
    assert (status, out) == (2, "") and "holds 1 papers that are not those of" in err
    assert document("copy", folder, seed_copy) == {"copied": 1, "unchanged": 38, "papers": 39}
    for wrong, words in (
        ((folder, f"{folder}/"), "are one place"),
        ((tmp_path / "absent", folder), "there is no index at"),
        ((folder, "ftp://x"), "is no store"),
    ):
        status, out, err = run("copy", *wrong)
        assert (status, out) == (2, "") and words in err
    assert not (tmp_path / "absent").exists()


def test_a_venue_by_a_part_of_its_name(document: Document, tmp_path: Path) -> None:
    rows = [{"title": f"T{n}", "venue": venue, "abstract": f"{PLANETS} Number {n} is {venue}."} for n, venue in enumerate(("NeurIPS 2026", "ICLR 2026 Oral", "UAI"))]
    document("index", listed(tmp_path / "x", "list.jsonl", *rows), "--store", tmp_path / "i")

    def found(*filters: str) -> set[str]:
        return {hit["title"] for hit in document("search", "weighing planets", *filters, "--store", tmp_path / "i")}

    assert found("--venue", "neurips") == found("--venue", "NeurIPS 2026") == {"T0"}
    assert found("--venue", "2026") == {"T0", "T1"} and found("--venue", "uai", "--venue", "oral") == {"T1", "T2"}
    assert found("--venue", "AI") == found("--venue", "IPS") == set()
    answer = document("ask", "How many planets are weighed with the new scale?", "--venue", "iclr", "--store", tmp_path / "i")
    assert [paper["title"] for paper in answer["papers"]] == ["T1"]
