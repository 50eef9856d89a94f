"""What the writers are asked and how: kinds of question as data, evidence as text, a grammar that cites."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from rag.cite import DraftParser
from rag.prompts import load_prompt
from rag.types import Draft, Evidence, Paper, Piece, Plan, Prompt, Usage, Writer


@dataclass(frozen=True, slots=True)
class QuestionKind:
    """A kind of question: its prompt and its budget.

    `papers` is how many papers a search brings, `cited_papers` from how many of them evidence is taken;
    `small_tokens` and `large_tokens` bound the evidence given to the local model and to a service;
    `claims` and `reply_tokens` bound the reply.
    """

    name: str
    prompt: str
    papers: int
    cited_papers: int
    small_tokens: int
    large_tokens: int
    claims: int
    reply_tokens: int


SINGLE = QuestionKind("single", "answer", 10, 3, 330, 2_000, 3, 220)
KINDS: Mapping[str, QuestionKind] = {kind.name: kind for kind in (SINGLE,)}


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a user wants of an answer: from how many papers its evidence may come (None: as its kind has it), and
    whether it should be short."""

    sources: int | None = None
    short: bool = False


def wished(kind: QuestionKind, wishes: Wishes | None) -> QuestionKind:
    """Return a kind of question with the budgets a user wants; more papers bring more evidence to read."""
    if wishes is None:
        return kind
    if wishes.sources is not None:
        count = max(1, wishes.sources)
        share = max(1.0, count / kind.cited_papers)
        kind = replace(kind, papers=count, cited_papers=count, small_tokens=int(kind.small_tokens * share))
    return replace(kind, claims=1, reply_tokens=kind.reply_tokens // 2) if wishes.short else kind

_INSTRUCTION = re.compile(
    r"(?i:\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:question|instructions?|prompt|previous|above|prior)\b)"
    r"|(?i:\b(?:you are now|system prompt|as an ai|respond only|reply with|answer with|answer:|print|output)\b).{0,30}?"
    r"(?:\b[A-Z]{4,}\b|[\"“'‘])"
    r"|忽略.{0,20}(?:问题|指令|提示|以上|之前)|(?:回答|输出|回复)[：:\"“]",
)


def looks_like_instruction(sentence: str) -> bool:
    """Tell whether a sentence of a paper talks to a model; such a sentence is never given to one."""
    return bool(_INSTRUCTION.search(sentence))


def evidence_block(evidence: Sequence[Evidence], papers: Mapping[str, Paper]) -> str:
    """Return the evidence as lines `key: sentence` below a line with the name of each paper."""
    lines = []
    for paper_id, group in groupby(evidence, key=lambda item: item.paper_id):
        lines.append(f"Paper: {one_line(papers[paper_id].label)}")
        lines += [f"{item.key}: {one_line(item.text)}" for item in group]
    return "\n".join(lines)


def one_line(text: str) -> str:
    """Return text on one line without control characters, for a prompt."""
    return re.sub(r"[\s\x00-\x1f\u200b-\u200f\u2028-\u202e\ufeff]+", " ", text).strip()


def answer_prompt(
    kind: QuestionKind, plan: Plan, evidence: Sequence[Evidence], papers: Mapping[str, Paper]
) -> Prompt:
    """Return the prompt of an answer; its grammar forces a key on every sentence where the writer obeys it."""
    keys = tuple(item.key for item in evidence)
    return load_prompt(kind.prompt).render(
        max_tokens=kind.reply_tokens,
        keys=keys,
        grammar=answer_grammar(keys, kind.claims),
        evidence=evidence_block(evidence, papers),
        question=one_line(plan.standalone),
    )


def answer_grammar(keys: Sequence[str], claims: int) -> str:
    """Return a GBNF grammar: one to `claims` sentences, each with one or two of `keys` before its end."""
    alternatives = " | ".join(f'"{key}"' for key in keys)
    return (
        f'root ::= claim (" " claim){{0,{claims - 1}}}\n'
        'claim ::= first text " [" key "]" ("[" key "]")? "."\n'
        "first ::= [^ a-z\\n\\[\\].,;:]\n"
        "text ::= [^\\n\\[\\]]{12,320}\n"
        f"key ::= {alternatives}\n"
    )


def model_drafts(writer: Writer, prompt: Prompt, evidence: Sequence[Evidence]) -> Iterator[Draft | Usage]:
    """Stream what a model writes as drafts, one sentence each, and its usage at the end."""
    parser = DraftParser(evidence)
    usage = Usage(calls=1)
    finished = True
    for piece in writer.write(prompt):
        finished = finished and piece.finished
        if piece.usage:
            usage = piece.usage
        yield from parser.feed(piece.text)
    yield from parser.finish(cut=not finished)
    yield usage


def extractive_drafts(evidence: Sequence[Evidence], claims: int) -> Iterator[Draft]:
    """Answer without a model: the best sentences of the best paper, word for word, in its order.

    A further sentence is only taken when its score comes near the best one's.
    """
    best = sorted(evidence, key=lambda item: -item.score)
    if not best:
        return
    chosen = [
        item for item in best if item.paper_id == best[0].paper_id and item.score >= 0.8 * best[0].score
    ][:claims]
    for item in sorted(chosen, key=lambda item: item.start):
        yield Draft(item.text, (item,))


def reply(writer: Writer, prompt: Prompt) -> tuple[str, Usage]:
    """Return a model's whole reply, on one line, and its usage."""
    pieces: list[Piece] = list(writer.write(prompt))
    usage = next((piece.usage for piece in reversed(pieces) if piece.usage), Usage(calls=1))
    return one_line("".join(piece.text for piece in pieces)).strip("\"“”' "), usage


def total(usages: Iterable[Usage]) -> Usage:
    """Return the sum of usages."""
    result = Usage()
    for usage in usages:
        result += usage
    return result
