"""Judges every claim against the sentences it cites; needs no model, never claims support when unsure.

The quote gate is `quote.find_quote`. A claim that is a cited sentence, word for word, is supported. Any other
is tried by rules, each of which can only withhold support: numbers, formulas, names, expansions of acronyms
(`rules_facts`), negation, quantity, doubt (`rules_wording`), direction, comparison, roles (`rules_order`),
and changes to a sentence that is repeated (`rules_copy`). What is left is supported if the cited sentences
cover its words (`coverage`). Each paper is judged alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import regex

from rag.lexicon import KNOWN_ACRONYMS
from rag.normal import clean
from rag.quote import find_quote
from rag.rules_copy import check_altered, check_exchange, check_order
from rag.rules_facts import check_expansions, check_names, check_numbers, expansions, proposed
from rag.rules_order import check_comparison, check_direction, check_roles, check_subject
from rag.rules_wording import check_negation, check_quantity
from rag.types import Draft, Evidence, Paper, Span, Support, SupportChecker, Verdict
from rag.words import Parsed, Word, has_stem, parse, says_something, stem, stems_of

__all__ = ["check_draft", "coverage", "find_quote", "judge", "question_echo"]

Idf = Callable[[str], float]
"""Inverse document frequency of a word in lower case, 0 for a word that says nothing."""

COVERED = 0.8
"""Least coverage of a supported claim. On AttributionBench dev and SciFact train (gold sentences) 79 % and
82 % of the claims that pass the rules and reach 0.8 are supported; 74 % and 82 % at 0.7; 80 % and 91 % at
0.9, with a third to a half fewer found."""

PARAPHRASED, ALIKE = 0.7, 0.75
"""Least coverage and cosine (all-MiniLM-L6-v2) of a supported paraphrase: 69 % and 70 % of those of the same
two sets are supported; a higher cosine does not make them more so, a lower coverage less so."""

TOUCHED = 0.35
"""Below this coverage a sentence hardly speaks of the claim: 6 % of the supported and 19 % of the other
claims of AttributionBench dev lie there. It only decides between the verdicts partial and unchecked."""

DOUBTED, BELIEVED = 0.2, 0.9
"""Probabilities of a learned check: below the first it withholds support, from the second on it helps a
paraphrase. Set by care and not by measurement until there is such a check."""

LABEL_WORDS = 3
"""A title, or what stands before its colon, of so few words is the name of the paper."""

SHORTEST_PART = 4
"""Words that a part of a sentence needs to say something by itself."""

_QUOTED = Verdict(Support.SUPPORTED, "the words of the paper")
_COVERED = Verdict(Support.SUPPORTED, "its words, numbers and names stand in the cited sentence")
_UNCITED = Verdict(Support.UNCHECKED, "no sentence is cited")


def judge(
    claim: str,
    cited: Sequence[str],
    abstract: str,
    *,
    idf: Idf,
    similarity: float | None = None,
    probability: float | None = None,
    known: Sequence[str] = (),
) -> Verdict:
    """Judge a claim by the sentences of one paper that it cites.

    `similarity` is the cosine of claim and nearest cited sentence, `probability` that of a learned checker;
    both may help a paraphrase, the second may also withhold support, and neither overrides a rule. `known`
    are the paper's title and label: their names need not stand in the abstract.
    """
    if not cited:
        return _UNCITED
    if any(find_quote(claim, sentence) == _whole(sentence) for sentence in cited):
        return _QUOTED
    parsed, sources, whole = parse(claim), [parse(sentence) for sentence in cited], parse(abstract)
    if not any(says_something(word) for word in parsed.words):
        return Verdict(Support.UNCHECKED, "it says nothing that can be checked")
    names_known = [clean(name) for name in known]
    found = list(_rules(parsed, sources, whole, names_known))
    for support in (Support.CONTRADICTED, Support.PARTIAL):
        for verdict in found:
            if verdict.support is support:
                return verdict
    share, missing = _covered(parsed, sources, whole, idf, names_known)
    if probability is not None and probability < DOUBTED:
        return Verdict(Support.PARTIAL, "the learned check doubts that the cited sentence says so")
    alike = similarity is not None and similarity >= ALIKE
    believed = probability is not None and probability >= BELIEVED
    if share >= COVERED or (share >= PARAPHRASED and (alike or believed)):
        return _COVERED
    listed = ", ".join(f'"{word}"' for word in missing[:3])
    if share < TOUCHED:
        return Verdict(Support.UNCHECKED, f"the cited sentence does not speak of {listed}")
    return Verdict(
        Support.PARTIAL, f"{listed} {'is' if len(missing) == 1 else 'are'} not in the cited sentence"
    )


def _whole(sentence: str) -> Span:
    return Span(len(sentence) - len(sentence.lstrip()), len(sentence.rstrip()))


def _rules(
    claim: Parsed, cited: Sequence[Parsed], abstract: Parsed, known: Sequence[str]
) -> Iterator[Verdict]:
    yield from check_numbers(claim, cited, abstract)
    yield from check_negation(claim, cited)
    yield from check_altered(claim, cited)
    yield from check_comparison(claim, cited)
    yield from check_direction(claim, cited)
    yield from check_roles(claim, cited)
    yield from check_exchange(claim, cited)
    yield from check_order(claim, cited)
    yield from check_subject(claim, cited, _own_stems(abstract, known))
    yield from check_names(claim, cited, abstract, known)
    yield from check_expansions(claim, abstract)
    yield from check_quantity(claim, cited)


def _own_stems(abstract: Parsed, known: Sequence[str]) -> frozenset[str]:
    """Return what the paper's own names consist of: those of what it proposes, and of its title and label."""
    own = list(proposed(abstract.text))
    for text in known:
        # of a title only what is a name by its form, or the "GridFormer" of "GridFormer: ..."
        own += [word.name for word in parse(text).words if word.name]
        own += [text.split(":")[0]] if len(text.split(":")[0].split()) <= LABEL_WORDS else []
    words = [word for name in own for word in parse(name).words if says_something(word)]
    return frozenset(word.stem for word in words) | frozenset(word.unit for word in words)


