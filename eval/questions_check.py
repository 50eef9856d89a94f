"""Checks the sets of questions: fields, ids, sides, gold papers, and facts that stand in them; and what they cover.

`python -m eval.questions_check [FILE ...]` prints what is wrong. `validate` takes a file of any kind; those of plain
questions are checked by `plain_check`. A comparative question has the fields of `FIELDS` and may have those of
`OPTIONAL`:

- `comparison`: false for questions that only look like a comparison; they have no sides.
- `sides`: what is compared. A found side has one paper, an ambiguous one its candidates (two or more), an
  absent one none.
- `aspect`: what the question asks about, or null.
- `must_mention`: regular expressions (without regard to case) of facts that a good grid holds for a side.
- `acceptable`: papers that are no side, but no mistake either.
- `not_stated`: names of sides whose abstracts say nothing about the aspect.

A paper is named by its place in the lists that come along (`list.txt#3`), or, for the lists beside the
repository, by an object with `title`, `corpus` and `paper_id`.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import cache
from pathlib import Path
from typing import Any

from eval.corpora import ROOT, SHARED
from eval.plain_check import plain_row, uncovered
from rag import SideStatus, load_paths

QUESTIONS = ROOT / "eval" / "questions"
SETS = ("single", "followup", "chinese", "unanswerable", "theme", "hostile", "comparative")
"""The files of `eval/questions` that hold questions."""

FIELDS: Mapping[str, type | tuple[type, ...]] = {
    "id": str,
    "kind": str,
    "comparison": bool,
    "question": str,
    "history": list,
    "sides": list,
    "aspect": (str, type(None)),
    "group": str,
    "must_mention": list,
    "note": str,
}
OPTIONAL: Mapping[str, type] = {"acceptable": list, "not_stated": list}
GROUPS = frozenset(
    {
        "two_named", "two_described", "three_or_more", "absent", "ambiguous", "group", "follow_up", "chinese",
        "misspelt", "not_a_comparison",
    }
)
_PAPER_FIELDS = {"title", "corpus", "paper_id"}


def validate(path: Path) -> list[str]:
    """Return what is wrong with a set of questions of any kind (JSON Lines), nothing when all is well.

    Each complaint begins with the file name and the line. Which kind it is the first question tells.
    """
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    return validate_comparative(path) if '"kind": "comparative"' in first else validate_plain(path)


def validate_comparative(path: Path) -> list[str]:
    """Return what is wrong with a set of comparative questions.

    Papers of lists beside the repository are looked up only where those lists exist.
    """
    return _lines(path, _row)


def validate_plain(path: Path) -> list[str]:
    """Return what is wrong with a set of questions that have one answer: all kinds but comparisons."""
    return _lines(path, lambda row: plain_row(row, _seed_abstracts()))


def _lines(path: Path, check: Callable[[Mapping[str, Any]], Iterator[str]]) -> list[str]:
    complaints: list[str] = []
    first_lines: dict[str, int] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            found = [f"no JSON: {error.msg}"]
        else:
            found = list(check(row)) if isinstance(row, dict) else ["no JSON object"]
            key = str(row.get("id")) if isinstance(row, dict) else ""
            if key and first_lines.setdefault(key, number) != number:
                found.append(f"the id {key} stands in line {first_lines[key]} already")
        complaints += [f"{path.name}:{number}: {complaint}" for complaint in found]
    return complaints


def _row(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield complaints about a question; nothing else is looked at until its fields are right."""
    wrong = [*_fields(row)]
    if wrong:
        yield from wrong
        return
    if row["kind"] != "comparative":
        yield f"kind is {row['kind']!r}, not 'comparative'"
    if not row["question"].strip():
        yield "the question is empty"
    if row["group"] not in GROUPS:
        yield f"unknown group {row['group']!r}"
    if row["comparison"] == (row["group"] == "not_a_comparison"):
        yield f"comparison is {row['comparison']} in the group {row['group']}"
    if row["comparison"] != bool(row["sides"]):
        yield "a comparison needs sides" if row["comparison"] else "a question that is no comparison has no sides"
    for turn in row["history"]:
        if not (isinstance(turn, list) and len(turn) == 2 and turn[0] in ("user", "assistant") and turn[1]):
            yield f"history: {turn!r} is no [role, text]"
    wrong = [complaint for side in row["sides"] for complaint in _side(side)]
    if wrong:
        yield from wrong
        return
    yield from _sides_of_group(row["group"], row["history"], row["sides"])
    yield from _facts(row["sides"], row["must_mention"])
    for paper in row.get("acceptable", ()):
        yield from _paper(paper)
    names = [side["name"] for side in row["sides"]]
    for name in row.get("not_stated", ()):
        if name not in names:
            yield f"not_stated: no side is called {name!r}"


def _fields(row: Mapping[str, Any]) -> Iterator[str]:
    for name in FIELDS.keys() - row.keys():
        yield f"the field {name} is missing"
    for name in row.keys() - FIELDS.keys() - OPTIONAL.keys():
        yield f"unknown field {name}"
    for name, kind in [*FIELDS.items(), *OPTIONAL.items()]:
        if name in row and not isinstance(row[name], kind):
            yield f"the field {name} is of the wrong type"


