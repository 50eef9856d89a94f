"""Loads the prompt files of `prompts/` and renders them strictly.

A prompt file is Markdown with the headings `## system`, `## user` and `## assistant`. The first section is
the system message, pairs of user and assistant in the middle are worked examples, and the last section is
the user message. `$name` marks a variable of the last section (`$$` is a dollar sign); a variable without a
value and a value without a variable are both errors, so that a renamed one can never be silently empty.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from string import Template

from rag.errors import PromptError
from rag.types import Prompt

_HEADING = re.compile(r"^## (system|user|assistant)[ \t]*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PromptFile:
    """A parsed prompt file: the system text, worked examples (user, assistant), the user template."""

    name: str
    system: str
    examples: tuple[tuple[str, str], ...]
    template: Template

    def render(
        self, *, max_tokens: int, keys: tuple[str, ...] = (), grammar: str | None = None, **values: str
    ) -> Prompt:
        """Fill the user message with `values`; raises `PromptError` when they do not fit exactly."""
        wanted = set(self.template.get_identifiers())
        if wanted != values.keys():
            missing, unknown = sorted(wanted - values.keys()), sorted(values.keys() - wanted)
            raise PromptError(f"prompts/{self.name}.md: missing values {missing}, unknown values {unknown}")
        return Prompt(
            system=self.system,
            user=self.template.substitute(values),
            max_tokens=max_tokens,
            keys=keys,
            examples=self.examples,
            grammar=grammar,
        )


def parse_prompt(name: str, text: str) -> PromptFile:
    """Parse the text of a prompt file; raises `PromptError` naming the file when its sections are off."""
    parts = _HEADING.split(text)
    roles, bodies = parts[1::2], [body.strip() for body in parts[2::2]]
    middle = roles[1:-1]
    if parts[0].strip() or len(roles) < 2 or roles[0] != "system" or roles[-1] != "user":
        raise PromptError(f"prompts/{name}.md: expected `## system` first and `## user` last, found {roles}")
    if middle != ["user", "assistant"] * (len(middle) // 2):
        raise PromptError(f"prompts/{name}.md: examples must be pairs of user and assistant, found {middle}")
    examples = tuple(zip(bodies[1:-1:2], bodies[2:-1:2], strict=True))
    template = Template(bodies[-1])
    if not template.is_valid():
        raise PromptError(f"prompts/{name}.md: a `$` that marks no variable; write `$$` for a dollar sign")
    return PromptFile(name, bodies[0], examples, template)


@cache
def load_prompt(name: str) -> PromptFile:
    """Return the prompt file `prompts/<name>.md`; raises `PromptError` when there is none."""
    file = resources.files("prompts") / f"{name}.md"
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise PromptError(f"prompts/{name}.md is missing; reinstall Plenary or restore the file") from None
    return parse_prompt(name, text)
