"""Splits an abstract into sentences (the units of evidence) and chunks (the units of search)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

import sentencex

from rag.types import Chunk, Paper, Span

CHUNK_TOKENS = 220
"""Budget of a chunk in o200k_base tokens: about 256 word pieces, what the embedding model was made for."""


def split_sentences(text: str) -> tuple[Span, ...]:
    """Return the spans of the sentences of `text`, in order, without surrounding white space.

    Together they cover every character that is not white space.
    """
    spans = []
    for boundary in sentencex.get_sentence_boundaries("en", text):
        piece = text[boundary["start_index"] : boundary["end_index"]]
        start = boundary["start_index"] + len(piece) - len(piece.lstrip())
        end = boundary["start_index"] + len(piece.rstrip())
        if start < end:
            spans.append(Span(start, end))
    return tuple(spans)


def chunk_paper(
    paper: Paper, count_tokens: Callable[[str], int], budget: int = CHUNK_TOKENS
) -> tuple[Chunk, ...]:
    """Split a paper into chunks of whole sentences of at most `budget` tokens each.

    A single sentence beyond the budget makes a chunk of its own. The chunks cover all sentences, do not
    overlap, are as few as can be and then as even as can be: an abstract a little over the budget gives two
    halves, not one chunk and a leftover sentence, whose vector would say little. No sentence, no chunk.
    """
    sentences = split_sentences(paper.abstract)
    sizes = [count_tokens(paper.abstract[span.start : span.end]) for span in sentences]
    fewest = len(_fill(sizes, budget))
    # The smallest limit that needs no more chunks is the most even division.
    limit = bisect_left(range(budget), True, key=lambda limit: len(_fill(sizes, limit)) <= fewest)
    return tuple(_chunk(paper, sentences[first:last]) for first, last in _fill(sizes, limit))


def _fill(sizes: Sequence[int], limit: int) -> list[tuple[int, int]]:
    """Return ranges of items filled in order up to `limit`; an item beyond it stands alone."""
    ranges: list[tuple[int, int]] = []
    filled = 0
    for place, size in enumerate(sizes):
        if ranges and filled + size <= limit:
            ranges[-1] = (ranges[-1][0], place + 1)
            filled += size
        else:
            ranges.append((place, place + 1))
            filled = size
    return ranges


def _chunk(paper: Paper, sentences: tuple[Span, ...]) -> Chunk:
    start, end = sentences[0].start, sentences[-1].end
    return Chunk(f"{paper.id}:{start}-{end}", paper.id, start, end, paper.abstract[start:end], sentences)
