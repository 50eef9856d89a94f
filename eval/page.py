"""Writes a run as one HTML page that asks nobody for anything: plots, tables, and every answer beside its abstracts,
the worst first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from eval.plots import bars
from eval.runs import summary
from eval.scoring import COSTS, GOOD

PLOTTED = (
    "facts", "right", "citation_precision", "citation_recall", "answered", "refused", "unharmed", "listed_recall",
)  # fmt: skip
"""Measures that are drawn."""

WEIGHTS: Mapping[str, float] = {"unharmed": 4, "quotes_exact": 4, "refused": 3, "citation_precision": 2, "right": 2}
"""How much worse than others (1) a fault is; the cases are sorted by the sum of what they lack."""

STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:1080px;margin:2rem auto;padding:0 1rem;color:#1d2430;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}h3{font-size:1rem;margin:.2rem 0}
table{border-collapse:collapse;font-size:13px}td,th{border:1px solid #d5dae2;padding:2px 7px;text-align:right}
td:first-child,th:first-child{text-align:left;white-space:nowrap}.wide{overflow-x:auto}
svg text{font:12px system-ui,sans-serif;fill:#1d2430}svg .scale{fill:#667}svg .grid{stroke:#e3e6ec}
svg .bar{fill:#6f9bd1}svg .interval{stroke:#16325c;stroke-width:2}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(500px,1fr));gap:1rem}
details{border:1px solid #d5dae2;border-radius:6px;margin:.4rem 0;padding:.3rem .7rem}summary{cursor:pointer}
.bad{color:#a31515;font-weight:600}.good{color:#1d6b2f}.dim{color:#5b6472}
.two{display:grid;grid-template-columns:1fr 1fr;gap:1rem}mark{background:#ffe9a8}
.abstract{font-size:13px;max-height:22rem;overflow:auto;border-left:3px solid #d5dae2;padding-left:.6rem}
pre{white-space:pre-wrap;font:inherit;margin:.3rem 0}
@media(max-width:800px){.two,.plots{grid-template-columns:1fr}}
"""


def page(result: Mapping[str, Any]) -> str:
    """Return a run as a page; every text of papers, users and models is escaped, and the page may load nothing."""
    first = result["items"][0]["system"] if result["items"] else ""
    own = [item for item in result["items"] if item["system"] == first]
    others: dict[str, list[Mapping[str, Any]]] = {}
    for item in result["items"]:
        if item["system"] != first:
            others.setdefault(item["id"], []).append(item)
    cases = "".join(_case(item, others.get(item["id"], []), result["papers"]) for item in sorted(own, key=badness))
    title = escape(f"{result['name']} at {result['commit']}")
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head><body><h1>{title}</h1>"
        f'<p class="dim">{escape(result["time"])}, writer {escape(result["wanted"]["writer"])}, '
        f"papers {escape(result['wanted']['corpus'])}, {len(own)} questions, code {escape(result['code'])}. "
        "Bars are means with 95 % bootstrap intervals; an answer that failed counts as wrong.</p>"
        f"{_plots(result)}{_tables(result)}<h2>Every question, the worst first ({escape(first)})</h2>{cases}"
        "</body></html>"
    )


def badness(item: Mapping[str, Any]) -> tuple[float, str]:
    """Return what sorts the worst first: less the weighted sum of what an item lacks of each measure, then its id."""
    lacks = [
        (1 - value) * WEIGHTS.get(name, 1)
        for name, value in item["measures"].items()
        if name in GOOD and value is not None
    ]
    return -sum(lacks), item["id"]


def _plots(result: Mapping[str, Any]) -> str:
    rows = list(summary(result))
    parts = []
    for measure in PLOTTED:
        drawn = [(f"{name}: {kind}", *found[measure]) for name, kind, _, found in rows if measure in found]
        shown = [row for row in drawn if row[0].startswith("plenary:") or row[0].endswith(": all")]
        if shown:
            parts.append(f"<div><h3>{GOOD[measure]}</h3>{bars(shown)}</div>")
    return f'<div class="plots">{"".join(parts)}</div>'


def _tables(result: Mapping[str, Any]) -> str:
    measures = [*GOOD, *COSTS]
    head = "".join(f"<th>{escape(GOOD.get(name, name.replace('_', ' ')))}</th>" for name in measures)
    lines = []
    for name, kind, count, found in summary(result):
        cells = "".join(f"<td>{found[m][0]:.2f}</td>" if m in found else "<td></td>" for m in measures)
        lines.append(f"<tr><td>{escape(name)}: {escape(kind)} ({count})</td>{cells}</tr>")
    return f'<h2>All measures</h2><div class="wide"><table><tr><th></th>{head}</tr>{"".join(lines)}</table></div>'


