"""Plenary as parts of LangChain: a retriever of documents and a runnable that answers and streams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import ConfigDict

from rag.build import Assistant
from rag.documents import answer_document, claim_document, parse_history
from rag.errors import UserError
from rag.types import AnswerDone, ClaimChecked, EvidenceFound, Turn


class PaperRetriever(BaseRetriever):
    """Plenary's hybrid search as a LangChain retriever: one document for each paper, best first.

    The page content is the abstract; the metadata hold the id, title, score and sources.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    assistant: Assistant
    k: int = 8

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return [
            Document(
                id=hit.paper.id,
                page_content=hit.paper.abstract,
                metadata={
                    "paper_id": hit.paper.id,
                    "title": hit.paper.name,
                    "score": hit.score,
                    "sources": [str(source) for source in hit.paper.sources],
                },
            )
            for hit in self.assistant.search(query, self.k)
        ]


def answering_chain(assistant: Assistant, writer: str | None = None) -> Runnable[Any, dict[str, Any]]:
    """Return a runnable from a question, or `{"question", "history"}`, to the answer document.

    `history` is a list of `[role, text]`. `.invoke` returns the document of `plenary ask --json`;
    `.stream` yields `{"evidence": [...]}` first, then `{"claim": ...}` for each checked sentence, and the
    document last. What follows in a chain and does not stream itself gets the document.
    """

    # A generator in a RunnableLambda streams what it yields, and `invoke` adds it up or, as dictionaries
    # cannot be added, takes the last.
    def answer(given: Any) -> Iterator[dict[str, Any]]:
        for event in assistant.stream(_question(given), _history(given), writer=writer):
            if isinstance(event, EvidenceFound):
                yield {"evidence": [{"paper_id": e.paper_id, "text": e.text} for e in event.evidence]}
            elif isinstance(event, ClaimChecked):
                yield {"claim": claim_document(event.claim)}
            elif isinstance(event, AnswerDone):
                yield answer_document(event.answer)

    return RunnableLambda(answer, name="plenary")


def _question(given: Any) -> str:
    question = given.get("question") if isinstance(given, Mapping) else given
    if not isinstance(question, str):
        raise UserError('the chain takes a question or {"question": ..., "history": [[role, text], ...]}')
    return question


def _history(given: Any) -> list[Turn]:
    return parse_history(given.get("history") or []) if isinstance(given, Mapping) else []
