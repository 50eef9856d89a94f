"""Indexing real papers with the real model: killed at random points, and two processes at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest

from rag.build import MODEL_ID
from rag.chunk import split_sentences
from rag.embed import DIMENSIONS
from rag.load import load_paths
from rag.store import EMPTY, Store

ROOT = Path(__file__).resolve().parent.parent
BATCH, KILLS = 16, 5

# Indexes a file; each call of the encoder and each batch that is stored is a line of a log.
RUN = """
import hashlib, json, os, sys
from pathlib import Path
from rag import Assistant, index
from rag.embed import MiniLM
from rag.store import Store

file, store, log, index.BATCH = sys.argv[1], sys.argv[2], open(sys.argv[3], "a"), int(sys.argv[4])
hold = sys.argv[5:]

def note(what, of):
    print(json.dumps([os.getpid(), what, of]), file=log, flush=True)

encode, put = MiniLM.encode_chunks, Store.put

def counted(self, texts, sentences):
    if hold:
        print("waiting", flush=True)
        sys.stdin.readline()
        hold.clear()
    note("encode", [hashlib.sha256(text.encode()).hexdigest() for text in texts])
    return encode(self, texts, sentences)

def noted(self, records):
    put(self, records)
    note("stored", len(records))

MiniLM.encode_chunks, Store.put = counted, noted
with Assistant.open(store=store, writer="extractive") as assistant:
    print("open", flush=True)
    result = assistant.index([Path(file)])
print(json.dumps([result.papers, result.added, result.unchanged]))
"""


@pytest.fixture(scope="module")
def papers(seeds: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """About 200 papers: those that come along, and others put together from their sentences."""
    texts = [paper.abstract for paper in load_paths([seeds]).papers]
    sentences = [text[span.start : span.end] for text in texts for span in split_sentences(text)]
    random = Random(7)
    made = [" ".join(random.sample(sentences, 2)) for _ in range(165)]
    file = tmp_path_factory.mktemp("papers") / "papers.txt"
    file.write_text("\n\n".join(" ".join(text.split()) for text in (*texts, *made)), encoding="utf-8")
    return file


def start(papers: Path, store: Path, log: Path, home: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", RUN, str(papers), str(store), str(log), str(BATCH), *more]
    environment = {**os.environ, "PLENARY_HOME": str(home)}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def lines(log: Path) -> list[list[object]]:
    return [json.loads(line) for line in log.read_text("utf-8").splitlines()] if log.exists() else []


def opened(folder: Path) -> Store:
    return Store(str(folder), MODEL_ID, DIMENSIONS)


def test_killed_at_random_points_the_finished_index_equals_the_uninterrupted_one(
    papers: Path, home: Path, tmp_path: Path
) -> None:
    random, log = Random(), tmp_path / "log"
    whole = start(papers, tmp_path / "whole", tmp_path / "whole-log", home)
    assert whole.wait(300) == 0, whole.communicate()[1]
    number = len(load_paths([papers]).papers)
    steps = len(lines(tmp_path / "whole-log"))
    assert number >= 190 and steps >= 20
    killed = []
    for part in range(KILLS):
        run = start(papers, tmp_path / "killed", log, home)
        # Each run gets some steps further, into the middle of one.
        goal = random.randint(part * steps // (KILLS + 1), (part + 1) * steps // (KILLS + 1))
        while len(lines(log)) < goal and run.poll() is None:
            time.sleep(0.01)
        time.sleep(random.uniform(0, 0.4))
        run.kill()
        run.communicate()
        killed.append(run.pid)
    last = start(papers, tmp_path / "killed", log, home)
    assert last.wait(300) == 0, last.communicate()[1]
    told = last.communicate()[0].splitlines()[-1]
    done = lines(log)
    encoded = [text for _, what, of in done if what == "encode" for text in of]  # type: ignore[attr-defined]
    # Only what a killed run had in hand, its last batch, was computed again.
    in_hand = {
        text
        for pid in killed
        for _, what, of in [step for step in done if step[0] == pid][-2:]
        if what == "encode"
        for text in of  # type: ignore[attr-defined]
    }
    again = {text for text, times in Counter(encoded).items() if times > 1}
    assert again <= in_hand and len(encoded) - len(set(encoded)) <= KILLS * BATCH * 2
    assert json.loads(told)[0] == number
    one, two = opened(tmp_path / "whole"), opened(tmp_path / "killed")
    assert one.digests() == two.digests() and one.state() == two.state() != EMPTY and one.counts() == two.counts()
    first, second = (store._chunks.get(include=["embeddings", "metadatas"]) for store in (one, two))
    ones, twos = (dict(zip(rows["ids"], zip(rows["embeddings"], rows["metadatas"], strict=True), strict=True)) for rows in (first, second))
    assert ones.keys() == twos.keys()
    for key, (vector, row) in ones.items():
        assert np.allclose(vector, twos[key][0], rtol=0, atol=1e-6) and row == twos[key][1]
        # The engine that searches knows the vector, too.
        assert next(iter(two.search(np.asarray(vector, np.float32), 1).values())) > 0.999
    assert [file.indexed != "" for file in two.files().values()] == [True]
    one.close()
    two.close()


def test_of_two_processes_that_write_at_once_one_works_and_one_is_told(seeds: Path, home: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    first = start(seeds, index, tmp_path / "log", home, "hold")
    assert first.stdout and [first.stdout.readline() for _ in range(2)] == ["open\n", "waiting\n"]
    second = start(seeds, index, tmp_path / "other-log", home)
    out, err = second.communicate(timeout=300)
    assert second.returncode != 0 and out == "open\n" and lines(tmp_path / "other-log") == []
    assert err.strip().endswith(f"another process is writing the index at {index}; wait until it has finished")
    out, err = first.communicate("go on\n", timeout=300)
    assert first.returncode == 0 and json.loads(out) == [38, 38, 0], err
    store = opened(index)
    assert store.counts()[0] == 38 == len(store.all_sentences())
    store.close()