# --- coverage -----------------------------------------------------------------------------------------


def coverage(
    claim: str, cited: Sequence[str], *, idf: Idf, abstract: str = "", known: Sequence[str] = ()
) -> float:
    """Return the share of a claim's content words, weighted by idf, that the cited sentences have, in [0, 1].

    Words count by their stem or a stem derived from the same word; an acronym counts as what the abstract
    expands it to. A claim without content words has coverage 0.
    """
    sources = [parse(sentence) for sentence in cited]
    return _covered(parse(claim), sources, parse(abstract), idf, [clean(name) for name in known])[0]


def _covered(
    claim: Parsed, cited: Sequence[Parsed], abstract: Parsed, idf: Idf, known: Sequence[str]
) -> tuple[float, list[str]]:
    """Return the share covered and the words that are not, the rarest first."""
    stems = _evidence_stems(cited, abstract) | _own_stems(abstract, known)
    weights: dict[str, float] = {}
    missing: dict[str, float] = {}
    for index, word in enumerate(claim.words):
        if not says_something(word) or word.lower in weights:
            continue
        weight = weights[word.lower] = max(idf(word.lower), 0.0)
        if not (has_stem(word.stem, stems) or _compound(claim.words, index) & stems):
            missing[word.text] = weight
    total = sum(weights.values())
    if total <= 0:
        total, missing = float(len(weights) or 1), {word: 1.0 for word in missing}
        share = 1 - len(missing) / total if weights else 0.0
    else:
        share = 1 - sum(missing.values()) / total
    return share, sorted(missing, key=lambda word: -missing[word])


