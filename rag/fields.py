"""Field names by the customs of the trade, and field values to one shape.

Known customs: OpenReview, conference sites, Paper Copilot, Semantic Scholar, arXiv, Zotero, Scopus and
Web of Science exports, CSL JSON, RIS tags. Names are compared without case, spaces and punctuation.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

from rag.formats.record import Record

ABSTRACT = ("abstract", "abstractnote", "abstracttext", "paperabstract", "summary", "ab", "摘要", "论文摘要")
TITLE = (
    "title", "papertitle", "articletitle", "documenttitle", "ti", "primarytitle", "cleantitle", "name",
    "cleanname", "标题", "题目", "论文题目",
)  # fmt: skip
AUTHORS = (
    "authors", "author", "authornames", "authorlist", "authorfullnames", "firstauthors", "creators", "au",
    "speakersauthors", "authorsite", "作者",
)  # fmt: skip
YEAR = (
    "year", "publicationyear", "pubyear", "py", "issued", "published", "publicationdate", "publisheddate",
    "pubdate", "date", "年份",
)  # fmt: skip
VENUE = (
    "venue", "booktitle", "journal", "containertitle", "conference", "publicationtitle", "sourcetitle",
    "secondarytitle", "journalname", "publicationvenue", "journaltitle", "eventtitle", "会议", "期刊",
)  # fmt: skip
URL = ("url", "link", "forumlink", "paperurl", "paperlink", "openreview", "site", "urls", "链接")
PDF = ("pdf", "pdfurl", "pdflink", "openaccesspdf")
DOI = ("doi",)
ARXIV = ("arxiv", "arxivid", "eprint")
KEYWORDS = ("keywords", "keyword", "authorkeywords", "paperkeywords", "tags", "manualtags", "kw", "关键词")
BIBTEX = ("bibtex",)

OWN = ("plenaryid",)

KNOWN = frozenset(ABSTRACT + TITLE + AUTHORS + YEAR + VENUE + URL + PDF + DOI + ARXIV + KEYWORDS + BIBTEX + OWN)

_YEAR = re.compile(r"(?<!\d)(1[89]\d\d|20\d\d)(?!\d)")
_WEB = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
# "(order not seen)", "(1)"; but "Shixiang (Shane) Gu" is a name.
_REMARK = re.compile(r"\s*\([^()A-Z][^()]*\)\s*")
_AND = re.compile(r"\s+(?:and|und|et)\s+|\s*&\s*", re.IGNORECASE)
# One or more initials, as the second half of "Friedenberger, Z." or "Huang, J.-Y."
_INITIALS = re.compile(r"(?:[A-Z]\.?[\s-]?){1,4}", re.ASCII)
_NO_TITLE = re.compile(
    r"(?:n/?a|none|null|nan|untitled|no title|withdrawn|placeholder|tb[ad]|title|-+)\.?", re.IGNORECASE
)
_NOBODY = ("anonymous", "anonymous authors", "anonymous author", "et al.", "et al", "others", "unknown")
_SUFFIX = re.compile(r"(?:jr|sr|ii|iii|iv)\.?", re.IGNORECASE)


def normal_name(name: str) -> str:
    """Return a field name without case, spaces and punctuation: "Abstract Note" is "abstractnote"."""
    return "".join(character for character in name.casefold() if character.isalnum())


def is_known(name: str) -> bool:
    """Whether a field name is one that is read."""
    return normal_name(name) in KNOWN


def is_abstract(name: str) -> bool:
    """Whether a field name means the abstract."""
    return normal_name(name) in ABSTRACT


def record_from_fields(fields: Mapping[str, object], ordinal: int, line: int) -> Record:
    """Return the record that a mapping of field names to values describes; unknown names are ignored.

    Values may be text, numbers, lists, `{"value": ...}` (OpenReview) or objects with a name (Semantic
    Scholar, CSL JSON). Nothing is invented: a field that is not there stays empty; the year may stand in
    the date, the venue's name or a BibTeX entry carried along, and a DOI, arXiv or OpenReview number
    becomes its address.
    """
    values = {normal_name(name): unwrapped(value) for name, value in fields.items()}
    abstract = _first_text(values, ABSTRACT, joint=" ")
    bibtex = _first_text(values, BIBTEX) or ""
    venue = _venue(values) or _bibtex_field(bibtex, "booktitle") or _bibtex_field(bibtex, "journal")
    year = _first_year(values) or year_of(_bibtex_field(bibtex, "year")) or year_of(venue)
    return Record(
        ordinal=ordinal,
        line=line,
        abstract=abstract,
        title=_title(values),
        authors=_first_authors(values),
        year=year,
        venue=venue,
        url=_url(values),
        keywords=_first_keywords(values),
    )


def unwrapped(value: object) -> object:
    """Return what stands inside `{"value": ...}`, as OpenReview's second interface nests every field."""
    while isinstance(value, Mapping) and "value" in value:
        value = value["value"]
    return value


_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]")


