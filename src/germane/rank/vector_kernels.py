# mypy: ignore-errors
"""The best vectors of a field: inner products of all of them with a query, and which are still in the running.

What is computed here is an approximation with a known bound: a score lies between `lower` and `upper`. A row is in the
running while its upper bound reaches the k-th best lower one; `rank.vectors` scores these few exactly.
"""

from typing import Any

import numpy as np

from germane.jit import allocating, inner
from germane.rank.vector_simd_kernels import dot


@inner
def _wanted(mask: Any, docs: Any, row: int) -> bool:
    return len(mask) == 0 or mask[docs[row]] != 0


@inner
def _drop(lower: Any, upper: Any, rows: Any, n: int, least: float) -> int:
    """Leave out what is below; how many remain."""
    kept = 0
    for i in range(n):
        if upper[i] >= least:
            lower[kept], upper[kept], rows[kept] = lower[i], upper[i], rows[i]
            kept += 1
    return kept


@allocating
def _enter(score: float, half: float, row: int, k: int, table: Any, n: int, least: float) -> Any:
    """Take a row into the running: how many are in it, and what the next must reach.

    A full table is cleared of what is out of it. Where more than half remains there is no room: then -1 - n is
    returned, and the row was not entered.
    """
    lower, upper, rows = table
    if n == len(rows):
        least = np.partition(lower, n - k)[n - k]
        n = _drop(lower, upper, rows, n, least)
        if 2 * n > len(rows):
            return -1 - n, least
        if score + half < least:
            return n, least
    lower[n], upper[n], rows[n] = score - half, score + half, row
    return n + 1, least


@inner
def _reach(least: float, base: float) -> Any:
    """What a product must reach for its row to be looked at, in float32 and rather too low."""
    return np.float32(least - base - 1e-6 * (abs(least) + base))


@inner
def _next_dot(values: Any, scales: Any, query: Any, row: int, last: int, times_scale: Any, reach: Any) -> Any:
    """The first row from `row` on whose product reaches it, and the product; `last` if none does."""
    stride = len(query)
    product = np.float32(0.0)
    while row < last:
        product = np.float32(dot(values, row * stride, query))
        if len(scales):
            if (product + times_scale) * scales[row] >= reach:
                break
        elif product >= reach:
            break
        row += 1
    return row, product


@inner
def _next_product(products: Any, begin: int, scales: Any, row: int, last: int, times_scale: Any, reach: Any) -> Any:
    """The same where the products are known."""
    product = np.float32(0.0)
    while row < last:
        product = products[row - begin]
        if len(scales):
            if (product + times_scale) * scales[row] >= reach:
                break
        elif product >= reach:
            break
        row += 1
    return row, product


@inner
def _bounds(product: Any, scales: Any, row: int, base: float, times_scale: float) -> Any:
    """The approximate score, and how far off it may be."""
    if len(scales):
        return float(product) * scales[row], base + times_scale * scales[row]
    return float(product), base


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
    bound: tuple[float, float],
    table: Any,
    held: int,
    least: float,
) -> Any:
    """Go through the rows from `first` on, `held` being in the running and `least` what one must reach.

    Returns both as they are now, and the row that found no room: `last` when all is done. `scales`: a factor for each
    row, or none. `docs`: the document of each row; `mask`: which documents are wanted, or empty for all. A score is
    within base + times_scale · scale of its approximation, `bound` being the two.
    """
    base, times_scale = bound
    n, row, more, reach = held, first, np.float32(times_scale * 1.000001), _reach(least, base)
    while True:
        row, product = _next_dot(values, scales, query, row, last, more, reach)
        if row == last:
            return n, least, last
        score, half = _bounds(product, scales, row, base, times_scale)
        if score + half >= least and _wanted(mask, docs, row):
            n, least = _enter(score, half, row, k, table, n, least)
            if n < 0:
                return -1 - n, least, row
            reach = _reach(least, base)
        row += 1


@allocating
def keep(
    products: Any,
    scales: Any,
    docs: Any,
    mask: Any,
    begin: int,
    first: int,
    last: int,
    k: int,
    bound: tuple[float, float],
    table: Any,
    held: int,
    least: float,
) -> Any:
    """`scan` where the inner products are known: `products[i]` is that of row `begin + i`."""
    base, times_scale = bound
    n, row, more, reach = held, first, np.float32(times_scale * 1.000001), _reach(least, base)
    while True:
        row, product = _next_product(products, begin, scales, row, last, more, reach)
        if row == last:
            return n, least, last
        score, half = _bounds(product, scales, row, base, times_scale)
        if score + half >= least and _wanted(mask, docs, row):
            n, least = _enter(score, half, row, k, table, n, least)
            if n < 0:
                return -1 - n, least, row
            reach = _reach(least, base)
        row += 1
