"""Scoring by NumPy alone: no kernel is compiled or loaded for it.

For small segments, and for the first search of a larger one: a process that asks once has its answer sooner. Where
kernels would have to be compiled first, for the first searches of a process, and for all as long as another process
compiles them: 2 ms in 2,600 abstracts, where compiling takes half a minute (`germane.lazy.search_is_early`). Every
document that holds a term is scored. The numbers are those of the kernels (`maxscore.impact_kernels`), bit for bit: the
same operations in the same order, logarithms by the C library.
"""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.index.segment import Segment
from germane.lazy import compiler_is_loaded, search_is_early
from germane.rank.kinds import LOG_COUNT, LOG_COUNT_RATIO, LOG_SIZE_RATIO, SATURATION
from germane.rank.plan import Plan
from germane.rank.scoring.arguments import DocumentValues, TermArrays

FEW_TERMS = 16
"""A query of so few terms is made here in a small segment: starting a kernel takes as long."""
MOST_POSTINGS = 1 << 21
"""The first search of a segment is made here, if it has no more; so is an early one."""
MOST_LOGARITHMS = 1 << 17
"""The same for impacts that take a logarithm of each posting."""


NONE_FOUND: tuple[Floats, Integers] = np.empty(0), np.empty(0, np.int64)


def suits(segment: Segment, terms: TermArrays) -> bool:
    """Whether this search is better made here than by kernels: the segment is small, or has not been searched yet."""
    if segment.is_small:
        return len(terms.numbers) <= FEW_TERMS or not compiler_is_loaded()
    if segment.was_searched and compiler_is_loaded():
        return False
    n_postings = int(segment.df[terms.numbers].sum())
    if segment.was_searched and not search_is_early(n_postings):
        return False
    segment.was_searched = True
    return n_postings <= (MOST_LOGARITHMS if terms.plan.kind == LOG_SIZE_RATIO else MOST_POSTINGS)


def top_k(
    segment: Segment,
    terms: TermArrays,
    values: DocumentValues,
    mask: npt.NDArray[np.uint8],
    k: int,
    threshold: float = -math.inf,
    required: Integers | None = None,
    *,
    wordless: bool = False,
) -> tuple[Floats, Integers]:
    """What `segment_search.top_k` gives and `segment_search.top_k_with_all`, whose `wordless` it is."""
    sums, held = np.zeros(segment.n_docs), np.zeros(segment.n_docs, np.bool_)
    for i, number in enumerate(terms.numbers.tolist()):
        docs, counts = segment.postings(number)
        size = (segment.n_unique if terms.plan.sized_by_unique else segment.doc_len)[docs]
        sums[docs] += impacts(terms.plan, float(terms.weight[i]), float(terms.scale[i]), counts, size)
        held[docs] = True
    if required is not None:
        with_all = np.ones(segment.n_docs, np.bool_)
        for number in required.tolist():
            own = np.zeros(segment.n_docs, np.bool_)
            own[segment.postings(number)[0]] = True
            with_all &= own
        held = with_all if wordless else with_all & held
    if len(mask):
        held &= mask.view(np.bool_)
    found = np.flatnonzero(held)
    scores = scores_of(terms.plan, values, found, sums[found])
    if threshold > -math.inf:
        found, scores = found[among := scores >= threshold], scores[among]
    return best_of(segment, scores, found, k)


def best_of(segment: Segment, scores: Floats, docs: Integers, k: int) -> tuple[Floats, Integers]:
    """The best k of a segment's documents in the total order."""
    if len(docs) > k:  # ties with the last one stay in
        docs, scores = docs[among := scores >= np.partition(scores, len(docs) - k)[len(docs) - k]], scores[among]
    order = np.lexsort((segment.id_rank[docs], -scores))[:k]
    return scores[order], docs[order]


def impacts(
    plan: Plan, weight: float, scale: float, counts: npt.NDArray[np.number], size: npt.NDArray[np.number]
) -> Floats:
    """The impact of each posting of a term, as in the table of `rank.maxscore.impact_kernels`."""
    if plan.kind == SATURATION:
        c = counts.astype(np.float64)
        return weight * (c / (c + (plan.x0 + plan.x1 * size.astype(np.float64))))
    if plan.kind == LOG_SIZE_RATIO:
        by = plan.x0 + plan.x1 * size.astype(np.float64)
        return weight * _each(math.log1p, scale * (counts.astype(np.float64) - plan.delta) / by)
    distinct, place = np.unique(counts, return_inverse=True)
    c = distinct.astype(np.float64)
    if plan.kind == LOG_COUNT_RATIO:
        own = weight * _each(math.log1p, scale * c)
    elif plan.kind == LOG_COUNT:
        own = weight * (1.0 + _each(math.log, c))
    else:
        own = weight * c
    found: Floats = own[place]
    return found


def impacts_of(plan: Plan, size: float, counts: Floats) -> Floats:
    """What `rank.scoring.segment_search.impacts_of` gives."""
    own, held = np.zeros(len(counts)), np.flatnonzero(counts)
    for i in held.tolist():
        own[i : i + 1] = impacts(plan, plan.weight[i], plan.scale[i], counts[i : i + 1], np.array([size]))
    return own


def _each(function: Callable[[float], float], values: Floats) -> Floats:
    """A function of the C library, which NumPy's own may differ from in the last bit."""
    return np.array([function(value) for value in values.tolist()])


def scores_of(plan: Plan, values: DocumentValues, docs: Integers, sums: Floats) -> Floats:
    """The scores of documents whose impacts add up to `sums`."""
    rest = np.full(len(docs), plan.constant)
    if len(values.background.values):
        rest += plan.mass * values.background.values[docs]
    if len(values.prior.values):
        rest += values.prior.values[docs]
    if len(values.norm.values):
        rest += sums * values.norm.values[docs]
        return rest
    rest += sums
    return rest
