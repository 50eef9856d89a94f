"""RIS, as Zotero, EndNote and publishers' sites export it."""

from __future__ import annotations

import re
from itertools import pairwise

import rispy  # type: ignore[import-untyped]  # no stubs exist

from rag.fields import record_from_fields
from rag.formats.record import Record

_START = re.compile(r"^TY {1,2}- ?", re.MULTILINE)
_TAG = re.compile(r"^([A-Z][A-Z0-9]) {1,2}-(?: |$)", re.MULTILINE)
# Stands for a line break inside a value while the parser, which would make it a space, is at work.
_BREAK = "\ue000"
# What `rag.export` puts before a line of an abstract that looks like a tag.
_NO_TAG = re.compile(r"^\u2060(?=\u2060*[A-Z][A-Z0-9] {1,2}-)", re.MULTILINE)


def read_ris(text: str, file: str) -> list[Record]:
    """Read RIS references; a missing end tag ends with the next reference or the file, nothing is lost."""
    starts = [found.start() for found in _START.finditer(text)]
    records: list[Record] = []
    line, previous = 1, 0
    for ordinal, (start, end) in enumerate(pairwise([*starts, len(text)]), start=1):
        line += text.count("\n", previous, start)
        previous = start
        reference = _TAG.sub(r"\1  - ", text[start:end])
        reference = re.sub(r"^ER  - .*", "", reference, flags=re.MULTILINE | re.DOTALL).rstrip()
        reference = re.sub(r"\n(?![A-Z][A-Z0-9]  - )", _BREAK, reference) + "\nER  - \n"
        parsed = rispy.loads(reference, skip_unknown_tags=True)
        fields = _fields(parsed[0]) if parsed else {}
        records.append(record_from_fields(fields, ordinal, line))
    return records


def _fields(reference: dict[str, object]) -> dict[str, object]:
    """Restore line breaks, and name the tags that the trade uses for one thing in two ways."""
    fields = {name: _restored(value) for name, value in reference.items()}
    # N2 is the abstract for EndNote and many publishers; AB comes first where both are there.
    fields.setdefault("abstract", fields.get("notes_abstract"))
    fields.setdefault("url", fields.get("urls"))
    # JF and JO name the journal, T2 the proceedings or the journal.
    journals = (fields.get(name) for name in ("secondary_title", "journal_name", "alternate_title3"))
    fields.setdefault("venue", next((journal for journal in journals if journal), None))
    authors = fields.get("authors")
    if isinstance(authors, list):
        fields["authors"] = [_literal(name) for name in authors]
    return fields


def _literal(name: object) -> object:
    """A name in braces is not turned round; RIS has no such custom, but it is BibTeX's and `rag.export`'s."""
    if isinstance(name, str) and len(name) > 2 and name[0] == "{" and name[-1] == "}":
        return {"literal": name[1:-1]}
    return name


def _restored(value: object) -> object:
    if isinstance(value, str):
        return _NO_TAG.sub("", value.replace(_BREAK, "\n"))
    if isinstance(value, list):
        return [_restored(item) for item in value]
    return value
