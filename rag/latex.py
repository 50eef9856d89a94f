"""The LaTeX commands that abstracts use, as tables: what each is matched as."""

from __future__ import annotations

import unicodedata


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_GREEK = _words(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau "
    "upsilon phi chi psi omega"
)


def _greek() -> dict[str, str]:
    letters: dict[str, str] = {}
    for name in sorted(_GREEK):
        official = "LAMDA" if name == "lambda" else name.upper()  # Unicode spells it so
        letters[name] = unicodedata.lookup(f"GREEK SMALL LETTER {official}")
        letters[name.capitalize()] = unicodedata.lookup(f"GREEK CAPITAL LETTER {official}")
    letters |= {f"var{name}": letters[name] for name in ("epsilon", "theta", "pi", "rho", "sigma", "phi")}
    return letters


_FUNCTIONS = _words(
    "cos sin tan cosh sinh tanh log ln exp max min sup inf lim arg argmax argmin det dim ker Pr gcd mod"
)

SYMBOLS: dict[str, str] = {
    **_greek(),
    **{name: name for name in sorted(_FUNCTIONS)},
    **{"times": "×", "cdot": "·", "div": "÷", "pm": "±", "mp": "∓", "ast": "*", "star": "*", "circ": "°"},
    **{"le": "≤", "leq": "≤", "leqslant": "≤", "ge": "≥", "geq": "≥", "geqslant": "≥", "lt": "<", "gt": ">"},
    **{"ll": "≪", "gg": "≫", "ne": "≠", "neq": "≠", "approx": "≈", "sim": "~", "simeq": "≃", "equiv": "≡"},
    **{"propto": "∝", "in": "∈", "notin": "∉", "subset": "⊂", "subseteq": "⊆", "cup": "∪", "cap": "∩"},
    **{"to": "→", "rightarrow": "→", "leftarrow": "←", "Rightarrow": "⇒", "uparrow": "↑", "downarrow": "↓"},
    **{"infty": "∞", "partial": "∂", "nabla": "∇", "sum": "∑", "prod": "∏", "int": "∫", "ell": "l"},
    **{"forall": "∀", "exists": "∃", "neg": "¬", "lnot": "¬", "land": "∧", "lor": "∨", "oplus": "⊕"},
    **{"otimes": "⊗", "mid": "|", "vert": "|", "Vert": "‖", "langle": "⟨", "rangle": "⟩", "prime": "′"},
    **{"lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "dots": "...", "ldots": "..."},
    **{"cdots": "..."},
    **{"textendash": "-", "textemdash": "-", "textasciitilde": "~", "textbackslash": "\\", "textdegree": "°"},
    **{"degree": "°", "percent": "%", "dag": "†", "ddag": "‡", "S": "§", "ss": "ß", "o": "ø", "O": "Ø"},
    **{"ae": "æ", "AE": "Æ", "oe": "œ", "aa": "å", "AA": "Å", "l": "ł", "L": "Ł", "i": "ı", "lbrace": "{"},
    **{"rbrace": "}", "textless": "<", "textgreater": ">", "textbar": "|", "colon": ":", "slash": "/"},
}
"""Command without its backslash: the characters it stands for. Functions keep their names."""

WRAPPERS = _words(
    "emph textbf textit texttt textsc textrm textsf textsl textup textmd textnormal text mathrm mathbf "
    "mathbb mathcal mathit mathsf mathfrak mathscr mathtt mathnormal boldsymbol bm operatorname "
    "underline mbox hbox ensuremath url uline pmb"
)
"""Commands that only change how their argument looks."""

FONT_SWITCHES = ("em", "bf", "it", "tt", "sc", "rm", "sf", "sl", "itshape", "bfseries")
"""Commands that change the look of the rest of their group."""

FRACTIONS = frozenset({"frac", "tfrac", "dfrac", "nicefrac"})

SPACES = frozenset({"quad", "qquad", "newline", "space", "linebreak", "par"})

DROPPED = _words(
    "left right big Big bigl bigr Bigl Bigr bigg Bigg biggl biggr limits nolimits displaystyle textstyle "
    "nonumber noindent xspace middle"
)
"""Commands that leave nothing behind."""

ACCENTS = {
    **{"'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304"},
    **{".": "\u0307", "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328"},
    **{"r": "\u030a"},
}
"""LaTeX accent commands: the combining character each puts on a letter."""
