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
_ABSTRACT = re.compile(r"\W*(?:abstract|摘要)\W*", re.IGNORECASE)
# "Ashish Vaswani, Noam Shazeer. NeurIPS 2017."
_NAMES_VENUE = re.compile(r"(?P<names>[^.]*(?:\b[A-Z]\.[^.]*)*)\.\s+(?P<venue>[^.]*\b(?:19|20)\d\d\b[^.]*)\.?")
_FIELD = {"by": "authors", "paper": "link", "摘要": "abstract", "作者": "authors"}


@dataclass(frozen=True, slots=True)
class Part:
    """A leaf of the document.

    `kind` is "heading", "item" (a list item's first text) or "text"; `depth` is the level of it.
    """

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
    for place, token in enumerate(tokens):
        if token.type == "table_open":
            header = []
        elif token.type == "tr_open":
            cells, line = [], (token.map or [0])[0] + 1
        elif token.type in ("th_open", "td_open"):
            cells.append(tokens[place + 1].content)
        elif token.type == "tr_close":
            if not header:
                header = cells
            elif any(is_known(name) for name in header):
                fields: dict[str, object] = {}
                fields.update(zip(header, cells, strict=False))
                record = record_from_fields(fields, 0, line)
                link = _LINK.search(record.title or "")
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
    """Group the parts into papers: each opener with the text that follows it.

    A heading with deeper headings or list items below it is a section, and its text an introduction.
    """
    groups: list[tuple[Part, list[Part]]] = []
    for part in parts:
        if part.kind == "heading" and _ABSTRACT.fullmatch(part.text):
            continue  # "### Abstract" inside a paper
        if part.kind != "text" or not groups:
            groups.append((part, []))
        else:
            groups[-1][1].append(part)
    for place, (opener, texts) in enumerate(groups):
        following = groups[place + 1][0] if place + 1 < len(groups) else None
        if opener.kind == "heading":
            section = following is not None and (
                following.kind == "item" or (following.kind == "heading" and following.depth > opener.depth)
            )
            labelled = any(_LABEL.match(part.text) for part in texts)
            if labelled or not section:
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
        inner = [Part("text", 1, line, opener.line) for line in opener.text.split("\n")]
        return _paper("", [*inner, *texts], opener.line)
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
    while len(lines) > 1 and (_described(lines[0], False) or _LABEL.match(lines[0])):
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
        if not text or _ABSTRACT.fullmatch(text):
            continue
        found = _labelled(text) or ({} if paragraphs else _described(text, "authors" in fields))
        for name, value in found.items():
            fields.setdefault(name, value)
        if not found:
            paragraphs.append(text)
    fields["abstract"] = "\n\n".join([*([str(fields["abstract"])] if "abstract" in fields else []), *paragraphs])
    return record_from_fields(fields, 0, line)


def _labelled(text: str) -> dict[str, object]:
    """Return the field of a paragraph that begins with its name ("**Abstract:** ...")."""
    label = _LABEL.match(text)
    if label is None:
        return {}
    name = label["name"].lower().replace(";", "")
    name = _FIELD.get(name, name)
    value = label["value"].strip()
    return {name: value if name == "abstract" else plain(value)}


def _described(text: str, has_authors: bool) -> dict[str, object]:
    """Return what a paragraph before the abstract says of the paper: authors, address, venue and year."""
    bare = plain(text)
    both = _NAMES_VENUE.fullmatch(bare)
    if both and not has_authors and looks_like_authors(both["names"]):
        return {"authors": list(split_authors(both["names"])), "venue": both["venue"].strip()}
    if not has_authors and len(text) < 1000 and looks_like_authors(bare):
        return {"authors": list(split_authors(bare))}
    link = _LINK.fullmatch(text)
    if link:
        return {"url": link["url"]}
    if len(text) < 80 and year_of(bare) and len(bare.split()) <= 8:
        return {"venue": bare}
    return {}


def plain(text: str) -> str:
    """Return a title or names without links, emphasis and escapes."""
    text = _LINK.sub(lambda found: found["text"], text)
    while (bare := _EMPHASIS.sub(r"\2", text)) != text:
        text = bare
    text = re.sub(r"\\([\\`*_{}\[\]()#+.!-])", r"\1", text)
    return re.sub(r"^\s*(?:\[?\d{1,5}[\].)]\s+)", "", " ".join(text.split())).strip(" .") or text.strip()
