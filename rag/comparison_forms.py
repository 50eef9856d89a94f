"""The ways people put comparative questions in English, as patterns: forms, groups, pointers, what is no side."""

from __future__ import annotations

import re

from rag.comparison_request import MOST_SIDES

COUNT = r"(?P<number>two|three|four|five|six|seven|eight|nine|ten|\d{1,2}|both)"
HEADS = (
    r"(?:papers|abstracts|works|studies|methods|approaches|techniques|algorithms|models|frameworks|benchmarks|"
    r"optimi[sz]ers|samplers|strategies|systems|solutions|attacks|defen[cs]es|articles|publications|theories|analyses|"
    r"proposals|ways)"
)
HEAD = (
    r"(?:paper|abstract|work|study|method|approach|technique|algorithm|model|framework|benchmark|optimi[sz]er|sampler|"
    r"strategy|system|solution|attack|defen[cs]e|article|publication|theory|analysis|proposal|one)"
)
ABOUT = (
    r"(?:on|about|for|of|to|that|which|in|using|with|from|around|against|dealing|addressing|studying|tackling|"
    r"concerning|related)"
)
# Determiners and the like before the head noun of a group.
ALL = (
    r"(?:(?:all(?: of)?|the|these|those|every|different|various|other|available|several|any|existing|indexed) )*"
)
GROUP = re.compile(
    rf"^{ALL}(?:{COUNT} (?:of )?(?:the |these |those )?)?(?:different |main |indexed |various )?{HEADS}"
    rf"(?P<about>\s+{ABOUT}\b\s*(?P<topic>.+))$",
    re.IGNORECASE,
)
GROUP_BEFORE = re.compile(rf"^{ALL}(?:{COUNT} )?(?P<topic>\S.*?)[\s-]+{HEADS}$", re.IGNORECASE)
BARE_GROUP = re.compile(rf"^{ALL}(?:{COUNT} )?(?:different |main |indexed )?{HEADS}$", re.IGNORECASE)
POINTER = re.compile(
    rf"^(?:(?:the|these|those|all|both|of)\s)*(?:(?:both|two|three|four)(?: of)?(?: the| these| those)? {HEADS}|"
    rf"it|its|they|them|their|this|that|these|those|both|{COUNT}|each other|"
    rf"one another|(?:this|that|these|those|the same|the former|the latter|the first|the second|the last|the other|"
    rf"the (?:two|three))(?:\s(?:two|three|other|one|ones))?(?:\s(?:{HEADS}|{HEAD}))?|the (?:{HEAD}|{HEADS}))$",
    re.IGNORECASE,
)
# What papers are compared with in their own abstracts: no side of a comparison of papers.
GENERIC = re.compile(
    r"^(?:(?:the|its|their|all|any|other|some|previous|prior|existing|earlier|current|recent|strong|standard|classical|"
    r"traditional|conventional|alternative|competing|related|usual|naive|simple|common|modern|such|each|state|these|of|"
    r"which|what|art|best|strongest|several|many|most|more|different|various)[\s-]+)*"
    r"(?:baselines?|methods?|approaches|approach|work|works|literature|competitors?|alternatives?|models?|techniques?|"
    r"algorithms?|others?|state[\s-]of[\s-]the[\s-]art|sota|the art|art|each other|one another|papers?|what|humans?|"
    r"experts?|practice|studies|research|systems|training|ground truth|random|chance|before|expected|usual)"
    r"(?:\s+(?:methods?|baselines?|models?|approaches|work))?$"
    r"|^(?:existing|previous|prior|earlier|conventional|traditional|competing|state[\s-]of[\s-]the[\s-]art|sota|other|its|their)"
    r"\s(?!one\b|papers?\b)\S",
    re.IGNORECASE,
)
# The comparison is one that a single paper makes: "... according to the abstract of X", "... in the grokking paper".
WITHIN = re.compile(
    r"[,\s](?:according to|as (?:described|stated|reported|seen) (?:in|by)|in|by)\s+(?:the\s+)?"
    r"(?:abstract|paper|study|work)\b(?!.*\b(?:and|or|vs\.?|versus|than|with|to)\b)[^,]*$"
    r"|[,\s](?:according to|in)\s+the\s+(?:(?!and\b|or\b|of\b)\S+\s+){1,4}(?:paper|abstract|study)[?.!\s]*$",
    re.IGNORECASE,
)

