"""The commands about the papers of an index: index, show, status, remove, split, copy, export."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tqdm import tqdm

from rag import (
    Assistant,
    Config,
    Filters,
    Paper,
    UserError,
    paper_document,
    skipped_document,
    status_document,
)
from rag.build import copy_store
from rag.export import EXPORTS

PAPERS = Path(__file__).resolve().parent.parent / "data"
"""The papers that come along; beside the package in a checkout and in an installation alike."""


def config_of(options: argparse.Namespace) -> Config:
    """Return the settings: the environment's, and what the command line says."""
    return Config.from_environment(store=options.store, writer=getattr(options, "writer", None))


def print_json(document: Any) -> None:
    """Print the one document of a command."""
    print(json.dumps(document, ensure_ascii=False, indent=2))


def add_filters(command: argparse.ArgumentParser) -> None:
    """Give a command the options that `filters_of` reads."""
    group = command.add_argument_group("filters (each may be given several times)")
    group.add_argument("--year", type=int, action="append", default=[])
    group.add_argument("--venue", action="append", default=[], help='a part of the name: "NeurIPS"')
    for name in ("source", "author", "keyword"):
        group.add_argument(f"--{name}", action="append", default=[])


def filters_of(options: argparse.Namespace) -> Filters:
    """Return the filters of a command line."""
    return Filters(
        frozenset(options.year),
        frozenset(options.venue),
        frozenset(options.source),
        frozenset(options.author),
        frozenset(options.keyword),
    )


@contextmanager
def _bar(doing: str) -> Iterator[Any]:
    """Show a progress bar on a terminal; gives what is to be called with (done, total)."""
    with tqdm(unit=" papers", file=sys.stderr, disable=None, desc=doing) as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield progress


def index(options: argparse.Namespace) -> None:
    """Load files or folders into the index."""
    with Assistant.open(config_of(options)) as assistant, _bar("embedding") as progress:
        result = assistant.index(options.paths or [PAPERS], progress)
    if options.json:
        print_json(
            {
                "papers": result.papers,
                "added": result.added,
                "unchanged": result.unchanged,
                "merged": result.merged,
                "changed": result.changed,
                "removed": result.removed,
                "renamed": list(result.renamed),
                "skipped": [skipped_document(skipped) for skipped in result.skipped],
                "seconds": round(result.seconds, 3),
            }
        )
        return
    for skipped in result.skipped:
        place = f"{skipped.file}, line {skipped.line}" if skipped.line else skipped.file
        print(f"skipped {place}: {skipped.reason}", file=sys.stderr)
    for name in result.renamed:
        print(f"another file of that name is in the index already; this one is called {name}", file=sys.stderr)
    removed = f"{result.removed} removed, " if result.removed else ""
    print(
        f"{result.papers} papers in the index: {result.added} added, {result.unchanged} unchanged, "
        f"{result.changed} changed, {result.merged} merged, {removed}{len(result.skipped)} skipped, "
        f"in {result.seconds:.1f} s"
    )


def show(options: argparse.Namespace) -> None:
    """Show everything stored of a paper, all its wordings."""
    with Assistant.open(config_of(options)) as assistant:
        paper = assistant.paper(options.paper_id)
    if options.json:
        print_json(paper_document(paper))
        return
    print(paper.name)
    for name, value in (
        ("id", paper.id),
        ("label", paper.label if paper.title else ""),
        ("authors", ", ".join(paper.authors)),
        ("venue", " ".join(str(part) for part in (paper.venue, paper.year) if part)),
        ("url", paper.url or ""),
        ("keywords", ", ".join(paper.keywords)),
        ("sources", ", ".join(map(str, paper.sources))),
    ):
        if value:
            print(f"{name}: {value}")
    print(f"\n{paper.abstract}")
    for place, version in enumerate(paper.versions, 1):
        stored = "; stored and quoted" if place == 1 else ""
        print(f"\nversion {place} of {len(paper.versions)}: {version.id}{stored}")
        print(f"sources: {', '.join(map(str, version.sources))}")
        if version.title:
            print(f"title: {version.title}")
        if place > 1:
            print(f"\n{version.abstract}")


def status(options: argparse.Namespace) -> None:
    """Show what the index holds."""
    with Assistant.open(config_of(options)) as assistant:
        document = status_document(assistant.status())
    if options.json:
        print_json(document)
        return
    files = document.pop("files")
    del document["sources"]  # the files say the same and more
    for name, value in document.items():
        print(f"{name}: {value}")
    print("sources:" if files else "sources: none")
    for file in files:
        date = f"indexed {file['indexed']}" if file["indexed"] else "indexing not finished"
        told = f"; {date}; {file['path']}" if file["path"] else ""
        print(f"  {file['file']}: {file['papers']} papers{told}")


def remove(options: argparse.Namespace) -> None:
    """Remove papers by id or by file."""
    with Assistant.open(config_of(options)) as assistant:
        removed = assistant.remove(options.names)
        papers = assistant.status().papers
    if options.json:
        print_json({"removed": removed, "papers": papers})
    else:
        print(f"{removed} papers removed, {papers} left")


def split(options: argparse.Namespace) -> None:
    """Make a version a paper of its own."""
    with Assistant.open(config_of(options)) as assistant:
        rest, own = assistant.split(options.version_id)
    if options.json:
        print_json({"paper": paper_document(rest), "split": paper_document(own)})
    else:
        print(f"{own.id} ({own.name}) is a paper of its own now, apart from {rest.id} ({rest.name})")


def copy(options: argparse.Namespace) -> None:
    """Copy an index to another place."""
    with _bar("copying") as progress:
        copied, there = copy_store(getattr(options, "from"), options.to, progress)
    if options.json:
        print_json({"copied": copied, "unchanged": there, "papers": copied + there})
    else:
        print(f"{copied} papers copied to {options.to}, {there} were there")


def export(options: argparse.Namespace) -> None:
    """Write papers in a format that loads again to the same papers."""
    with Assistant.open(config_of(options)) as assistant:
        papers: list[Paper] = assistant.papers(options.paper_ids, filters_of(options))
    text = EXPORTS[options.format](papers)
    if options.out is None:
        sys.stdout.write(text)
        return
    try:
        options.out.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise UserError(f"{options.out}: cannot be written ({error.strerror}); choose another --out") from error
    print(f"{len(papers)} papers written to {options.out}", file=sys.stderr)