def _compound(words: Sequence[Word], index: int) -> set[str]:
    """Return the stems of the word joined to its neighbours: "fine-tuning" is "finetuning"."""
    joined = set()
    if index:
        joined.add(stem(words[index - 1].text + words[index].text))
    if index + 1 < len(words):
        joined.add(stem(words[index].text + words[index + 1].text))
    return joined


def _evidence_stems(cited: Sequence[Parsed], abstract: Parsed) -> frozenset[str]:
    """Return the stems of the cited sentences, with acronyms and what they are expanded to taken as one."""
    stems = stems_of(cited)
    for acronym, words in {**KNOWN_ACRONYMS, **expansions(abstract.text)}.items():
        expanded = {word.stem for word in parse(words).words if says_something(word)}
        if stem(acronym) in stems or stem(acronym + "s") in stems:
            stems |= expanded
        elif expanded and expanded <= stems:
            stems |= {stem(acronym), stem(acronym + "s")}
    return stems


# --- drafts -------------------------------------------------------------------------------------------

_PARTS = regex.compile(r"\s*(?:;|,?\s(?:while|whereas|and|but)\s|,\s(?:in contrast|by contrast),?\s)\s*")


def check_draft(
    draft: Draft,
    papers: Mapping[str, Paper],
    *,
    idf: Idf,
    similarity: Callable[[str, str], float] | None = None,
    checker: SupportChecker | None = None,
) -> tuple[Verdict, tuple[Evidence, ...]]:
    """Judge a draft, each paper alone, and return the verdict with the evidence that carries it.

    A citation that adds nothing is left out; two sentences of one paper stay if the claim needs both. If no
    paper carries the whole claim, each of its parts must be carried by a paper of its own; otherwise the
    verdict is the gravest of the papers'. Only a supported draft comes with evidence.
    """
    if not draft.evidence:
        return _UNCITED, ()
    trial = _Trial(papers, idf, similarity, checker)
    groups = _by_paper(draft.evidence)
    verdicts: list[Verdict] = []
    carrying: list[Evidence] = []
    for evidence in groups:
        verdict, used = trial.carried(draft.text, evidence)
        verdicts.append(verdict)
        carrying += used
    if carrying:
        best = next(verdict for verdict in verdicts if verdict.support is Support.SUPPORTED)
        return best, tuple(item for item in draft.evidence if item in carrying)
    if len(groups) > 1:
        return trial.shared(draft, groups, verdicts)
    return verdicts[0], ()


def _by_paper(evidence: Sequence[Evidence]) -> list[list[Evidence]]:
    groups: dict[str, list[Evidence]] = {}
    for item in evidence:
        groups.setdefault(item.paper_id, []).append(item)
    return list(groups.values())