def split_authors(value: object) -> tuple[str, ...]:
    """Return the authors' names, each as "Given Family", from a list or a joined string.

    Strings are split at semicolons, else at " and ", else at commas; "Family, Given" is turned round.
    Remarks in round brackets and "anonymous" are dropped.
    """
    value = unwrapped(value)
    if isinstance(value, list | tuple):
        names = (_author_name(item) for item in value)
        return tuple(dict.fromkeys(name for name in names if name))
    if not isinstance(value, str) or not value.strip():
        return ()
    text = value.strip()
    if text.startswith("[") and text.endswith("]"):
        parsed = _python_list(text)
        if parsed is not None:
            return split_authors(parsed)
    text = " ".join(_REMARK.sub(" ", text).split())
    names = (name.strip(" .") if name.endswith(" .") else name for name in _split_names(text))
    return tuple(dict.fromkeys(name for name in names if name and name.casefold() not in _NOBODY))


def _split_names(text: str) -> Iterator[str]:
    if _HAN.search(text) and not _LATIN.search(text):  # family names come first and stay there
        yield from filter(None, re.split(r"\s*[，、,;；]\s*", text))
        return
    if ";" in text:
        for part in text.split(";"):
            yield from map(_given_first, _AND.split(part))
        return
    parts = _AND.split(text)
    # BibTeX: "Family, Given and Family, Given"; but "A B, C D and E F" is a plain list.
    if len(parts) > 1 and parts[0].count(",") == 1 and all(map(_looks_turned, parts)):
        for part in parts:
            yield _given_first(part)
        return
    pieces = [piece.strip() for part in parts for piece in part.split(",")]
    pieces = [piece for piece in pieces if piece]
    if len(pieces) % 2 == 0 and pieces and _are_pairs(pieces):
        for family, given in zip(pieces[0::2], pieces[1::2], strict=True):
            yield f"{given} {family}"
        return
    yield from pieces


def _looks_turned(part: str) -> bool:
    """Whether "A, B" is one name turned round rather than two names: one side is a single word."""
    if "," not in part:
        return True
    if part.count(",") > 1:
        return False
    family, _, given = (piece.strip() for piece in part.partition(","))
    return len(family.split()) == 1 or len(given.split()) == 1


def _are_pairs(pieces: list[str]) -> bool:
    """Whether comma-separated pieces alternate between family names and initials or single given names."""
    family, given = pieces[0::2], pieces[1::2]
    if all(_INITIALS.fullmatch(piece) for piece in given):
        return not any(_INITIALS.fullmatch(piece) for piece in family)
    return len(pieces) == 2 and all(len(piece.split()) == 1 for piece in pieces)


def _given_first(name: str) -> str:
    """Return "Given Family" for "Family, Given" or "Family, Jr., Given"."""
    pieces = [piece.strip() for piece in name.split(",")]
    pieces = [piece for piece in pieces if piece]
    if len(pieces) == 2 and not _SUFFIX.fullmatch(pieces[1]):
        return f"{pieces[1]} {pieces[0]}"
    if len(pieces) == 3 and _SUFFIX.fullmatch(pieces[1]):
        return f"{pieces[2]} {pieces[0]} {pieces[1]}"
    return " ".join(pieces)


def literal_name(name: str, decode: Callable[[str], str] = str) -> str | dict[str, str]:
    """Return a name that stands in braces as one that is not turned round, as BibTeX has it; others as they are."""
    inner = name[1:-1]
    if name[:1] == "{" and name[-1:] == "}" and len(name) > 2 and _closes_last(name):
        return {"literal": decode(inner)}
    return decode(name)


def _closes_last(text: str) -> bool:
    depth = 0
    for place, mark in enumerate(text):
        depth += (mark == "{") - (mark == "}")
        if not depth:
            return place == len(text) - 1
    return False


def _author_name(item: object) -> str:
    item = unwrapped(item)
    if isinstance(item, str):
        name = _given_first(" ".join(item.split()))
        return "" if name.casefold() in _NOBODY else name
    if isinstance(item, Mapping):
        named = {normal_name(str(key)): value for key, value in item.items()}
        for key in ("name", "fullname", "literal", "displayname", "authorname"):
            if isinstance(named.get(key), str) and named[key].strip():
                return " ".join(named[key].split())
        if isinstance(named.get("author"), Mapping):  # OpenAlex: {"author": {"display_name": ...}}
            return _author_name(named["author"])
        given = named.get("given") or named.get("firstname") or named.get("first") or ""
        particle = named.get("nondroppingparticle") or named.get("droppingparticle") or ""
        family = named.get("family") or named.get("lastname") or named.get("last") or ""
        suffix = named.get("suffix") or ""
        return " ".join(str(part) for part in (given, particle, family, suffix) if isinstance(part, str) and part)
    return ""


def _python_list(text: str) -> list[object] | None:
    """Return the strings or objects of a list written as Python or JSON, as spreadsheets often carry them."""
    parsed: object = None
    for read in (json.loads, ast.literal_eval):
        try:
            parsed = read(text)
            break
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    if isinstance(parsed, list) and all(isinstance(item, str | dict) for item in parsed):
        return parsed
    return None


