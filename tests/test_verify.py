"""The rules that judge claims, on claims as small models write them about the seed papers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from rag.rules_facts import check_names
from rag.types import Draft, Evidence, Paper, Span, Support
from rag.verify import check_draft, coverage, find_quote, judge, question_echo
from rag.words import parse

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
FIVE_SETS = "In-depth experiments on five large-scale datasets"
TPC = "TPC achieves 81.42/64.05"
CENTROID = "jointly governed by class-centroid-level"
ULTRA_FAIL = "Effective alignment requires avoiding both failure modes"

SUPPORTED = [
    (
        (
            "FlashAttention achieves lower memory consumption than kernelized methods across most "
            "sequence lengths."
        ),
        FLASH,
    ),
    ("FlashAttention is faster than state-of-the-art kernelized methods in wall-clock time.", FLASH),
    ("Kernelized methods use more memory than FlashAttention across most sequence lengths.", FLASH),
    ("LPF trains 3-15% of the model's parameters.", LPF),
    (
        (
            "LPF reveals whether a model has a hidden propensity while training only 3 to 15 percent "
            "of its parameters."
        ),
        LPF,
    ),
    (
        (
            "QOP consistently outperforms existing baselines in average accuracy and perplexity "
            "under weight quantization."
        ),
        QOP_BETTER,
    ),
    ("Ultra-DPO outperforms DPO, RLHF and online preference learning methods on multiple benchmarks.", ULTRA),
    (
        "DPO alignment collapses when the policy drifts away from the support of the offline dataset.",
        COLLAPSE,
    ),
    (
        (
            "RLHF alignment is biased because of the extrapolation error of the reward proxy on "
            "out-of-distribution rollouts."
        ),
        COLLAPSE,
    ),
    ("DISCA reduces cultural misalignment on MultiTP by 10-24% on binary moral dilemmas.", DISCA),
    (
        (
            "DISCA reduces cultural misalignment by 10–24 % on binary moral dilemmas and 2–7 % on "
            "open-ended scenarios."
        ),
        DISCA,
    ),
    ("The average CTRS rises from 0.10 to 0.60 for models trained in THERAPYGYM.", GYM),
    ("THERAPYJUDGEBENCH is a validation set of 116 dialogues with 1,270 expert ratings.", JUDGE),
    ("Deterministic rounding increases the rate from O(T/n) to O(T/√n).", ROUNDING),
    ("Stochastic rounding can introduce generalization error that increases with the dimension.", STOCHASTIC),
    ("Smaller singular values reach their target values earlier than larger ones.", SINGULAR),
    (
        (
            "TReFT achieves 33.5% more EM reduction than data interleaving on Llama-3.1-8B finetuned "
            "on the legal domain."
        ),
        TREFT,
    ),
    ("LB-MCTS consistently outperforms BO-based, LLM-based and hybrid baselines on 104 AMLB datasets.", AMLB),
    (
        (
            "The value heads mediate model behaviour across moral dimensions such as harmlessness, "
            "honesty and helpfulness."
        ),
        DIMENSIONS,
    ),
    ("Muon is prone to overshooting and oscillation near the target solution.", MUON),
    ("The SFT loss increases after the RL phase.", SFT),
    ("SFT flattens the loss landscape while RL re-sharpens it.", FLATTEN),
    (
        (
            "UCCA is the first approach to learn maximally correlated projections in a strictly "
            "unpaired setting."
        ),
        UCCA,
    ),
    ("UCCA learns linear projections without access to paired samples during training.", PAIRED),
    (
        "Unpaired CCA (UCCA) learns linear projections that maximize the correlation of the true pairing.",
        PAIRED,
    ),
    ("TG-ITE achieves O(N) sample complexity in BAI.", RATE),
    ("The steering signal is disagreement within a country, not consensus.", LIKERT),
    ("Before grokking onset the readout is train-biased.", READOUT),
    (
        (
            "The safety temperature mechanism allows dynamic adjustment of the trade-off between "
            "safety and utility."
        ),
        TEMPERATURE,
    ),
    ("Analyzing firing rates alone obscures the latent structure underlying bursts.", BURSTS),
    ("Effective alignment requires avoiding both failure modes.", ULTRA_FAIL),
    ("S-2LS and SD-2LS were tested on five large-scale datasets.", FIVE_SETS),
    ("THERAPYJUDGEBENCH contains 116 dialogues and 1,270 expert ratings.", JUDGE),
    ("TPC reaches a POPE F1 of 85.16 on the LLaVA-1.5-7B stack.", TPC),
    ("TPC achieves 59.57 OKVQA accuracy under an LLaVA-1.5-7B stack.", TPC),
    (
        "DISCA reduces cultural misalignment on MultiTP for binary moral dilemmas by "
        "10–24% across 20 countries "
        "and 7 open-weight backbones (2B–70B) from five model families.",
        DISCA,
    ),
    ("Value heads mediate harmlessness, honesty, and helpfulness.", DIMENSIONS),
    ("DPO collapses when the policy drifts away from the offline dataset support.", COLLAPSE),
    ("The final layer governs a GNN's confidence at the class-centroid level.", CENTROID),
]

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
    (
        (
            "DISCA reduces cultural misalignment on MultiTP by 2–7% on binary moral dilemmas and by "
            "30% on others."
        ),
        DISCA,
    ),
    ("The average CTRS rises from 0.60 to 0.10.", GYM),
    ("THERAPYJUDGEBENCH has 1,270 dialogues.", JUDGE),
    ("THERAPYJUDGEBENCH is a validation set of 161 dialogues.", JUDGE),
    ("Deterministic rounding increases the rate from O(T/n) to O(T^2/n).", ROUNDING),
    ("TReFT achieves 33.5 more EM reduction than data interleaving.", TREFT),
    ("TReFT achieves 3.35% more EM reduction than data interleaving.", TREFT),
    ("LB-MCTS outperforms hybrid baselines on 140 AMLB datasets.", AMLB),
    ("TG-ITE achieves O(N^2) sample complexity in BAI.", RATE),
    ("TG-ITE achieves O(log N) sample complexity in BAI.", RATE),
    ("TPC reaches a POPE F1 of 59.57 on the LLaVA-1.5-7B stack.", TPC),
    ("DISCA reduces cultural misalignment on MultiTP by 2–7% on binary moral dilemmas.", DISCA),
    ("DISCA reduces cultural misalignment on MultiTP by 10-24% across 7 countries and 20 backbones.", DISCA),
    # negation
    ("UCCA learns linear projections with access to paired samples during training.", PAIRED),
    ("Ultra-DPO does not outperform DPO on multiple benchmarks.", ULTRA),
    (
        "DPO alignment does not collapse when the policy drifts away from the offline dataset support.",
        COLLAPSE,
    ),
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
    (
        "Uniform Canonical Correlation Alignment (UCCA) learns linear projections without paired samples.",
        PAIRED,
    ),
    ("Limited-Precision Fitting (LPF) reveals whether the model has a hidden propensity.", LPF),
    # quantity and certainty
    (
        (
            "FlashAttention achieves lower memory consumption than kernelized methods across all "
            "sequence lengths."
        ),
        FLASH,
    ),
    ("Stochastic rounding always introduces generalization error.", STOCHASTIC),
    # things the sentence does not say
    ("QOP reaches a BLEU score of 34.2 on translation.", QOP_BETTER),
    ("QOP outperforms existing baselines on image classification with vision transformers.", QOP_BETTER),
    ("The safety temperature mechanism was trained with human annotators in hospitals.", TEMPERATURE),
    ("Yes.", TEMPERATURE),
    ("The method is good.", TEMPERATURE),
]


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


def test_the_sentence_itself_is_always_supported() -> None:
    for abstract in ABSTRACTS:
        for sentence in abstract.split(". ")[:-1]:
            assert judge(sentence + ".", [sentence + "."], abstract, idf=even).support is Support.SUPPORTED
            shown = sentence.replace("---", "—").replace("\\%", "%")
            assert judge(shown, [sentence], abstract, idf=even).support is Support.SUPPORTED


def test_nothing_is_checked_without_a_cited_sentence() -> None:
    assert judge("QOP outperforms all baselines.", [], "", idf=even).support is Support.UNCHECKED
    assert (
        check_draft(Draft("QOP outperforms all baselines.", ()), {}, idf=even)[0].support is Support.UNCHECKED
    )


def test_a_number_elsewhere_in_the_abstract_is_not_in_the_cited_sentence() -> None:
    sentence, abstract = sentence_with("Fidelity is measured using")
    verdict = judge("Fidelity is measured using CTRS on 116 dialogues.", [sentence], abstract, idf=even)
    assert verdict.support is Support.PARTIAL
    assert verdict.reason == "the number 116 stands elsewhere in the abstract, not in the cited sentence"


def test_another_number_for_the_same_thing_contradicts() -> None:
    sentence = "Our method reduces the error by 12% on three data sets."
    verdict = judge("The method reduces the error by 45% on three data sets.", [sentence], sentence, idf=even)
    assert verdict.support is Support.CONTRADICTED
    assert verdict.reason == "the cited sentence says 12%, not 45%"


@pytest.mark.parametrize(
    ("claim", "supported"),
    [
        ("The index holds 1,649 abstracts of 8 billion words.", True),
        ("The index holds 1649 abstracts.", True),
        ("The index holds about 1,650 abstracts.", True),
        ("The index holds more than 1,649 abstracts.", False),
        ("The index holds 16,490 abstracts.", False),
        ("The index is 3 times faster.", True),
        ("The index is three times faster.", True),
        ("The index is 3x faster.", True),
        ("The index is 3% faster.", False),
        ("Queries take at most 10 percent of the memory.", True),
        ("Queries take 10% of the memory.", False),
        ("Queries take at least 10% of the memory.", False),
    ],
)
def test_numbers_have_values_units_and_bounds(claim: str, supported: bool) -> None:
    sentence = (
        "The index holds $1{,}649$ abstracts of 8B words, is $3\\times$ faster, and queries take at most "
        "10\\% of the memory."
    )
    verdict = judge(claim, [sentence], sentence, idf=even)
    assert (verdict.support is Support.SUPPORTED) is supported, verdict.reason


REPEATED = (
    "Our approach is limited to dense layers, avoids costly retraining, and maps the logits of SlimNet into the "
    "space of WideNet with a gain of 3 points, so most layers can be pruned without loss in practice."
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("is limited", "is not limited"),
        ("avoids costly", "never avoids costly"),
        ("a gain", "a loss"),
        ("without loss", "with loss"),
        ("can be", "must be"),
        ("dense", "sparse"),
        ("most layers", "all layers"),
        ("3 points", "5 points"),
        ("3 points", "3%"),
    ],
)
def test_a_repeated_sentence_may_not_be_changed(old: str, new: str) -> None:
    edited = REPEATED.replace(old, new)
    assert edited != REPEATED
    assert judge(edited, [REPEATED], REPEATED, idf=even).support is not Support.SUPPORTED


def test_names_may_not_change_places_in_a_repeated_sentence() -> None:
    edited = REPEATED.replace("SlimNet", "X").replace("WideNet", "SlimNet").replace("X", "WideNet")
    assert judge(edited, [REPEATED], REPEATED, idf=even).support is not Support.SUPPORTED
    shortened = "It maps the logits of WideNet into the space of SlimNet."
    assert judge(shortened, [REPEATED], REPEATED, idf=even).support is not Support.SUPPORTED


@pytest.mark.parametrize(
    "claim",
    [
        "The approach avoids costly retraining and is limited to dense layers.",
        "In practice, most layers can be pruned without loss.",
        "It maps the logits of SlimNet into the space of WideNet.",
        "The approach maps SlimNet's logits into WideNet's space with a gain of 3 points.",
    ],
)
def test_a_sentence_may_be_shortened_and_rearranged(claim: str) -> None:
    verdict = judge(claim, [REPEATED], REPEATED, idf=even)
    assert verdict.support is Support.SUPPORTED, verdict.reason


@pytest.mark.parametrize(
    ("name", "sentence", "cited"),
    [
        ("GPT-4", "We compare with GPT-3 on 4 tasks.", False),
        ("DPO", "Ultra-DPO is trained on four tasks.", False),
        ("LLM", "We compare with non-LLM baselines on tasks.", True),
        ("LLMs", "We compare an LLM-based agent on tasks.", True),
        ("Llama-3.1", "We finetune Llama-3.1-8B on tasks.", True),
        ("Fine-tuning", "The fine-tuning of models on tasks.", True),
        ("RL", "We train with reinforcement learning on tasks.", True),
        ("LORA", "We train with LoRA on tasks.", False),
    ],
)
def test_names_are_known_in_their_forms(name: str, sentence: str, cited: bool) -> None:
    assert (not list(check_names(parse(f"It is {name}."), [parse(sentence)], parse(sentence), ()))) is cited


def test_similarity_helps_a_paraphrase_and_overrides_no_rule() -> None:
    sentence = "The router acts as a soft guardrail that activates original MLPs and added safety experts."
    claim = "The router picks original MLPs and added safety experts as a soft barrier."
    assert judge(claim, [sentence], sentence, idf=even).support is Support.PARTIAL
    assert judge(claim, [sentence], sentence, idf=even, similarity=0.9).support is Support.SUPPORTED
    denied = claim.replace("picks", "never picks")
    assert judge(denied, [sentence], sentence, idf=even, similarity=1.0).support is not Support.SUPPORTED
    assert judge(claim, [sentence], sentence, idf=even, probability=0.95).support is Support.SUPPORTED
    sure = "The router acts as a soft guardrail."
    assert judge(sure, [sentence], sentence, idf=even, probability=0.1).support is Support.PARTIAL


def test_coverage_weighs_rare_words() -> None:
    weights = {"quantization": 9.0, "method": 1.0, "prunes": 1.0}
    share = coverage(
        "The method prunes without quantization.", ["It prunes."], idf=lambda word: weights.get(word, 0.0)
    )
    assert share == pytest.approx(0.1)
    assert coverage("", ["It prunes."], idf=even) == 0.0


def paper(identity: str, abstract: str, label: str) -> Paper:
    return Paper(identity, abstract, label)


GRID = paper(
    "a",
    "Weather models are slow. We propose GridFormer, which predicts the change of each cell from its "
    "neighbours. It is trained on 40 years of reanalysis. GridFormer runs on one GPU.",
    "GridFormer",
)
SPARSE = paper(
    "b",
    "SparseCast drops most observations. SparseCast lowers the error by 12% against the strongest baseline. "
    "Training takes twice as long.",
    "SparseCast",
)
PAPERS = {"a": GRID, "b": SPARSE}


def evidence(source: Paper, words: str) -> Evidence:
    start = source.abstract.rfind(". ", 0, source.abstract.index(words)) + 2
    start = 0 if start == 1 else start
    end = source.abstract.find(".", start) + 1
    return Evidence("k" + words[:4], source.id, start, end, source.abstract[start:end])


def draft(text: str, *cited: Evidence) -> tuple[Support, tuple[Evidence, ...]]:
    verdict, carrying = check_draft(Draft(text, cited), PAPERS, idf=even)
    return verdict.support, carrying


CELL, YEARS, GPU = (evidence(GRID, words) for words in ("predicts the change", "40 years", "one GPU"))
ERROR, TWICE = evidence(SPARSE, "lowers the error"), evidence(SPARSE, "twice as long")


def test_a_citation_that_adds_nothing_is_left_out() -> None:
    assert draft("GridFormer predicts the change of each cell from its neighbours.", CELL, GPU) == (
        Support.SUPPORTED,
        (CELL,),
    )


def test_two_sentences_of_one_paper_stay_if_both_are_needed() -> None:
    text = "GridFormer, trained on 40 years of reanalysis, runs on one GPU."
    assert draft(text, YEARS, GPU, CELL) == (Support.SUPPORTED, (YEARS, GPU))


def test_a_claim_true_of_another_paper_is_not_supported() -> None:
    support, carrying = draft("SparseCast lowers the error by 12% against the strongest baseline.", CELL)
    assert support is not Support.SUPPORTED and carrying == ()


def test_the_papers_are_judged_each_alone() -> None:
    text = "SparseCast lowers the error by 12% against the strongest baseline."
    assert draft(text, CELL, ERROR) == (Support.SUPPORTED, (ERROR,))
    mixed = "GridFormer lowers the error by 12% against the strongest baseline."
    support, carrying = draft(mixed, CELL, ERROR)
    assert support is not Support.SUPPORTED and carrying == ()


def test_a_claim_on_two_papers_needs_each_for_its_part() -> None:
    text = "GridFormer predicts the change of each cell, while SparseCast lowers the error by 12%."
    assert draft(text, CELL, ERROR) == (Support.SUPPORTED, (CELL, ERROR))
    support, _ = draft(
        "GridFormer predicts the change of each cell and lowers the error by 12%.", CELL, ERROR
    )
    assert support is Support.PARTIAL
    support, _ = draft(text.replace("12%", "15%"), CELL, ERROR)
    assert support is not Support.SUPPORTED


def test_a_verdict_that_is_not_support_brings_no_evidence() -> None:
    assert draft("GridFormer runs on eight GPUs.", GPU)[1] == ()


def test_similarity_and_checker_are_asked_with_the_cited_sentences_only() -> None:
    asked: list[tuple[str, ...]] = []

    class Checker:
        def probability(self, claim: str, evidence: Sequence[str]) -> float:
            asked.append(tuple(evidence))
            return 0.5

    check_draft(
        Draft("GridFormer needs one graphics card.", (GPU,)),
        PAPERS,
        idf=even,
        similarity=lambda claim, sentence: float(sentence == GPU.text),
        checker=Checker(),
    )
    assert asked == [(GPU.text,)]


@pytest.mark.parametrize(
    ("claim", "question", "echo"),
    [
        (
            "UpSafe turns safety-critical layers into other layers.",
            "What does UpSafe turn the safety-critical layers into?",
            True,
        ),
        (
            "UpSafe upcycles them into a sparse Mixture-of-Experts.",
            "What does UpSafe turn the safety-critical layers into?",
            False,
        ),
        ("The paper evaluates on benchmarks.", "Which benchmarks does the paper evaluate on?", True),
        ("QOP outperforms existing baselines.", "Does QOP outperform existing baselines?", False),
        ("It was tested on 104 data sets.", "On how many data sets was it tested?", False),
    ],
)
def test_repeating_the_question_is_no_answer(claim: str, question: str, echo: bool) -> None:
    cited = [
        (
            "UpSafe identifies safety-critical layers and upcycles them into a sparse "
            "Mixture-of-Experts (MoE) structure."
        ),
        "Experiments on 104 data sets show that QOP outperforms existing baselines.",
    ]
    assert question_echo(claim, question, cited) is echo


# --- the quote gate -----------------------------------------------------------------------------------

TEXT = (
    "We train 3--15\\% of parameters. The error of Ultra-DPO is at most 1.5 GB on 112 tasks, not 95.3. "
    "LPF does not succeed on the non-convex losses of \\emph{all four models}. "
    "我们不能保证模型在所有任务上都有效。"
)  # fmt: skip


@pytest.mark.parametrize(
    "quote",
    [
        "We train 3-15% of parameters.",
        "we train 3–15 % of parameters",
        "The error of Ultra-DPO is at most 1.5 GB",
        "“The error of Ultra-DPO is at most 1.5 GB”",
        "losses of all four models",
        "我们不能保证模型在所有任务上都有效",
    ],
)
def test_true_quotes_are_found(quote: str) -> None:
    found = find_quote(quote, TEXT)
    assert found is not None
    assert 0 <= found.start < found.end <= len(TEXT)


@pytest.mark.parametrize(
    "quote",
    [
        "95.3",
        "12",
        "模型",
        "GB on",
        "15% of parameters",
        "DPO is at most 1.5 GB",  # of Ultra-DPO
        "The error of Ultra-DPO is at most 1",
        "The error of Ultra-DPO is at most 1.5",  # without its unit
        "5 GB on 112 tasks, not",
        "1.5 GB on 112 tasks",  # without "at most"
        "succeed on the non-convex losses",  # without "not"
        "convex losses of all four",
        "We train ... of parameters",
        "WE TRAIN 3-15% OF PARAMETERS",
        "the error of Ultra-Dpo is at most 1.5 GB",
        "LPF does succeed on the non-convex losses",
        "LPF does not succeed on the convex losses",
        "能保证模型在所有任务上都有效",  # without 不
        "",
        "...",
    ],
)
def test_changed_or_torn_quotes_are_not(quote: str) -> None:
    assert find_quote(quote, TEXT) is None


def test_the_span_is_of_the_original() -> None:
    text = "İt ﬁts UpSafe℃ and \\textbf{ﬁne-\ntuning helps} the ﬂow of words here."
    found = find_quote("fits UpSafe°C and fine-tuning helps the flow", text)
    assert found == Span(text.index("ﬁts"), text.index(" of words"))
    found = find_quote("fine-tuning helps the flow of words", text)
    assert found is not None
    assert text[found.start : found.end].startswith("\\textbf{ﬁne")


def test_a_quote_is_searched_in_its_sentence_only() -> None:
    text = "It works very well here. It works very well here."
    found = find_quote("It works very well here", text, 25)
    assert found is not None and found.start == 25
    assert find_quote("It works very well here.", text, 3, 20) is None
    assert find_quote("No.", "No. Yes.", 0, 3) == Span(0, 3)
