"""What a user wants of an answer: how many papers it draws on, how long it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag import Assistant, Config, Wishes
from rag.generate import SINGLE, wished
from tests.fake_model import FakeModel, Reply, Request

QUESTION = "How do language models stay safe?"


def test_budgets_follow_the_wishes() -> None:
    """More papers bring more to read; nothing wanted changes nothing."""
    assert wished(SINGLE, None) is SINGLE
    assert wished(SINGLE, Wishes()) == SINGLE
    many = wished(SINGLE, Wishes(sources=6))
    assert (many.papers, many.cited_papers, many.small_tokens) == (6, 6, 2 * SINGLE.small_tokens)
    one = wished(SINGLE, Wishes(sources=1))
    assert (one.papers, one.cited_papers, one.small_tokens) == (1, 1, SINGLE.small_tokens)
    short = wished(SINGLE, Wishes(short=True))
    assert (short.claims, short.papers) == (1, SINGLE.papers) and short.reply_tokens < SINGLE.reply_tokens


@pytest.mark.parametrize(("wishes", "papers", "claims"), [(None, 5, 2), (Wishes(1), 1, 2), (Wishes(short=True), 5, 1)])
def test_answers_follow_the_wishes(
    seed_index: Path, home: Path, wishes: Wishes | None, papers: int, claims: int
) -> None:
    """The prompt has sentences of so many papers, the answer so many sentences, whatever a model goes on to write."""
    seen: list[int] = []

    def faithful(request: Request) -> Reply:
        seen.append(request.user.count("Paper: "))
        lines = [line.partition(": ") for line in request.user.splitlines() if line.startswith("k") and ": " in line]
        return Reply(" ".join(f"{text} [{key}]" for key, _, text in lines[:3]))

    with FakeModel() as fake:
        fake.responder = faithful
        config = Config(str(seed_index), home, "openai", base_url=fake.base_url, api_key="k", model="m")
        with Assistant.open(config) as assistant:
            answer = assistant.ask(QUESTION, wishes=wishes)
    assert seen and (seen[-1] <= papers if wishes and wishes.sources else seen[-1] > 1)
    assert not answer.abstained
    assert len(answer.claims) == 1 if claims == 1 else len(answer.claims) >= 1
