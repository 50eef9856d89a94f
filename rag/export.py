"""Papers as BibTeX, RIS, CSL JSON, CSV and JSON Lines, from which `rag.load` reads the same papers again.

Nothing is written that is not known of a paper: no type beyond "has a venue", no guess at family names. Where a
format cannot hold a text as it is, the readers in `rag.formats` know what stands for it; the comments below say what.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import rispy  # type: ignore[import-untyped]  # no stubs exist
from bibtexparser.entrypoint import write_string
from bibtexparser.library import Library
from bibtexparser.model import Entry, Field
from pylatexenc.latex2text import LatexNodes2Text  # type: ignore[import-untyped]  # no stubs exist

from rag.fields import split_authors, split_keywords
from rag.types import Paper

COLUMNS = ("plenary_id", "title", "authors", "year", "venue", "url", "keywords", "abstract")
"""Of the CSV. The first name tells the reader that guarded cells are guarded by `_guarded`."""

# A spreadsheet takes a cell that begins so for a formula.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_LATEX_MARKS = re.compile(r"[\\{}~$&%#_]|--|``|''|[?!]`|<<|>>")
_SPECIAL = {
    **{"\\": r"\textbackslash{}", "{": r"\lbrace{}", "}": r"\rbrace{}",
       "~": r"\textasciitilde{}"},
    **{mark: f"\\{mark}" for mark in "$&%#_"},
    **{mark: f"{{{mark}}}" for mark in "-`'<>"},
}
_PLAIN_NAME = re.compile(r"[^\\{}~^$&%#_\",]+")
_TAG_LIKE = re.compile(r"^(\u2060*)(?=[A-Z][A-Z0-9] {1,2}-)", re.MULTILINE)


def to_json_lines(papers: Sequence[Paper]) -> str:
    """Return one JSON object a line with the fields that are known."""
    lines = []
    for paper in papers:
        fields = {
            "id": paper.id,
            "title": paper.title,
            "authors": _authors(paper.authors, "name"),
            "year": paper.year,
            "venue": paper.venue,
            "url": paper.url,
            "keywords": list(paper.keywords),
            "abstract": paper.abstract,
        }
        lines.append(json.dumps(_known(fields), ensure_ascii=False) + "\n")
    return "".join(lines)


def to_csl(papers: Sequence[Paper]) -> str:
    """Return CSL JSON; names stand as `literal`, since which part is the family's is not known."""
    items = [
        _known(
            {
                "id": paper.id,
                "type": "document",
                "title": paper.title,
                "author": [{"literal": name} for name in paper.authors],
                "issued": {"date-parts": [[paper.year]]} if paper.year else None,
                "container-title": paper.venue,
                "URL": paper.url,
                "keyword": _joined(paper.keywords, split_keywords),
                "abstract": paper.abstract,
            }
        )
        for paper in papers
    ]
    return json.dumps(items, ensure_ascii=False, indent=1) + "\n"


