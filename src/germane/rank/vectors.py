"""Exact search of a vector field: the documents whose vectors have the largest inner products with a query's.

The score of a document is Σ_j q_j · x_j, x being its vector as it is stored and q the query's in float32, added in
float64 from the first number to the last: it does not depend on segments, threads or the machine. Kernels look at all
vectors in less precise numbers, whose error is bounded:

- float32 and float16: |approximation - score| ≤ (n + STEP) · (2^-24 · ‖q‖ · max ‖x‖ + 2^-126), n numbers being added in
  any order;
- int8: of x = s·(c + r/254) only c is looked at, which is off by at most (s/2) · Σ_j |q_j|; one query alone is rounded
  to whole numbers in a unit u, such that sums of products stay below 2^31, and by (u/2) · √n · max ‖x‖ more at most.

Whatever may be among the best k by these bounds is scored exactly, r included: the result is that of scoring every
document.
An approximate search takes the rows that a graph of neighbours finds, and scores these exactly.
One query is multiplied by a kernel on all cores; of many at once the products are made by NumPy's matrix product.
"""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import AnyArray, Floats, Integers, sums_of_products
from germane.index.graphs import Graph, graph_of
from germane.index.vector_fields import LEVELS, STEP, VectorField, Vectors, field_named
from germane.index.vectors import VectorFile
from germane.lazy import LazyModule, is_few
from germane.lm.parameters import whole
from germane.rank.scoring.arguments import Mask
from germane.rank.scoring.hits import Hits
from germane.rank.scoring.searcher import Searcher

if TYPE_CHECKING:
    from germane.rank import vector_kernels
else:
    vector_kernels = LazyModule("germane.rank.vector_kernels")

MANY = 8
"""So many queries at once are answered by a matrix product."""
QUERIES = 256
"""Queries of one matrix product at most."""
ROWS = 1 << 13
"""Vectors of one matrix product."""
ROOM = 1 << 9
"""Rows that can be in the running before the table is cleared, k being small."""
NUMBERS_A_THREAD = 1 << 21
"""Stored numbers that are worth a thread of their own."""
ROUNDING, UNDERFLOW = 2.0**-24, 2.0**-126
MARGIN = 1.001
"""For the rounding of the bounds themselves, and of what is computed of whole numbers."""
LOOKED_AT, LEAST_LOOKED_AT = (8, 64), 512
"""How many candidates a graph gives for each result wanted, at first and if too many of them are not; and at least."""
_NOTHING: tuple[Floats, Integers] = np.empty(0), np.empty(0, np.int64)


class Bound(NamedTuple):
    """A score is within base + times_scale · s of its approximation, s being the factor of an int8 vector."""

    base: float
    times_scale: float = 0.0


class Running(NamedTuple):
    """What may be among the best of a file for one query: bounds of scores, and rows; one must reach `least`."""

    table: tuple[Floats, Floats, Integers]
    held: int
    least: float

    @classmethod
    def empty(cls, k: int) -> "Running":
        """Room for the best k, and some more."""
        room = max(ROOM, 4 * k)
        return cls((np.empty(room), np.empty(room), np.empty(room, np.int64)), 0, -math.inf)

    def doubled(self) -> "Running":
        """The same with more room."""
        lower, upper, rows = (np.concatenate([part, part]) for part in self.table)
        return self._replace(table=(lower, upper, rows))


