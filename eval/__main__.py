"""Measures everything again: `python -m eval` runs each measurement in turn and writes `eval/RESULTS.md`."""

from __future__ import annotations

import subprocess
import sys

from eval.results import write_section

STEPS = (
    ["eval.retrieval"],
    ["eval.speed"],
    ["eval.abstention", "--write"],
    ["eval.answers", "--writer", "extractive", "--write"],
    ["eval.answers", "--writer", "local", "--questions", "single", "--kind", "single", "--write"],
    ["eval.answers", "--writer", "tutorial", "--questions", "single", "--kind", "single", "--limit", "10", "--write"],
)


def main() -> int:
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


if __name__ == "__main__":
    sys.exit(main())
