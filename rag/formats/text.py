"""Plain text: lists of bare abstracts, and lists of titles, authors and abstracts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag.fields import normal_name, record_from_fields, split_authors, year_of
from rag.formats.record import Record

_SEPARATOR = re.compile(r"\s*([*=_#~+-])(?:\s*\1){2,}\s*")
_LABEL = re.compile(r"\s*(?:\*\*)?(?P<name>[A-Za-z]+(?: [A-Za-z]+)?)(?:\*\*)?\s*[::]\s*(?:\*\*)?\s*(?P<value>.*)")
_LABELS = frozenset(
    ("title", "papertitle", "author", "authors", "abstract", "summary", "year", "date", "published", "venue",
     "conference", "journal", "booktitle", "url", "link", "doi", "keywords", "tags", "arxiv")
)  # fmt: skip
_NUMBER = re.compile(r"\s*(?:\[\d{1,5}\]|\(\d{1,5}\)|\d{1,5}[.)])\s+")
_ABSTRACT_HEADING = re.compile(r"\W*(?:abstract|summary|摘要)\W*", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:(?:url|link|pdf|code|paper)\s*:\s*)?(https?://\S+)", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?。!?…][\"'”’)\]*_]*$")
_PARTICLES = frozenset(
    ("van", "von", "der", "den", "de", "del", "da", "di", "la", "le", "el", "al", "bin", "dos", "ter")
)
_HAN = re.compile(r"[\u3400-\u9fff]")
# The venue and year in a list's heading: "NeurIPS 2026 Papers", "ICML 2024 论文列表".
_VENUE_YEAR = re.compile(r"\b(?P<venue>[A-Z][A-Za-z&*-]{2,11})[ '’]?\s*(?P<year>(?:19|20)\d\d)(?!\d)")

# Characters. A title is shorter and a paragraph of an abstract longer, in 18,581 records of conference
# lists with less than one exception in a hundred (the longest title there has 230).
_LONGEST_TITLE = 250
SHORTEST_PROSE = 200


@dataclass(frozen=True, slots=True)
class Block:
    """A run of lines without a blank one, and the line it begins on."""

    lines: tuple[str, ...]
    line: int

    @property
    def text(self) -> str:
        """The lines as they stand in the file."""
        return "\n".join(self.lines)


def read_text(text: str, file: str) -> list[Record]:
    """Read a text file in whichever of four customs it follows.

    Labelled fields ("Title: ..."), records between lines of asterisks or dashes, title and authors before
    each abstract, or bare abstracts with a blank line (or only a line end) between them.
    """
    lines = text.split("\n")
    if _is_labelled(lines):
        return list(_labelled(lines))
    blocks = list(_blocks(lines, 1))
    separated = _separated(lines)
    if separated is not None:
        return _numbered(_titled(chunk) for chunk in separated)
    if _has_titles(blocks):
        return _numbered(_titled(chunk) for chunk in _grouped(blocks))
    return _bare(blocks)


def _blocks(lines: Sequence[str], first_line: int) -> Iterator[Block]:
    taken: list[str] = []
    for number, line in enumerate([*lines, ""], start=first_line):
        if line.strip():
            taken.append(line)
        elif taken:
            yield Block(tuple(taken), number - len(taken))
            taken = []


# Bare abstracts


def _bare(blocks: Sequence[Block]) -> list[Record]:
    """Each block is an abstract; short blocks that end like no sentence are headings and not counted.

    A heading's venue and year hold for the abstracts below it.
    """
    records: list[Record] = []
    headings: list[Record] = []
    venue: str | None = None
    year: int | None = None
    for block in _one_line_each(blocks):
        text = block.text.strip()
        if is_heading(text):
            headings.append(Record(len(headings) + 1, block.line, title=_NUMBER.sub("", text)))
            found = _VENUE_YEAR.search(text)
            if found:
                venue, year = found["venue"], int(found["year"])
            continue
        ordinal = len(records) + 1
        records.append(Record(ordinal, block.line, abstract=text, venue=venue, year=year))
    # Nothing but headings: a list of titles.
    return records or headings


def is_heading(text: str) -> bool:
    """Whether a block is a heading of the list: one short line that does not end as a sentence does."""
    if "\n" in text or len(text) > 120 or _SEPARATOR.fullmatch(text) is not None:
        return _SEPARATOR.fullmatch(text) is not None
    if text.startswith("#"):
        return True
    return not _SENTENCE_END.search(text) and len(text.split()) <= 15


def _one_line_each(blocks: Sequence[Block]) -> Iterator[Block]:
    """Split blocks whose every line is an abstract (long, ending like a sentence) or a title of its own."""
    for block in blocks:
        inner = block.lines[1:] if is_heading(block.lines[0].strip()) else block.lines
        long = all(len(line) >= 400 and _SENTENCE_END.search(line.strip()) for line in inner)
        titles = sum(is_heading(line.strip()) and line.strip()[:1].isupper() for line in block.lines)
        if len(block.lines) > 1 and inner and (long or titles >= 0.9 * len(block.lines)):
            for offset, line in enumerate(block.lines):
                yield Block((line,), block.line + offset)
        else:
            yield block


# Titles, authors, abstracts


def _separated(lines: Sequence[str]) -> list[Block] | None:
    """Return the stretches between separator lines, or None when the file has not at least two of them."""
    marks = [number for number, line in enumerate(lines) if _SEPARATOR.fullmatch(line)]
    if len(marks) < 2:
        return None
    chunks: list[Block] = []
    start = 0
    for mark in [*marks, len(lines)]:
        chunk = list(_blocks(lines[start:mark], start + 1))
        if chunk:
            chunks.append(_joined(chunk))
        start = mark + 1
    return chunks


def _joined(blocks: Sequence[Block]) -> Block:
    """Join blocks into one, blank lines between them."""
    lines: list[str] = []
    for block in blocks:
        if lines:
            lines.append("")
        lines.extend(block.lines)
    return Block(tuple(lines), blocks[0].line)


def _has_titles(blocks: Sequence[Block]) -> bool:
    """Whether most abstracts of the file have a title before them, in their block or in short blocks."""
    prose = titled = 0
    after_short = False
    for place, block in enumerate(blocks):
        if _is_prose(block):
            prose += 1
            # The first abstract often follows the list's heading, which is no title.
            titled += after_short and place > 1
            after_short = False
        elif _is_titled_block(block):
            prose += 1
            titled += 1
            after_short = False
        else:
            after_short = True
    if prose == 0:
        return False
    return titled >= 0.6 * (prose - 1 if prose > 1 else prose) and titled > 0


def _is_prose(block: Block) -> bool:
    """Whether a block is a paragraph of an abstract from its first line on."""
    text = block.text.strip()
    if _is_titled_block(block):
        return False
    return len(text) >= SHORTEST_PROSE or (len(_HAN.findall(text)) >= SHORTEST_PROSE // 4)


def _is_titled_block(block: Block) -> bool:
    """Whether one block holds title, authors and abstract on lines of their own."""
    if len(block.lines) < 2:
        return False
    title, second, rest = block.lines[0].strip(), block.lines[1].strip(), "".join(block.lines[2:])
    if len(title) > _LONGEST_TITLE or title.endswith((".", "。")):
        return False
    if looks_like_authors(second) and len(rest) >= SHORTEST_PROSE:
        return True
    return len(second) >= 2 * SHORTEST_PROSE and len(title) < len(second) / 3


def _grouped(blocks: Sequence[Block]) -> Iterator[Block]:
    """Gather the blocks of one paper: short ones open it, paragraphs after them belong to it."""
    taken: list[Block] = []
    has_prose = False
    for block in blocks:
        prose = _is_prose(block)
        if (not prose and has_prose) or (_is_titled_block(block) and taken):
            yield _joined(taken)
            taken, has_prose = [], False
        taken.append(block)
        has_prose = has_prose or prose or _is_titled_block(block)
    if taken:
        yield _joined(taken)


def looks_like_authors(line: str) -> bool:
    """Whether a line is a list of names: short capitalised pieces between commas, no sentence."""
    text = re.sub(r"^(?:by|authors?\s*:)\s+", "", line.strip(), flags=re.IGNORECASE).strip("*_ ")
    if not text or len(text) > 4000 or text[-1] in "!?:":
        return False
    names = split_authors(re.sub(r"[\d*†‡§¶∗]+", "", text))
    if not names:
        return False
    if len(names) == 1 and _HAN.search(text):
        return len(text) <= 30
    fits = sum(_is_name(name) for name in names)
    return fits >= 0.8 * len(names) and (len(names) > 1 or _is_name(names[0], alone=True))


def _is_name(name: str, *, alone: bool = False) -> bool:
    words = name.replace("-", " ").split()
    if not 1 <= len(words) <= 7 or len(name) > 60:
        return False
    capital = sum(word[0].isupper() or not word[0].isascii() or word in _PARTICLES for word in words)
    if alone:
        return 2 <= len(words) <= 5 and capital == len(words) and not re.search(r"[:?!,;()]", name)
    return capital >= len(words) / 2 or len(words) <= 3


def _titled(chunk: Block) -> Record:
    """Read one paper from its lines: title, then authors, then the abstract's paragraphs."""
    lines = list(chunk.lines)
    line = chunk.line
    while lines and not lines[0].strip():
        lines.pop(0)
        line += 1
    filled = [text.strip() for text in lines if text.strip()]
    if len(filled) > 1 and _is_running(filled):
        return Record(0, line, abstract="\n".join(lines).strip())  # running text from the first line on
    if len(filled) == 1:
        only = filled[0]
        if len(only) >= SHORTEST_PROSE and _SENTENCE_END.search(only):
            return Record(0, line, abstract=only)
        return Record(0, line, title=only)
    title = _NUMBER.sub("", lines.pop(0).strip().lstrip("# ").strip("*"))
    authors: tuple[str, ...] = ()
    url = year = venue = None
    while lines:
        head = lines[0].strip()
        address = _ADDRESS.fullmatch(head)
        if not head or _ABSTRACT_HEADING.fullmatch(head):
            lines.pop(0)
        elif address and len(lines) > 1:
            url = address[1]
            lines.pop(0)
        elif not authors and looks_like_authors(head) and len(lines) > 1:
            named = re.sub(r"^(?:by|authors?\s*:)\s+", "", head.strip("*_ "), flags=re.IGNORECASE)
            authors = split_authors(re.sub(r"[\d*†‡§¶∗]+", "", named))
            lines.pop(0)
        elif len(head) < 80 and len(lines) > 1 and authors and _VENUE_YEAR.search(head):
            year, venue = year_of(head), head
            lines.pop(0)
        else:
            break
    abstract = "\n".join(lines).strip()
    if abstract and not authors and looks_like_authors(abstract):
        authors, abstract = split_authors(abstract), ""
    return Record(0, line, abstract=abstract or None, title=title, authors=authors, url=url, year=year, venue=venue)


