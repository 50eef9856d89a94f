"""Finds the papers that the sides of a comparison stand for: by name, by misspelt name, by description."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag.comparison_question import points_back
from rag.comparison_request import MOST_SIDES, Group
from rag.names import NameIndex, joined, mentions
from rag.normal import clean
from rag.plan import is_strong, names_in
from rag.rules_facts import expansions, proposed
from rag.types import Hit, Side, SideStatus

PRESENT = 0.42
"""Fit (see `Fit`) from which a described paper is surely here. Unrelated descriptions ("federated learning") reach
0.34 on the seeds, and 0.48 where they share a common word with many papers."""
ALONE, NEAR, AHEAD = 0.33, 0.3, 0.65
"""A lower fit will do if its cosine is at least `NEAR` and no other paper has more than `AHEAD` of it."""
RIVALS = {1: 0.85, 2: 0.85, 3: 0.88, 4: 0.88}
"""By content words of a description: from this share of the best fit on another paper that has as many of its words
is meant as likely, and the description is ambiguous. Longer descriptions tell papers apart."""
TELLING = 5
"""Content words from which a description is too particular to come near a paper by chance."""
CLOSE = 0.9
"""Share of the best rank from which another paper is named as fitting a found description nearly as well."""
MEMBER = 0.72
"""Share of the best paper's fit that a member of a group must reach."""
SECOND = 0.6
"""The same for the second member, without which there would be nothing to compare."""
CANDIDATES = 6
"""Papers looked at for a side."""

_HEAD_NOUNS = (
    r"papers?|abstracts?|works?|stud(?:y|ies)|methods?|approach(?:es)?|articles?|publications?|ones?|authors?|"
    r"frameworks?|"
    r"models?|algorithms?|techniques?|systems?|accounts?|proposals?|position papers?"
)
_LEAD = re.compile(
    rf"^(?:(?:the|this|that|a|an|both|by|of|in|on|for|about|from|with|other|one)\s+)*(?:(?:{_HEAD_NOUNS})\s+"
    r"(?:(?:on|about|for|of|that|which|in which|where|who|called|named|titled|by|from|with|using|dealing with|"
    r"introducing|"
    r"proposing|in|to)\s+)+)?(?:(?:the|a|an)\s+)?",
    re.IGNORECASE,
)
_DETERMINED = re.compile(r"^(?:the|this|that|one|a|an|my|our)\b", re.IGNORECASE)
_TRAIL = re.compile(rf"(?:['’]s)?\s+(?:{_HEAD_NOUNS})$|['’]s$|\s+one$", re.IGNORECASE)
_SAYS_NOTHING = frozenset(
    {
        *("a", "an", "the", "of", "on", "in", "for", "to", "and", "or", "with", "by", "from", "at", "as", "is", "are"),
        *("be", "that", "which", "this", "these", "those", "it", "its", "their", "one", "ones", "does", "do", "how"),
        *("paper", "papers", "method", "methods", "approach", "approaches", "work", "study", "model", "models", "what"),
        *("language", "large", "using", "use", "used", "llm", "llms", "network", "networks", "neural", "learning"),
        *("based", "new"),
    }
)


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found for a side's text: the side, and how sure it is, in [0, 1].

    `mentioned` are papers that mention an absent name without being about it, `nearly` those that fit the description
    of a found side almost as well.
    """

    side: Side
    confidence: float
    mentioned: tuple[str, ...] = ()
    nearly: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fit:
    """How well a paper fits a description: its nearer cosine, and the share of the description's words it has."""

    hit: Hit
    cosine: float
    covered: float

    @property
    def score(self) -> float:
        """Half nearness, half words: whether the paper is meant at all."""
        return 0.5 * self.cosine + 0.5 * self.covered

    @property
    def rank(self) -> float:
        """What orders the papers: the search's own score counts too, and does not depend on other descriptions."""
        return 0.4 * self.hit.score + 0.6 * (0.65 * self.cosine + 0.35 * self.covered)

    @property
    def nearness(self) -> float:
        """Mostly nearness: members of a group say the same in different words."""
        return 0.75 * self.cosine + 0.25 * self.covered


