"""Word lists of the quote gate and the rules: words that reverse, limit, count or compare.

All in lower case; the rules look up lower-case tokens or stems (see `words.stem`).
"""

from __future__ import annotations


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


NEGATORS = _words("not no never neither nor none nothing nowhere without cannot non n't nobody")
"""Words that negate what follows."""

LIMITERS = _words(
    """lack lacks lacking fail fails failed hardly barely rarely seldom scarcely few fewer little less least
    only if unless whether except almost nearly partly partially some most mostly many several half"""
)
"""Words that turn round or limit the words after them: a quote must not begin just behind one."""

BOUNDS = _words(
    """than least most to about around roughly over under below above nearly almost approximately exceeding
    minus plus only"""
)
"""Words before a number that belong to its meaning ("at least 5", "more than 5", "from 3 to 5")."""

CONDITIONS = _words("unless except only not nor never")
"""Words after a quote that take back what it says."""

SCALES = _words("hundred thousand million billion trillion percent percentage times fold orders per")
"""Words that continue a number before them."""

KNOWN_ACRONYMS: dict[str, str] = {
    **{"AI": "artificial intelligence", "ML": "machine learning", "RL": "reinforcement learning"},
    **{"LLM": "large language model", "LM": "language model", "NLP": "natural language processing"},
    **{"SFT": "supervised fine-tuning", "RLHF": "reinforcement learning from human feedback"},
    **{"SGD": "stochastic gradient descent", "GD": "gradient descent", "GNN": "graph neural network"},
    **{
        "CNN": "convolutional neural network",
        "RNN": "recurrent neural network",
        "DNN": "deep neural network",
    },
    **{"MoE": "mixture of experts", "MDP": "Markov decision process", "VLM": "vision-language model"},
    **{
        "GAN": "generative adversarial network",
        "VAE": "variational autoencoder",
        "BO": "Bayesian optimization",
    },
    **{"GP": "Gaussian process", "OOD": "out of distribution", "CoT": "chain of thought"},
    **{"LoRA": "low-rank adaptation", "MLP": "multilayer perceptron"},
}
"""Acronyms that papers use without expanding them."""

