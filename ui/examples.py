"""The questions offered before the first one is typed: some about one paper, one that compares, one about all."""

from __future__ import annotations

from rag import Assistant

ALL = "What are the main themes of these papers?"

_PACKAGED = {
    "000_b60cf5948f5e6197.txt": (
        "How does UpSafe℃ let one trade safety against utility at inference time?",
        "Can canonical correlation analysis do without paired samples?",
        "How do QOP and LB-MCTS differ?",
    ),
    "004_3bdd56fea200ce42.txt": (
        "What does CERTRA certify?",
        "How do LoRA-GT and ThinkSafe differ?",
    ),
}
"""By the packaged file that answers them."""

_BOTH = (
    "How does UpSafe℃ let one trade safety against utility at inference time?",
    "What does CERTRA certify?",
    "Can canonical correlation analysis do without paired samples?",
    "How do UpSafe℃ and ThinkSafe differ?",
)


def example_questions(assistant: Assistant) -> list[str]:
    """Return at most five questions that the indexed papers answer, as far as can be told without a model.

    Those written for the packaged papers where these are indexed; for other papers about a few of them by name.
    """
    files = assistant.status().sources
    here = [file for file in _PACKAGED if file in files]
    if len(here) == len(_PACKAGED):
        return [*_BOTH, ALL]
    if here:
        return [*_PACKAGED[here[0]], ALL]
    snapshot = assistant.snapshot()
    ids = snapshot.paper_ids
    step = max(1, len(ids) // 3)
    names = [paper.name for paper in snapshot.papers_of(ids[::step][:3])]
    single = [f"What is new in “{name}”?" for name in names]
    compared = [f"Compare “{names[0]}” with “{names[1]}”"] if len(names) > 1 else []
    return [*single, *compared, ALL] if names else []


__all__ = ["ALL", "example_questions"]
