"""Checks one question that has one answer (every kind but comparisons), and what all sets together must cover.

Besides the fields of `FIELDS` a question may have those of `OPTIONAL`:

- `group`: the sort of a theme question (`THEME_GROUPS`) or of a hostile one (`HOSTILE_GROUPS`).
- `acceptable`: papers of a theme question that may count and need not.
- `not_cited`: papers that must not be cited.
- `either`: true where refusing and answering are both right, such as a false premise that may be corrected.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

FIELDS: Mapping[str, type] = {
    "id": str, "kind": str, "question": str, "history": list, "gold": list, "facts": list, "must_not": list,
    "answerable": bool, "note": str,
}  # fmt: skip
OPTIONAL: Mapping[str, type] = {"group": str, "acceptable": list, "not_cited": list, "either": bool}
KINDS = frozenset(
    {"single", "paraphrase", "followup", "chinese", "unanswerable", "theme", "hostile", "feedback"}
)
THEME_GROUPS = frozenset({"theme", "list", "count"})
HOSTILE_GROUPS = frozenset({"question", "history", "prompt", "citation", "numbers"})
LEAST = {"comparative": 25, "theme": 12, "followup": 15, "chinese": 10, "unanswerable": 25, "hostile": 10}
"""How many questions of a kind there must be."""
SORTS = ("near miss", "wrong data set", "false premise", "method not in the corpus", "off topic")
"""Sorts of unanswerable questions; the note of each begins with its sort."""


def plain_row(row: Mapping[str, Any], abstracts: Mapping[str, str]) -> Iterator[str]:
    """Yield complaints about a question; `abstracts` are those of the papers that come along, by source."""
    wrong = [*_fields(row)]
    if wrong:
        yield from wrong
        return
    kind = row["kind"]
    if kind not in KINDS:
        yield f"unknown kind {kind!r}"
    if not row["question"].strip():
        yield "the question is empty"
    for turn in row["history"]:
        if not (isinstance(turn, list) and len(turn) == 2 and turn[0] in ("user", "assistant") and turn[1]):
            yield f"history: {turn!r} is no [role, text]"
    if kind == "followup" and not row["history"]:
        yield "a follow-up needs a history"
    groups = {"theme": THEME_GROUPS, "hostile": HOSTILE_GROUPS}.get(kind)
    if groups and row.get("group") not in groups:
        yield f"unknown group {row.get('group')!r}"
    yield from _papers(row, abstracts)
    yield from _patterns(row, abstracts)


def _fields(row: Mapping[str, Any]) -> Iterator[str]:
    for name in FIELDS.keys() - row.keys():
        yield f"the field {name} is missing"
    for name in row.keys() - FIELDS.keys() - OPTIONAL.keys():
        yield f"unknown field {name}"
    for name, kind in [*FIELDS.items(), *OPTIONAL.items()]:
        if name in row and not isinstance(row[name], kind):
            yield f"the field {name} is of the wrong type"


def _papers(row: Mapping[str, Any], abstracts: Mapping[str, str]) -> Iterator[str]:
    """Yield complaints about gold papers: none is unknown, and there are some where an answer is."""
    for name in ("gold", "acceptable", "not_cited"):
        for paper in row.get(name, ()):
            # What users thought was of their own papers, which nobody here knows.
            if paper not in abstracts and row["kind"] != "feedback":
                yield f"{name}: {paper} is in no list that comes along"
    if row["answerable"] and not row["gold"] and row["kind"] != "feedback":
        yield "a question that can be answered needs gold papers"
    if not row["answerable"] and row["facts"]:
        yield "a question that cannot be answered has no facts"
    if not row["answerable"] and row["gold"] and not row.get("either"):
        yield "a question that cannot be answered has no gold papers"
    if set(row["gold"]) & {*row.get("acceptable", ()), *row.get("not_cited", ())}:
        yield "a gold paper is acceptable or not to be cited as well"


def _patterns(row: Mapping[str, Any], abstracts: Mapping[str, str]) -> Iterator[str]:
    """Yield complaints about patterns: facts stand in a gold abstract, what must not appear stands in none."""
    texts = [abstracts[paper] for paper in row["gold"] if paper in abstracts]
    for name in ("facts", "must_not"):
        for text in row[name]:
            try:
                pattern = re.compile(text, re.IGNORECASE)
            except (re.error, TypeError) as error:
                yield f"{name}: the pattern {text!r} is wrong: {error}"
                continue
            found = any(pattern.search(abstract) for abstract in texts)
            if name == "facts" and texts and not found:
                yield f"facts: {text!r} occurs in no gold abstract"
            if name == "must_not" and found:
                yield f"must_not: {text!r} occurs in a gold abstract"


def uncovered(rows: Sequence[Mapping[str, Any]], papers: Mapping[str, Any]) -> Iterator[str]:
    """Yield what all questions together leave out: papers without a fact and a paraphrase, kinds with too few."""
    for kind, name in (("single", "fact"), ("paraphrase", "paraphrase")):
        asked = {paper for row in rows if row["kind"] == kind for paper in row["gold"]}
        for paper in papers:
            if paper not in asked:
                yield f"no {name} question about {paper}"
    counts = Counter(row["kind"] for row in rows if row.get("comparison", True))
    for kind, least in LEAST.items():
        if counts[kind] < least:
            yield f"{counts[kind]} {kind} questions, at least {least} are needed"
    notes = [row["note"] for row in rows if row["kind"] == "unanswerable"]
    for sort in SORTS:
        if not any(note.startswith(sort) for note in notes):
            yield f"no unanswerable question of the sort {sort!r}"
    for kind, groups in (("theme", THEME_GROUPS), ("hostile", HOSTILE_GROUPS)):
        for group in sorted(groups - {row.get("group") for row in rows if row["kind"] == kind}):
            yield f"no {kind} question of the group {group!r}"
    for key, count in Counter(row["id"] for row in rows).items():
        if count > 1:
            yield f"the id {key} stands in several files"
