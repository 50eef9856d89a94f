"""The papers of the index as a table: found, filtered, sorted and cut into pages; one of them opened as a card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock

from rag import Assistant, Filters, Paper
from ui.cards import action, paper_card
from ui.text import attribute
from ui.words import ENGLISH, Words, counted

PAGE = 25
"""Papers on a page of the table."""

MOST_CHOICES = 500
"""Values offered for a filter, the most frequent ones."""

COLUMNS = ("title", "authors", "year", "venue", "source")


@dataclass(frozen=True, slots=True)
class LibraryView:
    """What of the library one tab shows. `page` counts from 0; `opened` is the id of the paper beside the table,
    and `sure` that of the one that was asked to be removed once."""

    query: str = ""
    filters: Filters = field(default_factory=Filters)
    sort: str = "source"
    descending: bool = False
    page: int = 0
    opened: str = ""
    sure: str = ""


class Corpus:
    """All papers of an index, read anew when the index has changed. Threads may share it."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._lock = Lock()
        self._state: str | None = None
        self._papers: list[Paper] = []
        self._texts: list[str] = []

    def rows(self) -> list[tuple[Paper, str]]:
        """Return the papers in the order of their sources, each with the text it is found by."""
        state = self._assistant.snapshot().state
        with self._lock:
            if state != self._state:
                self._papers = self._assistant.papers()
                self._texts = [_text(paper) for paper in self._papers]
                self._state = state
            return list(zip(self._papers, self._texts, strict=True))

    def paper(self, paper_id: str) -> Paper | None:
        """Return a paper by its id, None when there is none."""
        return next((paper for paper, _ in self.rows() if paper.id == paper_id), None)

    def choices(self) -> dict[str, list[str]]:
        """Return what can be filtered by: files, years, venues and keywords, as far as papers have them."""
        papers = [paper for paper, _ in self.rows()]
        years = sorted({paper.year for paper in papers if paper.year}, reverse=True)
        return {
            "source": _frequent(source.file for paper in papers for source in paper.sources),
            "year": [str(year) for year in years],
            "venue": _frequent(paper.venue for paper in papers if paper.venue),
            "keyword": _frequent(word for paper in papers for word in paper.keywords),
        }


def found(rows: Iterable[tuple[Paper, str]], view: LibraryView) -> list[Paper]:
    """Return the papers that have every word of the query and pass the filters, sorted."""
    wanted = view.query.casefold().split()
    papers = [
        paper
        for paper, text in rows
        if all(word in text for word in wanted) and _admitted(paper, view.filters)
    ]
    if view.sort == "source":
        return papers[::-1] if view.descending else papers
    known = [paper for paper in papers if _key(view.sort, paper)]
    unknown = [paper for paper in papers if not _key(view.sort, paper)]
    # What is not known of a paper stands last, whichever way the others are sorted.
    return sorted(known, key=lambda paper: _key(view.sort, paper), reverse=view.descending) + unknown


def act(view: LibraryView, name: str, target: str) -> LibraryView:
    """Return the view after an action of its table or card; an unknown action changes nothing."""
    match name:
        case "sort" if target in COLUMNS:
            return replace(view, sort=target, descending=target == view.sort and not view.descending, page=0)
        case "page" if target.isascii() and target.isdigit():
            return replace(view, page=int(target))
        case "open":
            return replace(view, opened=target, sure="")
        case _:
            return view


def table(papers: Sequence[Paper], view: LibraryView, total: int, words: Words = ENGLISH) -> str:
    """Return the page of the table as HTML: how many there are, the columns to sort by, a row for each paper.

    `papers` are those found among `total`.
    """
    if not papers:
        return f'<p class="pl-hint">{words["library_none"]}</p>'
    first = min(view.page, (len(papers) - 1) // PAGE) * PAGE
    shown = papers[first : first + PAGE]
    heads = "".join(_head(column, view, words) for column in COLUMNS)
    rows = "".join(_row(paper, paper.id == view.opened) for paper in shown)
    count = words["library_count"].format(
        n=f"{len(papers):,}", papers=counted(words, total), first=f"{first + 1:,}", last=f"{first + len(shown):,}"
    )
    page = first // PAGE
    turn = action("page", page - 1, words["previous"]) if page else ""
    turn += action("page", page + 1, words["next"]) if first + PAGE < len(papers) else ""
    return (
        f'<p class="pl-hint" role="status">{count}</p><div class="pl-scroll" tabindex="0">'
        f'<table class="pl-grid pl-library"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
        f'<div class="pl-actions">{turn}</div>'
    )


def details(paper: Paper | None, view: LibraryView, words: Words = ENGLISH) -> str:
    """Return the card of the opened paper with the button that removes it, when it is chosen twice."""
    if paper is None:
        return f'<p class="pl-hint">{words["details"]}</p>'
    sure = view.sure == paper.id
    button = action("remove", paper.id, words["remove_sure" if sure else "remove"])
    return f'{paper_card(paper, (), words=words)}<div class="pl-actions">{button}</div>'


def filters_of(
    sources: Sequence[str] | None,
    years: Sequence[str] | None,
    venues: Sequence[str] | None,
    keywords: Sequence[str] | None,
) -> Filters:
    """Return filters from what was chosen."""
    return Filters(
        years=frozenset(int(year) for year in years or () if year.isascii() and year.isdigit()),
        venues=frozenset(venues or ()),
        sources=frozenset(sources or ()),
        keywords=frozenset(keywords or ()),
    )


def _admitted(paper: Paper, filters: Filters) -> bool:
    """Tell whether a paper has what was chosen: the values are offered as they stand in the papers."""
    return (
        (not filters.years or paper.year in filters.years)
        and (not filters.venues or paper.venue in filters.venues)
        and (not filters.sources or any(source.file in filters.sources for source in paper.sources))
        and (not filters.keywords or not filters.keywords.isdisjoint(paper.keywords))
    )


def _head(column: str, view: LibraryView, words: Words) -> str:
    order = "none" if view.sort != column else "descending" if view.descending else "ascending"
    arrow = {"ascending": " ▲", "descending": " ▼"}.get(order, "")
    return f'<th scope="col" aria-sort="{order}">{action("sort", column, words[column] + arrow)}</th>'


def _row(paper: Paper, opened: bool) -> str:
    authors = ", ".join(paper.authors[:3]) + (" …" if len(paper.authors) > 3 else "")
    name = action("open", paper.id, paper.name)
    cells = (authors, str(paper.year or ""), paper.venue or "", str(paper.source or ""))
    shown = "".join(f"<td>{attribute(cell)}</td>" for cell in cells)
    return f'<tr{" class=pl-opened" if opened else ""}><th scope="row">{name}</th>{shown}</tr>'


_KEYS: dict[str, Callable[[Paper], str]] = {
    "title": lambda paper: paper.name.casefold(),
    "authors": lambda paper: " ".join(paper.authors[:1]).casefold(),
    "year": lambda paper: str(paper.year or ""),
    "venue": lambda paper: (paper.venue or "").casefold(),
}


def _key(column: str, paper: Paper) -> str:
    return _KEYS[column](paper)


def _text(paper: Paper) -> str:
    parts = [paper.name, paper.label, *paper.authors, *paper.keywords, paper.abstract]
    return "\n".join(parts).casefold()


def _frequent(values: Iterable[str]) -> list[str]:
    return sorted(value for value, _ in Counter(values).most_common(MOST_CHOICES))


__all__ = ["COLUMNS", "PAGE", "Corpus", "LibraryView", "act", "details", "filters_of", "found", "table"]
