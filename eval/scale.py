"""Measures large indexes: `python -m eval.scale` writes the scale section of `eval/RESULTS.md`.

The papers are those of public conference lists beside the repository: 3,218 of one year, and about 9,000 of several.
Each size is indexed by a process of its own, so that its peak memory is known.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.corpora import SHARED, need, write_corpus
from eval.results import table, write_section
from rag import Assistant, Config

YEAR = ("neurips2023_csv",)
SEVERAL = (
    *YEAR,
    "neurips2022_csv",
    "neurips_txt/nips_2021.txt",
    "papercopilot_json/iclr2018.json",
    "bibtex/UAI2023.bib",
)
ANOTHER = {"title": "A Paper More", "abstract": "We weigh twelve planets with a new scale and find that all are heavy."}


def measure(paths: Sequence[Path], store: str) -> dict[str, Any]:
    """Index lists anew, again, and one paper more; return seconds, megabytes and counts."""
    more = write_corpus("one-more", [ANOTHER])
    with Assistant.open(Config.from_environment(store=store, writer="extractive")) as assistant:
        opened = _peak()
        first = assistant.index(paths)
        peak = _peak()
        began = time.perf_counter()
        again = assistant.index(paths)
        seconds_again = time.perf_counter() - began
        began = time.perf_counter()
        assistant.index([more])
        seconds_more = time.perf_counter() - began
        status = assistant.status()
    files = [file for file in Path(store).rglob("*") if file.is_file()]
    sizes = {"snapshot": 0, "store": 0}
    for file in files:
        sizes["snapshot" if "snapshots" in file.parts else "store"] += file.stat().st_size
    return {
        "papers": first.papers,
        "chunks": status.chunks,
        "sentences": status.sentences,
        "stages": dict(first.stages),
        "unchanged": again.unchanged,
        "again": seconds_again,
        "more": seconds_more,
        "opened": opened,
        "peak": peak,
        "sizes": sizes,
    }


def _peak() -> float:
    """Return the most memory this process had, in megabytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1024 if sys.platform != "darwin" else most / 1024 / 1024


def main() -> None:
    """Measure both sizes, each in a process of its own, and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="LIST", help="measure these lists and print, write nothing")
    options = parser.parse_args()
    if options.only:
        store = tempfile.mkdtemp()
        print(json.dumps(measure([need(SHARED / "corpora" / name) for name in options.only], store)))
        shutil.rmtree(store, ignore_errors=True)
        return
    found = []
    for lists in (YEAR, SEVERAL):
        command = [sys.executable, "-m", "eval.scale", "--only", *lists]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found.append(json.loads(done.stdout.splitlines()[-1]))
    rows = [
        ["load: read, merge, label", *(f"{one['stages']['load']:.1f} s" for one in found)],
        ["index: embed and store", *(f"{one['stages']['index']:.0f} s" for one in found)],
        ["snapshot: keyword index, sentences", *(f"{one['stages']['snapshot']:.1f} s" for one in found)],
        ["papers a second, all in all", *(f"{one['papers'] / sum(one['stages'].values()):.1f}" for one in found)],
        ["the same lists again", *(f"{one['again']:.1f} s" for one in found)],
        ["one paper more", *(f"{one['more']:.1f} s" for one in found)],
        ["memory: opened, at most", *(f"{one['opened']:.0f}, {one['peak']:.0f} MB" for one in found)],
        ["on disk: store", *(f"{one['sizes']['store'] / 1e6:.0f} MB" for one in found)],
        ["on disk: snapshots (two are kept)", *(f"{one['sizes']['snapshot'] / 1e6:.0f} MB" for one in found)],
    ]
    text = table(["", *(f"{one['papers']:,} papers, {one['sentences']:,} sentences" for one in found)], rows)
    write_section("scale", "Large indexes", text)


if __name__ == "__main__":
    main()
