"""Measures everything again: `python -m eval` runs each measurement in turn and writes `eval/RESULTS.md`."""

from __future__ import annotations

import subprocess
import sys

STEPS = (
    ["eval.retrieval"],
    ["eval.speed"],
    ["eval.abstention", "--write"],
    ["eval.verifier", "--write"],
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
    return 0


if __name__ == "__main__":
    sys.exit(main())
