"""Answers comparative questions: find the sides, fill the grid, let a model say it shorter, check every cell."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from rag.aspects import (
    ASKED,
    MODEL_SENTENCES,
    asked_in_english,
    asked_label,
    asked_scores,
    asked_words,
    share_of_words,
    standing,
)
from rag.cite import assign_keys, citation, render
from rag.compare import (
    NOT_STATED_BY_LANGUAGE,
    Column,
    Grid,
    Writing,
    column_prompt,
    comparison_of,
    contrast_prompt,
    direction_is_stated,
    fill_grid,
    found_sides,
    make_column,
    numbers_of,
    shared_words,
    speaks_of_all,
    summary_of,
    summary_rows,
    to_write,
    with_cell,
    written_cells,
)
from rag.comparison_question import points_back
from rag.generate import model_drafts
from rag.names import mentions
from rag.plan import language_of
from rag.readings import Reading
from rag.refuse import refusal
from rag.side_reading import SideReader, Tools
from rag.types import (
    Answer,
    AnswerDone,
    Aspect,
    Cell,
    CellChecked,
    Claim,
    ClaimChecked,
    Comparison,
    ComparisonFound,
    Event,
    Evidence,
    Paper,
    Side,
    SideStatus,
    StepStarted,
    Support,
    Timings,
    Usage,
    Verdict,
)

KIND = "comparative"

_TEXTS = {
    "en": {
        "absent": "“{name}” is not among the indexed papers; nothing is said about it here.",
        "mentioned": "“{name}” has no paper of its own among the indexed ones; it is only mentioned in others.",
        "ambiguous": "“{name}” fits several papers: {candidates}. Which one do you mean?",
        "silent": "The abstract of {name} does not state this.",
        "pointer": "“{name}” points to papers of earlier turns, and there are none to compare; please name them.",
        "more": "Only the first {number} sides are compared; left out: {names}.",
    },
    "zh": {
        "absent": "已索引的论文中没有“{name}”，因此不对其作任何说明。",
        "mentioned": "已索引的论文中没有专门介绍“{name}”的论文，只有其他论文提到它。",
        "ambiguous": "“{name}”对应多篇论文：{candidates}。您指的是哪一篇？",
        "silent": "{name} 的摘要没有说明这一点。",
        "pointer": "“{name}”指的是之前提到的论文，但没有可比较的；请写出论文名称。",
        "more": "只比较前 {number} 个对象；未比较：{names}。",
    },
}


@dataclass(slots=True)
class _Run:
    """The state of one comparison while it is made."""

    question: str
    language: str
    reading: Reading
    began: float
    usage: Usage = field(default_factory=Usage)
    removed: list[Claim] = field(default_factory=list)
    first: float = 0.0


class Comparing:
    """Recognises and answers comparative questions over one index with one writer."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools
        self.sides = SideReader(tools)
        self._models: NDArray[np.float32] | None = None

    def stream(self, question: str, reading: Reading, usage: Usage, began: float) -> Iterator[Event]:
        """Answer a comparative question, yielding events as they happen; the last is `AnswerDone`."""
        run = _Run(question, language_of(question), reading, began, usage)
        sides = tuple(looked.side for looked in reading.sides)
        if any(side.status is SideStatus.AMBIGUOUS for side in sides) or not found_sides(sides):
            yield AnswerDone(self._without_grid(run, sides))
            return
        yield StepStarted("choosing evidence for each side")
        columns = self._columns(sides)
        grid = self._grid(run, columns)
        comparison = comparison_of(sides, columns, grid, _note(run))
        numbers = numbers_of(columns, grid)
        papers = tuple(column.paper for column in columns if column.paper.id in numbers)
        evidence_at = time.perf_counter() - began
        yield ComparisonFound(comparison, papers)
        if self.tools.writer:
            yield StepStarted("writing")
            for cell in self._written(run, columns, grid, comparison):
                run.first = run.first or time.perf_counter() - began
                comparison = with_cell(comparison, cell)
                yield CellChecked(cell, papers)
        claims = self._summary(run, columns, grid, comparison)
        for claim in claims:
            run.first = run.first or time.perf_counter() - began
            yield ClaimChecked(claim, papers)
        timings = Timings(evidence_at, run.first, time.perf_counter() - began)
        yield AnswerDone(self._answer(run, comparison, claims, papers, timings))

    def _columns(self, sides: Sequence[Side]) -> list[Column]:
        found = found_sides(sides)
        papers = self.tools.papers([side.paper_ids[0] for _, side in found])
        snapshot = self.tools.snapshot()
        columns = []
        for place, side in found:
            paper = papers[side.paper_ids[0]]
            spans, vectors = snapshot.sentences_of(paper.id)
            items = [Evidence("", paper.id, s.start, s.end, paper.abstract[s.start : s.end]) for s in spans]
            columns.append(make_column(place, paper, assign_keys(items), vectors))
        return columns

    def _grid(self, run: _Run, columns: Sequence[Column]) -> Grid:
        if self._models is None:
            self._models = self.tools.encode(MODEL_SENTENCES)
        request = run.reading.request
        names = [(looked.side.asked, looked.side.name) for looked in run.reading.sides]
        aspect = asked_label(request.aspect, names) if request.aspect else None
        searched = asked_label(request.searched, names) if request.searched else None
        absent = [looked.side.name for looked in run.reading.sides if looked.side.status is SideStatus.ABSENT]
        grid = fill_grid(
            columns,
            aspect,
            self._models,
            lambda asked, column: self._asked_scores(searched or asked, column),
            run.language == "zh",
        )
        return _with_mentions(grid, columns, absent)

    def _asked_scores(self, aspect: str, column: Column) -> NDArray[np.float64]:
        """Score a column's sentences by an asked aspect, see `aspects.asked_scores`."""
        aspect = asked_in_english(aspect)
        sentences = [item.text for item in column.sentences]
        idf = self.tools.snapshot().keywords.idf
        weights = {word: idf(word) for word in asked_words(aspect)}
        covered = np.array([share_of_words(weights, sentence) for sentence in sentences])
        cosines = np.asarray(column.vectors @ self.tools.encode([aspect])[0], dtype=np.float64)
        return asked_scores(cosines, covered, standing(sentences, column.paper.label))

    def _written(self, run: _Run, columns: Sequence[Column], grid: Grid, comparison: Comparison) -> Iterator[Cell]:
        """Yield cells that the model said shorter and that its own paper alone supports; the others stay quotes."""
        writer = self.tools.writer
        assert writer is not None
        numbers = numbers_of(columns, grid)
        for column in columns:
            cells = to_write(column, grid)
            if not cells:
                continue
            text = done = ""
            for piece in writer.write(column_prompt(column, cells)):
                text += piece.text
                if piece.usage:
                    run.usage += piece.usage
                whole, newline, _ = text.rpartition("\n")
                if newline and len(whole) > len(done):
                    yield from self._checked(run, column, whole[len(done) :], cells, numbers)
                    done = whole
                if piece.usage and piece.finished:
                    yield from self._checked(run, column, text[len(done) :], cells, numbers)
                    done = text

    def _checked(self, run: _Run, column: Column, text: str, cells: Writing, numbers: dict[str, int]) -> Iterator[Cell]:
        papers = {column.paper.id: column.paper}
        for aspects, draft in written_cells(text, cells):
            verdict, carrying = self.tools.check(draft, papers)
            if verdict.support is not Support.SUPPORTED or not carrying:
                run.removed.append(Claim(draft.text, verdict.support, verdict.reason, ()))
                continue
            n = numbers[column.paper.id]
            citations = tuple(citation(item, n, column.paper) for item in carrying)
            claim = Claim(draft.text, verdict.support, verdict.reason, citations)
            for row in aspects:
                yield Cell(row.key, column.side, claim)

    def _summary(self, run: _Run, columns: Sequence[Column], grid: Grid, comparison: Comparison) -> list[Claim]:
        numbers = numbers_of(columns, grid)
        idf = self.tools.snapshot().keywords.idf
        parts = summary_of(comparison, shared_words(columns, idf), columns, numbers, run.language)
        composed = self._composed(run, parts)
        if self.tools.writer is None or self.tools.small or len(columns) < 2 or run.language != "en":
            return composed
        written = self._contrast(run, columns, grid, comparison, numbers)
        return written if len(written) >= 2 else composed

    def _composed(self, run: _Run, parts: Sequence[tuple[str, Claim]]) -> list[Claim]:
        """Return the sentences of a summary in the question's language, as far as the writer can say them in it."""
        claims = []
        for lead, claim in parts:
            said = claim
            if lead or claim.verbatim:  # what is alike is said in the language already
                said, usage = self.tools.translate(claim, run.language)
                run.usage += usage
            claims.append(replace(said, text=f"{lead}{said.text}", verbatim=said.verbatim and not lead))
        return claims

    def _contrast(
        self, run: _Run, columns: Sequence[Column], grid: Grid, comparison: Comparison, numbers: dict[str, int]
    ) -> list[Claim]:
        """Let the model say what is alike and what differs; return the sentences that pass the check."""
        assert self.tools.writer is not None
        papers = {column.paper.id: column.paper for column in columns}
        evidence = list(dict.fromkeys(grid.evidence.values()))
        names = [_names(comparison.sides[column.side], column.paper) for column in columns]
        claims: list[Claim] = []
        for item in model_drafts(self.tools.writer, contrast_prompt(comparison, grid, columns, run.question), evidence):
            if isinstance(item, Usage):
                run.usage += item
                continue
            verdict, carrying = self.tools.check(item, papers)
            if verdict.support is Support.SUPPORTED and not direction_is_stated(
                item.text, names, [e.text for e in carrying]
            ):
                verdict = Verdict(Support.PARTIAL, "no cited sentence compares the two")
            if verdict.support is Support.SUPPORTED and speaks_of_all(item.text) and {
                e.paper_id for e in carrying
            } != set(papers):
                verdict = Verdict(Support.PARTIAL, "not every paper says so")
            if verdict.support is not Support.SUPPORTED or not carrying:
                run.removed.append(Claim(item.text, verdict.support, verdict.reason, ()))
                continue
            citations = tuple(citation(e, numbers[e.paper_id], papers[e.paper_id]) for e in carrying)
            claims.append(Claim(item.text, verdict.support, verdict.reason, citations))
        return claims

    def _answer(
        self, run: _Run, comparison: Comparison, claims: Sequence[Claim], papers: Sequence[Paper], timings: Timings
    ) -> Answer:
        lines = [*self._lines_on_sides(run, comparison), render(claims), *_silent(comparison, run.language)]
        return Answer(
            question=run.question,
            kind=KIND,
            abstained=False,
            text=" ".join(line for line in lines if line),
            claims=tuple(claims),
            papers=tuple(papers),
            retrieved=tuple(dict.fromkeys(paper for side in comparison.sides for paper in side.paper_ids)),
            writer=self.tools.writer_name,
            usage=run.usage,
            timings=timings,
            removed=tuple(run.removed),
            note=comparison.note,
            comparison=comparison,
        )

    def _lines_on_sides(self, run: _Run, comparison: Comparison) -> list[str]:
        texts = _TEXTS.get(run.language, _TEXTS["en"])
        lines = []
        for looked in run.reading.sides:
            if looked.side.status is SideStatus.ABSENT:
                kind = "mentioned" if looked.mentioned else "pointer" if points_back(looked.side.asked) else "absent"
                lines.append(texts[kind].format(name=looked.side.name))
        return lines

    def _without_grid(self, run: _Run, sides: Sequence[Side]) -> Answer:
        """Return the question back for an ambiguous side, the refusal when every side is absent."""
        texts = _TEXTS.get(run.language, _TEXTS["en"])
        comparison = Comparison(tuple(sides), (), (), _note(run))
        lines = self._lines_on_sides(run, comparison)
        for side in sides:
            if side.status is SideStatus.AMBIGUOUS:
                papers = self.tools.papers(side.paper_ids)
                found = [papers[paper] for paper in side.paper_ids if paper in papers]
                names = [paper.name for paper in found]
                candidates = "; ".join(
                    paper.name if names.count(paper.name) == 1 else f"{paper.name} ({paper.id}, {paper.source})"
                    for paper in found
                )
                lines.append(texts["ambiguous"].format(name=side.name, candidates=candidates))
        if all(side.status is SideStatus.ABSENT for side in sides):
            lines.insert(0, refusal(run.language))
        total = time.perf_counter() - run.began
        return Answer(
            question=run.question,
            kind=KIND,
            abstained=True,
            text=" ".join(lines),
            claims=(),
            papers=(),
            retrieved=tuple(dict.fromkeys(paper for side in sides for paper in side.paper_ids)),
            writer=self.tools.writer_name,
            usage=run.usage,
            timings=Timings(total, total, total),
            note=comparison.note,
            comparison=comparison,
        )


