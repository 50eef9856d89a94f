"""All domain values, frozen and slotted, and the one-method protocols between the stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vectors: TypeAlias = NDArray[np.float32]
"""Shape (texts, dimensions), rows of unit length."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a record stood: the file's name, its 1-based ordinal in it, its first line (0 if unknown)."""

    file: str
    ordinal: int
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}#{self.ordinal}"


@dataclass(frozen=True, slots=True)
class Version:
    """One wording of a paper, exactly as it was found: its own id, the places it was found in, what they say."""

    id: str
    abstract: str
    sources: tuple[Source, ...]
    title: str | None = None
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str | None = None
    url: str | None = None
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper: its abstract exactly as it was found, and what is known about it.

    `id` comes from the content (see `load.paper_id`). `label` is the short name made in code for a paper
    without a title. Every offset anywhere in Plenary is a character offset into `abstract`.

    `sources` are those of all its wordings. `versions` are the wordings where there are several, the stored
    one first; empty where there is only one.
    """

    id: str
    abstract: str
    label: str
    title: str | None = None
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str | None = None
    url: str | None = None
    keywords: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    versions: tuple[Version, ...] = ()

    @property
    def name(self) -> str:
        """What a person is shown: the title, else the label."""
        return self.title or self.label

    @property
    def source(self) -> Source | None:
        """The first place where the stored wording stands, the one that is quoted; None where none is known."""
        own = self.versions[0].sources if self.versions else self.sources
        return own[0] if own else None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record or file that did not become a paper, and why."""

    file: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of an index: the name its sources bear, where it lies, and a hash of its bytes.

    `path` and `digest` are empty where an older index did not note them; `indexed` is when these bytes were
    first indexed (ISO 8601), empty while that has not been finished.
    """

    name: str
    path: str = ""
    digest: str = ""
    indexed: str = ""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a loader found: papers, the records it skipped, how many records were folded into others, and the
    files that papers came from."""

    papers: tuple[Paper, ...]
    skipped: tuple[Skipped, ...] = ()
    merged: int = 0
    files: tuple[SourceFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open character range [start, end) of an abstract."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of whole sentences of one abstract: `text == abstract[start:end]`.

    `sentences` are spans of the abstract (not of the chunk), in order, without surrounding space.
    """

    id: str
    paper_id: str
    start: int
    end: int
    text: str
    sentences: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Filters:
    """Which papers may be found; an empty field admits all. Matching ignores case.

    A venue is found by whole words of its name ("NeurIPS" finds "NeurIPS 2026"), an author also by the family name.
    """

    years: frozenset[int] = frozenset()
    venues: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    authors: frozenset[str] = frozenset()
    keywords: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return any((self.years, self.venues, self.sources, self.authors, self.keywords))


@dataclass(frozen=True, slots=True)
class Evidence:
    """One sentence of one abstract that may be cited.

    `key` is the opaque citation key given to the model (`cite.citation_key`); `score` orders sentences
    within one question and has no unit.
    """

    key: str
    paper_id: str
    start: int
    end: int
    text: str
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Hit:
    """A paper found for a query, best first, with its best sentences in the order of the abstract.

    `score` is the fused score in [0, 1]; `paper_cosine` and `sentence_cosine` are those of the paper and of its
    best sentence with the query, `keyword` is the raw BM25 score (0 where no word occurs).
    """

    paper: Paper
    score: float
    sentences: tuple[Evidence, ...] = ()
    paper_cosine: float = 0.0
    sentence_cosine: float = 0.0
    keyword: float = 0.0


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier message of a conversation; `role` is "user" or "assistant"."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class SubQuery:
    """One search of a plan: its text and how many papers it may bring."""

    text: str
    papers: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be asked of the index.

    `question` is what the user typed, `standalone` the same made self-contained, in English where a model
    could translate it; `language` is an ISO 639-1 code; `note` tells the user of a limit met on the way.
    """

    question: str
    standalone: str
    language: str
    kind: str
    searches: tuple[SubQuery, ...]
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a stored abstract: `text == abstract[start:end]` of the paper `paper_id`."""

    paper_id: str
    text: str
    start: int
    end: int


class Support(StrEnum):
    """The verdict on a claim."""

    SUPPORTED = "supported"
    PARTIAL = "partial"
    CONTRADICTED = "contradicted"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict with its reason in words."""

    support: Support
    reason: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A sentence as a writer wrote it, its citations resolved to evidence; not yet verified."""

    text: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation of an answer: `n` is the number shown, the paper's place in `Answer.papers`; `source` is the
    place whose wording is quoted."""

    n: int
    paper_id: str
    quote: Quote
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of an answer with its verdict. `text` carries no citation marks.

    `english` is the checked sentence behind a translated `text`, else None; `verbatim` says that the
    text is a quote of the paper and not the writer's words.
    """

    text: str
    support: Support
    reason: str
    citations: tuple[Citation, ...]
    english: str | None = None
    verbatim: bool = False


class SideStatus(StrEnum):
    """Whether the papers have what a side of a comparison stands for."""

    FOUND = "found"
    ABSENT = "absent"
    AMBIGUOUS = "ambiguous"


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: `name` is what it is called in the answer, `asked` its words in the question.

    `paper_ids` holds one paper when found, the candidates when ambiguous, none when absent.
    """

    name: str
    paper_ids: tuple[str, ...]
    status: SideStatus
    asked: str = ""


@dataclass(frozen=True, slots=True)
class Aspect:
    """A row of a comparison: `key` names it in code, `label` is shown. `asked` when it is the question's own."""

    key: str
    label: str
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """What one side's paper says on one aspect; `claim` is None where its abstract does not state it.

    The claim was verified against that paper alone. `side` is the place of the side in the comparison.
    """

    aspect: str
    side: int
    claim: Claim | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A grid of aspects and sides; absent and ambiguous sides have no cells. `note` tells what was left out."""

    sides: tuple[Side, ...]
    aspects: tuple[Aspect, ...]
    cells: tuple[Cell, ...]
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and calls a writer used; `estimated` when the provider did not count."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    calls: int = 0
    estimated: bool = False

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.calls + other.calls,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds from the question to the evidence, to the first word, to the end."""

    evidence: float = 0.0
    first_word: float = 0.0
    total: float = 0.0


@dataclass(frozen=True, slots=True)
class ThemeRequest:
    """What a question asks of all papers: `kind` is "theme", "list" or "count"; `whole` says that it is about
    everything, and `topic` is then empty."""

    kind: str
    topic: str
    whole: bool


@dataclass(frozen=True, slots=True)
class Member:
    """A paper that counts for a topic, how likely it is about it, and the sentence that made it count."""

    paper_id: str
    probability: float
    quote: Quote


@dataclass(frozen=True, slots=True)
class Theme:
    """A group of papers that treat one subject.

    `paper_ids` are all members, the nearest to the middle first; `outliers` are those that fit least. `terms` are
    the words that set it apart, `representatives` sentences of its middle. `failed` says why nothing could be
    written of it, else None. `children` divide the members of a large theme; those in none of them are only here.
    """

    label: str
    paper_ids: tuple[str, ...]
    terms: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    removed: tuple[Claim, ...] = ()
    representatives: tuple[Quote, ...] = ()
    outliers: tuple[str, ...] = ()
    failed: str | None = None
    children: tuple[Theme, ...] = ()

    @property
    def size(self) -> int:
        """How many papers it has."""
        return len(self.paper_ids)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A paper that is in no theme, and why."""

    paper_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """What became of every paper, as lists of ids: no number is shown that is not the length of one of them.

    `corpus` are all papers, `read` those that were compared with the question, `relevant` those that count,
    `borderline` those that may and are in no theme, `assigned` those in exactly one theme, `unassigned` the
    relevant ones in none, and `skipped` those that were not read.
    """

    corpus: tuple[str, ...]
    read: tuple[str, ...]
    relevant: tuple[str, ...]
    borderline: tuple[str, ...]
    assigned: tuple[str, ...]
    unassigned: tuple[LeftOut, ...] = ()
    skipped: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """A paper's point on the map, both coordinates in [0, 1]; `theme` is the place of its theme, -1 for none."""

    paper_id: str
    x: float
    y: float
    theme: int


@dataclass(frozen=True, slots=True)
class ThemeReport:
    """Themes of a topic, or of everything where `topic` is empty, and what they were made from.

    `members` and `borderline` are the papers that count and that may, the likeliest first; of everything both are
    empty.
    """

    kind: str
    topic: str
    themes: tuple[Theme, ...]
    coverage: Coverage
    members: tuple[Member, ...] = ()
    borderline: tuple[Member, ...] = ()
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """A checked answer. `papers` are the cited ones in order of their numbers; a refusal has none.

    `retrieved` lists the ids of the papers found, best first; `removed` the sentences that did not pass.
    """

    question: str
    kind: str
    abstained: bool
    text: str
    claims: tuple[Claim, ...]
    papers: tuple[Paper, ...]
    retrieved: tuple[str, ...]
    writer: str
    usage: Usage
    timings: Timings
    removed: tuple[Claim, ...] = ()
    note: str | None = None
    themes: ThemeReport | None = None
    comparison: Comparison | None = None


@dataclass(frozen=True, slots=True)
class EvidenceFound:
    """Event: the sentences chosen for the answer, before any word is written."""

    plan: Plan
    hits: tuple[Hit, ...]
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class StepStarted:
    """Event: what is being done now, in words a user understands."""

    step: str


@dataclass(frozen=True, slots=True)
class ClaimChecked:
    """Event: a sentence that passed and is part of the answer."""

    claim: Claim
    papers: tuple[Paper, ...]


@dataclass(frozen=True, slots=True)
class ThemesFound:
    """Event: the themes with all their papers, before a word is written of any."""

    report: ThemeReport


@dataclass(frozen=True, slots=True)
class ThemeWritten:
    """Event: what was written and checked of theme `place` (0-based) of `of`; `papers` are those cited so far."""

    theme: Theme
    place: int
    of: int
    papers: tuple[Paper, ...]


@dataclass(frozen=True, slots=True)
class ComparisonFound:
    """Event: the grid of a comparison in the papers' own words, before any word is written."""

    comparison: Comparison
    papers: tuple[Paper, ...]


@dataclass(frozen=True, slots=True)
class CellChecked:
    """Event: a cell that a model said in fewer words and that passed; it takes the quote's place."""

    cell: Cell
    papers: tuple[Paper, ...]


@dataclass(frozen=True, slots=True)
class AnswerDone:
    """Event: the whole answer; always the last."""

    answer: Answer


Event: TypeAlias = (
    StepStarted
    | EvidenceFound
    | ComparisonFound
    | CellChecked
    | ClaimChecked
    | ThemesFound
    | ThemeWritten
    | AnswerDone
)
"""What `Assistant.stream` yields, in this order except for `StepStarted`, which may come anywhere."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Rendered messages for a model, with what may constrain its reply.

    `keys` are the citation keys it may use: a writer that can will force one on every claim.
    `max_tokens` bounds the reply.
    """

    system: str
    user: str
    max_tokens: int
    keys: tuple[str, ...] = ()
    examples: tuple[tuple[str, str], ...] = ()
    grammar: str | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of streamed text; the last piece of a reply carries the usage.

    `finished` is False on the last piece when the reply stopped at its token limit: its last sentence is
    then not whole and must not be shown.
    """

    text: str
    usage: Usage | None = None
    finished: bool = True


class Encoder(Protocol):
    """Turns texts into unit vectors."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, in order."""
        ...


class Writer(Protocol):
    """A language model behind one method."""

    @property
    def name(self) -> str:
        """What the user is told wrote the answer."""
        ...

    def write(self, prompt: Prompt) -> Iterator[Piece]:
        """Stream the reply to a prompt; raises `ProviderError` when it cannot be completed."""
        ...


class SupportChecker(Protocol):
    """A learned check beside the rules: how likely the evidence supports the claim."""

    def probability(self, claim: str, evidence: Sequence[str]) -> float:
        """Return a probability in [0, 1]."""
        ...


@dataclass(frozen=True, slots=True)
class Status:
    """What an index holds."""

    store: str
    papers: int
    chunks: int
    sentences: int
    model: str
    state: str
    sources: Mapping[str, int] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
