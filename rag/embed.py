"""The embedding model: all-MiniLM-L6-v2 run by OpenVINO, with vectors of chunks and of their sentences."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import openvino
from numpy.typing import NDArray
from tokenizers import Tokenizer

from rag.errors import AssetError
from rag.types import Span, Vectors

DIMENSIONS = 384
MAX_TOKENS = 512
"""Positions the model knows; what is beyond them does not reach the vector."""

_Tokens = Any  # tokenizers.Encoding, a compiled class without type information
_Rows = NDArray[np.float32]


class MiniLM:
    """all-MiniLM-L6-v2 (Wang et al. 2020; sentence-transformers), mean pooling, unit length.

    One text is one request and as many requests run at a time as there are cores: without padding nothing
    is computed for nothing, which is faster on a CPU than batches (see `eval/RESULTS.md`). Nearly all
    of the time of indexing is spent here, at about 84 % of what a core multiplies in float32. 8-bit arithmetic with
    one scale for a text moves the vectors too far (cosine .991 in a simulation of ten texts; one for each token .9992,
    for which OpenVINO has no kernel without VNNI).
    """

    dimensions = DIMENSIONS

    def __init__(self, model: Path, tokenizer: Path, model_id: str) -> None:
        """Load both files; raises `AssetError` when one cannot be read."""
        self.model_id = model_id
        try:
            self._tokenizer = Tokenizer.from_file(str(tokenizer))
            # Two streams keep the threads of one request on few cores; more streams than cores gain nothing.
            streams = str(max(1, os.cpu_count() or 1))
            core = openvino.Core()
            network = core.read_model(str(model))
            _leave_out_masks(network)
            self._model = core.compile_model(
                network, "CPU", {"PERFORMANCE_HINT": "THROUGHPUT", "NUM_STREAMS": streams}
            )
        except Exception as error:  # tokenizers raises bare Exception, OpenVINO RuntimeError
            raise AssetError(
                f"the embedding model cannot be loaded ({error}); fetch it again with `plenary assets`"
            ) from error
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.no_padding()
        self._lock = Lock()
        self._single = self._model.create_infer_request()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each text; an empty text gives the vector of the empty string."""
        encodings = self._tokenizer.encode_batch(list(texts))
        vectors = np.zeros((len(encodings), DIMENSIONS), dtype=np.float32)

        def pool(place: int, states: _Rows) -> None:
            vectors[place] = states.mean(axis=0)

        self._run(encodings, pool)
        return _unit(vectors)

    def encode_chunks(
        self, texts: Sequence[str], sentences: Sequence[Sequence[Span]]
    ) -> Iterator[tuple[Vectors, Vectors]]:
        """Yield for each text its vector, shape (384,), and those of its `sentences`, shape (n, 384).

        Spans are in characters of the text. A sentence's vector is the mean of its tokens' states in the
        context of the whole chunk (late chunking, Günther et al. 2024): it costs nothing beyond the chunk
        and knows what "it" and "the method" stand for.
        """
        encodings = self._tokenizer.encode_batch(list(texts))
        chunks = np.zeros((len(encodings), DIMENSIONS), dtype=np.float32)
        parts = [np.zeros((len(spans), DIMENSIONS), dtype=np.float32) for spans in sentences]

        def pool(place: int, states: _Rows) -> None:
            chunks[place] = states.mean(axis=0)
            starts = np.array([start for start, _ in encodings[place].offsets])
            special = np.array(encodings[place].special_tokens_mask, dtype=bool)
            for row, span in enumerate(sentences[place]):
                inside = ~special & (starts >= span.start) & (starts < span.end)
                # A sentence beyond the last position has no tokens left: the chunk stands in for it.
                parts[place][row] = states[inside].mean(axis=0) if inside.any() else chunks[place]

        self._run(encodings, pool)
        for chunk, part in zip(_unit(chunks), parts, strict=True):
            yield chunk, _unit(part)

    def _run(self, encodings: Sequence[_Tokens], pool: Callable[[int, _Rows], None]) -> None:
        """Call `pool(place, token states)` for every encoding; the order of the calls is not defined."""
        if len(encodings) == 1:
            with self._lock:
                self._single.infer(_inputs(encodings[0]))
                pool(0, self._single.get_output_tensor(0).data[0])
            return
        queue = openvino.AsyncInferQueue(self._model)
        queue.set_callback(lambda request, place: pool(place, request.get_output_tensor(0).data[0]))
        # Longest first: the last requests are short, so no core waits long for the other.
        for place in sorted(range(len(encodings)), key=lambda i: -len(encodings[i].ids)):
            queue.start_async(_inputs(encodings[place]), place)
        queue.wait_all()


def _inputs(encoding: _Tokens) -> dict[str, NDArray[np.int64]]:
    ids = np.array([encoding.ids], dtype=np.int64)
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}


def _leave_out_masks(network: Any) -> None:
    """Cut out of the attention what only padded batches need: the mask, and the guard against rows all masked.

    A text alone has no padding, so nothing changes but rounding (< 1e-5), and a twentieth of the time is saved.
    """
    for node in network.get_ordered_ops():
        if node.get_type_name() != "Softmax":
            continue
        for use in list(node.output(0).get_target_inputs()):
            guard = use.get_node()
            if guard.get_type_name() == "Select":  # "where it is not a number take 0"
                for taker in list(guard.output(0).get_target_inputs()):
                    taker.replace_source_output(node.output(0))
        masked = node.input_value(0).get_node()
        if masked.get_type_name() == "Add":
            scores = [value for value in masked.input_values() if value.get_node().get_type_name() == "MatMul"]
            if len(scores) == 1:
                node.input(0).replace_source_output(scores[0])
    network.validate_nodes_and_infer_types()


def _unit(vectors: _Rows) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)
