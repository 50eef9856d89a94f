"""Every format: the excerpts of docs/formats.md, round trips, and hostile input."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.admit import reason_to_skip
from rag.errors import InputError
from rag.fields import record_from_fields, split_authors, split_keywords, year_of
from rag.formats import READERS, reader_for
from rag.formats.decode import decode
from rag.formats.json_records import read_json, read_json_lines, read_sidecar
from rag.formats.record import Record
from rag.formats.ris import read_ris
from rag.formats.table import read_table
from rag.formats.text import is_heading, looks_like_authors, read_text

DOCUMENT = Path(__file__).parents[1] / "docs" / "formats.md"
WORDS = "the quick brown fox jumps over the lazy dog again and again"


def _examples() -> Iterator[tuple[str, str, str, list[dict[str, object]]]]:
    """Yield heading, language and text of each excerpt, and the records expected of it."""
    section = DOCUMENT.read_text(encoding="utf-8").split("## Examples")[1].split("## Real lists")[0]
    for part in re.split(r"^### ", section, flags=re.MULTILINE)[1:]:
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", part, flags=re.MULTILINE | re.DOTALL)
        (language, text), (_, expected) = blocks
        yield part.split("\n", 1)[0], language, text, json.loads(expected)


@pytest.mark.parametrize(
    ("language", "text", "expected"), [pytest.param(*rest, id=heading) for heading, *rest in _examples()]
)
def test_document_examples(language: str, text: str, expected: list[dict[str, object]]) -> None:
    records = reader_for(f"x.{language}")(text, "x")
    assert len(records) == len(expected), records
    for record, wanted in zip(records, expected, strict=True):
        reason = reason_to_skip(record)
        if "skipped" in wanted:
            assert reason is not None and str(wanted["skipped"]) in reason
        else:
            assert reason is None
        for field in fields(Record):
            if field.name == "problem" or ("skipped" in wanted and field.name not in ("ordinal", "line", "title")):
                continue
            value = getattr(record, field.name)
            if isinstance(value, str) and field.name == "abstract":
                value = value.strip()
            default: list[str] | None = [] if isinstance(value, tuple) else None
            assert (list(value) if isinstance(value, tuple) else value) == wanted.get(field.name, default)


def test_document_names_every_ending() -> None:
    table = DOCUMENT.read_text(encoding="utf-8").split("Never a paper")[0]
    assert set(re.findall(r"`(\.\w+)`", table)) == set(READERS)


def test_unknown_ending_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"\.docx are not read; use one of \.txt"):
        reader_for("list.docx")


# Round trips

TEXT = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp"), max_codepoint=0x2FFF), max_size=80)
NAMES = st.lists(st.sampled_from(["Ada Lovelace", "José Núñez", "李 明", "Jean-Yves Le Gall"]), max_size=3, unique=True)


@st.composite
def papers(draw: st.DrawFn) -> dict[str, str]:
    abstract = f"{draw(TEXT)} {WORDS} {draw(TEXT)}".strip()
    return {
        "title": f"T {draw(TEXT)}".strip(),
        "abstract": abstract,
        "year": str(draw(st.integers(1900, 2099))),
    }


@settings(max_examples=40, deadline=None)
@given(st.lists(papers(), min_size=1, max_size=5), st.sampled_from(",\t;|"), st.booleans())
def test_tables_round_trip(rows: list[dict[str, str]], delimiter: str, mark: bool) -> None:
    out = io.StringIO()
    writer = csv.DictWriter(out, ["title", "abstract", "year"], delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    data = out.getvalue().encode("utf-8-sig" if mark else "utf-8")
    records = read_table(decode(data, "x.csv").text, "x.csv")
    assert [record.abstract for record in records] == [row["abstract"] for row in rows]
    assert [record.year for record in records] == [int(row["year"]) for row in rows]
    assert [record.title for record in records] == [" ".join(row["title"].split()) for row in rows]


@settings(max_examples=40, deadline=None)
@given(st.lists(papers(), min_size=1, max_size=5), st.booleans(), st.booleans())
def test_json_round_trips(rows: list[dict[str, str]], indented: bool, ascii_only: bool) -> None:
    text = json.dumps(rows, indent=2 if indented else None, ensure_ascii=ascii_only)
    whole = read_json(text, "x.json")
    wrapped = read_json(json.dumps({"data": {"title": "A list", "papers": rows}}), "x.json")
    nested = read_json(
        json.dumps([{"content": {key: {"value": item} for key, item in row.items()}} for row in rows]),
        "x.json",
    )
    lines = read_json_lines("\n".join(json.dumps(row, ensure_ascii=ascii_only) for row in rows), "x.jsonl")
    for records in (whole, wrapped, nested, lines):
        assert [record.abstract for record in records] == [row["abstract"] for row in rows]
    if indented:
        starts = [number for number, line in enumerate(text.split("\n"), start=1) if line == "  {"]
        assert [record.line for record in whole] == starts


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(papers(), NAMES), min_size=1, max_size=4))
def test_ris_round_trips(rows: list[tuple[dict[str, str], list[str]]]) -> None:
    lines: list[str] = []
    for row, authors in rows:
        lines += ["TY  - JOUR", f"TI  - {row['title']}", *(f"AU  - {name}" for name in authors)]
        lines += [f"AB  - {row['abstract']}", f"PY  - {row['year']}", "ER  - ", ""]
    records = read_ris("\n".join(lines), "x.ris")
    assert [record.abstract for record in records] == [row["abstract"] for row, _ in rows]
    assert [list(record.authors) for record in records] == [authors for _, authors in rows]
    assert [record.line for record in records] == [
        number for number, line in enumerate(lines, start=1) if line == "TY  - JOUR"
    ]


@settings(max_examples=40, deadline=None)
@given(st.lists(papers(), min_size=1, max_size=6))
def test_plain_lists_keep_each_abstract_and_its_line(rows: list[dict[str, str]]) -> None:
    texts = [f"{WORDS}: {index} and so on until the end of it." for index, _ in enumerate(rows)]
    text = "Some Conference 2024\n\n" + "\n\n".join(texts) + "\n"
    records = read_text(text, "x.txt")
    assert [record.abstract for record in records] == texts
    assert [record.ordinal for record in records] == list(range(1, len(rows) + 1))
    lines = text.split("\n")
    assert all(lines[record.line - 1] == record.abstract for record in records)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=300), st.sampled_from(sorted(READERS)))
def test_any_text_gives_records_or_an_input_error(text: str, ending: str) -> None:
    try:
        records = reader_for(f"x{ending}")(text, f"x{ending}")
    except InputError:
        return
    for record in records:
        reason_to_skip(record)
        assert record.line >= 0 and record.ordinal >= 1


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_decode_or_give_an_input_error(data: bytes) -> None:
    try:
        text = decode(data, "x").text
    except InputError:
        return
    assert "\x00" not in text and "\r" not in text


# Encodings


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_unicode_encodings(encoding: str) -> None:
    text = "Überanpassung und naïve Schätzer: ein Überblick über das 模型 — 10 % besser.\n" * 3
    assert decode(text.encode(encoding), "x").text == text


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        (
            "cp1252",
            "L’apprentissage automatique est étudié. Les modèles déjà entraînés échouent à généraliser. " * 5,
        ),
        (
            "gb18030",
            "大型语言模型在许多任务中取得了显著的进展,但仍然容易受到安全风险的影响。我们提出一种新的方法。" * 5,
        ),
    ],
)
def test_legacy_encodings_are_guessed(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding), "x").text == text


def test_damaged_utf8_costs_only_the_damaged_records() -> None:
    good, bad = "Ein schönes Überangebot an Wörtern für die Prüfung.", "A broken \xff byte."
    data = good.encode() + b"\n\n" + bad.encode("latin-1") + b"\n"
    decoded = decode(data, "x")
    assert decoded.damaged
    assert reason_to_skip(Record(1, 1, abstract=good), damaged=True) is None
    reason = reason_to_skip(Record(2, 3, abstract=decoded.text.split("\n\n")[1]), damaged=True)
    assert reason is not None and "not UTF-8" in reason


@pytest.mark.parametrize(
    ("data", "word"),
    [(b"%PDF-1.7 ...", "PDF"), (b"PK\x03\x04rest", "ZIP"), (b"\x00\x01\x02\x03" * 40, "no text")],
)
def test_binary_files_are_refused_with_a_remedy(data: bytes, word: str) -> None:
    with pytest.raises(InputError, match=word):
        decode(data, "x")


def test_xml_encoding_declaration_is_followed() -> None:
    text = '<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>'
    assert decode(text.encode("latin-1"), "x").text == text


# Tables


def test_row_without_certain_repair_is_reported_and_costs_no_other() -> None:
    text = 'title,abstract\nOne, two,three "four", five\n"open quote,rest of it\nfoo,bar\n"x","y"\n'
    records = read_table(text, "x.csv")
    assert [record.problem is None for record in records] == [False, False, True, True]
    assert [record.line for record in records] == [2, 3, 4, 5]
    assert (records[2].title, records[3].abstract) == ("foo", "y")


def test_repair_needs_one_address_and_one_free_column() -> None:
    header = "id,title,venue,link,abstract\n"
    two_addresses = 'a,T,V, W,https://a.org,https://b.org,"x"\n'
    fits = 'a,T, U,V,https://a.org,"He said "no", twice."\n'
    first, second = read_table(header + two_addresses + fits, "x.csv")
    assert first.problem is not None
    assert (second.title, second.venue, second.abstract) == ("T, U", "V", 'He said "no", twice.')


def test_table_names_columns_or_is_refused() -> None:
    with pytest.raises(InputError, match="line 1: its first line names no known column"):
        read_table("a,b\n1,2\n", "x.csv")


def test_excel_separator_line_and_trailing_delimiters() -> None:
    records = read_table("sep=;\ntitle;abstract\nA;B c;\n;;\n", "x.csv")
    assert [(record.title, record.abstract, record.line) for record in records] == [("A", "B c", 3)]


def test_unclosed_quote_in_a_large_table_is_bounded() -> None:
    rows = "".join(f"t{number},a{number}\n" for number in range(3000))
    records = read_table('title,abstract\n"never closed,x\n' + rows, "x.csv")
    assert len(records) == 3001
    assert sum(record.problem is not None for record in records) == 1


# JSON


def test_deep_json_and_long_numbers_are_input_errors() -> None:
    with pytest.raises(InputError, match="nested too deeply"):
        read_json("[" * 100_000 + "]" * 100_000, "x.json")
    with pytest.raises(InputError, match="nested too deeply"):
        read_json('{"a":' * 100_000 + "1" + "}" * 100_000, "x.json")
    with pytest.raises(InputError, match="number"):
        read_json("[" + "1" * 10_000 + "]", "x.json")


def test_invalid_json_names_line_and_column() -> None:
    with pytest.raises(InputError, match=r"x\.json, line 3: .*column 1") as caught:
        read_json('[\n{"title": "A"},\n}]', "x.json")
    assert caught.value.line == 3


def test_json_lines_in_a_json_file() -> None:
    records = read_json('{"abstract": "one"}\n{"abstract": "two"}\n', "x.json")
    assert [record.abstract for record in records] == ["one", "two"]


def test_lone_surrogates_and_nul_never_reach_a_paper() -> None:
    (record,) = read_json('[{"abstract": "a \\ud800 b \\u0000 c"}]', "x.json")
    assert record.abstract == "a \ufffd b  c"
    assert record.abstract.encode()


def test_wrapped_lists_and_bare_strings() -> None:
    assert [r.abstract for r in read_json('{"oral": [{"abstract": "a"}], "poster": [{"abstract": "b"}]}', "x")] == [
        "a",
        "b",
    ]
    assert [r.abstract for r in read_json('["one", "two"]', "x")] == ["one", "two"]
    assert [r.abstract for r in read_json('{"abstracts": ["one"]}', "x")] == ["one"]
    assert [r.abstract for r in read_json('{"p1": {"abstract": "a"}, "p2": {"abstract": "b"}}', "x")] == [
        "a",
        "b",
    ]
    assert read_json('{"rows": 3}', "x") == []


def test_sidecar_is_recognised_only_without_abstracts() -> None:
    entry = {"title": "A", "source": "list.txt#2", "authors": "B C, D E", "link": "https://a.org"}
    found = read_sidecar(json.dumps([entry]), "titles.json")
    assert found is not None
    record = found["list.txt", 2]
    assert (record.title, record.authors, record.url) == ("A", ("B C", "D E"), "https://a.org")
    assert read_sidecar(json.dumps([{**entry, "abstract": "x"}]), "titles.json") is None
    assert read_sidecar('[{"title": "A", "source": "somewhere"}]', "titles.json") is None


# XML


def test_xml_bombs_and_external_entities_are_refused() -> None:
    bomb = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;">]><feed><entry>&c;</entry></feed>'
    outside = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><feed><entry><summary>&b;</summary></entry></feed>'
    for text in (bomb, outside):
        with pytest.raises(InputError, match="document type"):
            reader_for("x.xml")(text, "x.xml")


def test_broken_and_foreign_xml() -> None:
    with pytest.raises(InputError, match="line 2: this is no valid XML"):
        reader_for("x.xml")("<feed>\n<entry></feed>", "x.xml")
    with pytest.raises(InputError, match="no Atom feed"):
        reader_for("x.xml")("<html><body/></html>", "x.xml")


# BibTeX


def test_broken_bibtex_entry_costs_no_other() -> None:
    text = (
        "@article{a, title={A}, abstract={one}}\n@article{b, title={B, \n"
        "@article{c, title={C}, title={D}}\n@article{d, title={E}, abstract={two}}"
    )
    records = reader_for("x.bib")(text, "x.bib")
    assert [record.problem is None for record in records] == [True, False, False, True]
    assert [record.line for record in records] == [1, 2, 3, 4]


# Text


def test_headings() -> None:
    assert is_heading("NeurIPS 2026 Papers")
    assert is_heading("NeurIPS 2026 论文列表")
    assert is_heading("=====")
    assert not is_heading("We propose a method that works.")
    assert not is_heading("这是一个完整的摘要。")


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("Ada Lovelace, Charles Babbage", True),
        ("Dirk van der Hoeven", True),
        ("Seongmin Ok", True),
        ("A. B. Author¹, C. Author²*", True),
        ("We study the problem of learning, and of forgetting, in networks of many layers.", False),
        ("Attention Is All You Need: A Study", False),
    ],
)
def test_author_lines(line: str, wanted: bool) -> None:
    assert looks_like_authors(line) is wanted


PARAGRAPH = "This paper studies a long question in several sentences. " * 5


def test_titles_in_blocks_of_their_own() -> None:
    first = f"First Title of It\n\nAda Lovelace, Charles Babbage\n\n{PARAGRAPH}\n\n{PARAGRAPH}"
    text = f"Conference\n\n{first}\n\nSecond Title\nGrace Hopper, Jean Bartik\n\n{PARAGRAPH}\n"
    records = read_text(text, "x.txt")
    named = [(record.title, record.authors) for record in records if record.abstract]
    assert named[-1] == ("Second Title", ("Grace Hopper", "Jean Bartik"))
    assert records[0].abstract is not None and records[0].abstract.count("This paper") == 10


def test_hard_wrapped_abstracts_stay_whole() -> None:
    wrapped = (
        "We study the convergence of a method that is used\nevery day in practice, and show that it does not\n"
        "converge in general; a small change mends it."
    )
    records = read_text(f"{wrapped}\n\n{wrapped.replace('We', 'They')}\n", "x.txt")
    assert [record.abstract for record in records] == [wrapped, wrapped.replace("We", "They")]
    separated = read_text(f"{wrapped}\n----\n{wrapped}\n----\n", "x.txt")
    assert [(record.title, record.abstract) for record in separated] == [(None, wrapped)] * 2


def test_one_abstract_a_line() -> None:
    line = PARAGRAPH.strip() + " " + PARAGRAPH.strip()
    records = read_text(f"{line}\n{line}\n{line}\n", "x.txt")
    assert [record.line for record in records] == [1, 2, 3]


def test_lists_of_titles_have_no_abstracts() -> None:
    for gap in ("\n", "\n\n"):
        records = read_text(gap.join(["A First Title", "The Second Title", "Third Titles Are Good"]), "x.txt")
        assert len(records) == 3 and all(record.abstract is None for record in records)


# Fields


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("Seong Hah Cho, Junyi Li, Anna Leshinskaya", ("Seong Hah Cho", "Junyi Li", "Anna Leshinskaya")),
        ("Friedenberger, Z.; Cao, Y.; Naud, R.", ("Z. Friedenberger", "Y. Cao", "R. Naud")),
        ("Runze Shi, and (order not seen) Jiaye Teng, Ziye Ma", ("Runze Shi", "Jiaye Teng", "Ziye Ma")),
        ("Lovelace, Ada and Babbage, Charles", ("Ada Lovelace", "Charles Babbage")),
        ("A B, C D and E F", ("A B", "C D", "E F")),
        ("Huang, J.-Y., Smith, A. B.", ("J.-Y. Huang", "A. B. Smith")),
        ("Mo Yu;Xiaoxiao Guo;Anonymous", ("Mo Yu", "Xiaoxiao Guo")),
        ("['Junwei Ma', 'Valentin Thomas']", ("Junwei Ma", "Valentin Thomas")),
        ([{"name": "Ada Lovelace", "authorId": "1"}], ("Ada Lovelace",)),
        ([{"family": "Berg", "given": "Jan", "non-dropping-particle": "van den"}], ("Jan van den Berg",)),
        ("King, Jr., Martin Luther; Doe, Jane", ("Martin Luther King Jr.", "Jane Doe")),
        (None, ()),
        ("", ()),
    ],
)
def test_authors(value: object, names: tuple[str, ...]) -> None:
    assert split_authors(value) == names


@pytest.mark.parametrize(
    ("value", "year"),
    [(2024, 2024), ("2024-05-01", 2024), ("May 2019", 2019), ({"date-parts": [[2021, 3]]}, 2021),
     (1761705108865, 2025), ("12345", None), (True, None), (3.5, None), ("", None), (None, None)],
)  # fmt: skip
def test_years(value: object, year: int | None) -> None:
    assert year_of(value) == year


def test_keywords() -> None:
    assert split_keywords("a; b, c; a") == ("a", "b, c")
    assert split_keywords("a, b") == ("a", "b")
    assert split_keywords(["a", {"name": "b"}]) == ("a", "b")
    assert split_keywords(None) == ()


def test_fields_are_never_invented() -> None:
    record = record_from_fields({"Abstract": "x", "site": "Sydney", "year": "", "id": "KurYdcCbjv"}, 1, 1)
    assert record == Record(1, 1, abstract="x")


def test_addresses_in_order_of_their_worth() -> None:
    def url(**values: object) -> str | None:
        return record_from_fields(values, 1, 1).url

    assert url(url="", DOI="https://doi.org/10.1000/x", pdf="https://a.org/x.pdf") == "https://doi.org/10.1000/x"
    assert url(doi="10.1000/182") == "https://doi.org/10.1000/182"
    assert url(link="https://a.org/1", doi="10.1000/182") == "https://a.org/1"
    assert url(eprint="1706.03762v2") == "https://arxiv.org/abs/1706.03762v2"
    assert url(pdf="/pdf/x.pdf") is None
    assert url(openAccessPdf={"url": "https://a.org/x.pdf"}) == "https://a.org/x.pdf"


# What is no abstract


@pytest.mark.parametrize(
    ("abstract", "title", "word"),
    [
        ("", "A Title", "no abstract"),
        ("   ", None, "blank"),
        ("N/A", None, "placeholder"),
        ("Abstract not available.", None, "placeholder"),
        ("No abstract available", None, "placeholder"),
        ("[No abstract]", None, "placeholder"),
        ("The abstract is not yet available for this paper", None, "placeholder"),
        ("Paper was withdrawn.", None, "placeholder"),
        ("Abstract will be added soon after the conference", None, "placeholder"),
        ("Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor.", None, "placeholder"),
        ("A title again: on the use of titles as texts", "A Title Again: On the Use of Titles as Texts", "title again"),
        ("Too short a text.", None, "too short"),
        ("Jane Doe received the Ph.D. degree in computer science from MIT in 2010. She is currently an associate "
         "professor at ETH. Her research interests include learning theory.", None, "biography"),
        ("John Roe is a PhD student at the University of X. His research interests are in vision.", None, "biography"),
        ("word " * 7000, None, "too long"),
    ],
)  # fmt: skip
def test_reasons_to_skip(abstract: str, title: str | None, word: str) -> None:
    reason = reason_to_skip(Record(1, 1, abstract=abstract, title=title))
    assert reason is not None and word in reason


@pytest.mark.parametrize(
    "abstract",
    [
        "We present a bound for networks in terms of their weights.",
        "大型语言模型在许多任务中取得了显著的进展,但仍然容易受到安全风险的影响。",
        "Student models receive feedback from a teacher; we study how their learning changes with its degree.",
        "Abstract reasoning is hard for networks. We test it on matrices and find that they fail.",
    ],
)
def test_abstracts_are_admitted(abstract: str) -> None:
    assert reason_to_skip(Record(1, 1, abstract=abstract, title="Something Else")) is None