def split_keywords(value: object) -> tuple[str, ...]:
    """Return keywords from a list or a string joined with semicolons, else commas, else line ends."""
    value = unwrapped(value)
    if isinstance(value, str):
        text = value.strip()
        parsed = _python_list(text) if text.startswith("[") else None
        separator = ";" if ";" in text else "," if "," in text else "\n"
        value = parsed if parsed is not None else text.split(separator)
    if not isinstance(value, list | tuple):
        return ()
    words: list[str] = []
    for item in value:
        item = unwrapped(item)
        if isinstance(item, Mapping):
            item = next((item[key] for key in ("name", "display_name", "tag", "term") if key in item), "")
        if isinstance(item, str) and item.strip():
            words.append(" ".join(item.split()))
    return tuple(dict.fromkeys(words))


def year_of(value: object) -> int | None:
    """Return the year in a number, a date text, a CSL date or a time stamp in milliseconds, else None."""
    value = unwrapped(value)
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        if 1800 <= value < 2100 and value == int(value):
            return int(value)
        if 1e11 < value < 4.1e12:  # milliseconds since 1970, as OpenReview keeps its dates
            return datetime.fromtimestamp(value / 1000, tz=UTC).year
        return None
    if isinstance(value, str):
        found = _YEAR.search(value)
        return int(found[1]) if found else None
    if isinstance(value, Mapping):
        parts = value.get("date-parts") or value.get("raw") or value.get("literal")
        return year_of(parts)
    if isinstance(value, list | tuple) and value:
        return year_of(value[0])
    return None


def _first_year(values: Mapping[str, object]) -> int | None:
    for name in YEAR:
        year = year_of(values.get(name))
        if year is not None:
            return year
    return None


def text_of(value: object, joint: str = "\n") -> str | None:
    """Return a value as text: strings as they are, numbers written out, lists of strings joined."""
    value = unwrapped(value)
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
        joined = joint.join(str(item).strip() for item in value)
        return joined if joined.strip() else None
    return None


def _first_text(values: Mapping[str, object], names: tuple[str, ...], joint: str = " ") -> str | None:
    for name in names:
        text = text_of(values.get(name), joint)
        if text is not None:
            return text
    return None


def _title(values: Mapping[str, object]) -> str | None:
    """Return the title on one line; what stands there when it is missing is no title."""
    title = _one_line(_first_text(values, TITLE))
    return None if title is None or _NO_TITLE.fullmatch(title) else title


def _one_line(text: str | None) -> str | None:
    return " ".join(text.split()) if text else None


def _first_authors(values: Mapping[str, object]) -> tuple[str, ...]:
    for name in AUTHORS:
        authors = split_authors(values.get(name))
        if authors:
            return authors
    return ()


def _first_keywords(values: Mapping[str, object]) -> tuple[str, ...]:
    for name in KEYWORDS:
        keywords = split_keywords(values.get(name))
        if keywords:
            return keywords
    return ()


def _venue(values: Mapping[str, object]) -> str | None:
    for name in VENUE:
        value = values.get(name)
        if isinstance(value, Mapping):
            value = value.get("name") or value.get("title")
        text = _one_line(text_of(value))
        if text:
            return text
    return None


def _bibtex_field(entry: str, name: str) -> str | None:
    """Return one field of a BibTeX entry carried along by another format (OpenReview, Paper Copilot)."""
    found = re.search(rf"^\s*{name}\s*=\s*[{{\"](.+?)[}}\"],?\s*$", entry, re.MULTILINE | re.IGNORECASE)
    return _one_line(found[1]) if found else None


def _url(values: Mapping[str, object]) -> str | None:
    for name in URL:
        text = text_of(values.get(name))
        found = _WEB.search(text) if text else None
        if found:
            return found[0].rstrip(".,;)")
    number = text_of(values.get("openreview"))
    if number and re.fullmatch(r"[\w-]{8,14}", number.strip()):
        return f"https://openreview.net/forum?id={number.strip()}"
    invitations = values.get("invitations") or values.get("invitation")
    forum = text_of(values.get("forum"))
    if invitations and forum and re.fullmatch(r"[\w-]{8,14}", forum):
        return f"https://openreview.net/forum?id={forum}"
    doi = text_of(values.get("doi"))
    found = re.search(r"10\.\d{4,9}/\S+", doi) if doi else None
    if found:
        return f"https://doi.org/{found[0].rstrip('.,;')}"
    for name in ARXIV:
        text = text_of(values.get(name))
        found = re.search(r"\d{4}\.\d{4,5}(v\d+)?|[a-z-]+(\.[A-Z]{2})?/\d{7}", text) if text else None
        if found:
            return f"https://arxiv.org/abs/{found[0]}"
    for name in PDF:
        value = values.get(name)
        text = text_of(value.get("url") if isinstance(value, Mapping) else value)
        found = _WEB.search(text) if text else None
        if found:
            return found[0]
    return None
