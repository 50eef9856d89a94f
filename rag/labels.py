"""A short label for a paper: its method's name as people say it, else its subject in a few words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

LONGEST = 48
"""Characters of a label at most."""

# Wrappers around words; their content stays. Applied until nothing changes: they nest.
_WRAPPERS = (
    (re.compile(r"\\(?:emph|text(?:it|bf|tt|sc|sf|rm|sl|up)?|math(?:rm|bf|tt|it|sf|cal|bb)|underline|mbox|operatorname)"
                r"\s*\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\{\\(?:em|it|bf|tt|sc|sf)\s+([^{}]*)\}"), r"\1"),
    (re.compile(r"(?<![\w*])(\*{1,3})(?=\S)([^*\n]{1,80}?)(?<=\S)\1(?![\w*])"), r"\2"),
    (re.compile(r"(?<!\w)(_{1,2})(?=\S)([^_\n]{1,80}?)(?<=\S)\1(?!\w)"), r"\2"),
    (re.compile(r"\$\s*\\?([A-Za-z][\w+-]*)\s*\$"), r"\1"),
    (re.compile(r"\[([^\[\]]+)\]\(https?://[^\s)]*\)"), r"\1"),
)  # fmt: skip
# Applied once, afterwards: quotes and addresses go, dashes stand free, escapes are resolved.
_MARKS = (
    (re.compile(r"https?://\S+"), " "),
    (re.compile(r"``|''|[“”\"`]"), " "),
    (re.compile(r"\{([-,])\}"), r"\1"),
    (re.compile(r"\s*(?:---?|–|—)\s*"), " – "),
    (re.compile(r"\\([%&#_$])"), r"\1"),
)
_EMPHASISED = re.compile(
    r"\\(?:emph|textit|textbf)\{([^{}]{3,60})\}|(?<![\w*])\*{1,2}(?=\S)([^*\n]{3,60}?)(?<=\S)\*{1,2}(?![\w*])"
    r"|(?<!\w)_(?=\S)([^_\n]{3,60}?)(?<=\S)_(?!\w)"
)

_TOKEN = re.compile(r"[^\W_][\w℃℉°+]*(?:[-–'’./&][\w℃℉°+]+)*\+*|[(),;:.!?]|[^\s\w]")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z(])|\n\s*\n")

# Verbs that bring something new, after which its name is looked for.
_NEW = re.compile(
    r"(?:propos|introduc|present|formali[sz]|develop|devis|describ|design|releas|creat|construct|formulat|suggest|explor|"
    r"publish|contribut)(?:es?|ing|ed|s)?|builds?|built|yields?|offers?|termed?|names?|named|dub(?:bed)?|calls?|called|"
    r"coined?|denoted?|abbreviated",
    re.IGNORECASE,
)
_NAMING = re.compile(r"termed|named?|names|dub(?:bed)?|calls?|called|coined?|denoted|abbreviated|term", re.IGNORECASE)
# What is released or built is more often the data than the method.
_DATA = re.compile(r"(?:releas|publish|construct|creat|contribut)(?:es?|ing|ed|s)?|builds?|built", re.IGNORECASE)
_AGENT = frozenset(("we", "i", "paper", "work", "study", "article", "and", "then", "further", "here", "also", "thus"))
_PREPOSITION = frozenset(
    ("for", "on", "in", "of", "to", "with", "using", "by", "from", "based", "via", "that", "which", "where", "when",
     "under", "over", "into", "through", "at", "across", "between", "without", "inspired", "like", "against", "than",
     "whose", "while", "built", "leveraging", "and", "or", "extending", "is", "are", "can", "has", "have")
)  # fmt: skip
_KIND = frozenset(
    ("method", "methods", "framework", "model", "models", "approach", "algorithm", "algorithms", "benchmark", "dataset",
     "datasets", "system", "architecture", "technique", "network", "networks", "pipeline", "library", "strategy",
     "paradigm", "toolkit", "suite", "agent", "environment", "platform", "procedure", "optimizer", "corpus", "scheme",
     "estimator", "layer", "module", "metric", "loss", "attack", "defense", "variant", "extension", "family", "class",
     "tool", "package", "simulator", "protocol", "mechanism", "solver", "training", "learning", "theory", "measure")
)  # fmt: skip
_ACHIEVES = frozenset(
    ("outperforms", "achieves", "improves", "reduces", "outperform", "achieve", "surpasses", "consists", "leverages",
     "attains", "generalizes", "enables", "learns", "uses", "employs", "combines", "is", "provides", "shows", "scales",
     "matches", "exceeds", "obtains", "extends", "applies", "exhibits", "significantly", "consistently", "derives")
)  # fmt: skip

# Names that stand for what everybody uses; none of them is ever the name of the paper at hand.
_COMMON = frozenset(
    """AI ML DL NLP CV RL LLM LLMs VLM VLMs MLLM MLLMs LVLM LVLMs LM LMs GNN GNNs CNN CNNs RNN RNNs LSTM GAN GANs VAE VAEs
    DNN DNNs MDP MDPs POMDP SGD GD PCA KL GPU GPUs CPU CPUs TPU API APIs QA VQA ViT ViTs MLP MLPs OOD SOTA IID ODE ODEs
    SDE SDEs PDE PDEs MCMC RLHF DPO PPO GRPO SFT RLVR CoT RAG MoE BERT GPT GitHub Github ImageNet PyTorch TensorFlow
    arXiv ReLU NP ICLR NeurIPS ICML US USA UK EU 2D 3D 4D 1D HTML URL PDF SVM SVMs NMT ASR OCR EEG fMRI MRI CT DNA RNA
    COVID-19 I A II III IV V VI""".split()
)

_STOP = frozenset(
    """a about above across actually after again against all almost already also although always am among an and another any are
    aren't around as at away based be became because become becomes been before being below best better between both
    but by can cannot case cases certain commonly could crucial current currently despite did different do does doing
    done due during e.g each easily effect effective effectively efficient efficiently either empirical empirically
    enable enables end essential especially etc even ever every existing experiment experiments extensive few finally
    find findings first five following for four from fully further furthermore general generally given gives good
    great had has have having he hence her here high highly his how however i i.e if important in including increase
    increasingly indeed instead into introduce introduced introduces is issue it its itself just key known large
    largely last lead leading leads least less little low made main mainly make makes making many may means might
    more moreover most mostly much multiple must near nearly necessary need needs neither new no nor not notably novel
    now number obtain obtained of often on once one only onto open or other others otherwise our out over overall own
    paper papers particular particularly per perform performance performs popular possible potential poor practical
    practice present presented presents previous previously prior problem problems promising propose proposed proposes
    provide provided provides provably quite rather real recent recently related remain remains require required requires
    respectively result resulting results robust same second set setting settings several shall she should show showed
    showing shown shows significant significantly similar simple simply since single small so some specific
    specifically standard state-of-the-art still strong study studies substantial substantially such suffer suffers
    superior systematically task tasks than that the their them themselves then theoretical theoretically there
    therefore these they third this those though three through thus to together too towards two typical typically
    under underlying understand understanding unlike until up upon us use used useful uses using usually validate various very via vs
    want was way ways we well were what when whether which while whose whole wide widely will with within without work
    works would yet you your address approach approaches method methods framework technique techniques achieve achieves
    achieved achieving demonstrate demonstrates demonstrated improve improves improved improving allow allows analyze
    analyse analysis apply applied applying applications application available compared compare comparison consider
    considered consistent consistently evaluate evaluated evaluation evaluations exhibit explore focus formalize
    generate generates ground growing help identify identifies investigate learned leveraging limited limitations
    observe outperform outperforms additional addition aim ability able challenge challenges challenging code common
    complex contrast contribution contributions critical datasets dataset benchmark benchmarks design designed
    develop developed difficult direct directly goal introduce larger like long lower minimal natural need
    opposed order part perspective potentially precise prevents problem proven reduce reduced reducing relevant reveal reveals
    rely relies shed significant solution solve solving state strategy successful suggests suggest support target term terms
    theory time times today train trained training types typical variety work world question questions accuracy model
    models data learning information process processes role report reports existing we're can't doesn't don't hard higher
    fundamental empirically becoming emerged serve serves served central known assume assumes assumed assumption
    rapid rapidly progress success remarkable attention gained widespread ubiquitous prove proves introducing
    capture captures captured lack lacks lacking enough future far unclear unknown whereas offers offer offering
    involves involve involving establish establishes inherently fails fail failing failure making leads despite ask asked""".split()
)
_OWN_SENTENCE = re.compile(r"[^.]*\b(?:[Ww]e|[Tt]his (?:paper|work)|[Oo]ur)\b[^.]*")
_STUDY = re.compile(
    r"\bwe\s+(?:\w+ly\s+)?(?:study|investigate|analy[sz]e|consider|examine|explore|characteri[sz]e|revisit|address|"
    r"focus\s+on|tackle|report)\s+(?:the\s+(?:problem|task|question|issue)\s+of\s+)?",
    re.IGNORECASE,
)

_HAN = re.compile(r"[\u3400-\u9fff]")
# Words before a noun that praise and do not tell.
_VAGUE = frozenset(
    """novel new simple yet efficient effective general generic unified principled practical scalable robust flexible
    powerful lightweight fast first and but comprehensive systematic rigorous large-scale high-quality so-called
    end-to-end plug-and-play easy-to-use surprisingly highly more two three very provably theoretically""".split()
)
# Nouns that tell nothing alone.
_HEADS = frozenset(
    """model models data learning training network networks policy theory information process processes time
    dataset datasets task tasks problem problems benchmark benchmarks accuracy question questions applications
    evaluation analysis""".split()
)
# Subjects of half of all papers.
_GENERIC = frozenset(
    """large language model|large language models|language model|language models|neural network|neural networks|
    deep neural network|deep neural networks|deep learning|machine learning|reinforcement learning|
    graph neural network|graph neural networks|convolutional neural network|convolutional neural networks|
    stochastic gradient descent|gradient descent|artificial intelligence|deep neural|neural net|state-of-the-art|
    real-world|high-dimensional|sample complexity|generative model|generative models|computer vision|
    natural language|natural language processing|deep reinforcement learning|vision-language model|
    vision-language models|large language|convergence rate|lower bound|upper bound|lower bounds|upper bounds|
    numerical experiments|representation learning|supervised learning|inductive biase|inductive bias|
    training data point|loss function|training data|foundation models|downstream tasks""".replace("\n    ", "").split("|")
)
_GENERIC_NAMES = frozenset(
    """AI ML DL NLP CV RL LLM LLMs VLM VLMs MLLM MLLMs LVLM LVLMs LM LMs GNN GNNs CNN CNNs RNN RNNs DNN DNNs GPU GPUs NN
    NNs SOTA Our The In We To This It For On By With However Code Experiments Specifically Extensive These Their
    Finally Moreover Furthermore Large Deep Neural Recent While Although Models Under Across ImageNet GPT II III
    Existing Empirically Theoretically Based Unlike Through Using Here Our Its Each Both""".split()
)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A name and how strong the evidence is that the abstract brings it."""

    name: str
    score: float


