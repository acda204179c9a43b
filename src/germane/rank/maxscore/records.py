"""What the scoring kernels are told and what they remember, as NumPy records: one type each, quickly compiled.

The classes group what a kernel is given; `rank.scoring.segment_search` fills them.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers

HISTOGRAM = 2048
"""Classes of scores between the lowest of interest and the highest possible; see `rank.maxscore.result_kernels`."""
CHUNK_BITS = 15
CHUNK = 1 << CHUNK_BITS
"""Documents that are summed up together: their places take two bytes, and their sums fit the nearest cache."""
LANES = 64
"""Values that are compared together; see `rank.maxscore.simd_kernels`."""
CODES = 256
"""Counts, saturations or ratios that a decoded list tells apart."""
MANTISSA_BITS = 48
"""The last ones of a double: what is before them, its exponent and the first bits of its mantissa, is the class of a
ratio. Those of a class differ by a sixteenth at most."""
PEAKS = 32
"""Of the postings of a list one of so many, those of the largest codes, are kept beside it too."""
FREQUENT = 12
"""A term is frequent that one of so many documents holds, or more: fewer postings take less time than all places do."""
CLASSES = 16
"""Of codes in a frequent list; the first is of documents that do not hold the term."""
HINT_MARGIN = 1e-12
"""Sums in another order may differ by so much of their value."""

TERM = np.dtype(
    [
        ("first", np.int64),
        ("end", np.int64),
        ("df", np.int64),
        ("number", np.int64),
        ("weight", np.float64),
        ("scale", np.float64),
    ]
)
"""A term of the query in one segment: its blocks, from `first` to `end`, the length of its list, its number there, the
weight and the scale of its impact."""

MODEL = np.dtype(
    [
        ("kind", np.int64),
        ("delta", np.float64),
        ("x0", np.float64),
        ("x1", np.float64),
        ("constant", np.float64),
        ("mass", np.float64),
        ("top", np.float64),
        ("sized", np.int64),
        ("n_docs", np.int64),
        ("k", np.int64),
        ("n_terms", np.int64),
        ("threshold", np.float64),
        ("slack", np.float64),
        ("rounding", np.float64),
        ("low", np.float64),
        ("per_class", np.float64),
        ("edge", np.int64),
        ("above", np.int64),
        ("found", np.int64),
        ("unit", np.float64),
        ("flat", np.float64),
        ("norm", np.float64),
        ("rest", np.float64),
        ("step", np.float64),
        ("base", np.float64),
        ("factor", np.int64),
        ("laid", np.int64),
        ("whole", np.int64),
        ("capped", np.int64),
    ]
)
"""The rest of the score, and how far a search has come.

`kind` to `x1`: of the impact, which depends on the document's size if `sized`; `constant`, `mass`: of the score; `top`:
the largest background. `threshold`: what a result must reach; `slack`: by how much a bound and its score may differ,
`rounding`: by the rounding of sums alone;
`low`, `per_class`, `edge`, `above`: the histogram of scores, where it begins, how many classes a point has, the class
that holds the threshold, and results above it. `unit`: the smallest part of a sum, `flat`: the bound of the part of a
score without impacts, `norm`: of the norm; `rest`, `step`: the constant and mass times the least background, and mass
times a step of the rounded ones; `base`: as `flat` with the least one, `factor`: the units of a step times 2^16;
`capped`: the first term that gives its peaks apart. Of a chunk `whole`: it is searched whole, `laid`: its sums began
with the units of backgrounds.
"""

DECODED_TERM = np.dtype(
    [
        ("row", np.int64),
        ("number", np.int64),
        ("weight", np.float64),
        ("scale", np.float64),
        ("least", np.int64),
        ("top", np.int64),
        ("begin", np.int64),
        ("end", np.int64),
        ("frequent", np.int64),
        ("width", np.int64),
        ("coarse", np.int64),
        ("value", np.float64, CODES),
        ("units", np.uint16, CODES),
        ("excess", np.uint16, CODES),
        ("bytes", np.uint8, CLASSES),
    ]
)
"""A term of the query whose list is decoded: its `row`, its number in the segment, weight and scale of its impact.