def search_vectors(
    searcher: Searcher,
    name: str | None,
    queries: npt.ArrayLike,
    k: int,
    masks: Sequence[Mask] | None = None,
    *,
    threads: int = 1,
    approximate: bool = False,
) -> list[Hits]:
    """For each query (one a row) the best k documents that have a vector in the field, in the total order.

    `masks`: for each segment the documents that are wanted (`Searcher.mask`); without, all live ones. `approximate`:
    segments that have a graph (`index.graphs`) are searched by it, and may miss some of the best.
    """
    name, field = field_named(searcher.snapshot.manifest.vector_fields, name)
    whole("k", k, least=1)
    whole("threads", threads, least=1)
    one = np.shape(queries)[:1] == (1,)
    asked = field.checked(queries, name, lambda i: "the query" if one else f"query {i + 1}")
    results: list[list[tuple[Floats, Integers]]] = [[] for _ in range(len(asked))]
    for i, live in enumerate(searcher.snapshot.segments):
        file, mask = live.vectors.get(name), searcher.mask(i, ()) if masks is None else masks[i]
        graph = graph_of(file) if approximate and file is not None else None
        if file is None:
            found = [_NOTHING] * len(asked)
        elif graph is not None:
            found = [_near(file, graph, query, min(k, len(file)), mask, threads) for query in asked]
        else:
            found = _best_of(file, asked, min(k, len(file)), mask, threads)
        for own, more in zip(results, found, strict=True):
            own.append(more)
    return [searcher.joined(own, k) for own in results]


def inner_products(rows: Vectors, vector: Vectors, k: int) -> tuple[Floats, Integers]:
    """Return the exact inner products of a vector with rows of length 1 at most, and these rows: all that may be among
    the best k.

    A product in float32 says which; its error is at most (n + STEP) · (2^-24 · ‖q‖ + 2^-126), n numbers being added.
    """
    products = rows @ vector
    length = MARGIN * float(np.linalg.norm(vector.astype(np.float64)))
    error = (rows.shape[1] + STEP) * (ROUNDING * length + UNDERFLOW)
    chosen = np.flatnonzero(products > -error)
    if len(chosen) > k:
        least = np.partition(products, len(products) - k)[len(products) - k]
        chosen = np.flatnonzero(products >= max(least - 2 * error, -error))
    return sums_of_products(rows[chosen], vector), chosen


def exact_scores(file: VectorFile, rows: Integers, query: Vectors) -> Floats:
    """Σ_j q_j · x_j of some vectors, added one after the other."""
    stored = file.fetch(rows)
    sums = sums_of_products(file.field.numbers(stored), query)
    return sums * stored.scales if len(stored.scales) else sums


def _near(file: VectorFile, graph: Graph, query: Vectors, k: int, mask: Mask, threads: int) -> tuple[Floats, Integers]:
    """The exact scores and the documents that a graph finds; where too few of them are wanted, the exact search's."""
    for times in LOOKED_AT:
        rows = graph.nearest(query, min(max(times * k, LEAST_LOOKED_AT), len(file)))
        rows = rows[mask[file.docs[rows]] > 0] if len(mask) else rows
        if len(rows) >= k:
            return exact_scores(file, rows, query), file.docs[rows].astype(np.int64)
    return _best_of(file, query[None], k, mask, threads)[0]


def _best_of(file: VectorFile, asked: Vectors, k: int, mask: Mask, threads: int) -> list[tuple[Floats, Integers]]:
    """For each query the exact scores and the documents of a segment among which are its best k."""
    docs = file.docs
    if is_few(len(docs) * file.field.stride * len(asked)):
        rows = np.flatnonzero(mask[docs]) if len(mask) else np.arange(len(docs))
        return [(exact_scores(file, rows, query), docs[rows].astype(np.int64)) for query in asked]
    if k < 1:
        return [_NOTHING] * len(asked)
    running: list[Sequence[Running]]
    if len(asked) < MANY:
        running = [_scanned(file, query, k, mask, threads) for query in asked]
    else:
        parts = [asked[i : i + QUERIES] for i in range(0, len(asked), QUERIES)]
        running = [[own] for part in parts for own in _multiplied(file, part, k, mask)]
    found = []
    for query, tables in zip(asked, running, strict=True):
        rows = _in_the_running(tables, k)
        found.append((exact_scores(file, rows, query), docs[rows].astype(np.int64)))
    return found


