"""Tells sentences of abstracts that say only where code, data or a page is to be found."""

from __future__ import annotations

import re

from rag.lexicon import FUNCTION_WORDS

_ADDRESS = re.compile(
    r"\[[^\]]*\]\(\S+?\)|\\(?:url|href)\{[^}]*\}(?:\{[^}]*\})?|(?:https?://|www\.)\S+|"
    r"\b(?:github|gitlab|huggingface|zenodo)\.\S+",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_AVAILABLE = re.compile(r"\b(?:available|accessible|released?|open-?sourced?|provided)\b", re.IGNORECASE)
_WHERE = re.compile(
    rf"{_AVAILABLE.pattern}|\b(?:found|hosted|see|visit|website|page|demos?|codes?|github)\b", re.IGNORECASE
)
_OF_CODE = frozenset(
    {
        *("code", "codes", "codebase", "source", "model", "models", "weights", "checkpoints", "dataset", "datasets"),
        *("data", "benchmark", "benchmarks", "demo", "demos", "project", "page", "website", "web", "site"),
        *("repository", "repo", "github", "huggingface", "hugging", "face", "hf", "link", "url", "implementation"),
        *("implementations", "package", "library", "toolkit", "scripts", "video", "videos", "supplementary"),
        *("materials", "material", "publicly", "public", "freely", "openly", "available", "accessible", "release"),
        *("released", "open", "sourced", "open-source", "open-sourced", "opensource", "anonymous", "anonymously"),
        *("anonymized", "online", "found", "provided", "provide", "hosted", "made", "make", "via", "following"),
        *("visit", "view", "see", "check", "will", "acceptance", "publication", "upon", "soon", "license", "apache"),
        *("mit", "trained", "pretrained", "training", "inference", "reproduce", "reproducibility", "reproduction"),
        *("facilitate", "foster", "support", "openness", "experiments", "experimental", "results", "evaluation"),
        *("full", "additional", "further", "more", "details", "information", "files", "pytorch", "tensorflow", "jax"),
        *("python", "future", "research", "community", "method", "paper", "work", "samples", "sample", "examples"),
        *("visualizations", "component", "listing", "adoption", "version", "corresponding", "related", "associated"),
        *("relevant", "official", "archive", "zenodo"),
    }
)
_MOST_OTHERS = 4
"""Further words that such a sentence may have beside an address, such as the name of a method."""


def only_points_to_code(sentence: str) -> bool:
    """Tell whether a sentence says nothing but where code, data or a page is to be found.

    "We release a benchmark of 1,200 images at https://..." says more and is kept.
    """
    rest, addresses = _ADDRESS.subn(" ", sentence)
    words = [word for word in _WORD.findall(rest.lower()) if word not in FUNCTION_WORDS]
    if addresses and not _WHERE.search(sentence) and len(words) > _MOST_OTHERS:
        return False
    if not addresses and not _AVAILABLE.search(sentence):
        return False
    others = [word for word in words if word not in _OF_CODE]
    if any(word.isdigit() and word not in ("0", "2") for word in others):
        return False  # "Apache 2.0"; other numbers tell how much there is
    return len(others) <= (_MOST_OTHERS if addresses else 1) and len(others) < max(1, len(words)) * 0.6
