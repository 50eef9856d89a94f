"""From groups to themes: names them, chooses who stands for each, keeps the groups of a corpus while it grows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rag.telling import standing
from rag.theme_labels import SAMPLE, group_terms, label_of, naming_words, read_runs, term_sets, written_forms
from rag.theme_map import lay_out, place_beside
from rag.themes import LARGE, RENEWED, Grouping, assign_papers, group_papers, shift
from rag.types import Paper, Place, Quote, Span, Theme, Vectors

ReadPapers = Callable[[Sequence[str]], Sequence[Paper]]
ReadSentences = Callable[[str], tuple[Sequence[Span], NDArray[np.float32]]]
"""The sentences of a paper by its id: their spans and their unit vectors, shape (n, d)."""

REPRESENTATIVES, OUTLIERS = 3, 3
"""Papers whose words stand for a theme, and papers named as fitting least, of a theme of at least twice as many."""


@dataclass(frozen=True, slots=True)
class KeptThemes:
    """The themes of a corpus state: its papers in the order of their ids, their grouping, their points (n, 2), the
    terms of each group and of each upper theme. `formed` papers were there when the groups were formed, `changed`
    have come or gone since."""

    state: str
    paper_ids: tuple[str, ...]
    grouping: Grouping
    points: NDArray[np.float32]
    terms: tuple[tuple[str, ...], ...]
    upper_terms: tuple[tuple[str, ...], ...]
    formed: int
    changed: int = 0


def form_themes(
    state: str, paper_ids: Sequence[str], vectors: Vectors, papers: ReadPapers, old: KeptThemes | None = None
) -> KeptThemes:
    """Form the themes of a corpus; `paper_ids` are sorted and `vectors` (n, d) theirs.

    With `old` the groups are sought from its centres, so that most papers stay together with those they were with.
    """
    start = None
    if old is not None and len(old.grouping.centres):
        start = shift(old.grouping.centres + old.grouping.origin, vectors.mean(axis=0)) if len(vectors) else None
    grouping = group_papers(vectors, start=start)
    terms, upper_terms = name_groups(paper_ids, vectors, grouping, papers)
    points = lay_out(shift(vectors, grouping.origin))
    return KeptThemes(state, tuple(paper_ids), grouping, points, terms, upper_terms, len(paper_ids))


def join_themes(old: KeptThemes, state: str, paper_ids: Sequence[str], vectors: Vectors) -> KeptThemes | None:
    """Return the kept themes for a corpus that has changed a little: what was grouped stays where it is, new papers
    go to the nearest group. None when so much has changed that themes are to be formed anew (`themes.RENEWED`), or
    the corpus has come to a size where there are two levels."""
    place = {paper_id: row for row, paper_id in enumerate(old.paper_ids)}
    rows = np.array([place.get(paper_id, -1) for paper_id in paper_ids], np.int64)
    new = rows < 0
    changed = old.changed + int(new.sum()) + len(old.paper_ids) - int((~new).sum())
    crossed = (old.formed < LARGE) != (len(paper_ids) < LARGE)
    if changed > RENEWED * max(old.formed, 1) or crossed or not len(paper_ids):
        return None
    groups = np.where(new, -1, old.grouping.groups[rows])
    points = np.asarray(old.points[rows], np.float32)
    if new.any():
        groups[new], _ = assign_papers(vectors[new], old.grouping)
        shifted = shift(vectors, old.grouping.origin)
        points[new] = place_beside(shifted[new], shifted[~new], points[~new])
    grouping = replace(old.grouping, groups=groups)
    return replace(
        old, state=state, paper_ids=tuple(paper_ids), grouping=grouping, points=points, changed=changed
    )


def name_groups(
    paper_ids: Sequence[str], vectors: Vectors, grouping: Grouping, papers: ReadPapers
) -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]:
    """Return the terms of each group and of each upper theme, as most members write them."""
    count = len(grouping.centres)
    near = _nearness(vectors, grouping)
    rows = [_nearest_rows(grouping.groups == place, near, SAMPLE) for place in range(count)]
    chosen = np.concatenate([np.zeros(0, np.int64), *rows])
    read = papers([paper_ids[row] for row in chosen])
    runs = read_runs(read)
    sets = term_sets(runs)
    naming = naming_words(runs, (name for paper in read for name in (paper.name, *paper.keywords)))
    levels = [(grouping.groups[chosen], count)]
    uppers = int(grouping.parents.max()) + 1 if count else 0
    if uppers and uppers != count:
        levels.append((grouping.parents[grouping.groups[chosen]], uppers))
    named = [group_terms(sets, groups, number, naming=naming) for groups, number in levels]
    forms = written_forms((term for level in named for terms in level for term in terms), runs)
    lists = [tuple(tuple(forms[term] for term in terms) for terms in level) for level in named]
    return lists[0], lists[-1]


def _nearness(vectors: Vectors, grouping: Grouping) -> NDArray[np.float32]:
    """Return each paper's cosine with its own centre; of papers in no group it means nothing."""
    if not len(grouping.centres):
        return np.zeros(len(vectors), np.float32)
    shifted = shift(vectors, grouping.origin)
    return np.asarray((shifted * grouping.centres[grouping.groups]).sum(axis=1), np.float32)