def _side(side: Any) -> Iterator[str]:
    if not isinstance(side, dict) or side.keys() != {"name", "papers", "status"}:
        yield f"{side!r} is no side with name, papers and status"
        return
    name, papers, status = side["name"], side["papers"], side["status"]
    if not isinstance(papers, list) or not isinstance(name, str) or not name:
        yield f"the side {name!r} needs a name and a list of papers"
    elif status not in list(SideStatus):
        yield f"the side {name!r} has the unknown status {status!r}"
    elif status == SideStatus.ABSENT and papers:
        yield f"the absent side {name!r} has papers"
    elif status == SideStatus.AMBIGUOUS and len(papers) < 2:
        yield f"the ambiguous side {name!r} has fewer than two papers"
    elif status == SideStatus.FOUND and len(papers) != 1:
        yield f"the side {name!r} has {len(papers)} papers, not one"
    else:
        for paper in papers:
            yield from _paper(paper)


def _sides_of_group(group: str, history: Sequence[Any], sides: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield complaints where a question does not hold what its group promises."""
    statuses = {side["status"] for side in sides}
    if len({side["name"] for side in sides}) < len(sides):
        yield "two sides have the same name"
    if group in ("two_named", "two_described", "misspelt") and len(sides) != 2:
        yield f"a question of the group {group} has two sides, not {len(sides)}"
    if group == "three_or_more" and len(sides) < 3:
        yield f"only {len(sides)} sides in the group three_or_more"
    if group in ("absent", "ambiguous") and group not in statuses:
        yield f"no {group} side in the group {group}"
    if group == "follow_up" and not history:
        yield "a follow-up needs a history"


def _paper(paper: Any) -> Iterator[str]:
    if isinstance(paper, str):
        if paper not in _seed_abstracts():
            yield f"{paper} is in no list that comes along"
    elif not _strings(paper, _PAPER_FIELDS):
        yield f"{paper!r} names no paper"
    elif (SHARED / "corpora" / paper["corpus"]).is_file():
        title = listed(paper["corpus"]).get(paper["paper_id"], (None, ""))[0]
        if title is None:
            yield f"{paper['paper_id']} is not in {paper['corpus']}"
        elif title != paper["title"]:
            yield f"{paper['paper_id']} has the title {title!r}, not {paper['title']!r}"


def _facts(sides: Sequence[Mapping[str, Any]], facts: Sequence[Any]) -> Iterator[str]:
    """Yield complaints about patterns: each must compile, have a found side, and occur in a paper of it."""
    papers = {side["name"]: side["papers"] for side in sides if side["papers"]}
    for fact in facts:
        if not _strings(fact, {"side", "pattern"}):
            yield f"{fact!r} is no fact with side and pattern"
            continue
        if fact["side"] not in papers:
            yield f"must_mention: no side with papers is called {fact['side']!r}"
            continue
        try:
            pattern = re.compile(fact["pattern"], re.IGNORECASE)
        except re.error as error:
            yield f"must_mention: the pattern {fact['pattern']!r} is wrong: {error}"
            continue
        texts = [_abstract(paper) for paper in papers[fact["side"]]]
        if all(text is not None and not pattern.search(text) for text in texts):
            yield f"must_mention: {fact['pattern']!r} occurs in no abstract of {fact['side']!r}"


def _abstract(paper: Any) -> str | None:
    """Return the abstract of a named paper; None when the list is absent or the name is wrong."""
    if isinstance(paper, str):
        return _seed_abstracts().get(paper)
    if not _strings(paper, _PAPER_FIELDS) or not (SHARED / "corpora" / paper["corpus"]).is_file():
        return None
    return listed(paper["corpus"]).get(paper["paper_id"], (None, None))[1]


def _strings(value: Any, names: Set[str]) -> bool:
    """Whether a value is an object of just these names, each with a text."""
    return isinstance(value, dict) and value.keys() == names and all(isinstance(v, str) and v for v in value.values())


@cache
def _seed_abstracts() -> Mapping[str, str]:
    """Return the abstracts of the lists that come along, by source."""
    papers = load_paths(sorted((ROOT / "data").glob("*.txt"))).papers
    return {str(source): paper.abstract for paper in papers for source in paper.sources}


@cache
def listed(corpus: str) -> Mapping[str, tuple[str, str]]:
    """Return title and abstract, by paper id, of the whole rows of a conference list (CSV) beside the repository."""
    with (SHARED / "corpora" / corpus).open(encoding="utf-8", newline="") as file:
        return {
            row["paper_id"]: (row["title"], row["abstract"])
            for row in csv.DictReader(file)
            if row.get("abstract") and None not in row
        }


def main(names: Sequence[str]) -> int:
    """Print what is wrong with files, or with all of `eval/questions` and what they cover; 1 if anything is."""
    paths = [Path(name) for name in names] or [QUESTIONS / f"{name}.jsonl" for name in SETS]
    complaints = [complaint for path in paths for complaint in validate(path)]
    if not names and not complaints:
        rows = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
        complaints = list(uncovered(rows, _seed_abstracts()))
    print("\n".join(complaints) or f"{len(paths)} files, nothing wrong")
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
