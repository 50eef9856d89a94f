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
    from rag.cite import render
    from rag.comparing import cell_text
    from rag.comparison_export import comparison_csv, comparison_lines, comparison_markdown
    from rag.config import Config
    from rag.documents import (
        answer_document,
        claim_document,
        comparison_document,
        hits_document,
        paper_document,
        parse_history,
        skipped_document,
        status_document,
        themes_document,
    )
    from rag.errors import OperatorError, PlenaryError, ProviderError, UserError
    from rag.export import to_bibtex, to_csv
    from rag.generate import Wishes
    from rag.load import load_paths
    from rag.plan import language_of
    from rag.stopping import Stopped, stopped_when
    from rag.theme_map import COLOURS, NO_THEME, map_svg
    from rag.theme_question import theme_request
    from rag.theme_text import report_csv, report_markdown
    from rag.themes import group_papers
    from rag.types import (
        Answer,
        AnswerDone,
        Cell,
        CellChecked,
        Citation,
        Claim,
        ClaimChecked,
        Comparison,
        ComparisonFound,
        Coverage,
        Event,
        EvidenceFound,
        Filters,
        Hit,
        LeftOut,
        Member,
        Paper,
        Place,
        Prompt,
        Quote,
        Side,
        SideStatus,
        StepStarted,
        Support,
        Theme,
        ThemeReport,
        ThemesFound,
        ThemeWritten,
        Timings,
        Turn,
        Usage,
        Version,
    )
    from rag.verify import coverage, judge

_HOME = {
    "Coverage": "rag.types",
    "LeftOut": "rag.types",
    "Member": "rag.types",
    "Place": "rag.types",
    "Theme": "rag.types",
    "ThemeReport": "rag.types",
    "ThemesFound": "rag.types",
    "ThemeWritten": "rag.types",
    "themes_document": "rag.documents",
    "report_csv": "rag.theme_text",
    "report_markdown": "rag.theme_text",
    "COLOURS": "rag.theme_map",
    "NO_THEME": "rag.theme_map",
    "map_svg": "rag.theme_map",
    "cell_text": "rag.comparing",
    "language_of": "rag.plan",
    "render": "rag.cite",
    "to_bibtex": "rag.export",
    "to_csv": "rag.export",
    "Event": "rag.types",
    "Timings": "rag.types",
    "Usage": "rag.types",
    "group_papers": "rag.themes",
    "theme_request": "rag.theme_question",
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
    "comparison_csv": "rag.comparison_export",
    "comparison_document": "rag.documents",
    "comparison_lines": "rag.comparison_export",
    "comparison_markdown": "rag.comparison_export",
    "hits_document": "rag.documents",
    "paper_document": "rag.documents",
    "skipped_document": "rag.documents",
    "status_document": "rag.documents",
    "OperatorError": "rag.errors",
    "PlenaryError": "rag.errors",
    "ProviderError": "rag.errors",
    "UserError": "rag.errors",
    "Wishes": "rag.generate",
    "load_paths": "rag.load",
    "Stopped": "rag.stopping",
    "stopped_when": "rag.stopping",
    "Answer": "rag.types",
    "Cell": "rag.types",
    "CellChecked": "rag.types",
    "Comparison": "rag.types",
    "ComparisonFound": "rag.types",
    "Side": "rag.types",
    "SideStatus": "rag.types",
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
    "Version": "rag.types",
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
    "load_paths",
    # ask
    "Filters",
    "Turn",
    "Wishes",
    "stopped_when",
    "PaperRetriever",
    "answering_chain",
    "parse_history",
    # events
    "Event",
    "StepStarted",
    "EvidenceFound",
    "ComparisonFound",
    "CellChecked",
    "ClaimChecked",
    "AnswerDone",
    # values
    "Answer",
    "Cell",
    "Citation",
    "Claim",
    "Comparison",
    "Hit",
    "Paper",
    "Prompt",
    "Quote",
    "Side",
    "SideStatus",
    "Support",
    "Timings",
    "Usage",
    "Version",
    # themes
    "COLOURS",
    "NO_THEME",
    "Coverage",
    "LeftOut",
    "Member",
    "Place",
    "Theme",
    "ThemeReport",
    "ThemesFound",
    "ThemeWritten",
    "group_papers",
    "map_svg",
    "report_csv",
    "report_markdown",
    "theme_request",
    # texts and documents
    "cell_text",
    "language_of",
    "render",
    "to_bibtex",
    "to_csv",
    "themes_document",
    "answer_document",
    "claim_document",
    "comparison_csv",
    "comparison_document",
    "comparison_lines",
    "comparison_markdown",
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
    "Stopped",
]
