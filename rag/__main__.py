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
    ComparisonFound,
    PlenaryError,
    UserError,
    answer_document,
    assets,
    comparison_csv,
    comparison_lines,
    comparison_markdown,
    hits_document,
    parse_history,
)
from rag import commands_papers as papers
from rag.batch import run_batch
from rag.commands_papers import add_filters, config_of, filters_of, print_json
from rag.commands_themes import FORMATS, print_report, themes
from rag.commands_themes import exported as themes_exported
from rag.commands_themes import show as show_themes
from rag.config import WRITERS
from rag.export import EXPORTS


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

    index = add("index", papers.index, "Load files or folders of abstracts into the index.")
    index.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="default: the papers that came along")
    find = add("search", _search, "Show the papers nearest to a query, with the matching sentences.")
    find.add_argument("query")
    find.add_argument("-k", type=int, default=10, help="how many papers (default 10)")
    ask = add("ask", _ask, "Answer a question with checked citations.")
    ask.add_argument("question")
    ask.add_argument(
        "--format", choices=("text", "markdown", "csv"), default="text", help="csv: the grid of a comparison"
    )
    ask.add_argument("--history", type=Path, metavar="FILE", help='JSON: [["user", "..."], ["assistant", "..."]]')
    batch = add("batch", _batch, "Answer the questions of a JSON Lines file; goes on where it stopped.")
    batch.add_argument("questions", type=Path)
    batch.add_argument("--out", type=Path, required=True, metavar="ANSWERS.jsonl")
    export = add("export", papers.export, "Write papers in a format that loads again to the same papers.")
    export.add_argument("paper_ids", nargs="*", metavar="PAPER_ID", help="default: all that the filters admit")
    export.add_argument("--format", choices=EXPORTS, required=True)
    export.add_argument("--out", type=Path, metavar="FILE", help="default: stdout")
    about = add("themes", themes, "Find and summarise the themes of a topic, or of all papers.")
    about.add_argument("topic", nargs="?", metavar="TOPIC", help="default: everything")
    about.add_argument("--format", choices=FORMATS, default="text", help="svg: a map of the papers")
    about.add_argument("--out", type=Path, metavar="FILE", help="default: stdout")
    for command in (find, ask, export, about):
        add_filters(command)
    for command in (ask, batch, about):
        command.add_argument("--writer", choices=WRITERS, help="default: PLENARY_WRITER or auto")
    show = add("show", papers.show, "Show everything stored of a paper, all its wordings.")
    show.add_argument("paper_id", help="or the id of a version")
    split = add("split", papers.split, "Make a version of a paper a paper of its own, for good.")
    split.add_argument("version_id", help="`plenary show` tells the ids")
    status = add("status", papers.status, "Show what the index holds.")
    copy = add("copy", papers.copy, "Copy an index to another place without embedding again.")
    for place in ("from", "to"):
        copy.add_argument(place, metavar=place.upper(), help="a folder, or the address of a Chroma server")
    remove = add("remove", papers.remove, "Remove papers by id, or all that came from a file by its name.")
    remove.add_argument("names", nargs="+", metavar="PAPER_ID|FILE")
    fetch = add("assets", _assets, "Fetch or check the pinned files: models and token table.")
    fetch.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    fetch.add_argument("--status", action="store_true", help="only say what is there")
    fetch.add_argument("--verify", action="store_true", help="compute the hashes again")
    chat = add("chat", _chat, "Open the chat in the browser's address it prints.")
    chat.add_argument("--host", default="127.0.0.1")
    chat.add_argument("--port", type=int, default=7860)
    chat.add_argument(
        "--auth",
        metavar="NAME:PASSWORD",
        help="ask for these; default: PLENARY_AUTH, which other users of this machine cannot read",
    )
    chat.add_argument("--writer", choices=WRITERS)
    for command in (index, find, ask, about, show, split, status, copy, remove, fetch):
        command.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def _search(options: argparse.Namespace) -> None:
    with Assistant.open(config_of(options)) as assistant:
        hits = assistant.search(options.query, options.k, filters_of(options))
    if options.json:
        print_json(hits_document(hits))
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
    with Assistant.open(config_of(options)) as assistant:
        if options.json:
            print_json(answer_document(assistant.ask(options.question, history, filters_of(options))))
            return
        if options.format != "text":
            answer = assistant.ask(options.question, history, filters_of(options))
            if answer.themes:
                print(themes_exported(assistant, answer, options.format), end="")
                return
            if options.format == "csv" and not answer.comparison:
                raise UserError("--format csv writes comparisons and themes; for this question use markdown or --json")
            print((comparison_csv if options.format == "csv" else comparison_markdown)(answer), end="")
            return
        compared = False
        for event in assistant.stream(options.question, history, filters_of(options)):
            compared = compared or isinstance(event, ComparisonFound)
            if isinstance(event, ClaimChecked) and not compared:
                numbers = "".join(f"[{n}]" for n in dict.fromkeys(c.n for c in event.claim.citations))
                print(f"{event.claim.text} {numbers}", flush=True)
            elif isinstance(event, AnswerDone):
                (print_report if event.answer.themes else _print_sources)(event.answer)
            else:
                show_themes(event)


def _print_sources(answer: Answer) -> None:
    if answer.abstained or answer.comparison:
        print(answer.text)
    if answer.comparison:
        print(f"\n{comparison_lines(answer)}" if answer.comparison.aspects else "")
    if answer.note:
        print(answer.note, file=sys.stderr)
    for n, paper in enumerate(answer.papers, 1):
        # The place of the stored wording: another one may word it differently.
        place = f"; {paper.source}" if paper.source else ""
        print(f"\n[{n}] {paper.name}  ({paper.id}{place})")
        cells = [cell.claim for cell in answer.comparison.cells if cell.claim] if answer.comparison else []
        quotes = {c.quote.start: c.quote for claim in (*answer.claims, *cells) for c in claim.citations if c.n == n}
        for start in sorted(quotes):
            print(f"    “{quotes[start].text}”")
    removed = f", {len(answer.removed)} sentences did not pass the check" if answer.removed else ""
    print(
        f"\n{len(answer.claims)} claims checked{removed}; writer: {answer.writer}; "
        f"{answer.timings.total:.1f} s",
        file=sys.stderr,
    )


def _batch(options: argparse.Namespace) -> None:
    with Assistant.open(config_of(options)) as assistant:
        steps = list(_shown(run_batch(assistant, options.questions, options.out)))
    done, total = steps[-1]
    print(f"{done} of {total} answered in {options.out}", file=sys.stderr)


def _shown(steps: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    with tqdm(unit=" questions", file=sys.stderr, disable=None) as bar:
        for done, total in steps:
            bar.total = total
            bar.update(done - bar.n)
            yield done, total


def _assets(options: argparse.Namespace) -> None:
    folder = config_of(options).home / "assets"
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
        print_json(rows)
    else:
        for row in rows:
            print(f"{'present' if row['present'] else 'missing'}  {row['name']}  {row['path']}")


def _chat(options: argparse.Namespace) -> None:
    from ui import launch  # the chat brings gradio, which takes seconds to import: only where it is wanted

    launch(config_of(options), host=options.host, port=options.port, auth=options.auth)


if __name__ == "__main__":
    sys.exit(main())
