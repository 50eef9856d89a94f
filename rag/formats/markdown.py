"""Markdown: papers as headings, list items or table rows, each with its abstract below or beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

from rag.fields import is_known, record_from_fields, split_authors, year_of
from rag.formats.record import Record
from rag.formats.text import SHORTEST_PROSE, looks_like_authors, read_text

_LINK = re.compile(r"\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<url>https?://[^\s)]+)[^)]*\)")
_EMPHASIS = re.compile(r"(\*\*|__|\*|_|`)(?=\S)(.+?)(?<=\S)\1")
_LABEL = re.compile(
    r"(?:[*_]{1,3})?(?P<name>abstract|summary|tl;?dr|authors?|by|venue|conference|year|date|link|url|paper"
    r"|keywords|摘要|作者)(?:[*_]{1,3})?\s*[::](?:[*_]{1,3})?\s*(?P<value>.*)",
    re.IGNORECASE | re.DOTALL,
)
_BOLD_START = re.compile(r"(?:\*\*|__)(?P<title>.+?)(?:\*\*|__)(?P<rest>.*)", re.DOTALL)
_FIELD = {"by": "authors", "paper": "link", "摘要": "abstract", "作者": "authors"}


@dataclass(frozen=True, slots=True)
class Part:
    """A leaf of the document: `kind` is heading, item (a list item's first text) or text; `depth` its level."""

    kind: str
    depth: int
    text: str
    line: int


def read_markdown(text: str, file: str) -> list[Record]:
    """Read the papers of a Markdown document.

    A table with named columns gives a record a row. Otherwise a paper opens at a heading, or at a list
    item, that has an abstract's text below it; what has none is a section or a title without an abstract.
    A document without headings and lists is read as plain text. Abstracts keep their Markdown.
    """
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    lines = text.split("\n")
    records = list(_tables(tokens))
    parts = list(_parts(tokens, lines))
    if not records and not any(part.kind != "text" for part in parts):
        return read_text(text, file)
    records.extend(_papers(parts))
    return [replace(record, ordinal=ordinal) for ordinal, record in enumerate(records, start=1)]


def _tables(tokens: Sequence[Token]) -> Iterator[Record]:
    """Yield the rows of tables that name an abstract, a title or authors in their first row."""
    header: list[str] = []
    cells: list[str] = []
    line = 0
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "table_open":
            header = []
        elif token.type == "tr_open":
            cells, line = [], (token.map or [0])[0] + 1
        elif token.type in ("th_open", "td_open") and following is not None:
            cells.append(following.content)
        elif token.type == "tr_close":
            if not header:
                header = cells
            elif any(is_known(name) for name in header):
                fields: dict[str, object] = {}
                for name, cell in zip(header, cells, strict=False):
                    fields[name] = cell
                link = _LINK.search(str(fields.get(next((n for n in header if "title" in n.lower()), ""), "")))
                record = record_from_fields(fields, 0, line)
                title = plain(record.title) if record.title else None
                yield replace(record, title=title, url=record.url or (link["url"] if link else None))


def _parts(tokens: Sequence[Token], lines: Sequence[str]) -> Iterator[Part]:
    """Yield the leaves outside tables with their source text, unindented."""
    depth = 0
    heading = 0
    in_table = False
    fresh_item = False
    for token in tokens:
        if token.type == "table_open":
            in_table = True
        elif token.type == "table_close":
            in_table = False
        elif token.type == "list_item_open":
            depth += 1
            fresh_item = True
        elif token.type == "list_item_close":
            depth -= 1
        elif token.type == "heading_open":
            heading = int(token.tag[1:])
        elif token.type == "heading_close":
            heading = 0
        elif token.type == "inline" and not in_table and token.map:
            line = token.map[0] + 1
            if heading:
                yield Part("heading", heading, token.content, line)
            else:
                # Only the first item level opens papers; deeper items are parts of it.
                yield Part("item" if fresh_item and depth == 1 else "text", depth, token.content, line)
            fresh_item = False
        elif token.type in ("code_block", "fence") and token.map:
            yield Part("text", depth, token.content, token.map[0] + 1)


def _papers(parts: Sequence[Part]) -> Iterator[Record]:
    """Group the parts into papers: each opener with the text that follows it."""
    groups: list[tuple[Part, list[Part]]] = []
    for part in parts:
        if part.kind != "text" or not groups:
            groups.append((part, []))
        else:
            groups[-1][1].append(part)
    items = any(opener.kind == "item" for opener, _ in groups)
    for opener, texts in groups:
        if opener.kind == "heading":
            if texts:
                # Below a heading of a list of items stands an introduction, not an abstract.
                if items and not any(_LABEL.match(part.text) for part in texts):
                    continue
                yield _paper(opener.text, texts, opener.line)
        elif opener.kind == "item":
            yield _item(opener, texts)
        elif len(opener.text) >= SHORTEST_PROSE:
            yield Record(0, opener.line, abstract=opener.text)


def _item(opener: Part, texts: Sequence[Part]) -> Record:
    """Read a list item: its first line, or what is bold or linked in it, is the title."""
    first, _, rest = opener.text.partition("\n")
    bold = _BOLD_START.match(opener.text)
    link = _LINK.match(opener.text)
    if _LABEL.match(first):
        return _paper("", [Part("text", 1, line, opener.line) for line in opener.text.split("\n")] + list(texts), opener.line)
    if bold:
        title, rest = bold["title"], bold["rest"]
    elif link:
        title, rest = link[0], opener.text[link.end() :]
    elif len(first) >= SHORTEST_PROSE and not texts:
        return Record(0, opener.line, abstract=opener.text)
    else:
        title = first
    rest = rest.strip().lstrip(".,:;-–— \n")
    inner = [Part("text", 1, line, opener.line) for line in _unjoined(rest)] if rest else []
    return _paper(title, [*inner, *texts], opener.line)


def _unjoined(rest: str) -> list[str]:
    """Separate what stands before the abstract in one item: authors or labels on lines of their own."""
    lines = rest.split("\n")
    short: list[str] = []
    while len(lines) > 1 and (looks_like_authors(lines[0]) or _LABEL.match(lines[0]) or _LINK.fullmatch(lines[0].strip())):
        short.append(lines.pop(0))
    return [*short, "\n".join(lines)]


def _paper(title: str, texts: Sequence[Part], line: int) -> Record:
    """Read a paper from its title and the parts below it: labelled fields, authors, paragraphs."""
    link = _LINK.search(title)
    fields: dict[str, object] = {"title": plain(title)} if title else {}
    if link:
        fields["url"] = link["url"]
    paragraphs: list[str] = []
    for part in texts:
        text = part.text.strip()
        label = _LABEL.match(text)
        if label and len(label["name"]) < len(text):
            name = label["name"].lower().replace(";", "")
            fields.setdefault(_FIELD.get(name, name), label["value"].strip("*_ ") if name != "abstract" else label["value"].strip())
        elif not paragraphs and "authors" not in fields and looks_like_authors(plain(text)) and len(text) < 1000:
            fields["authors"] = list(split_authors(plain(text)))
        elif not paragraphs and _LINK.fullmatch(text):
            found = _LINK.search(text)
            fields.setdefault("url", found["url"] if found else "")
        elif not paragraphs and len(text) < 80 and year_of(text) and not text.endswith("."):
            fields.setdefault("venue", plain(text))
        elif text and not re.fullmatch(r"\W*(?:abstract|摘要)\W*", text, re.IGNORECASE):
            paragraphs.append(text)
    if "abstract" not in fields:
        fields["abstract"] = "\n\n".join(paragraphs)
    elif paragraphs and isinstance(fields["abstract"], str) and not fields["abstract"].strip():
        fields["abstract"] = "\n\n".join(paragraphs)
    return record_from_fields(fields, 0, line)


def plain(text: str) -> str:
    """Return a title or names without links, emphasis and escapes."""
    text = _LINK.sub(lambda found: found["text"], text)
    while (bare := _EMPHASIS.sub(r"\2", text)) != text:
        text = bare
    text = re.sub(r"\\([\\`*_{}\[\]()#+.!-])", r"\1", text)
    return re.sub(r"^\s*(?:\[?\d{1,5}[\].)]\s+)", "", " ".join(text.split())).strip(" .") or text.strip()
