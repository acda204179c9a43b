"""Words numbered densely in order of first appearance: a dict from bytes to numbers that kernels fill.

Five bytes a letter are not spent on a Python string for each word: a table of a million words takes some 40 MB.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from germane.arrays import Integers, Words
from germane.lazy import LazyModule

if TYPE_CHECKING:
    from germane.text import word_kernels as kernels
else:
    kernels = LazyModule("germane.text.word_kernels")


FIRST_WORDS = 1 << 13

_Scalar = TypeVar("_Scalar", bound=np.generic)


class WordTable:
    """Word i is `arena[starts[i]:starts[i + 1]]`, its hash `hashes[i]`; `slots` finds words by their hashes."""

    def __init__(self) -> None:
        self.state = np.zeros(3, dtype=np.int64)
        self.starts = np.zeros(FIRST_WORDS + 1, dtype=np.int64)
        self.hashes = np.zeros(FIRST_WORDS, dtype=np.uint64)
        self.slots = np.zeros(2 * FIRST_WORDS, dtype=np.uint64)
        self.arena = np.zeros(8 * FIRST_WORDS, dtype=np.uint8)
        self._strings: list[str] = []

    def __len__(self) -> int:
        return int(self.state[kernels.WORDS])

    @property
    def memory(self) -> int:
        """Bytes that it takes."""
        return sum(array.nbytes for array in (self.starts, self.hashes, self.slots, self.arena))

    @property
    def packed(self) -> tuple[NDArray[np.uint8], Integers]:
        """The bytes of all words, and where each begins, with the last one's end."""
        return self.arena, self.starts[: len(self) + 1]

    @property
    def strings(self) -> list[str]:
        """The words as strings; the same list at every call, longer by the words that are new."""
        self._strings += self.strings_from(len(self._strings))
        return self._strings

    def strings_from(self, first: int) -> list[str]:
        """The words numbered `first` and higher."""
        starts = self.starts[first : len(self) + 1].tolist()
        data = self.arena[starts[0] : starts[-1]].tobytes()
        if data.isascii():
            text, begin = data.decode("ascii"), starts[0]
            return [text[a - begin : b - begin] for a, b in pairwise(starts)]
        return [data[a - starts[0] : b - starts[0]].decode() for a, b in pairwise(starts)]

    def enter(self, words: Iterable[str]) -> Words:
        """The numbers of words, new ones entered."""
        data, offsets = pack_words(words)
        return self.enter_bytes(data, offsets[:-1], offsets[1:])

    def enter_bytes(self, data: NDArray[np.uint8], begins: Integers, ends: Integers) -> Words:
        """The numbers of the words `data[begins[i]:ends[i]]`, new ones entered."""
        data = data.view()
        data.flags.writeable = False  # one type of array for the kernels, whosever it is
        hashes, numbers = np.empty(len(ends), np.uint64), np.empty(len(ends), np.uint32)
        kernels.hash_words(data, begins, ends, hashes)
        kernels.guess_words(hashes, self.slots, numbers)
        self.state[kernels.NEXT] = 0
        table = self.arena, self.starts, self.hashes, self.slots
        while need := kernels.enter_words(data, begins, ends, hashes, *table, numbers, self.state):
            self._make_room(need)
            table = self.arena, self.starts, self.hashes, self.slots
        return numbers

    def _make_room(self, need: int) -> None:
        """Room for twice as many bytes or words. Kernels read the capacity off the hashes, so they come last."""
        if need == kernels.GROW_ARENA:
            self.arena = doubled(self.arena)
            return
        hashes = doubled(self.hashes)
        slots = np.zeros(2 * hashes.size, dtype=np.uint64)
        kernels.fill_slots(hashes, len(self), slots)
        self.starts = doubled(self.starts)
        self.slots = slots
        self.hashes = hashes


def pack_words(words: Iterable[str]) -> tuple[NDArray[np.uint8], Integers]:
    """The bytes of the words, one after the other, and where each begins, with the last one's end."""
    encoded = [word.encode() for word in words]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), offsets


def doubled(array: NDArray[_Scalar]) -> NDArray[_Scalar]:
    """The array with as many zeros behind it."""
    grown = np.zeros(2 * array.size, dtype=array.dtype)
    grown[: array.size] = array
    return grown