def _case(item: Mapping[str, Any], others: Sequence[Mapping[str, Any]], papers: Mapping[str, Any]) -> str:
    document = item["document"]
    lacking = [name for name, value in item["measures"].items() if name in GOOD and value is not None and value < 1]
    wrong = ", ".join(f"{GOOD[name]} {item['measures'][name]:.2f}" for name in lacking)
    verdict = f'<span class="bad">{escape(wrong)}</span>' if wrong else '<span class="good">all right</span>'
    history = "".join(f"<p class=dim>{escape(role)}: {escape(text)}</p>" for role, text in item["history"])
    answer = document.get("error") or document["text"] or "(refused)"
    rest = "".join(
        f"<p><b>{escape(other['system'])}</b>: {escape(_short(other['document']))}</p>" for other in others
    )
    return (
        f"<details><summary><b>{escape(item['id'])}</b> {escape(item['question'])} — {verdict}</summary>"
        f"{history}<p class=dim>wanted: {_wanted(item, papers)}</p>"
        f'<div class="two"><div><pre>{escape(answer)}</pre>{_sentences(item)}{_claims(document)}</div>'
        f"<div>{_abstracts(item, papers)}</div></div>{rest}</details>"
    )


def _short(document: Mapping[str, Any]) -> str:
    if document.get("error"):
        return f"failed: {document['error']}"
    return "(refused)" if document["abstained"] else re.sub(r"\s+", " ", document["text"])[:600]


def _wanted(item: Mapping[str, Any], papers: Mapping[str, Any]) -> str:
    names = [papers[paper]["title"] or papers[paper]["label"] if paper in papers else paper for paper in item["gold"]]
    parts = ["an answer" if item["answerable"] else "a refusal"]
    parts[0] += ", or a refusal" if item["either"] and item["answerable"] else ""
    parts += ["from " + "; ".join(names[:6]) + ("; …" if len(names) > 6 else "")] if names else []
    parts += ["facts " + ", ".join(f"/{fact}/" for fact in item["facts"])] if item["facts"] else []
    parts += ["without " + ", ".join(f"/{text}/" for text in item["must_not"])] if item["must_not"] else []
    return escape("; ".join(parts))


def _sentences(item: Mapping[str, Any]) -> str:
    """Return the sentences that no citation carries or that cite what does not carry them."""
    lines = []
    for row in item["sentences"]:
        if row["verdicts"] and all(row["verdicts"]):
            continue
        why = "cites nothing" if not row["verdicts"] else f"{sum(row['verdicts'])} of {len(row['verdicts'])} citations"
        lines.append(f'<li><span class="bad">{why}</span> {escape(row["text"])}</li>')
    return f"<ul>{''.join(lines)}</ul>" if lines else ""


def _claims(document: Mapping[str, Any]) -> str:
    lines = [
        f"<li>{escape(claim['text'])} <span class=dim>{escape(claim['support'])}: {escape(claim['reason'])}</span></li>"
        for claim in document.get("claims", ())
    ]
    gone = [
        f"<li class=dim><s>{escape(claim['text'])}</s> {escape(claim['reason'])}</li>"
        for claim in document.get("removed", ())
    ]
    return f"<ul>{''.join(lines + gone)}</ul>" if lines or gone else ""


def _abstracts(item: Mapping[str, Any], papers: Mapping[str, Any]) -> str:
    """Return the abstracts of the papers that are cited, with the quotes marked."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for paper in item["document"].get("papers", ()):
        spans.setdefault(paper["paper_id"], [])
    for claim in item["document"].get("claims", ()):
        for citation in claim["citations"]:
            spans.setdefault(citation["paper_id"], []).append((citation["start"], citation["end"]))
    parts = []
    for paper_id, quotes in list(spans.items())[:6]:
        paper = papers.get(paper_id)
        if paper:
            right = "good" if paper_id in item["gold"] else "dim"
            name, text = escape(paper["title"] or paper["label"]), marked(paper["abstract"], quotes)
            parts.append(f'<h3 class="{right}">{name}</h3><div class="abstract">{text}</div>')
    return "".join(parts)


def marked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return a text as HTML with ranges of its characters marked; ranges that overlap are marked once."""
    pieces, at = [], 0
    for start, end in sorted(spans):
        start = max(start, at)
        if start < end <= len(text):
            pieces += [escape(text[at:start]), "<mark>", escape(text[start:end]), "</mark>"]
            at = end
    return "".join(pieces) + escape(text[at:])
