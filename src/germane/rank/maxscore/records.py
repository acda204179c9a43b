"""Records and arrays that the kernels of this room share: one type each, so that little is compiled."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers

HISTOGRAM = 2048
"""Classes of scores between the lowest of interest and the highest possible; see `result_kernels`."""
CHUNK_BITS = 15
CHUNK = 1 << CHUNK_BITS
"""Documents that are accumulated together: a place takes two bytes, and the sums fit the nearest cache."""
LANES = 64
"""Values that are compared together; see `simd_kernels`."""
CODES = 256
"""Counts, saturations or ratios that a decoded list tells apart."""
MANTISSA_BITS = 48
"""Bits of a double that are dropped to class a ratio: ratios of one class differ by a sixteenth at most."""

TERM = np.dtype(
    [
        ("row", np.int64),
        ("weight", np.float64),
        ("scale", np.float64),
        ("least", np.int64),
        ("top", np.int64),
        ("begin", np.int64),
        ("end", np.int64),
        ("value", np.float64, CODES),
        ("units", np.uint16, CODES),
    ]
)
"""A term of the query: the `row` of its list, weight and scale of its impact; the `least` and the `top` code of the
list; its postings in the chunk, from `begin` to `end`. `value`: impact by count, or its bound by class of ratios;
`units`: impact by code in units, rounded up.
"""

SEARCH = np.dtype(
    [
        ("kind", np.int64),
        ("delta", np.float64),
        ("x0", np.float64),
        ("x1", np.float64),
        ("constant", np.float64),
        ("mass", np.float64),
        ("threshold", np.float64),
        ("k", np.int64),
        ("sized", np.int64),
        ("n_docs", np.int64),
        ("n_terms", np.int64),
        ("flat", np.float64),
        ("norm", np.float64),
        ("unit", np.float64),
        ("slack", np.float64),
        ("low", np.float64),
        ("per_class", np.float64),
        ("edge", np.int64),
        ("above", np.int64),
        ("found", np.int64),
    ]
)
"""The state of a search. `kind` to `x1`: of the impact, which is `sized` if it depends on the document's size. `flat`:
the largest part of a score without impacts; `norm`: the largest norm; `unit`: the smallest part of a sum. `threshold`:
what a result must reach; `slack`: by how much a bound may exceed its score. `low` to `above`: the histogram of bounds,
where it begins, its classes per point, the class of the threshold and the results above that. `found`: results.
"""

CANDIDATE = np.dtype([("doc", np.int64), ("sum", np.float64), ("by", np.float64)])
"""A document of the chunk, its sum so far and, where it is rescored, its x0 + x1·size."""
RESULT = np.dtype([("score", np.float64), ("doc", np.int64)])

Records = npt.NDArray[np.void]


class Query(NamedTuple):
    """Weights and scales of the terms, and SETTINGS."""

    weight: Floats
    scale: Floats
    settings: Floats


SETTINGS = (
    "kind", "delta", "x0", "x1", "constant", "mass", "threshold", "k",
    "background", "prior", "norm", "typical", "inflation", "lowest",
)  # fmt: skip
"""Entries of `Query.settings`. `background`, `prior`, `norm`: the largest of all documents; `typical`: the part without
impacts of a usual document's score; `inflation`, `lowest`: see `posting_cache.Postings`."""


class DocumentArrays(NamedTuple):
    """A number for each document, or none. `mask`: 0 for one that is filtered out."""

    size: npt.NDArray[np.uint32]
    norm: Floats
    background: Floats
    prior: Floats
    mask: npt.NDArray[np.uint8]


class Decoded(NamedTuple):
    """Decoded lists, a row each: places in the chunk, counts minus one, codes; a column for each chunk.

    `begins`: where the postings of a chunk begin; `tops`: the largest code among them; `least`: the list's smallest
    code; `most`: the largest count that the last code stands for, else 0. `large`: postings whose counts do not fit a
    byte, plus 1, with these, ascending; then zeros.
    """

    docs: npt.NDArray[np.uint16]
    extras: npt.NDArray[np.uint8]
    codes: npt.NDArray[np.uint8]
    begins: Integers
    least: npt.NDArray[np.uint8]
    tops: npt.NDArray[np.uint8]
    most: Integers
    large: Integers


class Work(NamedTuple):
    """Memory of a search. `acc`: sums in units by place in the chunk, zeros before and after. `suffix`: from a term on,
    the sum of bounds. `hits`: postings or places of a chunk. `order`: the places of the query's terms, in the order in
    which lists are read. `id_rank`: the segment's order of ids, which breaks ties.
    """

    acc: npt.NDArray[np.uint16]
    suffix: Floats
    candidates: Records
    results: Records
    histogram: npt.NDArray[np.int32]
    hits: Integers
    best: Records
    order: Integers
    id_rank: npt.NDArray[np.uint32]
