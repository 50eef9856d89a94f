"""What one browser tab has asked and been answered: the only state of a session."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from rag import (
    Answer,
    AnswerDone,
    CellChecked,
    Claim,
    ClaimChecked,
    Comparison,
    ComparisonFound,
    Event,
    EvidenceFound,
    Paper,
    StepStarted,
    ThemeReport,
    ThemesFound,
    ThemeWritten,
    Turn,
    Usage,
)
from ui.running import Run
from ui.settings import Settings
from ui.words import Words


@dataclass(slots=True, eq=False)
class Exchange:
    """One question with everything that has arrived of its answer. `number` is its place, from 1.

    `claims`, `papers`, `comparison` and `report` are what has passed so far, numbered as in the answer. One of
    `answer`, `error` and `stopped` is set when it has ended. `candidates` are the papers that an ambiguous side
    may be; `opened` are the lists of papers that are shown and `names` what they are called; `rating` is what the
    user thought of it.
    """

    number: int
    question: str
    steps: list[str] = field(default_factory=list)
    evidence: EvidenceFound | None = None
    claims: tuple[Claim, ...] = ()
    papers: tuple[Paper, ...] = ()
    comparison: Comparison | None = None
    report: ThemeReport | None = None
    written: int = 0
    answer: Answer | None = None
    error: str | None = None
    stopped: bool = False
    candidates: tuple[Paper, ...] = ()
    opened: set[str] = field(default_factory=set)
    names: dict[str, str] = field(default_factory=dict)
    rating: str = ""

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.answer is not None or self.error is not None or self.stopped

    @property
    def card(self) -> str:
        """What the ids of this exchange's evidence cards begin with."""
        return f"card-{self.number}"

    @property
    def all_claims(self) -> tuple[Claim, ...]:
        """The claims of the text, those of the cells of a comparison and those of the themes."""
        cells = (cell.claim for cell in self.comparison.cells) if self.comparison else ()
        themes = (claim for theme in self.report.themes for claim in theme.claims) if self.report else ()
        return tuple(dict.fromkeys((*self.claims, *(claim for claim in cells if claim), *themes)))

    def take(self, event: Event) -> bool:
        """Add what an event brings and tell whether it was anything: a sign of life brings nothing."""
        match event:
            case StepStarted(step) if step not in self.steps:
                # Only the last of the numbered ones is of interest.
                numbered = step.startswith("writing about theme")
                self.steps = [s for s in self.steps if not (numbered and s.startswith("writing about theme"))]
                self.steps.append(step)
            case EvidenceFound():
                self.evidence = event
            case ComparisonFound(comparison, papers):
                self.comparison, self.papers = comparison, papers
            case CellChecked(cell, papers) if self.comparison:
                place = (cell.aspect, cell.side)
                cells = [cell if (old.aspect, old.side) == place else old for old in self.comparison.cells]
                self.comparison, self.papers = replace(self.comparison, cells=tuple(cells)), papers
            case ClaimChecked(claim, papers):
                self.claims, self.papers = (*self.claims, claim), papers
            case ThemesFound(report):
                self.report = report
            case ThemeWritten(theme, at, _, papers) if self.report:
                themes = [theme if place == at else old for place, old in enumerate(self.report.themes)]
                self.report, self.papers = replace(self.report, themes=tuple(themes)), papers
                self.written = at + 1
            case AnswerDone(answer):
                self.answer, self.claims, self.papers = answer, answer.claims, answer.papers
                self.comparison, self.report = answer.comparison, answer.themes
                self.written = len(answer.themes.themes) if answer.themes else 0
            case _:
                return False
        return True


@dataclass(slots=True, eq=False)
class Conversation:
    """The exchanges of one tab; `viewed` is the number of the one whose evidence is shown.

    `editing` is the number of the exchange that the next question replaces, 0 for none. `notice` is shown once.
    """

    exchanges: list[Exchange] = field(default_factory=list)
    viewed: int = 0
    run: Run | None = None
    settings: Settings = field(default_factory=Settings)
    editing: int = 0
    notice: str = ""

    @property
    def words(self) -> Words:
        """The texts of the interface."""
        return self.settings.words

    def begin(self, question: str) -> Exchange:
        """Add a question and show its evidence from now on; what it was to replace goes."""
        if self.editing:
            del self.exchanges[self.editing - 1 :]
            self.editing = 0
        exchange = Exchange(len(self.exchanges) + 1, question)
        self.exchanges.append(exchange)
        self.viewed = exchange.number
        return exchange

    def clear(self) -> None:
        """Forget everything; an answer on its way is stopped."""
        if self.run:
            self.run.stop()
        self.exchanges, self.viewed, self.run, self.editing = [], 0, None, 0

    def shown(self) -> Exchange | None:
        """Return the exchange in view."""
        return self.exchanges[self.viewed - 1] if 0 < self.viewed <= len(self.exchanges) else None

    def view_message(self, place: int) -> None:
        """Show the evidence of the exchange that a message belongs to; `place` counts messages from 0."""
        if 0 <= place < 2 * len(self.exchanges):
            self.viewed = place // 2 + 1

    def history(self, before: int = 0) -> list[Turn]:
        """Return what was said before an exchange; questions that failed are not part of it.

        By default before the next question, which may take the place of the one being edited.
        """
        turns = []
        before = before or self.editing or len(self.exchanges) + 1
        for exchange in self.exchanges[: before - 1]:
            if exchange.answer:
                said = exchange.answer.text
            elif exchange.claims:
                said = " ".join(claim.text for claim in exchange.claims)
            else:
                continue
            turns += [Turn("user", exchange.question), Turn("assistant", said)]
        return turns

    def usage(self) -> Usage:
        """Return what all answers together used."""
        used = Usage()
        for exchange in self.exchanges:
            used += exchange.answer.usage if exchange.answer else Usage()
        return used


__all__ = ["Conversation", "Exchange"]