@dataclass(slots=True)
class _Phrase:
    """A phrase as it was first spelled, how often it was used, and where its runs begin."""

    text: str
    uses: int = 0
    places: list[int] = field(default_factory=list)


def label_for(abstract: str, title: str | None = None) -> str:
    """Return a paper's label: never empty, at most `LONGEST` characters, without markup.

    With a title: the short name before its colon, else the name the abstract gives the method when the
    title has that name too, else the title cut at a word. Without: the name of what the abstract brings,
    else its subject.
    """
    if title and title.strip():
        return _title_label(unwrapped(title), abstract)
    text = unwrapped(abstract)
    name = method_name(abstract)
    label = name or subject(abstract) or _cut(" ".join(text.split()))
    return label or "Untitled"


def _title_label(title: str, abstract: str) -> str:
    title = " ".join(title.split())
    head, colon, _ = title.partition(":")
    words = head.split()
    if colon and 1 <= len(words) <= 4 and len(head) <= 30 and (len(words) == 1 or _has_name(words)):
        return head.strip()
    name = method_name(abstract)
    if name and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", title):
        return name
    return _cut(title) or "Untitled"


def _has_name(words: Sequence[str]) -> bool:
    return any(is_name(word.strip("(),")) for word in words) or len(words) <= 3


def unwrapped(text: str) -> str:
    """Return text without LaTeX and Markdown wrappers, quotes and addresses, for finding names in it."""
    while True:
        bare = text
        for pattern, replacement in _WRAPPERS:
            bare = pattern.sub(replacement, bare)
        if bare == text:
            break
        text = bare
    for pattern, replacement in _MARKS:
        text = pattern.sub(replacement, text)
    return text


