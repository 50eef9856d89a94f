"""Takes the reasoning that some models write into their replies out of streamed text."""

from __future__ import annotations

import re

_TAGS = ("<think>", "<thinking>", "</think>", "</thinking>")
_OPEN = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_CLOSE = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_LONGEST_TAG = max(map(len, _TAGS))


class AnswerFilter:
    """Takes the reasoning out of streamed text: `<think>…</think>`, however the stream splits it.

    A block counts only at the start of the reply or of a line, or right after another one, where chat
    templates put it: papers about reasoning models name these tags within a sentence, and a quote must
    keep them. A block that never closes runs to the end of the reply. Space before the answer is dropped.
    Some templates open the block themselves, so that the reply has only the closing tag: `orphaned` then
    becomes True, and `reasoning` at construction says to expect it.
    """

    def __init__(self, *, reasoning: bool = False) -> None:
        self.orphaned = False
        self._held = ""
        self._hidden = reasoning
        self._started = False
        self._line_start = True

    def feed(self, text: str) -> str:
        """Take the next piece of a reply and return what of the answer is certain by now."""
        self._held += text
        shown = []
        while self._held:
            if self._hidden:
                closing_tag = _CLOSE.search(self._held)
                if closing_tag is None:
                    # No more than an unfinished tag can matter.
                    self._held = self._held[-_LONGEST_TAG:]
                    break
                self._held = self._held[closing_tag.end() :]
                self._hidden, self._line_start = False, True
            elif self._line_start:
                start = self._held.lstrip()
                if _CLOSE.match(start):
                    self.orphaned = True
                    break
                if opening_tag := _OPEN.match(start):
                    self._held, self._hidden = start[opening_tag.end() :], True
                elif any(tag.startswith(start.lower()) for tag in _TAGS):
                    break
                else:
                    self._held = self._held if self._started else start
                    self._line_start = False
            else:
                line, newline, self._held = self._held.partition("\n")
                shown.append(line + newline)
                self._started, self._line_start = True, bool(newline)
        return "".join(shown)

    def end(self) -> str:
        """Return what was held back because it might have become a tag."""
        rest = "" if self._hidden or self.orphaned else self._held
        self._held = ""
        return rest if self._started else rest.lstrip()
