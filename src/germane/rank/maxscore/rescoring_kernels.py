# mypy: ignore-errors
"""Exact scores of the documents that a search has collected; impacts are added in the canonical order of terms."""

import numpy as np

from germane.jit import inner
from germane.rank.maxscore.impact_kernels import impact, score_of
from germane.rank.maxscore.lookup_kernels import enter, find
from germane.rank.maxscore.records import CHUNK, CHUNK_BITS, CODES
from germane.rank.maxscore.result_kernels import arrange, forget, rise, take

SCANNING = 32
"""A list of so many postings for each document that is looked for, or fewer, is read whole."""
SURELY = 0.99
"""Of what bounds may be too large by; the rest is for the rounding of sums."""


@inner
def exact(decoded, t, m, p, by):
    """The impact of the term's posting p, in a document of this x0 + x1·size."""
    count = np.int64(decoded.extras[p]) + 1
    if count < CODES and not m.sized:
        return t.value[count - 1]
    if count == CODES:
        at = 0
        for step in range(47, -1, -1):
            further = at + (1 << step)
            if further < len(decoded.large) and 0 < decoded.large[further, 0] <= p + 1:
                at = further
        count = decoded.large[at, 1]
    return impact(t, m, np.float64(count), by)


@inner
def score(docs, decoded, terms, m, work):
    """Put exact scores in the place of the results' bounds; the results' chunks ascend."""
    results, totals, marks, a = work.results, work.candidates, work.acc, 0
    while a < m.found:
        chunk, b = results[a].doc >> CHUNK_BITS, a
        while b < m.found and b - a < CHUNK - 1 and results[b].doc >> CHUNK_BITS == chunk:
            d = results[b].doc
            marks[d & (CHUNK - 1)] = np.uint16(b - a + 1)
            totals[b - a].sum = 0.0
            if m.sized:
                totals[b - a].by = m.x0 + m.x1 * np.float64(docs.size[d])
            b += 1
        for i in range(m.n_terms):
            if enter(decoded, terms[i], chunk) > SCANNING * (b - a):
                add_looked_up(decoded, terms[i], m, results, a, b, totals)
            else:
                add_scanned(decoded, terms[i], m, marks, work.hits, totals)
        for r in range(a, b):
            d = results[r].doc
            marks[d & (CHUNK - 1)] = np.uint16(0)
            own = score_of(docs, m, d, totals[r - a].sum)
            results[r].score = own if own == own else -np.inf  # infinite parts that have no sum
        a = b


@inner
def add_scanned(decoded, t, m, marks, hits, totals):
    """Add the term's impacts to the totals of the marked documents of the chunk: all postings are read.

    A mark is the place of a document's total, plus 1. The first loop does not branch.
    """
    n = np.uint64(0)
    for p in range(np.uint64(t.begin), np.uint64(t.end)):
        hits[n] = p
        n += np.uint64(marks[np.uint64(decoded.docs[p])] > 0)
    for h in range(n):
        p = hits[h]
        total = totals[np.int64(marks[np.uint64(decoded.docs[np.uint64(p)])]) - 1]
        total.sum += exact(decoded, t, m, p, total.by)


@inner(forceinline=True)  # a call would cost as much as some documents
def add_looked_up(decoded, t, m, results, a, b, totals):
    """Add the term's impacts to the totals of the results from a to b: each is looked up."""
    for r in range(a, b):
        p = find(decoded, t, results[r].doc)
        if p >= 0:
            totals[r - a].sum += exact(decoded, t, m, p, totals[r - a].by)


@inner
def make_room(docs, decoded, terms, m, work):
    """Let the results of one more chunk fit: forget those below the threshold and, if need be, all but the best k."""
    if m.found + CHUNK > len(work.results):
        forget(work.results, m)
    if m.found + CHUNK > len(work.results):
        keep_best(docs, decoded, terms, m, work)


@inner
def keep_best(docs, decoded, terms, m, work):
    """Keep the best k results alone, which are scored; they go on as bounds that are farthest from their scores."""
    score(docs, decoded, terms, m, work)
    results, rank, n = work.results, work.id_rank, m.found
    last = work.best[arrange(results, n, m.k, rank, work.histogram, work.best) - 1]
    for place in range(len(work.histogram)):
        work.histogram[place] = 0
    m.found, m.edge, m.above = 0, 0, 0
    for r in range(n):
        own, d = results[r].score, results[r].doc
        if own > last.score or (own == last.score and rank[d] <= rank[last.doc]):
            bound = own + SURELY * m.slack
            take(m, work, d, bound if bound == bound else own)  # of -inf, where the slack is infinite, no sum
    m.threshold = max(m.threshold, last.score - (1.0 - SURELY) * m.slack)
    rise(m, work.histogram)


@inner
def finish(docs, decoded, terms, m, work):
    """Score what was collected, and put the best k in the total order into `best`; how many."""
    forget(work.results, m)
    score(docs, decoded, terms, m, work)
    return arrange(work.results, m.found, m.k, work.id_rank, work.histogram, work.best)
