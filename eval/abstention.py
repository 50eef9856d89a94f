"""Measures the decision to refuse: `python -m eval.abstention` tests the weights in use.

The index holds the SciTLDR abstracts; the calibration questions were written for its training papers, the
held-out ones for others. With `--write` the section of `eval/RESULTS.md` is renewed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from eval.corpora import ROOT, records, scitldr
from eval.results import table, write_section
from eval.retrieval import open_corpus


def main() -> None:
    """Ask every question of the extractive pipeline's decision and count both kinds of error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the section of eval/RESULTS.md")
    options = parser.parse_args()
    papers, _ = scitldr()
    assistant, _ = open_corpus("scitldr", papers)
    rows: list[Sequence[object]] = []
    with assistant:
        for split in ("calibration", "heldout"):
            items = list(records(ROOT / "eval" / "abstention" / f"{split}.jsonl"))
            refused = [assistant.ask(item["question"]).abstained for item in items]
            rows += _rows(split, items, refused)
    text = table(["questions", "kind", "number", "refused"], rows)
    text += "\n\nAnswerable ones should not be refused; all others should. Extractive writer, 2,600 abstracts."
    if options.write:
        write_section("abstention", "The decision to refuse", text)
    else:
        print(text)


def _rows(split: str, items: Sequence[dict[str, Any]], refused: Sequence[bool]) -> list[Sequence[object]]:
    kinds = ["answerable", "near_miss", "wrong_setting", "false_premise", "absent_method", "off_topic"]
    rows: list[Sequence[object]] = []
    for kind in kinds:
        own = [
            no
            for no, item in zip(refused, items, strict=True)
            if ("answerable" if item["answerable"] else item["kind"]) == kind
        ]
        rows.append([split, kind.replace("_", " "), len(own), f"{np.mean(own):.2f}"])
    return rows


if __name__ == "__main__":
    main()
