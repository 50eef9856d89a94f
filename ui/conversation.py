"""What one browser tab has asked and been answered: the only state of a session."""

from __future__ import annotations

from dataclasses import dataclass, field

from rag import Answer, AnswerDone, Claim, ClaimChecked, EvidenceFound, Paper, StepStarted, Turn
from ui.running import Event, Run
from ui.text import answer_markdown, plain

FAULT = "Plenary met a fault of its own; what happened stands in the window it was started from. Ask again."
"""Shown when an answer ended without a reason a user could be told."""


@dataclass(slots=True, eq=False)
class Exchange:
    """One question with everything that has arrived of its answer. `number` is its place, from 1.

    `claims` and `papers` are those that have passed so far, numbered as in the answer. One of `answer`,
    `error` and `stopped` is set when it has ended.
    """

    number: int
    question: str
    steps: list[str] = field(default_factory=list)
    evidence: EvidenceFound | None = None
    claims: tuple[Claim, ...] = ()
    papers: tuple[Paper, ...] = ()
    answer: Answer | None = None
    error: str | None = None
    stopped: bool = False

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.answer is not None or self.error is not None or self.stopped

    @property
    def card(self) -> str:
        """What the ids of this exchange's evidence cards begin with."""
        return f"card-{self.number}"

    def take(self, event: Event) -> bool:
        """Add what an event brings and tell whether it was anything: a sign of life brings nothing."""
        match event:
            case StepStarted(step) if step not in self.steps[-1:]:
                self.steps.append(step)
            case EvidenceFound():
                self.evidence = event
            case ClaimChecked(claim, papers):
                self.claims, self.papers = (*self.claims, claim), papers
            case AnswerDone(answer):
                self.answer, self.claims, self.papers = answer, answer.claims, answer.papers
            case _:
                return False
        return True

    def spoken(self) -> str:
        """Return the answer so far as Markdown for the conversation."""
        refused = self.answer is not None and self.answer.abstained
        body = plain(self.answer.text) if self.answer and refused else ""
        body = body or answer_markdown(self.claims, self.papers, self.card)
        parts = [f'<span class="pl-answer">{body}</span>'] if body else []
        if self.answer and self.answer.note:
            parts.append(f'<span class="pl-note">{plain(self.answer.note)}</span>')
        if self.error:
            parts.append(f'<span class="pl-error">{plain(self.error)}</span>')
        if self.stopped:
            kept = "Stopped. What stands above was checked." if self.claims else "Stopped."
            parts.append(f'<span class="pl-note">{kept}</span>')
        if not parts:
            parts.append('<span class="pl-wait">…</span>')
        if summary := self.summary():
            parts.append(f'<span class="pl-foot">{plain(summary)}</span>')
        return "\n\n".join(parts)

    def summary(self) -> str:
        """Return in one line what was checked and removed; empty while the answer is being made."""
        if self.answer is None:
            return ""
        checked, removed = len(self.answer.claims), len(self.answer.removed)
        parts = []
        if checked:
            parts.append(f"{checked} {'sentence' if checked == 1 else 'sentences'} checked")
        if removed:
            parts.append(f"{removed} removed because {'it' if removed == 1 else 'they'} did not pass")
        parts.append(f"{self.answer.timings.total:.1f} s")
        return " · ".join(parts)


@dataclass(slots=True, eq=False)
class Conversation:
    """The exchanges of one tab; `viewed` is the number of the one whose evidence is shown."""

    exchanges: list[Exchange] = field(default_factory=list)
    viewed: int = 0
    run: Run | None = None

    def begin(self, question: str) -> Exchange:
        """Add a question and show its evidence from now on."""
        exchange = Exchange(len(self.exchanges) + 1, question)
        self.exchanges.append(exchange)
        self.viewed = exchange.number
        return exchange

    def clear(self) -> None:
        """Forget everything; an answer on its way is stopped."""
        if self.run:
            self.run.stop()
        self.exchanges, self.viewed, self.run = [], 0, None

    def shown(self) -> Exchange | None:
        """Return the exchange in view."""
        return self.exchanges[self.viewed - 1] if self.viewed else None

    def view_message(self, place: int) -> None:
        """Show the evidence of the exchange that a message belongs to; `place` counts messages from 0."""
        if 0 <= place < 2 * len(self.exchanges):
            self.viewed = place // 2 + 1

    def history(self) -> list[Turn]:
        """Return what was said so far for the next question; questions that failed are not part of it."""
        turns = []
        for exchange in self.exchanges:
            if exchange.answer:
                said = exchange.answer.text
            elif exchange.claims:
                said = " ".join(claim.text for claim in exchange.claims)
            else:
                continue
            turns += [Turn("user", exchange.question), Turn("assistant", said)]
        return turns

    def messages(self) -> list[dict[str, str]]:
        """Return the conversation for `gr.Chatbot`: two messages for each exchange, as safe Markdown."""
        return [
            message
            for exchange in self.exchanges
            for message in (
                {"role": "user", "content": f"<span>{plain(exchange.question)}</span>"},
                {"role": "assistant", "content": exchange.spoken()},
            )
        ]


__all__ = ["FAULT", "Conversation", "Exchange"]