def is_name(token: str) -> bool:
    """Whether a word is written like a coined name: capitals inside, or capitals with digits or hyphens.

    "UpSafe℃", "TG-ITE", "CERTRA", "cIPO" are; "Bayesian", "Pre-training" and "LLMs" are not.
    """
    if not 2 <= len(token) <= 30 or token in _COMMON or token.rstrip("s") in _COMMON:
        return False
    letters = [character for character in token if character.isalpha()]
    if len(letters) < 2:
        return False
    if not any(character.isupper() for character in letters) or (len(token) == 2 and token.isupper()):
        return False  # two capitals name a field ("RL", "FL") far more often than a method
    parts = re.split(r"[-–/]", token)
    if len(parts) > 1:
        # "Ultra-DPO", "TG-ITE", "LoRA-GT" but not "Quantization-aware", "Monte-Carlo" or "BO-based".
        return all(_coined(part) or part[:1].isupper() or part.isdigit() for part in parts) and any(
            _coined(part) for part in parts
        )
    return _coined(token)


def _coined(word: str) -> bool:
    if any(character.isupper() for character in word[1:]):
        return True
    return bool(re.search(r"\d|[+℃°]", word)) and any(character.isupper() for character in word)


# Names


def method_name(abstract: str) -> str | None:
    """Return the name of what an abstract brings, or None.

    Evidence, strongest first: a name, or a phrase with its short form, right after a verb such as
    "propose" or "introduce"; a name in apposition ("X, a framework ..."); a name that opens sentences
    and "outperforms". A name used before it is introduced is someone else's; one used often afterwards
    is the paper's own.
    """
    text = " ".join(unwrapped(abstract).split())
    sentences = _SENTENCE.split(text)
    scores: Counter[str] = Counter()
    before = ""
    for sentence in sentences:
        for candidate in _introduced(sentence):
            score = candidate.score
            if not _uses(before, candidate.name):
                scores[candidate.name] = max(scores[candidate.name], score)
        before += " " + sentence
    for name in list(scores):
        scores[name] += 0.75 * min(_uses(text, name) - 1, 4)
    best = max(scores.items(), key=lambda item: item[1], default=None)
    if best is not None and best[1] >= 1.5:
        return best[0]
    return _emphasised_name(abstract) or _capital_phrase(sentences)


