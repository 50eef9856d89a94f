"""From what the user typed to what is searched: language, follow-ups made self-contained, the kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rag.generate import SINGLE, one_line, reply
from rag.prompts import load_prompt
from rag.types import Plan, SubQuery, Turn, Usage, Writer

LANGUAGES = {"zh": "Chinese", "ja": "Japanese", "ko": "Korean", "ru": "Russian", "ar": "Arabic", "en": "English"}
"""Languages told apart by their script; any other counts as English."""

MAX_QUESTION = 2_000
"""Characters of a question that are used; what is beyond is not read."""

_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
)
_POINTER = re.compile(
    r"\b(?:it|its|they|them|their|theirs|this|that|these|those|he|she|his|her|both|former|latter|ones?|"
    r"same|the (?:method|approach|paper|authors?|model|framework|technique|algorithm|work|two|other|others))\b",
    re.IGNORECASE,
)
_CONTINUATION = re.compile(
    r"^\s*(?:and|but|so|or|then|also|what about|how about|why|why not|how so|which ones?|in what way|"
    r"by how much|on (?:which|how many|what)|compared (?:to|with) what|any|more|else|really|for example)\b",
    re.IGNORECASE,
)
_FUNCTION = frozenset(
    {
        *("a", "an", "the", "what", "which", "who", "why", "how", "when", "where"),
        *("is", "are", "was", "were", "do", "does", "did", "can", "could", "will"),
        *("would", "should", "may", "might", "must", "has", "have", "had", "be", "been"),
        *("of", "on", "in", "at", "to", "for", "from", "by", "with", "about"),
        *("as", "and", "or", "but", "not", "many", "much", "more", "most", "any"),
        *("some", "there", "all", "so", "than", "then", "if", "tell", "me", "show"),
        *("give", "list", "explain", "describe", "say", "said", "please"),
    }
)
_CJK_POINTER = re.compile(
    r"它|他们|它们|这个|那个|这些|那些|该方法|这种|其(?:中|他)?|那么"
    r"|为什么\s*[？?]?$|还有|呢\s*[？?]?$"
)


def language_of(text: str) -> str:
    """Return the ISO 639-1 code of the text's language, told by its script.

    A few foreign names do not decide: the script must make up a tenth of the letters.
    """
    letters = [character for character in text if character.isalpha()]
    for code, script in _SCRIPTS:
        if letters and sum(bool(script.match(c)) for c in letters) >= 0.1 * len(letters):
            return code
    return "en"


def needs_context(question: str, history: Sequence[Turn]) -> bool:
    """Tell whether a question leans on the turns before it: it points back, continues, or names nothing."""
    if not any(turn.role == "user" for turn in history):
        return False
    words = re.findall(r"\w+", question)
    if _CONTINUATION.search(question) or _CJK_POINTER.search(question):
        return True
    if names_in(question):
        return False
    pointer = _POINTER.search(question)
    if pointer:
        # With two things named before it, "their" most likely points at one of them.
        named = [word for word in re.findall(r"\w+", question[: pointer.start()].lower()) if word not in _FUNCTION]
        return len(named) < 2
    return language_of(question) == "en" and len(words) <= 3


def context_of(history: Sequence[Turn]) -> str:
    """Return the words of earlier turns that a follow-up leans on: the last self-contained question and
    the names of the questions since."""
    asked = [turn.text for turn in history if turn.role == "user"]
    for place in range(len(asked) - 1, -1, -1):
        if not needs_context(asked[place], [Turn("user", text) for text in asked[:place]]):
            break
    else:
        place = 0
    later = [name for text in asked[place + 1 :] for name in names_in(text)]
    return " ".join([asked[place], *later])


def make_plan(
    question: str, history: Sequence[Turn], writer: Writer | None, *, papers: int, is_known: Callable[[str], bool]
) -> tuple[Plan, Usage]:
    """Return the plan of a question and what the model used to make it.

    A follow-up is rewritten by the model where there is one; the rewriting is only used when it adds no name
    that neither the conversation nor the question holds. The search always keeps the earlier question's words
    beside it. A question in another language is put into English by the model; without one only the names in
    it can be searched, and the plan's note says so. `is_known` tells whether a word occurs in the papers.
    """
    question = question[:MAX_QUESTION].strip()
    language = language_of(question)
    usage = Usage()
    standalone, note, context = question, None, ""
    if needs_context(question, history):
        context = context_of(history)
        standalone = f"{context} {question}"
        if writer and language == "en":
            rewritten, used = _rewrite(question, history, writer)
            usage += used
            standalone = rewritten or standalone
    if language != "en":
        source = f"{context} {question}".strip()
        if writer:
            translation, used = reply(
                writer, load_prompt("translate_question").render(max_tokens=160, question=one_line(source))
            )
            usage += used
            standalone = translation if language_of(translation) == "en" and translation else source
        else:
            # Among other scripts a Latin word is a name, also as the first.
            names = [name for name in names_in(f"xx {source}") if is_known(name)]
            standalone = " ".join(names) or source
            note = (
                f"This question is in {LANGUAGES[language]}. Without a language model it cannot be translated, "
                + (f"so only {', '.join(names)} could be searched." if names else "so only its words were searched.")
            )
    search = standalone if not context or language != "en" else f"{context} {standalone}"
    plan = Plan(question, standalone, language, SINGLE.name, (SubQuery(search, papers),), note)
    return plan, usage


def _rewrite(question: str, history: Sequence[Turn], writer: Writer) -> tuple[str | None, Usage]:
    """Return the question made self-contained by the model, or None when the rewriting is not to be trusted."""
    turns = [*history[-4:], Turn("user", question)]
    roles = {"user": "User", "assistant": "Assistant"}
    conversation = "\n".join(f"{roles.get(turn.role, 'User')}: {one_line(turn.text)[:400]}" for turn in turns)
    text, usage = reply(writer, load_prompt("rewrite").render(max_tokens=60, conversation=conversation))
    allowed = conversation.casefold()
    invented = [name for name in names_in(text) if name.casefold() not in allowed]
    return (text if text and not invented and len(text) < 400 else None), usage


_LETTER = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""A letter or digit of a script that sets its words apart: "Muon优化器" begins with the name Muon."""


def names_in(text: str) -> list[str]:
    """Return the words of a text that look like names of methods, data sets or models: capitals or digits
    inside, or a capital beyond the first word."""
    words = re.findall(rf"[A-Za-z](?:{_LETTER}|[℃°+\-])*(?:{_LETTER}|[℃+])|[A-Z]", text)
    return [
        word
        for place, word in enumerate(words)
        if re.search(r"[A-Z0-9℃]", word[1:]) or (place and word[0].isupper() and len(word) > 1)
    ]


def is_strong(name: str) -> bool:
    """Tell whether a word is surely a name: a capital or digit inside it, not only at its start."""
    return bool(re.search(r"[A-Z0-9℃]", name[1:]))