class _Trial:
    """What all judgements of one draft have in common."""

    def __init__(
        self,
        papers: Mapping[str, Paper],
        idf: Idf,
        similarity: Callable[[str, str], float] | None,
        checker: SupportChecker | None,
    ) -> None:
        self.papers, self.idf, self.similarity, self.checker = papers, idf, similarity, checker

    def judge(self, claim: str, evidence: Sequence[Evidence]) -> Verdict:
        """Judge a claim by some sentences of one paper."""
        paper = self.papers[evidence[0].paper_id]
        cited = [item.text for item in evidence]
        known = tuple(name for name in (paper.title, paper.label) if name)
        verdict = judge(claim, cited, paper.abstract, idf=self.idf, known=known)
        if verdict.support in (Support.SUPPORTED, Support.CONTRADICTED) and self.checker is None:
            return verdict  # the similarity could change nothing
        near = max(self.similarity(claim, text) for text in cited) if self.similarity else None
        sure = self.checker.probability(claim, cited) if self.checker else None
        return judge(
            claim, cited, paper.abstract, idf=self.idf, similarity=near, probability=sure, known=known
        )

    def carried(self, claim: str, evidence: Sequence[Evidence]) -> tuple[Verdict, list[Evidence]]:
        """Judge a claim by one paper's sentences, each alone first, then together without the idle ones."""
        alone = [self.judge(claim, [item]) for item in evidence]
        supporting = [
            item
            for item, verdict in zip(evidence, alone, strict=True)
            if verdict.support is Support.SUPPORTED
        ]
        if supporting:
            return next(verdict for verdict in alone if verdict.support is Support.SUPPORTED), supporting
        if len(evidence) == 1:
            return alone[0], []
        verdict = self.judge(claim, evidence)
        if verdict.support is not Support.SUPPORTED:
            return verdict, []
        needed = list(evidence)
        for item in evidence:
            rest = [other for other in needed if other is not item]
            if rest and self.judge(claim, rest).support is Support.SUPPORTED:
                needed = rest
        return verdict, needed

    def shared(
        self, draft: Draft, groups: Sequence[Sequence[Evidence]], verdicts: Sequence[Verdict]
    ) -> tuple[Verdict, tuple[Evidence, ...]]:
        """Judge a claim that no paper carries alone: every part of it by the papers, one by one.

        A later part must name the paper that carries it: "A prunes weights and halves the error" does not
        say that B halves the error.
        """
        carrying: list[Evidence] = []
        for rank, part in enumerate(_parts(draft.text)):
            for evidence in groups:
                if rank and not self.names_paper(part, evidence[0].paper_id):
                    continue
                verdict, used = self.carried(part, evidence)
                if verdict.support is Support.SUPPORTED:
                    carrying += used
                    break
            else:
                carrying = []
                break
        if len({item.paper_id for item in carrying}) > 1:
            reason = "each part is carried by a sentence of its own paper"
            return Verdict(Support.SUPPORTED, reason), tuple(
                item for item in draft.evidence if item in carrying
            )
        if all(verdict.support is Support.CONTRADICTED for verdict in verdicts):
            return verdicts[0], ()
        return Verdict(Support.PARTIAL, f"no cited paper carries it alone: {verdicts[0].reason}"), ()

    def names_paper(self, part: str, paper_id: str) -> bool:
        """Say whether a part of a claim has a name of the paper's own."""
        paper = self.papers[paper_id]
        known = [clean(name) for name in (paper.title, paper.label) if name]
        own = _own_stems(parse(paper.abstract), known)
        return any(word.unit in own or word.stem in own for word in parse(part).content)


def _parts(claim: str) -> list[str]:
    """Split a claim at "while", "and", "but" and semicolons; a short part stays with the one before."""
    parts: list[str] = []
    position = 0
    for found in (*_PARTS.finditer(claim), None):
        end = found.start() if found else len(claim)
        piece = claim[position:end]
        if parts and len(piece.split()) < SHORTEST_PART:
            parts[-1] = claim[claim.index(parts[-1]) : end]
        else:
            parts.append(piece)
        position = found.end() if found else end
    return parts


# --- echoes -------------------------------------------------------------------------------------------

_YES_OR_NO = regex.compile(
    r"^\W*(?:is|are|was|were|do|does|did|can|could|has|have|will|would|should|may)\b", regex.IGNORECASE
)


def question_echo(claim: str, question: str, cited: Sequence[str]) -> bool:
    """Say whether a claim only repeats the question: it adds no word, number or name of the cited sentences.

    A question that asks for yes or no may be answered in its own words.
    """
    if _YES_OR_NO.match(question.strip()):
        return False
    asked = parse(question)
    stems = stems_of([parse(sentence) for sentence in cited])
    added = [
        word
        for word in parse(claim).words
        if (says_something(word) or word.text.isdigit()) and not has_stem(word.stem, asked.stems)
    ]
    figures = set(regex.findall(r"\d+", clean(claim))) - set(regex.findall(r"\d+", asked.text))
    return not figures and not any(has_stem(word.stem, stems) for word in added)