class Lookup:
    """Looks sides up in one corpus state; what was looked up once is remembered."""

    def __init__(
        self,
        names: NameIndex,
        search: Callable[[str, int], Sequence[Hit]],
        is_known: Callable[[str], bool],
        covered: Callable[[str, str], float],
        admits: Callable[[str], bool] = lambda paper_id: True,
        about: Callable[[str], Sequence[str]] = lambda topic: (),
    ) -> None:
        """`search` returns the best papers for a text, `covered` the share of a text's words in another.

        `admits` tells whether the filters of a question admit a paper; `about` returns those of all papers that are
        surely about a topic, the likeliest first.
        """
        self._names, self.search, self._is_known, self._covered = names, search, is_known, covered
        self._admits, self._about = admits, about
        self._memory: dict[str, Looked] = {}

    def label(self, paper_id: str) -> str:
        """Return a paper's label."""
        return self._names.label(paper_id)

    def side(self, text: str) -> Looked:
        """Return the papers a text stands for: one when found, several when ambiguous, none when absent."""
        if text not in self._memory:
            self._memory[text] = self._look(text)
        return self._memory[text]

    def _look(self, text: str) -> Looked:
        core = core_of(text)
        if not re.search(r"\w", core):
            return Looked(Side(text, (), SideStatus.ABSENT, text), 0.0)
        for found, confidence in (
            (self._names.exact(core) or self._names.exact(text), 1.0),
            (self._names.beginning(core) if self._looks_named(core) else [], 0.97),
            (self._contained(core), 0.95),
        ):
            admitted = [paper_id for paper_id in found if self._admits(paper_id)]
            if admitted:
                return self._named(text, admitted, confidence)
        if is_name_only(core) and not self._is_title_case(core):
            return self._name(text, core)
        if len(core.split()) <= 3 and not all(self._is_known(word) for word in re.findall(r"\w+", core)):
            near = [paper_id for paper_id in self._names.misspelt(core) if self._admits(paper_id)]
            if near:
                return self._named(text, near, 0.9)
        return self._described(text, self._names.corrected(core, self._is_known))

    def _is_title_case(self, core: str) -> bool:
        """Tell whether a text is a description with capitals ("Vision-Language Alignment"): papers use its words."""
        words = re.findall(r"[^\W_]+", core)
        if len(words) < 2 or has_coined_word(core) or not all(self._is_known(word) for word in words):
            return False
        # "Llama Guard" is a name although papers speak of llamas and of guards.
        return any(mentions(core, whole_text(hit)) for hit in self.search(core, 2 * CANDIDATES))

    def _looks_named(self, core: str) -> bool:
        return is_strong(core.split()[0]) or len(joined(core)) >= 5

    def _contained(self, core: str) -> list[str]:
        """Return the paper whose label is one of the names in a longer text, if it is one paper."""
        if re.search(r"[,:;]|\s(?:and|or|with|from|than|vs)\s", core):
            return []  # more than one thing
        strong = [name for name in names_in(f"x {core}") if is_strong(name)]
        found = [papers for name in strong if (papers := self._names.exact(name) or self._names.almost(name))]
        papers = list(dict.fromkeys(paper for group in found for paper in group))
        return papers if len(papers) == 1 else []

    def _named(self, text: str, papers: Sequence[str], confidence: float) -> Looked:
        papers = tuple(dict.fromkeys(papers))
        if len(papers) == 1:
            return Looked(Side(self._names.label(papers[0]), papers, SideStatus.FOUND, text), confidence)
        return Looked(Side(core_of(text), papers[:CANDIDATES], SideStatus.AMBIGUOUS, text), confidence)

    def _name(self, text: str, core: str) -> Looked:
        """Look up a name that is no label: papers that are about it, or nearly have it as their label."""
        hits = [hit for hit in self.search(core, 2 * CANDIDATES) if mentions(core, whole_text(hit))]
        about = [hit for hit in hits if is_about(core, hit)]
        if not about and len(hits) == 1 and introduces(core, hits[0]):
            about = hits
        if about:
            return self._named(text, [hit.paper.id for hit in about], 0.9)
        near = [paper_id for paper_id in self._names.misspelt(core) if self._admits(paper_id)]
        if near and not hits:
            return self._named(text, near, 0.9)
        mentioned = tuple(hit.paper.id for hit in hits)
        return Looked(Side(core, (), SideStatus.ABSENT, text), 0.85, mentioned)

    def _described(self, text: str, core: str) -> Looked:
        fits = sorted(self._fits(core, 2 * CANDIDATES), key=lambda fit: -fit.rank)
        unknown = [name for name in names_in(f"x {core}") if is_strong(name) and not self._is_known(name)]
        by_fit = sorted(fits, key=lambda fit: -fit.score)
        if unknown or not _is_present(by_fit, len(content_words(core))):
            return Looked(Side(core_of(text), (), SideStatus.ABSENT, text), 0.3)
        best = fits[0]
        least = RIVALS.get(len(content_words(core)), 1.0)
        rivals = [
            fit.hit.paper.id
            for fit in fits
            if fit.covered >= best.covered - 0.05
            and fit.score >= least * best.score
            and fit.cosine >= 0.6 * best.cosine
        ]
        # Half a phrase ("quantises a model") is less surely a side than "the method that quantises a model".
        whole = bool(_DETERMINED.match(text)) or bool(_TRAIL.search(text))
        confidence = min(0.88, 0.25 + 0.75 * best.score) * (1.0 if whole else 0.85)
        if len(rivals) > 1:
            return Looked(Side(core_of(text), tuple(rivals[:CANDIDATES]), SideStatus.AMBIGUOUS, text), 0.8 * confidence)
        paper = best.hit.paper
        near = tuple(fit.hit.paper.id for fit in fits[1:3] if fit.rank >= CLOSE * best.rank)
        side = Side(self._names.label(paper.id), (paper.id,), SideStatus.FOUND, text)
        return Looked(side, confidence, nearly=near)

    def _fits(self, text: str, count: int) -> list[Fit]:
        return [
            Fit(hit, max(hit.paper_cosine, hit.sentence_cosine, 0.0), self._covered(text, whole_text(hit)))
            for hit in self.search(text, count)
        ]

    def group(self, group: Group, but: Sequence[str] = ()) -> list[Looked]:
        """Return the papers of a group as sides, best first; `but` are left out.

        Where the question gives a number and more papers fit as well, the group is one ambiguous side.
        """
        topic = self._names.corrected(core_of(group.topic) or group.topic, self._is_known)
        sure = [paper_id for paper_id in self._about(topic) if paper_id not in but]
        if len(sure) > 1 and (group.number is None or len(sure) == group.number):
            return [
                Looked(Side(self._names.label(paper_id), (paper_id,), SideStatus.FOUND, group.topic), 0.9)
                for paper_id in sure
            ]
        fits: dict[str, Fit] = {}
        for part in _alternatives(topic):
            found = [fit for fit in self._fits(part, 3 * MOST_SIDES) if fit.hit.paper.id not in but]
            for fit in self._members(part, found, group.number):
                known = fits.get(fit.hit.paper.id)
                if known is None or fit.nearness > known.nearness:
                    fits[fit.hit.paper.id] = fit
        chosen = sorted(fits.values(), key=lambda fit: -fit.nearness)
        number = group.number or len(chosen)
        if group.number and len(chosen) > number and _as_good(chosen[number - 1], chosen[number]):
            ids = tuple(fit.hit.paper.id for fit in chosen[:MOST_SIDES])
            return [Looked(Side(group.topic, ids, SideStatus.AMBIGUOUS, group.topic), 0.8)]
        return [
            Looked(
                Side(self._names.label(fit.hit.paper.id), (fit.hit.paper.id,), SideStatus.FOUND, group.topic),
                min(0.9, 0.45 + fit.nearness),
            )
            for fit in chosen[:number]
        ]

    def _members(self, topic: str, fits: Sequence[Fit], number: int | None) -> list[Fit]:
        """Return those of some fits that belong to a topic, best first."""
        if is_name_only(topic) and not self._is_title_case(topic):
            having = [fit for fit in fits if mentions(topic, whole_text(fit.hit))]
            about = [fit for fit in having if is_about(topic, fit.hit)]
            return sorted(about if len(about) > 1 else having, key=lambda fit: -fit.nearness)
        ranked = sorted(fits, key=lambda fit: -fit.nearness)
        if not _is_present(sorted(fits, key=lambda fit: -fit.score)):
            return []
        least = 0.5 if number else MEMBER  # a number says that there are so many
        best = ranked[0].nearness
        members = [fit for fit in ranked if fit.nearness >= least * best]
        if len(members) == 1 and len(ranked) > 1 and ranked[1].nearness >= SECOND * best:
            members = ranked[:2]
        return members