def _is_running(lines: Sequence[str]) -> bool:
    """Whether the first line is no title but the beginning of a paragraph that breaks anywhere."""
    if len(lines[0]) > _LONGEST_TITLE:
        return True
    return lines[1][:1].islower() and not looks_like_authors(lines[1]) and lines[0][-1:] not in ".:"


def _numbered(records: Iterator[Record]) -> list[Record]:
    return [replace(record, ordinal=ordinal) for ordinal, record in enumerate(records, start=1)]


# Labelled fields


def _label(line: str) -> tuple[str, str] | None:
    found = _LABEL.fullmatch(line)
    if found and normal_name(found["name"]) in _LABELS:
        return normal_name(found["name"]), found["value"]
    return None


def _is_labelled(lines: Sequence[str]) -> bool:
    names = [label[0] for line in lines if (label := _label(line))]
    return bool({"title", "papertitle"} & set(names)) and bool({"abstract", "summary"} & set(names))


def _labelled(lines: Sequence[str]) -> Iterator[Record]:
    """A record ends where a label comes that it has already; unlabelled lines continue the last field."""
    fields: dict[str, str] = {}
    last = ""
    start = ordinal = 0
    for number, line in enumerate(lines, start=1):
        label = _label(line)
        if label and (label[0] in fields or not fields):
            if fields:
                ordinal += 1
                yield record_from_fields(_stripped(fields), ordinal, start)
            fields, start = {}, number
        if label:
            last = label[0]
            fields[last] = label[1]
        elif _SEPARATOR.fullmatch(line):
            last = ""
        elif last:
            fields[last] += "\n" + line
    if fields:
        yield record_from_fields(_stripped(fields), ordinal + 1, start)


def _stripped(fields: dict[str, str]) -> dict[str, str]:
    return {name: value.strip() for name, value in fields.items()}
