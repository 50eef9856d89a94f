"""The names of files across index commands: one file keeps its name, another of that name gets one of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath

from rag.types import Loaded, Paper, Source, SourceFile


def with_known_names(loaded: Loaded, known: Mapping[str, SourceFile]) -> Loaded:
    """Return what was loaded, its files under the names the index knows them by.

    A file at a known path keeps that path's name, whatever it holds now. A file at another path is taken for the
    known one of its name when its bytes are the same or the path was not noted. Any other gets as many of its
    folders' names before its own as make it a new name, so that it cannot replace the other silently.
    """
    by_path = {file.path: file.name for file in known.values() if file.path}
    names: dict[str, str] = {}
    taken = {by_path[file.path] for file in loaded.files if file.path in by_path}
    for file in loaded.files:
        name = by_path.get(file.path)
        if name is None:
            free = (name for name in _names(file) if name not in taken and _may_be(file, known.get(name)))
            name = next(free, file.path)
        taken.add(name)
        names[file.name] = name
    if all(old == new for old, new in names.items()):
        return loaded
    return replace(
        loaded,
        papers=tuple(_renamed(paper, names) for paper in loaded.papers),
        skipped=tuple(replace(skip, file=names.get(skip.file, skip.file)) for skip in loaded.skipped),
        files=tuple(replace(file, name=names[file.name]) for file in loaded.files),
    )


def _may_be(file: SourceFile, known: SourceFile | None) -> bool:
    return known is None or not known.path or known.digest == file.digest


def _names(file: SourceFile) -> list[str]:
    """Return names for a file: the one it has, then with more and more folders before it."""
    parts = PurePath(file.path).parts or (file.name,)
    depth = file.name.count("/") + 1
    longer = ["/".join(parts[-count:]) for count in range(depth + 1, len(parts))]
    return [file.name, *longer]


def _renamed(paper: Paper, names: Mapping[str, str]) -> Paper:
    def renamed(sources: tuple[Source, ...]) -> tuple[Source, ...]:
        return tuple(replace(source, file=names.get(source.file, source.file)) for source in sources)

    versions = tuple(replace(version, sources=renamed(version.sources)) for version in paper.versions)
    return replace(paper, sources=renamed(paper.sources), versions=versions)
