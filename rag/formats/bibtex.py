"""BibTeX: entries with abstracts, repeated keys kept, LaTeX accents in names and titles resolved."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

from bibtexparser.entrypoint import parse_string
from bibtexparser.library import Library
from bibtexparser.middlewares.enclosing import RemoveEnclosingMiddleware
from bibtexparser.middlewares.names import split_multiple_persons_names
from bibtexparser.model import (
    DuplicateBlockKeyBlock,
    DuplicateFieldKeyBlock,
    Entry,
    ParsingFailedBlock,
)
from pylatexenc.latex2text import LatexNodes2Text  # type: ignore[import-untyped]  # no stubs exist

from rag.fields import literal_name, record_from_fields
from rag.formats.record import Record

# What becomes Unicode; the abstract stays as it is, LaTeX and all.
_DECODED = ("title", "booktitle", "journal", "keywords")
# Entry types that are no papers but volumes papers stand in.
_VOLUMES = ("proceedings", "collection", "mvproceedings", "periodical")
_INHERITED = ("booktitle", "journal", "year")


def read_bibtex(text: str, file: str) -> list[Record]:
    """Read the entries of a BibTeX file.

    An entry takes what it lacks of book title and year from the entry it cross-references, else from the
    file's only `@proceedings`. Entries that cannot be parsed become records with a problem.
    """
    logging.getLogger("bibtexparser").setLevel(logging.ERROR)  # what it warns of is in the report
    library = parse_string(text)
    latex = LatexNodes2Text(math_mode="verbatim", keep_comments=True)
    found = list(_entries(library))
    by_key = {entry.key: _fields(entry) for _, entry, _ in found if entry is not None}
    volumes = [_fields(entry) for _, entry, _ in found if entry and entry.entry_type.lower() in _VOLUMES]
    records: list[Record] = []
    for line, entry, problem in found:
        if entry is None:
            records.append(Record(len(records) + 1, line, problem=problem))
            continue
        if entry.entry_type.lower() in _VOLUMES:
            continue
        fields = _fields(entry)
        volume = by_key.get(fields.get("crossref", ""), volumes[0] if len(volumes) == 1 else {})
        fields.update({name: volume[name] for name in _INHERITED if name in volume and name not in fields})
        for name in _DECODED:
            if name in fields:
                fields[name] = _unicode(fields[name], latex)
        # Names are split before LaTeX is resolved: in "Pawe\\l and" the command takes the space.
        written = split_multiple_persons_names(fields.pop("author", ""))
        names = [literal_name(name, lambda text: _unicode(text, latex)) for name in written]
        if fields.get("plenary") == "percent-encoded abstract":  # what `rag.export` does with braces that do not match
            fields["abstract"] = re.sub(r"%([0-9A-F]{2})", lambda code: chr(int(code[1], 16)), fields["abstract"])
        records.append(record_from_fields({**fields, "author": names}, len(records) + 1, line))
    return records


def _entries(library: Library) -> Iterator[tuple[int, Entry | None, str | None]]:
    """Yield each entry with its 1-based line, or the problem it has instead."""
    for block in library.blocks:
        line = (block.start_line or 0) + 1
        if isinstance(block, Entry):
            yield line, block, None
        elif isinstance(block, DuplicateBlockKeyBlock) and isinstance(block.ignore_error_block, Entry):
            # What the parser does to every other entry.
            yield line, RemoveEnclosingMiddleware().transform_entry(block.ignore_error_block, library), None
        elif isinstance(block, DuplicateFieldKeyBlock):
            repeated = ", ".join(sorted(block.duplicate_keys))
            yield line, None, f"the entry has the field {repeated} twice; remove one."
        elif isinstance(block, ParsingFailedBlock):
            reason = " ".join(str(block.error).split())
            detail = f" ({reason})" if reason else ""
            yield line, None, f"the entry is no valid BibTeX{detail}; mend its braces."


def _fields(entry: Entry) -> dict[str, str]:
    return {field.key.lower(): str(field.value) for field in entry.fields}


def _unicode(value: str, latex: LatexNodes2Text) -> str:
    """Resolve accents and drop the braces that protect capitals; mathematics stays as it is."""
    if not any(mark in value for mark in "\\{}~"):
        return value
    try:
        return str(latex.latex_to_text(value)).strip() or value
    except RecursionError:  # thousands of nested braces
        return value
