"""The grid of a comparison: which sentence of each paper speaks of each aspect, and what is said of it in words.

Pure functions. A cell holds only what its own paper's abstract says; what no sentence says is "not stated".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rag.aspect_parts import PARTS
from rag.aspects import ASKED, ASKED_LINE, asked_part, choose, part_scores, rows
from rag.cite import DraftParser, citation, citation_key
from rag.generate import looks_like_instruction, one_line
from rag.names import joined
from rag.pointers import only_points_to_code
from rag.prompts import load_prompt
from rag.shared_phrases import shared_phrase
from rag.types import (
    Aspect,
    Cell,
    Claim,
    Comparison,
    Draft,
    Evidence,
    Paper,
    Prompt,
    Side,
    SideStatus,
    Support,
    Vectors,
)

NOT_STATED = "not stated in the abstract"
NOT_STATED_BY_LANGUAGE: Mapping[str, str] = {"en": NOT_STATED, "zh": "摘要中未说明"}
"""What a cell holds where the abstract is silent."""

WORDS_KEPT = 28
"""A quote of so few words is a good cell as it stands and is not written anew by a model."""
MOST_WORDS = 45
"""Words of a second sentence that a cell may have."""
LONGEST = 240
"""Characters of a written cell; a longer one was cut by the grammar and is not used."""

MOST_CLAIMS = 4
"""Sentences of the summary above the grid."""

QUOTED = "the words of the paper"


@dataclass(frozen=True, slots=True)
class Column:
    """One found side: its paper with the sentences that may be cited, their vectors (n, d), the place of the side."""

    side: int
    paper: Paper
    sentences: tuple[Evidence, ...]
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class Grid:
    """The chosen sentences: `evidence[aspect, side]`, in the order of rows and sides, without what is not stated."""

    aspects: tuple[Aspect, ...]
    evidence: Mapping[tuple[str, int], Evidence]


def make_column(side: int, paper: Paper, sentences: Sequence[Evidence], vectors: Vectors) -> Column:
    """Return a column without sentences that talk to a model or only say where code or data is."""
    kept = [
        place
        for place, item in enumerate(sentences)
        if not looks_like_instruction(item.text) and not only_points_to_code(item.text)
    ]
    return Column(side, paper, tuple(sentences[place] for place in kept), vectors[kept])


def fill_grid(
    columns: Sequence[Column],
    aspect: str | None,
    models: Vectors,
    asked_score: Callable[[str, Column], NDArray[np.float64]],
    chinese: bool = False,
) -> Grid:
    """Return the grid of the papers' own sentences.

    `models` are the vectors of `aspects.MODEL_SENTENCES`; `asked_score` scores a column's sentences by an aspect's
    words, in [0, 1].
    """
    scores = {
        column.side: part_scores(
            [item.text for item in column.sentences], column.vectors, models, column.paper.label
        )
        for column in columns
    }
    stated = [[choose(scores[column.side], part.key) is not None for part in PARTS] for column in columns]
    aspects = rows(aspect, stated, chinese)
    evidence: dict[tuple[str, int], Evidence] = {}
    for row in aspects:
        for column in columns:
            place = choose(scores[column.side], row.key) if row.key != ASKED else _asked(row, column, asked_score)
            if place is None:
                continue
            found = column.sentences[place]
            if row.key == "approach":
                found = _with_how(column, place, scores[column.side])
            evidence[row.key, column.side] = found
    return Grid(aspects, evidence)


def _with_how(column: Column, place: int, scores: NDArray[np.float64]) -> Evidence:
    """Return the sentence that names an approach with the one behind it, which says how it works.

    "We propose X, a framework" says little by itself. The two are one quote: they stand next to each other.
    """
    first = column.sentences[place]
    elsewhere = {choose(scores, key) for key in ("data", "results", "limits")}
    if place + 1 == len(column.sentences) or place + 1 in elsewhere or len(first.text.split()) > WORDS_KEPT:
        return first
    second = column.sentences[place + 1]
    abstract = column.paper.abstract
    if abstract[first.end : second.start].strip() or len(second.text.split()) > MOST_WORDS:
        return first
    start, end = first.start, second.end
    key = citation_key(first.paper_id, start, end, 8)
    return Evidence(key, first.paper_id, start, end, abstract[start:end], first.score)


def _asked(row: Aspect, column: Column, asked_score: Callable[[str, Column], NDArray[np.float64]]) -> int | None:
    if not column.sentences:
        return None
    scores = asked_score(row.label, column)
    best = int(scores.argmax())
    return best if scores[best] >= ASKED_LINE else None


def quoted(evidence: Evidence, n: int, paper: Paper) -> Claim:
    """Return a sentence of a paper as a claim, word for word; `n` is the paper's number."""
    return Claim(evidence.text, Support.SUPPORTED, QUOTED, (citation(evidence, n, paper),), verbatim=True)


def numbers_of(columns: Sequence[Column], grid: Grid) -> dict[str, int]:
    """Return the number of every paper that has a cell, from 1 in the order of the sides."""
    cited = [column.paper.id for column in columns if any(side == column.side for _, side in grid.evidence)]
    return {paper_id: n for n, paper_id in enumerate(dict.fromkeys(cited), 1)}


