"""The command line: `plenary` or `python -m rag`. With `--json` stdout holds exactly one JSON document."""

from __future__ import annotations

import argparse
import io
import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from rag import (
    Answer,
    AnswerDone,
    Assistant,
    ClaimChecked,
    Config,
    Filters,
    PlenaryError,
    UserError,
    answer_document,
    assets,
    hits_document,
    paper_document,
    parse_history,
    skipped_document,
    status_document,
)
from rag.batch import run_batch
from rag.config import WRITERS

PAPERS = Path(__file__).resolve().parent.parent / "data"
"""The papers that come along; beside the package in a checkout and in an installation alike."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 0 for done, answered or refused, 2 for the user's mistake, 1 for a failure."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("chromadb").setLevel(logging.ERROR)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # JSON is UTF-8, whatever the terminal; what UTF-8 cannot hold becomes what JSON escapes it to.
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        command: Callable[[argparse.Namespace], None] = options.command
        command(options)
        sys.stdout.flush()
    except PlenaryError as error:
        print(f"plenary: {error}", file=sys.stderr)
        return error.exit_status
    except BrokenPipeError:  # the reader of a pipe, `head` say, has gone: nobody is left to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("plenary: interrupted", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="plenary", description="Ask a list of paper abstracts.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, run: Callable[[argparse.Namespace], None], about: str, **how: Any) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=about, description=about, **how)
        command.set_defaults(command=run)
        command.add_argument("--store", metavar="DIR|URL", help="the index: a folder, or a Chroma server")
        return command

    index = add("index", _index, "Load files or folders of abstracts into the index.")
    index.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="default: the papers that came along")
    find = add("search", _search, "Show the papers nearest to a query, with the matching sentences.")
    find.add_argument("query")
    find.add_argument("-k", type=int, default=10, help="how many papers (default 10)")
    ask = add("ask", _ask, "Answer a question with checked citations.")
    ask.add_argument("question")
    ask.add_argument("--history", type=Path, metavar="FILE", help='JSON: [["user", "..."], ["assistant", "..."]]')
    batch = add("batch", _batch, "Answer the questions of a JSON Lines file; goes on where it stopped.")
    batch.add_argument("questions", type=Path)
    batch.add_argument("--out", type=Path, required=True, metavar="ANSWERS.jsonl")
    for command in (find, ask):
        _add_filters(command)
    for command in (ask, batch):
        command.add_argument("--writer", choices=WRITERS, help="default: PLENARY_WRITER or auto")
    show = add("show", _show, "Show everything stored of a paper.")
    show.add_argument("paper_id")
    status = add("status", _status, "Show what the index holds.")
    remove = add("remove", _remove, "Remove papers by id, or all that came from a file by its name.")
    remove.add_argument("names", nargs="+", metavar="PAPER_ID|FILE")
    fetch = add("assets", _assets, "Fetch or check the pinned files: models and token table.")
    fetch.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    fetch.add_argument("--status", action="store_true", help="only say what is there")
    fetch.add_argument("--verify", action="store_true", help="compute the hashes again")
    chat = add("chat", _chat, "Open the chat in the browser's address it prints.")
    chat.add_argument("--host", default="127.0.0.1")
    chat.add_argument("--port", type=int, default=7860)
    chat.add_argument("--writer", choices=WRITERS)
    for command in (index, find, ask, show, status, remove, fetch):
        command.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def _add_filters(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("filters (each may be given several times)")
    group.add_argument("--year", type=int, action="append", default=[])
    for name in ("venue", "source", "author", "keyword"):
        group.add_argument(f"--{name}", action="append", default=[])


def _filters(options: argparse.Namespace) -> Filters:
    return Filters(
        frozenset(options.year),
        frozenset(options.venue),
        frozenset(options.source),
        frozenset(options.author),
        frozenset(options.keyword),
    )


def _config(options: argparse.Namespace) -> Config:
    return Config.from_environment(store=options.store, writer=getattr(options, "writer", None))


def _print(document: Any) -> None:
    print(json.dumps(document, ensure_ascii=False, indent=2))


def _index(options: argparse.Namespace) -> None:
    paths = options.paths or [PAPERS]
    with Assistant.open(_config(options)) as assistant:
        bar = tqdm(unit=" papers", file=sys.stderr, disable=None, desc="embedding")

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        try:
            result = assistant.index(paths, progress)
        finally:
            bar.close()
    if options.json:
        _print(
            {
                "papers": result.papers,
                "added": result.added,
                "unchanged": result.unchanged,
                "merged": result.merged,
                "changed": result.changed,
                "skipped": [skipped_document(skipped) for skipped in result.skipped],
                "seconds": round(result.seconds, 3),
            }
        )
        return
    for skipped in result.skipped:
        place = f"{skipped.file}, line {skipped.line}" if skipped.line else skipped.file
        print(f"skipped {place}: {skipped.reason}", file=sys.stderr)
    print(
        f"{result.papers} papers in the index: {result.added} added, {result.unchanged} unchanged, "
        f"{result.changed} changed, {result.merged} merged, {len(result.skipped)} skipped, in {result.seconds:.1f} s"
    )


def _search(options: argparse.Namespace) -> None:
    with Assistant.open(_config(options)) as assistant:
        hits = assistant.search(options.query, options.k, _filters(options))
    if options.json:
        _print(hits_document(hits))
        return
    for place, hit in enumerate(hits, 1):
        print(f"{place}. {hit.paper.name}  ({hit.score:.3f}, {hit.paper.id})")
        for item in sorted(hit.sentences, key=lambda item: -item.score)[:2]:
            print(f"   “{item.text}”")
    if not hits:
        print("no paper found")


def _ask(options: argparse.Namespace) -> None:
    history = []
    if options.history:
        try:
            history = parse_history(json.loads(options.history.read_text(encoding="utf-8-sig")))
        except OSError as error:
            raise UserError(f"{options.history}: cannot be read ({error.strerror})") from error
        except ValueError as error:
            raise UserError(f"{options.history}: not JSON ({error})") from error
    with Assistant.open(_config(options)) as assistant:
        if options.json:
            _print(answer_document(assistant.ask(options.question, history, _filters(options))))
            return
        for event in assistant.stream(options.question, history, _filters(options)):
            if isinstance(event, ClaimChecked):
                numbers = "".join(f"[{n}]" for n in dict.fromkeys(c.n for c in event.claim.citations))
                print(f"{event.claim.text} {numbers}", flush=True)
            elif isinstance(event, AnswerDone):
                _print_sources(event.answer)


def _print_sources(answer: Answer) -> None:
    if answer.abstained:
        print(answer.text)
    if answer.note:
        print(answer.note, file=sys.stderr)
    for n, paper in enumerate(answer.papers, 1):
        print(f"\n[{n}] {paper.name}  ({paper.id}; {', '.join(map(str, paper.sources))})")
        quotes = {c.quote.start: c.quote for claim in answer.claims for c in claim.citations if c.n == n}
        for start in sorted(quotes):
            print(f"    “{quotes[start].text}”")
    removed = f", {len(answer.removed)} sentences did not pass the check" if answer.removed else ""
    print(
        f"\n{len(answer.claims)} claims checked{removed}; writer: {answer.writer}; "
        f"{answer.timings.total:.1f} s",
        file=sys.stderr,
    )


def _batch(options: argparse.Namespace) -> None:
    with Assistant.open(_config(options)) as assistant:
        steps = list(_shown(run_batch(assistant, options.questions, options.out)))
    done, total = steps[-1]
    print(f"{done} of {total} answered in {options.out}", file=sys.stderr)


def _shown(steps: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    with tqdm(unit=" questions", file=sys.stderr, disable=None) as bar:
        for done, total in steps:
            bar.total = total
            bar.update(done - bar.n)
            yield done, total


def _show(options: argparse.Namespace) -> None:
    with Assistant.open(_config(options)) as assistant:
        paper = assistant.paper(options.paper_id)
    if options.json:
        _print(paper_document(paper))
        return
    print(paper.name)
    for name, value in (
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


def _status(options: argparse.Namespace) -> None:
    with Assistant.open(_config(options)) as assistant:
        document = status_document(assistant.status())
    if options.json:
        _print(document)
        return
    for name, value in document.items():
        print(f"{name}: {value}")


def _remove(options: argparse.Namespace) -> None:
    with Assistant.open(_config(options)) as assistant:
        removed = assistant.remove(options.names)
        papers = assistant.status().papers
    if options.json:
        _print({"removed": removed, "papers": papers})
    else:
        print(f"{removed} papers removed, {papers} left")


def _assets(options: argparse.Namespace) -> None:
    folder = _config(options).home / "assets"
    for name in options.names:
        assets.named(name)  # raises UserError for a name that is none
    if not options.status and not options.verify:
        assets.fetch(options.names or None, progress=not options.json, folder=folder)
    found = assets.status(folder, verify=options.verify)
    rows = [
        {"name": row.asset.name, "present": row.present, "path": str(row.path), "licence": row.asset.licence}
        for row in found
        if not options.names or row.asset.name in options.names
    ]
    if options.json:
        _print(rows)
    else:
        for row in rows:
            print(f"{'present' if row['present'] else 'missing'}  {row['name']}  {row['path']}")


def _chat(options: argparse.Namespace) -> None:
    from ui import launch  # the chat brings gradio, which takes seconds to import: only where it is wanted

    launch(_config(options), host=options.host, port=options.port)


if __name__ == "__main__":
    sys.exit(main())
