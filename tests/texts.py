"""Strategies for text like that of abstracts, with all that makes splitting and matching hard."""

from __future__ import annotations

from hypothesis import strategies as st

PIECES = (
    "We propose UpSafe℃",
    "results improve by 12.5%",
    "$p<0.05$",
    "(Smith et al., 2024)",
    "i.e. a method",
    "see Fig. 2",
    "loss in [0, 1] and index [i]",
    "\\emph{fast} and ``quoted''",
    "它很快，也很好",
    "İt is ﬁne",
    "𝔸 gate",
    "on ImageNet-1k",
    "“a citation”",
    "U.S. policy",
    "12 of 30",
    "\n",
    "\u2028",
    "\x0b",
)
ENDS = (".", "!", "?", "。", "？", ".”", "...", ":", "")
SPACES = (" ", "  ", "\n", "\n\n", "", "\t", "\u00a0")


def abstracts() -> st.SearchStrategy[str]:
    """Return a strategy for abstracts put together from awkward pieces."""
    sentence = st.tuples(
        st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map(" ".join),
        st.sampled_from(ENDS),
        st.sampled_from(SPACES),
    ).map("".join)
    return st.lists(sentence, max_size=12).map("".join)
