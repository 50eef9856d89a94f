"""Plenary: ask a whole conference, get answers you can check.

The public names, in the order data flows: open an index, put papers in, search, ask, read the answer.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

# No library may look anything up on the network on its own; these are read when the libraries are imported.
for _name, _value in {
    "ANONYMIZED_TELEMETRY": "False",
    "GRADIO_ANALYTICS_ENABLED": "False",
    "HF_HUB_OFFLINE": "1",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "ORT_DISABLE_TELEMETRY": "1",
}.items():
    os.environ.setdefault(_name, _value)

# The libraries behind these names take seconds to import: a name brings its module when it is first used.
if TYPE_CHECKING:
    from rag.build import Assistant, Indexed
    from rag.chain import PaperRetriever, answering_chain
    from rag.config import Config
    from rag.documents import (
        answer_document,
        claim_document,
        hits_document,
        paper_document,
        parse_history,
        skipped_document,
        status_document,
    )
    from rag.errors import OperatorError, PlenaryError, ProviderError, UserError
    from rag.types import (
        Answer,
        AnswerDone,
        Citation,
        Claim,
        ClaimChecked,
        EvidenceFound,
        Filters,
        Hit,
        Paper,
        Prompt,
        Quote,
        StepStarted,
        Support,
        Turn,
    )
    from rag.verify import coverage, judge

_HOME = {
    "coverage": "rag.verify",
    "judge": "rag.verify",
    "Assistant": "rag.build",
    "Indexed": "rag.build",
    "PaperRetriever": "rag.chain",
    "answering_chain": "rag.chain",
    "parse_history": "rag.documents",
    "Config": "rag.config",
    "answer_document": "rag.documents",
    "claim_document": "rag.documents",
    "hits_document": "rag.documents",
    "paper_document": "rag.documents",
    "skipped_document": "rag.documents",
    "status_document": "rag.documents",
    "OperatorError": "rag.errors",
    "PlenaryError": "rag.errors",
    "ProviderError": "rag.errors",
    "UserError": "rag.errors",
    "Answer": "rag.types",
    "AnswerDone": "rag.types",
    "Citation": "rag.types",
    "Claim": "rag.types",
    "ClaimChecked": "rag.types",
    "EvidenceFound": "rag.types",
    "Filters": "rag.types",
    "Hit": "rag.types",
    "Paper": "rag.types",
    "Prompt": "rag.types",
    "Quote": "rag.types",
    "StepStarted": "rag.types",
    "Support": "rag.types",
    "Turn": "rag.types",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'rag' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [  # noqa: RUF022 - grouped by stage: it is the table of contents
    # open and index
    "Assistant",
    "Config",
    "Indexed",
    # ask
    "Filters",
    "Turn",
    "PaperRetriever",
    "answering_chain",
    "parse_history",
    # events
    "StepStarted",
    "EvidenceFound",
    "ClaimChecked",
    "AnswerDone",
    # values
    "Answer",
    "Citation",
    "Claim",
    "Hit",
    "Paper",
    "Prompt",
    "Quote",
    "Support",
    # documents
    "answer_document",
    "claim_document",
    "hits_document",
    "paper_document",
    "skipped_document",
    "status_document",
    # the rules that judge
    "coverage",
    "judge",
    # errors
    "PlenaryError",
    "UserError",
    "OperatorError",
    "ProviderError",
]
