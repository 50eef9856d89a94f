"""Splits an abstract into sentences (the units of evidence) and chunks (the units of search)."""

from __future__ import annotations

from collections.abc import Callable

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
    overlap, and are balanced: an abstract a little over the budget gives two halves, not one chunk and a
    leftover sentence, whose vector would say little.
    """
    sentences = split_sentences(paper.abstract)
    sizes = [count_tokens(paper.abstract[span.start : span.end]) for span in sentences]
    pieces = max(1, -(-sum(sizes) // budget))
    target = min(budget, sum(sizes) / pieces * 1.1)
    groups: list[list[Span]] = []
    filled = 0
    for span, size in zip(sentences, sizes, strict=True):
        if not groups or filled + size > target:
            groups.append([])
            filled = 0
        groups[-1].append(span)
        filled += size
    return tuple(_chunk(paper, tuple(group)) for group in groups)


def _chunk(paper: Paper, sentences: tuple[Span, ...]) -> Chunk:
    start, end = sentences[0].start, sentences[-1].end
    return Chunk(f"{paper.id}:{start}-{end}", paper.id, start, end, paper.abstract[start:end], sentences)
