"""The JSON documents: their keys are a contract."""

from __future__ import annotations

import json
from dataclasses import replace

from rag.documents import (
    answer_document,
    claim_document,
    hits_document,
    paper_document,
    skipped_document,
    status_document,
)
from rag.types import (
    Answer,
    Citation,
    Claim,
    Evidence,
    Hit,
    Paper,
    Quote,
    Skipped,
    Source,
    Status,
    Support,
    Timings,
    Usage,
)

PAPER = Paper("p1", "UpSafe℃ is safe.", "UpSafe℃", None, ("Ann Lee",), 2026, "V", "u", ("w",), (Source("f.txt", 2, 5),))
CLAIM = Claim("It is safe.", Support.SUPPORTED, "why", (Citation(1, "p1", Quote("p1", "is safe.", 8, 16), Source("f.txt", 2, 5)),))
ANSWER = Answer(
    "Safe?",
    "single",
    False,
    "It is safe [1].",
    (CLAIM,),
    (PAPER,),
    ("p1", "p2"),
    "extractive",
    Usage(3, 4, 1),
    Timings(0.12345, 0.2, 0.3),
    (replace(CLAIM, support=Support.CONTRADICTED),),
    "a note",
)


def test_an_answer_has_the_keys_of_the_contract() -> None:
    document = answer_document(ANSWER)
    assert json.loads(json.dumps(document)) == document
    assert document["text"] == "It is safe [1]." and document["kind"] == "single" and document["abstained"] is False
    assert document["papers"] == [
        {"n": 1, "paper_id": "p1", "title": "UpSafe℃", "authors": ["Ann Lee"], "url": "u", "sources": ["f.txt#2"]}
    ]
    claim = document["claims"][0]
    assert (claim["text"], claim["support"], claim["reason"]) == ("It is safe.", "supported", "why")
    assert claim["citations"] == [{"n": 1, "paper_id": "p1", "quote": "is safe.", "start": 8, "end": 16, "source": "f.txt#2"}]
    assert document["retrieved"] == ["p1", "p2"] and document["writer"] == "extractive"
    assert document["usage"] == {"prompt_tokens": 3, "completion_tokens": 4, "calls": 1, "estimated": False}
    assert document["timings"] == {"evidence": 0.123, "first_word": 0.2, "total": 0.3}
    assert document["removed"][0]["support"] == "contradicted" and document["note"] == "a note"


def test_a_refusal_has_the_same_keys_and_no_sources() -> None:
    refusal = replace(ANSWER, abstained=True, claims=(), papers=())
    document = answer_document(refusal)
    assert document.keys() == answer_document(ANSWER).keys()
    assert document["papers"] == document["claims"] == []


def test_a_translated_claim_shows_what_was_checked() -> None:
    document = claim_document(replace(CLAIM, text="它安全。", english="It is safe.", verbatim=True))
    assert (document["text"], document["english"], document["verbatim"]) == ("它安全。", "It is safe.", True)


def test_a_hit_shows_its_best_sentences_best_first() -> None:
    sentences = tuple(Evidence("", "p1", n, n + 1, str(n), score) for n, score in enumerate((0.1, 0.9, 0.5, 0.7)))
    (document,) = hits_document([Hit(PAPER, 0.98765, sentences)])
    assert document["score"] == 0.9877 and document["title"] == "UpSafe℃" and document["sources"] == ["f.txt#2"]
    assert [sentence["text"] for sentence in document["sentences"]] == ["1", "3", "2"]
    assert document["sentences"][0] == {"text": "1", "start": 1, "end": 2, "score": 0.9}
    assert hits_document([]) == []


def test_the_other_documents() -> None:
    assert paper_document(PAPER) == {
        "paper_id": "p1",
        "title": None,
        "label": "UpSafe℃",
        "authors": ["Ann Lee"],
        "year": 2026,
        "venue": "V",
        "url": "u",
        "keywords": ["w"],
        "sources": ["f.txt#2"],
        "abstract": "UpSafe℃ is safe.",
        "versions": [{"id": "p1", "title": None, "sources": ["f.txt#2"], "abstract": "UpSafe℃ is safe."}],
    }
    assert skipped_document(Skipped("f", 3, "r")) == {"file": "f", "line": 3, "reason": "r"}
    status = status_document(Status("s", 1, 2, 3, "m", "state", {"f": 1}, {"writer": "local"}))
    assert status["sources"] == {"f": 1} and status["writer"] == "local" and status["sentences"] == 3
