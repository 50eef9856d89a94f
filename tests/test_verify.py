"""The rules that judge claims, on claims as small models write them about the seed papers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from rag.types import Draft, Evidence, Paper, Span, Support
from rag.verify import check_draft, coverage, find_quote, judge, question_echo

SEEDS = Path(__file__).parent.parent / "data"
ABSTRACTS = [
    paragraph.strip()
    for file in sorted(SEEDS.glob("*.txt"))
    for paragraph in file.read_text(encoding="utf-8").split("\n\n")[1:]
]


def even(_: str) -> float:
    """Give every word the same weight."""
    return 1.0


def abstract_with(words: str) -> str:
    found = [abstract for abstract in ABSTRACTS if words in abstract]
    assert len(found) == 1, (words, len(found))
    return found[0]


def sentence_with(words: str) -> tuple[str, str]:
    """Return the seed sentence that has these words, and its abstract."""
    abstract = abstract_with(words)
    place = abstract.index(words)
    start = abstract.rfind(". ", 0, place) + 2 if ". " in abstract[:place] else 0
    end = abstract.find(". ", place + len(words) - 1)
    return abstract[start : end + 1 if end >= 0 else len(abstract)], abstract


def verdict_on(claim: str, *cited: str) -> Support:
    found = [sentence_with(words) for words in cited]
    abstract = found[0][1]
    assert all(other == abstract for _, other in found)
    return judge(claim, [sentence for sentence, _ in found], abstract, idf=even).support


FLASH = "FlashAttention achieves lower memory consumption"
LPF = "LPF reveals whether the model"
QOP_BETTER = "QOP consistently outperforms existing baselines"
ULTRA = "Ultra-DPO consistently outperforms DPO"
COLLAPSE = "DPO alignment collapses when"
DISCA = "DISCA reduces cultural misalignment on MultiTP"
GYM = "with average CTRS rising from"
JUDGE = "THERAPYJUDGEBENCH, a validation set"
ROUNDING = "deterministic rounding degrades the generalization error"
STOCHASTIC = "stochastic rounding can introduce generalization error"
SINGULAR = "smaller singular values attain their target values earlier"
TREFT = "TReFT achieves 33.5"
AMLB = "Experiments on 104 AMLB datasets"
DIMENSIONS = "mediate model behavior across multiple moral"
MUON = "while Muon converges faster early on"
SFT = "the SFT loss increases after the RL phase"
FLATTEN = "SFT flattens the loss landscape"
UCCA = "UCCA is the first approach"
PAIRED = "we present Unpaired CCA (UCCA)"
RATE = "achieve $O(N)$ sample complexity in BAI"
LIKERT = "within-country demographic disagreement, not consensus"
READOUT = "the readout is train-biased before grokking onset"
TEMPERATURE = "we introduce a safety temperature mechanism"
OPSD = "OPSD fails in our tested settings"
BURSTS = "analyzing firing rates alone obscures"
ULTRA_FAIL = "Effective alignment requires avoiding both failure modes"

SUPPORTED = [
    ("FlashAttention achieves lower memory consumption than kernelized methods across most sequence lengths.", FLASH),
    ("FlashAttention is faster than state-of-the-art kernelized methods in wall-clock time.", FLASH),
    ("Kernelized methods use more memory than FlashAttention across most sequence lengths.", FLASH),
    ("LPF trains 3-15% of the model's parameters.", LPF),
    ("LPF reveals whether a model has a hidden propensity while training only 3 to 15 percent of its parameters.", LPF),
    ("QOP consistently outperforms existing baselines in average accuracy and perplexity under weight quantization.", QOP_BETTER),
    ("Ultra-DPO outperforms DPO, RLHF and online preference learning methods on multiple benchmarks.", ULTRA),
    ("DPO alignment collapses when the policy drifts away from the support of the offline dataset.", COLLAPSE),
    ("RLHF alignment is biased because of the extrapolation error of the reward proxy on out-of-distribution rollouts.", COLLAPSE),
    ("DISCA reduces cultural misalignment on MultiTP by 10-24% on binary moral dilemmas.", DISCA),
    ("DISCA reduces cultural misalignment by 10–24 % on binary moral dilemmas and 2–7 % on open-ended scenarios.", DISCA),
    ("The average CTRS rises from 0.10 to 0.60 for models trained in THERAPYGYM.", GYM),
    ("THERAPYJUDGEBENCH is a validation set of 116 dialogues with 1,270 expert ratings.", JUDGE),
    ("Deterministic rounding increases the rate from O(T/n) to O(T/√n).", ROUNDING),
    ("Stochastic rounding can introduce generalization error that increases with the dimension.", STOCHASTIC),
    ("Smaller singular values reach their target values earlier than larger ones.", SINGULAR),
    ("TReFT achieves 33.5% more EM reduction than data interleaving on Llama-3.1-8B finetuned on the legal domain.", TREFT),
    ("LB-MCTS consistently outperforms BO-based, LLM-based and hybrid baselines on 104 AMLB datasets.", AMLB),
    ("The value heads mediate model behaviour across moral dimensions such as harmlessness, honesty and helpfulness.", DIMENSIONS),
    ("Muon is prone to overshooting and oscillation near the target solution.", MUON),
    ("The SFT loss increases after the RL phase.", SFT),
    ("SFT flattens the loss landscape while RL re-sharpens it.", FLATTEN),
    ("UCCA is the first approach to learn maximally correlated projections in a strictly unpaired setting.", UCCA),
    ("UCCA learns linear projections without access to paired samples during training.", PAIRED),
    ("Unpaired CCA (UCCA) learns linear projections that maximize the correlation of the true pairing.", PAIRED),
    ("TG-ITE achieves O(N) sample complexity in BAI.", RATE),
    ("The steering signal is disagreement within a country, not consensus.", LIKERT),
    ("Before grokking onset the readout is train-biased.", READOUT),
    ("The safety temperature mechanism allows dynamic adjustment of the trade-off between safety and utility.", TEMPERATURE),
    ("Analyzing firing rates alone obscures the latent structure underlying bursts.", BURSTS),
    ("Effective alignment requires avoiding both failure modes.", ULTRA_FAIL),
]  # fmt: skip

REJECTED = [
    # roles and sides exchanged
    ("Kernelized methods achieve lower memory consumption than FlashAttention.", FLASH),
    ("Kernelized methods achieve lower memory consumption across most sequence lengths.", FLASH),
    ("FlashAttention uses more memory than kernelized methods across most sequence lengths.", FLASH),
    ("DPO consistently outperforms Ultra-DPO on multiple benchmarks.", ULTRA),
    ("Existing baselines consistently outperform QOP in average accuracy.", QOP_BETTER),
    ("Larger singular values attain their target values earlier than smaller ones.", SINGULAR),
    ("RL flattens the loss landscape while SFT re-sharpens it.", FLATTEN),
    # numbers
    ("LPF trains 3-25% of the model's parameters.", LPF),
    ("LPF trains 315% of the model's parameters.", LPF),
    ("DISCA reduces cultural misalignment on MultiTP by 2–7% on binary moral dilemmas and by 30% on others.", DISCA),
    ("The average CTRS rises from 0.60 to 0.10.", GYM),
    ("THERAPYJUDGEBENCH has 1,270 dialogues.", JUDGE),
    ("THERAPYJUDGEBENCH is a validation set of 161 dialogues.", JUDGE),
    ("Deterministic rounding increases the rate from O(T/n) to O(T^2/n).", ROUNDING),
    ("TReFT achieves 33.5 more EM reduction than data interleaving.", TREFT),
    ("TReFT achieves 3.35% more EM reduction than data interleaving.", TREFT),
    ("LB-MCTS outperforms hybrid baselines on 140 AMLB datasets.", AMLB),
    ("TG-ITE achieves O(N^2) sample complexity in BAI.", RATE),
    ("TG-ITE achieves O(log N) sample complexity in BAI.", RATE),
    # negation
    ("UCCA learns linear projections with access to paired samples during training.", PAIRED),
    ("Ultra-DPO does not outperform DPO on multiple benchmarks.", ULTRA),
    ("DPO alignment does not collapse when the policy drifts away from the offline dataset support.", COLLAPSE),
    ("The steering signal is consensus within a country, not disagreement.", LIKERT),
    ("Muon never converges faster early on.", MUON),
    # direction
    ("The SFT loss decreases after the RL phase.", SFT),
    ("DISCA increases cultural misalignment on MultiTP by 10-24% on binary moral dilemmas.", DISCA),
    ("Muon converges slower early on.", MUON),
    ("Deterministic rounding improves the generalization error of GD on convex losses.", ROUNDING),
    # names and expansions
    ("GRPO consistently outperforms DPO and RLHF on multiple benchmarks.", ULTRA),
    ("TReFT achieves 33.5% more EM reduction on Qwen-2.5 finetuned on the legal domain.", TREFT),
    ("Uniform Canonical Correlation Alignment (UCCA) learns linear projections without paired samples.", PAIRED),
    ("Limited-Precision Fitting (LPF) reveals whether the model has a hidden propensity.", LPF),
    # quantity and certainty
    ("FlashAttention achieves lower memory consumption than kernelized methods across all sequence lengths.", FLASH),
    ("Stochastic rounding always introduces generalization error.", STOCHASTIC),
    # things the sentence does not say
    ("QOP reaches a BLEU score of 34.2 on translation.", QOP_BETTER),
    ("QOP outperforms existing baselines on image classification with vision transformers.", QOP_BETTER),
    ("The safety temperature mechanism was trained with human annotators in hospitals.", TEMPERATURE),
    ("Yes.", TEMPERATURE),
    ("The method is good.", TEMPERATURE),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "cited"), SUPPORTED)
def test_what_the_sentence_says_is_supported(claim: str, cited: str) -> None:
    sentence, abstract = sentence_with(cited)
    verdict = judge(claim, [sentence], abstract, idf=even)
    assert verdict.support is Support.SUPPORTED, verdict.reason


@pytest.mark.parametrize(("claim", "cited"), REJECTED)
def test_what_the_sentence_does_not_say_is_not(claim: str, cited: str) -> None:
    sentence, abstract = sentence_with(cited)
    verdict = judge(claim, [sentence], abstract, idf=even)
    assert verdict.support is not Support.SUPPORTED
    assert verdict.reason
