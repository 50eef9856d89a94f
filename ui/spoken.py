"""An exchange as it stands in the conversation: safe Markdown, with tables and lists as HTML that is made here."""

from __future__ import annotations

import re
from typing import Any

from rag import Cell, Claim, Comparison, Side, SideStatus, Theme, cell_text, language_of, render
from ui.conversation import Conversation, Exchange
from ui.text import answer_markdown, attribute, claim_markdown, plain
from ui.words import ENGLISH, Words, counted, plural

_ONLY_COMPARING = frozenset(
    (
        *("a", "an", "and", "are", "between", "compare", "comparison", "compared", "contrast", "difference"),
        *("differences", "differ", "different", "do", "does", "from", "how", "in", "is", "of", "or", "please"),
        *("the", "to", "versus", "vs", "what", "with"),
    )
)
"""The words of a question that compares without saying in what respect."""

MOST_OPTIONS = 6
"""Candidates offered for a side that fits several papers."""


def messages(session: Conversation) -> list[dict[str, Any]]:
    """Return the conversation for `gr.Chatbot`: two messages for each exchange."""
    shown: list[dict[str, Any]] = []
    for exchange in session.exchanges:
        answer: dict[str, Any] = {"role": "assistant", "content": spoken(exchange, session.words)}
        if chosen := choices(exchange):
            answer["options"] = [{"value": question, "label": label} for label, question in chosen]
        shown += [{"role": "user", "content": f"<span>{plain(exchange.question)}</span>"}, answer]
    return shown


def spoken(exchange: Exchange, words: Words = ENGLISH) -> str:
    """Return the answer so far as Markdown for the conversation."""
    parts = []
    if body := _body(exchange):
        parts.append(f'<span class="pl-answer">{body}</span>')
    if exchange.comparison and exchange.comparison.aspects:
        parts.append(grid(exchange, exchange.comparison, words))
    if exchange.report:
        parts.append(_themes(exchange, words) if exchange.report.kind == "theme" else _list(exchange))
    if exchange.answer and exchange.answer.note:
        parts.append(f'<span class="pl-note">{plain(exchange.answer.note)}</span>')
    if exchange.error:
        parts.append(f'<span class="pl-error">{plain(exchange.error)}</span>')
    if exchange.stopped:
        parts.append(f'<span class="pl-note">{words["stopped_checked" if exchange.all_claims else "stopped"]}</span>')
    if not parts:
        parts.append('<span class="pl-wait">…</span>')
    if said := summary(exchange, words):
        parts.append(f'<span class="pl-foot">{plain(said)}</span>')
    return "\n\n".join(part for part in parts if part)


def summary(exchange: Exchange, words: Words = ENGLISH) -> str:
    """Return in one line what was checked, removed and used; empty while the answer is being made."""
    answer = exchange.answer
    if answer is None:
        return ""
    parts = []
    if checked := len(exchange.all_claims):
        parts.append(plural(words, "checked", checked))
    if answer.removed:
        parts.append(plural(words, "removed", len(answer.removed)))
    parts.append(words["seconds"].format(n=f"{answer.timings.total:.1f}"))
    used = answer.usage
    if used.prompt_tokens or used.completion_tokens:
        key = "tokens_estimated" if used.estimated else "tokens"
        parts.append(words[key].format(read=f"{used.prompt_tokens:,}", written=f"{used.completion_tokens:,}"))
    return " · ".join(parts)


def choices(exchange: Exchange) -> list[tuple[str, str]]:
    """Return the papers an ambiguous side may be, each as its name and the question that means it.

    A side that stands for a whole group is not one word to be replaced: its papers are shown as cards only.
    """
    comparison = exchange.comparison
    if not exchange.ended or comparison is None:
        return []
    found: list[tuple[str, str]] = []
    papers = {paper.id: paper for paper in exchange.candidates}
    for side in comparison.sides:
        if side.status is not SideStatus.AMBIGUOUS or len(comparison.sides) < 2:
            continue
        for paper in (papers[i] for i in side.paper_ids if i in papers):
            if question := _meaning(exchange.question, comparison, side, paper.name):
                found.append((paper.name, question))
    return found[:MOST_OPTIONS]


