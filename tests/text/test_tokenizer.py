"""The tokeniser against its rules: as a table of examples, and as a slow transcription, character by character."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from germane.text.tokenizer import APOSTROPHES, MAX_TOKEN_BYTES, normalize, scannable, tokenize

EXAMPLES = [
    # 1: normal form and case
    ("", []),
    ("Hello World", ["hello", "world"]),
    ("ＦＩＮＤ ﬁnd Straße ΣΊΣΥΦΟΣ", ["find", "find", "strasse", "σίσυφοσ"]),
    ("cafe\u0301 café CAFÉ", ["café", "café", "café"]),
    ("x² ½", ["x2", "1", "2"]),
    # 2: what cannot be seen
    ("co\u00adoperate zero\u200bwidth می\u200cخواهم \ufeffbom", ["cooperate", "zero", "width", "میخواهم", "bom"]),
    ("❤\ufe0f 1\ufe0f\u20e3", ["1"]),
    # 3: what separates
    ("snake_case kebab-case x-ray", ["snake", "case", "kebab", "case", "x", "ray"]),
    ("a/b\tc\nd\x00e\x7ff\u0085g\u00a0h\u2028i", list("abcdefghi")),
    ("one—two…three「four」", ["one", "two", "three", "four"]),
    ("left\ud800right \udc00", ["left", "right"]),
    ("private\ue000use \U0010ffff", ["private", "use"]),
    ("C++ f(x) #tag @me user@example.org", ["c", "f", "x", "tag", "me", "user", "example", "org"]),
    ("naïve Ångström हिन्दी العربية", ["naïve", "ångström", "हिन्दी", "العربية"]),
    ("\u0301stray -\u0301x ¨ q\u0303", ["stray", "x", "q\u0303"]),
    # 4: apostrophes
    ("don't DON’T donʼt don´t don＇t", ["dont"] * 5),
    ("O'Neill rock'n'roll l'homme Hawaiʻi", ["oneill", "rocknroll", "lhomme", "hawaii"]),
    ("dog's DOG'S dogs' café's 1990's it's-a", ["dog", "dog", "dogs", "café", "1990", "it", "a"]),
    ("x's's o's'o 's 'tis s's", ["x", "s", "o", "o", "s", "tis", "s"]),
    ("a'sb a''b 'quoted' 5'a a'5 a'", ["asb", "a", "b", "quoted", "5", "a", "a", "5", "a"]),
    # 5: numbers
    ("2.5 1,000,000.50 1.2.3.4", ["2.5", "1000000.50", "1.2.3.4"]),
    (
        "end 2. .5 1, 2 a.5 5.a 1..2 1.,2 v2.0b",
        ["end", "2", "5", "1", "2", "a", "5", "5", "a", "1", "2", "1", "2", "v2.0b"],
    ),
    ("１，０００．５ ٣.٤", ["1000.5", "٣", "٤"]),
    # 6: no spaces
    ("東京都 京 コーヒー 한국어", ["東京", "京都", "京", "コー", "ーヒ", "ヒー", "한국", "국어"]),
    ("東京Tower's猫's犬", ["東京", "tower", "猫", "s", "犬"]),
    ("東\u0301京 か\u3099", ["東", "京", "が"]),
    ("ｶﾀｶﾅ・々", ["カタ", "タカ", "カナ", "々"]),
    # 7: length
    ("a" * 300, ["a" * 255]),
    ("é" * 200, ["é" * 127]),
    ("a" * 254 + "é", ["a" * 254]),
    ("a" * 253 + "é", ["a" * 253 + "é"]),
    ("a" * 254 + "'" + "b" * 9, ["a" * 254 + "b"]),
    ("a" * 255 + "'s b", ["a" * 255, "b"]),
]

AWKWARD = st.text(
    st.sampled_from(
        "aAsSé9 05..,,''’’´-_\x00\n東京カ한\u0301\u00ad\u200b\ufe0f\u20e3\ud800٣ßİŉǅΣ…½¨😀\U00020000\u1100"
    ),
    max_size=40,
)
TEXTS = st.one_of(
    AWKWARD,
    st.text(max_size=40),
    st.text(st.characters(codec="ascii"), max_size=40),
    st.text(st.characters(), max_size=40),
)


@pytest.mark.parametrize(("text", "tokens"), EXAMPLES)
def test_examples(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens


def is_cjk(char: str) -> bool:
    name = unicodedata.name(char, "")
    return name.startswith(("CJK UNIFIED", "HIRAGANA", "KATAKANA", "HANGUL", "IDEOGRAPHIC ITERATION"))


def slow_tokens(text: str) -> list[str]:
    """Rules 2 to 7 on a text in normal form, one character after another."""
    chars: list[str] = []
    for char in text:
        kind = unicodedata.category(char)
        if char in APOSTROPHES:
            chars.append("'")
        elif (kind == "Cf" and char != "\u200b") or kind == "Me" or 0xFE00 <= ord(char) <= 0xFE0F:
            continue
        elif kind[0] == "M":
            based = bool(chars) and unicodedata.category(chars[-1])[0] in "LMN" and not is_cjk(chars[-1])
            chars.append(char if based else " ")
        else:
            chars.append(char if kind[0] in "LMN" or char.isascii() else " ")

    def word(i: int) -> bool:
        return 0 <= i < len(chars) and unicodedata.category(chars[i])[0] in "LMN" and not is_cjk(chars[i])

    def digit(i: int) -> bool:
        return word(i) and chars[i] in "0123456789"

    def letter(i: int) -> bool:
        return word(i) and not digit(i)

    tokens: list[str] = []
    i = 0
    while i < len(chars):
        start = i
        while i < len(chars) and is_cjk(chars[i]):
            i += 1
        if i > start:
            run = "".join(chars[start:i])
            tokens += [run] if len(run) == 1 else [a + b for a, b in pairwise(run)]
            continue
        token = ""
        while i < len(chars):
            if word(i):
                token += chars[i]
            elif not token:
                break
            elif chars[i] == "'" and word(i + 1) and chars[i + 1] == "s" and not word(i + 2):
                i += 2
                break
            elif chars[i] == "." and digit(i - 1) and digit(i + 1):
                token += "."
            elif not (
                (chars[i] == "'" and letter(i - 1) and letter(i + 1))
                or (chars[i] == "," and digit(i - 1) and digit(i + 1))
            ):
                break
            i += 1
        if token:
            tokens.append(token.encode()[:MAX_TOKEN_BYTES].decode(errors="ignore"))
        elif i == start:
            i += 1
    return tokens


KNOWN = st.text(st.sampled_from("aAsSé905.,'’-_ \x00東京カ한\u0301\u00ad\u200b\ufe0f\u20e3٣ß…½😀"), max_size=30)


@given(KNOWN)
@example("a's's")
@example("東's a's'b")
def test_equals_the_rules_read_slowly(text: str) -> None:
    assert tokenize(text) == slow_tokens(normalize(text))


@given(TEXTS)
def test_any_text_is_safe(text: str) -> None:
    ready = scannable(text)
    ready.encode()
    assert all(char.isascii() or unicodedata.category(char)[0] in "LMN" for char in ready)
    for token in tokenize(text):
        assert token
        assert len(token.encode()) <= MAX_TOKEN_BYTES


@given(st.text(st.characters(codec="ascii")))
def test_ascii_tokens_survive_a_second_pass(text: str) -> None:
    assert tokenize(" ".join(tokenize(text))) == tokenize(text)
