"""The process of the local model: llama.cpp's server on the loopback, for as long as its parent lives.

`rag.local` runs this file as a script and nothing imports it. It has a process of its own because llama.cpp
keeps Python's lock for all the seconds that it loads or stops, because a fault in native code ends a process,
and because its waiting threads are set by a variable that is read once.

It reads one line of settings (JSON) from its standard input, answers with one line, `{"url": ...}` or
`{"error": ...}`, and ends when its standard input is closed, which also happens when the parent is killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

import xllamacpp  # type: ignore[import-untyped]  # a compiled module without type information


def parameters(settings: dict[str, Any]) -> Any:
    """Return llama.cpp's parameters for `path`, `context`, `threads`, `key`, `name` and `verbose`."""
    chosen = xllamacpp.CommonParams()
    chosen.model.path = settings["path"]
    chosen.model_alias = {settings["name"]}
    chosen.n_ctx = settings["context"]
    # One reply at a time, the others wait in turn: two would share the same memory bandwidth.
    chosen.n_parallel = 1
    # Prompts that were pushed out by another kind of prompt come back from here: 28 kB a token.
    chosen.cache_ram_mib = 256
    # Replies repeat their prompt: three tokens foretell the next three, and reading four at once
    # costs 1.8 times as much computing as writing one (longer drafts cost more than they save).
    chosen.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
    chosen.speculative.ngram_simple.size_n = chosen.speculative.ngram_simple.size_m = 3
    # Between batches a reply can be cancelled and its progress told.
    chosen.n_batch = chosen.n_ubatch = 128
    for processor in (chosen.cpuparams, chosen.cpuparams_batch):
        processor.n_threads = settings["threads"] or usable_cores()
    chosen.verbosity = 3 if settings["verbose"] else -1
    # Web pages and other users of this machine can reach the loopback too.
    chosen.api_keys = [settings["key"]]
    chosen.cors_origins = ""
    chosen.ui = False
    return chosen


def usable_cores() -> int:
    """Return how many cores this process may use, or -1: llama.cpp then counts the physical ones itself."""
    affinity = getattr(os, "sched_getaffinity", None)
    allowed = len(affinity(0)) if affinity else os.cpu_count()
    return -1 if allowed == os.cpu_count() or allowed is None else allowed


def main() -> None:
    """Serve until the standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Whatever native code prints must not mix with the answer.
    os.dup2(2, 1)
    settings = json.loads(sys.stdin.readline())
    try:
        server = xllamacpp.Server(parameters(settings))
    except RuntimeError as error:
        print(json.dumps({"error": str(error)}), file=answers, flush=True)
        return
    print(json.dumps({"url": server.listening_address}), file=answers, flush=True)
    sys.stdin.read()
    # Not by way of the server's destructor, which waits for the reply being written.
    os._exit(0)


if __name__ == "__main__":
    main()
