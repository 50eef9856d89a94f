"""Writes a section of `eval/RESULTS.md`: each command replaces its own and leaves the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

RESULTS = Path(__file__).with_name("RESULTS.md")


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def write_section(name: str, title: str, text: str, path: Path = RESULTS) -> None:
    """Put a section into the results file, in place of the one of the same name."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    section = f"{begin}\n## {title}\n\n{text.strip()}\n{end}\n"
    old = path.read_text(encoding="utf-8") if path.exists() else "# Results\n"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end) + r"\n?", re.DOTALL)
    new = pattern.sub(lambda _: section, old) if pattern.search(old) else f"{old.rstrip()}\n\n{section}"
    path.write_text(new, encoding="utf-8")
    print(f"{title}\n\n{text}\n")
