"""Comparative questions in Chinese, taken apart by rules; the sides stay as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.comparison_request import AS_BEFORE, MOST_SIDES, ComparisonRequest, Group, number_of

_Z_DIFFER = r"(?:不同|区别|差别|差异|异同|相同|共同点?|联系|分歧|不一致|相似)"
_Z_JOIN = r"\s*(?:和|与|跟|同|及|以及|、|，|,|还是|或者?|vs\.?|VS\.?)\s*"
_Z_FORMS = tuple(
    re.compile(form)
    for form in (
        r"^(?:请|请问|帮我|麻烦|能否|能不能)*\s*(?:比较|对比|[Cc]ompare)(?:一下|下)?(?P<sides>.+?)(?:在(?P<aspect>.+?)(?:上|方面|中)(?:的.+)?)?[。？?！!]*$",
        rf"^(?:请问)?(?P<sides>.+?)[，,]?(?:之间|两者|二者|三者|各自|它们)?的?(?:在(?P<aspect>.+?)(?:上|方面|中))?(?:究竟|到底)?"
        rf"(?:有(?:什么|何|哪些|啥)?|是否|的|看法|观点|怎么|如何)?(?:主要|根本|本质|看法|观点|地方)?{_Z_DIFFER}.*?[？?。]*$",
        r"^(?P<sides>.+?)(?:相比|相较|比较|比起来|对比)(?:之下|而言|起来)?[，,]\s*(?P<aspect>.+?)[？?。]*$",
        r"^(?P<sides>.+?)[，,]\s*(?:[两二三四五]者|它们|各自|分别|哪一?个|哪种|哪篇|谁)(?P<aspect>.+?)[？?。]*$",
        r"^(?P<sides>.+?)(?:哪一?个|哪种|哪一种|哪篇|谁)(?P<aspect>.+?)[？?。]*$",
        r"^(?P<a>.+?)(?:比|优于|不同于|有别于)(?P<b>[^，,]+?)(?P<aspect>(?:更|好|快|差|慢|强|弱|准|省).*?)?[吗么]?[？?。]*$",
    )
)
_Z_GROUP = re.compile(
    r"^(?:这|那|所有|全部|各种|这些)*(?P<number>[两二三四五六七八九十\d])?(?:篇|种|个|项)?(?:关于|有关|研究|针对|涉及)?\s*(?P<topic>.+?)\s*的"
    r"(?P<after>[两二三四五六七八九十\d])?(?:篇|种|个|项)?(?:所有)?(?:论文|文章|方法|工作|研究|摘要|优化器)$"
)
_Z_POINTER = re.compile(r"^(?:这|那|它|他)?(?:们|两|二|三|些)?(?:者|篇|种|个)?(?:论文|方法|文章|工作)?$")
_Z_GENERIC = re.compile(r"基线|现有|已有|以往|其他|其它|传统|之前|什么|哪些|先前|常规|标准方法")


def chinese_readings(text: str) -> Iterator[ComparisonRequest]:
    """Yield the ways a comparative question in Chinese can be taken apart; its sides stay as they are written."""
    for form in _Z_FORMS:
        match = form.match(text)
        if not match:
            continue
        parts = match.groupdict()
        aspect = (parts.get("aspect") or "").strip() or None
        sides = [parts["a"], parts["b"]] if parts.get("a") else re.split(_Z_JOIN, parts["sides"].strip())
        cleaned = tuple(_z_clean(side) for side in sides)
        if any(_Z_GENERIC.search(side) for side in cleaned):
            continue
        if len(cleaned) > 1 and all(cleaned):
            yield ComparisonRequest((cleaned[:MOST_SIDES],), aspect=aspect)
        whole = parts.get("sides") or ""
        group = _Z_GROUP.match(re.sub(r"^(?:请|比较|对比)+", "", whole.strip()))
        if group:
            number = number_of(group["number"] or group["after"])
            yield ComparisonRequest(group=Group(group["topic"].strip(), number), aspect=aspect)
        elif len(cleaned) == 1 and _Z_POINTER.match(cleaned[0]):
            yield ComparisonRequest(pointer=number_of(_counted(text)) or AS_BEFORE, aspect=aspect)


def _counted(text: str) -> str | None:
    """Return the number of papers that a question points at: "这三者", "这两篇论文"."""
    found = re.search(r"([两二三四五])(?:者|篇|种|个)", text)
    return found[1] if found else None


def _z_clean(side: str) -> str:
    side = re.sub(r"^(?:请|请问|那么?|在|的|对于)+", "", side.strip())
    return re.sub(r"(?:这|那)?(?:一)?(?:篇|个|种)?的?(?:论文|文章|这篇|那篇)?(?:的方法)?$", "", side).strip(' 的“”"')
