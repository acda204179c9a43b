# mypy: ignore-errors
"""The results of a search so far: taken in, with a threshold that rises with them, and brought into the total order.

Every document whose score may reach the threshold is kept. The scores are counted in classes, from the lowest of
interest to the highest possible: the threshold is the beginning of the class above which there are k results.
"""

import numpy as np

from germane.jit import inner
from germane.rank.maxscore.records import HISTOGRAM

NARROW = 64
"""So many results that are out of order only among themselves are sorted by moving each past its neighbours."""
FEW_IN_A_CLASS = 4
"""Classes of scores for each result that is put into one."""


@inner
def forget(results, m):
    """Drop the results below the threshold."""
    kept = 0
    for i in range(m.found):
        if results[i].score >= m.threshold:
            results[kept].score, results[kept].doc = results[i].score, results[i].doc
            kept += 1
    m.found = kept


@inner
def classes_of(span, n):
    """Classes a unit of score, where n of them span so much; 0: all scores are of one, for their span has no end, is
    none, or is so small that the number would have no end."""
    per_class = n / span if span > 0.0 else 0.0
    return per_class if per_class < np.inf else 0.0


@inner
def take(m, work, d, score):
    """Take a document in whose score reaches the threshold."""
    work.results[m.found].score, work.results[m.found].doc = score, d
    m.found += 1
    place = 0
    if score > m.low and m.per_class > 0.0:  # a prior may be infinite, and then no class is finite
        place = np.int64(min(HISTOGRAM - 1.0, (score - m.low) * m.per_class))  # a forged segment's may be infinite
    work.histogram[place] += 1
    m.above += place > m.edge


@inner
def rise(m, histogram):
    """Let the threshold rise with the histogram of scores."""
    edge, above, k = np.uint64(m.edge), m.above, m.k
    while above - histogram[edge + np.uint64(1)] >= k:
        edge += np.uint64(1)
        above -= histogram[edge]
    m.edge, m.above = np.int64(edge), above
    if m.above >= m.k:
        m.threshold = max(m.threshold, m.low + (m.edge + 1) / m.per_class - m.slack)


@inner
def sort(results, n, id_rank, gap):
    """Bring n results into the total order, score descending, then id ascending: Shell's sort from a gap on."""
    while gap > 0:
        for i in range(gap, n):
            score, doc = results[i].score, results[i].doc
            j = i
            while j >= gap:
                before = results[j - gap]
                if before.score > score or (before.score == score and id_rank[before.doc] < id_rank[doc]):
                    break
                results[j].score, results[j].doc = before.score, before.doc
                j -= gap
            results[j].score, results[j].doc = score, doc
        gap = gap * 4 // 9 if gap > 2 else gap - 1


@inner
def arrange(results, n, k, id_rank, histogram, best):
    """The best k of n results, in the total order, into `best`, which has room for all. How many.

    They are first put into classes of scores, so that little is left to sort.
    """
    low, high = np.inf, -np.inf
    for i in range(n):
        low, high = min(low, results[i].score), max(high, results[i].score)
    above, edge, widest = 0, min(HISTOGRAM, FEW_IN_A_CLASS * n), np.int64(0)
    per_class = classes_of(high - low, edge - 1)
    if per_class == 0.0:
        for i in range(n):
            best[i].score, best[i].doc = results[i].score, results[i].doc
        sort(best, n, id_rank, n // 2)
        return min(n, k)
    for place in range(edge):
        histogram[place] = 0
    for i in range(n):
        histogram[np.int64((results[i].score - low) * per_class)] += 1
    while above < k and edge > 0:
        edge -= 1
        size = np.int64(histogram[edge])
        histogram[edge], widest = above, max(widest, size)
        above += size
    for i in range(n):
        place = np.int64((results[i].score - low) * per_class)
        if place >= edge:
            at = histogram[place]
            best[at].score, best[at].doc = results[i].score, results[i].doc
            histogram[place] += 1
    sort(best, above, id_rank, 1 if widest < NARROW else above // 2)
    return min(above, k)
