"""Runs systems over cases: `python -m eval run NAME`. Each answer is kept, so that a run that stopped goes on."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tqdm import tqdm

from eval.cases import Case, Library, judged_among_others, load_cases
from eval.corpora import ROOT, WORK, plain, write_corpus
from eval.metrics import interval, mean_of
from eval.questions_check import SETS
from eval.scoring import COSTS, GOOD, Measures, judged, score
from eval.systems import Ask, system, systems_for
from rag import Assistant, Config, PlenaryError, paper_document

FOLDER = ROOT / "eval" / "results"
"""Where runs over the papers that come along are kept; those over other lists stay in the working folder."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a run is to do; `parts` also measures Plenary without each of its parts, `corpus` is "seeds" or "mixed"
    (the seeds inside 5,000 papers of conference lists)."""

    name: str
    writer: str = "extractive"
    questions: tuple[str, ...] = SETS
    kind: str | None = None
    limit: int | None = None
    seed: int = 0
    corpus: str = "seeds"
    parts: bool = False
    systems: tuple[str, ...] = ()


def run(wanted: Wanted, progress: bool = True) -> dict[str, Any]:
    """Ask every system every question and return the result; raises what `Assistant.open` raises.

    An answer that failed is kept with its error and counts as failed.
    """
    cases = load_cases(wanted.questions, wanted.kind, wanted.limit, wanted.seed)
    if wanted.corpus == "mixed":
        cases = list(filter(judged_among_others, cases))
    names = list(wanted.systems) or systems_for(wanted.writer, parts=wanted.parts)
    WORK.mkdir(parents=True, exist_ok=True)
    state = code_state()
    # Thousands of papers take half an hour to index: the index of `eval.comparisons` holds the same ones.
    folder = "store-mixed" if wanted.corpus == "mixed" else "store-run-seeds"
    config = Config.from_environment(store=str(WORK / folder))
    paths = [ROOT / "data"]
    if wanted.corpus == "mixed":
        paths.append(write_corpus("plain", plain()[0]))
    with Assistant.open(config) as assistant:
        assistant.index(paths)
        library = Library(assistant)
        kept = Kept(WORK / f"run-{wanted.name}.jsonl", f"{state} {wanted.corpus} {assistant.snapshot().state}")
        items = []
        # None: a bar only where somebody looks on.
        with tqdm(total=len(names) * len(cases), disable=None if progress else True, unit="answer") as bar:
            for name in names:
                ask = system(name, assistant, wanted.writer)
                for case in cases:
                    document = kept.answer(name, wanted.writer, case, ask)
                    items.append(item_of(name, case, document, library, whole=name == names[0]))
                    bar.update()
    cited = {paper for item in items for paper in _papers_of(item["document"])}
    return {
        "name": wanted.name,
        "commit": commit(),
        "code": state,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "wanted": asdict(wanted),
        "items": items,
        "papers": {
            paper: {name: value for name, value in paper_document(library.papers[paper]).items() if name in PAPER}
            for paper in sorted(cited & library.papers.keys())
        },
    }


PAPER = ("title", "label", "sources", "abstract")
DOCUMENT = (
    "kind", "abstained", "text", "claims", "papers", "removed", "retrieved", "usage", "timings", "note", "error",
)  # fmt: skip
"""What a result keeps of papers and answers."""


def item_of(
    name: str, case: Case, document: Mapping[str, Any], library: Library, *, whole: bool = True
) -> dict[str, Any]:
    """Return what a result holds of an answer: the case, the answer, its measures, the verdict on each sentence.

    Without `whole` only the question, the measures and the text of the answer.
    """
    asked = {"system": name, "id": case.id, "kind": case.kind, "question": case.question}
    if not whole:
        told = {key: document[key] for key in ("abstained", "text", "error") if key in document}
        return {**asked, "measures": score(case, document, library), "document": told}
    answered = not document.get("error") and not document["abstained"]
    return {
        **asked,
        "group": case.group,
        "history": case.history,
        "answerable": case.answerable,
        "either": case.either,
        "gold": sorted(library.ids(case.gold)),
        "facts": list(case.facts),
        "must_not": list(case.must_not),
        "measures": score(case, document, library),
        "sentences": judged(document, library) if answered else [],
        "document": _shortened(document),
    }


def _shortened(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a result keeps of an answer: the cells of a comparison are claims, its own and the removed apart."""
    kept = {name: document[name] for name in DOCUMENT if name in document}
    cells = (document.get("comparison") or {}).get("cells", [])
    if cells:
        kept["claims"] = [*kept["claims"], *(cell for cell in cells if cell["citations"])]
    return kept