def _nearest_rows(mask: NDArray[np.bool_], near: NDArray[np.float32], limit: int | None = None) -> NDArray[np.int64]:
    rows = np.flatnonzero(mask)
    return np.asarray(rows[np.argsort(-near[rows], kind="stable")][:limit], np.int64)


def whole_themes(kept: KeptThemes, vectors: Vectors) -> tuple[Theme, ...]:
    """Return the themes of a corpus, largest first; with two levels the groups are the children."""
    near = _nearness(vectors, kept.grouping)
    upper = kept.grouping.upper
    themes = []
    for place, terms in enumerate(kept.upper_terms):
        rows = np.flatnonzero(upper == place)
        if not len(rows):
            continue
        groups = [int(g) for g in np.flatnonzero(kept.grouping.parents == place)]
        children = tuple(
            _theme(kept.paper_ids, _nearest_rows(kept.grouping.groups == g, near), kept.terms[g])
            for g in groups
            if len(groups) > 1 and (kept.grouping.groups == g).any()
        )
        shifted = shift(vectors[rows], kept.grouping.origin)
        middle = shifted.mean(axis=0)
        ordered = rows[np.argsort(-(shifted @ middle), kind="stable")]
        children = tuple(sorted(children, key=lambda child: -child.size))
        themes.append(replace(_theme(kept.paper_ids, ordered, terms), children=children))
    return tuple(sorted(themes, key=lambda theme: -theme.size))


def sub_themes(paper_ids: Sequence[str], vectors: Vectors, papers: ReadPapers) -> tuple[Theme, ...]:
    """Return the themes within the papers of one topic, largest first; `paper_ids` are sorted."""
    count = len(paper_ids)
    if not count:
        return ()
    grouping = group_papers(vectors, sub_theme_count(count))
    grouping = replace(grouping, parents=np.arange(len(grouping.centres)))
    terms, _ = name_groups(paper_ids, vectors, grouping, papers)
    near = _nearness(vectors, grouping)
    themes = [
        _theme(paper_ids, _nearest_rows(grouping.groups == place, near), terms[place])
        for place in range(len(grouping.centres))
    ]
    return tuple(sorted(themes, key=lambda theme: -theme.size))


def sub_theme_count(papers: int) -> int:
    """Return how many sub-themes a topic has: none of fewer than six papers is divided, and eight fill a page."""
    return 1 if papers < 6 else max(2, min(8, round((papers / 2) ** 0.5)))


def _theme(paper_ids: Sequence[str], rows: Sequence[int] | NDArray[np.int64], terms: Sequence[str]) -> Theme:
    members = tuple(paper_ids[row] for row in rows)
    outliers = members[-OUTLIERS:] if len(members) >= 2 * OUTLIERS else ()
    return Theme(label_of(terms) or "Various", members, tuple(terms), outliers=outliers)


def map_places(kept: KeptThemes, themes: Sequence[Theme]) -> tuple[Place, ...]:
    """Return the point of every paper of a corpus with the place of its theme among `themes`."""
    return _places(kept.paper_ids, kept.points, themes)


def topic_places(paper_ids: Sequence[str], vectors: Vectors, themes: Sequence[Theme]) -> tuple[Place, ...]:
    """Return the points of the papers of a topic, laid out by themselves."""
    if not len(paper_ids):
        return ()
    return _places(paper_ids, lay_out(shift(vectors, vectors.mean(axis=0))), themes)


def _places(paper_ids: Sequence[str], points: NDArray[np.float32], themes: Sequence[Theme]) -> tuple[Place, ...]:
    theme_of = {paper_id: place for place, theme in enumerate(themes) for paper_id in theme.paper_ids}
    return tuple(
        Place(paper_id, round(float(x), 4), round(float(y), 4), theme_of.get(paper_id, -1))
        for paper_id, (x, y) in zip(paper_ids, points, strict=True)
    )


def central_quote(paper: Paper, spans: Sequence[Span], vectors: NDArray[np.float32], centre: Vectors) -> Quote:
    """Return the sentence of a paper that stands for it in its theme: near to `centre` (d,), and telling what the
    paper itself does rather than what others do, or what cannot be understood without the sentence before.

    A sentence that talks to a model, or of a few words, is only taken when there is no other.
    """
    scores = vectors @ (centre / max(float(np.linalg.norm(centre)), 1e-9))
    for place, span in enumerate(spans):
        text = paper.abstract[span.start : span.end]
        scores[place] += standing(text)
    best = spans[int(np.argmax(scores))] if len(spans) else Span(0, len(paper.abstract))
    return Quote(paper.id, paper.abstract[best.start : best.end], best.start, best.end)