def comparison_of(sides: Sequence[Side], columns: Sequence[Column], grid: Grid, note: str | None = None) -> Comparison:
    """Return the comparison whose cells are the papers' own words."""
    numbers = numbers_of(columns, grid)
    cells = tuple(
        Cell(row.key, column.side, quoted(found, numbers[column.paper.id], column.paper) if found else None)
        for row in grid.aspects
        for column in columns
        for found in (grid.evidence.get((row.key, column.side)),)
    )
    return Comparison(tuple(sides), grid.aspects, cells, note)


def with_cell(comparison: Comparison, cell: Cell) -> Comparison:
    """Return a comparison with one cell exchanged."""
    cells = tuple(cell if (old.aspect, old.side) == (cell.aspect, cell.side) else old for old in comparison.cells)
    return replace(comparison, cells=cells)


# --- written cells ------------------------------------------------------------------------------------


Writing: TypeAlias = Mapping[Evidence, tuple[Aspect, ...]]
"""What a model is to write of one paper: each sentence once, with the rows it stands in."""


def to_write(column: Column, grid: Grid) -> dict[Evidence, tuple[Aspect, ...]]:
    """Return the sentences of a column that a model should say in fewer words."""
    cells: dict[Evidence, tuple[Aspect, ...]] = {}
    for row in grid.aspects:
        found = grid.evidence.get((row.key, column.side))
        if found and len(found.text.split()) > WORDS_KEPT:
            cells[found] = (*cells.get(found, ()), row)
    # Said shorter, a sentence serves one aspect: what stands in several rows stays whole.
    return {found: aspects for found, aspects in cells.items() if len(aspects) == 1}


def column_prompt(column: Column, cells: Writing) -> Prompt:
    """Return the prompt for the cells of one paper; its grammar forces one line for each sentence and its key."""
    return load_prompt("compare_column").render(
        max_tokens=90 * len(cells) + 20,
        keys=tuple(item.key for item in cells),
        grammar=column_grammar(cells),
        paper=one_line(column.paper.label),
        evidence="\n".join(f"{item.key}: {one_line(item.text)}" for item in cells),
        rows="\n".join(f"{row_name(aspects[0])} [{item.key}]" for item, aspects in cells.items()),
    )


def row_name(row: Aspect) -> str:
    """Return a row's name as a prompt has it: plain words on one line."""
    part = next((part for part in PARTS if part.key == row.key), None)
    return part.label if part else re.sub(r"[^\w\s,'-]", "", one_line(row.label))[:60].strip() or "Answer"


def column_grammar(cells: Writing) -> str:
    """Return a GBNF grammar: for each sentence the name of its first row, a short text and its key."""
    lines = " ".join(f'"{row_name(aspects[0])}: " text " [{item.key}].\\n"' for item, aspects in cells.items())
    rest = f"[^\\n\\[\\]]{{12,{LONGEST}}}"
    return f"root ::= {lines}\ntext ::= first rest\nfirst ::= [^ a-z\\n\\[\\].,;:]\nrest ::= {rest}\n"


def written_cells(text: str, cells: Writing) -> Iterator[tuple[tuple[Aspect, ...], Draft]]:
    """Yield the drafts in the lines of a column with their rows; a line of another form is left out."""
    names = {row_name(aspects[0]).casefold(): (item, aspects) for item, aspects in cells.items()}
    for line in text.splitlines():
        name, colon, rest = line.partition(":")
        cell = names.get(name.strip(" -*|").casefold())
        if not colon or cell is None:
            continue
        item, aspects = cell
        drafts = [*(parser := DraftParser([item])).feed(rest.strip()), *parser.finish()]
        # The one sentence given is what the row is to say, whether or not its key was repeated.
        if len(drafts) == 1 and len(drafts[0].text) < min(LONGEST, len(item.text)):
            yield aspects, replace(drafts[0], evidence=(item,))


# --- the summary --------------------------------------------------------------------------------------


def shared_words(columns: Sequence[Column], rarity: Callable[[str], float]) -> tuple[str, tuple[Evidence, ...]] | None:
    """Return the most telling noun phrase that all abstracts have, with a sentence of each, see `shared_phrase`."""
    return shared_phrase([column.sentences for column in columns], rarity)


def summary_rows(comparison: Comparison) -> list[str]:
    """Return the keys of the rows a summary is made of: the asked one, else approach and then results."""
    asked = [row.key for row in comparison.aspects if row.asked]
    return asked or [key for key in ("approach", "results") if any(row.key == key for row in comparison.aspects)]


