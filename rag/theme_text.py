"""Theme reports as text for people: the answer, Markdown and CSV. Every number is the length of a list."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from rag.cite import render
from rag.types import Claim, Coverage, Paper, Theme, ThemeReport

_SENTENCES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "read": "{read} of {corpus} read",
        "relevant": "{relevant} about {topic}",
        "borderline": "{borderline} borderline",
        "assigned": "{assigned} in {themes}",
        "unassigned": "{unassigned} in none of these",
        "skipped": "{skipped} not read: {reason}",
        "joint": "; ",
        "end": ".",
        "all": "There are {corpus}.",
        "themes": "{corpus} in {themes}.",
        "none": "None of the {read} papers is about {topic}.",
        "may": " {borderline} may be.",
        "one": "{relevant} of the {read} papers is about {topic}.",
        "some": "{relevant} of the {read} papers are about {topic}.",
        "papers": "{n} paper",
        "themes_n": "{n} theme",
        "plural": "s",
        "failed": "This part failed: {reason}",
    },
    "zh": {
        "read": "共{corpus}，已读 {read} 篇",
        "relevant": "{relevant} 篇与“{topic}”有关",
        "borderline": "{borderline} 篇可能有关",
        "assigned": "{assigned} 篇归入{themes}",
        "unassigned": "{unassigned} 篇不属于其中任何主题",
        "skipped": "{skipped} 篇未读：{reason}",
        "joint": "；",
        "end": "。",
        "all": "共有{corpus}。",
        "themes": "{corpus}，分为{themes}。",
        "none": "{read} 篇论文中没有与“{topic}”有关的。",
        "may": "{borderline} 篇可能有关。",
        "one": "{read} 篇论文中有 {relevant} 篇与“{topic}”有关。",
        "some": "{read} 篇论文中有 {relevant} 篇与“{topic}”有关。",
        "papers": " {n} 篇论文",
        "themes_n": " {n} 个主题",
        "plural": "",
        "failed": "这一部分失败了：{reason}",
    },
}
"""What is said around the counts, by the language of the question; any other language gets the English."""


def _said(report: ThemeReport, name: str, language: str) -> str:
    """Return a sentence with its counts, each the length of a list of the report."""
    words = _SENTENCES.get(language, _SENTENCES["en"])
    coverage = report.coverage
    lists = ("relevant", "borderline", "assigned", "unassigned", "skipped", "read")
    return words[name].format(
        **{own: f"{len(getattr(coverage, own)):,}" for own in lists},
        corpus=counted(coverage.corpus if name == "read" else coverage.read, language),
        themes=counted(report.themes, language, "themes_n"),
        topic=report.topic,
        reason=coverage.skipped[0].reason if coverage.skipped else "",
    )


def counted(items: Sequence[object], language: str = "en", what: str = "papers") -> str:
    """Return "1 paper" or "1,234 papers", or what else is counted."""
    words = _SENTENCES.get(language, _SENTENCES["en"])
    return words[what].format(n=f"{len(items):,}") + (words["plural"] if len(items) != 1 else "")


def coverage_text(report: ThemeReport, language: str = "en") -> str:
    """Return what became of all papers, in one sentence."""
    words = _SENTENCES.get(language, _SENTENCES["en"])
    names = ["read"]
    names += ["relevant", "borderline"] if report.topic else []
    names += ["assigned", "unassigned"] if report.kind == "theme" else []
    names += ["skipped"] if report.coverage.skipped else []
    return (words["joint"].join(_said(report, name, language) for name in names) + words["end"]).strip()


def answer_text(
    report: ThemeReport, claims: Sequence[Claim], papers: Mapping[str, Paper], language: str = "en"
) -> str:
    """Return the answer as Markdown; `papers` are the cited ones by id."""
    opening = _opening(report, language)
    account = coverage_text(report, language)
    if report.kind == "theme":
        return "\n\n".join([opening, *(_section(theme, language) for theme in report.themes), account])
    lines = [opening]
    for claim in claims:
        cited = claim.citations[0]
        lines.append(f"- {one(papers[cited.paper_id].name)}: “{one(claim.text)}” [{cited.n}]")
    return "\n".join([*lines, "", account])


def _opening(report: ThemeReport, language: str) -> str:
    if not report.topic:
        return _said(report, "all" if report.kind == "count" else "themes", language).strip()
    if not report.coverage.relevant:
        more = _said(report, "may", language) if report.coverage.borderline else ""
        return _said(report, "none", language) + more
    return _said(report, "one" if len(report.coverage.relevant) == 1 else "some", language)


def _section(theme: Theme, language: str) -> str:
    words = _SENTENCES.get(language, _SENTENCES["en"])
    lines = [f"**{theme.label}** ({counted(theme.paper_ids, language).strip()})"]
    if theme.failed:
        lines.append(words["failed"].format(reason=theme.failed))
    elif theme.claims:
        lines.append(render(theme.claims))
    if theme.children:
        lines.append("; ".join(f"{child.label} ({len(child.paper_ids):,})" for child in theme.children))
    return "\n".join(lines)


def one(text: str) -> str:
    """Return text on one line."""
    return " ".join(text.split())


def report_markdown(report: ThemeReport, papers: Mapping[str, Paper]) -> str:
    """Return a report with all its papers as a Markdown document; `papers` are all of the report, by id."""
    lines = [f"# Themes: {report.topic}" if report.topic else "# Themes", "", coverage_text(report), ""]
    for theme in report.themes:
        lines += [f"## {theme.label} ({counted(theme.paper_ids)})", ""]
        if theme.failed:
            lines += [f"This part failed: {theme.failed}", ""]
        for claim in theme.claims:
            names = ", ".join(dict.fromkeys(_name(papers, cited.paper_id) for cited in claim.citations))
            lines.append(f"- {one(claim.text)} ({names})")
        lines += [""] if theme.claims else []
        for quote in theme.representatives:
            lines += [f"> “{one(quote.text)}” ({_name(papers, quote.paper_id)})", ""]
        lines += [f"{place}. {_name(papers, paper_id)}" for place, paper_id in enumerate(theme.paper_ids, 1)]
        lines.append("")
    for title, ids in (
        ("None of these", [left.paper_id for left in report.coverage.unassigned]),
        ("Borderline", list(report.coverage.borderline)),
    ):
        if ids:
            lines += [f"## {title} ({counted(ids)})", "", *(f"- {_name(papers, paper_id)}" for paper_id in ids), ""]
    return "\n".join(lines)


def _name(papers: Mapping[str, Paper], paper_id: str) -> str:
    return one(papers[paper_id].name)


def report_csv(report: ThemeReport, papers: Mapping[str, Paper]) -> str:
    """Return a row for each paper: its theme and sub-theme, whether it counts, the sentence that made it count."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["paper_id", "title", "theme", "sub-theme", "decision", "probability", "quote"])
    quoted = {member.paper_id: member for member in (*report.members, *report.borderline)}
    child_of = {
        paper_id: child.label for theme in report.themes for child in theme.children for paper_id in child.paper_ids
    }
    theme_of = {paper_id: theme.label for theme in report.themes for paper_id in theme.paper_ids}
    coverage: Coverage = report.coverage
    for decision, ids in (("relevant", coverage.relevant), ("borderline", coverage.borderline)):
        for paper_id in sorted(ids, key=lambda paper_id: (theme_of.get(paper_id, "\uffff"), paper_id)):
            member = quoted.get(paper_id)
            cells = [
                paper_id,
                _name(papers, paper_id),
                theme_of.get(paper_id, "none of these" if decision == "relevant" else ""),
                child_of.get(paper_id, ""),
                decision,
                f"{member.probability:.3f}" if member else "",
                one(member.quote.text) if member else "",
            ]
            rows.writerow([_guarded(cell) for cell in cells])
    return out.getvalue()


def _guarded(cell: str) -> str:
    """Return a cell that a spreadsheet does not take for a formula."""
    return f"'{cell}" if cell[:1] in "=+-@\t\r" and cell else cell
