"""The arguments of the scoring kernels, grouped: what a kernel is given of the query, the documents and memory.

With `index.kernels.PostingBlocks` and `ForwardArrays` of the segment these are all there is. They are tuples, so that
compiled code takes them as it takes their parts; `rank.scoring` hands them over without their names, which costs half
the time.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers

NOTHING: Floats = np.empty(0, np.float64)


class TermArrays(NamedTuple):
    """A plan in one segment: its terms that the segment holds, in canonical order.

    `first_block`, `df`, `numbers`: where each term's list begins, how long it is, the term's number in the segment.
    `weight` to `x1`: the impact (see `rank.kernels`). `size`: the document sizes that the impact divides by;
    `sized_by_length` says that the block table's minima bound them. `constant`, `mass`: the rest of the score; `mass`
    is not negative.
    """

    first_block: Integers
    df: Integers
    numbers: Integers
    weight: Floats
    scale: Floats
    kind: int
    delta: float
    x0: float
    x1: float
    size: npt.NDArray[np.uint32]
    sized_by_length: bool
    constant: float
    mass: float


class Impact(NamedTuple):
    """The impact of one term, as `rank.kernels.impact` computes it."""

    kind: int
    weight: float
    scale: float
    delta: float
    x0: float
    x1: float


class DocumentPart(NamedTuple):
    """A number for each document of a segment, and its maximum in each fine window of the kernel; empty: none."""

    values: Floats
    maxima: Floats


class DocumentValues(NamedTuple):
    """What enters the score of a document whatever its postings, each a `DocumentPart` laid flat.

    norm_D, the background that the plan's mass multiplies, and prior_D.
    """

    norm: Floats
    norm_maxima: Floats
    background: Floats
    background_maxima: Floats
    prior: Floats
    prior_maxima: Floats


class Scratch(NamedTuple):
    """Memory of one thread. `acc`: zeros, and zeros again afterwards. `docs`, `tf_minus_one`: decoded postings."""

    acc: npt.NDArray[np.float64] | npt.NDArray[np.uint16]
    docs: npt.NDArray[np.uint32]
    tf_minus_one: npt.NDArray[np.uint32]


class Results(NamedTuple):
    """Where results go; room for more than k, so that a selection is worth its while."""

    scores: Floats
    docs: Integers


class Tables(NamedTuple):
    """Impacts by count: those of term t from `table_at[t]` on; `n_table[t]`: how many, or -1 where none is missing."""

    table: Floats
    table_at: Integers
    n_table: Integers


class Windows(NamedTuple):
    """What `rank.kernels.visit_windows` knows of terms and windows.

    For each term and window `bound` and `position` (where its postings begin); for each term the block that is
    `cached` and its `buffer`; for each window the `total` of the bounds and the `flat` part; sums of bounds from a term
    on (`suffix`), `candidates` of one window, and what is `visited`.
    """

    tables: Tables
    bound: Floats
    position: Integers
    cached: Integers
    buffer: Integers
    total: Floats
    flat: Floats
    suffix: Floats
    candidates: Integers
    visited: npt.NDArray[np.bool_]
