"""The parts of abstracts in general: their names, signal words and model sentences, and the words of whose work it is.

Weights and lines were set on 60 abstracts; figures on others are in eval/RESULTS.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PROBLEM = "problem"
"""Key of the part that every abstract has."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of abstracts: what it is called, its signal words, and sentences as it has them.

    `strong` words nearly make a sentence one of this part, `weak` ones may; `against` speak against it. `own` is the
    weight of being about the paper's own work, `early` that of standing at the start (negative: at the end). `line`
    is the least score of a sentence that belongs to it. `asked` are words of a question that ask for it.
    """

    key: str
    label: str
    chinese: str
    strong: re.Pattern[str]
    weak: re.Pattern[str]
    against: re.Pattern[str]
    models: tuple[str, ...]
    own: float
    early: float
    line: float
    asked: re.Pattern[str]


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_NEVER = _any(r"(?!)")

_WE = (
    r"(?:\b(?:(?<!\bwhich )(?<!\bthat )(?<!\bwhere )(?<!\bwhen )(?<!\bif )we|our|ours|this (?:paper|work|study|article|"
    r"thesis|position paper|"
    r"research|survey)|the present (?:paper|study|"
    r"work)|"
    r"in this (?:\w+ )?(?:paper|work|study|article)|the proposed)\b)"
)
OWN = _any(
    _WE,
    r"^(?:here,|to (?:address|tackle|overcome|solve|mitigate|resolve) (?:this|these|the)|to this end|building on)\b",
)
"""Words of a sentence about the paper's own work."""

OTHERS = _any(
    r"^.{0,40}?\b(?:existing|prior|previous|current|recent|conventional|traditional|standard|most|many|other|earlier|"
    r"prevailing|popular) "
    r"(?:\w+[- ]){0,4}?(?:methods?|approach\w*|works?|stud(?:y|ies)|techniques?|models?|fix\w*|algorithms?|accounts?|"
    r"analys[ei]s|"
    r"solutions?|systems?|frameworks?|practices?|trajectories|baselines?|literature|results?|evaluations?|defen[cs]es?|"
    r"attacks?|advances|progress|optimi[sz]ers?|applications?|efforts?|calibration|measures?)\b",
    r"^(?:however|but|yet|while|although|despite|unfortunately),? (?:these|they|such|existing|prior|previous|most|"
    r"many)\b",
)
"""Words of a sentence about the work of others, where no word speaks of the paper's own."""

BESIDE = _any(
    r"^(?:unlike|contrary to|in contrast (?:to|with)|compared (?:to|with)|when compared|different from|instead of|"
    r"as opposed to)\b"
)
"""Words of a sentence that sets the paper's own work against that of others."""

_VERBS_STRONG = r"(?:propos|introduc|present|develop|devis|design|put forward)(?:e|es|s|ing)?"
_VERBS = (
    r"(?:stud(?:y|ies)|analy[sz]es?|investigates?|argues?|formali[sz]es?|constructs?|appl(?:y|ies)|derives?|asks?|"
    r"address(?:es)?|"
    r"provides?|revisits?|examines?|characteri[sz]es?|identif(?:y|ies)|proves?|uses?|builds?|describes?|considers?|"
    r"explores?|"
    r"combines?|defines?|extends?|leverages?|employs?|adopts?|transforms?|formulates?|views?|look|conducts?|"
    r"focus(?:es)?|"
    r"trains?|learns?|model|achieve this|close it|test|compares?|evaluates?|benchmarks?|unif(?:y|ies)|establish(?:es)?|"
    r"carry out)"
)
_NEEDED = (
    r"(?:requir\w+|access|any|assum\w+|relying|external|paired|human|manual|additional|extra|prior|re-?training|"
    r"training|"
    r"fine-?tuning|labels?|label[l]?ed|supervision|annotat\w+|knowledge|updating|modif\w+|the need|needing|"
    r"imposing|"
    r"model|gradients?|ground[- ]truth|hyper-?parameter\w*|stronger|strong|restrictive)"
)