NUMBER_WORDS: dict[str, int] = {
    **{"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8},
    **{"nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15},
    **{"sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30},
    **{"forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90},
}
"""Numbers in words."""

NEGATING_IDEOGRAPHS = frozenset("不没沒無无未非否")
"""Chinese characters that negate what follows."""

# --- words of a claim and how much each says ----------------------------------------------------------

FUNCTION_WORDS = _words(
    """a an the this that these those it its itself he she his her they them their theirs we us our ours you
    your i my me who whom whose which what when where why how there here of in on at by for from to into onto
    with within about against between among across over under above below through during before after until
    upon via per as than then so such too very also both either each other another own same and or but nor not
    no if while whereas because since although though however thus hence therefore moreover furthermore
    additionally further instead rather be is are was were been being am do does did doing done have has had
    having can could may might must shall should will would cannot more most less least much many few some any
    all every several only just even still yet already well up down out off again once n't without never
    neither none non one s t e g i.e e.g etc et al vs versus like unlike whether ever toward towards along
    around despite due according given based let lets using used use uses"""
)
"""English words that carry no content by themselves; the rules on negation and quantity read them apart."""

GENERIC = _words(
    """paper papers author authors study studies work works article research method methods approach
    approaches technique propose proposes proposed present presents presented introduce introduces introduced
    show shows shown describe describes described discuss mention mentions state states report reports
    reported
    investigate investigates explore explores explored examine examines aim aims called named known
    demonstrate demonstrates find finds found suggest suggests involve involves include includes including
    specifically namely particular particularly result results finding findings way order able ability
    provide provides provided offer offers make makes made address addresses focus focuses achieve achieves
    contain contains comprise comprises consist consists occur occurs look looked become becomes serve serves
    act acts work works reach reaches take takes get gets give gives evaluate evaluated evaluation test tested
    experiment experiments validate conduct perform performs yes new novel various"""
)
"""Words of scientific talk: a claim may add them without adding to what is said."""

LIGHT = _words(
    """additional extra further explicit any access significant statistically necessarily much need needs
    require requires requiring requirement use using used single clear direct new prior previous existing
    other real actual full complete substantial considerable noticeable large small strong"""
)
"""Words between a negation and what it denies ("without any additional training")."""

CLAUSE_WORDS = _words("but while whereas although though because since which who however yet unless until")
"""Words that begin a clause of their own: a negation does not reach over them."""

HARMLESS_NEGATIONS: dict[str, frozenset[str]] = {
    "not": _words("only just merely simply solely all every necessarily"),
    "no": _words("more less fewer later matter"),
    "without": _words("loss"),
}
"""Negations that deny nothing before these words ("not only", "no more than")."""

NEGATIVE_VERBS = _words("fail lack unable incapable")
"""Verbs and adjectives that negate what follows as "not" does."""

SOFT_NEGATIVES = _words(
    """avoid eliminate remove prevent free instead rather unlike exclude absence absent miss missing ignore
    neglect unnecessary obviate bypass hard difficult hardly rarely seldom scarcely few limited insufficient
    impossible loses lost lose independent agnostic regardless refuse reject deny hinder zero lacking
    alleviate overcome mitigate suffer struggle unclear unknown deficiency deficient knockout null depletion
    deplete deletion inactivate loss"""
)
"""Words that may express a negation in other words: near one of them a missing "not" is no contradiction."""

IRREGULAR: dict[str, str] = {
    **{"found": "find", "shown": "show", "led": "lead", "rose": "rise", "risen": "rise", "fell": "fall"},
    **{"fallen": "fall", "grew": "grow", "grown": "grow", "chosen": "choose", "chose": "choose"},
    **{"learnt": "learn", "built": "build", "given": "give", "gave": "give", "taken": "take", "took": "take"},
    **{"got": "get", "made": "make", "thought": "think", "saw": "see", "seen": "see", "went": "go"},
    **{"began": "begin", "begun": "begin", "became": "become", "held": "hold", "kept": "keep"},
    **{"broke": "break", "broken": "break", "written": "write", "wrote": "write", "drawn": "draw"},
    **{"understood": "understand", "lost": "lose", "loses": "lose", "men": "man", "women": "woman"},
    **{"children": "child", "mice": "mouse", "data": "data", "criteria": "criterion", "indices": "index"},
    **{"matrices": "matrix", "analyses": "analysis", "hypotheses": "hypothesis", "leaves": "leaf"},
    **{"arose": "arise", "arisen": "arise", "won": "win", "beaten": "beat", "spent": "spend", "said": "say"},
}
"""Irregular forms that a stemmer does not know."""

SYNONYM_GROUPS = (
    "improve enhance boost ameliorate",
    "reduce decrease lessen diminish",
    "increase raise",
    "outperform surpass beat exceed",
    "require need necessitate",
    "enable allow permit",
    "evaluate assess test",
    "obtain attain reach",
    "fast quick rapid speedy",
    "dataset corpus",
    "big large",
    "aid help assist",
    "learn train",
    "begin start",
    "end finish",
    "show demonstrate reveal prove",
    "develop design devise create build",
    "employ leverage utilize exploit",
    "examine investigate explore study analyze",
    "fix repair correct",
    "choose select pick",
    "preserve maintain retain keep",
    "alleviate mitigate",
    "cause induce lead",
    "degrade deteriorate worsen",
    "unify unified",
    "harm hurt damage",
)
"""Words that papers and summaries put for each other; the first stands for the group."""

# --- directions ---------------------------------------------------------------------------------------

ANTONYMS = (
    (
        "increase raise grow rise higher high more greater larger amplify expand enlarge longer elevate "
        "maximize maximum maximal upward upregulate accelerate heighten",
        "decrease reduce lower low drop decline less fewer smaller shrink shorten shorter diminish minimize "
        "minimum minimal downward downregulate inhibit suppress slow reduction attenuate lessen",
    ),
    (
        "improve better superior strengthen stronger best outperform surpass enhance exceed beat effective "
        "promote",
        "degrade worse inferior weaken weaker worst underperform impair deteriorate trail ineffective worsen",
    ),
    (
        "increase promote induce cause enhance stimulate trigger facilitate elevate potentiate upregulate "
        "raise",
        "decrease reduce inhibit prevent suppress block impair attenuate abolish impede hinder downregulate "
        "disrupt",
    ),
    ("faster fast accelerate quick speedup quickly rapid", "slower slow decelerate slowly"),
    ("easier easy simple simpler", "harder hard complex difficult complicated"),
    ("large big large-scale", "small little tiny"),
    ("earlier early before precede", "later late after follow"),
    ("first", "last"),
    ("upper", "lower"),
    ("similar same identical", "different dissimilar"),
    ("always consistently", "rarely never seldom inconsistently"),
    ("positive positively", "negative negatively"),
    ("online", "offline"),
    ("global globally", "local locally"),
    ("dense", "sparse"),
    ("static", "dynamic"),
    ("linear linearly", "exponential exponentially"),
    ("succeed success", "fail failure"),
    ("deterministic deterministically", "stochastic stochastically"),
    (
        "significantly substantially dramatically markedly considerably",
        "slightly marginally barely negligibly",
    ),
    ("activate", "deactivate inactivate inhibit"),
    ("true", "false"),
    ("present presence", "absent absence"),
    ("cheap cheaper inexpensive", "expensive costly"),
    ("robust", "fragile vulnerable brittle"),
    ("gradual gradually", "sudden suddenly abrupt abruptly"),
    ("short", "long"),
    ("necessary", "unnecessary"),
    ("old older", "young younger"),
    ("accept", "reject"),
    ("internal", "external"),
    ("worsen aggravate exacerbate", "alleviate mitigate relieve"),
    ("protect protective", "damage"),
)
"""Groups of words with opposite meaning."""

EXACT_OPPOSITES = (
    ("gain", "loss"),
    ("strong", "weak"),
    ("only", "also"),
    ("few", "many"),
    ("fewer", "more"),
    ("above", "below"),
    ("include", "exclude"),
    ("active", "passive"),
    ("with", "without"),
    ("always", "sometimes"),
    ("often", "rarely"),
    ("can", "must"),
    ("may", "must"),
    ("some", "all"),
    ("some", "each"),
    ("some", "every"),
    ("least", "most"),
    ("major", "minor"),
    ("open", "closed"),
    ("forward", "backward"),
    ("input", "output"),
    ("maximum", "minimum"),
)
"""Opposites that are believed only where one stands in the place of the other: alone they mean much else."""

NEGATIVE_PREFIXES = ("un", "in", "im", "ir", "non", "dis", "mis", "anti")
"""Prefixes that turn a word into its opposite: "unsupervised", "misaligned"."""

COMPARED_UP = _words(
    """higher more greater larger better faster stronger superior longer earlier outperform surpass exceed
    beat bigger easier cheaper stabler sooner safer richer"""
)
COMPARED_DOWN = _words(
    """lower less fewer smaller worse slower weaker inferior shorter later underperform trail lag harder
    costlier poorer"""
)
"""Words that put their first side above or below their second, which follows "than", "over" or the verb."""

PREDICATES = _words(
    """outperform surpass beat exceed underperform improve degrade increase decrease reduce lower raise cause
    induce inhibit activate suppress promote prevent achieve require use generate predict learn train optimize
    minimize maximize outweigh dominate precede follow replace generalize extend contain include depend affect
    influence enable harm lead produce preserve mediate govern disentangle flatten sharpen reveal distinguish
    recover converge bind regulate encode express control drive guide teach supervise imitate attack defend
    detect approximate imply bound scale transfer convert transform map align compress encode decode help hurt
    support contradict treat explain accelerate repair modify select reject accept adapt shift drift collapse
    grow attain obscure inform update correct restore apply assign match link connect"""
)
"""Verbs with two different sides: exchanging the sides changes what is said."""

NOUNS_TOO = _words(
    """use control increase decrease cause drive support help shift drift map bound scale link match lower
    harm hurt transfer attack approach guide benefit influence contract treat lead train bind teach update
    contain"""
) | {"learn", "process", "result", "display", "study", "repair", "replace", "correct", "adapt", "transform"}
"""Verbs whose bare form is often a noun, adjective or modifier."""

# --- quantity and certainty ---------------------------------------------------------------------------

UNIVERSAL = _words("all every always entire entirely completely universally invariably everything everywhere")
MAJORITY = _words("most mostly majority usually often many generally typically largely frequently")
STRICT_MAJORITY = _words("mostly majority usually always")
EXISTENTIAL = _words("some several sometimes certain partially partly occasionally various")
SCARCE = _words("few rarely seldom hardly barely scarcely")
EXCLUSIVE = _words("only solely exclusively sole merely alone just purely")
NECESSARY = _words("must need needs require requires required necessarily necessary should shall always")
NECESSITY = _words("must necessarily")
COVERING = _words("each any consistently throughout regardless universal")
"""Words that say "all" in other ways."""

UNCERTAIN = _words(
    "may might could perhaps possibly potentially likely suggest hypothesize speculate seem appear"
)
"""Words by which a paper leaves something open."""

UPPER_BOUNDS = ("at most", "up to", "less than", "fewer than", "no more than", "under", "below", "<", "≤")
LOWER_BOUNDS = (
    "at least",
    "more than",
    "greater than",
    "no less than",
    "over",
    "above",
    "exceeding",
    ">",
    "≥",
)
APPROXIMATE = (
    "about",
    "around",
    "approximately",
    "roughly",
    "nearly",
    "almost",
    "close to",
    "some",
    "~",
    "≈",
)
"""Phrases directly before a number that make it a bound or an estimate."""

SUBJECT_PRONOUNS = _words("we our it this these they their that such its i")
"""Words by which a sentence speaks of the paper's own method without naming it."""
