"""The command about many papers at once: themes, of a topic or of everything, printed or exported."""

from __future__ import annotations

import argparse
import sys

from rag import AnswerDone, Assistant, StepStarted, UserError, answer_document
from rag.commands_papers import config_of, filters_of, print_json
from rag.export import to_bibtex
from rag.theme_map import map_svg
from rag.theme_text import coverage_text, report_csv, report_markdown
from rag.types import Answer, Paper, ThemeReport, ThemesFound, ThemeWritten

FORMATS = ("text", "markdown", "csv", "bibtex", "svg")
"""What `plenary themes` prints or writes; svg is the map."""


def themes(options: argparse.Namespace) -> None:
    """Find the themes of a topic, or of everything."""
    with Assistant.open(config_of(options)) as assistant:
        shown = options.format == "text" and not options.json and options.out is None
        answer = None
        for event in assistant.stream_themes(options.topic, options.writer, filters_of(options)):
            if isinstance(event, StepStarted):
                print(event.step, file=sys.stderr)
            elif isinstance(event, AnswerDone):
                answer = event.answer
            elif shown:
                show(event)
        assert answer is not None and answer.themes is not None, "a stream ends with the answer"
        if options.json:
            print_json(answer_document(answer))
            return
        if shown:
            print_report(answer)
            return
        text = exported(assistant, answer, options.format)
    _write(text, options)


def show(event: object) -> None:
    """Print what an event tells of themes."""
    if isinstance(event, ThemesFound) and event.report.kind == "theme":
        for theme in event.report.themes:
            print(f"{len(theme.paper_ids):6,}  {theme.label}", flush=True)
            for child in theme.children:
                print(f"{len(child.paper_ids):12,}  {child.label}", flush=True)
    elif isinstance(event, ThemeWritten):
        theme = event.theme
        print(f"\n{theme.label} ({len(theme.paper_ids):,})", flush=True)
        if theme.failed:
            print(f"  this part failed: {theme.failed}; its papers: {', '.join(theme.paper_ids)}", flush=True)
        for claim in theme.claims:
            numbers = "".join(f"[{n}]" for n in dict.fromkeys(cited.n for cited in claim.citations))
            print(f"  {' '.join(claim.text.split())} {numbers}", flush=True)
        for n, paper in enumerate(event.papers, 1):
            if any(cited.n == n for claim in theme.claims for cited in claim.citations):
                print(f"    [{n}] {paper.name}  ({paper.id})", flush=True)


def print_report(answer: Answer) -> None:
    """Print what is left to tell after the themes: the list of a list question, what became of all papers."""
    assert answer.themes is not None, "an answer about themes has them"
    print(answer.text if answer.kind != "theme" or answer.abstained else f"\n{coverage_text(answer.themes)}")
    if answer.note:
        print(answer.note, file=sys.stderr)
    removed = f", {len(answer.removed)} sentences did not pass the check" if answer.removed else ""
    print(
        f"{len(answer.claims)} claims checked{removed}; writer: {answer.writer}; {answer.timings.total:.1f} s",
        file=sys.stderr,
    )


def exported(assistant: Assistant, answer: Answer, form: str) -> str:
    """Return the themes of an answer in one of `FORMATS`."""
    report = answer.themes
    assert report is not None, "an answer about themes has them"
    ids = _ids(report)
    papers: dict[str, Paper] = {paper.id: paper for paper in assistant.papers(ids)} if ids else {}
    if form == "text":
        return answer.text + "\n"
    if form == "markdown":
        return report_markdown(report, papers)
    if form == "csv":
        return report_csv(report, papers)
    if form == "svg":
        return map_svg(report.places, report.themes, {paper_id: paper.name for paper_id, paper in papers.items()})
    return to_bibtex([papers[paper_id] for theme in report.themes for paper_id in theme.paper_ids])


def _ids(report: ThemeReport) -> list[str]:
    return list(dict.fromkeys([*report.coverage.relevant, *report.coverage.borderline]))


def _write(text: str, options: argparse.Namespace) -> None:
    if options.out is None:
        sys.stdout.write(text)
        return
    try:
        options.out.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise UserError(f"{options.out}: cannot be written ({error.strerror}); choose another --out") from error
    print(f"written to {options.out}", file=sys.stderr)
