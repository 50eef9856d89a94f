"""From paths to papers: walking, dispatch by format, judging, merging, and the report."""

from __future__ import annotations

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rag.admit import NO_ABSTRACT, reason_to_skip
from rag.errors import InputError
from rag.formats import reader_for
from rag.formats.decode import decode
from rag.formats.json_records import read_sidecar
from rag.formats.record import Record
from rag.labels import label_for
from rag.normal import match_key
from rag.types import Loaded, Paper, Skipped, Source, SourceFile
from rag.versions import merge_versions, paper_id

__all__ = ["load_paths", "paper_id"]

# A list of 100,000 abstracts has about 200 MB; anything larger is no list of abstracts.
_LARGEST_BYTES = 512 * 1024 * 1024
# A text that stands under this many different titles of one file is the site's, not an abstract
# (proceedings pages repeat "Requests for name changes ..." where the abstract is missing).
_BOILERPLATE_TITLES = 3
_SIDECAR = "titles.json"


@dataclass(frozen=True, slots=True)
class _File:
    """A file to read: `name` is what sources and the report call it; `explicit` if the user named it."""

    path: Path
    name: str
    explicit: bool


@dataclass(slots=True)
class _Collected:
    """What has been read so far."""

    papers: list[Paper] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    sidecars: dict[tuple[Path, int], Record] = field(default_factory=dict)
    places: dict[str, Path] = field(default_factory=dict)
    files: list[SourceFile] = field(default_factory=list)


def load_paths(paths: Sequence[Path]) -> Loaded:
    """Load every paper in the files and folders given, in the order given and then by name.

    The same abstract twice, and slightly reworded versions of one paper, become one paper with all its
    sources and the better metadata (`rag.versions`). Records that are no papers, and files in folders
    that cannot be read, are reported in `skipped`. A `titles.json` beside a list gives it its titles.

    Raises `InputError` for a path that does not exist, for a file named by the user that cannot be read
    or has an unknown format, and when there is nothing but titles or nothing at all to load.
    """
    collected = _Collected()
    files = _named(_files(paths, collected.skipped))
    for file in files:
        _collect(file, collected, alone=len(files) == 1)
    papers = list(_with_sidecars(collected))
    if not papers:
        _nothing_found(paths, collected)
    merged = merge_versions(papers)
    labelled = (replace(paper, label=label_for(paper.abstract, paper.title)) for paper in merged.papers)
    return Loaded(tuple(labelled), tuple(collected.skipped), merged.merged, tuple(collected.files))


def _nothing_found(paths: Sequence[Path], collected: _Collected) -> None:
    """Refuse a load without a single paper, with the most frequent reason."""
    place = ", ".join(str(path) for path in paths) or "no path"
    if collected.sidecars and not collected.skipped:
        reason = "it holds titles for other lists and no abstracts; give those lists or their folder."
    elif collected.skipped:
        (reason, times), *_ = Counter(skip.reason for skip in collected.skipped).most_common(1)
        reason = f"no abstract was found ({times} times: {reason.rstrip('.')}); give a list with abstracts."
    else:
        reason = "no abstract was found; give a list of abstracts (formats: docs/formats.md)."
    raise InputError(place, 0, reason)


# Walking


def _files(paths: Sequence[Path], skipped: list[Skipped]) -> Iterator[_File]:
    """Yield the files to read, each once, folders in order of their names; hidden files are left alone."""
    seen: set[Path] = set()
    for path in paths:
        try:
            if path.is_dir():
                found = list(_walk(path, skipped))
            elif path.is_file():
                beside = path.parent / _SIDECAR
                found = [_File(path, path.name, True)]
                if path.name != _SIDECAR and beside.is_file():
                    found.insert(0, _File(beside, beside.name, False))
            elif path.exists() or path.is_symlink():
                raise InputError(str(path), 0, "this is no regular file; give a file or a folder.")
            else:
                raise InputError(str(path), 0, "there is no such file or folder; check the path.")
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            raise InputError(str(path), 0, f"it cannot be opened ({error}); check its permissions.") from error
        for file in found:
            key = file.path.resolve()
            if key not in seen:
                seen.add(key)
                yield file


def _walk(folder: Path, skipped: list[Skipped]) -> Iterator[_File]:
    """Yield the regular files below a folder. Symbolic links are reported, not followed: they may loop."""

    def unreadable(error: OSError) -> None:
        skipped.append(Skipped(str(error.filename), 0, f"the folder cannot be read ({error.strerror})."))

    for root, folders, names in os.walk(folder, onerror=unreadable):
        for name in sorted(folders):
            if (Path(root) / name).is_symlink():
                skipped.append(Skipped(name, 0, "a symbolic link inside a folder is not followed."))
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        for name in sorted(names):
            path = Path(root) / name
            if name.startswith((".", "~$", "__")):  # also what Python and archives put there
                continue
            if path.is_symlink():
                skipped.append(Skipped(name, 0, "a symbolic link inside a folder is not followed."))
            elif path.is_file():
                yield _File(path, name, False)


def _named(files: Iterator[_File]) -> list[_File]:
    """Give files of one base name as many of their parents' names as tell them apart."""
    listed = list(files)
    groups: dict[str, list[_File]] = defaultdict(list)
    for file in listed:
        groups[file.path.name].append(file)
    names: dict[Path, str] = {}
    for group in groups.values():
        parts = {file.path: file.path.resolve().parts for file in group}
        depth = 1
        while len({part[-depth:] for part in parts.values()}) < len(group):
            depth += 1
        names.update({path: "/".join(part[-depth:]) for path, part in parts.items()})
    return [replace(file, name=names[file.path]) for file in listed]


