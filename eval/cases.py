"""Questions as cases of one shape, and which paper is which: what systems are asked and measured with."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.corpora import records
from eval.plain_check import SORTS
from eval.questions_check import QUESTIONS, SETS
from rag import Assistant, Paper, UserError


@dataclass(frozen=True, slots=True)
class Case:
    """A question with what is right. Papers are named by their sources (`list.txt#3`).

    `group` is its sort, that of an unanswerable question too (`plain_check.SORTS`). `sides` are the papers of each side
    of a comparison that is there; `acceptable` may be listed and need not; `either` says that refusing and answering
    are both right.
    """

    id: str
    kind: str
    question: str
    history: tuple[tuple[str, str], ...] = ()
    gold: frozenset[str] = frozenset()
    facts: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    answerable: bool = True
    either: bool = False
    group: str = ""
    sides: tuple[frozenset[str], ...] = ()
    acceptable: frozenset[str] = frozenset()
    not_cited: frozenset[str] = frozenset()


def case_of(row: Mapping[str, Any]) -> Case:
    """Return a row of `eval/questions` as a case; comparative ones have their papers and facts by sides."""
    common = {
        "id": row["id"],
        "kind": row["kind"],
        "question": row["question"],
        "history": tuple((role, text) for role, text in row["history"]),
        "group": row.get("group") or next((sort for sort in SORTS if row["note"].startswith(sort)), ""),
        "acceptable": frozenset(row.get("acceptable") or ()),
    }
    if row["kind"] == "comparative":
        found = [frozenset(side["papers"]) for side in row["sides"] if side["status"] == "found"]
        # A question with an ambiguous side may be asked back, one without a side is about some other kind.
        either = not row["comparison"] or any(side["status"] == "ambiguous" for side in row["sides"])
        return Case(
            **common,
            gold=frozenset().union(*found),
            facts=() if either else tuple(item["pattern"] for item in row["must_mention"]),
            answerable=bool(found),
            either=either,
            sides=() if either else tuple(found),
        )
    return Case(
        **common,
        gold=frozenset(row["gold"]),
        facts=tuple(row["facts"]),
        must_not=tuple(row["must_not"]),
        answerable=row["answerable"],
        either=bool(row.get("either")),
        not_cited=frozenset(row.get("not_cited") or ()),
    )


def load_cases(
    names: Sequence[str] = SETS, kind: str | None = None, limit: int | None = None, seed: int = 0
) -> list[Case]:
    """Return the cases of sets of `eval/questions` or of files, each set cut to `limit` drawn at random with `seed`.

    Raises `UserError` for a name that is neither.
    """
    chosen: list[Case] = []
    for name in names:
        path = Path(name) if name.endswith(".jsonl") else QUESTIONS / f"{name}.jsonl"
        if not path.is_file():
            raise UserError(f"there are no questions at {path}; choose a file (.jsonl) or from {', '.join(SETS)}")
        cases = [case for case in map(case_of, records(path)) if kind in (None, case.kind)]
        if limit is not None and limit < len(cases):
            cases = sorted(random.Random(seed).sample(cases, limit), key=lambda case: case.id)
        chosen += cases
    return chosen


def judged_among_others(case: Case) -> bool:
    """Tell whether it is known what is right when many other papers are in the index: which of those are about a
    topic, or about a method that only the seeds lack, nobody has judged."""
    return case.kind != "theme" and not (case.kind == "unanswerable" and case.group == "method not in the corpus")


class Library:
    """The papers of an index as measures need them: their sources, abstracts and sentences."""

    def __init__(self, assistant: Assistant) -> None:
        self.papers: dict[str, Paper] = {paper.id: paper for paper in assistant.papers()}
        self.idf: Callable[[str], float] = assistant.snapshot().keywords.idf
        self._ids: dict[str, str] = {}
        for paper in self.papers.values():
            self._ids |= {str(source): paper.id for source in paper.sources}

    def ids(self, sources: frozenset[str]) -> set[str]:
        """Return the ids of papers by their sources; a source of no paper stands for itself."""
        return {self._ids.get(source, source) for source in sources}

    def sides(self, case: Case) -> Iterator[set[str]]:
        """Yield the ids of the papers of each side of a case."""
        yield from (self.ids(side) for side in case.sides)
