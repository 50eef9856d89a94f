"""Looks names of papers up however they are written: case, hyphens, spaces, signs, slips of the keyboard."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher, get_close_matches

from rag.plan import is_strong


class NameIndex:
    """The labels of all papers for looking up names however they are written."""

    def __init__(self, folded: Sequence[str], paper_ids: Sequence[str], labels: Callable[[str], str]) -> None:
        """Index `folded` labels (words in lower case between spaces), one for each of `paper_ids`."""
        self._exact: dict[str, list[str]] = defaultdict(list)
        self._first: dict[str, list[str]] = defaultdict(list)
        self._words: set[str] = set()
        self.label = labels
        for name, paper_id in zip(folded, paper_ids, strict=True):
            words = name.split()
            self._exact["".join(words)].append(paper_id)
            self._words.update(word for word in words if len(word) > 4)
            for end in range(1, len(words)):
                self._first["".join(words[:end])].append(paper_id)

    def exact(self, text: str) -> list[str]:
        """Return the papers whose label is a text, in any case, with or without hyphens and spaces."""
        return self._exact.get(joined(text), [])

    def beginning(self, text: str) -> list[str]:
        """Return the papers whose label begins with the words of a text."""
        return self._first.get(joined(text), [])

    def almost(self, text: str) -> list[str]:
        """Return the papers whose label is a text and at most two letters more: "UpSafe" for "UpSafe℃"."""
        sought = joined(text)
        ends = [name for name in self._exact if name.startswith(sought) and len(name) <= len(sought) + 2]
        return self._exact[ends[0]] if sought in self._first and ends else []

    def misspelt(self, text: str) -> list[str]:
        """Return the papers whose label is nearly a text of at least five letters."""
        sought = joined(text)
        if len(sought) < 5:
            return []
        # A slip seldom spoils the first letter; beginnings of labels are too many and too short to guess at.
        names = [name for name in self._exact if name[0] == sought[0]]
        names += [name for name in self._first if name[0] == sought[0] and len(name) > 5]
        names = [name for name in names if _digits(name) == _digits(sought)]  # "GPT4" is no slip for "GPT3"
        near = get_close_matches(sought, names, n=3, cutoff=0.82)
        best = near[:1]
        if len(near) > 1 and _alike(sought, near[1]) > 0.98 * _alike(sought, near[0]):
            best = near[:2]
        return list(
            dict.fromkeys(paper for name in best for paper in [*self._exact.get(name, []), *self._first.get(name, [])])
        )

    def corrected(self, text: str, is_known: Callable[[str], bool]) -> str:
        """Return a text with words that no paper has replaced by the nearest word of a label."""

        def word(match: re.Match[str]) -> str:
            if len(match[0]) < 5 or is_known(match[0]):
                return match[0]
            near = get_close_matches(match[0].lower(), self._words, n=1, cutoff=0.86)
            return near[0] if near else match[0]

        return re.sub(r"[^\W\d_]+", word, text)


def joined(text: str) -> str:
    """Return the letters and digits of a name in lower case: "UpSafe℃" and "up-safe c" are "upsafec"."""
    return "".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold()))


def _digits(text: str) -> str:
    return "".join(re.findall(r"\d", text))


def _alike(first: str, second: str) -> float:
    return SequenceMatcher(None, first, second).ratio()


def mentions(name: str, text: str) -> int:
    """Return how often a text has a name as words of its own: "DPO" is not in "Ultra-DPO" or "cDPO"."""
    parts = [re.escape(part) for part in re.findall(r"[^\W_]+|\+\+", name)]
    if not parts:
        return 0
    flags = 0 if is_strong(name) and len(name) < 6 else re.IGNORECASE
    # Not `\b`: between Chinese characters and a Latin name there is none.
    pattern = r"(?<![^\W\u3040-\u9fff])(?<![A-Za-z]-)" + r"[\s\-–_]*".join(parts) + r"(?:s|es)?(?![^\W\u3040-\u9fff])"
    return len(re.findall(pattern, text, flags))
