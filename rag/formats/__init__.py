"""Readers: one module for each format, each turning decoded text into `Record`s and nothing more."""

from __future__ import annotations

from importlib import import_module
from pathlib import PurePath

from rag.errors import InputError
from rag.formats.record import Reader

# File name ending -> module and function. Modules are imported when they are needed: each is the only
# one that imports its library.
READERS = {
    ".txt": ("text", "read_text"),
    ".text": ("text", "read_text"),
    ".csv": ("table", "read_table"),
    ".tsv": ("table", "read_table"),
    ".tab": ("table", "read_table"),
    ".json": ("json_records", "read_json"),
    ".jsonl": ("json_records", "read_json_lines"),
    ".ndjson": ("json_records", "read_json_lines"),
    ".bib": ("bibtex", "read_bibtex"),
    ".bibtex": ("bibtex", "read_bibtex"),
    ".ris": ("ris", "read_ris"),
    ".xml": ("atom", "read_atom"),
    ".atom": ("atom", "read_atom"),
    ".md": ("markdown", "read_markdown"),
    ".markdown": ("markdown", "read_markdown"),
}


def reader_for(name: str) -> Reader:
    """Return the reader for a file's name; raises `InputError` when its ending is not known."""
    ending = PurePath(name).suffix.lower()
    if ending not in READERS:
        what = f"files ending in {ending} are" if ending else "files without an ending are"
        raise InputError(name, 0, f"{what} not read; use one of {', '.join(READERS)}.")
    module, function = READERS[ending]
    reader: Reader = getattr(import_module(f"rag.formats.{module}"), function)
    return reader