`value`: its impact by count, the last a bound, or bounds by class of ratios; saturations have none. `least`, `top`:
the smallest and the largest code. `units`: impacts by code in units, rounded up, up to a cap; `excess`: what is above
it. `begin`, `end`: its postings in the chunk that is being visited. `frequent`: its row among the frequent lists, or
-1; `width`: how many codes have a class there; `bytes`: by class, the units up to the cap in multiples of `coarse`,
rounded up.
"""

SUMMED = np.dtype([("doc", np.int64), ("sum", np.float64), ("by", np.float64)])
"""A document of decoded lists, its sum so far and, where it is scored exactly, what x0 + x1·size is."""
RESULT = np.dtype([("score", np.float64), ("doc", np.int64)])

Records = npt.NDArray[np.void]


class Asked(NamedTuple):
    """The query: the numbers of its terms in the segment, their weights and scales, and the SETTINGS."""

    numbers: Integers
    weight: Floats
    scale: Floats
    settings: Floats


SETTINGS = ("kind", "delta", "x0", "x1", "constant", "mass", "threshold", "k", "top", "typical")
"""The entries of `Asked.settings`. `typical`: the rest of the score of a usual document; the others: see MODEL."""


class Lists(NamedTuple):
    """Where each term's list begins in the block table, and how long it is."""

    first_block: Integers
    df: Integers


class DocumentArrays(NamedTuple):
    """What is known of each document; empty: nothing. `mask`: 0 for one that is not wanted."""

    size: npt.NDArray[np.uint32]
    norm: Floats
    background: Floats
    prior: Floats
    mask: npt.NDArray[np.uint8]


class Decoded(NamedTuple):
    """Decoded lists: places in the chunk, counts minus one, codes. A row for each list, a column for each chunk.

    `begins`: where a list's postings of a chunk begin, `tops`: the largest code among them; `peaks`: where copies of
    those begin whose codes are above that of `cuts`; `least`: the list's smallest code; `most`: the largest count of
    those that the last code hides, else 0. `large`: postings whose counts do not fit a byte, and these, ascending.

    Lists of frequent terms are kept in a second form too: `frequent`, the row there of a list, or -1; `classes`: four
    bits for each document, the class of its code up to the cut; a byte has those of two, 16 apart. `widths`: how many
    codes have one class; `held`: for 64 documents each, the bits of those that hold the term, and how many
    postings lie before.
    """

    docs: npt.NDArray[np.uint16]
    extras: npt.NDArray[np.uint8]
    codes: npt.NDArray[np.uint8]
    begins: Integers
    peaks: Integers
    cuts: npt.NDArray[np.uint8]
    least: npt.NDArray[np.uint8]
    tops: npt.NDArray[np.uint8]
    most: Integers
    large: Integers
    frequent: Integers
    classes: npt.NDArray[np.uint8]
    widths: Integers
    held: npt.NDArray[np.uint64]


class Sums(NamedTuple):
    """Memory of a pass over decoded lists. `acc`: sums in units by place in the chunk, zeros before and after.

    `suffix`, from a term on: the sum of bounds, that of weights in units, that of their roots, and how many terms there
    are; of all but the first, see `hinted_kernels.units_left`.
    `hits`: postings or places of a chunk; `id_rank`: the segment's, by which equal scores are ordered; `rounded`: the
    backgrounds of its documents as `rank.scoring.arguments.DocumentPart` has them, or empty.
    """

    acc: npt.NDArray[np.uint16]
    suffix: Floats
    candidates: Records
    results: Records
    histogram: npt.NDArray[np.int32]
    hits: Integers
    best: Records
    id_rank: npt.NDArray[np.uint32]
    rounded: npt.NDArray[np.uint16]