_MOST_ALTERNATIVES = 4
"""Parts of a topic that are searched one by one; one with more is hardly a list."""


def _alternatives(topic: str) -> list[str]:
    """Return what a topic with "or" asks for: "diffusion or flow models" are diffusion models and flow models."""
    parts = list(dict.fromkeys(re.split(r"\s+or\s+", topic)))
    if len(parts) > _MOST_ALTERNATIVES:
        return [topic]
    last = parts[-1].split()
    if len(last) > 1:
        parts = [f"{part} {last[-1]}" if len(part.split()) == 1 else part for part in parts]
    return parts


def _is_present(fits: Sequence[Fit], words: int = 0) -> bool:
    """Tell whether a description fits some paper; `fits` come best first, `words` are its content words."""
    if not fits:
        return False
    best = fits[0]
    ahead = len(fits) == 1 or fits[1].score <= AHEAD * best.score or words >= TELLING
    return best.score >= PRESENT or (best.score >= ALONE and best.cosine >= NEAR and ahead)


def _as_good(last: Fit, following: Fit) -> bool:
    return following.nearness >= 0.93 * last.nearness and following.covered >= last.covered - 0.05


def core_of(text: str) -> str:
    """Return what identifies a side: without articles and "the paper on", "paper", possessives, quotes."""
    core = " ".join(text.split()).strip("\"“”‘’'` ")
    stripped = _LEAD.sub("", core, count=1)
    stripped = _TRAIL.sub("", stripped).strip("\"“”‘’'` ,.?!")
    return stripped or core


