"""A fixed normalisation of text for matching, with a map of every character back to the original.

Texts differ in ways that carry no meaning: curly quotes, dashes, line breaks, ligatures, LaTeX wrappers,
Markdown emphasis. `normalise` removes exactly these differences and remembers for each character of its
result which characters of the original it stands for. It never removes a difference that carries meaning:
numbers, signs, units, names, comparison signs, superscripts and negations stay apart.

The rules, in the order of the passes:

1. One scan from the left. Characters are composed (NFC, cluster by cluster) and compatibility characters
   spelled out as in NFKC, except that superscripts become "^2", subscripts "_2", circled digits "(2)" and
   fractions keep a space before them, so that "10²" never becomes "102". White space of any kind is one
   space; zero-width, control and soft-hyphen characters vanish. Quotation marks become straight. Dashes,
   also "--", "---" and the minus sign, become "-". LaTeX wrappers, mathematics delimiters and Markdown
   emphasis vanish, LaTeX symbols become characters ("\\le" is "≤"). "<=" is "≤", "->" is "→".
2. Spaces around comparison and arithmetic signs and before "%" vanish; "3 × 3" and "3 x 3" are "3x3".
3. Hyphens and dashes between lower-case letters vanish, with the white space beside them if it stands on
   both sides or after the dash: "optimi-\\nsation" is "optimisation" and "long-\\nterm" is "long-term".
   Elsewhere they stay: "GPT-4", "3-15", "PAC-Bayes", " -3".
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import regex

from rag.characters import DASHES, DIGRAPHS, DOUBLE_QUOTES, ENTITIES, SINGLE_QUOTES, compose
from rag.latex import ACCENTS, DROPPED, FONT_SWITCHES, FRACTIONS, SPACES, SYMBOLS, WRAPPERS

_Piece = tuple[str, int, int]
"""One output character and the half-open range of the original it stands for; in what `_Scanner` puts out also
a run of characters that stand for themselves, one by one."""


@dataclass(frozen=True, slots=True)
class Normalised:
    """A normalised text: `text[i]` stands for the original characters [starts[i], ends[i])."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]


@lru_cache(maxsize=512)  # the quote gate asks for the same abstract once for every claim
def normalise(text: str) -> Normalised:
    """Normalise a text for matching (the rules stand at the head of this module)."""
    return _assemble(_join_hyphens(_tighten(_scan(text)), text))


@lru_cache(maxsize=2048)
def clean(text: str) -> str:
    """Return the text after passes 1 and 2 only, for telling its words: hyphens stay, and dashes that
    separate clauses are " — "."""
    parted = _CLAUSE_DASH.sub(" ⸺ ", text)
    return _assemble(_tighten(_scan(parted))).text.replace("⸺", "—")


def match_key(text: str) -> str:
    """Return a key that is equal for texts that differ in typography, case and white space only."""
    folded = unicodedata.normalize("NFKC", _normal_text(text.strip()).casefold())
    # Folding case makes more hyphens stand between lower-case letters: "PAC-Bayes" is "pac-bayes".
    return " ".join(_HYPHEN.sub("", folded).split())


def _normal_text(text: str) -> str:
    """Return `normalise(text).text` several times faster: without the map, which is most of the work.

    A space that stands for a line break is "\\n" on the way, which is all that pass 3 asks the map for.
    """
    runs = _Scanner(text).run()
    joined = "".join(
        run if run != " " or "\n" not in text[start:end] else "\n" for run, start, end in runs
    )
    dropped = [found.start() for found in _TIGHT.finditer(joined)]
    joined = _TIMES.sub("x", _without(joined, dropped))
    if "-" in joined:
        places = {place for found in _HYPHEN.finditer(joined) for place in range(found.start(), found.end())}
        for found in _SPACED_DASH.finditer(joined):
            places |= {found.start(), found.end() - 1}
        places.update(found.start() for found in _BROKEN.finditer(joined) if found[0] == "\n")
        joined = _without(joined, sorted(places))
    return joined.replace("\n", " ")


