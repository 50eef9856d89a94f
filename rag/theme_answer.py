"""Answers questions about many papers: collects, forms themes, writes each from its own quotes, accounts for all.

A step that fails is tried once more and then shown as failed with its papers; no paper is left out in silence.
Every number in the text is the length of a list in the report.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace

from rag.cite import assign_keys, number
from rag.errors import ProviderError
from rag.generate import QuestionKind, looks_like_instruction, one_line, reply
from rag.keywords import tokenize
from rag.pipeline import Pipeline
from rag.plan import language_of, make_plan
from rag.prompts import load_prompt
from rag.snapshot import Snapshot
from rag.theme_forming import (
    REPRESENTATIVES,
    KeptThemes,
    central_quote,
    form_themes,
    join_themes,
    map_places,
    sub_themes,
    topic_places,
    whole_themes,
)
from rag.theme_labels import label_holds, paper_text
from rag.theme_state import ThemeFolder
from rag.theme_text import answer_text
from rag.topic_reading import admitted, collect, paper_vectors
from rag.types import (
    Answer,
    AnswerDone,
    Claim,
    Coverage,
    Draft,
    Event,
    Evidence,
    Filters,
    LeftOut,
    Member,
    Paper,
    Plan,
    Prompt,
    Quote,
    StepStarted,
    Theme,
    ThemeReport,
    ThemeRequest,
    ThemesFound,
    ThemeWritten,
    Timings,
    Usage,
    Vectors,
    Writer,
)

THEME = QuestionKind("theme", "theme", 10, 3, 180, 1_600, 3, 160)
"""The prompt of one theme. Few quotes for the local model: reading them is most of its time."""

UNNAMED = "written, but no sentence of it passed the check"
FAR_OFF = "far from the middle of every theme"

_Settled = tuple[Claim, tuple[Evidence, ...]]


@dataclass(frozen=True, slots=True)
class _Written:
    """What became of one theme: its claims before they are numbered, those that did not pass, or why it failed."""

    claims: tuple[_Settled, ...]
    removed: tuple[Claim, ...] = ()
    failed: str | None = None


class ThemeAnswers:
    """Answers theme, list and count questions over one index with one writer."""

    def __init__(self, pipeline: Pipeline, folder: ThemeFolder) -> None:
        self.pipeline, self.folder = pipeline, folder
        self.parts = pipeline.parts

    def stream(
        self, question: str, request: ThemeRequest, filters: Filters | None = None
    ) -> Iterator[Event]:
        """Answer a question, yielding events as they happen; the last is `AnswerDone`.

        The answer is kept for the corpus state and given again, with the same events, when nothing failed.
        """
        began = time.perf_counter()
        snapshot = self.parts.snapshot()
        key = json.dumps([*astuple(request), language_of(question), self.parts.writer_name, _plain(filters)])
        kept = self.folder.answer(snapshot.state, key)
        if kept is not None:
            yield from _again(replace(kept, question=question), began)
            return
        run = _Run(self, snapshot, question, request, filters, began)
        answer = None
        for event in run.events():
            answer = event.answer if isinstance(event, AnswerDone) else None
            yield event
        assert answer is not None and answer.themes is not None, "a run ends with its answer"
        if not any(theme.failed for theme in answer.themes.themes):
            self.folder.keep_answer(snapshot.state, key, answer)

    def report(self, filters: Filters | None = None) -> ThemeReport:
        """Return the themes of everything that filters admit, nothing written."""
        return self.whole(self.parts.snapshot(), filters, "theme")[0]

    def whole(self, snapshot: Snapshot, filters: Filters | None, kind: str) -> tuple[ThemeReport, Vectors]:
        """Return the report of everything that filters admit, and the vectors of its papers by sorted id.

        Without filters the themes are those kept with the index, which papers that were added have joined.
        """
        paper_ids, skipped = admitted(snapshot, filters)
        vectors = paper_vectors(snapshot, paper_ids)
        kept = self._kept(snapshot, paper_ids, vectors, keep=not filters)
        themes = tuple(
            replace(theme, representatives=self.quotes(snapshot, theme, vectors, paper_ids))
            for theme in whole_themes(kept, vectors)
        )
        coverage = _coverage(paper_ids, skipped, paper_ids, (), themes)
        return ThemeReport(kind, "", themes, coverage, places=map_places(kept, themes)), vectors

    def _kept(self, snapshot: Snapshot, paper_ids: Sequence[str], vectors: Vectors, *, keep: bool) -> KeptThemes:
        old = self.folder.load() if keep else None
        if old is not None and old.state == snapshot.state:
            return old
        joined = join_themes(old, snapshot.state, paper_ids, vectors) if old is not None else None
        kept = joined or form_themes(snapshot.state, paper_ids, vectors, snapshot.papers_of, old)
        if keep:
            self.folder.save(kept)
        return kept

    @staticmethod
    def quotes(
        snapshot: Snapshot, theme: Theme, vectors: Vectors, paper_ids: Sequence[str], count: int = REPRESENTATIVES
    ) -> tuple[Quote, ...]:
        """Return a sentence of each of the first members, the one nearest to the middle of the theme."""
        place = {paper_id: row for row, paper_id in enumerate(paper_ids)}
        centre = vectors[[place[paper_id] for paper_id in theme.paper_ids]].mean(axis=0)
        papers = snapshot.papers_of(theme.paper_ids[:count])
        return tuple(central_quote(paper, *snapshot.sentences_of(paper.id), centre) for paper in papers)


class _Run:
    """One answer while it is made."""

    def __init__(
        self,
        owner: ThemeAnswers,
        snapshot: Snapshot,
        question: str,
        request: ThemeRequest,
        filters: Filters | None,
        began: float,
    ) -> None:
        self.owner, self.snapshot, self.request, self.filters = owner, snapshot, request, filters
        self.parts = owner.parts
        self.question, self.began = question, began
        self.usage = Usage()
        self.note: str | None = None
        self.topic = request.topic
        self.claims: list[_Settled] = []
        self.papers: dict[str, Paper] = {}
        self.broken: str | None = None

    def events(self) -> Iterator[Event]:
        """Yield the events of the answer."""
        yield StepStarted("understanding the question")
        self._translate()
        yield StepStarted(f"reading {len(self.snapshot.paper_ids):,} papers")
        report, quotes = self._collect()
        evidence = time.perf_counter() - self.began
        yield ThemesFound(report)
        first_word = 0.0
        themes = list(report.themes)
        of = len(themes)
        for place in range(of if self.request.kind == "theme" else 0):
            yield StepStarted(f"writing about theme {place + 1} of {of}")
            written = self._write(themes[place], quotes)
            first_word = first_word or time.perf_counter() - self.began
            themes[place], papers = self._numbered(themes[place], written)
            yield ThemeWritten(themes[place], place, of, papers)
        if self.request.kind == "theme":
            yield from self._name(themes)
        else:
            self._list_members(report.members)
        report = replace(report, themes=tuple(themes))
        yield AnswerDone(self._answer(report, Timings(evidence, first_word, time.perf_counter() - self.began)))

    def _translate(self) -> None:
        """Put a topic in another language into English where a model can."""
        if self.request.whole or language_of(self.topic) == "en":
            return
        plan, used = make_plan(self.topic, (), self.parts.writer, papers=1, is_known=self._is_known)
        self.usage += used
        self.topic, self.note = plan.standalone.strip(" .?"), plan.note

    def _is_known(self, word: str) -> bool:
        return all(self.snapshot.keywords.document_frequency(token) for token in tokenize([word])[0])

    def _collect(self) -> tuple[ThemeReport, Mapping[str, Quote]]:
        """Return the report before anything is written, and the sentence that made each member count."""
        if self.request.whole:
            report, _ = self.owner.whole(self.snapshot, self.filters, self.request.kind)
            return report, {}
        found = collect(self.snapshot, self.parts.encoder.encode, self.topic, self.filters)
        paper_ids = sorted(member.paper_id for member in found.members)
        vectors = paper_vectors(self.snapshot, paper_ids)
        themes = sub_themes(paper_ids, vectors, self.snapshot.papers_of)
        quotes = {member.paper_id: member.quote for member in found.members}
        themes = tuple(
            replace(theme, representatives=tuple(quotes[p] for p in theme.paper_ids[:REPRESENTATIVES]))
            for theme in themes
        )
        borderline = tuple(member.paper_id for member in found.borderline)
        coverage = _coverage(found.read, found.skipped, tuple(quotes), borderline, themes)
        places = topic_places(paper_ids, vectors, themes)
        report = ThemeReport(
            self.request.kind, self.topic, themes, coverage, found.members, found.borderline, places
        )
        return report, quotes

    def _name(self, themes: list[Theme]) -> Iterator[Event]:
        """Replace labels by the headings a model gives, and tell of those that changed.

        After all is written: between the themes it would make the local model forget the prompt they share.
        """
        papers = number(self.claims, self.papers)[1]
        for place, theme in enumerate(themes):
            heading = self._heading(theme)
            if heading and heading not in [other.label for other in themes]:
                themes[place] = replace(theme, label=heading)
                yield ThemeWritten(themes[place], place, len(themes), papers)

    def _heading(self, theme: Theme) -> str:
        """Return the heading a model gives a theme if its words stand in the members, else nothing."""
        writer = self.parts.writer
        if writer is None or self.broken or not theme.terms:
            return ""
        members = self.snapshot.papers_of(theme.paper_ids[:60])
        names = "; ".join(one_line(paper.name)[:80] for paper in members[:5] if not looks_like_instruction(paper.name))
        terms = "; ".join(one_line(term) for term in theme.terms)
        heading = self._asked(writer, load_prompt("theme_label").render(max_tokens=16, terms=terms, papers=names))
        words = [frozenset(row) for row in tokenize([paper_text(paper) for paper in members])]
        if not 0 < len(heading.split()) <= 6 or len(heading) > 60:
            return ""
        holds = label_holds(heading, words, lambda text: tokenize([text])[0])
        return heading[:1].upper() + heading[1:] if holds else ""

    def _asked(self, writer: Writer, prompt: Prompt) -> str:
        try:
            text, used = reply(writer, prompt)
        except ProviderError:
            return ""  # the label made in code stands; the writing that follows tells of the trouble
        self.usage += used
        return text.split("\n")[0].strip(" .:#*\"'")

    def _write(self, theme: Theme, quotes: Mapping[str, Quote]) -> _Written:
        """Write of a theme from its own quotes only; try once more when that fails."""
        evidence, papers = self._evidence(theme, quotes)
        if not evidence:
            return _Written((), failed="no sentence of its papers can be used")
        if self.broken:
            return _Written((), failed=self.broken)
        subject = theme.label if not self.topic else f"{self.topic} ({theme.label})"
        question = f"What do these papers do about {one_line(subject)}?"
        plan = Plan(self.question, question, language_of(self.question), THEME.name, ())
        failed = ""
        removed: list[Claim] = []
        for _ in range(2):
            drafts = None if self.parts.writer else [Draft(item.text, (item,)) for item in evidence[:REPRESENTATIVES]]
            try:
                done = self.owner.pipeline.compose(THEME, plan, evidence, papers, drafts)
            except ProviderError as error:
                failed = str(error)
                if not error.retry:
                    self.broken = failed  # asking for the next theme cannot help either
                    break
                continue
            self.usage += done.usage
            removed += done.removed
            if done.claims:
                return _Written(done.claims, tuple(removed))
            failed = UNNAMED
        return _Written((), tuple(removed), failed)

    def _evidence(
        self, theme: Theme, quotes: Mapping[str, Quote]
    ) -> tuple[tuple[Evidence, ...], dict[str, Paper]]:
        """Return the sentences a writer sees of a theme, one of each of its middle papers, within its budget."""
        small = self.parts.small or not self.parts.writer
        budget = THEME.small_tokens if small else THEME.large_tokens
        count = THEME.cited_papers if small else THEME.papers
        ids = theme.paper_ids[: 2 * count]
        chosen = [quotes[paper_id] for paper_id in ids if paper_id in quotes]
        if not quotes:
            vectors = paper_vectors(self.snapshot, theme.paper_ids)
            chosen = list(self.owner.quotes(self.snapshot, theme, vectors, theme.paper_ids, 2 * count))
        evidence: list[Evidence] = []
        spent = 0
        for rank, quote in enumerate(chosen):
            size = self.parts.count_tokens(quote.text) + 12
            if looks_like_instruction(quote.text) or len(evidence) == count or (evidence and spent + size > budget):
                continue
            spent += size
            evidence.append(Evidence("", quote.paper_id, quote.start, quote.end, quote.text, 1 - rank / 100))
        papers = {paper.id: paper for paper in self.snapshot.papers_of(item.paper_id for item in evidence)}
        return assign_keys(evidence), papers

    def _numbered(self, theme: Theme, written: _Written) -> tuple[Theme, tuple[Paper, ...]]:
        self.claims += written.claims
        cited = {item.paper_id for _, evidence in written.claims for item in evidence}
        self.papers |= {paper.id: paper for paper in self.snapshot.papers_of(sorted(cited))}
        numbered, papers = number(self.claims, self.papers)
        own = numbered[len(numbered) - len(written.claims) :]
        return replace(theme, claims=own, removed=written.removed, failed=written.failed), papers

    def _list_members(self, members: Sequence[Member]) -> None:
        """Make each member of a list a claim: the sentence that made it count, checked like any other."""
        self.papers = {paper.id: paper for paper in self.snapshot.papers_of(member.paper_id for member in members)}
        plan = Plan(self.question, self.question, "en", THEME.name, ())  # a quote stays in the original
        for member in members:
            quote = member.quote
            item = Evidence("", quote.paper_id, quote.start, quote.end, quote.text)
            done = self.owner.pipeline.compose(
                THEME, plan, (item,), {quote.paper_id: self.papers[quote.paper_id]}, [Draft(quote.text, (item,))]
            )
            self.claims += done.claims

    def _answer(self, report: ThemeReport, timings: Timings) -> Answer:
        claims, papers = number(self.claims, self.papers)
        nothing = not report.coverage.relevant
        return Answer(
            question=self.question,
            kind=self.request.kind,
            abstained=nothing and self.request.kind == "theme",
            text=answer_text(report, claims, {paper.id: paper for paper in papers}, language_of(self.question)),
            claims=claims,
            papers=papers,
            retrieved=report.coverage.relevant,
            writer=self.parts.writer_name,
            usage=self.usage,
            timings=timings,
            removed=tuple(claim for theme in report.themes for claim in theme.removed),
            note=self.note,
            themes=report,
        )


def _coverage(
    read: Sequence[str],
    skipped: Sequence[LeftOut],
    relevant: Sequence[str],
    borderline: Sequence[str],
    themes: Sequence[Theme],
) -> Coverage:
    assigned = tuple(paper_id for theme in themes for paper_id in theme.paper_ids)
    inside = set(assigned)
    unassigned = tuple(LeftOut(paper_id, FAR_OFF) for paper_id in relevant if paper_id not in inside)
    corpus = tuple(sorted([*read, *(left.paper_id for left in skipped)]))
    return Coverage(corpus, tuple(read), tuple(relevant), tuple(borderline), assigned, unassigned, tuple(skipped))


def _again(answer: Answer, began: float) -> Iterator[Event]:
    """Yield the events of an answer made before."""
    report = answer.themes
    assert report is not None, "only answers with themes are kept"
    bare = tuple(replace(theme, claims=(), removed=(), failed=None) for theme in report.themes)
    yield ThemesFound(replace(report, themes=bare))
    if answer.kind == "theme":
        for place, theme in enumerate(report.themes):
            yield ThemeWritten(theme, place, len(report.themes), answer.papers)
    seconds = time.perf_counter() - began
    yield AnswerDone(replace(answer, usage=Usage(), timings=Timings(seconds, seconds, seconds)))


def _plain(filters: Filters | None) -> list[list[str]]:
    fields = astuple(filters) if filters else ()
    return [sorted(str(value) for value in values) for values in fields]
