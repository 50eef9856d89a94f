"""The embedding model: unit vectors, the same alone and in a batch, sentences in the context of their chunk."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import openvino
import pytest
from tokenizers import Tokenizer

from rag import assets
from rag.chunk import split_sentences
from rag.embed import DIMENSIONS, MAX_TOKENS, MiniLM, _leave_out_masks
from rag.errors import AssetError


@pytest.fixture(scope="module")
def model(asset: Callable[[str], Path]) -> MiniLM:
    return MiniLM(asset(assets.EMBEDDING_MODEL), asset(assets.TOKENIZER), "test")


def test_vectors_have_unit_length_and_tell_meaning(model: MiniLM) -> None:
    texts = ["How are language models kept safe?", "Keeping large language models safe.", "Protein folding in yeast."]
    vectors = model.encode(texts)
    assert vectors.shape == (3, DIMENSIONS) and vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2


def test_alone_and_in_a_batch_are_the_same_in_any_order(model: MiniLM) -> None:
    texts = ["short", "a longer text about gates " * 20, "", "短い", "middle length of a text"]
    batch = model.encode(texts)
    for text, vector in zip(texts, batch, strict=True):
        assert float(model.encode([text])[0] @ vector) > 0.999
    np.testing.assert_allclose(model.encode(texts[::-1]), batch[::-1], atol=1e-5)
    assert model.encode([]).shape == (0, DIMENSIONS)


def test_threads_may_share_the_model(model: MiniLM) -> None:
    texts = [f"text number {n}" for n in range(16)]
    expected = model.encode(texts)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda text: model.encode([text])[0], texts))
    assert all(float(one @ other) > 0.999 for one, other in zip(found, expected, strict=True))


def test_a_sentence_gets_the_states_of_its_own_tokens(model: MiniLM) -> None:
    text = "Gates route the tokens. It is fast. Proteins fold in yeast cells."
    spans = split_sentences(text)
    ((chunk, sentences),) = model.encode_chunks([text], [spans])
    assert chunk.shape == (DIMENSIONS,) and sentences.shape == (3, DIMENSIONS)
    np.testing.assert_allclose(chunk, model.encode([text])[0], atol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(sentences, axis=1), 1, atol=1e-5)
    query = model.encode(["How do proteins fold?"])[0]
    assert int(np.argmax(sentences @ query)) == 2


def test_a_sentence_beyond_the_last_position_has_the_chunks_vector(model: MiniLM) -> None:
    text = "word " * (MAX_TOKENS + 50) + "end. The very last sentence."
    ((chunk, sentences),) = model.encode_chunks([text], [split_sentences(text)])
    np.testing.assert_allclose(sentences[1], chunk, atol=1e-6)
    assert list(model.encode_chunks([], [])) == []


def test_leaving_out_the_masks_changes_nothing_but_rounding(model: MiniLM, asset: Callable[[str], Path]) -> None:
    text = "Gates route the tokens of a layer to its experts. " * 8
    network = openvino.Core().read_model(str(asset(assets.EMBEDDING_MODEL)))
    assert any(node.get_type_name() == "IsNaN" for node in network.get_ordered_ops())
    tokenizer = Tokenizer.from_file(str(asset(assets.TOKENIZER)))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    ids = np.array([tokenizer.encode(text).ids], dtype=np.int64)
    inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    whole = openvino.Core().compile_model(network, "CPU")(inputs)[0][0].mean(axis=0)
    assert float(model.encode([text])[0] @ whole) / float(np.linalg.norm(whole)) > 0.9999
    _leave_out_masks(network)
    assert not any(node.get_type_name() == "IsNaN" for node in network.get_ordered_ops())


def test_files_that_are_no_model_are_named_with_the_remedy(tmp_path: Path, asset: Callable[[str], Path]) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"nothing")
    good = asset(assets.EMBEDDING_MODEL), asset(assets.TOKENIZER)
    for model, tokenizer in ((broken, good[1]), (good[0], broken), (tmp_path / "absent", good[1])):
        with pytest.raises(AssetError, match="fetch it again with `plenary assets`"):
            MiniLM(model, tokenizer, "test")
