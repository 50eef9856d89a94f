"""The questions offered before the first one is typed."""

from __future__ import annotations

from rag import Assistant

_PACKAGED = {
    "000_b60cf5948f5e6197.txt": (
        "How does UpSafe℃ let one trade safety against utility at inference time?",
        "Why do language models mix up moral, grammatical and economic value?",
        "Can canonical correlation analysis do without paired samples?",
    ),
    "004_3bdd56fea200ce42.txt": (
        "What does CERTRA certify?",
        "How can therapy chatbots be evaluated for fidelity and safety?",
    ),
}
"""By the packaged file that answers them."""


def example_questions(assistant: Assistant, at_most: int = 5) -> list[str]:
    """Return questions that the indexed papers answer, as far as can be told without a model.

    Those written for the packaged papers where these are indexed; for other papers one about each of a few.
    """
    files = assistant.status().sources
    written = [question for file, questions in _PACKAGED.items() if file in files for question in questions]
    if written:
        return written[:at_most]
    ids = assistant.snapshot().paper_ids
    step = max(1, len(ids) // at_most)
    names = [assistant.paper(paper_id).name for paper_id in ids[::step][:at_most]]
    return [f"What is new in “{name}”?" for name in names]


__all__ = ["example_questions"]