def _without(text: str, places: Sequence[int]) -> str:
    """Return a text without the characters at some places, given in order."""
    if not places:
        return text
    return "".join(text[before + 1 : place] for before, place in pairwise([-1, *places, len(text)]))


def _assemble(pieces: list[_Piece]) -> Normalised:
    return Normalised(
        "".join(piece[0] for piece in pieces),
        tuple(piece[1] for piece in pieces),
        tuple(piece[2] for piece in pieces),
    )


# --- pass 1: one scan ---------------------------------------------------------------------------------

_PLAIN = regex.compile(r"[A-Za-z0-9,.;:()\[\]/%?]+(?: [A-Za-z0-9,.;:()\[\]/%?]+)*(?!\p{M})")
_CLAUSE_DASH = regex.compile(r"(?<!-)(?<!\d)(?:-{2,3}|—|―)(?!-)|(?<=\d)(?:---|—)(?!\d)|(?<=\s)[–-](?=\s)")
_SPACE = regex.compile(r"[\s\p{Zs}]+")
_CLUSTER = regex.compile(r".\p{M}*", regex.DOTALL)
_COMMAND = regex.compile(r"\\([A-Za-z]+)\*?")
# Pandoc's rule: no space after the opening dollar, none before the closing one, no digit after it.
_DOLLAR_MATH = regex.compile(r"\$(?=\S)((?:[^$\\]|\\.)+?)(?<=\S)\$(?!\d)", regex.DOTALL)
# Some lists write "$ x $"; believed only when the inside looks like mathematics.
_SPACED_MATH = regex.compile(r"\$(\s*(?=[^$]{0,200}[\\^_])(?:[^$\\\n]|\\.){1,200}?)\$", regex.DOTALL)
_EMPHASIS = regex.compile(r"(?<![\w*\\])(\*\*|__|\*|_)(?=[^\s*_])([^*_$\\]{1,200}?)(?<=[^\s*_])\1(?![\w*])")
_SIMPLE_GROUP = regex.compile(
    r"\{([+-]?\d+|[A-Za-z])\}(?![\p{L}\d])|\{\([^(){}]*\)\}|\{[*+]\}|\{\\\w+\{[A-Za-z]\}\}"
)
_SIGN_GROUP = regex.compile(r"\{([,.=<>:+/-]|\\%|\\,)\}")
_SIMPLE = regex.compile(r"[\p{L}\d]+")
_ACCENT_GROUP = regex.compile(r"\{\\(?:['`^\"~=.]\{?\\?\p{L}\}?|[uvHckr](?:\{\p{L}\}|\s\p{L}))\}")
_FONT_GROUP = regex.compile(r"\{\\(" + "|".join(FONT_SWITCHES) + r")\b\s*")


def _scan(text: str) -> list[_Piece]:
    """Run the scanner over a text; every piece is one character."""
    pieces: list[_Piece] = []
    for run, start, end in _Scanner(text).run():
        if len(run) == 1:
            pieces.append((run, start, end))
        else:
            pieces += [(character, place, place + 1) for place, character in enumerate(run, start)]
    return pieces


