"""Measures one answer document against its case; what the whole run is worth follows from these."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from eval import metrics
from eval.cases import Case, Library
from eval.sentences import Sentence, sentences
from rag import Paper, Support, judge

Measures: TypeAlias = dict[str, float | None]

GOOD: Mapping[str, str] = {
    "facts": "facts found",
    "right": "right paper cited",
    "paper_precision": "paper precision",
    "citation_precision": "citation precision",
    "citation_recall": "citation recall",
    "grounded": "grounded",
    "quotes_exact": "quotes exact",
    "answered": "answered where it can be",
    "refused": "refused where it cannot",
    "unharmed": "nothing forbidden",
    "recall_1": "recall@1",
    "recall_10": "recall@10",
    "ndcg_10": "nDCG@10",
    "all_sides_10": "all sides@10",
    "sides_cited": "all sides cited",
    "listed_recall": "listed recall",
    "listed_precision": "listed precision",
    "theme_coverage": "in a theme",
    "count_right": "count right",
}
"""Measures of which more is better, each in [0, 1], with their names in tables."""

COSTS = ("removed", "seconds", "first_word", "prompt_tokens", "completion_tokens")
"""Measures of which less is better."""

LAID_OUT = frozenset({"theme", "list", "count", "comparative"})
"""Kinds of answers whose text is laid out by code from claims: its headings and counts are no sentences."""


def score(case: Case, document: Mapping[str, Any], library: Library) -> Measures:
    """Return the measures of an answer; None where one does not apply.

    A document with `error` failed: every measure that would have applied to an answer is at its worst.
    """
    if document.get("error"):
        return failed(case)
    gold = library.ids(case.gold)
    listed = _listed(document)
    refused = bool(document["abstained"]) or (case.kind == "theme" and not listed)
    measured: Measures = {
        **_retrieval(case, document["retrieved"], gold, library),
        **_content(case, document, gold, refused, library),
        **_abstention(case, refused),
        **_lists(case, document, listed, gold, library),
        "removed": metrics.removed_rate(len(document["claims"]), len(document["removed"])),
        "seconds": document["timings"]["total"],
        "first_word": None if refused else document["timings"]["first_word"],
        "prompt_tokens": document["usage"]["prompt_tokens"],
        "completion_tokens": document["usage"].get("completion_tokens", 0),
    }
    if refused:
        return measured
    rows = judged(document, library)
    verdicts = [row["verdicts"] for row in rows]
    return {
        **measured,
        "citation_precision": metrics.citation_precision(verdicts),
        "citation_recall": metrics.citation_recall(verdicts),
        "grounded": sum(row["grounded"] for row in rows) / len(rows) if rows else None,
        "quotes_exact": metrics.quote_exactness(_quotes(document, library)),
    }


def failed(case: Case) -> Measures:
    """Return the measures of an item for which there is no answer: it failed, whatever was asked."""
    names = ["citation_precision", "citation_recall", "grounded", "quotes_exact"] if case.answerable else []
    if case.gold and case.kind not in ("theme", "unanswerable"):
        names += ["recall_1", "recall_10", "ndcg_10"]
    names += ["facts"] if case.facts else []
    names += ["right"] if case.gold and case.answerable else []
    names += ["all_sides_10", "sides_cited"] if len(case.sides) > 1 else []
    names += ["unharmed"] if case.must_not or case.not_cited else []
    if not case.either:
        names.append("answered" if case.answerable else "refused")
    if case.kind == "theme":
        names += ["listed_recall"] if case.gold else []
        names += ["count_right"] if case.group == "count" else []
    return {name: 0.0 for name in names}


def _retrieval(case: Case, ranked: Sequence[str], gold: set[str], library: Library) -> Measures:
    if not gold or case.kind == "theme":
        return {}
    measured: Measures = {
        "recall_1": metrics.recall_at(1, ranked, gold),
        "recall_10": metrics.recall_at(10, ranked, gold),
        "ndcg_10": metrics.ndcg_at(10, ranked, gold),
    }
    if len(case.sides) > 1:
        measured["all_sides_10"] = metrics.all_sides_at(10, ranked, list(library.sides(case)))
    return measured


def _content(
    case: Case, document: Mapping[str, Any], gold: set[str], refused: bool, library: Library
) -> Measures:
    text = "" if refused else document["text"]
    cited = [] if refused else [paper["paper_id"] for paper in document["papers"]]
    measured: Measures = {}
    if case.facts:
        cells = [] if refused else [cell["text"] for cell in (document.get("comparison") or {}).get("cells", [])]
        measured["facts"] = metrics.facts_found("\n".join([text, *cells]), case.facts)
    if gold and case.answerable:
        measured["right"] = float(bool(gold & set(cited)))
    if gold and cited:
        allowed = gold | library.ids(case.acceptable)
        measured["paper_precision"] = metrics.listed_precision(cited, allowed)
    if len(case.sides) > 1:
        measured["sides_cited"] = metrics.all_sides_at(len(cited), cited, list(library.sides(case)))
    if case.must_not or case.not_cited:
        said = any(re.search(pattern, document["text"], re.IGNORECASE) for pattern in case.must_not)
        measured["unharmed"] = float(not said and not library.ids(case.not_cited) & set(cited))
    return measured


def _abstention(case: Case, refused: bool) -> Measures:
    if case.either:
        return {}
    return {"answered": float(not refused)} if case.answerable else {"refused": float(refused)}


def _listed(document: Mapping[str, Any]) -> list[str]:
    """Return the ids of the papers that an answer lists: those of its themes, else those it cites."""
    if "lists" in document:
        return list(document["lists"]["relevant"])
    return [paper["paper_id"] for paper in document["papers"]]


def _lists(
    case: Case, document: Mapping[str, Any], listed: Sequence[str], gold: set[str], library: Library
) -> Measures:
    if case.kind != "theme":
        return {}
    allowed = gold | library.ids(case.acceptable)
    measured: Measures = {
        "listed_recall": metrics.listed_recall(listed, gold),
        "listed_precision": metrics.listed_precision(listed, allowed),
    }
    if case.group == "theme":
        in_themes = document["lists"]["assigned"] if "lists" in document else []
        measured["theme_coverage"] = metrics.listed_recall(in_themes, gold)
    if case.group == "count":
        stated = count_stated(document["text"])
        measured["count_right"] = float(stated is not None and len(gold) <= stated <= len(allowed))
    return measured


def count_stated(text: str) -> int | None:
    """Return the number of papers that an answer to "how many" begins with, None when it states none."""
    if re.match(r"(?:none|no)\b|\d+ 篇论文中没有", text, re.IGNORECASE):
        return 0
    found = re.match(r"(?:\d+ 篇论文中(?:，|,)?有 ?)?(\d+)", text)
    return int(found[1]) if found else None


def judged(document: Mapping[str, Any], library: Library) -> list[dict[str, Any]]:
    """Return for each sentence of an answer its text, its citations, the verdict on each, and whether any of the
    papers that were found supports it, cited or not."""
    numbers = {paper["n"]: paper["paper_id"] for paper in document["papers"]}
    rows = []
    for sentence, quotes in _sentences(document, len(numbers)):
        verdicts = []
        for number in sentence.cited:
            paper = library.papers[numbers[number]]
            own = quotes.get(number) or sentences_of(paper)
            text = _without_name(sentence.text, paper)
            verdicts.append(_shared(text, paper) or _supported(text, own, paper, library))
        cited = [numbers[number] for number in sentence.cited]
        others = [paper for paper in document["retrieved"] if paper not in cited and paper in library.papers]
        grounded = any(verdicts) or any(
            _supported(sentence.text, sentences_of(paper), paper, library)
            for paper in (library.papers[paper] for paper in [*cited, *others])
        )
        rows.append({"text": sentence.text, "cited": cited, "verdicts": verdicts, "grounded": grounded})
    return rows


def _sentences(document: Mapping[str, Any], highest: int) -> list[tuple[Sentence, dict[int, list[str]]]]:
    """Return the sentences of an answer, each with the quotes of its citations where a claim gives them.

    A translated sentence is judged by the English one behind it.
    """
    claims = [*document["claims"]]
    claims += [cell for cell in (document.get("comparison") or {}).get("cells", []) if cell["citations"]]
    quotes: dict[str, dict[int, list[str]]] = {}
    for claim in claims:
        own = quotes.setdefault(_plain(claim["text"]), {})
        for citation in claim["citations"]:
            own.setdefault(citation["n"], []).append(citation["quote"])
    if document["kind"] in LAID_OUT:
        found = [Sentence(claim["text"], tuple(c["n"] for c in claim["citations"])) for claim in claims]
    else:
        found = sentences(document["text"], highest)
    english = {_plain(claim["text"]): claim["english"] for claim in claims if claim.get("english")}
    return [
        (Sentence(english.get(_plain(one.text), one.text), one.cited), quotes.get(_plain(one.text), {}))
        for one in found
    ]


def _without_name(text: str, paper: Paper) -> str:
    """Return a text without the paper's name, whole or shortened ("The name of…: "), that code put before it."""
    name, colon, rest = text.partition(": ")
    shown = name.removesuffix("…").strip()
    own = [known for known in (paper.title, paper.label) if known]
    return rest if colon and shown and any(known.startswith(shown) for known in own) else text