def summary_of(
    comparison: Comparison,
    shared: tuple[str, tuple[Evidence, ...]] | None,
    columns: Sequence[Column],
    numbers: Mapping[str, int],
    language: str = "en",
) -> list[tuple[str, Claim]]:
    """Return two to four sentences for above the grid: what is alike, then what each paper says, from checked cells.

    Each comes with what stands before it: the paper's name where its sentence does not begin with it.
    """
    found: list[tuple[str, Claim]] = []
    if shared:
        phrase, evidence = shared
        text = f"这些摘要都提到“{phrase}”。" if language == "zh" else _alike(phrase, len(evidence))
        papers = {column.paper.id: column.paper for column in columns}
        citations = tuple(
            citation(item, numbers[item.paper_id], papers[item.paper_id])
            for item in evidence
            if item.paper_id in numbers
        )
        if len(citations) == len(evidence):
            reason = "the words stand in the cited sentence of each paper"
            found.append(("", Claim(text, Support.SUPPORTED, reason, citations)))
    for key in summary_rows(comparison):
        for cell in comparison.cells:
            if cell.aspect != key or cell.claim is None or len(found) >= MOST_CLAIMS:
                continue
            name = comparison.sides[cell.side].name
            colon = "：" if language == "zh" else ": "
            if any(cell.claim.text == claim.text for _, claim in found):
                continue
            lead = "" if cell.claim.text.casefold().startswith(name.casefold()) else f"{name}{colon}"
            found.append((lead, cell.claim))
        if len(found) >= 2:
            break
    return found


def _alike(phrase: str, papers: int) -> str:
    return f"{'Both' if papers == 2 else 'All'} abstracts speak of “{phrase}”."


def direction_is_stated(text: str, names: Sequence[Sequence[str]], cited: Sequence[str]) -> bool:
    """Tell whether a sentence that puts one side above another is backed: one cited sentence names both too.

    `names` are for each side what it may be called; case, hyphens and signs do not matter ("UpSafe" for "UpSafe℃").
    A sentence that names fewer than two sides or has no comparative is not concerned; one that says "the former" or
    "the other" for a side cannot be checked and is not backed.
    """
    if not _COMPARATIVE.search(text):
        return True
    named = [forms for forms in names if _is_named(forms, text)]
    if len(named) < 2:
        return not _PRONOUN.search(text)
    return any(all(_is_named(forms, sentence) for forms in named) for sentence in cited)


def _is_named(forms: Sequence[str], text: str) -> bool:
    """Tell whether a text has one of the names of a side, or its label without the signs at its end."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    written = [joined(form) for name in forms for form in (name, re.sub(r"[℃°]+\w?$", "", name))]
    patterns = [r"[\W_]{0,2}".join(map(re.escape, form)) for form in written if form]
    return any(re.search(rf"(?<!\w)(?<!\w-){pattern}(?!\w)", plain) for pattern in patterns)


_PRONOUN = re.compile(
    r"\bthe (?:former|latter|other|first|second)\b|\b(?:each|one another|either)\b.*\bthan\b", re.IGNORECASE
)
_COMPARATIVE = re.compile(
    r"\bthan\b|\b(?:outperform|surpass|beat|exceed|dominat|outpac|outrank|outscor)\w*|\b(?:superior|inferior) to\b|"
    r"\b(?:ahead of|wins?|improves? (?:on|upon|over))\b|\b(?:more|less|fewer|most|least|better|best|worse|worst|"
    r"faster|fastest|slower|higher|lower|larger|smaller|cheaper|stronger|weaker|safer|simpler|greater|quicker|easier|"
    r"harder|shorter|longer)\b",
    re.IGNORECASE,
)


def speaks_of_all(text: str) -> bool:
    """Tell whether a sentence says something of all papers at once: "Both need no labels."."""
    return bool(_OF_ALL.search(text))


_OF_ALL = re.compile(
    r"^(?:both|all|each|every|neither|none|they|these)\b|\b(?:both|all(?: of)?(?: the| these)?|these|the (?:two|three)|"
    r"each) (?:papers?|abstracts?|methods?|approaches|works|studies|frameworks)\b|\b(?:alike|in common)\b",
    re.IGNORECASE,
)


def contrast_prompt(comparison: Comparison, grid: Grid, columns: Sequence[Column], question: str) -> Prompt:
    """Return the prompt for sentences on what is alike and what differs, over the chosen sentences alone."""
    lines = []
    for column in columns:
        own = dict.fromkeys(
            grid.evidence[row.key, column.side] for row in grid.aspects if (row.key, column.side) in grid.evidence
        )
        lines.append(f"Paper: {one_line(comparison.sides[column.side].name)}")
        lines += [f"{item.key}: {one_line(item.text)}" for item in own]
    keys = tuple(dict.fromkeys(item.key for item in grid.evidence.values()))
    return load_prompt("compare").render(
        max_tokens=320, keys=keys, evidence="\n".join(lines), question=one_line(question)
    )


def found_sides(sides: Sequence[Side]) -> list[tuple[int, Side]]:
    """Return the sides that are papers, with their places."""
    return [(place, side) for place, side in enumerate(sides) if side.status is SideStatus.FOUND]


def part_of(aspect: str | None) -> str | None:
    """Return the key of the part of abstracts that an asked aspect means, None when it is searched for."""
    part = asked_part(aspect) if aspect else None
    return part.key if part else None
