"""What every test gets: no network, none of the user's settings, and folders of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

# Before any library is imported: each of these would look for a host of its own.
os.environ.update(
    GRADIO_ANALYTICS_ENABLED="False",
    ANONYMIZED_TELEMETRY="False",
    ORT_DISABLE_TELEMETRY="1",
    LANGSMITH_TRACING="false",
    HF_HUB_OFFLINE="1",
    # Child processes are out of reach of the hook below: their way out is a closed door of this machine.
    HTTP_PROXY="http://127.0.0.1:9",
    HTTPS_PROXY="http://127.0.0.1:9",
    http_proxy="http://127.0.0.1:9",
    https_proxy="http://127.0.0.1:9",
    NO_PROXY="localhost,127.0.0.1,::1",
    no_proxy="localhost,127.0.0.1,::1",
    PIP_NO_INDEX="1",
)

import pytest
from hypothesis import settings

from rag import assets
from rag.errors import AssetError

# How long an example takes says something about the machine, not about Plenary.
# The same examples in every run; PLENARY_EXPLORE=1 looks for new ones.
settings.register_profile("plenary", deadline=None, derandomize=not os.environ.get("PLENARY_EXPLORE"))
settings.load_profile("plenary")

_OWN_NAMES = {"", "localhost", "localhost.localdomain", "0.0.0.0", "::", socket.gethostname()}
_LOOKUPS = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}
_CONNECTIONS = {"socket.connect", "socket.sendto", "socket.sendmsg"}
_attempts: list[str] = []


class NetworkUsed(RuntimeError):
    """A test tried to reach another machine."""


def is_local(host: object) -> bool:
    """Whether a host name or address, as `socket` takes it, is this machine."""
    if host is None:
        return True
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    return name in _OWN_NAMES or name.startswith("127.") or name in ("::1", "::ffff:127.0.0.1")


def _refuse_network(event: str, arguments: tuple[object, ...]) -> None:
    """Audit hook: stop every name look-up and connection of this process that leaves the machine."""
    if event in _LOOKUPS:
        host = arguments[0]
    elif event in _CONNECTIONS:
        address = arguments[1]
        if not isinstance(address, tuple):  # a Unix socket's path, or no address
            return
        host = address[0]
    else:
        return
    if not is_local(host):
        _attempts.append(f"{event} {host!s}")
        raise NetworkUsed(f"the network is off in tests, and something asked for {host!s} ({event})")


# An audit hook sees what a patched module would miss (asyncio, `_socket`), and nothing can take it away.
sys.addaudithook(_refuse_network)


@pytest.fixture(autouse=True)
def network_off() -> Iterator[list[str]]:
    """Fail the test if anything tried to use the network, even where the refusal was swallowed.

    A test that expects an attempt clears the list it gets.
    """
    _attempts.clear()
    yield _attempts
    if _attempts:
        tried = ", ".join(_attempts)
        _attempts.clear()
        pytest.fail(f"the network is off in tests; this one tried: {tried}")


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Hide the user's settings and index; `PLENARY_HOME` stays, since the assets are there."""
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "PLENARY_")) and name != "PLENARY_HOME":
            monkeypatch.delenv(name)
    monkeypatch.setenv("PLENARY_STORE", str(tmp_path_factory.mktemp("store") / "index"))


@pytest.fixture(scope="session")
def asset() -> Callable[[str], Path]:
    """Return where an asset lies; skips the test when it was not fetched."""

    def find(name: str) -> Path:
        try:
            return assets.path(name)
        except AssetError as error:
            pytest.skip(str(error))

    return find


@pytest.fixture(scope="session")
def language_model(asset: Callable[[str], Path]) -> Path:
    """The language model's file; skips where it was not fetched (`make setup` does)."""
    return asset(assets.LANGUAGE_MODEL)


@pytest.fixture(scope="session")
def seeds() -> Path:
    """The folder of the two seed lists."""
    return Path(__file__).resolve().parent.parent / "data"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of corpora and benchmarks beside the repository; skips where there is none."""
    folder = Path(__file__).resolve().parent.parent.parent / "shared"
    if not folder.is_dir():
        pytest.skip("../shared (public corpora and benchmarks) is not here")
    return folder


@pytest.fixture(scope="session")
def home(asset: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home folder of the tests' own that holds the fetched assets; skips without the embedding model.

    All assistants share one embedding model as long as the tests run: loading it takes longer than most tests.
    """
    from rag import build

    fetched = asset(assets.EMBEDDING_MODEL).parent
    asset(assets.TOKENIZER)
    folder = tmp_path_factory.mktemp("home")
    (folder / "assets").symlink_to(fetched)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "MiniLM", cache(build.MiniLM))
        yield folder


@pytest.fixture(scope="session")
def seed_index(home: Path, seeds: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an index of the two seed lists, built once: read it, or write to a copy."""
    from rag.build import Assistant
    from rag.config import Config

    folder = tmp_path_factory.mktemp("seed") / "index"
    with Assistant.open(Config(store=str(folder), home=home, writer="extractive")) as assistant:
        assistant.index([seeds])
    return folder


@pytest.fixture
def seed_copy(seed_index: Path, tmp_path: Path) -> Path:
    """A copy of the index of the seed lists, to be written to."""
    return Path(shutil.copytree(seed_index, tmp_path / "seed-copy"))


@pytest.fixture(scope="session")
def chroma_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Chroma server of the tests' own, a process on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [Path(sys.executable).with_name("chroma"), "run", "--host", "127.0.0.1", "--port", str(port)]
    folder = tmp_path_factory.mktemp("server")
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen([*command, "--path", str(folder / "data")], stdout=log, stderr=log)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert server.poll() is None, (folder / "log").read_text()
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()