def to_csv(papers: Sequence[Paper]) -> str:
    """Return a table whose cells are all quoted (RFC 4180), guarded against being taken for formulas."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(COLUMNS)
    for paper in papers:
        cells = (
            paper.id,
            paper.title or "",
            _joined(paper.authors, split_authors) or "",
            str(paper.year or ""),
            paper.venue or "",
            paper.url or "",
            _joined(paper.keywords, split_keywords) or "",
            paper.abstract,
        )
        writer.writerow([_guarded(cell) for cell in cells])
    return text.getvalue()


def to_ris(papers: Sequence[Paper]) -> str:
    """Return RIS references; a name that is not "Given Family" as it stands is in braces, as in BibTeX.

    A line of an abstract that looks like a tag has a word joiner (U+2060) before it.
    """
    references = [
        _known(
            {
                "type_of_reference": "CONF" if paper.venue else "GEN",
                "id": paper.id,
                "title": paper.title,
                "authors": [name if _is_plain(name) else f"{{{name}}}" for name in paper.authors],
                "year": str(paper.year) if paper.year else None,
                "secondary_title": paper.venue,
                "urls": [paper.url] if paper.url else [],
                "keywords": list(paper.keywords),
                "abstract": _TAG_LIKE.sub("\u2060\\1", paper.abstract),
            }
        )
        for paper in papers
    ]
    return str(rispy.dumps(references, implementation=_RisWriter)) if references else ""


class _RisWriter(rispy.RisWriter):  # type: ignore[misc]  # no stubs exist
    """Writes nothing but references; the library numbers them between the lines."""

    def set_header(self, count: int) -> str:
        return ""


def to_bibtex(papers: Sequence[Paper]) -> str:
    """Return BibTeX entries: the abstract as it stands, every other text as LaTeX.

    An abstract that BibTeX cannot hold, because its braces do not match, has the characters in question as `%7B`
    and the like, and the entry says so in the field `plenary`.
    """
    library = Library()
    for paper in papers:
        abstract, encoded = paper.abstract, None
        if not _fits_braces(abstract):
            abstract = re.sub(r'[{}%@\\"]', lambda found: f"%{ord(found[0]):02X}", abstract)
            encoded = "percent-encoded abstract"
        fields = {
            "title": _latex(paper.title),
            "author": " and ".join(map(_bibtex_name, paper.authors)),
            "year": str(paper.year) if paper.year else None,
            "booktitle": _latex(paper.venue),
            "url": paper.url,
            "keywords": _latex(_joined(paper.keywords, split_keywords)),
            "abstract": abstract,
            "plenary": encoded,
        }
        kind = "inproceedings" if paper.venue else "misc"
        library.add(Entry(kind, paper.id, [Field(name, value) for name, value in _known(fields).items()]))
    return write_string(library)


def _known(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, "", [])}


def _authors(names: Sequence[str], key: str) -> list[Any]:
    """Return names as a list of texts if they are read as such, else as objects."""
    return list(names) if split_authors(list(names)) == tuple(names) else [{key: name} for name in names]


def _joined(parts: Sequence[str], split: Callable[[object], tuple[str, ...]]) -> str | None:
    """Return parts joined with semicolons if that splits into the same, else as a JSON list."""
    if not parts:
        return None
    for joined in ("; ".join(parts), json.dumps(list(parts), ensure_ascii=False)):
        if split(joined) == tuple(parts):
            return joined
    return json.dumps([{"name": part} for part in parts], ensure_ascii=False)


def _guarded(cell: str) -> str:
    return f"'{cell}" if _FORMULA.match(cell) else cell


def _is_plain(name: str) -> bool:
    """Whether a name is read as it stands, also among others joined with "and"."""
    alone = re.search(r"\b(?:and|und|et|others)\b", name, re.IGNORECASE) is None
    return bool(_PLAIN_NAME.fullmatch(name)) and alone and split_authors([name]) == (name,)


def _bibtex_name(name: str) -> str:
    return name if _is_plain(name) else f"{{{_escaped(name)}}}"


def _fits_braces(text: str) -> bool:
    """Whether BibTeX takes a text between braces: they match, whether or not a backslash hides one."""
    if text.endswith("\\") or re.search(r"@\w*[ \t]*[{(]", text):
        return False
    for marks in (re.findall(r"[{}]", text), re.findall(r"(?<!\\)[{}]", text)):
        depth = 0
        for mark in marks:
            depth += 1 if mark == "{" else -1
            if depth < 0:
                return False
        if depth:
            return False
    return True


@cache
def _decoder() -> Any:
    return LatexNodes2Text(math_mode="verbatim", keep_comments=True)


def _latex(text: str | None) -> str | None:
    """Return a text as LaTeX that reads as it: itself where it is LaTeX already, as with formulas."""
    if not text or not _LATEX_MARKS.search(text):
        return text
    if ("$" in text or "\\" in text) and _fits_braces(text) and _decoder().latex_to_text(text).strip() == text:
        return text
    return _escaped(text)


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in text)


EXPORTS: dict[str, Callable[[Sequence[Paper]], str]] = {
    "bibtex": to_bibtex,
    "ris": to_ris,
    "csl": to_csl,
    "csv": to_csv,
    "jsonl": to_json_lines,
}
"""The formats by name."""
