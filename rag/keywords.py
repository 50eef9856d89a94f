"""The keyword index: stemmed BM25 over titles and abstracts (bm25s), saved and memory-mapped."""

from __future__ import annotations

import json
import logging
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
import Stemmer
from numpy.typing import NDArray

from rag.errors import StoreError

K1, B = 0.9, 0.4
"""BM25 constants for short texts, as in Anserini's runs on BEIR (Thakur et al. 2021)."""

logging.getLogger("bm25s").setLevel(logging.WARNING)  # it sets itself to DEBUG when imported

_CJK_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]+")
_COMPOUND = re.compile(r"\b\w+(?:-\w+)+\b")
_TOKEN = re.compile(r"\b\w\w+\b")
# "optimisation" and "optimization", "behaviour" and "behavior" are one word each. That it meets "otherwise", too, does
# no harm: texts and queries are treated alike.
_BRITISH = re.compile(
    r"(?<=\w\w)is(?=(?:e|ed|es|er|ers|ing|able|ation|ations)\b)|(?<=\w\w\w)our(?=(?:s|ed|al|ing|ally|able|hood|"
    r"hoods)?\b)"
    r"|(?<=\banaly)s(?=(?:e|ed|er|ers|ing)\b)"
)
_AMERICAN = {"is": "iz", "our": "or", "s": "z"}
_STOP_WORDS = frozenset(bm25s.stopwords.STOPWORDS_EN)


@cache
def _stemmer() -> Any:
    return Stemmer.Stemmer("english")


def _spaced(text: str) -> str:
    """Lower-case compatibility form in which every run of Chinese, Japanese or Korean is cut into pairs.

    Pairs of characters stand in for words, the usual way without a dictionary (Nie et al. 2000); a lone
    character is doubled so that it survives the two-character minimum.
    """

    def pairs(match: re.Match[str]) -> str:
        run = match[0]
        return " " + " ".join(run[i : i + 2] for i in range(len(run) - 1)) + " " if len(run) > 1 else f" {run * 2} "

    plain = _CJK_RUN.sub(pairs, unicodedata.normalize("NFKC", text)).lower()
    plain = _BRITISH.sub(lambda match: _AMERICAN[match[0]], plain)
    # "LoRA-GT" is also one word, "loragt": a name made of common parts is told from papers with the parts.
    return _COMPOUND.sub(lambda match: f"{match[0]} {match[0].replace('-', '')}", plain)


def tokenize(texts: Sequence[str]) -> list[list[str]]:
    """Return the stemmed tokens of each text, English stop words left out."""
    # What `bm25s.tokenize` returns for the same words, without a vocabulary of each call, which costs several
    # times the work of a query.
    stem = _stemmer().stemWords
    return [stem([word for word in _TOKEN.findall(_spaced(text)) if word not in _STOP_WORDS]) for text in texts]


class KeywordIndex:
    """BM25 over a fixed list of papers; `scores` are aligned with `paper_ids`."""

    def __init__(self, paper_ids: Sequence[str], ranker: Any) -> None:
        self.paper_ids = tuple(paper_ids)
        self._ranker = ranker
        self._rows = {token: row for token, row in ranker.vocab_dict.items() if token} if ranker is not None else {}

    @classmethod
    def build(cls, paper_ids: Sequence[str], texts: Iterable[str]) -> KeywordIndex:
        """Index one text for each id."""
        tokens = tokenize(list(texts))
        if not any(tokens):
            return cls(paper_ids, None)
        ranker = bm25s.BM25(method="lucene", k1=K1, b=B)
        ranker.index(tokens, show_progress=False)
        return cls(paper_ids, ranker)

    def save(self, folder: Path) -> None:
        """Write the index into `folder`, which must not hold another one."""
        folder.mkdir(parents=True, exist_ok=True)
        if self._ranker is not None:
            self._ranker.save(str(folder / "bm25"))
        about = {"paper_ids": self.paper_ids, "has_words": self._ranker is not None}
        (folder / "papers.json").write_text(json.dumps(about), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> KeywordIndex:
        """Open a saved index without reading it whole; raises `StoreError` when it is damaged."""
        try:
            about = json.loads((folder / "papers.json").read_text(encoding="utf-8"))
            paper_ids = about["paper_ids"]
            ranker = bm25s.BM25.load(str(folder / "bm25"), mmap=True) if about["has_words"] else None
            fits = ranker is None or ranker.scores["num_docs"] == len(paper_ids)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError) as error:
            raise StoreError(f"the keyword index in {folder} is damaged ({error}); delete that folder") from error
        if not fits:
            raise StoreError(f"the keyword index in {folder} does not fit together; delete that folder")
        return cls(paper_ids, ranker)

    def scores(self, query: str) -> NDArray[np.float32]:
        """Return the BM25 score of every paper, 0 where no word of the query occurs."""
        known = [token for token in tokenize([query])[0] if token in self._rows]
        if not known:
            return np.zeros(len(self.paper_ids), dtype=np.float32)
        return np.asarray(self._ranker.get_scores(known), dtype=np.float32)

    def number(self, token: str) -> int | None:
        """Return the number of a stemmed token in this index, None when no paper holds it."""
        return self._rows.get(token)

    def holding(self, token: str) -> NDArray[np.int64]:
        """Return the places in `paper_ids` of the papers that hold a stemmed token."""
        row = self._rows.get(token)
        if row is None:
            return np.zeros(0, dtype=np.int64)
        bounds = self._ranker.scores["indptr"]
        return np.asarray(self._ranker.scores["indices"][bounds[row] : bounds[row + 1]], dtype=np.int64)

    def document_frequency(self, token: str) -> int:
        """Return how many papers hold a stemmed token."""
        row = self._rows.get(token)
        if row is None:
            return 0
        bounds = self._ranker.scores["indptr"]
        return int(bounds[row + 1] - bounds[row])

    def idf(self, word: str) -> float:
        """Return the inverse document frequency of a word, `ln(1 + (N - n + ½)/(n + ½))`, 0 for a stop word.

        This is the idf of BM25 (Robertson and Spärck Jones 1976, in Lucene's never-negative form); of a
        word with several tokens it is the largest.
        """
        tokens = tokenize([word])[0]
        papers = len(self.paper_ids)
        counts = [self.document_frequency(token) for token in tokens]
        return max((math.log(1 + (papers - n + 0.5) / (n + 0.5)) for n in counts), default=0.0)
