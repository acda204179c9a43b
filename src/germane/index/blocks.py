"""The blocks of posting lists, and what the table says of each.

A list is cut into blocks of BLOCK postings (the last one may be shorter), each of which can be read without the others.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers, Words

BLOCK = 128
LANES = 4
TF_CAP = 255
"""The largest count that the table tells: it stands for this or more."""
MOST_EXTRA = 2**32 - 2
"""The largest count, less one, that a block is read with."""
PADDING = 2 * LANES
"""Words behind the last list: whole rows are read, two at a time."""

TABLE = np.dtype(
    [
        ("last", np.uint32),
        ("at", np.uint32),
        ("doc_bits", np.uint8),
        ("tf_bits", np.uint8),
        ("max_tf", np.uint8),
    ],
    align=True,
)
"""For each block its last document, where its words begin, its widths, and its largest count."""
STORED = tuple(name for name in TABLE.names or () if name != "at")
"""What is stored of the table: where a block begins follows from the widths."""


class PostingBlocks(NamedTuple):
    """Packed posting lists and the table of their blocks."""

    words: npt.NDArray[np.uint32]
    table: npt.NDArray[np.void]

    @classmethod
    def empty(cls, n_words: int, n_blocks: int) -> "PostingBlocks":
        """Room for so many words and blocks."""
        return cls(np.empty(n_words, np.uint32), np.zeros(n_blocks, TABLE))


def bits_needed(values: npt.NDArray[np.number]) -> Integers:
    """Bits of non-negative integers, `int(value).bit_length()`: the exponents of floating-point numbers."""
    return np.frexp(values.astype(np.float64))[1].astype(np.int64)


def described(docs: Words, counts: Words, starts: Integers) -> dict[str, npt.NDArray[np.integer]]:
    """What the table says of the blocks that begin at `starts`, but for their words and widths."""
    ends = np.append(starts, len(docs))[1:]
    return {"last": docs[ends - 1], "max_tf": np.minimum(np.maximum.reduceat(counts, starts), TF_CAP)}
