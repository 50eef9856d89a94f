"""Orders the stages: plan, retrieve, decide, generate, cite, verify. Streams events; the last is the answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rag.cite import number, render
from rag.comparing import Comparing
from rag.embed import MiniLM
from rag.generate import (
    KINDS,
    QuestionKind,
    Wishes,
    answer_prompt,
    extractive_drafts,
    looks_like_instruction,
    model_drafts,
    one_line,
    reply,
    wished,
)
from rag.keywords import tokenize
from rag.plan import LANGUAGES, MAX_QUESTION, is_strong, make_plan, names_in
from rag.prompts import load_prompt
from rag.refuse import LINE, answerable, measure, refusal
from rag.retrieve import (
    CANDIDATES,
    Candidate,
    Query,
    fuse,
    idf_weights,
    name_certainty,
    score_sentences,
    select_evidence,
)
from rag.side_reading import Tools
from rag.snapshot import Snapshot
from rag.store import Store
from rag.translate import keeps_facts
from rag.types import (
    Answer,
    AnswerDone,
    Claim,
    ClaimChecked,
    Draft,
    Event,
    Evidence,
    EvidenceFound,
    Filters,
    Hit,
    Paper,
    Plan,
    StepStarted,
    Support,
    Timings,
    Turn,
    Usage,
    Verdict,
    Writer,
)
from rag.verify import check_draft, coverage

NEAR_ENOUGH = 0.5
"""Half coverage, half cosine, from which a sentence may stand for an uncited draft: below it a model mostly talks
about the question ("Yes, there is a way")."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What the stages work with. `snapshot` returns that of the current corpus state. `writer` is None for
    the extractive one; `small` says that it is the local model, whose reading is slow."""

    store: Store
    snapshot: Callable[[], Snapshot]
    encoder: MiniLM
    count_tokens: Callable[[str], int]
    writer: Writer | None
    small: bool

    @property
    def writer_name(self) -> str:
        """The writer in words."""
        return self.writer.name if self.writer else "extractive"


def search(
    parts: Parts, text: str, papers: int, filters: Filters | None = None, ranking: str = "fused"
) -> list[Hit]:
    """Return the best `papers` papers for a text with their sentences scored, best first.

    `ranking` is "fused", or "dense" or "keyword" to see one side alone.
    """
    snapshot = parts.snapshot()
    if not snapshot.paper_ids or not text.strip():
        return []
    query = make_query(parts, snapshot, text)
    ranked = fuse(query, _candidates(parts, snapshot, query, filters), ranking)[:papers]
    hits = []
    for (candidate, score), paper in zip(ranked, snapshot.papers_of(c.paper_id for c, _ in ranked), strict=True):
        spans, vectors = snapshot.sentences_of(paper.id)
        words = snapshot.words_of(paper.id, query.weights)
        scored = score_sentences(query, paper, spans, vectors, words, score)
        hits.append(Hit(paper, score, tuple(scored), candidate.paper, candidate.sentence, candidate.keyword))
    return hits


def make_query(parts: Parts, snapshot: Snapshot, text: str) -> Query:
    """Return a text as a query: its vector and the idf of its words in this corpus."""
    tokens = tokenize([text])[0]
    weights = idf_weights(tokens, len(snapshot.paper_ids), snapshot.keywords.document_frequency)
    return Query(text, parts.encoder.encode([text])[0], weights)


def _candidates(
    parts: Parts, snapshot: Snapshot, query: Query, filters: Filters | None
) -> list[Candidate]:
    keyword = snapshot.keywords.scores(query.text)
    if filters:
        keyword = np.where(snapshot.allowed(filters), keyword, 0)
    top = np.argsort(-keyword, kind="stable")[:CANDIDATES]
    dense = parts.store.search(query.vector, CANDIDATES, snapshot.widened(filters) if filters else None)
    found = dict.fromkeys([*dense, *(snapshot.paper_ids[row] for row in top if keyword[row] > 0)])
    ids = [paper_id for paper_id in found if paper_id in snapshot.rows]  # others came after the snapshot
    named = _named(snapshot, query.text)
    rows = [snapshot.rows[paper_id] for paper_id in ids]
    paper, sentence = snapshot.cosines(ids, query.vector).T.tolist()
    shares = [None] * len(ids) if named is None else named[rows].tolist()
    return list(map(Candidate, ids, paper, sentence, keyword[rows].tolist(), shares))


def _named(snapshot: Snapshot, text: str) -> NDArray[np.float64] | None:
    """Return for every paper how surely the names in a text are its own, None when none is anybody's."""
    certain: list[tuple[list[int], float]] = []
    for name in dict.fromkeys(names_in(text)):
        if is_strong(name):
            rows = snapshot.named(name)
            frequency = min(map(snapshot.keywords.document_frequency, tokenize([name])[0]), default=0)
            if certainty := name_certainty(len(rows), frequency):
                certain.append((rows, certainty))
    if not certain:
        return None
    named = np.zeros(len(snapshot.paper_ids))
    for rows, certainty in certain:
        named[rows] += certainty / len(certain)
    return named