# Reading one file


def _collect(file: _File, collected: _Collected, *, alone: bool) -> None:
    """Read one file into `collected`; what is wrong with it is raised when the user named it."""
    try:
        records, damaged, digest = _read(file, collected)
    except InputError as error:
        if file.explicit:
            raise InputError(str(file.path), error.line, error.reason) from error
        collected.skipped.append(Skipped(file.name, error.line, error.reason))
        return
    collected.places[file.name] = file.path
    papers, skipped = _judged(file, records, damaged)
    if not papers and skipped and all(skip.reason == NO_ABSTRACT for skip in skipped):
        reason = f"it holds {len(skipped)} titles and no abstracts; give a list with abstracts."
        if file.explicit and alone:
            raise InputError(str(file.path), 0, reason)
        skipped = [Skipped(file.name, 0, reason)]
    if papers:
        collected.files.append(SourceFile(file.name, str(file.path.resolve()), digest))
    collected.papers.extend(papers)
    collected.skipped.extend(skipped)


def _read(file: _File, collected: _Collected) -> tuple[list[Record], bool, str]:
    """Return a file's records, whether it has undecodable bytes, and a hash of it; a sidecar has no records."""
    reader = reader_for(file.path.name)
    try:
        if file.path.stat().st_size > _LARGEST_BYTES:
            limit = _LARGEST_BYTES // 1024 // 1024
            raise InputError(file.name, 0, f"it has more than {limit} MB; split it into smaller lists.")
        data = file.path.read_bytes()
    except OSError as error:
        raise InputError(file.name, 0, f"it cannot be read ({error.strerror}); check its permissions.") from error
    decoded = decode(data, file.name)
    if not decoded.text.strip():
        raise InputError(file.name, 0, "it is empty; give a list of abstracts.")
    if file.path.suffix.lower() == ".json":
        sidecar = read_sidecar(decoded.text, file.name)
        if sidecar is not None:
            for (name, ordinal), record in sidecar.items():
                collected.sidecars[(file.path.parent / name).resolve(), ordinal] = record
            return [], False, ""
    records = reader(decoded.text, file.name)
    if not records:
        raise InputError(file.name, 0, "no abstract was found in it; see docs/formats.md for what is read.")
    return records, decoded.damaged, hashlib.sha256(data).hexdigest()[:16]


def _judged(file: _File, records: Sequence[Record], damaged: bool) -> tuple[list[Paper], list[Skipped]]:
    """Split a file's records into papers and reasons for not being one."""
    papers: list[Paper] = []
    skipped: list[Skipped] = []
    reasons = [reason_to_skip(record, damaged=damaged) for record in records]
    keys = [
        match_key(record.abstract) if record.abstract and reason is None else ""
        for record, reason in zip(records, reasons, strict=True)
    ]
    boilerplate = _boilerplate(records, keys)
    for record, key, reason in zip(records, keys, reasons, strict=True):
        if reason is None and key in boilerplate:
            reason = f"the same text stands under {boilerplate[key]} different titles: it is no abstract."
        if reason is not None:
            skipped.append(Skipped(file.name, record.line, reason))
            continue
        papers.append(_paper(record, key, Source(file.name, record.ordinal, record.line)))
    return papers, skipped


def _boilerplate(records: Sequence[Record], keys: Sequence[str]) -> dict[str, int]:
    """Return the texts that stand under several different titles, with the number of titles."""
    titles: dict[str, set[str]] = defaultdict(set)
    for record, key in zip(records, keys, strict=True):
        if record.title and key:
            titles[key].add(record.title.casefold())
    return {key: len(found) for key, found in titles.items() if len(found) >= _BOILERPLATE_TITLES}


def _paper(record: Record, key: str, source: Source) -> Paper:
    abstract = (record.abstract or "").strip()
    return Paper(
        id=paper_id(abstract, key=key),
        abstract=abstract,
        label="",
        title=record.title,
        authors=record.authors,
        year=record.year,
        venue=record.venue,
        url=record.url,
        keywords=record.keywords,
        sources=(source,),
    )


def _with_sidecars(collected: _Collected) -> Iterator[Paper]:
    """Yield the papers with what the titles kept beside their lists say of them."""
    used: set[tuple[Path, int]] = set()
    places = {name: path.resolve() for name, path in collected.places.items()}
    for paper in collected.papers:
        source = paper.sources[0]
        key = (places[source.file], source.ordinal)
        record = collected.sidecars.get(key)
        if record is None:
            yield paper
            continue
        used.add(key)
        yield replace(
            paper,
            title=paper.title or record.title,
            authors=paper.authors or record.authors,
            year=paper.year or record.year,
            venue=paper.venue or record.venue,
            url=paper.url or record.url,
            keywords=paper.keywords or record.keywords,
        )
    for path, ordinal in sorted(collected.sidecars.keys() - used):
        if path in places.values():
            line = collected.sidecars[path, ordinal].line
            reason = f"its source {path.name}#{ordinal} is no paper of that file."
            collected.skipped.append(Skipped(_SIDECAR, line, reason))
