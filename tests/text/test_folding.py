"""Folding by table against the tokeniser's own normalisation, character by character and in context."""

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.text import kernels
from germane.text.folding import FoldTable, scannable_bytes
from germane.text.tokenizer import scannable

LETTERS = "aé'ßСиσς東京カ한ﬁ½ İ1.’\u00ad\u0301ᄒ\u1161ａｶﾞ\ud800😀"


def folded(texts: list[str]) -> list[list[str]]:
    """What is ASCII is put in lower case later; bytes do that to nothing else."""
    data, ends = scannable_bytes(texts)
    starts = [0, *ends.tolist()]
    pieces = [data[a:b].tobytes().lower().decode() for a, b in pairwise(starts)]
    return [piece.split() for piece in pieces]


def expected(texts: Iterable[str]) -> list[list[str]]:
    return [scannable(text).split() for text in texts]


def test_every_character_between_others() -> None:
    """All of the scripts in use: Latin to Kana, and a sample of Han, Hangul and what lies beyond."""
    codes = [
        *range(0x80, 0x3400),
        *range(0x3400, 0x1_0000, 61),
        *range(0xF900, 0x1_0000),
        *range(0x1_0000, 0x11_0000, 997),
    ]
    texts = [form for char in map(chr, codes) for form in (f"x{char}y 東{char}京", f"{char}{char} é{char}")]
    assert folded(texts) == expected(texts)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text(LETTERS, max_size=12), max_size=5))
def test_texts_that_mix(texts: list[str]) -> None:
    assert folded(texts) == expected(texts)


@pytest.mark.parametrize("text", ["naïve café", "Привет, мир", "Ελληνικά", "東京都", "서울", "Ｆｕｌｌ", "İstanbul"])
def test_common_scripts_need_no_python(text: str) -> None:
    table = FoldTable()
    for char in text:
        table.add_page(ord(char) >> 8)
        entry = int(table.entries[table.pages[ord(char) >> 8], ord(char) & 0xFF])
        assert entry & 0xFF != kernels.CONTEXTUAL
