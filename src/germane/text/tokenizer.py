"""The reference tokeniser: the rules that decide what a word is.

Every other road to a token (the bulk kernel above all) must agree with `tokenize` exactly. The rules, in order:

1.  Text is put in Unicode form NFKC and case-folded (then NFKC again, since folding can undo it). Accents stay.
2.  Invisible format characters (soft hyphen, joiners, direction and byte-order marks), variation selectors and
    enclosing marks vanish; the zero-width space separates.
3.  A token is a maximal run of letters, marks and numbers (Unicode categories L, M, N). Everything else separates:
    white space, punctuation, hyphens and underscores, symbols, control characters, NUL, lone surrogates, private-use
    and unassigned characters. A mark with no letter or number before it separates too.
4.  The typographic apostrophes become `'`. After a token character, `'s` with no token character behind it is a
    possessive and is dropped; any other `'` between two letters is deleted and the parts join; elsewhere it separates.
    A letter is here any token character but 0-9.
5.  Between two of the digits 0-9 a full stop is kept and a comma is deleted; elsewhere both separate.
6.  A run of Han, Kana or Hangul becomes its overlapping character bigrams; a run of one character is one token.
    A mark behind such a run separates.
    Other scripts written without spaces (Thai, Lao, Khmer, Burmese) are not segmented.
7.  A token of more than `MAX_TOKEN_BYTES` bytes of UTF-8 is cut to the longest prefix of whole characters that fits.

>>> tokenize("The X-ray's cost: $1,000.50; don't ask O’Neill.")
['the', 'x', 'ray', 'cost', '1000.50', 'dont', 'ask', 'oneill']

Which characters are letters is for `unicodedata` to say: characters new to a later Unicode version separate under
an older Python.
"""

import re
from functools import lru_cache
from unicodedata import category
from unicodedata import normalize as unicode_normalize

TOKENIZER_VERSION = 1
"""Part of every analyser's fingerprint: raise it whenever some text would give other tokens than before."""

MAX_TOKEN_BYTES = 255

APOSTROPHES = frozenset("'´‘’‛ʼʻʽʾʿ＇")
"""ASCII, acute accent used as one, the quotation marks, the modifier letters, full width."""

_CJK_RANGES = (
    (0x1100, 0x11FF),  # Hangul Jamo
    (0x3005, 0x3007),  # ideographic iteration mark, closing mark, zero
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3100, 0x318F),  # Bopomofo, Hangul compatibility Jamo
    (0x31A0, 0x31BF),  # Bopomofo extended
    (0x31F0, 0x31FF),  # Katakana phonetic extensions
    (0x3400, 0x4DBF),  # Han extension A
    (0x4E00, 0x9FFF),  # Han
    (0xA960, 0xA97F),  # Hangul Jamo extended A
    (0xAC00, 0xD7FF),  # Hangul syllables, Jamo extended B
    (0xF900, 0xFAFF),  # Han compatibility
    (0x1AFF0, 0x1B16F),  # Kana supplement and extensions
    (0x20000, 0x3FFFF),  # Han extensions B and later
)

_MOST_REPLACED = 16

# Classes by what is not in them: one that names all of Unicode takes 20 ms to compile, at each start of the program.
_WORD = "[^\0-/:-`{-\x7f]"
"""0-9, a-z and whatever is not ASCII."""
_LETTER = "[^\0-`{-\x7f]"
"""a-z and whatever is not ASCII."""
_NON_ASCII = re.compile("[^\0-\x7f]+")
_CJK = re.compile("[" + "".join(f"{chr(low)}-{chr(high)}" for low, high in _CJK_RANGES) + "]+")
_TOKEN = re.compile(
    f"({_WORD}+"  # 1: the token, its joiners included
    f"(?:(?:(?<={_LETTER})'(?={_LETTER})(?!s(?!{_WORD}))|(?<=[0-9])[.,](?=[0-9])){_WORD}+)*)"
    f"(?:'s(?!{_WORD}))?"  # the possessive
)