@dataclass(frozen=True, slots=True)
class Composed:
    """Claims that passed, each with the evidence that carries it; sentences that did not pass; tokens used."""

    claims: tuple[tuple[Claim, tuple[Evidence, ...]], ...]
    removed: tuple[Claim, ...]
    usage: Usage


class Pipeline:
    """Answers questions over one index with one writer."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._vector = lru_cache(maxsize=4096)(lambda text: parts.encoder.encode([text])[0])
        self._comparing = Comparing(
            Tools(
                parts.snapshot,
                lambda text, papers, filters: search(parts, text, papers, filters),
                parts.store.papers,
                parts.encoder.encode,
                self._in_language,
                self._check,
                parts.writer,
                parts.writer_name,
                parts.small,
            )
        )

    def stream(
        self,
        question: str,
        history: Sequence[Turn] = (),
        filters: Filters | None = None,
        wishes: Wishes | None = None,
    ) -> Iterator[Event]:
        """Answer a question, yielding events as they happen; the last is `AnswerDone`.

        Closing the iterator stops the model. Raises `ProviderError` when the writer fails.
        """
        began = time.perf_counter()
        parts = self.parts
        snapshot = parts.snapshot()
        yield StepStarted("understanding the question")
        reading, asked = self._comparing.sides.read(question[:MAX_QUESTION], history, filters)
        if reading:
            yield from self._comparing.stream(question, reading, asked, began)
            return
        plan, usage = make_plan(
            question,
            history,
            parts.writer,
            papers=KINDS["single"].papers,
            is_known=lambda word: self._is_known(word, snapshot),
        )
        kind = wished(KINDS[plan.kind], wishes)
        yield StepStarted(f"searching {len(snapshot.paper_ids):,} papers")
        hits = [hit for sub in plan.searches for hit in search(parts, sub.text, sub.papers, filters)]
        yield StepStarted("choosing evidence")
        evidence = self._evidence(kind, hits)
        run = _Run(plan, tuple(hits), evidence, {hit.paper.id: hit.paper for hit in hits}, asked + usage)
        timings = Timings(evidence=time.perf_counter() - began)
        if evidence and self._answerable(run):
            yield EvidenceFound(plan, run.hits, evidence)
            yield StepStarted("writing")
            for made in self._claims(kind, run):
                if isinstance(made, StepStarted):
                    yield made
                    continue
                claim, cited = made
                if not run.claims:
                    timings = replace(timings, first_word=time.perf_counter() - began)
                run.claims.append((claim, cited))
                numbered, papers = number(run.claims, run.papers)
                yield ClaimChecked(numbered[-1], papers)
        answer = self._answer(run, replace(timings, total=time.perf_counter() - began))
        yield AnswerDone(answer)

    def ask(self, question: str, history: Sequence[Turn] = (), filters: Filters | None = None) -> Answer:
        """Answer a question; raises as `stream` does."""
        answer = None
        for event in self.stream(question, history, filters):
            if isinstance(event, AnswerDone):
                answer = event.answer
        assert answer is not None, "a stream ends with AnswerDone"
        return answer

    def _evidence(self, kind: QuestionKind, hits: Sequence[Hit]) -> tuple[Evidence, ...]:
        budget = kind.small_tokens if self.parts.small or not self.parts.writer else kind.large_tokens
        safe = [
            replace(hit, sentences=tuple(s for s in hit.sentences if not looks_like_instruction(s.text)))
            for hit in hits
        ]
        papers = kind.cited_papers if self.parts.small or not self.parts.writer else kind.papers
        return select_evidence(safe, papers, budget, self.parts.count_tokens)

    @staticmethod
    def _is_known(name: str, snapshot: Snapshot) -> bool:
        """Tell whether every part of a name occurs in some paper; "MILP-based" is known where "MILP" is."""
        tokens = tokenize([name.replace("-", " ")])[0]
        return all(snapshot.keywords.document_frequency(token) for token in tokens)

    def _answerable(self, run: _Run) -> bool:
        """Decide whether the evidence answers the question."""
        snapshot = self.parts.snapshot()
        question = run.plan.standalone
        query = make_query(self.parts, snapshot, question)
        signals = measure(
            query,
            run.hits,
            len(snapshot.paper_ids),
            lambda text: tokenize([text])[0],
            names_in(question),
            lambda name: self._is_known(name, snapshot),
        )
        return answerable(signals) >= LINE

    def _claims(self, kind: QuestionKind, run: _Run) -> Iterator[tuple[Claim, tuple[Evidence, ...]] | StepStarted]:
        """Yield the claims that passed with the evidence that carries them, before each that it is checked."""
        seen: set[str] = set()
        for draft in self._drafts(kind, run):
            if len(seen) >= kind.claims and kind.claims < KINDS[kind.name].claims:
                return  # a short answer was wanted, and not every writer obeys the grammar
            yield StepStarted("checking")
            settled = self._settle(draft, run)
            if settled is None or settled[0].text in seen:
                continue
            seen.add(settled[0].text)
            yield self._translated(settled[0], run), settled[1]

    def _drafts(self, kind: QuestionKind, run: _Run) -> Iterator[Draft]:
        writer = self.parts.writer
        if writer is None:
            yield from extractive_drafts(run.evidence, kind.claims)
            return
        prompt = answer_prompt(kind, run.plan, run.evidence, run.papers)
        for item in model_drafts(writer, prompt, run.evidence):
            if isinstance(item, Usage):
                run.usage += item
            else:
                yield item

    def compose(
        self,
        kind: QuestionKind,
        plan: Plan,
        evidence: tuple[Evidence, ...],
        papers: Mapping[str, Paper],
        drafts: Sequence[Draft] | None = None,
    ) -> Composed:
        """Write from given sentences alone and check every claim; `drafts` take the place of what is written.

        Raises `ProviderError` when the writer fails.
        """
        run = _Run(plan, (), evidence, dict(papers), Usage())
        for draft in drafts if drafts is not None else self._drafts(kind, run):
            settled = self._settle(draft, run)
            if settled and all(settled[0].text != claim.text for claim, _ in run.claims):
                run.claims.append((self._translated(settled[0], run), settled[1]))
        return Composed(tuple(run.claims), tuple(run.removed), run.usage)

    def _settle(self, draft: Draft, run: _Run) -> tuple[Claim, tuple[Evidence, ...]] | None:
        """Return the draft as a claim if it passes; else repaired by another citation, or replaced by the
        words of the sentence that says most nearly the same; else None. What did not pass is kept in `run.removed`."""
        verdict, carrying = self._check(draft, run.papers)
        if verdict.support is Support.SUPPORTED and carrying:
            return self._claim(draft.text, verdict, carrying, verbatim=_is_quote(draft)), carrying
        run.removed.append(Claim(draft.text, verdict.support, verdict.reason, ()))
        if verdict.support is not Support.CONTRADICTED:
            for item in sorted(run.evidence, key=lambda item: -item.score):
                if item in draft.evidence:
                    continue
                again, carrying = self._check(Draft(draft.text, (item,)), run.papers)
                if again.support is Support.SUPPORTED and carrying:
                    return self._claim(draft.text, again, carrying), carrying
        quote = self._nearest(draft, run)
        if quote is None:
            return None
        verdict, _ = self._check(Draft(quote.text, (quote,)), run.papers)
        return self._claim(quote.text, verdict, (quote,), verbatim=True), (quote,)

    def _nearest(self, draft: Draft, run: _Run) -> Evidence | None:
        """Return the sentence that says most nearly what a draft says, if it was not cited before.

        A small model often says the right thing and cites its neighbour; so the cited sentence has no
        precedence. A draft without citation must be near to be worth a quote.
        """
        idf = self.parts.snapshot().keywords.idf

        def nearness(item: Evidence) -> float:
            covered = coverage(draft.text, [item.text], idf=idf)
            return 0.5 * covered + 0.5 * self._similarity(draft.text, item.text)

        if not run.evidence:
            return None
        best = max(run.evidence, key=nearness)
        cited = {item for _, evidence in run.claims for item in evidence}
        if best in cited or (not draft.evidence and nearness(best) < NEAR_ENOUGH):
            return None
        return best

    def _check(self, draft: Draft, papers: Mapping[str, Paper]) -> tuple[Verdict, tuple[Evidence, ...]]:
        return check_draft(draft, papers, idf=self.parts.snapshot().keywords.idf, similarity=self._similarity)

    def _similarity(self, first: str, second: str) -> float:
        return float(self._vector(first) @ self._vector(second))

    @staticmethod
    def _claim(
        text: str, verdict: Verdict, evidence: Sequence[Evidence], *, verbatim: bool = False
    ) -> Claim:
        return Claim(text, verdict.support, verdict.reason, (), verbatim=verbatim)

    def _translated(self, claim: Claim, run: _Run) -> Claim:
        said, usage = self._in_language(claim, run.plan.language)
        run.usage += usage
        return said

    def _in_language(self, claim: Claim, code: str) -> tuple[Claim, Usage]:
        """Return the claim in a language where the writer can translate it faithfully, and what that took.

        The English sentence is what was verified, so the translation is no more than partly so.
        """
        writer = self.parts.writer
        if writer is None or code == "en":
            return claim, Usage()
        prompt = load_prompt("translate_claim").render(
            max_tokens=300, language=LANGUAGES[code], sentence=one_line(claim.text)
        )
        text, usage = reply(writer, prompt)
        if not keeps_facts(claim.text, text):
            return claim, usage
        reason = "the English sentence is supported; its translation is checked for numbers, names and negations"
        said = replace(claim, text=text, english=claim.text, support=Support.PARTIAL, reason=reason, verbatim=False)
        return said, usage

    def _answer(self, run: _Run, timings: Timings) -> Answer:
        claims, papers = number(run.claims, run.papers)
        abstained = not claims
        return Answer(
            question=run.plan.question,
            kind=run.plan.kind,
            abstained=abstained,
            text=refusal(run.plan.language) if abstained else render(claims),
            claims=claims,
            papers=papers,
            retrieved=tuple(dict.fromkeys(hit.paper.id for hit in run.hits)),
            writer=self.parts.writer_name,
            usage=run.usage,
            timings=timings,
            removed=tuple(run.removed),
            note=run.plan.note,
        )


class _Run:
    """The state of one answer while it is made."""

    def __init__(
        self,
        plan: Plan,
        hits: tuple[Hit, ...],
        evidence: tuple[Evidence, ...],
        papers: dict[str, Paper],
        usage: Usage,
    ) -> None:
        self.plan, self.hits, self.evidence, self.papers, self.usage = plan, hits, evidence, papers, usage
        self.claims: list[tuple[Claim, tuple[Evidence, ...]]] = []
        self.removed: list[Claim] = []


def _is_quote(draft: Draft) -> bool:
    return any(draft.text == item.text for item in draft.evidence)
