"""Names of papers are found however they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.names import NameIndex, joined, mentions

LABELS = ("UpSafe℃", "ThinkSafe", "LoRA-GT", "LB-MCTS", "TPA", "TPC", "Lanczos Gaussian sampler", "Value Entanglement", "LARA++")


@pytest.fixture(scope="module")
def names() -> NameIndex:
    import re
    import unicodedata

    folded = [" ".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", label).casefold())) for label in LABELS]
    return NameIndex(folded, LABELS, lambda paper_id: f"label of {paper_id}")


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("UpSafe℃", "UpSafe℃"),
        ("upsafe°c", "UpSafe℃"),
        ("up-safe c", "UpSafe℃"),
        ("THINKSAFE", "ThinkSafe"),
        ("think safe", "ThinkSafe"),
        ("lora gt", "LoRA-GT"),
        ("lbmcts", "LB-MCTS"),
        ("LB–MCTS", "LB-MCTS"),
        ("lara++", "LARA++"),
        ("ＴＰＡ", "TPA"),
    ],
)
def test_case_hyphens_spaces_and_signs_do_not_matter(names: NameIndex, text: str, label: str) -> None:
    assert names.exact(text) == [label]


def test_a_label_is_found_by_its_beginning(names: NameIndex) -> None:
    assert names.beginning("the Lanczos".removeprefix("the ")) == ["Lanczos Gaussian sampler"]
    assert names.beginning("value") == ["Value Entanglement"]
    assert names.beginning("Gaussian sampler") == []


@pytest.mark.parametrize(
    ("text", "label"),
    [("thinksave", "ThinkSafe"), ("Upsave c", "UpSafe℃"), ("Lancoz Gaussian sampler", "Lanczos Gaussian sampler")],
)
def test_slips_are_forgiven(names: NameIndex, text: str, label: str) -> None:
    assert names.misspelt(text) == [label]


@pytest.mark.parametrize("text", ["TPB", "GPTQ", "QLoRA", "", "?", "completely different", "Adam"])
def test_another_name_is_nobodys(names: NameIndex, text: str) -> None:
    assert names.exact(text) == [] and names.misspelt(text) == []


def test_unknown_words_of_a_description_are_corrected(names: NameIndex) -> None:
    known = {"value", "sampler", "pruning"}
    corrected = names.corrected("value entanglemnt of pruning in zzzzz", lambda word: word.lower() in known)
    assert corrected == "value entanglement of pruning in zzzzz"


@pytest.mark.parametrize(
    ("name", "text", "times"),
    [
        ("DPO", "DPO is simple. We extend DPO.", 2),
        ("DPO", "Ultra-DPO and cDPO are not it", 0),
        ("DPO", "dpo", 0),
        ("LARA++", "we propose LARA++, which", 1),
        ("LARA++", "LARA is older", 0),
        ("Muon", "the Muon optimizer, muon", 2),
        ("LB MCTS", "LB-MCTS", 1),
        ("", "anything", 0),
        ("++", "a++b", 0),
        ("(a+)+$", "aaaaaaaaaaaaaaaaaaaa", 0),
    ],
)
def test_a_mention_is_the_name_as_words_of_its_own(name: str, text: str, times: int) -> None:
    assert mentions(name, text) == times


@given(st.text(max_size=60), st.text(max_size=200))
def test_any_text_may_be_looked_up(name: str, text: str) -> None:
    index = NameIndex(["upsafe c"], ["1"], lambda paper_id: paper_id)
    assert mentions(name, text) >= 0
    assert set(index.exact(name) + index.beginning(name) + index.misspelt(name)) <= {"1"}
    assert joined(name) == joined(joined(name))
    assert isinstance(index.corrected(name, lambda word: False), str)