def _names(side: Side, paper: Paper) -> tuple[str, ...]:
    """Return what a sentence may call a side."""
    asked = side.asked if len(side.asked.split()) <= 3 else ""
    return tuple(name for name in dict.fromkeys((side.name, asked, paper.label, paper.title or "")) if name)


def _note(run: _Run) -> str | None:
    """Return what was left out of a comparison in words, None where nothing was."""
    beyond = run.reading.beyond
    texts = _TEXTS.get(run.language, _TEXTS["en"])
    return texts["more"].format(number=len(run.reading.sides), names=", ".join(beyond)) if beyond else None


_MENTION = f"{ASKED}:"
"""How the keys of rows begin that say where an absent name is mentioned."""


def _with_mentions(grid: Grid, columns: Sequence[Column], absent: Sequence[str]) -> Grid:
    """Return a grid with a row for what the found papers say of an absent name, where they do.

    It comes first, behind the row for what is asked.
    """
    evidence = dict(grid.evidence)
    aspects = list(grid.aspects)
    first = sum(row.asked for row in aspects)
    for name in dict.fromkeys(absent):
        key = f"{_MENTION}{name}"
        for column in columns:
            saying = next((item for item in column.sentences if mentions(name, item.text)), None)
            if saying:
                evidence[key, column.side] = saying
        if any(row == key for row, _ in evidence):
            aspects.insert(first, Aspect(key, name, True))
    return Grid(tuple(aspects), evidence)


def _silent(comparison: Comparison, language: str) -> list[str]:
    """Return a line for each side whose abstract does not state what was asked."""
    texts = _TEXTS.get(language, _TEXTS["en"])
    asked = [row.key for row in comparison.aspects if row.asked and not row.key.startswith(_MENTION)]
    return [
        texts["silent"].format(name=comparison.sides[cell.side].name)
        for cell in comparison.cells
        if cell.claim is None and cell.aspect in asked[:1] and cell.aspect in summary_rows(comparison)
    ]


def cell_text(cell: Cell, language: str = "en") -> str:
    """Return what a cell shows."""
    return cell.claim.text if cell.claim else NOT_STATED_BY_LANGUAGE.get(language, NOT_STATED_BY_LANGUAGE["en"])
