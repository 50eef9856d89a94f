"""Files that users upload: kept in the home folder under safe names, indexed, reported on."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path, PureWindowsPath

from rag import Assistant, Indexed, UserError
from ui.text import attribute
from ui.words import ENGLISH, Words, counted

ENDINGS = (
    *(".txt", ".text", ".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson"),
    *(".bib", ".bibtex", ".ris", ".xml", ".atom", ".md", ".markdown"),
)
"""Of the formats that `rag.load` reads."""

MOST_BYTES = 50 * 1024 * 1024
MOST_FILES = 20

_TOLD = 20
"""Skipped records that are shown; the count is that of all."""


def keep(uploaded: Sequence[str], home: Path, place: Path | None = None) -> list[Path]:
    """Copy uploaded files to the home folder and return where they lie.

    `place` is the folder that the web server puts uploads in: nothing from anywhere else is taken. Each file lies in a
    folder named by its content, so that the same file is the same and another of its name does not replace it.
    Raises `UserError` for too many or too large files, another ending, or a file that is not an upload.
    """
    if len(uploaded) > MOST_FILES:
        raise UserError(f"{len(uploaded)} files are too many at once; upload at most {MOST_FILES}")
    root = (place or upload_folder()).resolve()
    kept = []
    for name in uploaded:
        path = Path(name).resolve()
        if not path.is_relative_to(root) or not path.is_file():
            raise UserError("only files that were uploaded here can be added; choose them again")
        if path.suffix.lower() not in ENDINGS:
            raise UserError(f"{safe_name(path.name)} has no ending that can be read; known are {' '.join(ENDINGS)}")
        if path.stat().st_size > MOST_BYTES:
            raise UserError(f"{safe_name(path.name)} is larger than {MOST_BYTES >> 20} MB; split it")
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:12]
        target = home / "uploads" / digest / safe_name(path.name)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        except OSError as error:
            raise UserError(f"{target} cannot be written ({error.strerror}); set PLENARY_HOME elsewhere") from error
        kept.append(target)
    return kept


def upload_folder() -> Path:
    """Return the folder that Gradio puts uploads in."""
    return Path(os.environ.get("GRADIO_TEMP_DIR") or Path(tempfile.gettempdir()) / "gradio")


def safe_name(name: str) -> str:
    """Return the last part of a file's name, without characters that mean something to a file system or a page."""
    last = PureWindowsPath(name).name
    cleaned = re.sub(r"[^\w .()+,-]|^\.+", "_", last).strip() or "papers"
    path = Path(cleaned)
    return f"{path.stem[:80]}{path.suffix[:12]}"


async def index_files(
    assistant: Assistant, files: Sequence[Path], words: Words = ENGLISH
) -> AsyncIterator[str | Indexed]:
    """Index files in a thread; yield the progress in words and, last, the result. Raises what indexing raises."""
    at = [0, 0]

    def progress(done: int, total: int) -> None:
        at[:] = done, total

    yield words["indexing"].format(files=", ".join(file.name for file in files))
    task = asyncio.create_task(asyncio.to_thread(assistant.index, files, progress))
    last = (0, 0)
    while not (await asyncio.wait([task], timeout=0.5))[0]:
        if (at[0], at[1]) != last:
            last = (at[0], at[1])
            yield words["indexing_at"].format(done=f"{at[0]:,}", total=f"{at[1]:,}")
    yield task.result()


def report(result: Indexed, words: Words = ENGLISH) -> str:
    """Return the loader's report as HTML: what was added, which records were left out and why."""
    counts = {
        name: f"{getattr(result, name):,}" for name in ("added", "unchanged", "changed", "merged", "removed")
    }
    lines = [words["indexed"].format(**counts, papers=counted(words, result.papers))]
    lines += [words["renamed"].format(name=name) for name in result.renamed]
    shown = "".join(f"<p>{attribute(line)}</p>" for line in lines)
    if not result.skipped:
        return shown
    items = [
        f"<li>{attribute(f'{skip.file}, {skip.line}' if skip.line else skip.file)}: {attribute(skip.reason)}</li>"
        for skip in result.skipped[:_TOLD]
    ]
    if len(result.skipped) > _TOLD:
        items.append(f"<li>{words['skipped_more'].format(n=f'{len(result.skipped) - _TOLD:,}')}</li>")
    count = words["skipped_records"].format(n=f"{len(result.skipped):,}")
    return f"{shown}<p>{attribute(count)}</p><ul>{''.join(items)}</ul>"


__all__ = ["ENDINGS", "MOST_BYTES", "MOST_FILES", "index_files", "keep", "report", "safe_name", "upload_folder"]
