"""Texts to the bytes that `kernels.cut` cuts into tokens: `tokenizer.scannable`, mostly without Python.

What `scannable` makes of a character hardly ever depends on its neighbours. Most are looked up in a table of what it
makes of each alone, filled page by page of 256 as characters are met; runs of Han, Kana and Hangul are cut into bigrams
on the way. Marks stay as they are if they stand in order (of their canonical combining classes) behind a letter, and do
not compose with it. A text where this cannot be said is put in the form NFKC, in which what composes is composed, and
tried again: then a mark composes only with a letter that case folding changes. What is left is given to `scannable`
itself.
"""

from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING
from unicodedata import category, combining, decomposition
from unicodedata import normalize as unicode_normalize

import numpy as np
from numpy.typing import NDArray

from germane.arrays import Integers
from germane.lazy import LazyModule
from germane.text.tokenizer import compatible, is_cjk, replaced, scannable
from germane.text.word_table import doubled

if TYPE_CHECKING:
    from germane.text import kernels
else:
    kernels = LazyModule("germane.text.kernels")


_HANGUL_VOWELS_AND_FINALS = range(0x1160, 0x1200)
_KIRAT_RAI = range(0x16D40, 0x16D80)
"""Scripts whose letters, not marks, combine with the one before them."""


class FoldTable:
    """What `scannable` makes of each character alone, as `kernels.fold` reads it.

    An entry is `at << 25 | changed << 24 | combining << 16 | size << 8 | kind`: its bytes `folded[at:at + size]`,
    whether they are others than the character's own, the canonical combining class of the last character.
    """

    def __init__(self) -> None:
        self.pages = np.full(0x1100, -1, np.int32)
        self.entries = np.zeros((0, 256), np.int64)
        self.folded = np.frombuffer(b"", np.uint8)
        self._adding = Lock()

    def add_page(self, page: int) -> None:
        """Make the entries of the characters from `page << 8` on."""
        with self._adding:  # else what two threads add would be lost, or point to the other's characters
            if self.pages[page] < 0:
                self._add_page(page)

    def _add_page(self, page: int) -> None:
        parts = [self.folded.tobytes()]
        at, row = len(self.folded), np.zeros(256, np.int64)
        for low in range(256):
            char = chr(page << 8 | low)
            kind, text = _folded(char)
            data = text.encode()
            row[low] = at << 25 | (text != char) << 24 | _last_class(char) << 16 | len(data) << 8 | kind
            parts.append(data)
            at += len(data)
        # Threads may read meanwhile: they see the page once its characters are there.
        self.folded = np.frombuffer(b"".join(parts), np.uint8)
        self.entries = np.concatenate([self.entries, row[np.newaxis]])
        pages = self.pages.copy()
        pages[page] = len(self.entries) - 1
        self.pages = pages


def _folded(char: str) -> tuple[int, str]:
    """The kind of a character (`kernels.SIMPLE`, ...), and what `scannable` makes of it, bigrams apart."""
    text = replaced(char)
    if category(char)[0] == "M" and text in ("", char) and not is_cjk(char):
        if char in _composing():
            return kernels.COMPOSING if text else kernels.CONTEXTUAL, text
        return kernels.MARK if text else kernels.SIMPLE, text
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


def _last_class(char: str) -> int:
    """The canonical combining class of what a character ends in, on any of the stages of `tokenizer.normalize`."""
    stages = unicode_normalize("NFKC", char), unicode_normalize("NFKC", char).casefold(), replaced(char)
    return max(combining(stage[-1]) for stage in stages if stage)


@lru_cache(maxsize=1)
def _composing() -> frozenset[str]:
    """Characters that can become one with the character before them. Built at the first mark."""
    pairs = [decomposition(char).split() for char in map(chr, range(0xC0, 0x20000))]
    return frozenset(chr(int(pair[1], 16)) for pair in pairs if len(pair) == 2 and pair[0][0] != "<")


_TABLE = FoldTable()


def scannable_bytes(texts: Sequence[str]) -> tuple[NDArray[np.uint8], Integers]:
    """The UTF-8 bytes of all texts, made scannable, each with a line end behind it, and where each ends."""
    data, ends = _fold(texts, normal=False)
    left_out = np.flatnonzero(ends < 0).tolist()
    if not left_out:
        return data, ends
    normal = [compatible(texts[i]) for i in left_out]
    more, more_ends = _fold(normal, normal=True)
    again = dict(zip(left_out, zip(normal, _pieces(more, more_ends), strict=True), strict=True))
    parts = _pieces(data, ends)
    for i, (text, piece) in again.items():
        parts[i] = piece if piece is not None else scannable(text).encode() + b"\n"
    whole = [part for part in parts if part is not None]
    return np.frombuffer(b"".join(whole), np.uint8), np.cumsum(np.fromiter(map(len, whole), np.int64, len(whole)))


def _fold(texts: Sequence[str], *, normal: bool) -> tuple[NDArray[np.uint8], Integers]:
    """What `scannable_bytes` gives; a text that is left out, as `kernels.fold` says, ends at -1."""
    joined = "\n".join([*texts, ""])
    lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + 1
    data = np.frombuffer(joined.encode("utf-8", "surrogatepass"), np.uint8)
    if joined.isascii():
        return data, np.cumsum(lengths)
    out, ends = np.empty(2 * data.size + kernels.MAX_FOLDED, np.uint8), np.empty(len(texts), np.int64)
    state, table = np.zeros(4, np.int64), _TABLE
    while need := kernels.fold(data, lengths, normal, table.pages, table.entries, table.folded, out, ends, state):
        if need == kernels.NEW_PAGE:
            table.add_page(int(state[kernels.PAGE]))
        else:
            out = doubled(out)
    out.flags.writeable = False  # as the others are: one type of array for the kernels
    return out, ends


def _pieces(data: NDArray[np.uint8], ends: Integers) -> list[bytes | None]:
    """Each text's bytes, None for those left out."""
    pieces: list[bytes | None] = []
    begin = 0
    for end in ends.tolist():
        pieces.append(data[begin:end].tobytes() if end >= 0 else None)
        begin = max(begin, end)
    return pieces