def _uses(text: str, name: str) -> int:
    return len(re.findall(rf"(?<![\w-]){re.escape(name)}(?![\w])", text))


def _introduced(sentence: str) -> Iterator[_Candidate]:
    tokens = _TOKEN.findall(sentence)
    for place, token in enumerate(tokens):
        if _NEW.fullmatch(token):
            naming = _NAMING.fullmatch(token) is not None
            agent = naming or any(word.lower() in _AGENT for word in tokens[max(0, place - 4) : place])
            weight = 2.0 if _DATA.fullmatch(token) else 3.0
            yield from _after_verb(tokens, place + 1, weight if agent else 1.5, naming=naming)
        if is_name(token):
            yield from _apposition(tokens, place)
    if tokens and is_name(tokens[0]) and len(tokens) > 1 and tokens[1] in _ACHIEVES:
        yield _Candidate(tokens[0], 0.5)


def _after_verb(tokens: Sequence[str], start: int, weight: float, *, naming: bool) -> Iterator[_Candidate]:
    """Look at the words after a verb: a name before the first preposition, or a phrase with its short form."""
    free = True
    for place in range(start, min(start + 28, len(tokens))):
        token = tokens[place]
        if token in ".;!?" or (naming and place > start + 4):
            return
        opens = place > start and tokens[place - 1] == "("
        if opens and is_name(token) and place + 1 < len(tokens) and tokens[place + 1] in "),":
            begin = _phrase_start(tokens, place - 1, token)
            if begin is not None:
                introduced = not any(word.lower() in _PREPOSITION for word in tokens[start:begin])
                introduced = introduced or tokens[begin - 1] in (",", "and")
                yield _Candidate(token, weight + (1.0 if introduced else -1.5))
            else:
                yield _Candidate(token, weight + (0.5 if free or place - start <= 8 else -1.0))
        elif is_name(token) and not opens:
            following = tokens[place + 1] if place + 1 < len(tokens) else "."
            direct = free and following in ("," , ".", "(", ":", "–", "which", "a", "an", "for", "to", "as", "that", ";", "and", "with")
            if direct:
                yield _Candidate(token, weight + 0.5)
            elif free and following.lower() in _KIND:
                yield _Candidate(token, weight - 0.5)
            elif tokens[place - 1] in (",", ":", "–", "named", "called", "dubbed", "termed") and following in (",", ".", ")", "that", "which", "–"):
                yield _Candidate(token, weight - 0.25)
        if token.lower() in _PREPOSITION:
            free = False