def normalize(text: str) -> str:
    """Rule 1: compatibility characters and case folded away. The acute accent as apostrophe is saved from NFKC.

    >>> normalize("ＦＩＮＤ ﬁnd Straße")
    'find find strasse'
    """
    if text.isascii():
        return text.lower()
    return unicode_normalize("NFKC", compatible(text).casefold())


def compatible(text: str) -> str:
    """The form NFKC, but for the spacing acute accent, which would become a space and a stray mark."""
    return unicode_normalize("NFKC", text.replace("´", "'"))


def scannable(text: str) -> str:
    """Rules 1 to 3 and 6, and the apostrophes of rule 4: a text in which every non-ASCII character belongs to a token.

    After this, rules 4, 5 and 7 can be applied by looking at ASCII alone, which is what lets the bulk kernel work on
    bytes. The result has no lone surrogate, so it always encodes.

    >>> scannable("naïve—café’s 東京都")
    "naïve café's  東京 京都 "
    """
    text = normalize(text)
    if text.isascii():
        return text
    foreign = set("".join(_NON_ASCII.findall(text)))
    text = _replace(text, foreign)
    if _CJK.search("".join(foreign)):
        text = _CJK.sub(_bigrams, text)
    if any(category(char)[0] == "M" for char in foreign):
        text = _stray_marks().sub(" ", text)
    return text


def replaced(char: str) -> str:
    """Rules 1 to 3 for one character, as if it stood alone, stray marks kept; and the apostrophes of rule 4.

    >>> replaced("ﬁ"), replaced("’"), replaced("—")
    ('fi', "'", ' ')
    """
    return "".join(map(_replacement, normalize(char)))


def is_cjk(char: str) -> bool:
    """Whether runs of such characters become bigrams (rule 6)."""
    return _CJK.match(char) is not None


def tokenize(text: str) -> list[str]:
    """The tokens of a text, in order, by the rules at the top of this module."""
    if text.isalnum() and text.isascii():  # one word, as queries and snippets have them
        return [text.lower()[:MAX_TOKEN_BYTES]]
    return [_truncate(match[1].replace("'", "").replace(",", "")) for match in _TOKEN.finditer(scannable(text))]


def _truncate(token: str) -> str:
    if len(token) * 4 <= MAX_TOKEN_BYTES:
        return token
    return token.encode()[:MAX_TOKEN_BYTES].decode(errors="ignore")


def _bigrams(match: re.Match[str]) -> str:
    run = match[0]
    if len(run) == 1:
        return f" {run} "
    return f" {' '.join(run[i : i + 2] for i in range(len(run) - 1))} "


def _replace(text: str, foreign: set[str]) -> str:
    """Apply `_replacement` to every non-ASCII character of a text; `foreign` is the set of them.

    Most texts hold many letters and few other characters, for which `replace` beats `translate` by far.
    """
    changed = {char: new for char in foreign if (new := _REPLACEMENTS[ord(char)]) != char}
    if len(changed) > _MOST_REPLACED:
        return text.translate(_REPLACEMENTS)
    for char, new in changed.items():
        text = text.replace(char, new)
    return text


def _replacement(char: str) -> str:
    """What rules 2 to 4 put in the place of one character."""
    if char.isascii():
        return char
    if char in APOSTROPHES:
        return "'"
    kind = category(char)
    if kind == "Me" or (kind == "Cf" and char != "\u200b") or _is_variation_selector(char):
        return ""
    return char if kind[0] in "LMN" else " "


def _is_variation_selector(char: str) -> bool:
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


class _Replacements(dict[int, str]):
    """A table for `str.translate` that fills itself with the characters it meets, up to a bound."""

    _MOST = 1 << 16

    def __missing__(self, code: int) -> str:
        replacement = _replacement(chr(code))
        if len(self) < self._MOST:
            self[code] = replacement
        return replacement


_REPLACEMENTS = _Replacements()


@lru_cache(maxsize=1)
def _stray_marks() -> re.Pattern[str]:
    """A run of marks with no token character before it. Built at the first text with a mark."""
    marks = "".join(char for char in map(chr, range(0x300, 0x20000)) if category(char)[0] == "M")
    return re.compile(f"(?<!{_WORD})[{marks}]+")