def is_name_only(core: str) -> bool:
    """Tell whether a text is nothing but a name: every word has a capital or digit."""
    words = core.split()
    return bool(words) and len(words) <= 4 and all(re.search(r"[A-Z0-9℃]", word) for word in words)


def has_coined_word(core: str) -> bool:
    """Tell whether a text has a word with a capital or digit inside, as only names have."""
    return any(is_strong(part) for part in re.split(r"[\s-]+", core))


def content_words(text: str) -> list[str]:
    """Return the words of a description that tell papers apart."""
    return [word for word in re.findall(r"[^\W_]+", text.lower()) if word not in _SAYS_NOTHING]


def is_about(name: str, hit: Hit) -> bool:
    """Tell whether a paper is about a name: in its title, proposed by it, or three times in its abstract."""
    return (
        mentions(name, f"{hit.paper.title or ''} ; {hit.paper.label}") > 0
        or mentions(name, hit.paper.abstract) >= 3
        or any(joined(name) == joined(own) for own in proposed(clean(hit.paper.abstract)))
    )


def introduces(name: str, hit: Hit) -> bool:
    """Tell whether a paper spells a name out as an acronym: "spectral gradient flow (SpecGF)"."""
    return any(joined(name) == joined(own) for own in expansions(clean(hit.paper.abstract)))


def whole_text(hit: Hit) -> str:
    """Return title, label and abstract of a hit."""
    return f"{hit.paper.title or ''} ; {hit.paper.label} ; {hit.paper.abstract}"


def is_a_paper(looked: Looked) -> bool:
    """Tell whether a side is a paper or method by its words: a name, "the one on X", "the X paper", a whole phrase."""
    asked = looked.side.asked
    if looked.confidence >= 0.85 or ((_DETERMINED.match(asked) or _TRAIL.search(asked)) and not points_back(asked)):
        return True
    return looked.side.status is not SideStatus.ABSENT and len(content_words(asked)) > 2