class _Scanner:
    """The state of one scan: what was put out, and what was already decided about later characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.out: list[_Piece] = []
        self.decided: dict[int, str] = {}
        """Position of a closing brace, dollar or emphasis mark, and what is put out for it."""
        self.math_end = -1

    def run(self) -> list[_Piece]:
        """Scan to the end and return the pieces, without white space at both ends."""
        position = 0
        while position < len(self.text):
            position = self.step(position)
        pieces = self.out
        first = 1 if pieces and pieces[0][0] == " " else 0
        last = len(pieces) - 1 if len(pieces) > first and pieces[-1][0] == " " else len(pieces)
        return pieces[first:last]

    def put(self, characters: str, start: int, end: int) -> int:
        """Put out characters that all stand for [start, end), runs of spaces as one; return `end`."""
        for character in characters:
            if character == " " and self.out and self.out[-1][0] == " ":
                self.out[-1] = (" ", self.out[-1][1], end)
            else:
                self.out.append((character, start, end))
        return end

    def step(self, position: int) -> int:
        """Read what stands at a position and return the position after it."""
        text = self.text
        if position in self.decided:
            return self.put(self.decided[position], position, position + 1)
        plain = _PLAIN.match(text, position)
        if plain:
            self.out.append((plain[0], position, plain.end()))
            return plain.end()
        space = _SPACE.match(text, position)
        if space:
            return self.put(" ", position, space.end())
        character = text[position]
        if character == "\\":
            return self.command(position)
        if character == "$":
            return self.dollar(position)
        if character == "{":
            return self.group(position)
        if character in "*_" and position >= self.math_end:
            emphasis = _EMPHASIS.match(text, position)
            if emphasis:
                mark = len(emphasis[1])
                self.decided |= {emphasis.end() - 1 - index: "" for index in range(mark)}
                return position + mark
        if character == "&":
            for entity, meant in ENTITIES.items():
                if text.startswith(entity, position):
                    return self.put(meant, position, position + len(entity))
        if text[position : position + 2] in DIGRAPHS:
            return self.put(DIGRAPHS[text[position : position + 2]], position, position + 2)
        return self.mark(position)

    def mark(self, position: int) -> int:
        """Read a quotation mark, a dash, a tilde or any other character with its combining marks."""
        text, character = self.text, self.text[position]
        if character in DASHES:
            length = 1
            if character == "-":  # "--" and "---" are TeX's dashes
                length = next(n for n in (3, 2, 1) if text.startswith("-" * n, position))
            return self.put("-", position, position + length)
        if character in SINGLE_QUOTES:
            return self.single_quote(position)
        if character in DOUBLE_QUOTES:
            return self.put('"', position, position + 1)
        if character == "~":  # TeX's tie joins words ("Fig.~2"); before a number it means "about"
            tied = position > 0 and not text[position - 1].isspace() and text[position - 1] not in "(["
            return self.put(" " if tied else "~", position, position + 1)
        cluster = _CLUSTER.match(text, position)
        end = cluster.end() if cluster else position + 1
        category = unicodedata.category(character)
        if category in ("Cc", "Cf"):
            if character == "\u00ad":  # a soft hyphen also takes the break that it allowed
                space = _SPACE.match(text, position + 1)
                return space.end() if space else position + 1
            return position + 1
        after_digit = bool(self.out) and self.out[-1][0][-1].isdigit()
        composed = compose(text[position:end], after_digit)
        raised = composed[:1] in ("^", "_") and character != composed[0] and position > 0
        if raised and compose(text[position - 1], False)[:1] == composed[0]:
            composed = composed[1:]  # "10⁻³" is "10^-3"
        return self.put(composed, position, end)

    def single_quote(self, position: int) -> int:
        """Read an apostrophe, a prime or a quotation mark; the last two are both written as \'"\'."""
        text = self.text
        previous, following = text[max(position - 2, 0) : position], text[position + 1 : position + 2]
        if text[position : position + 2] in ("``", "''") and position >= self.math_end:
            prime = previous[-1:].isalpha() and not previous[:-1].isalpha()  # f''
            return self.put('""' if prime else '"', position, position + 2)
        inside = (previous[-1:].isalnum() or previous[-1:] in tuple("$)]}")) and following.isalpha()
        return self.put("'" if inside and position >= self.math_end else '"', position, position + 1)

    def dollar(self, position: int) -> int:
        """Read a dollar sign: the start of mathematics, or money."""
        if self.text.startswith("$$", position):
            close = self.text.find("$$", position + 2)
            if close > 0:
                self.decided |= {close: "", close + 1: ""}
                self.math_end = close
                return position + 2
        found = _DOLLAR_MATH.match(self.text, position) or _SPACED_MATH.match(self.text, position)
        if found is None:
            return self.put("$", position, position + 1)
        self.math_end = found.end() - 1
        self.decided[self.math_end] = ""
        return position + 1

    def group(self, position: int) -> int:
        """Read an opening brace."""
        sign = _SIGN_GROUP.match(self.text, position)
        if sign:
            return self.put({"\\%": "%", "\\,": " "}.get(sign[1], sign[1]), position, sign.end())
        after_script = bool(self.out) and self.out[-1][0] in "^_" and self.out[-1][2] == position
        close = self.closing(position)
        if after_script and close is not None:
            bare = bool(_SIMPLE_GROUP.match(self.text, position))
            return self.argument(position, "" if bare else "(", "" if bare else ")")
        accent = _ACCENT_GROUP.match(self.text, position)
        if accent:  # Erd{\"o}s
            return self.argument(position, "", "")
        font = _FONT_GROUP.match(self.text, position)
        if font and close is not None:
            self.decided[close] = ""
            return font.end()
        return self.put("{", position, position + 1)

    def closing(self, position: int) -> int | None:
        """Return the position of the brace that closes the one at a position, or None."""
        depth = 0
        for index in range(position, len(self.text)):
            character = self.text[index]
            if character in "{}" and self.text[index - 1 : index] != "\\":
                depth += 1 if character == "{" else -1
                if depth == 0:
                    return index
        return None

    def argument(self, position: int, opening: str, ending: str) -> int:
        """Open the brace at a position: put out `opening` for it, and decide `ending` for its fellow."""
        close = self.closing(position)
        if close is None:
            return self.put("{", position, position + 1)
        self.decided[close] = ending
        return self.put(opening, position, position + 1)

    def command(self, position: int) -> int:
        """Read a backslash and what belongs to it; an unknown command stays as it is."""
        text = self.text
        named = _COMMAND.match(text, position)
        if named is None:
            return self.escape(position)
        name, end = named[1], named.end()
        brace = _SPACE.match(text, end)
        after = brace.end() if brace else end
        opens = text.startswith("{", after) and self.closing(after) is not None
        if name in WRAPPERS:
            return self.argument(after, "", "") if opens else after
        if name in FRACTIONS and opens:
            return self.fraction(after) or self.put("\\" + name, position, end)
        if name == "sqrt":
            self.put("√", position, end)
            if not opens:
                return after
            close = self.closing(after) or after
            bare = bool(_SIMPLE.fullmatch(text, after + 1, close))
            bare = bare and not text[close + 1 : close + 2].isalnum()
            return self.argument(after, "" if bare else "(", "" if bare else ")")
        if name in ACCENTS and len(name) == 1:
            return self.accent(position, name, end)
        if name == "circ" and self.out and self.out[-1][0] == "^":  # 90^\\circ is 90 degrees
            self.out.pop()
        if name in SYMBOLS:
            return self.put(SYMBOLS[name], position, end)
        if name in SPACES:
            return self.put(" ", position, end)
        if name in DROPPED:
            return end
        return self.put("\\" + name, position, end)

    def escape(self, position: int) -> int:
        """Read a backslash before a character that is not a letter."""
        following = self.text[position + 1 : position + 2]
        if following in ("(", ")", "[", "]"):
            partner = {"(": "\\)", "[": "\\]"}.get(following)
            close = self.text.find(partner, position) if partner else -1
            if close > 0:
                self.math_end = close
            return position + 2
        if following and following in "%&#_${}":
            return self.put(following, position, position + 2)
        if following == "|":
            return self.put("‖", position, position + 2)
        if following and (following in ",;:\\" or following.isspace()):
            return self.put(" ", position, position + 2)
        if following and following in "!/-@":
            return position + 2
        if following in ACCENTS:
            return self.accent(position, following, position + 2)
        return self.put("\\", position, position + 1)

    def accent(self, position: int, name: str, end: int) -> int:
        r"""Read a LaTeX accent with its letter, such as \"o, \'{e} or \c{c}."""
        letter = regex.compile(r"\s*(?:\{\\?(\p{L})\}|\\?(\p{L}))").match(self.text, end)
        if letter is None or (name.isalpha() and letter[2] and self.text[end : end + 1].isalpha()):
            return self.put("\\" + name, position, end)
        composed = unicodedata.normalize("NFC", (letter[1] or letter[2]) + ACCENTS[name])
        return self.put(composed, position, letter.end())

    def fraction(self, position: int) -> int | None:
        """Read the two arguments of a fraction as "a/b"; None if the second is missing."""
        first = self.closing(position)
        if first is None or not self.text.startswith("{", first + 1):
            return None
        second = self.closing(first + 1)
        if second is None:
            return None
        outer = self.out and self.out[-1][0][-1].isdigit()
        simple = bool(_SIMPLE.fullmatch(self.text, position + 1, first)) and not outer
        plain = bool(_SIMPLE.fullmatch(self.text, first + 2, second))
        plain = plain and not self.text[second + 1 : second + 2].isalnum()
        self.decided[first] = "/" if simple else ")/"
        self.decided[first + 1] = "" if plain else "("
        self.decided[second] = "" if plain else ")"
        return self.put("" if simple else "(", position, position + 1)


