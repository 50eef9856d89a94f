"""Recognises questions about many papers at once: their themes, which they are, how many. Rules, no model.

Cautious: what is not surely such a question is None and is answered from its nearest papers. "Which papers use
X?" asks for a list; "Which paper introduces X?", "Which solver does QOP extend?" and "How many layers does X use?"
ask for one fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.types import ThemeRequest

_PAPERS = r"(?:papers|works|articles|abstracts|studies|publications|submissions)"
_RELATION = (
    r"(?:(?:that|which|who)\s+)?(?:(?:are|is|were|there|do|mainly|mostly|directly|actually|explicitly|also)\s+)*"
    r"(?:about|on|using|us(?:e|es|ed)|employ(?:s|ing)?|apply|applies|applying|deal(?:s|ing)?\s+with|address(?:es|ing)?|"
    r"discuss(?:es|ing)?|stud(?:y|ies|ying)|focus(?:es|ed|ing)?\s+on|mention(?:s|ing)?|consider(?:s|ing)?|"
    r"work(?:s|ing)?\s+on|propos(?:e|es|ing)|introduc(?:e|es|ing)|cover(?:s|ing)?|concern(?:s|ed\s+with|ing)?|"
    r"involv(?:e|es|ing)|evaluat(?:e|es|ing)|tackl(?:e|es|ing)|investigat(?:e|es|ing)|explor(?:e|es|ing)|"
    r"relat(?:ed|ing)\s+to|relate\s+to|rely\s+on|build\s+on|analy[sz](?:e|es|ing)|develop(?:s|ing)?|look(?:ing)?\s+at|"
    r"talk\s+about|touch\s+on|in\s+the\s+area\s+of|benchmark(?:s|ing)?|"
    r"report(?:s|ing)?(?:\s+(?:results?|experiments|numbers|figures)\s+(?:on|for))?|(?:test|train)(?:s|ed|ing)?\s+on|"
    r"with|in|within)"
)
_MAIN = (
    r"(?:(?:main|major|key|central|common|different|biggest|dominant|current|important|overall|broad|hot|research)"
    r"\s+)*"
)
_THEME_WORD = (
    r"(?:themes|sub-?themes|topics|trends|research\s+(?:areas|lines|directions)|directions|"
    r"lines\s+of\s+(?:work|research)|strands|areas)"
)
_THEMES = rf"{_MAIN}{_THEME_WORD}(?:\s+(?:and|or|,)\s+{_MAIN}{_THEME_WORD})*"
_ABOUT = (
    r"(?:on|in|of|about|within|around|across|for|regarding|concerning|related\s+to|among|at|from|covered\s+(?:by|in)|"
    r"discussed\s+in)"
)
_SUMMARISE = (
    r"(?:summari[sz]e|outline|describe|identify|map(?:\s+out)?|list|show|tell|give|write|present|extract|find|"
    r"what\s+are|what\s+were|which\s+are|what're)"
)
_WORK = r"(?:work|research|papers|literature|progress|advances|developments|findings|studies|articles|field|state)"

_THEME_RULES = tuple(
    re.compile(rf"^(?:{rule})\s*$", re.IGNORECASE)
    for rule in (
        rf"{_SUMMARISE}\s+(?:me\s+|us\s+)?(?:all\s+)?(?:of\s+)?(?:the\s+|its\s+)?{_THEMES}(?:\s+{_ABOUT}\s+(?P<topic>.+))?",
        rf"(?:the\s+)?{_MAIN}(?:themes|topics|trends)\s+{_ABOUT}\s+(?P<topic>.+)",
        rf"(?:what|which)\s+(?:are\s+the\s+)?{_THEMES}\s+(?:are\s+(?:there|covered|discussed|represented|present)|emerge|"
        rf"appear|exist|dominate|stand\s+out)(?:\s+{_ABOUT}\s+(?P<topic>.+))?",
        r"(?:what|which)\s+(?:\w+\s+)?(?:themes|topics|trends|areas)\s+(?:does|do|did)\s+(?P<topic>.+?)\s+"
        r"(?:cover|address|discuss|have|include|contain|deal\s+with)",
        r"what(?:\s+is|\s+was|'s|’s)\s+(?:going\s+on|happening|hot|trending|being\s+done)\s+(?:in|with|on|around|at)\s+"
        r"(?P<topic>.+)",
        r"what(?:\s+is|'s|’s)\s+new\s+in\s+(?P<topic>.+?)\s+(?:this\s+year|in\s+(?:these|the)\s+papers)",
        rf"{_SUMMARISE}\s+(?:me\s+|us\s+)?(?:all\s+)?(?:of\s+)?(?:the\s+)?(?:recent\s+|current\s+|existing\s+)?{_WORK}\s+"
        rf"(?:done\s+)?(?:on|in|about|around|regarding)\s+(?P<topic>.+)",
        r"(?:(?:give|write|show|make|i\s+(?:want|need)|i'd\s+like)\s+(?:me\s+|us\s+)?)?(?:an?\s+|the\s+)?(?:\w+\s+)?"
        r"(?:overview|survey|landscape|big\s+picture)\s+(?:of|on|about|over)\s+(?P<topic>.+)",
        rf"summari[sz]e\s+(?P<topic>(?:all\s+(?:of\s+)?)?(?:the|this|these)\s+(?:whole\s+|entire\s+)?"
        rf"(?:conference|corpus|collection|{_PAPERS}))",
        rf"what\s+(?:do|does)\s+(?:all\s+)?(?:the\s+|these\s+)?(?:{_PAPERS}|corpus|literature|conference)\s+"
        rf"(?:say|report|find|tell\s+us|conclude)\s+(?:about|on)\s+(?P<topic>.+)",
        r"what\s+(?:is|are)\s+(?P<topic>(?:the|this|these)\s+(?:whole\s+|entire\s+)?(?:conference|corpus|collection|"
        r"papers|abstracts))\s+about",
    )
)
_LIST_RULES = tuple(
    re.compile(rf"^(?:{rule})\s*$", re.IGNORECASE)
    for rule in (
        rf"(?:which|what)\s+(?:of\s+(?:the|these)\s+)?(?:other\s+)?{_PAPERS}\s+(?:in\s+(?:the|this)\s+\w+\s+)?{_RELATION}\s+"
        r"(?P<topic>.+)",
        rf"(?:list|show|find|give|name|enumerate|collect|get|retrieve|i\s+(?:want|need))\s+(?:me\s+|us\s+)?"
        rf"(?:(?:all|every|any)\s+)?(?:of\s+)?(?:the\s+|your\s+)?{_PAPERS}\s+{_RELATION}\s+(?P<topic>.+)",
        rf"(?:list|show|find|name|enumerate|collect|get)\s+(?:me\s+)?(?:all|every)\s+(?:of\s+)?(?:the\s+)?"
        rf"(?P<topic>\S.*?)\s+{_PAPERS}",
        rf"(?:are\s+there|do\s+you\s+have|is\s+there)\s+(?:any\s+|some\s+)?{_PAPERS}\s+{_RELATION}\s+(?P<topic>.+)",
        rf"(?:all\s+)?(?:the\s+)?{_PAPERS}\s+(?:on|about|using|that\s+use)\s+(?P<topic>.+)",
    )
)
_COUNT_RULES = tuple(
    re.compile(rf"^(?:{rule})\s*$", re.IGNORECASE)
    for rule in (
        rf"how\s+many\s+(?:of\s+(?:the|these)\s+)?{_PAPERS}\s+(?:are\s+there|do\s+(?:you|we)\s+have|exist)"
        rf"(?:\s+{_RELATION}\s+(?P<topic>.+))?",
        rf"how\s+many\s+(?:of\s+(?:the|these)\s+)?{_PAPERS}\s+(?:in\s+(?:the|this)\s+\w+\s+)?{_RELATION}\s+(?P<topic>.+)",
        rf"(?:what|which)\s+(?:is\s+the\s+)?(?:number|share|percentage|fraction|proportion|percent)\s+of\s+(?:the\s+|all\s+)?"
        rf"{_PAPERS}\s+{_RELATION}\s+(?P<topic>.+)",
        rf"(?:count|(?:the\s+)?number\s+of)\s+(?:(?:all|the)\s+)*{_PAPERS}\s+{_RELATION}\s+(?P<topic>.+)",
    )
)

_ZH_PAPERS = r"(?:论文|文章|文献|工作|研究|摘要)"
_ZH_RELATION = (
    r"(?:是)?(?:都)?(?:使用|用到|用|采用|应用|关于|有关|研究|讨论|涉及|提到|针对|探讨|关注|介绍|提出|属于|与)(?:了|到|过)?"
    r"(?:关于)?"
)
_ZH_ON = r"(?:关于|有关|使用|用到|采用|研究|涉及|讨论)(?:了)?"
_ZH_THEME = r"(?:子)?(?:主题|研究方向|方向|话题|议题|趋势|热点|研究热点)"
_ZH_AREA = r"(?:方面|领域)?"
_ZH_ALL = r"整个会议|全部论文|所有论文|这些论文|整个会议的论文|会议"
_ZH_SUMMARISE = r"(?:总结|概括|概述|综述|归纳|梳理|介绍)(?:一下)?"
_ZH_SOURCES = (
    ("count", rf"(?:一共|总共|共)?有?多少篇?{_ZH_PAPERS}?{_ZH_RELATION}(?P<topic>.+?)(?:的|相关)?(?:{_ZH_PAPERS})?"),
    ("count", rf"(?:关于|有关|使用|研究|涉及)(?P<topic>.+?)的?{_ZH_PAPERS}(?:一共|总共|共)?有(?:多少|几)篇?"),
    ("count", rf"(?:这里|索引里|库里)?(?:一共|总共|共)?有(?:多少|几)篇{_ZH_PAPERS}(?P<topic>)"),
    ("list", rf"(?:有)?哪些{_ZH_PAPERS}{_ZH_RELATION}(?P<topic>.+?)(?:的|相关)?"),
    (
        "list",
        rf"(?:有哪些|有什么|列出|找出|列举|给出|显示|查找)(?:一下)?(?:所有|全部|哪些)?的?{_ZH_ON}(?P<topic>.+?)的?{_ZH_PAPERS}",
    ),
    ("list", rf"(?:列出|找出|列举)(?:所有|全部)?的?(?P<topic>.+?)(?:相关|方面)的?{_ZH_PAPERS}"),
    (
        "theme",
        rf"{_ZH_SUMMARISE}(?P<topic>.+?){_ZH_AREA}的?(?:主要|核心)?"
        rf"(?:{_ZH_THEME}|研究进展|研究现状|进展|现状|相关{_ZH_PAPERS}|{_ZH_PAPERS}|概况)",
    ),
    (
        "theme",
        rf"(?P<topic>.*?)(?:方面|领域|方向|研究)?(?:的{_ZH_PAPERS})?[的都里中]*(?:今年)?(?:主要|核心|大致)?"
        rf"(?:有|包括|包含|涉及|分为|涵盖)?(?:了)?(?:哪些|什么)(?:主要|核心|重要)?的?{_ZH_THEME}",
    ),
    ("theme", rf"(?P<topic>.+?){_ZH_AREA}的(?:主要|核心)?{_ZH_THEME}(?:是什么|有哪些|是哪些)?"),
    ("theme", rf"(?P<topic>.+?){_ZH_AREA}的?(?:概览|概况|全貌|综述|研究现状|总体情况)"),
    ("theme", rf"{_ZH_SUMMARISE}(?P<topic>{_ZH_ALL})"),
    (
        "theme",
        rf"(?:今年)?(?P<topic>.+?){_ZH_AREA}(?:今年)?(?:有|出现了)(?:什么|哪些)(?:新)?(?:进展|动向|动态|发展)",
    ),
)
_ZH_RULES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"^(?:请|帮我|请帮我|请你|能否|麻烦)*(?:{rule})\s*(?:呢|吗)?$")) for kind, rule in _ZH_SOURCES
)

_POLITE = re.compile(
    r"^(?:(?:please|kindly|hi|hello|hey|ok|okay|so|now|and|then|also)[,\s]+|(?:can|could|would|will)\s+you\s+(?:please\s+)?|"
    r"i\s+(?:want|would\s+like|need)\s+(?:you\s+)?to\s+|help\s+me\s+(?:to\s+)?|i\s+wonder\s+|do\s+you\s+know\s+|let's\s+)+",
    re.IGNORECASE,
)
_COLLECTION = (
    r"(?:(?:the|this|these|those|our|your|all|whole|entire|complete|full|current|indexed|of|uploaded|given)\s+)*"
    rf"(?:conference|corpus|collection|index|list|lists|proceedings|data(?:set|base)?|program(?:me)?|{_PAPERS}|neurips|icml|"
    r"iclr)(?:\s+(?:papers|abstracts|conference|proceedings))?(?:\s+\d{4})?(?:\s+(?:here|there|indexed|papers))?"
)
_TAIL = re.compile(
    rf"(?:[\s,]+(?:this\s+year|these\s+days|right\s+now|now|today|currently|recently|so\s+far|please|here|overall|"
    rf"(?:in|at|among|across|of|within|from)\s+{_COLLECTION}|in\s+(?:their|its)\s+(?:method|experiments|abstract)s?))+$",
    re.IGNORECASE,
)
_HEAD = re.compile(
    r"^(?:(?:the|any|some|all)\s+)?(?:(?:(?:recent|current)\s+)?(?:research|work|papers|studies|literature|progress|advances)"
    r"\s+(?:on|in|about|around)|(?:field|area|topic|subject|problem|theme|notion|concept|idea)s?\s+of|subject)\s+",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_WHOLE = re.compile(
    rf"^(?:{_COLLECTION}|everything|all|整个会议|全部|所有|会议|(?:整个|全部|所有|这些|这个|该|本次)?(?:会议|论文|文章|摘要|语料|论文集|数据)"
    r"(?:的?论文)?)?$",
    re.IGNORECASE,
)
_POINTER = re.compile(
    r"^(?:it|its|this|that|them|they|these|those|one|ones|him|her|both|同样的|它|它们|这个|那个|这些|此|其)$|"
    r"^(?:this|that|these|those|the\s+same)\s+(?:method|approach|paper|model|technique|topic|idea|one)s?$",
    re.IGNORECASE,
)
_ENDING = " \t\r\n.?!。？！,，;；:：\"'“”‘’`"


def theme_request(question: str) -> ThemeRequest | None:
    """Return what a question asks of all papers, or None when it asks for a fact or a few papers.

    The topic is in the question's words, without "this year" or "in these papers"; it is empty, and `whole`
    true, when the question is about everything that is indexed. A topic that is only a pronoun gives None:
    what it points at is found where follow-ups are understood.
    """
    text = " ".join(question.split()).strip(_ENDING)
    text = _POLITE.sub("", text).strip(_ENDING)
    if not text or len(text) > 300:
        return None
    for kind, topic in _matches(text):
        cleaned = _topic(topic)
        if _WHOLE.match(cleaned):
            return ThemeRequest(kind, "", True) if kind != "list" else None
        if _POINTER.match(cleaned) or "?" in cleaned or "？" in cleaned:
            return None
        return ThemeRequest(kind, cleaned, False)
    return None


def _matches(text: str) -> Iterator[tuple[str, str]]:
    for kind, rules in (("count", _COUNT_RULES), ("list", _LIST_RULES), ("theme", _THEME_RULES)):
        for rule in rules:
            found = rule.match(text)
            if found:
                yield kind, found["topic"] or ""
    for kind, rule in _ZH_RULES:
        found = rule.match(text.replace(" ", "") if not re.search(r"[A-Za-z] [A-Za-z]", text) else text)
        if found:
            yield kind, found["topic"] or ""


def _topic(text: str) -> str:
    """Return a topic without what only says where and when, and without an article."""
    topic = text.strip(_ENDING)
    for _ in range(3):
        shorter = _HEAD.sub("", _TAIL.sub("", topic)).strip(_ENDING)
        if shorter == topic or _WHOLE.match(topic):
            break
        topic = shorter
    topic = topic.removeprefix("今年").removesuffix("今年").strip(_ENDING)
    return topic if _WHOLE.match(topic) else _ARTICLE.sub("", topic)
