"""The best vectors of a field: inner products of all of them with a query, and which are still in the running.

What is computed here is an approximation, in float32 or of a rounded query, with a known bound: whatever lies within
`slack` of the k-th best is kept, and `rank.vectors` scores these few exactly.
"""

from typing import Any

import numpy as np

from germane.jit import allocating, inner
from germane.rank.vector_simd import dot


@inner
def _wanted(mask: Any, docs: Any, row: int) -> bool:
    return len(mask) == 0 or mask[docs[row]] != 0


@inner
def _drop(scores: Any, rows: Any, n: int, least: float) -> int:
    """Leave out what is below; how many remain."""
    kept = 0
    for i in range(n):
        if scores[i] >= least:
            scores[kept], rows[kept] = scores[i], rows[i]
            kept += 1
    return kept


@allocating
def _enter(score: float, row: int, k: int, slack: float, scores: Any, rows: Any, n: int, least: float) -> Any:
    """Take a row into the running: how many are in it, and what the next must reach.

    A full table is cleared of what is out of it; where more than half remains there is no room, and -1 is returned
    with the row not entered.
    """
    if n == len(scores):
        least = float(np.partition(scores, n - k)[n - k]) - slack
        n = _drop(scores, rows, n, least)
        if 2 * n > len(scores):
            return -1 - n, least
        if score < least:
            return n, least
    scores[n], rows[n] = score, row
    return n + 1, least


@allocating
def scan(
    values: Any,
    scales: Any,
    query: Any,
    docs: Any,
    mask: Any,
    first: int,
    last: int,
    k: int,
    slack: float,
    scores: Any,
    rows: Any,
    held: int,
    least: float,
) -> Any:
    """Go through the rows from `first` on, `held` being in the running and `least` what one must reach.

    Returns both as they are now, and the row that found no room: `last` when all is done. `scales`: a factor for each
    row, or none. `docs`: the document of each row; `mask`: which documents are wanted, or empty for all.
    """
    n, stride = held, len(query)
    for row in range(first, last):
        score = np.float32(dot(values, row * stride, query))
        if len(scales):
            score *= scales[row]
        if score >= least and _wanted(mask, docs, row):
            n, least = _enter(score, row, k, slack, scores, rows, n, least)
            if n < 0:
                return -1 - n, least, row
    return n, least, last


@allocating
def keep(
    products: Any,
    scales: Any,
    docs: Any,
    mask: Any,
    base: int,
    first: int,
    last: int,
    k: int,
    slack: float,
    scores: Any,
    rows: Any,
    held: int,
    least: float,
) -> Any:
    """`scan` where the inner products are known: `products[i]` is that of row `base + i`."""
    n = held
    for row in range(first, last):
        score = products[row - base]
        if len(scales):
            score *= scales[row]
        if score >= least and _wanted(mask, docs, row):
            n, least = _enter(score, row, k, slack, scores, rows, n, least)
            if n < 0:
                return -1 - n, least, row
    return n, least, last