# --- passes 2 and 3 -----------------------------------------------------------------------------------

# Each begins with what is rare and looks behind from its end: looking behind at every character takes most of the time.
_TIGHT = regex.compile(
    r"\s(?:(?=[=<>≤≥≈≠±∈])|(?<=[=<>≤≥≈≠±∈]\s)"  # p < 0.05
    r"|(?=%)(?<=\d\s)"  # 10 %
    r"|(?=[+*]\s)(?<=\S\s)|(?=\S)(?<=\s[+*]\s)"  # a + b
    r"|(?=×)(?<=[\p{L}\d)]\s)|(?<=[\p{L})]\s?×\s)|(?=\d)(?<=\d\s?[×x]\s)"
    r"|(?=x\s\d)(?<=\d\s))"  # 3 x 3
)
_TIMES = regex.compile(r"(?<=\d)×")


def _tighten(pieces: list[_Piece]) -> list[_Piece]:
    """Pass 2: drop spaces that carry nothing, and write the multiplication sign after a digit as "x"."""
    joined = "".join(piece[0] for piece in pieces)
    dropped = {found.start() for found in _TIGHT.finditer(joined)}
    if dropped:
        pieces = [piece for index, piece in enumerate(pieces) if index not in dropped]
        joined = "".join(piece[0] for piece in pieces)
    for found in _TIMES.finditer(joined):
        _, start, end = pieces[found.start()]
        pieces[found.start()] = ("x", start, end)
    return pieces


_HYPHEN = regex.compile(r"(?:-(?<=\p{Ll}-)|\s-\s(?<=\p{Ll}\s-\s)|-\s(?<=\p{Ll}-\s))(?=\p{Ll})")
_SPACED_DASH = regex.compile(r"\s-\s(?=\S)(?<=\S\s-\s)")
_BROKEN = regex.compile(r"\s(?<=\w-\s)(?=\w)")


def _join_hyphens(pieces: list[_Piece], text: str) -> list[_Piece]:
    """Pass 3: hyphens and dashes between lower-case letters, spaced dashes, and breaks after a hyphen."""
    joined = "".join(piece[0] for piece in pieces)
    if "-" not in joined:
        return pieces
    dropped: set[int] = set()
    for found in _HYPHEN.finditer(joined):
        dropped |= set(range(found.start(), found.end()))
    for found in _SPACED_DASH.finditer(joined):
        dropped |= {found.start(), found.end() - 1}
    for found in _BROKEN.finditer(joined):
        if "\n" in text[pieces[found.start()][1] : pieces[found.start()][2]]:
            dropped.add(found.start())
    return [piece for index, piece in enumerate(pieces) if index not in dropped] if dropped else pieces