def _phrase_start(tokens: Sequence[str], bracket: int, short: str) -> int | None:
    """Return where the phrase begins whose initials spell the short form in the bracket, or None."""
    wanted = [character.lower() for character in short if character.isalnum()]
    place = bracket
    words = 0
    while place > 0 and wanted and words < 12:
        place -= 1
        if tokens[place] in ".;()":
            return None
        words += 1
        pieces = re.split(r"[-–/]", tokens[place].lower())
        for piece in reversed(pieces):
            if wanted and piece:
                taken = _consumed(piece, wanted)
                if taken:
                    del wanted[len(wanted) - taken :]
    return place if not wanted else None


def _consumed(word: str, wanted: Sequence[str]) -> int:
    """Return how many last letters of the short form a word gives: as its beginning, longest first."""
    for length in range(min(len(word), len(wanted)), 0, -1):
        tail = "".join(wanted[-length:])
        if word.startswith(tail):
            return length
    # Inner letters in order ("TReFT": "Token-Regularized Finetuning" gives F and T).
    if wanted and len(word) > 3:
        for length in range(min(3, len(wanted)), 1, -1):
            tail = wanted[-length:]
            position = 0
            for letter in tail:
                position = word.find(letter, position) + 1
                if position == 0:
                    break
            else:
                if word[0] == tail[0]:
                    return length
    return 0


def _apposition(tokens: Sequence[str], place: int) -> Iterator[_Candidate]:
    """A name followed by what it is: "X, a unified framework", "X is a benchmark", "our method, X,"."""
    name = tokens[place]
    after = [token.lower() for token in tokens[place + 1 : place + 10]]
    before = [token.lower() for token in tokens[max(0, place - 6) : place]]
    if len(after) > 2 and after[0] in (",", "–", "is", "(") and after[1] in ("a", "an", "our", "the", "which"):
        kinds = [word for word in after[2:] if word in _KIND]
        until = next((spot for spot, word in enumerate(after[2:]) if word in (".", ",", ";")), 9)
        if kinds and after[2:].index(kinds[0]) < until:
            yield _Candidate(name, 2.0 if after[1] != "the" else 1.0)
        elif after[1] == "which":
            yield _Candidate(name, 2.0 if before and before[-1] in ("with", "by", "via") else 1.0)
    if len(after) > 3 and before[-1:] == ["("] and after[0] == ")" and after[1] == "," and after[2] in ("a", "an"):
        if after[3] not in ("popular", "widely", "common", "standard", "recent", "well-known", "classical"):
            yield _Candidate(name, 1.75)
    if before and before[-1] in (",", "–", *_KIND) and ("our" in before or "proposed" in before or "new" in before):
        yield _Candidate(name, 1.75)


