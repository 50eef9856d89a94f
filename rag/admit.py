"""Which records hold an abstract: the reasons for not becoming a paper."""

from __future__ import annotations

import re

from rag.formats.record import Record

NO_ABSTRACT = "it has a title but no abstract."

# Shorter texts are headings, remarks and placeholders: the shortest real abstract among 18,581 records
# of conference lists has 28 words.
_FEWEST_WORDS = 8
LONGEST_ABSTRACT = 30_000
"""Characters; longer texts are whole papers or broken files. The longest real abstract has about 4,000."""

# Chinese and Japanese are written without spaces; two characters are about one word.
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")

_PLACEHOLDER = re.compile(
    r"""(?:
        n/?\.?a\.? | none | null | nan | nil | tb[ad] | to\ be\ (?:announced|added|determined) | todo
      | tbc | abstract | summary | placeholder.{0,20} | (?:coming|available)\ soon | test | unknown | empty
      | -+ | \?+
      | (?:this\ |the\ )?(?:paper\ )?(?:was\ |has\ been\ |is\ )?withdrawn?
            (?:\ (?:paper|submission|by.{0,40}))?
      | \(?(?:there\ is\ )?(?:no|without)\ (?:abstract|summary)(?:\ (?:is\ )?(?:yet\ )?
            (?:available|provided|given|found|listed)(?:\ .{0,40})?)?\)?
      | (?:the\ |an\ )?(?:abstract|summary)\ (?:(?:is|was|are)\ )?(?:currently\ )?(?:not|un)\ ?(?:yet\ )?
            (?:available|provided|given|found|included)(?:\ .{0,60})?
      | (?:the\ |this\ )?(?:abstract|text)\ (?:will\ be|is\ to\ be)\ (?:added|provided|available).{0,40}
      | (?:see|please\ see|refer\ to)\ (?:the\ )?(?:pdf|paper|attached|full\ text|supplement).{0,40}
      | lorem\ ipsum\b.* | 暂无摘要 | 无摘要 | 摘要 | 无
    )[\s.!。]*""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)

# One of these is in every biography, and in few abstracts: the slow patterns run on those only.
_BIOGRAPHER = re.compile(
    r"professor|lecturer|post-?doc|ph\.?\s?d|degree|research interest|scientist|fellow", re.IGNORECASE
)
_BIOGRAPHY = (
    re.compile(
        r"\b(?:received|obtained|earned|holds|completed|got)\b[^.]{0,40}\b"
        r"(?:Ph\.?\s?D|M\.?\s?Sc?|B\.?\s?Sc?|B\.?\s?Eng|M\.?\s?Eng|B\.?\s?Tech|B\.?A|M\.?A"
        r"|bachelor|master|doctora(?:te|l)|degree)\b",
    ),
    re.compile(
        r"\bis\s+(?:currently\s+|now\s+)?(?:an?|the)\s+(?:[\w-]+\s+){0,3}"
        r"(?:professor|lecturer|post-?doc\w*|PhD\s+(?:student|candidate)|(?:graduate|doctoral)\s+student"
        r"|research(?:er|\s+(?:scientist|fellow|engineer))|scientist|fellow)\b[^.]{0,60}\b(?:at|in|with|of)\b",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?:his|her|their|whose|my)\s+(?:current\s+|main\s+)?research\s+(?:interests?|focus\w*)\b",
               re.IGNORECASE),
    re.compile(r"\b(?:he|she)\s+(?:is|was|has|received|joined|works|served)\b", re.IGNORECASE),
)  # fmt: skip


def reason_to_skip(record: Record, *, damaged: bool = False) -> str | None:
    """Return why a record is no paper, or None if it is one.

    `damaged` says that U+FFFD in the text stands for bytes that could not be read.
    """
    if record.problem is not None:
        return record.problem
    text = (record.abstract or "").strip()
    if not text:
        return NO_ABSTRACT if record.title else "it is blank."
    if damaged and "\N{REPLACEMENT CHARACTER}" in text:
        return "some of its bytes are not UTF-8; save the file as UTF-8."
    if len(text) > LONGEST_ABSTRACT:
        return f"it is too long for an abstract ({len(text):,} characters, at most {LONGEST_ABSTRACT:,})."
    words = " ".join(text.split())
    if _PLACEHOLDER.fullmatch(words.strip("[](){}<>*_ \"'")):
        return f"its abstract is a placeholder ({_short(words)})."
    if record.title and _same_words(words, record.title):
        return "its abstract is only the title again."
    if len(words.split()) + len(_HAN.findall(words)) // 2 < _FEWEST_WORDS:
        return f"it is too short for an abstract ({_short(words)})."
    if _BIOGRAPHER.search(words) and sum(bool(pattern.search(words)) for pattern in _BIOGRAPHY) >= 2:
        return f"its abstract is an author's biography ({_short(words)})."
    return None


def _short(text: str) -> str:
    return f"“{text[:60]}…”" if len(text) > 60 else f"“{text}”"


def _same_words(first: str, second: str) -> bool:
    return re.findall(r"\w+", first.casefold()) == re.findall(r"\w+", second.casefold())
