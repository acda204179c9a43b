"""The blocks of posting lists: what is known of each, and the codes of document lengths that bound it.

A list is cut into blocks of BLOCK postings (the last one may be shorter). Of each block the table keeps what a ranking
needs to skip it: the largest count, and the length of the shortest document among those with one occurrence, with two
or three, and with four and more. So a bound knows that many occurrences come with long documents.

Lengths are kept as codes of one byte: exact below 32, then rounded down to five significant bits, so that a bound made
of one stays a bound. `LENGTH_OF` gives the length of each code.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers, Words

BLOCK = 128
LANES = 4
TF_CAP = 255
"""The largest count that the table tells: it stands for this or more."""
NO_LENGTH = 255
"""The code where no posting of the block has so many occurrences."""
PADDING = 2 * LANES
"""Words behind the last list: whole rows are read, two at a time."""

TABLE = np.dtype(
    [
        ("last", np.uint32),
        ("at", np.uint32),
        ("doc_bits", np.uint8),
        ("tf_bits", np.uint8),
        ("max_tf", np.uint8),
        ("length_1", np.uint8),
        ("length_2", np.uint8),
        ("length_4", np.uint8),
    ],
    align=True,
)
"""For each block its last document, where its words begin, its widths, and its bounds."""
STORED = tuple(name for name in TABLE.names or () if name != "at")
"""What is stored of the table: where a block begins follows from the widths."""

LENGTH_OF = np.array(
    [code if code < 32 else (16 + (code - 32) % 16) << ((code - 32) // 16 + 1) for code in range(NO_LENGTH)], np.uint32
)


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


def bounds_of(
    docs: Words, counts: Words, codes: npt.NDArray[np.uint8], starts: Integers
) -> dict[str, npt.NDArray[np.integer]]:
    """What the table says of the blocks that begin at `starts`, but for their widths. `codes`: of all lengths."""
    ends, own = np.append(starts, len(docs))[1:], codes[docs]
    bounds = {"last": docs[ends - 1], "max_tf": np.minimum(np.maximum.reduceat(counts, starts), TF_CAP)}
    for name, held in (("length_1", counts == 1), ("length_2", (counts > 1) & (counts < 4)), ("length_4", counts > 3)):
        bounds[name] = np.minimum.reduceat(np.where(held, own, np.uint8(NO_LENGTH)), starts)
    return bounds


def length_codes(lengths: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
    """The code of each length: the largest whose length does not exceed it.

    The exponent and the first four bits of the mantissa of a floating-point number count up as the codes do.
    """
    counted = lengths.astype(np.float64).view(np.uint64) >> np.uint64(48)
    codes = np.where(lengths < 32, lengths, counted - np.uint64((1023 + 5) * 16 - 32))
    return np.minimum(codes, np.uint64(NO_LENGTH - 1)).astype(np.uint8)