def _emphasised_name(abstract: str) -> str | None:
    """A phrase set off by emphasis right after a verb that brings something new, or named by one."""
    for found in _EMPHASISED.finditer(abstract):
        phrase = next(group for group in found.groups() if group)
        before = re.findall(r"[A-Za-z]+", abstract[max(0, found.start() - 60) : found.start()])[-5:]
        if any(_NEW.fullmatch(word) for word in before) and 1 <= len(phrase.split()) <= 5:
            clean = " ".join(unwrapped(phrase).split())
            if clean and not _is_common_word(clean):
                return _cut(clean)
    return None


def _is_common_word(phrase: str) -> bool:
    return len(phrase.split()) == 1 and (phrase.lower() in _STOP or phrase.islower())


def _capital_phrase(sentences: Sequence[str]) -> str | None:
    """A phrase of capitalised words that is brought: "the Lanczos Gaussian sampler", "Two-Stage Net"."""
    for sentence in sentences:
        found = re.search(
            r"\b(?:[Pp]ropose|[Ii]ntroduce|[Pp]resent|[Dd]evelop|[Dd]escribe|[Rr]elease)s?\s+(?:the|a|an)?\s*"
            r"(?:(?:new|novel|simple|first|so-called)\s+)*"
            r"(?P<phrase>[A-Z][\w-]+(?:\s+(?:[A-Z][\w-]+|of|for|as|with|and|sampler|method|algorithm|hypothesis|model|network))+)",
            sentence,
        )
        if found:
            words = found["phrase"].split()
            while words and words[-1] in ("of", "for", "as", "with", "and"):
                words.pop()
            if 2 <= len(words) <= 6 and sum(word[0].isupper() for word in words) >= 2:
                return _cut(" ".join(words))
    return None


# Subjects


def subject(abstract: str) -> str | None:
    """Return the subject of an abstract in a few words, or None.

    In this order: what is proposed, by its kind ("repair method for tree ensembles"); a concept the
    abstract emphasises or defines; its most used phrase, early ones first, where uses of a short form
    count; its first phrase.
    """
    text = " ".join(unwrapped(abstract).split())
    if _HAN.search(text) and not re.search(r"(?:[A-Za-z]{3,} ){3}", text):
        return re.split(r"[,。,;:]", text)[0][:16] or None
    found = _proposed_kind(text) or _concept(abstract, text) or _frequent_phrase(text) or _first_phrase(text)
    if not found:
        return None
    return _cut(found[:1].upper() + found[1:] if found.split()[0].islower() else found)


def _proposed_kind(text: str) -> str | None:
    """Return the noun phrase after a verb that brings something new, when it says more than its kind."""
    tokens = _TOKEN.findall(text)
    for place, token in enumerate(tokens):
        if not _NEW.fullmatch(token) or _NAMING.fullmatch(token):
            continue
        if not any(word.lower() in ("we", "paper", "work", "i") for word in tokens[max(0, place - 4) : place]):
            continue
        if place + 1 >= len(tokens) or tokens[place + 1].lower() not in ("a", "an", "the", "two", "three", "our", "novel", "new"):
            continue
        phrase = _noun_phrase(tokens, place + 2)
        if phrase and _is_used(phrase, tokens):
            return phrase
    return None