DIFFER = r"(?:differ|compare|contrast|diverge|disagree|agree|relate|stack up|vary|deviate|overlap|fare)"
IN = (
    r"(?:in terms of|with respect to|with regards? to|when it comes to|regarding|concerning|as regards|as to|"
    r"in regard to|"
    r"on the (?:question|matter|aspect) of|in the way|in how|in their|in its|in what|in|about|on|by|for)"
)
POLITE = (
    r"^(?:(?:please|could you|can you|would you|i would like to|i want to|i'd like to|let's|help me|so|and|now|ok|"
    r"okay)[,\s]+)*"
)
TAIL = rf"(?:[,\s]+(?:{IN})\s+(?P<aspect>.+?))?"
END = r"\s*[?.!]*\s*$"
MORE = (
    r"better|worse|best|worst|faster|slower|cheaper|stronger|weaker|safer|simpler|larger|smaller|easier|harder|higher|"
    r"lower|more|less|fewer|most|least"
)
NOUNS = (
    r"(?:differences?|similarit(?:y|ies)|distinctions?|trade-?offs?|commonalit(?:y|ies)|contrasts?|relations?|"
    r"relationships?|"
    r"overlap|comparison|disagreements?|agreements?|gap|advantages? and disadvantages?|pros and cons)"
)