_TRIED = (
    r"\b(?:experiment\w*|evaluat\w+|test(?:ed|ing|s)?|validat\w+|empirical\w*|numerical\w*|train(?:ed)?|applied|"
    r"appl(?:y|ying)|^across|across (?:\d|multiple|several|various|diverse|different|many|all|two|three|four|five|six|"
    r"a )|conduct|"
    r"demonstrat\w+|showcase|show the|outperform\w*|achiev\w+|improv\w+|study|solve|succeeds?|releas\w+|audit|"
    r"surpass\w*|verif\w+|"
    r"benchmark\w*|compar\w+|results? (?:show|on|demonstrate|across|confirm)|"
    r"recovers?|reduc\w+)\b"
)
_DATA = (
    r"\b(?:data ?sets?|benchmarks?|benchmark\w* (?:data|tasks?)|corpus|corpora|real[- ]world|"
    r"(?:synthetic|simulated|real|experimental|image|medical|held-out|tabular|sequential|text)(?:(?:,| and|"
    r", and) [\w-]+)* data|simulations?|"
    r"(?:across|on|for|of|over|various|several|multiple|diverse|"
    r"\d+) (?!all )(?:[\w-]+,? (?:and )?){0,8}?tasks|"
    r"recordings|(?:natural|medical|test|real|\d[\w,]*) images|families|countries|languages|environments|games|humans|"
    r"suite|test systems|"
    r"(?:variety|number|range|series|set|collection) of (?:[\w-]+ ){0,4}?(?:problems|tasks|settings|models|"
    r"applications|scenarios)|"
    r"(?:several|multiple|many|two|three|four|five|six|seven|eight|nine|ten|\d+) (?:[\w-]+ ){0,3}?(?:problems|models|"
    r"scenarios|applications|architectures)|"
    r"(?:various|diverse|different|several|multiple|many|numerous) (?:[\w-]+,? ){0,3}?(?:LLMs|models|settings|"
    r"architectures|datasets|backbones|domains)|"
    r"training experiments|models (?:ranging|from|spanning)|\d+[BM] (?:parameters?|models?))\b"
)
_NAMED_DATA = (
    r"\b(?:(?i:ImageNet|CIFAR|MNIST|CelebA|COCO|GLUE|SuperGLUE|Atari|MuJoCo|WikiSQL|GSM8K|SQuAD|DomainNet|KITTI|WMT|"
    r"LibriSpeech|D4RL|Kinetics|ADE20K|Cityscapes|ShapeNet|Penn Treebank|WikiText|AlpacaEval|MMLU|StarCraft|Minecraft|"
    r"SVHN|LSUN|fastMRI)|LLaMA|Llama|Qwen|GPT|BERT|ResNet|TREC|OGB|DeepSeek|MATH\b|UCI\b|Go\b)"
)
_SPACES = (
    r"(?:(?:(?:non-?|strongly[- ]?|weakly[- ]?|general )?(?:convex|concave)\w*(?! game)|lipschitz|sub-?gaussian|"
    r"log-?concave|smooth (?:loss|function|objective)\w*|realizable|i\.i\.d\.|separable))"
)

