"""Small papers with made-up vectors, for tests of the store that need no embedding model.

Run as a program it is another process that opens indexes too, obeying one command a line.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import AbstractContextManager
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
    # Words of its own: else all would be versions of one paper.
    text = f"Paper {n} brings a{n} b{n} c{n} d{n}. Its second sentence says more about {n} e{n}."
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
    """Another process; `do` gives it a command and returns its reply.

    `open LOCATION`, then `write FIRST LAST`, `delete N...`, `missing FIRST LAST`; `hold` begins to write and
    goes on, `put FIRST LAST` writes meanwhile, `release` ends it.
    """

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.records"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def do(self, command: str) -> str:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        reply = self.process.stdout.readline()
        assert reply, "the other process has ended"
        return reply.strip()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def missing(store: Store, numbers: range) -> list[int]:
    """Return which of the papers a search for their own vectors does not find first."""
    return [n for n in numbers if next(iter(store.search(vectors(n)[0], 1)), None) != f"{n:012x}"]


def _obey() -> None:
    store: Store
    held: AbstractContextManager[None]
    for line in sys.stdin:
        command, _, rest = line.strip().partition(" ")
        numbers = [int(word) for word in rest.split() if word.isdecimal()]
        reply = "done"
        if command == "open":
            store = open_store(rest)
        elif command == "hold":
            held = store.writing()
            held.__enter__()
        elif command == "release":
            held.__exit__(None, None, None)
        elif command == "put":
            store.put([record(n) for n in range(*numbers)])
        elif command == "write":
            with store.writing():
                store.put([record(n) for n in range(*numbers)])
        elif command == "delete":
            with store.writing():
                store.delete([f"{n:012x}" for n in numbers])
        elif command == "missing":
            store.refresh()
            reply = str(missing(store, range(*numbers)))
        print(reply, flush=True)


if __name__ == "__main__":
    _obey()
