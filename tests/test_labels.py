"""Labels: the names of the default papers, and the rules behind them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.formats.text import read_text
from rag.label_names import is_name, method_name, uses_of
from rag.label_subjects import subject
from rag.label_text import unwrapped
from rag.labels import LONGEST, label_for

DATA = Path(__file__).parents[1] / "data"

# By list and ordinal; checked by hand against the abstracts.
LABELS = {
    "000": (
        "Value entanglement", "UpSafe℃", "UCCA", "QOP", "Generalization error", "Spectral gradient descent",
        "Graph calibration method", "Factor analysis method", "LPF", "Ultra-DPO", "S-2LS",
        "Epoch-wise double descent", "LB-MCTS", "TG-ITE", "Repair method for tree ensembles", "DISCA", "FocusFlow",
        "Mixed-spiked matrix sensing model", "Inference-time intervention strategy",
    ),
    "004": (
        "LoRA-GT", "ThinkSafe", "Red teaming paradigm", "THERAPYGYM", "Lanczos Gaussian sampler",
        "post-hoc de-centering", "SFT", "TReFT", "RLVR", "On-policy self-distillation", "LARA++", "AIC",
        "Constitutional institutions", "CERTRA", "SAR", "alignment illusion", "TPC", "TPA", "cIPO",
    ),
}  # fmt: skip


@pytest.mark.parametrize("prefix", LABELS)
def test_default_papers_without_their_titles(prefix: str) -> None:
    (path,) = DATA.glob(f"{prefix}_*.txt")
    records = read_text(path.read_text(encoding="utf-8"), path.name)
    assert tuple(label_for(record.abstract or "") for record in records) == LABELS[prefix]


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("UpSafe℃", True), ("TG-ITE", True), ("CERTRA", True), ("cIPO", True), ("LARA++", True), ("S-2LS", True),
        ("FocusFlow", True), ("Ultra-DPO", True), ("BERT4Rec", True),
        ("Bayesian", False), ("LLMs", False), ("RL", False), ("learning", False), ("Pre-training", False),
        ("BO-based", False), ("2020", False), ("ImageNet", False), ("Monte-Carlo", False),
    ],
)  # fmt: skip
def test_coined_names(word: str, wanted: bool) -> None:
    assert is_name(word) is wanted


@pytest.mark.parametrize(
    ("abstract", "name"),
    [
        ("Pruning is hard. We propose QuickPrune, a method that prunes. QuickPrune is fast.", "QuickPrune"),
        ("We introduce Fast Adaptive Pruning (FAP), which prunes. FAP wins.", "FAP"),
        (r"We close the gap with $\mathrm{CERTRA}$, which wraps any scorer. $\mathrm{CERTRA}$ holds.", "CERTRA"),
        (r"We propose \emph{post-hoc centering}, a correction of offsets.", "post-hoc centering"),
        ("We propose *Tree-Guided Exploring (TG-E)*, the first framework of its kind.", "TG-E"),
        ("Our method, SubMix, mixes the heuristics. SubMix is trained end to end.", "SubMix"),
        ("We develop the Lanczos Gaussian sampler, a method without training.", "Lanczos Gaussian sampler"),
        # What was there before is not what is new.
        ("DPO is used everywhere. We propose Ultra-DPO, which extends DPO. Ultra-DPO beats DPO.", "Ultra-DPO"),
        ("We propose a method for training on ImageNet-21K and evaluate it on COCO-Stuff.", None),
        ("We study the convergence of gradient descent.", None),
    ],
)
def test_method_names(abstract: str, name: str | None) -> None:
    assert method_name(abstract) == name


def test_subjects() -> None:
    assert subject("We propose a new repair method for tree ensembles. The repair of tree ensembles is hard. "
                   "Our repair of ensembles keeps each tree.") == "Repair method for tree ensembles"  # fmt: skip
    assert subject("Label noise is common. Label noise hurts. We withstand label noise.") == "Label noise"
    assert (
        subject("大型语言模型在许多任务中取得了显著的进展,但仍然容易受到攻击。") == "大型语言模型在许多任务中取得了显"
    )


@pytest.mark.parametrize(
    ("title", "abstract", "label"),
    [
        ("TabDPT: An Open Tabular Foundation Model", "We present a model.", "TabDPT"),
        ("AC/DC: Alternating Training", "We present a method.", "AC/DC"),
        ("Unpaired Canonical Correlation Analysis", "We present Unpaired CCA (UCCA), a method. UCCA wins.", "UCCA"),
        ("On Early Stopping", "We study early stopping.", "On Early Stopping"),
        ("A Very Long Title That Goes On and On Without Any End in Sight", "We study it.",
         "A Very Long Title That Goes On and On Without…"),
        ("  ", "We propose QuickPrune, a method.", "QuickPrune"),
    ],
)  # fmt: skip
def test_titled_papers(title: str, abstract: str, label: str) -> None:
    assert label_for(abstract, title) == label


def test_markup_is_unwrapped_and_terminates() -> None:
    text = r"\emph{a \textbf{b}} $\mathrm{CERTRA}$ **c** _d_ ``e'' 3\% x---y https://a.org [f](https://b.org)"
    assert unwrapped(text).split() == ["a", "b", "CERTRA", "c", "d", "e", "3%", "x", "–", "y", "f"]


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=400), st.none() | st.text(max_size=80))
def test_a_label_is_never_empty_nor_long(abstract: str, title: str | None) -> None:
    label = label_for(abstract, title)
    assert 0 < len(label) <= LONGEST and label == label.strip() and "\n" not in label


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["QOP", "QOP-2", "xQOP", "a"]), max_size=8))
def test_uses_are_whole_words(words: list[str]) -> None:
    assert uses_of(" ".join(words), "QOP") == sum(word.startswith("QOP") for word in words)
