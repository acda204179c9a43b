"""Plain text from the LaTeX found in BibTeX fields: accents, special letters, escapes; other markup is dropped.

>>> latex_to_text(r"{\\"U}ber {LDA} \\& G{\\"o}del--\\textit{Escher}")
'Über LDA & Gödel–Escher'
"""

import re
import unicodedata

from germane.data.fields import squeeze

_COMBINING = dict(
    zip(
        "`'^\"~=.uvHcdbkr",
        "\u0300\u0301\u0302\u0308\u0303\u0304\u0307\u0306\u030c\u030b\u0327\u0323\u0331\u0328\u030a",
        strict=True,
    )
)
_LETTERS = {
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å", "o": "ø", "O": "Ø", "l": "ł",
    "L": "Ł", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ", "S": "§", "pounds": "£",
    "copyright": "©", "dots": "…", "ldots": "…", "textless": "<", "textgreater": ">", "textendash": "–",
    "textemdash": "—", "textquoteright": "’", "textquoteleft": "‘", "textbackslash": "\\", "textasciitilde": "~",
    "textunderscore": "_", "textbraceleft": "{",
    "textbraceright": "}", "textdollar": "$", "textasciicircum": "^", "textregistered": "®", "texttrademark": "™",
}  # fmt: skip
_MARKUP = frozenset((
    "textit", "textbf", "textrm", "textsc", "texttt", "textsf", "textsuperscript", "textsubscript", "text", "emph",
    "em", "it", "bf", "rm", "sc", "tt", "sl", "mbox", "hbox", "mathrm", "mathbf", "mathit", "mathcal", "mathsf",
    "ensuremath", "url", "href", "relax", "noopsort", "uppercase", "lowercase",
))  # fmt: skip
_TOKEN = re.compile(
    r"""\\(?P<accent>[`'^"~=.])\s*+(?:\{\s*+\\?(?P<on1>[A-Za-z])\s*+\}|\\?(?P<on2>[A-Za-z]))
    |\\(?P<hook>[uvHcdbkr])(?:\s*+\{\s*+\\?(?P<on3>[A-Za-z])\s*+\}|\s++\\?(?P<on4>[A-Za-z]))
    |\\(?P<command>[A-Za-z]++)\*?(?:\{\}|\s++)?
    |\\(?P<escaped>[^A-Za-z])
    |(?P<dash>---?)
    |(?P<blank>~)
    |[{}$]""",
    re.VERBOSE | re.DOTALL,
)
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_",
}  # fmt: skip
_TO_ESCAPE = re.compile(r"[\\{}~^$&%#_]|-(?=-)")
_ESCAPES = {"\\": " ", ",": " ", ";": " ", ":": " ", "-": "", "@": "", "/": "", "!": "", "\n": " "}


def latex_to_text(text: str) -> str:
    """The words of a LaTeX string, on one line."""
    if any(mark in text for mark in "\\{}$~-"):
        text = _TOKEN.sub(_plain, text)
    return squeeze(text)


def text_to_latex(text: str) -> str:
    """The text as LaTeX that `latex_to_text` reads back; its braces are in pairs.

    >>> text_to_latex("R&D {x} 1--2")
    'R\\\\&D \\\\textbraceleft{}x\\\\textbraceright{} 1-{}-2'
    """
    return _TO_ESCAPE.sub(lambda found: _SPECIAL.get(found[0], "-{}"), squeeze(text))


def _plain(token: re.Match[str]) -> str:
    accent = token["accent"] or token["hook"]
    if accent:
        letter = token["on1"] or token["on2"] or token["on3"] or token["on4"]
        return unicodedata.normalize("NFC", letter + _COMBINING[accent])
    command = token["command"]
    if command:
        if command in _MARKUP:
            return ""
        return _LETTERS.get(command, command)  # \alpha is best searched for as alpha
    if token["escaped"]:
        return _ESCAPES.get(token["escaped"], token["escaped"])
    if token["dash"]:
        return "—" if len(token["dash"]) == 3 else "–"
    return " " if token["blank"] else ""
