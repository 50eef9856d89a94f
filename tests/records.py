"""Small papers with made-up vectors, for tests of the store that need no embedding model.

Run as a program it is another process on an index, obeying one command a line: `python -m tests.records FOLDER`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from rag.chunk import chunk_paper
from rag.rows import Record
from rag.store import Store
from rag.types import Paper, Source, Vectors

ROOT = Path(__file__).resolve().parent.parent
MODEL, DIMENSIONS = "made-up", 16


def open_store(location: str | Path) -> Store:
    """Open an index of made-up vectors."""
    return Store(str(location), MODEL, DIMENSIONS)


def paper(n: int, **facts: Any) -> Paper:
    """Return paper n; `facts` are fields of `Paper`."""
    text = f"Paper {n} brings the first sentence. Its second sentence says more about {n}."
    return Paper(**{"id": f"{n:012x}", "abstract": text, "label": f"label {n}", "sources": (Source("f.txt", n + 1),), **facts})


def vectors(*seeds: int) -> Vectors:
    """Return one unit vector for each seed, always the same."""
    rows = np.stack([np.random.default_rng(seed).normal(size=DIMENSIONS) for seed in seeds]).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def record(n: int, budget: int = 1_000, **facts: Any) -> Record:
    """Return paper n ready to be stored; its first chunk has the vector `vectors(n)`.

    `budget` is that of a chunk in words.
    """
    about = paper(n, **facts)
    chunks = chunk_paper(about, lambda text: len(text.split()), budget)
    places = range(len(chunks))
    sentences = sum(len(chunk.sentences) for chunk in chunks)
    return Record(
        about,
        chunks,
        vectors(*(n + 1_000_000 * place for place in places)),
        vectors(*(n + 2_000_000 + 1_000_000 * place for place in range(sentences))),
    )


class Other:
    """Another process that has an index open; `do` gives it a command and returns its reply."""

    def __init__(self, location: str | Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.records", str(location)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._read()

    def do(self, command: str) -> str:
        assert self.process.stdin
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self._read()

    def _read(self) -> str:
        assert self.process.stdout
        reply = self.process.stdout.readline()
        assert reply, "the other process has ended"
        return reply.strip()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def other_process(location: str | Path) -> Iterator[Other]:
    """Start another process on an index; it is killed at the end."""
    other = Other(location)
    try:
        yield other
    finally:
        other.kill()


def _obey(store: Store) -> None:
    print("ready", flush=True)
    held = store.writing()
    for line in sys.stdin:
        command, *numbers = line.split()
        reply = "done"
        if command == "hold":  # begins to write and goes on
            held.__enter__()
        elif command == "put":
            store.put([record(n) for n in range(int(numbers[0]), int(numbers[1]))])
        elif command == "release":
            held.__exit__(None, None, None)
            held = store.writing()
        elif command == "write":
            with store.writing():
                store.put([record(n) for n in range(int(numbers[0]), int(numbers[1]))])
        elif command == "delete":
            with store.writing():
                store.delete([f"{int(n):012x}" for n in numbers])
        elif command == "missing":
            store.refresh()
            reply = str(len(missing(store, range(int(numbers[0]), int(numbers[1])))))
        print(reply, flush=True)


def missing(store: Store, numbers: range) -> list[int]:
    """Return which of the papers a search for their own vectors does not find first."""
    return [n for n in numbers if next(iter(store.search(vectors(n)[0], 1)), None) != f"{n:012x}"]


if __name__ == "__main__":
    _obey(open_store(sys.argv[1]))
