"""Plenary inside LangChain: a retriever and a runnable that answer, stream and compose."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel

from rag import Assistant, Config, PaperRetriever, Support, UserError, answering_chain

UPSAFE = "What does UpSafe turn the safety-critical layers into?"


@pytest.fixture(scope="module")
def assistant(seed_index: Path, home: Path) -> Iterator[Assistant]:
    with Assistant.open(Config(store=str(seed_index), home=home, writer="extractive")) as opened:
        yield opened


def text_of(document: dict[str, Any]) -> str:
    return str(document["text"])


def ask_about(name: str) -> str:
    return f"What does {name} turn the safety-critical layers into?"


def titles_of(documents: list[Document]) -> list[str]:
    return [document.metadata["title"] for document in documents]


def without_times(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "timings"}


def test_the_chain_gives_the_answer_document(assistant: Assistant) -> None:
    document = answering_chain(assistant).invoke(UPSAFE)
    assert document["question"] == UPSAFE and document["papers"][0]["title"].startswith("UpSafe")
    assert {claim["support"] for claim in document["claims"]} == {Support.SUPPORTED.value}
    asked = answering_chain(assistant, writer="extractive").invoke({"question": UPSAFE, "history": []})
    assert without_times(asked) == without_times(document)


def test_the_chain_streams_evidence_then_claims_then_the_document(assistant: Assistant) -> None:
    chunks = list(answering_chain(assistant).stream({"question": UPSAFE}))
    kinds = ["document" if "question" in chunk else next(iter(chunk)) for chunk in chunks]
    assert kinds[0] == "evidence" and kinds[-1] == "document" and set(kinds[1:-1]) == {"claim"}
    assert chunks[0]["evidence"][0].keys() == {"paper_id", "text"}
    claims = [{**chunk["claim"], "citations": chunk["claim"]["citations"]} for chunk in chunks[1:-1]]
    assert claims == chunks[-1]["claims"]


def test_a_follow_up_uses_the_history(assistant: Assistant) -> None:
    chain = answering_chain(assistant)
    document = chain.invoke({"question": "And what acts as its router?", "history": [["user", UPSAFE]]})
    assert document["question"] == "And what acts as its router?"
    upsafe = chain.invoke(UPSAFE)["papers"][0]["paper_id"]
    assert document["retrieved"][0] == upsafe


def test_the_chain_composes(assistant: Assistant) -> None:
    text: Runnable[Any, str] = answering_chain(assistant) | RunnableLambda(text_of)
    answer = text.invoke(UPSAFE)
    assert "[1]" in answer and "".join(text.stream(UPSAFE)) == answer
    before: Runnable[str, Any] = RunnableParallel(question=RunnableLambda(ask_about), history=lambda _: [])
    composed = before | text
    assert composed.invoke("UpSafe") == answer
    assert text.batch([UPSAFE, "Who founded OpenAI?"])[0] == answer
    assert asyncio.run(text.ainvoke(UPSAFE)) == answer


@pytest.mark.parametrize("given", [None, 7, {"history": []}, {"question": ["a"]}, {"question": "a", "history": ["b"]}])
def test_what_is_no_question_is_refused(assistant: Assistant, given: object) -> None:
    with pytest.raises(UserError, match=r"the chain takes a question|history must be"):
        answering_chain(assistant).invoke(given)


def test_the_retriever_gives_documents_best_first(assistant: Assistant) -> None:
    retriever = PaperRetriever(assistant=assistant, k=3)
    documents = retriever.invoke("keeping language models safe by upcycling layers")
    assert len(documents) == 3
    best = documents[0]
    assert best.metadata["title"].startswith("UpSafe") and best.id == best.metadata["paper_id"]
    assert best.page_content == assistant.paper(best.metadata["paper_id"]).abstract
    scores = [document.metadata["score"] for document in documents]
    assert scores == sorted(scores, reverse=True) and best.metadata["sources"][0].endswith(".txt#2")
    assert (retriever | RunnableLambda(titles_of)).invoke("safety")[0]
