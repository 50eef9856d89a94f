"""A short label for a paper: its method's name as people say it, else its subject in a few words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.label_names import is_name, method_name
from rag.label_subjects import subject
from rag.label_text import LONGEST, cut, unwrapped

__all__ = ["LONGEST", "label_for"]

# Characters that are looked at: twice the longest real abstract, so that a hostile one costs little.
_READ = 8000


def label_for(abstract: str, title: str | None = None) -> str:
    """Return a paper's label: never empty, at most `LONGEST` characters, without markup.

    With a title: the short name before its colon, else the name the abstract gives the method, else the
    title cut at a word. Without: the name of what the abstract brings, else its subject.
    """
    abstract = abstract[:_READ]
    if title and title.strip():
        return _title_label(unwrapped(title), abstract)
    text = unwrapped(abstract)
    name = method_name(abstract)
    label = name or subject(abstract) or cut(" ".join(text.split()))
    return label.strip() or "Untitled"


def _title_label(title: str, abstract: str) -> str:
    title = " ".join(title.split())
    head, colon, _ = title.partition(":")
    words = head.split()
    if colon and 1 <= len(words) <= 4 and len(head) <= 30 and (len(words) == 1 or _has_name(words)):
        return head.strip()
    name = method_name(abstract)
    if name and (is_name(name) or re.search(rf"(?<!\w){re.escape(name)}(?!\w)", title)):
        return name
    return cut(title).strip() or "Untitled"


def _has_name(words: Sequence[str]) -> bool:
    return any(is_name(word.strip("(),")) for word in words) or len(words) <= 3