# Each has `sides`, or `a` and `b`; `aspect` where it can tell.
RELATION = re.compile(r"\b(?:relations?|relationships?|gap|overlap|trade-?offs?) (?:of|between|among)\b", re.I)
FORMS = tuple(
    re.compile(form, re.IGNORECASE | re.DOTALL)
    for form in (
        rf"{POLITE}(?:compare and contrast|compare|contrast|juxtapose|rank)\s+(?P<sides>.+?)(?: (?:with|"
        rf"to) (?:each other|one another))?"
        rf"{TAIL}{END}",
        rf"{POLITE}(?:put|set|place|show|hold)\s+(?P<sides>.+?)\s+(?:side by side|next to (?:each other|"
        rf"one another)|beside each other|"
        rf"against each other|together)(?:,? please)?{TAIL}{END}",
        rf"{POLITE}(?:in (?:what|which) (?:ways?|respects?|aspects?)|how(?: much| far| exactly)?|where|"
        rf"to what extent)\s+"
        rf"(?:do|does|did|is|are|can|would)\s+(?P<sides>.+?)\s+(?:really |fundamentally |mainly |actually )?{DIFFER}"
        rf"(?:\s+(?:from|to|with|by) (?:each other|one another))?{TAIL}{END}",
        rf"{POLITE}(?:in (?:what|which) (?:ways?|respects?)|how(?: much| far| exactly)?|where)\s+(?:do|does|did|is|"
        rf"are|can)\s+"
        rf"(?P<a>.+?)\s+(?:really |fundamentally |mainly )?(?:{DIFFER}|different|distinct|distinguished|similar|"
        rf"related)\s+"
        rf"(?:from|to|with|against|and)\s+(?P<b>.+?){TAIL}{END}",
        rf"{POLITE}(?:is|are|was|were)\s+(?P<a>.+?)\s+(?:any |much |very |really |at all )?(?:different|"
        rf"distinct) from\s+(?P<b>.+?){TAIL}{END}",
        rf"{POLITE}(?:do|does|did)\s+(?P<a>.+?)\s+(?:dis)?agree with\s+(?P<b>.+?)(?:\s+(?:that|on|about|"
        rf"in)\s+(?P<aspect>.+?))?{END}",
        rf"{POLITE}(?:do|does|did)\s+(?P<sides>(?:all|both|the|these|"
        rf"those)\b.+)\s+(?P<aspect>\w+\s+the same\b.*?){END}",
        rf"{POLITE}how (?:do|does|did) (?P<a>.+?) (?:fit|go|square|tally) (?:together )?with (?P<b>.+?){TAIL}{END}",
        rf"{POLITE}how (?:different|similar|alike|related)\s+(?:is|are)\s+(?P<sides>.+?){TAIL}{END}",
        rf"{POLITE}(?:what'?s?|which|where|explain|describe|summari[sz]e|tell me|list|name|give|show|"
        rf"write)\b.{{0,40}}?\b{NOUNS}\s+"
        rf"(?:(?:there (?:is|are)|(?:is|are) there|do you see|exists?) )?(?:between|among|amongst|"
        rf"of)\s+(?P<sides>.+?){TAIL}{END}",
        rf"{POLITE}(?:what|how|which \w+)\s+(?:do|does|did)\s+(?P<sides>.+?)\s+(?:have in common|share|disagree|"
        rf"agree|differ|"
        rf"conflict|contradict each other|contradict one another)(?:\s+(?:on|about|in|"
        rf"regarding)(?:\s+(?P<aspect>.+?))?)?{END}",
        rf"{POLITE}what (?:are|is) the {NOUNS} of\s+(?P<a>.+?)\s+(?:as opposed to|against|versus|over|"
        rf"compared (?:to|with))\s+(?P<b>.+?){END}",
        rf"{POLITE}what (?:distinguishes|separates|differentiates|"
        rf"sets)\s+(?P<a>.+?)(?: apart)?\s+from\s+(?P<b>.+?){TAIL}{END}",
        rf"{POLITE}(?:do|does|is|are)\s+(?P<sides>.+?\s(?:and|or)\s.+?)\s+(?:both|agree|disagree|the same|similar|"
        rf"alike|"
        rf"contradict|compatible|complementary|share|differ)\b\s*(?P<aspect>.*?){END}",
        rf"{POLITE}(?:is|are)\s+(?P<sides>.+?\sor\s.+?)\s+(?P<aspect>(?:the )?(?:{MORE})\b.*?){END}",
        rf"{POLITE}(?:should|would|do) (?:i|you|we|one)\s+(?:rather |better )?(?:use|choose|prefer|pick|take|"
        rf"recommend)\s+"
        rf"(?P<sides>.+?\s(?:or|over|instead of|rather than)\s.+?){TAIL}{END}",
        rf"{POLITE}(?P<lead>which|who|what(?:['’]?s)?)\b(?P<aspect>[^,:—]+?)\s*[,:—-]+\s*(?P<sides>.+?\s+or\s+.+?){END}",
        r"^(?P<sides>[^:,?]{2,160}?\s+(?:or|vs\.?|versus)\s+[^:,?]{2,160}?)\s*[:,?]\s*(?P<aspect>which\b.+?)?" + END,
    )
)
# "Compare A and B: which is faster?", "..., and where do they part?"
TAIL_QUESTION = re.compile(
    r"^(?P<main>.{6,240}?)(?:\s*[:;—]\s*|\s+-\s+|,\s+(?:and\s+)?)(?P<aspect>(?:what|where|which|how|who|why|when|is|"
    r"are|does|do|in "
    r"what|in which|by)\b.+?)[?.!]*\s*$",
    re.IGNORECASE,
)
VERSUS = re.compile(r"\s+(?:vs\.?|versus|v\.s\.)\s+", re.IGNORECASE)
# A question that is hardly more than a list of names: "UpSafe ThinkSafe difference", "TPA/TPC?".
BARE_LISTS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"^(?P<sides>[^:?]{{3,160}}?)[\s:,—-]+(?:main |key )?(?:{NOUNS}|compared){END}",
        rf"^(?:main |key )?{NOUNS}[\s:—-]+(?P<sides>[^:?]{{3,160}}?){END}",
        r"^(?P<sides>[^:?]{3,160}?)\s*[:—–]\s*(?P<aspect>(?:which|what|how|who|where|whose)\b.+?)" + END,
        r"^(?P<sides>\S{2,40}(?:\s*/\s*\S{2,40}|\s+v\.?\s+\S{2,40}){1,3}?)" + END,
    )
)
BARE_SEPARATOR = re.compile(r"\s*[,;/&+]\s*|\s+(?:and|or|with|vs?\.?|versus|to|from)\s+", re.IGNORECASE)
# What a question says of the form of its answer.
LEAD_IN = re.compile(
    rf"{POLITE}(?:i(?:['’]d| would) (?:like|love)(?: to (?:see|have))?|i (?:want|need)(?: to see)?|give me|show me|"
    r"make(?: me)?|draw(?: up)?|write(?: me)?|produce|prepare)\s+(?:(?:a|an|the|short|brief|quick|detailed|full)\s+)*"
    r"(?:comparison(?: table)?\s+(?:of|between)|(?:table|overview|summary|grid)\s+(?:comparing|contrasting|"
    r"that compares|to compare))\s+",
    re.IGNORECASE,
)
LEAD_OUT = re.compile(
    r"(?:[,\s]+(?:please|for me|for us|thanks|thank you|briefly|"
    r"in (?:a|one) (?:table|grid|sentence|nutshell|few words)|as a table|in (?:short|brief|detail)))+[\s?.!]*$",
    re.IGNORECASE,
)
# Where a sentence ends and another begins; "vs. X" does not.
SENTENCES = re.compile(r"(?<![\s(]vs\.)(?<![\s.]\w\.)(?<=[\w℃°+)”\"’\]][.?!])\s+(?=[\"“A-Z])")
WHICH_OF = re.compile(
    rf"{POLITE}(?:which|who)(?:\s+(?:one|ones|{HEAD}|\w+))?\s+(?:of|among|between|out of)\s+(?P<rest>.+?){END}",
    re.IGNORECASE,
)
THAN = re.compile(
    rf"{POLITE}(?:(?:why|how much|by how much|when|how|in what way)\s+)?(?:is|are|does|do|did|can|will|"
    rf"was)\s+(?P<rest>.+?)\s+than\s+(?!(?:two|half|\d+|one (?!that|on|which|in|about|where|with))\b)"
    rf"(?P<b>.+?){TAIL}{END}",
    re.IGNORECASE,
)
BEATS = re.compile(
    rf"{POLITE}(?:(?:why|how|when)\s+)?(?:does|do|did|can|will)\s+(?P<a>.+?)\s+(?P<aspect>beat|outperform|surpass|"
    rf"improve (?:on|upon|over)|"
    rf"contradict|dominate|generali[sz]e|extend|subsume|build (?:on|upon))\s+(?P<b>.+?){END}",
    re.IGNORECASE,
)
UNLIKE_FIRST = re.compile(
    r"^(?:unlike|in contrast (?:to|with)|as opposed to|compared (?:to|with)|relative to|versus|against|contrary to)\s+"
    r"(?P<a>[^,]+),\s*(?P<rest>.+?)[?.!]*\s*$",
    re.IGNORECASE,
)
UNLIKE_LAST = re.compile(
    r"^(?P<rest>.+?)[,\s]+(?:unlike|in contrast (?:to|with)|as opposed to|compared (?:to|with)|relative to|"
    r"when compared (?:to|with)|"
    r"in comparison (?:to|with)|and how does (?:that|it|this) compare (?:to|with)|rather than)\s+(?P<b>.+?)[?.!]*\s*$",
    re.IGNORECASE,
)
ASKING = re.compile(
    r"^(?:what|how|why|where|when|which|does|do|is|are|can)\b(?:\s+(?:does|do|did|is|are|can|will|much|many|well|"
    r"\w+ly))*\s+",
    re.IGNORECASE,
)
VERB = re.compile(
    r"^(?:is|are|was|were|has|have|had|does|do|did|can|could|will|would|should|may|might|must|"
    r"(?:need|use|require|work|rel|give|achieve|report|train|perform|handle|scale|prove|assume|provide|offer|run|"
    r"cost|get|"
    r"show|make|appl|learn|improve|reduce|outperform|generali[sz]e|target|test|evaluate|involve|avoid|come|go|keep|"
    r"support|claim|find|reach|beat|change|measure|operate|depend|stud|treat|touch|modif|fine-?tune|introduce|propose|"
    r"present|contain|cover|include|save|consume|add|ask|take|want|exploit|leverage|access|update|freeze|deal|concern|"
    r"address|focus|look|look|release|publish|compare|do|say|tell|speak|allow|let|help|guarantee|ensure|yield|look|"
    r"preserve|retain|employ|incorporate|combine|build|start|stop|end|lack|fail|succeed|suffer|benefit|differ|"
    r"analy[sz]e|"
    r"investigate|explain|describe|identif|examine|explore|tackle|solve|adapt|align|steer|edit|inject|remove|store|"
    r"demand|tolerate|converge|sample|generate|tri|test)(?:s|es|ies|y|ed)?|shown|proved|proven)$",
    re.IGNORECASE,
)
ARTICLE = re.compile(r"^(?:the|a|an|this|that)\s+", re.IGNORECASE)
SEPARATOR = re.compile(
    r"\s*[,;]\s*(?:and|or|with|versus|vs\.?)?\s+|\s+(?:and|or|with|to|against|versus|vs\.?|from|over|instead of|"
    r"rather than|than|&)\s+"
    r"|\s*[、，；]\s*|\s+(?:和|与|跟|同|及|以及|还是|或)\s+",
    re.IGNORECASE,
)
MOST_SEPARATORS = 6
MOST_SPLIT = 3 * MOST_SIDES
CLEAN = re.compile(r"^[\s\"“”‘’'`*:]+|[\s\"“”‘’'`*?.!,;:]+$")
