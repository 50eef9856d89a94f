"""Measures: `python -m eval` alone runs every measurement and writes `eval/RESULTS.md`; its commands do one thing.

    python -m eval run NAME [--writer local] [--questions single followup] [--limit 10] [--parts]
    python -m eval compare A B
    python -m eval feedback FILE
    python -m eval record
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.results import table, write_section
from rag import PlenaryError

STEPS = (
    ["eval.questions_check"],
    ["eval.retrieval"],
    ["eval.speed"],
    ["eval.abstention", "--write"],
    ["eval.themes"],
    ["eval", "run", "extractive", "--parts", "--write"],
    ["eval.answers", "--writer", "local", "--questions", "single", "--kind", "single", "--write"],
    ["eval.answers", "--writer", "tutorial", "--questions", "single", "--kind", "single", "--limit", "10", "--write"],
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, or every measurement; 0 when all went well, 2 for the user's mistake, 1 for a failure."""
    given = sys.argv[1:] if arguments is None else arguments
    if not given:
        return everything()
    options = _parser().parse_args(given)
    try:
        status: int = options.command(options)
    except PlenaryError as error:
        print(f"eval: {error}", file=sys.stderr)
        return error.exit_status
    return status


def everything() -> int:
    """Run the steps in processes of their own; the first that fails ends the run."""
    for step in STEPS:
        print(f"== {' '.join(step)}", flush=True)
        status = subprocess.run([sys.executable, "-m", *step], check=False).returncode
        if status:
            return status
    return checker()


def checker() -> int:
    """Put the table that `eval.verifier` prints into the results."""
    done = subprocess.run([sys.executable, "-m", "eval.verifier"], check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode == 0:
        write_section("verifier", "The rules against human labels", done.stdout)
    return done.returncode


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m eval", description="Measure answers and compare measurements.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    asked = commands.add_parser("run", help="ask all questions and keep answers, measures and a page")
    asked.set_defaults(command=_run)
    asked.add_argument("name", metavar="NAME", help="of the run; a run of the same name goes on where it stopped")
    asked.add_argument("--writer", default="extractive", choices=["extractive", "local", "openai"])
    asked.add_argument("--questions", nargs="+", metavar="SET", help="sets of eval/questions, or files (.jsonl)")
    asked.add_argument("--kind", help="only questions of this kind, single or paraphrase say")
    asked.add_argument("--limit", type=int, help="at most so many of each set, drawn at random")
    asked.add_argument("--seed", type=int, default=0, help="of that draw")
    asked.add_argument("--corpus", default="seeds", choices=["seeds", "mixed"], help="mixed: inside 5,000 other papers")
    asked.add_argument("--parts", action="store_true", help="also measure Plenary without each of its parts")
    asked.add_argument("--systems", nargs="+", metavar="SYSTEM", help="plenary, bm25, tutorial, without-fusion, ...")
    asked.add_argument("--write", action="store_true", help="write the section of eval/RESULTS.md")
    compared = commands.add_parser("compare", help="show item by item what got better and what worse from A to B")
    compared.set_defaults(command=_compare)
    compared.add_argument("first", metavar="A", help="a result file, or how its name begins")
    compared.add_argument("second", metavar="B")
    compared.add_argument("--system", default="plenary", help="the system to compare")
    compared.add_argument("--against", metavar="SYSTEM", help="the system of B, if it is another")
    users = commands.add_parser("feedback", help="turn the chat's feedback file into questions")
    users.set_defaults(command=_feedback)
    users.add_argument("file", type=Path, metavar="FILE")
    users.add_argument("--out", type=Path, metavar="FILE", help="default: feedback.jsonl in .plenary/eval")
    kept = commands.add_parser("record", help="record the gate's numbers and the local model's replies")
    kept.set_defaults(command=_record)
    kept.add_argument("--no-model", action="store_true", help="only the numbers of the extractive writer")
    return parser


def _run(options: argparse.Namespace) -> int:
    # A run loads the models' libraries; the other commands need none of them.
    from eval.questions_check import SETS
    from eval.reporting import keep, sections
    from eval.runs import Wanted, run

    wanted = Wanted(
        options.name, options.writer, tuple(options.questions or SETS), options.kind, options.limit, options.seed,
        options.corpus, options.parts, tuple(options.systems or ()),
    )  # fmt: skip
    result = run(wanted)
    for path in keep(result):
        print(path)
    title, text = sections(result)
    if options.write:
        write_section(f"run-{options.name}", title, text)
    else:
        print(f"\n{text}")
    return 0


def _compare(options: argparse.Namespace) -> int:
    from eval.comparing_runs import differences, load_result, report

    first, second = load_result(options.first), load_result(options.second)
    print(report(differences(first, second, options.system, options.against), first, second))
    return 0


def _feedback(options: argparse.Namespace) -> int:
    from eval.corpora import WORK
    from eval.feedback import write_cases

    target = options.out or WORK / "feedback.jsonl"
    print(f"{write_cases(options.file, target)} questions in {target}; fill in their facts, then")
    print(f"python -m eval run users --questions {target}")
    return 0


def _record(options: argparse.Namespace) -> int:
    from eval.corpora import ROOT, WORK
    from eval.gate import record
    from rag import Assistant, Config

    config = Config.from_environment(store=str(WORK / "store-run-seeds"))
    with Assistant.open(config) as assistant:
        assistant.index([ROOT / "data"])
    numbers: dict[str, Any] = record(config, model=not options.no_model)
    for writer, found in numbers.items():
        print(table([writer, "mean", "low", "high"], [[name, *values] for name, values in found.items()]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
