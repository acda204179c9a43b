"""Texts to the bytes that `kernels.scan` cuts into tokens: `tokenizer.scannable`, mostly without Python.

What `scannable` makes of a character hardly ever depends on its neighbours: only on marks, which combine with the
letter before them, and on Hangul letters, which form syllables. All others are looked up in a table of what
`scannable` makes of each alone, filled page by page of 256 as characters are met; runs of Han, Kana and Hangul are cut
into bigrams on the way. A text with a character that needs its neighbours is given to `scannable` itself.
"""

from collections.abc import Sequence
from unicodedata import category
from unicodedata import normalize as unicode_normalize

import numpy as np
from numpy.typing import NDArray

from germane.arrays import Integers
from germane.text import kernels
from germane.text.tokenizer import is_cjk, replaced, scannable
from germane.text.word_table import doubled

_HANGUL_VOWELS_AND_FINALS = range(0x1160, 0x1200)
_KIRAT_RAI = range(0x16D40, 0x16D80)
"""Scripts whose letters, not marks, combine with the one before them."""


class FoldTable:
    """What `scannable` makes of each character alone, as `kernels.fold` reads it."""

    def __init__(self) -> None:
        self.pages = np.full(0x1100, -1, np.int32)
        self.entries = np.zeros((0, 256), np.int64)
        self.folded = np.zeros(0, np.uint8)

    def add_page(self, page: int) -> None:
        """Make the entries of the characters from `page << 8` on."""
        if self.pages[page] >= 0:
            return
        parts = [self.folded.tobytes()]
        at, row = len(self.folded), np.zeros(256, np.int64)
        for low in range(256):
            kind, text = _folded(chr(page << 8 | low))
            data = text.encode()
            row[low] = at << 16 | len(data) << 8 | kind
            parts.append(data)
            at += len(data)
        # Threads may read meanwhile: they see the page once its characters are there.
        self.folded = np.frombuffer(b"".join(parts), np.uint8)
        self.entries = np.concatenate([self.entries, row[np.newaxis]])
        self.pages = self.pages.copy()
        self.pages[page] = len(self.entries) - 1


def _folded(char: str) -> tuple[int, str]:
    """The kind of a character (`kernels.SIMPLE`, ...), and what `scannable` makes of it, bigrams apart."""
    text = replaced(char)
    first = unicode_normalize("NFKD", char)[0]
    combines = category(first)[0] == "M" or ord(first) in _HANGUL_VOWELS_AND_FINALS or ord(first) in _KIRAT_RAI
    stray = any(
        category(mark)[0] == "M" and (before == " " or category(before)[0] not in "LMN")
        for before, mark in zip(" " + text, text, strict=False)
    )
    if combines or stray or len(text.encode()) > 255:
        return kernels.CONTEXTUAL, ""
    if not any(map(is_cjk, text)):
        return kernels.SIMPLE, text
    return (kernels.CJK, text) if len(text) == 1 else (kernels.CONTEXTUAL, "")


_TABLE = FoldTable()


def scannable_bytes(texts: Sequence[str]) -> tuple[NDArray[np.uint8], Integers]:
    """The UTF-8 bytes of all texts, made scannable, and where each ends."""
    joined = "".join(texts)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    if joined.isascii():
        return np.frombuffer(joined.encode("ascii"), np.uint8), np.cumsum(lengths)
    data = np.frombuffer(joined.encode("utf-8", "surrogatepass"), np.uint8)
    out, ends, state = np.empty(2 * data.size + kernels.MAX_FOLDED, np.uint8), np.empty(len(texts), np.int64), _start()
    table = _TABLE
    while need := kernels.fold(data, lengths, table.pages, table.entries, table.folded, out, ends, state):
        if need == kernels.NEW_PAGE:
            table.add_page(int(state[kernels.PAGE]))
        else:
            out = doubled(out)
    if ends.min() >= 0:
        return out, ends
    return _with_contextual(texts, out, ends)


def _with_contextual(
    texts: Sequence[str], out: NDArray[np.uint8], ends: Integers
) -> tuple[NDArray[np.uint8], Integers]:
    """Put the texts that were left out in their places."""
    parts, begin = [], 0
    for text, end in zip(texts, ends.tolist(), strict=True):
        if end < 0:
            parts.append(scannable(text).encode())
        else:
            parts.append(out[begin:end].tobytes())
            begin = end
    data = np.frombuffer(b"".join(parts), np.uint8)
    return data, np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)))


def _start() -> Integers:
    return np.zeros(6, np.int64)
