"""Atom feeds of arXiv's interface."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError

from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException

from rag.errors import InputError
from rag.fields import record_from_fields
from rag.formats.record import Record

_ENTRY = re.compile(r"<(?:\w+:)?entry[\s>]")


def read_atom(text: str, file: str) -> list[Record]:
    """Read the entries of an Atom feed; entities and external references are refused."""
    try:
        root = ElementTree.fromstring(text, forbid_dtd=True)
    except ParseError as error:
        line, column = error.position
        reason = f"this is no valid XML ({str(error).partition(':')[0]}, column {column}); download the feed again."
        raise InputError(file, line, reason) from error
    except DefusedXmlException as error:
        reason = "it declares entities or a document type, which a feed of papers has not; remove them."
        raise InputError(file, 1, reason) from error
    entries = [element for element in _children(root) if _name(element) == "entry"]
    if _name(root) == "entry":
        entries = [root]
    if not entries:
        raise InputError(file, 1, "this XML is no Atom feed with entries; export the list as BibTeX or RIS.")
    starts = [found.start() for found in _ENTRY.finditer(text)]
    records: list[Record] = []
    line, previous = 1, 0
    for ordinal, entry in enumerate(entries, start=1):
        if len(starts) == len(entries):
            line += text.count("\n", previous, starts[ordinal - 1])
            previous = starts[ordinal - 1]
        records.append(record_from_fields(_fields(entry), ordinal, line if previous else 0))
    return records


def _children(element: Element) -> Iterator[Element]:
    yield from element


def _name(element: Element) -> str:
    """The tag without its name space; comments and instructions have none."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _fields(entry: Element) -> dict[str, object]:
    fields: dict[str, object] = {}
    authors: list[str] = []
    keywords: list[str] = []
    for child in entry:
        name = _name(child)
        text = "".join(child.itertext()).strip()
        if name == "author":
            authors.extend("".join(part.itertext()) for part in child if _name(part) == "name")
        elif name == "category":
            keywords.append(child.get("term", ""))
        elif name == "link":
            if child.get("rel", "alternate") == "alternate":
                fields.setdefault("url", child.get("href", ""))
        elif name == "id":
            fields["arxiv"] = text
        elif name in ("title", "summary", "published", "doi"):
            fields[name] = text
        elif name == "journal_ref":
            fields["journal"] = text
    return {**fields, "authors": authors, "keywords": keywords}
