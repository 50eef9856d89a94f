"""The grid of a comparison for people and other programs: plain lines, Markdown, CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from rag.compare import NOT_STATED, NOT_STATED_BY_LANGUAGE
from rag.plan import language_of
from rag.types import Answer, Cell, Comparison, Paper, SideStatus

_FORMULA = re.compile(r"[\t\r\n]|\s*[=+\-@＝＋－＠]")
"""What a cell begins with that a spreadsheet would compute."""


def comparison_lines(answer: Answer) -> str:
    """Return the grid as lines for a terminal: each aspect, below it what each paper says; empty without a grid."""
    comparison = answer.comparison
    if comparison is None or not comparison.aspects:
        return ""
    lines = []
    for row in comparison.aspects:
        lines.append(f"\n{row.label}")
        for cell in _cells(comparison, row.key):
            lines.append(f"  {comparison.sides[cell.side].name}: {_text(cell, answer)}{_marks(cell)}")
    return "\n".join(lines).lstrip("\n")


def comparison_markdown(answer: Answer) -> str:
    """Return an answer as Markdown: its text, the grid as a table, the papers with every quote and its place."""
    parts = [f"# {_inline(answer.question)}", _inline(answer.text)]
    if answer.comparison and answer.comparison.aspects:
        parts.append(_table(answer, answer.comparison))
    if answer.papers:
        references = [_reference(n, paper, answer) for n, paper in enumerate(answer.papers, 1)]
        parts.append("## Papers\n\n" + "\n".join(references))
    return "\n\n".join(parts) + "\n"


def comparison_csv(answer: Answer) -> str:
    """Return the grid as CSV, one row a cell: aspect, side, text, verdict, paper, source, offsets, quote.

    A cell that a spreadsheet would take for a formula begins with an apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    quoting = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(["aspect", "side", "text", "support", "paper_id", "source", "start", "end", "quote"])
    comparison = answer.comparison
    for row in comparison.aspects if comparison else ():
        for cell in _cells(comparison, row.key) if comparison else ():
            name = comparison.sides[cell.side].name if comparison else ""
            for values in _values(cell):
                guarded = [_guarded(str(value)) for value in (row.label, name, *values)]
                # Of its own accord the writer quotes the end of line it was given alone.
                (quoting if any("\r" in value for value in guarded) else writer).writerow(guarded)
    return out.getvalue()


def _values(cell: Cell) -> Sequence[tuple[object, ...]]:
    if cell.claim is None:
        return [(NOT_STATED, "not_stated", "", "", "", "", "")]
    text, support = cell.claim.text, cell.claim.support.value
    return [
        (text, support, found.paper_id, found.source or "", found.quote.start, found.quote.end, found.quote.text)
        for found in cell.claim.citations
    ]


def _guarded(text: str) -> str:
    return f"'{text}" if _FORMULA.match(text) else text


def _cells(comparison: Comparison, aspect: str) -> list[Cell]:
    return [cell for cell in comparison.cells if cell.aspect == aspect]


def _text(cell: Cell, answer: Answer) -> str:
    if cell.claim:
        return cell.claim.text
    return NOT_STATED_BY_LANGUAGE.get(language_of(answer.question), NOT_STATED)


def _marks(cell: Cell) -> str:
    numbers = dict.fromkeys(citation.n for citation in cell.claim.citations) if cell.claim else {}
    return " " + "".join(f"[{n}]" for n in numbers) if numbers else ""


def _table(answer: Answer, comparison: Comparison) -> str:
    places = [place for place, side in enumerate(comparison.sides) if side.status is SideStatus.FOUND]
    lines = [
        "| | " + " | ".join(_cell_text(comparison.sides[place].name) for place in places) + " |",
        "|" + "---|" * (len(places) + 1),
    ]
    for row in comparison.aspects:
        found = {cell.side: cell for cell in _cells(comparison, row.key)}
        texts = [
            _cell_text(_text(found[place], answer) + _marks(found[place])) if place in found else "" for place in places
        ]
        lines.append(f"| **{_cell_text(row.label)}** | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def _cell_text(text: str) -> str:
    return _inline(text).replace("|", "\\|")


def _inline(text: str) -> str:
    """Return text on one line that Markdown takes for text: no tags, images or links come out of it."""
    plain = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"([\\`*_<>#])|!(?=\[)|(?<=\])(?=\()", lambda match: f"\\{match[0]}", plain)


def _reference(n: int, paper: Paper, answer: Answer) -> str:
    cells = answer.comparison.cells if answer.comparison else ()
    claims = [*answer.claims, *(cell.claim for cell in cells if cell.claim)]
    citations = [citation for claim in claims for citation in claim.citations if citation.n == n]
    quotes = {(citation.quote.start, citation.quote.end): citation.quote for citation in citations}
    about = "; ".join(filter(None, [", ".join(paper.authors), str(paper.source or ""), paper.url or ""]))
    lines = [f"{n}. **{_inline(paper.name)}** ({_inline(about)})"]
    lines += [f"   - “{_inline(quote.text)}” ({start}–{end})" for (start, end), quote in sorted(quotes.items())]
    return "\n".join(lines)