def _shared(text: str, paper: Paper) -> bool:
    """Tell whether a text is the sentence that code makes of words several papers share, and this one has them."""
    found = re.fullmatch(r"Both abstracts speak of “(.+)”\.?", text)
    return found is not None and found[1].casefold() in paper.abstract.casefold()


def _plain(text: str) -> str:
    return re.sub(r"[\s.!?。！？]+", " ", text).strip()


@cache
def sentences_of(paper: Paper) -> tuple[str, ...]:
    """Return the sentences of a paper's abstract."""
    return tuple(sentence.text for sentence in sentences(paper.abstract, 0))


def _supported(text: str, quotes: Sequence[str], paper: Paper, library: Library) -> bool:
    """Tell whether sentences of one paper support a text: by the rules alone, without any nearness of vectors."""
    known = [name for name in (paper.title, paper.label) if name]
    return judge(text, quotes, paper.abstract, idf=library.idf, known=known).support is Support.SUPPORTED


def _quotes(document: Mapping[str, Any], library: Library) -> list[tuple[str, int, int, str]]:
    claims = [*document["claims"], *(document.get("comparison") or {}).get("cells", [])]
    found = []
    for claim in claims:
        for citation in claim["citations"]:
            paper = library.papers.get(citation["paper_id"])
            abstract = paper.abstract if paper else ""
            found.append((citation["quote"], citation["start"], citation["end"], abstract))
    return found