def _papers_of(document: Mapping[str, Any]) -> set[str]:
    cited = {citation["paper_id"] for claim in document.get("claims", ()) for citation in claim["citations"]}
    return cited | {paper["paper_id"] for paper in document.get("papers", ())}


class Kept:
    """Answers kept from an earlier start of the same run, as long as code, prompts and index are the same."""

    def __init__(self, path: Path, state: str) -> None:
        self._path, self._state = path, state
        self._known: dict[str, dict[str, Any]] = {}
        if path.exists():
            rows = [_row(line) for line in path.read_text(encoding="utf-8").splitlines()]
            current = [row for row in rows if row.get("state") == state]
            self._known = {row["key"]: row["document"] for row in current}
            if len(current) < len(rows):
                text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in current)
                path.write_text(text, encoding="utf-8")

    def answer(self, name: str, writer: str, case: Case, ask: Ask) -> dict[str, Any]:
        """Return the kept answer of a system, or ask and keep it; one that fails is a document with `error`."""
        asked = json.dumps([name, writer, case.question, case.history], ensure_ascii=False)
        key = hashlib.sha256(asked.encode()).hexdigest()[:16]
        if key not in self._known:
            try:
                document = ask(case)
            except PlenaryError as error:
                # Not kept: what failed for want of a service may do at the next start.
                return {"error": str(error)}
            self._known[key] = json.loads(json.dumps(document, ensure_ascii=False))
            with self._path.open("a", encoding="utf-8") as file:
                row = {"key": key, "state": self._state, "document": document}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
        return self._known[key]


def _row(line: str) -> dict[str, Any]:
    """Return a kept row; an empty one for the last line of a run that was killed, which may be cut."""
    try:
        row: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError:
        return {}
    return row


def code_state() -> str:
    """Return a hash of the code and the prompts that make answers."""
    files = [*sorted((ROOT / "rag").rglob("*.py")), *sorted((ROOT / "prompts").glob("*.md"))]
    files.append(ROOT / "eval" / "systems.py")
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def commit() -> str:
    """Return the short name of the commit, with "-changed" where code or prompts are not as committed; "none"
    outside a repository."""
    try:
        head = _git("rev-parse", "--short", "HEAD")
        changed = _git("status", "--porcelain", "--", "rag", "prompts")
    except (OSError, subprocess.CalledProcessError):
        return "none"
    return head + ("-changed" if changed else "")


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def summary(result: Mapping[str, Any]) -> Iterator[tuple[str, str, int, dict[str, tuple[float, float, float]]]]:
    """Yield system, kind, number of items and, by measure, the mean with its 95 % interval."""
    groups: dict[tuple[str, str], list[Measures]] = {}
    for item in result["items"]:
        groups.setdefault((item["system"], item["kind"]), []).append(item["measures"])
        groups.setdefault((item["system"], "all"), []).append(item["measures"])
    for (name, kind), rows in groups.items():
        yield name, kind, len(rows), means(rows)


def means(rows: Sequence[Measures]) -> dict[str, tuple[float, float, float]]:
    """Return by measure the mean over the items to which it applies, with its 95 % bootstrap interval."""
    found = {}
    for measure in (*GOOD, *COSTS):
        mean = mean_of(rows, measure)
        if mean is not None:
            values = [value for row in rows if (value := row.get(measure)) is not None]
            found[measure] = (mean, *interval(values))
    return found
