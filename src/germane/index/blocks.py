"""The blocks of posting lists, and what the table says of each.

A list is cut into blocks of BLOCK postings (the last one may be shorter), each of which can be read without the others.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import AnyArray, Integers, Words

BLOCK = 128
LANES = 4
TF_CAP = 255
"""The largest count that the table tells: it stands for this or more."""
MOST_EXTRA = 2**32 - 2
"""The largest count, less one, that a block is read with."""
PADDING = 2 * LANES
"""Words behind the last list: whole rows are read, two at a time."""


class BlockTable(NamedTuple):
    """For each block its last document, where its words begin, its widths, and its largest count."""

    last: Words
    at: Words
    doc_bits: npt.NDArray[np.uint8]
    tf_bits: npt.NDArray[np.uint8]
    max_tf: npt.NDArray[np.uint8]


STORED = ("last", "doc_bits", "tf_bits", "max_tf")
"""What is stored of the table: where a block begins follows from the widths."""


class PostingBlocks(NamedTuple):
    """Packed posting lists and the columns of a `BlockTable`: a plain tuple, which kernels take in less time."""

    words: Words
    columns: tuple[AnyArray, ...]

    @classmethod
    def empty(cls, n_words: int, n_blocks: int) -> "PostingBlocks":
        """Room for so many words and blocks."""
        words, last, at = (np.empty(n, np.uint32) for n in (n_words, n_blocks, n_blocks))
        return cls(words, (last, at, *np.empty((3, n_blocks), np.uint8)))

    @property
    def table(self) -> BlockTable:
        """The columns by name."""
        return BlockTable(*self.columns)


def bits_needed(values: npt.NDArray[np.number]) -> Integers:
    """Bits of non-negative integers, `int(value).bit_length()`: the exponents of floating-point numbers."""
    return np.frexp(values.astype(np.float64))[1].astype(np.int64)