def _is_used(phrase: str, tokens: Sequence[str]) -> bool:
    """Whether every telling word of a phrase comes at least twice: what is said once is not the subject."""
    pieces = Counter(_stem(piece) for token in tokens for piece in token.split("-"))
    telling = (piece for word in phrase.split() if word.lower() not in _KIND for piece in word.split("-"))
    return all(pieces[_stem(piece)] >= 2 for piece in telling if len(piece) > 3)


def _noun_phrase(tokens: Sequence[str], start: int) -> str | None:
    """Read modifiers, a kind and perhaps what it is for: at most seven words, at least two that tell."""
    words: list[str] = []
    kind = False
    for place in range(start, min(start + 9, len(tokens))):
        lower = tokens[place].lower()
        if lower in _KIND and words and (place + 1 == len(tokens) or tokens[place + 1].lower() not in _KIND):
            words.append(tokens[place])
            kind = True
            break
        if lower in _VAGUE or lower == ",":
            continue
        if not tokens[place][0].isalpha() or lower in _PREPOSITION:
            break
        words.append(tokens[place])
    else:
        return None
    telling = [word for word in words if word.lower() not in _KIND]
    end = start
    while end < len(tokens) and tokens[end] != (words[-1] if words else None):
        end += 1
    if kind and end + 1 < len(tokens) and tokens[end + 1].lower() in ("for", "of"):
        run = []
        for token in tokens[end + 2 : end + 6]:
            if not token[0].isalpha() or token.lower() in _PREPOSITION:
                break
            if token.lower() not in ("the", "a", "an"):
                run.append(token)
        if run and any(word.lower() not in _STOP for word in run) and len(words) + len(run) <= 6:
            words = [*words, tokens[end + 1], *run]
            telling += [word for word in run if word.lower() not in _STOP]
    return " ".join(words) if kind and len(telling) >= 2 and len(words) <= 7 else None


def _concept(abstract: str, text: str) -> str | None:
    """Return a concept set off by emphasis, by a naming verb, or by a definition ("X: a conflation ...")."""
    for found in _EMPHASISED.finditer(abstract):
        phrase = " ".join(unwrapped(next(group for group in found.groups() if group)).split())
        words = phrase.split()
        if 2 <= len(words) <= 4 and all(word[0].isalnum() for word in words) and not words[-1].endswith("ly"):
            return phrase
    named = re.search(
        r"\b(?:[Ww]e|which we|what we)\s+(?:name|call|term|dub)\s+(?:(?:this|it|these|the)\s+(?:\w+\s+)?)?(?:as\s+)?(?:the\s+)?"
        r"(?P<phrase>[\w-]+(?:\s[\w-]+){1,2})(?=\s+and\s|[,.:;(]|\s–)",
        text,
    ) or re.search(r"\b(?P<phrase>[a-z][\w-]+ [a-z][\w-]+)(?:: an? | – an? )", text)
    if named:
        words = named["phrase"].split()
        if all(word.lower() not in _STOP for word in words):
            return named["phrase"]
    return None


def _frequent_phrase(text: str) -> str | None:
    """Return the phrase used most; weights chosen on 722 abstracts by how often its words are in the title.

    Being used in the first sentence about the paper itself ("we", "our") counts as two further uses; a
    phrase loses weight the later it first comes.
    """
    phrases = _counted_phrases(text)
    own = _OWN_SENTENCE.search(text)
    begin, end = own.span() if own else (0, 0)

    def score(key: str) -> float:
        phrase = phrases[key]
        uses = phrase.uses + (2 if any(begin <= place < end for place in phrase.places) else 0)
        return uses * (1.0 + 0.2 * (len(key.split()) - 2)) * (1.0 - min(phrase.places[0], 2000) / 2500)

    telling = [
        key
        for key, phrase in phrases.items()
        if phrase.uses >= (2 if " " in key else 4)
        and key not in _HEADS
        and key not in _GENERIC
        and phrase.text.lower() not in _GENERIC
    ]
    best = max(telling, key=lambda key: (score(key), -phrases[key].places[0]), default=None)
    return phrases[best].text if best else None


