"""Copying an index to another place, a folder or a server, without embedding anything again."""

from __future__ import annotations

from collections.abc import Callable

from rag.errors import UserError
from rag.store import Store

BATCH = 200
"""Papers a request: with their vectors a few megabytes, the most that an interruption repeats."""


def copy_index(
    source: Store, target: Store, progress: Callable[[int, int], None] = lambda done, total: None
) -> tuple[int, int]:
    """Copy every paper with its chunks and vectors; return how many were copied and how many were there already.

    What an interrupted copy has brought is not copied again. `progress` is called with (papers there, papers in
    all). Raises `UserError` when there is nothing to copy or the target holds papers that are not the source's:
    they would be mixed.
    """
    with source.writing(), target.writing():
        wanted, there = source.digests(), target.digests()
        if not wanted:
            raise UserError(f"there is nothing to copy at {source.location}: it holds no papers")
        others = [paper_id for paper_id, digest in there.items() if wanted.get(paper_id) != digest]
        if others:
            raise UserError(
                f"the index at {target.location} holds {len(others)} papers that are not those of {source.location}; "
                "copy to a new place, or remove them first"
            )
        missing = sorted(wanted.keys() - there.keys())
        done = len(there)
        for first in range(0, len(missing), BATCH):
            batch = missing[first : first + BATCH]
            source.copy_papers(target, batch)
            done += len(batch)
            progress(done, len(wanted))
        target.remember_files({**target.files(), **source.files()})
        target.remember_apart(source.apart())
    return len(missing), len(there)
