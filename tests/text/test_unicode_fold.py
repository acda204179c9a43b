"""Folding by table against the tokeniser's own normalisation, character by character and in context."""

import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.text import kernels, unicode_fold
from germane.text.tokenizer import scannable
from germane.text.unicode_fold import FoldTable, scannable_bytes

LETTERS = (
    "aé'ßСиσς東京カ한ﬁ½ İ1.’´\u00ad\u0301\u0316\u0334ᄒ\u1161ａｶﾞ\ud800😀A\ufe0f\u200d\u0345ǰẞ"
    "\u0915\u093c\u094d\u0958\u09c7\u09be\u0e01\u0e33\u0e38\u0e48\u0628\u0651\u064e\u05b0\u3099"
)
"""Of the marks some compose, some stand in order only one way, some vanish; some letters gain marks when folded."""


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
    forms = "x{0}y 東{0}京", "{0}{0} é{0}", "{0}\u0316 E{0}\u0301"
    texts = [form.format(char) for char in map(chr, codes) for form in forms]
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
        assert entry & 0xFF < kernels.COMPOSING


@pytest.mark.parametrize("text", ["हिन्दी", "বাংলা", "ภาษาไทยคำ", "العَرَبِيَّة", "Cafe\u0301", "한국", "Việt", "தமிழ்", "✌️"])
def test_nor_do_marks(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [text, normalize("NFD", text), normalize("NFKC", text)]
    answer = expected(texts)
    monkeypatch.delattr(unicode_fold, "scannable")
    assert folded(texts) == answer


def test_threads_that_add_pages_at_once() -> None:
    """Every page has its own characters, whoever added it when."""
    alone, shared, pages = FoldTable(), FoldTable(), range(24)
    for page in pages:
        alone.add_page(page)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(shared.add_page, [*pages, *reversed(pages)]))
    finally:
        sys.setswitchinterval(interval)

    def held(table: FoldTable, page: int) -> list[tuple[int, bytes]]:
        entries = table.entries[table.pages[page]].tolist()
        return [(e & 0x1FF00FF, table.folded[e >> 25 :][: e >> 8 & 255].tobytes()) for e in entries]

    assert len(shared.entries) == len(pages)
    for page in pages:
        assert held(shared, page) == held(alone, page)