def _counted_phrases(text: str) -> dict[str, _Phrase]:
    """Return the phrases of one to four content words by their stems, uses of short forms counted in."""
    short_forms = _short_forms(text)
    phrases: dict[str, _Phrase] = {}

    def add(words: Sequence[str], place: int, uses: int) -> None:
        phrase = phrases.setdefault(" ".join(map(_stem, words)), _Phrase(" ".join(words)))
        phrase.uses += uses
        phrase.places.append(place)

    for run, at in _runs(text):
        for length in (4, 3, 2, 1):
            for begin in range(len(run) - length + 1):
                words = run[begin : begin + length]
                if length > 1 or words[0] in short_forms or _is_proper(words[0], at):
                    add(words, at, 1)
    for short, phrase in short_forms.items():
        uses = _uses(text, short) + _uses(text, short + "s")
        place = text.find(phrase)
        # A short form defined in the first words names what the abstract is about.
        opening = 0 <= place < 40
        if uses > (1 if opening else 2):
            add(phrase.split(), place, uses + 3 if opening else uses - 1)
        phrases.pop(_stem(short), None)
    return phrases


def _is_proper(word: str, at: int) -> bool:
    """A capitalised word inside a sentence, or a short form: alone it can be a subject ("Muon", "RLVR")."""
    return at > 0 and word[:1].isupper() and word not in _GENERIC_NAMES and not word.islower()


def _short_forms(text: str) -> dict[str, str]:
    """Return the short forms an abstract defines, each with its phrase; generic ones left out."""
    found: dict[str, str] = {}
    tokens = _TOKEN.findall(text)
    for place in range(1, len(tokens) - 2):
        short = tokens[place + 1]
        if tokens[place] == "(" and tokens[place + 2] in "),;" and short not in _GENERIC_NAMES:
            bare = short[:-1] if short.endswith("s") and short[:-1].isupper() else short
            begin = _phrase_start(tokens, place, bare) if sum(c.isupper() for c in bare) >= 2 else None
            if begin is not None and 2 <= place - begin <= 5:
                words = tokens[begin:place]
                if words[0].lower() not in ("and", "or", "the", "a", "of"):
                    found[bare] = " ".join(words)
    return found


def _first_phrase(text: str) -> str | None:
    study = _STUDY.search(text)
    places = [study.end()] if study else []
    for start in [*places, 0]:
        for run, _ in _runs(text[start : start + 300]):
            if len(run) >= 2:
                return " ".join(run[:4])
    return None


def _runs(text: str) -> Iterator[tuple[list[str], int]]:
    """Yield maximal runs of content words with the offset of their beginning."""
    run: list[str] = []
    begin = 0
    for found in _TOKEN.finditer(text):
        word = found[0]
        lower = word.lower()
        content = len(word) > 1 and word[0].isalpha() and lower not in _STOP and not lower.endswith("ly")
        # A general noun ends a phrase and does not begin one: "federated learning", "generative model".
        content = content or bool(run and lower in _HEADS)
        # A gerund begins a phrase only when it is a compound: "fine-tuning" but not "producing".
        content = content and (bool(run) or not lower.endswith("ing") or "-" in lower)
        if content:
            if not run:
                begin = found.start()
            run.append(word)
        elif run:
            yield run, begin
            run = []
    if run:
        yield run, begin


def _stem(word: str) -> str:
    """Plural and case do not make another phrase."""
    lower = word.lower()
    if lower.endswith("ies") and len(lower) > 4:
        return lower[:-3] + "y"
    return lower[:-1] if lower.endswith("s") and not lower.endswith("ss") and len(lower) > 3 else lower


def _cut(text: str) -> str:
    """Cut at a word so that at most `LONGEST` characters remain, an ellipsis for the rest."""
    text = text.strip(" ,;:.")
    if len(text) <= LONGEST:
        return text
    head = text[: LONGEST - 1]
    return (head.rsplit(" ", 1)[0] if " " in head else head).rstrip(" ,;:.-–") + "…"
