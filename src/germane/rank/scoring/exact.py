"""The exact scorer: NumPy alone, every matching document, nothing skipped.

For small segments; for wordless documents, required words that the query does not weigh, and models that make their own
counts; and where no compiler is loaded (`rank.scoring.scorers` chooses). It costs some 20 ns a posting, and 80 where
impacts are logarithms. It is the oracle of the pruned scorer: the same operations in the same order, to the last bit.
"""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.index.segment import Segment
from germane.rank.kinds import LOG_COUNT, LOG_COUNT_RATIO, LOG_SIZE_RATIO, argument
from germane.rank.plan import Plan
from germane.rank.scoring.arguments import DocumentValues, Mask, ScoredDocs, TermArrays

Numbers = npt.NDArray[np.number]


def top_k(
    segment: Segment,
    terms: TermArrays,
    values: DocumentValues,
    mask: Mask,
    k: int,
    threshold: float = -math.inf,
    required: Integers | None = None,
    *,
    wordless: bool = False,
) -> ScoredDocs:
    """What `rank.maxscore.search.top_k` returns; required terms need not be the query's, and with `wordless` documents
    need not hold one of the query's terms."""
    sums, matching = accumulate(segment, terms)
    if wordless:
        matching[:] = True
    for number in () if required is None else required.tolist():
        holds = np.zeros(segment.n_docs, np.bool_)
        holds[segment.postings(number)[0]] = True
        matching &= holds
    if len(mask):
        matching &= mask.view(np.bool_)
    candidates = np.flatnonzero(matching)
    scores = scores_of(terms.plan, values, candidates, sums[candidates])
    if threshold > -math.inf:
        candidates, scores = candidates[among := scores >= threshold], scores[among]
    return best_of(segment, scores, candidates, k)


def accumulate(segment: Segment, terms: TermArrays) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """The sum of impacts of every document, and whether it holds one of the terms."""
    sums, matching = np.zeros(segment.n_docs), np.zeros(segment.n_docs, np.bool_)
    size = size_of(segment, terms.plan)
    for number, weight, scale in zip(*(part.tolist() for part in terms[:3]), strict=True):
        docs, counts = segment.postings(number)
        sums[docs] += impacts(terms.plan, weight, scale, counts, size[docs])
        matching[docs] = True
    return sums, matching


def word_sums(segment: Segment, weight: Floats, *, squared_log: bool) -> Floats:
    """Σ_w f(c_wd) · weight(w) over all words of each document, f(c) = (1 + log c)² or c."""
    starts, words, counts = segment.forward_of(slice(None))
    values = counts.astype(np.float64)
    if squared_log:
        values = (1.0 + _each(math.log, values)) ** 2
    docs = np.repeat(np.arange(segment.n_docs), np.diff(starts))
    return np.bincount(docs, values * weight[words], segment.n_docs).astype(np.float64)


def best_of(segment: Segment, scores: Floats, docs: Integers, k: int) -> ScoredDocs:
    """The best k of a segment's documents in the total order."""
    if len(docs) > k:  # ties with the last one stay in
        docs, scores = docs[among := scores >= np.partition(scores, len(docs) - k)[len(docs) - k]], scores[among]
    order = np.lexsort((segment.id_rank[docs], -scores))[:k]
    return scores[order], docs[order]


def score_documents(segment: Segment, terms: TermArrays, values: DocumentValues, docs: Integers) -> Floats:
    """The scores of given documents; -inf for one without any of the terms, which a search would not find."""
    if not len(terms.numbers):
        return np.full(len(docs), -np.inf)
    starts, numbers, counts = segment.forward_of(docs)
    by_number = np.argsort(terms.numbers)
    ascending = terms.numbers[by_number]
    place = np.minimum(np.searchsorted(ascending, numbers), len(ascending) - 1)
    matching = np.flatnonzero(ascending[place] == numbers)
    rows, which = np.repeat(np.arange(len(docs)), np.diff(starts))[matching], by_number[place[matching]]
    in_turn = np.lexsort((which, rows))  # bincount adds one after the other: in the canonical order of terms
    rows, which, counts = rows[in_turn], which[in_turn], counts[matching][in_turn]
    size = size_of(segment, terms.plan)[docs[rows]]
    own = impacts(terms.plan, terms.weight[which], terms.scale[which], counts, size)
    sums = np.bincount(rows, own, len(docs)).astype(np.float64)
    scores = scores_of(terms.plan, values, docs, sums)
    scores[np.bincount(rows, minlength=len(docs)) == 0] = -np.inf
    return scores


def size_of(segment: Segment, plan: Plan) -> npt.NDArray[np.uint32]:
    """The size of each document that impacts depend on: its tokens, or its distinct terms."""
    return segment.n_unique if plan.sized_by_unique else segment.doc_len


def impacts(plan: Plan, weight: float | Floats, scale: float | Floats, counts: Numbers, size: Numbers) -> Floats:
    """The impacts of postings, as the table of `rank.kinds` has them."""
    by = plan.x0 + plan.x1 * size.astype(np.float64)
    x = argument(plan.kind, scale, plan.delta, counts.astype(np.float64), by)
    if plan.kind in (LOG_COUNT_RATIO, LOG_SIZE_RATIO):
        x = _each(math.log1p, x)
    elif plan.kind == LOG_COUNT:
        x = 1.0 + _each(math.log, x)
    found: Floats = weight * x
    return found


def impacts_in(plan: Plan, size: float, counts: Floats) -> Floats:
    """The impacts of the plan's terms in one document of this size that holds each so often, 0 for none."""
    own, present = np.zeros(len(counts)), np.flatnonzero(counts)
    sizes = np.full(len(present), size)
    own[present] = impacts(plan, plan.weight[present], plan.scale[present], counts[present], sizes)
    return own


def _each(function: Callable[[float], float], values: Floats) -> Floats:
    """A function of the C library, which NumPy's own may differ from in the last bit."""
    distinct, place = np.unique(values, return_inverse=True)
    return np.array([function(value) for value in distinct.tolist()])[place]


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