PARTS: tuple[Part, ...] = (
    Part(
        PROBLEM,
        "Subject and problem",
        "主题与问题",
        _any(
            r"\b(?:however|challeng\w*|limitations?|lacks?|lacking|fail(?:s|ed)?|suffers?|difficult\w*|"
            r"bottlenecks|a bottleneck|unclear|"
            r"poorly understood|barrier|expensive|costly|neglect\w*|overlook\w*|gap|hinders?|prohibitive|vulnerab\w+|"
            r"impractical|"
            r"infeasible|intractable|struggles?|brittle|overconfident|not enough|insufficient|missing|inaccurate|"
            r"open question)\b"
        ),
        _any(
            r"\b(?:problems?|despite|limited|ignor\w+|risks?|cannot|complexity|degrad\w+|requires?|hidden|remains?|"
            r"goal|question|"
            r"yet|but|although|"
            r"while|crucial|essential|important|fundamental)\b"
        ),
        _any(
            rf"{_WE}.{{0,60}}\b(?:{_VERBS_STRONG}|show|prove|find|demonstrate|evaluate)",
            r"\boutperform|\bovercome challenges|\bsuccessful in\b",
            r"^(?:this|these|it|they|such)\b.{0,40}$",
        ),
        (
            "However, existing methods suffer from a major limitation and remain expensive.",
            "Despite recent progress this problem is poorly understood and remains challenging.",
            "A central question is how this can be achieved.",
        ),
        -0.35,
        0.4,
        0.75,
        _any(r"\b(?:problems?|goals?|aims?|motivat\w+|questions?|tasks?|purpose|improve)\b|问题|目标|目的|任务"),
    ),
    Part(
        "approach",
        "Approach",
        "方法",
        _any(
            rf"{_WE}(?:(?! that\b).){{0,80}}?\b{_VERBS_STRONG}\b",
            rf"{_WE}.*\band {_VERBS_STRONG}\b",
            r"^[\w -]{3,60} \((?-i:[A-Z])[\w-]+\), (?:a|an|the)\b",
            r", (?:a|an|the first) (?:[\w-]+ ){0,5}?(?:framework|method|algorithm|approach|model|sampler|system|"
            r"architecture|paradigm)\b",
            r"\b(?:yields?|called|named|dubbed|termed) (?-i:[A-Z])",
        ),
        _any(
            rf"{_WE}(?:(?! that\b).){{0,80}}?\b{_VERBS}\b",
            r"\bwe seek to\b|^(?:in this \w+,? we|this paper) shows?\b|\bby (?:study|analy[sz]|investigat)ing\b",
            r"^(?:specifically|instead|the key idea|our key)\b",
        ),
        _any(
            r"\bwe (?:also|further|additionally|finally)\b|\bexperiments? to\b|^however\b|\bwe (?:currently|still) |"
            r"^(?:in addition|additionally|moreover|"
            r"furthermore|finally|"
            r"we call)\b",
            r"\b(?:propose|introduce|present|release)\b.{0,40}\b(?:metrics?|benchmark|data ?set|experiments|results|"
            r"evidence|directions)\b",
        ),
        (
            "We propose a new framework that combines the following components.",
            "In this work we introduce a method which works in two stages.",
            "We analyze the behaviour of this algorithm theoretically.",
        ),
        0.25,
        0.25,
        0.15,
        _any(r"\b(?:methods?|approach(?:es)?|techniques?|ideas?|mechanisms?|algorithms?)\b|方法|思路|做法"),
    ),
    Part(
        "data",
        "Data and setting",
        "数据与实验设置",
        _any(
            rf"(?=.*{_TRIED})(?=.*{_DATA})",
            r"\b(?:participants|(?:human|patient) subjects|case stud(?:y|ies)|real data(?: ?sets)?(?! points)|"
            r"data ?sets? of)\b",
            rf"(?=.*{_TRIED}).*(?-i:{_NAMED_DATA})",
            r"\b(?:experiments?|evaluat\w+|tested|validated?) (?:on|in) (?:the )?(?:[a-z-]+ ){0,3}?(?-i:[A-Z])[\w-]+",
            r"\brelease .{0,60}\b\d",
        ),
        _any(r"\b(?:evaluat\w+|experiment\w*|tested|conduct\w*) .{0,30}?\b(?:on|across|with|over|using)\b"),
        _any(
            rf"{_WE}.{{0,60}}\b(?:propose|introduce)\b(?!.{{0,40}}\b(?:data ?set|benchmark|corpus))",
            r"\bfurther study\b",
            r"^(?:however|existing)\b",
        ),
        (
            "Experiments on several benchmark datasets and models from different families.",
            "We evaluate on real-world and synthetic data across many tasks.",
            "We conduct a study with human participants and 23 models.",
        ),
        0.15,
        -0.3,
        0.78,
        _any(
            r"\b(?:data|data ?sets?|benchmarks?|evaluat\w+|experiments?|tested|tried|settings?|models used|corpora|"
            r"corpus)\b"
            r"|数据|基准|实验|评测"
        ),
    ),
    Part(
        "results",
        "Results",
        "结果",
        _any(
            r"\b(?:outperform\w*|state[- ]of[- ]the[- ]art|sota|recovers?|beats?|surpass\w*|superior\w*|exceeds?|"
            r"converges?|significant\w* (?:improv\w+|reduc\w+|better))\b",
            r"\d(?:\.\d+)?\s*(?:\\?%|\$?\\times|×|x\b|percent|[- ]?fold)",
            rf"(?:{_WE}|^(?!(?:together|overall|broadly|taken)?,? ?(?:these|our) (?:results|findings)).*\b(?:results?|"
            rf"experiments?|findings?|analys[ei]s|evaluations?)\b).{{0,60}}?\b(?:show|prove|demonstrate|find|establish|"
            r"observe|reveal|report|indicate|suggest|confirm|validate|verify|illustrate)(?:s|d|ed|es|ing)?\b(?! how)",
            r"\b(?:improved?|tight\w*|match\w*|new|optimal) (?:the )?(?:upper|lower|regret|error|"
            r"generali[sz]ation)?(?: and lower)? ?bounds?\b|\bimproves? (?:on|over|upon)\b",
            r"\b(?:substantially|significantly|consistently|markedly|greatly|further) (?:reduc|improv|enhanc|increas|"
            r"boost)\w*",
            r"\bperforms? (?:competitively|comparably|favou?rably|on par|well|better)\b|\bcompetitive (?:performance|"
            r"results|with)\b",
            r"\b(?:upper|lower) bound .{0,60}\bmatch\w*",
        ),
        _any(
            r"\b(?:achiev\w+|improv\w+|reduc\w+|gains?|accura\w+|faster|speed\w*|reach\w*|effective\w*|significant\w*|"
            r"consistently|"
            r"guarantees?|optimal|tight\w*|bounds?|better|robust)\b",
            r"\d\s?(?:\\?%|\$?\\times|×)",
        ),
        _any(
            rf"{_WE}.{{0,60}}?\b{_VERBS_STRONG}\b(?!.*\b(?:prov|show|demonstrat|outperform|achiev|improv|reduc|"
            rf"enjoy)\w*)",
            r"\bshow how\b|\bcurrently unable\b|\bwe (?:call|name|refer)\b|^(?:overall|together|broadly|taken together|"
            r"in summary),",
            r"^(?:we|in this work, we|here,? we) (?:aim|seek|consider|study|investigate|ask)\b",
        ),
        (
            "Our method outperforms the strongest baselines by a large margin.",
            "We prove convergence and show that the error is reduced by 12%.",
            "Experiments demonstrate consistent improvements in accuracy and efficiency.",
        ),
        0.25,
        -0.2,
        0.6,
        _any(
            r"\b(?:results?|performances?|perform|performs|better|worse|best|outperform\w*|accura\w+|effective\w*|"
            r"findings?|conclusions?|beat|gains?)\b"
            r"|结果|性能|效果|更好|结论"
        ),
    ),
    Part(
        "needs",
        "Assumptions and requirements",
        "假设与要求",
        _any(
            rf"\bwithout (?:the )?{_NEEDED}\b",
            r"\b(?:does|do|need|did) not (?:require|need|rely|depend|assume)\b",
            r"\brequir(?:es?|ing) (?:no|neither|only|just|a single|access|that|knowledge|as few|"
            r"little|minimal|few)\b",
            r"\b(?:we|it|method|approach|analysis|theory|which|only|that) assumes?\b|\bassuming\b|"
            r"\b(?:novel|mild|weak\w*|new|minimal|standard|following|certain) assumptions (?:on|that|about)\b",
            r"\bunder (?:the |a |an |some |mild |suitable |standard |certain )?(?:[\w$\\>() -]+ ){0,3}?(?:assumptions?|"
            r"conditions?|regimes?|dependence|exchangeability|noise|"
            r"budget)\b",
            r"\b(?:training|label|annotation|gradient|retraining|hyper-?parameter|tuning|reference|segmentation|model|"
            r"data|likelihood)-free\b",
            r"\bblack-box\b",
            r"\bno (?:weight|training|internal|additional|extra|prior|human|labels?|supervision|access|external|"
            r"fine-?tuning|retraining)\b",
            r"^given (?:any|only|an? (?:[\w-]+ ){0,3}?(?:number|set) of|[\w-]+ (?:examples|samples))\b",
            r"\b(?:takes?|using|with|given|from) (?:only )?(?:a few|an? single|unlabel+ed|unpaired|an? small (?:number|"
            r"set) of) [\w-]+",
            r"\b(?:avoid|eliminat|remov|obviat)\w* the (?:need|requirement|reliance)\b",
            r"\b(?:weak|instance-level|image-level) (?:supervision|annotations?|labels?)\b",
            r"\b(?:given only|having access|access to|as long as|provided (?:that|the)|if and only if|"
            r"necessary and sufficient)\b",
            r"\bonly (?:requires?|needs?|uses?|relies|access|a few|few|(?:[\w-]+ )?(?:few|one|two) [\w-]+ (?:steps?|"
            r"samples?|examples?))\b",
            rf"\b(?:for|of|on|under|with|when|over|in) (?:the |a |an |any |all )?(?:[\w$-]+,? ){{0,4}}?{_SPACES}",
            r"\bin (?:a|an|the|this) (?:[\w-]+ ){0,3}?(?:regime|limit (?:of|where))\b|\b(?:in|"
            r"for) the setting (?:where|when|"
            r"in which)\b",
            r"\b(?:functions?|problems?|games?|distributions?|losses) (?:that )?satisf(?:y|ies|ying)\b",
            r"\bwhen(?:ever)? .{0,80}\b(?:satisf(?:y|ies)|holds?|assumption)\b",
        ),
        _any(
            r"\b(?:strongly[- ]convex\w*|convex|concave|smooth|lipschitz|gaussian|sub-?gaussian|bounded|regime|setting|"
            r"when|needs?|relies on)\b"
        ),
        _any(
            r"^however\b",
            r"\bchalleng",
            r"\bunder such\b|\bgains? in\b",
            r"\b(?:recent|existing|prior|previous) (?:[\w-]+ ){0,2}?(?:approach|method)\w* (?:that|which)\b",
            r"\bunlike\b.{0,40}\bassum",
        ),
        (
            "The method requires no training data and no access to model internals.",
            "Under the assumption that the noise is bounded, the following holds.",
            "It works without human annotations or paired samples.",
        ),
        0.2,
        0.0,
        0.8,
        _any(r"\b(?:assum\w+|requir\w+|needs?|prerequisites?|conditions?)\b|假设|需要|要求|条件"),
    ),
    Part(
        "limits",
        "Limits",
        "局限",
        _any(
            r"\blimitations? of (?:our|this|the proposed)\b",
            r"\b(?:only (?:clear )?exception|with the exception of|caveats?|is excluded|are excluded)\b",
            r"\bat the (?:cost|expense) of\b|\bcomes? (?:with|at) a (?:cost|price)\b",
            r"\bremains? (?:substantial|open|unresolved|challenging|difficult|limited|a challenge|an open)\b",
            rf"(?:{_WE}|\bresults?\b|\bthere\b).{{0,160}}?\b(?:fails?|cannot|can not|do(?:es)? not (?:help|hold|"
            rf"improve|suffice|generali[sz]e)|degrades?|worse|insufficient|"
            r"(?<!non-)vacuous|prone to|breaks? down|suboptimal|inconsistent)\b",
            r"\b(?:strengths and limitations|prone to|albeit|currently unable)\b",
        ),
        _any(
            r"\b(?:trade-?offs?|overhead|slow(?:ly|er)?|except|weakness\w*|drawbacks?|leaving|but|although|while|"
            r"however)\b",
        ),
        _any(
            r"\b(?:to (?:address|overcome|mitigate|tackle|resolve)|overcom\w+|avoid\w*|alleviat\w+|without|prevent\w*|"
            r"mitigat\w+|better|"
            r"breaks? the|benign|evaluat\w+|outperforms?|state-of-the-art|improv\w+|eliminat\w+|reduces?|not fail|"
            r"outperform\w*|"
            r"controllable)\b",
            rf"{_WE}.{{0,60}}?\b{_VERBS_STRONG}\b",
            r"\b(?:answer|investigate|study|understand|explain|ask)\b.{0,20}\b(?:why|whether|when)\b",
            r"\b(?:vanilla|existing|prior|previous|current|standard|popular|traditional|conventional|such|most|many) "
            r"(?:[\w-]+ ){0,3}?(?:approach|method|model|techniqu|algorithm|work)",
        ),
        (
            "However, the computational overhead of our method remains substantial.",
            "The approach fails in this setting and leaves the question open.",
            "The only exception is where it does not help.",
        ),
        0.3,
        -0.1,
        0.95,
        _any(
            r"\b(?:limit(?:s|ations?)|drawbacks?|weakness\w*|disadvantages?|pitfalls?|shortcomings?|fail\w*)\b|局限|缺点|"
            r"不足|弱点"
        ),
    ),
)