def _in_the_running(parts: Sequence[Running], k: int) -> Integers:
    """The rows that may be among the best k, of a file that was looked at in parts."""
    lower, upper, rows = (np.concatenate([part.table[i][: part.held] for part in parts]) for i in range(3))
    if len(rows) > k:
        rows = rows[upper >= np.partition(lower, len(lower) - k)[len(lower) - k]]
    return np.sort(rows).astype(np.int64)


# -- one query ---------------------------------------------------------------------------------------------------------


def _rounded(field: VectorField, query: Vectors) -> tuple[npt.NDArray[np.int16], float]:
    """The query for int8 vectors: whole numbers, and the unit in which they are."""
    largest = min(2**15 - 1, (2**31 - 1) // (LEVELS * field.stride))
    unit = float(np.abs(query).max(initial=0.0)) / largest or 1.0
    return np.rint(query / np.float64(unit)).astype(np.int16), unit


def _bound(file: VectorFile, query: Vectors, unit: float = 0.0) -> Bound:
    """How far an approximate score may be off; with a `unit`, of a query that was rounded to it, and in it."""
    field, exact = file.field, query.astype(np.float64)
    length = float(np.linalg.norm(exact)) * file.longest
    floats = (field.stride + STEP) * (ROUNDING * length + UNDERFLOW)
    if field.dtype != "int8":
        return Bound(floats)
    rest = MARGIN * float(np.abs(exact).sum()) / 2
    if not unit:
        return Bound(floats, rest)
    rounded = MARGIN * math.sqrt(field.dimension) * file.longest / 2
    return Bound(rounded + 8 * ROUNDING * length / unit, rest / unit)


def _scanned(file: VectorFile, query: Vectors, k: int, mask: Mask, threads: int) -> list[Running]:
    """The rows in the running, in as many parts as threads looked."""
    field, bound = file.field, _bound(file, query)
    asked: AnyArray = query
    if field.dtype == "int8":
        asked, unit = _rounded(field, query)
        bound = _bound(file, query, unit)
    padded = np.zeros(field.stride, asked.dtype)
    padded[: field.dimension] = asked
    values = file.values.reshape(-1)
    values = values.view(np.uint16) if field.dtype == "float16" else values
    docs, scales, n = file.docs, file.scales, len(file)

    def part(first: int, last: int) -> Running:
        found = Running.empty(k)
        while first < last:
            held, least, first = vector_kernels.scan(
                values, scales, padded, docs, mask, first, last, k, tuple(bound), *found
            )
            found = found._replace(held=held, least=least)
            if first < last:
                found = found.doubled()
        return found

    workers = max(min(threads, n * field.stride // NUMBERS_A_THREAD), 1)
    if workers == 1:
        return [part(0, n)]
    bounds = np.linspace(0, n, workers + 1).astype(int).tolist()
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(part, bounds[:-1], bounds[1:]))


# -- many queries ------------------------------------------------------------------------------------------------------


def _multiplied(file: VectorFile, queries: Vectors, k: int, mask: Mask) -> list[Running]:
    """For each query the rows in the running."""
    field, n = file.field, len(file)
    padded = np.zeros((len(queries), field.stride), np.float32)
    padded[:, : field.dimension] = queries
    bounds = [_bound(file, query) for query in queries]
    running = [Running.empty(k) for _ in queries]
    for first in range(0, n, ROWS):
        last = min(first + ROWS, n)
        products = padded @ file.values[first:last].astype(np.float32, copy=False).T
        for i, bound in enumerate(bounds):
            running[i] = _kept(products[i], file, mask, first, last, k, bound, running[i])
    return running


def _kept(
    products: Vectors, file: VectorFile, mask: Mask, begin: int, last: int, k: int, bound: Bound, found: Running
) -> Running:
    """The rows in the running after those from `begin` to `last`."""
    first = begin
    while first < last:
        held, least, first = vector_kernels.keep(
            products, file.scales, file.docs, mask, begin, first, last, k, tuple(bound), *found
        )
        found = found._replace(held=held, least=least)
        if first < last:
            found = found.doubled()
    return found
