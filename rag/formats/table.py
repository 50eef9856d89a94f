"""CSV, TSV and other delimited tables, with the repair of rows whose quoting is broken."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag.errors import InputError
from rag.fields import ABSTRACT, DOI, TITLE, URL, is_abstract, is_known, normal_name, record_from_fields
from rag.formats.record import Record

_DELIMITERS = ",\t;|"
# A row of more lines has an open quote.
_MOST_LINES = 200
# In tables that `rag.export` wrote an apostrophe keeps spreadsheets from taking a cell for a formula.
_OWN, _GUARD = "plenary_id", re.compile(r"^'(?='*[=+\-@\t\r])")
_ADDRESS = re.compile(r"https?://\S+")


@dataclass(frozen=True, slots=True)
class Row:
    """The raw text of one row, which may span lines, and the line it begins on."""

    raw: str
    line: int


def read_table(text: str, file: str) -> list[Record]:
    """Read a delimited table whose first line names the columns.

    A row is taken when it parses strictly (RFC 4180) into as many cells as there are columns, or fewer.
    Any other row is repaired when there is only one way to do it (see `repaired`), else it becomes a
    record with a problem. Raises `InputError` when no column is an abstract or a title.
    """
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    if first is None:
        return []
    delimiter = None
    declared = re.fullmatch(r"\"?sep=(.)\"?", lines[first].strip())  # Excel's own first line
    if declared:
        delimiter = declared[1]
        first += 1
    heading = lines[first] if first < len(lines) else ""
    delimiter = delimiter or max(_DELIMITERS, key=lambda mark: _known_columns(heading, mark))
    length = _row_length(lines, first, delimiter) if first < len(lines) else 1
    header = _cells("\n".join(lines[first : first + length]), delimiter)
    if not header or not any(is_known(name) for name in header):
        reason = "its first line names no known column; name them, for example: title,authors,year,abstract."
        raise InputError(file, first + 1, reason)
    header = [name.strip() for name in header]
    records: list[Record] = []
    first += length
    for row in _rows(lines[first:], first + 1, header, delimiter):
        if not row.raw.strip().strip(delimiter):
            continue
        ordinal = len(records) + 1
        cells = _cells(row.raw, delimiter)
        if cells is None or len(cells) > len(header):
            while cells is not None and len(cells) > len(header) and not cells[-1].strip():
                cells.pop()  # a trailing delimiter is no cell
        if cells is None or len(cells) > len(header):
            cells = repaired(row.raw, header, delimiter)
        if cells is None:
            problem = (
                f"the row does not fit its {len(header)} columns and cannot be repaired with certainty; "
                f"put cells that contain the delimiter or quotes in quotes."
            )
            records.append(Record(ordinal, row.line, problem=problem))
        else:
            if header[0] == _OWN:
                cells = [_GUARD.sub("", cell) for cell in cells]
            fields = dict(zip(header, cells, strict=False))
            records.append(record_from_fields(fields, ordinal, row.line))
    return records


def _known_columns(line: str, delimiter: str) -> int:
    names = line.replace('"', "").split(delimiter)
    return sum(is_known(name) for name in names if not any(mark in name for mark in _DELIMITERS))


def _cells(raw: str, delimiter: str) -> list[str] | None:
    """Return the cells of one row under strict rules, or None."""
    try:
        rows = list(csv.reader(raw.splitlines(keepends=True), delimiter=delimiter, strict=True))
    except csv.Error:
        return None
    return rows[0] if len(rows) == 1 else None


def _rows(lines: Sequence[str], first_line: int, header: Sequence[str], delimiter: str) -> Iterator[Row]:
    """Yield the rows: as the lenient reader bounds them, quoted cells spanning lines, when they fit.

    A quote that is never closed swallows the rows after it. So a row of several lines that does not fit
    the columns ends at its first line that fits or can be repaired, else after its first line, and the
    reading starts again behind it: one broken row costs no other.
    """
    start = 0
    while start < len(lines):
        length = _row_length(lines, start, delimiter)
        raw = "\n".join(lines[start : start + length])
        if length > 1 and not _fits(raw, header, delimiter):
            ends = range(1, length + 1)
            parts = ((end, "\n".join(lines[start : start + end])) for end in ends)
            length, raw = next(
                (
                    (end, part)
                    for end, part in parts
                    if _fits(part, header, delimiter) or repaired(part, header, delimiter)
                ),
                (1, lines[start]),
            )
        yield Row(raw, first_line + start)
        start += length


def _row_length(lines: Sequence[str], start: int, delimiter: str) -> int:
    """Return how many lines the row that begins at `start` takes, at most `_MOST_LINES`."""
    if '"' not in lines[start]:
        return 1
    taken = 0

    def feed() -> Iterator[str]:
        nonlocal taken
        for line in lines[start : start + _MOST_LINES]:
            taken += 1
            yield line + "\n"

    try:
        next(csv.reader(feed(), delimiter=delimiter), None)
    except csv.Error:  # a cell longer than the reader allows: a quote that is never closed
        return 1
    return max(taken, 1)


def _fits(raw: str, header: Sequence[str], delimiter: str) -> bool:
    cells = _cells(raw, delimiter)
    return cells is not None and len(cells) == len(header)


def repaired(raw: str, header: Sequence[str], delimiter: str) -> list[str] | None:
    """Return the cells of a row with unquoted delimiters or bare quotes, or None when it is not certain.

    The row is split at every delimiter, ignoring quotes. One cell that is a web address anchors the
    address column; what overflows before it belongs to the only free-text column there (the title), and
    the last column takes the rest. A quoted cell between them ends at its quote. Certain means: exactly
    one address, where an address column is named; exactly one free-text column on its left; and
    everything on its right but the last cell well formed.
    """
    pieces = raw.split(delimiter)
    if len(pieces) == len(header) and all(piece.count('"') % 2 == 0 for piece in pieces):
        return [_unquoted(piece) for piece in pieces]
    anchors = [place for place, name in enumerate(header) if normal_name(name) in URL + DOI]
    if len(anchors) == 1:
        found = [place for place, piece in enumerate(pieces) if _ADDRESS.fullmatch(piece.strip().strip('"'))]
        if len(found) != 1 or found[0] < anchors[0]:
            return None
        left = _left_of(pieces[: found[0]], header[: anchors[0]], delimiter)
        right = _right_of(delimiter.join(pieces[found[0] + 1 :]), header[anchors[0] + 1 :], delimiter)
        if left is None or right is None:
            return None
        return [*left, pieces[found[0]].strip().strip('"'), *right]
    if anchors:
        return None
    return _right_of(raw, header, delimiter)


def _left_of(pieces: Sequence[str], names: Sequence[str], delimiter: str) -> list[str] | None:
    """Give the overflow before the anchor to the only free-text column among `names`."""
    if len(pieces) == len(names):
        return [_unquoted(piece) for piece in pieces]
    free = [place for place, name in enumerate(names) if normal_name(name) in TITLE + ABSTRACT]
    if len(free) != 1 or len(pieces) < len(names):
        return None
    end = len(pieces) - (len(names) - free[0] - 1)
    middle = delimiter.join(pieces[free[0] : end])
    return [*map(_unquoted, pieces[: free[0]]), _unquoted(middle), *map(_unquoted, pieces[end:])]


def _right_of(rest: str, names: Sequence[str], delimiter: str) -> list[str] | None:
    """Cut the cells for all `names` but the last from the front; the last, an abstract, takes the rest."""
    if not names:
        return [] if not rest.strip() else None
    if not is_abstract(names[-1]):
        return None
    cells: list[str] = []
    for _ in names[:-1]:
        if rest.startswith('"'):
            found = re.match(rf'"((?:[^"]|"")*)"{re.escape(delimiter)}', rest)
            if found is None:
                return None
            cells.append(found[1].replace('""', '"'))
            rest = rest[found.end() :]
        else:
            cell, separator, rest = rest.partition(delimiter)
            if not separator:
                return None
            cells.append(cell)
    quoted = len(rest) > 1 and rest.startswith('"') and rest.rstrip().endswith('"')
    if not quoted and delimiter in rest and len(names) > 1:
        return None  # where the cell before it ends is anybody's guess
    return [*cells, _unquoted(rest)]


def _unquoted(cell: str) -> str:
    """Strip the outer quotes; inner doubled quotes are halved only when none stands alone."""
    cell = cell.strip()
    if len(cell) > 1 and cell.startswith('"') and cell.endswith('"'):
        cell = cell[1:-1]
        if '"' not in cell.replace('""', ""):
            cell = cell.replace('""', '"')
    return cell