def _meaning(question: str, comparison: Comparison, side: Side, name: str) -> str:
    """Return the question with a side's words replaced by a paper's name; empty where they do not stand in it."""
    rest = question
    for other in comparison.sides:
        rest = rest.replace(other.asked or other.name, " ")
    if set(re.findall(r"[^\W_]+", rest.casefold())) <= _ONLY_COMPARING:
        # No aspect is asked for. This form is understood whatever words a title is made of.
        names = [f"“{name if other is side else other.asked or other.name}”" for other in comparison.sides]
        return f"Compare {names[0]} with {' and '.join(names[1:])}"
    head, asked, tail = question.partition(side.asked or side.name)
    return f"{head}“{name}”{tail}" if asked else ""


def _body(exchange: Exchange) -> str:
    """Return the text of the answer, its citations as links to the cards."""
    answer = exchange.answer
    if exchange.report:
        return plain(answer.text.partition("\n")[0]) if answer else ""
    if answer and (answer.abstained or not exchange.claims):
        return plain(answer.text)
    claims = answer_markdown(exchange.claims, exchange.papers, exchange.card)
    if answer and exchange.comparison:
        # The claims stand among lines about the sides.
        before, _, after = answer.text.partition(render(answer.claims))
        return " ".join(part for part in (plain(before), claims, plain(after)) if part)
    return claims


def _list(exchange: Exchange) -> str:
    """Return the papers of a list question with the sentence that makes each one count."""
    if not exchange.claims:
        return ""
    return f'<ul class="pl-themes">{"".join(f"<li>{_quoted(claim, exchange)}</li>" for claim in exchange.claims)}</ul>'


def _quoted(claim: Claim, exchange: Exchange) -> str:
    """Return a claim of a list question below the name of its paper."""
    n = claim.citations[0].n
    name = plain(exchange.papers[n - 1].name)
    return f"<strong>{name}</strong>: {claim_markdown(claim, exchange.papers, exchange.card)}"


def grid(exchange: Exchange, comparison: Comparison, words: Words) -> str:
    """Return the table of a comparison: a row for each aspect, a column for each side that was found."""
    places = [place for place, side in enumerate(comparison.sides) if side.status is SideStatus.FOUND]
    heads = "".join(f'<th scope="col">{attribute(comparison.sides[place].name)}</th>' for place in places)
    cells = {(cell.aspect, cell.side): cell for cell in comparison.cells}
    rows = []
    for aspect in comparison.aspects:
        shown = "".join(f"<td>{_cell(cells.get((aspect.key, place)), exchange, words)}</td>" for place in places)
        rows.append(f'<tr><th scope="row">{attribute(aspect.label)}</th>{shown}</tr>')
    # No blank line: Markdown ends HTML there.
    return (
        '<div class="pl-scroll" tabindex="0"><table class="pl-grid">'
        f'<thead><tr><th scope="col">{words["aspect"]}</th>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _cell(cell: Cell | None, exchange: Exchange, words: Words) -> str:
    if cell is None:
        return ""
    if cell.claim is None:
        silent = cell_text(cell, language_of(exchange.question))
        return f'<span class="pl-silent">{attribute(silent)}</span>'
    said = claim_markdown(cell.claim, exchange.papers, exchange.card)
    verdict = words[cell.claim.support.value]
    mark = f'<span class="pl-mark pl-{cell.claim.support.value}" title="{verdict}">{verdict[0]}</span>'
    return f'<span class="{"pl-quote" if cell.claim.verbatim else "pl-said"}">{said}</span> {mark}'


def _themes(exchange: Exchange, words: Words) -> str:
    assert exchange.report is not None, "the caller has looked"
    items = "".join(
        f"<li>{_theme(theme, place, exchange, words)}</li>" for place, theme in enumerate(exchange.report.themes)
    )
    return f'<ul class="pl-themes">{items}</ul>'


def _theme(theme: Theme, place: int, exchange: Exchange, words: Words) -> str:
    head = (
        f'<a class="pl-jump" href="#theme-{exchange.number}-{place}">{plain(theme.label)}</a> '
        f'<span class="pl-count">({counted(words, theme.size)})</span>'
    )
    if theme.failed:
        return f"{head} {plain(words['theme_failed'].format(reason=theme.failed))}"
    return f"{head} {answer_markdown(theme.claims, exchange.papers, exchange.card)}"


__all__ = ["choices", "grid", "messages", "spoken", "summary"]
