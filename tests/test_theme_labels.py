"""Labels are what people say: terms that set a group apart, acronyms as they are written, no LaTeX."""

from __future__ import annotations

import numpy as np

from rag.keywords import tokenize
from rag.theme_labels import (
    SHARE,
    candidate_terms,
    group_terms,
    label_holds,
    label_of,
    naming_words,
    read_runs,
    term_sets,
    written_forms,
)
from rag.types import Paper


def papers(*abstracts: str) -> list[Paper]:
    return [Paper(str(n), text, text.split(".")[0]) for n, text in enumerate(abstracts)]


FEDERATED = [
    "Federated learning trains LLMs on clients. We study federated learning with $\\epsilon$-private clients.",
    "We propose a federated learning method. Communication between clients is costly in federated learning.",
    "Personalized federated learning adapts to each of the clients and lowers communication.",
]
DIFFUSION = [
    "Diffusion models generate images. We accelerate the sampling of diffusion models with \\textbf{fewer} steps.",
    "Text-to-image diffusion models follow prompts. We edit images by diffusion models.",
    "We distil a diffusion model for the sampling of images.",
]


def labels(*groups: list[str]) -> list[str]:
    every = papers(*(text for texts in groups for text in texts))
    runs = read_runs(every)
    places = np.repeat(np.arange(len(groups)), [len(texts) for texts in groups])
    found = group_terms(term_sets(runs), places, len(groups))
    forms = written_forms((term for terms in found for term in terms), runs)
    return [label_of([forms[term] for term in terms]) for terms in found]


def test_terms_that_set_groups_apart() -> None:
    first, second = labels(FEDERATED, DIFFUSION)
    assert first.startswith("Federated learning") and second.startswith("Diffusion models")


def test_each_term_stands_in_its_share_of_the_members() -> None:
    runs = read_runs(papers(*FEDERATED, *DIFFUSION))
    sets = term_sets(runs)
    for place, terms in enumerate(group_terms(sets, np.array([0, 0, 0, 1, 1, 1]), 2)):
        members = sets[:3] if place == 0 else sets[3:]
        for term in terms:
            assert sum(term in own for own in members) >= max(2, SHARE * len(members))


def test_latex_and_addresses_make_no_terms() -> None:
    text = "We bound $\\mathcal{O}(n \\log n)$ by \\emph{weight decay} \\cite{x}, see https://example.org/weight_decay."
    words = " ".join(term for term, _ in candidate_terms(read_runs(papers(text))[0]))
    assert "weight decay" in words
    assert not any(debris in words for debris in ("mathcal", "log", "emph", "cite", "http", "\\", "$", "example"))


def test_acronyms_keep_their_case_and_ordinary_words_lose_capitals() -> None:
    every = papers("LLMs reason. We test LLMs and Value Alignment.", "We align LLMs: value alignment.", "LLMs show value alignment.")
    runs = read_runs(every)
    assert written_forms(["llm", "value alignment"], runs) == {"llm": "LLMs", "value alignment": "value alignment"}


def test_a_group_without_common_terms_has_none() -> None:
    runs = read_runs(papers("Apples fall.", "Rivers flow."))
    assert group_terms(term_sets(runs), np.array([0, 0]), 1) == [[]]
    assert group_terms([], np.zeros(0, np.int64), 0) == []


def test_words_that_only_modify_do_not_name() -> None:
    runs = read_runs(papers("We study safety. LLM safety is hard.", "We improve safety by inference-time control.", "Safety matters."))
    naming = naming_words(runs, ["Safety at inference-time scale"])
    assert "safety" in naming and "inference time" not in naming


def test_a_models_heading_must_stand_in_the_members() -> None:
    members = [frozenset(row) for row in tokenize(FEDERATED)]

    def words(text: str) -> list[str]:
        return tokenize([text])[0]

    assert label_holds("Federated Learning and Communication", members, words)
    assert not label_holds("Blockchain governance", members, words)
    assert not label_holds("", members, words)
