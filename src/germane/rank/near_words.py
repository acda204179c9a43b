"""The words of a dictionary that are few edits away from a typed one.

An edit inserts, deletes or replaces one byte, or exchanges two neighbours; no part is edited twice ("optimal string
alignment", Damerau 1964). Two steps find the words near a typed one:

1. `Letters` has a bit for each letter that a word holds and one for each that it holds twice. An edit changes at most
   two bits and the length by at most one, which leaves some dozens of a hundred thousand words.
2. `edits_between` follows each of the others. Beginnings and ends that two words share cost nothing (Ukkonen 1985), so
   that an edit need only be tried at the first place where they differ.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers
from germane.deadline import look
from germane.index.strings import Packed

Words: TypeAlias = Sequence[Packed]
"""Lists of strings of one length: word i is string i of the first list where that is not empty."""
READ_AT_ONCE = 1 << 14
"""Words whose letters are read at once: a few megabytes."""
_LETTERS = 32
"""Bytes share a bit with those that are the same modulo this number; a to z have one each."""


def edits_between(a: bytes, b: bytes, most: int) -> int:
    """Return the edits between two words, at most `most` + 1.

    >>> edits_between(b"minutse", b"minutes", 2), edits_between(b"minutse", b"minuets", 2)
    (1, 2)
    """
    begin, shorter = 0, min(len(a), len(b))
    if max(len(a), len(b)) - shorter > most:
        return most + 1
    while begin < shorter and a[begin] == b[begin]:
        begin += 1
    end, left = 1, shorter - begin
    while end <= left and a[-end] == b[-end]:
        end += 1
    a, b = a[begin : len(a) - end + 1], b[begin : len(b) - end + 1]
    if not a or not b:
        return max(len(a), len(b))
    if most == 0:
        return 1
    exchanged = a[:2] == b[1::-1] and len(a) > 1
    if most == 1:  # another edit would leave two ends that differ
        return 1 if len(a) == len(b) == 1 or (exchanged and len(a) == len(b) == 2) else 2
    tried = [(a[1:], b), (a, b[1:]), (a[1:], b[1:]), *([(a[2:], b[2:])] if exchanged else [])]
    return 1 + min(edits_between(*pair, most - 1) for pair in tried)


class Letters(NamedTuple):
    """Words by size, with the `letters` of each as bits: those of n bytes are `words[begins[n]:begins[n + 1]]`.

    It takes 12 bytes a word.
    """

    begins: list[int]
    words: npt.NDArray[np.int32]
    letters: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, words: Words, numbers: Integers) -> "Letters":
        """Read the letters of the words with these numbers."""
        sizes, letters = np.zeros(len(numbers), np.int64), np.zeros(len(numbers), np.uint64)
        for data, offsets in reversed(words):
            lengths = np.diff(offsets).astype(np.int64)[numbers]
            sizes = np.where(lengths > 0, lengths, sizes)
            letters = np.where(lengths > 0, _letters((data, offsets))[numbers], letters)
        order = np.argsort(sizes, kind="stable")
        begins = np.concatenate([[0], np.cumsum(np.bincount(sizes, minlength=1))]).tolist()
        return cls(begins, numbers[order].astype(np.int32), letters[order])

    def near(self, typed: bytes, edits: int) -> Integers:
        """Return the words that may be at most `edits` edits away, ascending; nearly all others are left out."""
        last = len(self.begins) - 1
        part = slice(self.begins[min(max(len(typed) - edits, 0), last)], self.begins[min(len(typed) + edits + 1, last)])
        changed = self.letters[part] ^ _letters_of(typed)
        for _ in range(2 * edits):
            changed &= changed - np.uint64(1)  # clears the lowest bit
        near: Integers = np.sort(self.words[part][changed == 0])
        return near


def _letters_of(word: bytes) -> np.uint64:
    once = twice = 0
    for byte in word:
        bit = 1 << (byte % _LETTERS)
        once, twice = once | bit, twice | (once & bit)
    return np.uint64(once | twice << _LETTERS)


def _letters(strings: Packed) -> npt.NDArray[np.uint64]:
    """The letters of each string as bits."""
    data, offsets = strings
    bits = np.uint64(1) << np.arange(_LETTERS, dtype=np.uint64)
    letters = np.zeros(len(offsets) - 1, np.uint64)
    for begin in range(0, len(letters), READ_AT_ONCE):
        look()
        starts = offsets[begin : begin + READ_AT_ONCE + 1].astype(np.int64)
        places = (
            np.repeat(np.arange(len(starts) - 1) * _LETTERS, np.diff(starts)) + data[starts[0] : starts[-1]] % _LETTERS
        )
        counts = np.bincount(places, minlength=(len(starts) - 1) * _LETTERS).reshape(-1, _LETTERS)
        letters[begin : begin + READ_AT_ONCE] = (counts > 0) @ bits | ((counts > 1) @ bits) << np.uint64(_LETTERS)
    return letters


def near_words(letters: Letters, words: Words, typed: bytes, edits: int) -> Integers:
    """Return the words at most `edits` edits away from a typed one, ascending."""
    likely = letters.near(typed, edits)
    if not len(likely):
        return likely.astype(np.int64)
    forms = [b""] * len(likely)
    for data, offsets in words:
        if all(forms):
            break
        places = zip(offsets[likely].tolist(), offsets[likely + 1].tolist(), strict=True)
        forms = [form or data[begin:end].tobytes() for form, (begin, end) in zip(forms, places, strict=True)]
    return likely[[edits_between(typed, form, edits) <= edits for form in forms]].astype(np.int64)
