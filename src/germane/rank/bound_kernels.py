"""Bounds of scores: of blocks of postings, of terms in windows of documents, of windows.

A bound of a posting holds its impact and its share of the background: the shares of all terms make one, and a document
that lacks some of them is only bounded more loosely. So a bound knows that a long document has less background.
"""

import numpy as np

from germane.index.blocks import NO_LENGTH, TF_CAP
from germane.jit import inner, kernel
from germane.rank.impact_kernels import begin, impact
from germane.rank.kinds import LOG_SIZE_RATIO, SATURATION
from germane.rank.records import HISTOGRAM, Asked, Documents, Postings, Work

FINE_BITS = 11
"""Maxima of documents' values are kept in windows of 2^11 documents, the smallest that are used."""
ENDLESS = 4294967295.0
"""Stands for a count that the block table does not tell."""


@inner
def bound_block(block, t, m, bound):
    """bound[0], [1], [2]: what a posting with 1, with 2 or 3, with more occurrences adds at most; [3]: the largest."""
    most = np.int64(block.max_tf)
    sized = m.kind == SATURATION or m.kind == LOG_SIZE_RATIO
    if not sized:
        while t.filled < most:
            t.filled += 1
            t.table[t.filled - 1] = impact(t, m, np.float64(t.filled), 1.0)
    bound[3] = 0.0
    for group in range(3):
        code, count = np.int64(block.length_4), most
        if group == 0:
            code, count = np.int64(block.length_1), 1
        elif group == 1:
            code, count = np.int64(block.length_2), min(3, most)
        bound[group] = 0.0
        if code != NO_LENGTH:
            if sized or count == TF_CAP:
                value = impact(t, m, np.float64(count) if count < TF_CAP else ENDLESS, m.by_of[code])
            else:
                value = t.table[count - 1]
            bound[group] = value + t.share * m.background_of[code]
            bound[3] = max(bound[3], bound[group])


@inner
def bound_terms(postings, work):
    """Bounds of blocks and of terms in windows, and where each window's postings begin."""
    m, cells, bounds, row = work.model[0], work.cells, work.bounds, 0
    for i in range(m.n_terms):
        t = work.terms[i]
        t.bounds = row - t.first
        t.tabled = m.kind != SATURATION and m.kind != LOG_SIZE_RATIO
        begin, window = np.int64(0), np.int64(-1)
        for b in range(t.first, t.end):
            block = postings.table[b]
            bound_block(block, t, m, bounds[row])
            value = bounds[row, 3]
            row += 1
            t.tabled &= block.max_tf < TF_CAP
            last = np.int64(block.last)
            for w in range(begin >> m.bits, (last >> m.bits) + 1):
                cell = cells[w * m.n_terms + i]
                if w > window:
                    cell.block, cell.bound = b, value
                    window = w
                elif value > cell.bound:
                    cell.bound = value
            begin = last + 1
        for w in range(window + 1, m.n_windows):
            cell = cells[w * m.n_terms + i]
            cell.block, cell.bound = t.end, 0.0


@kernel
def prepare(asked, postings, docs, work):
    """Everything that is to be known before the windows are visited.

    Groups of arguments come as plain tuples: that costs half the time of named ones, and compiled code kept on disk
    must not speak of classes that a later version may not have.
    """
    asked, postings, docs, work = Asked(*asked), Postings(*postings), Documents(*docs), Work(*work)
    begin(asked, postings, docs, work)
    m, low, high = work.model[0], asked.settings[11], -np.inf
    for code in range(NO_LENGTH):
        m.by_of[code] = m.x0 + m.x1 * np.float64(docs.least_size[code])
        m.background_of[code] = 0.0
    m.top = 0.0
    if len(docs.background) > 0:
        m.top = docs.background_by_length[0]
        for code in range(NO_LENGTH):
            m.background_of[code] = m.mass * (docs.background_by_length[code] - m.top)
    m.n_windows = (m.n_docs + (1 << m.bits) - 1) >> m.bits
    bound_terms(postings, work)
    step = 1 << (m.bits - FINE_BITS)
    for w in range(m.n_windows):
        window, total, rest = work.windows[w], 0.0, m.constant + m.mass * m.top
        for i in range(m.n_terms):
            total += work.cells[w * m.n_terms + i].bound
        window.scaling = maximum(docs.norm_maxima, w * step, step) if len(docs.norm) > 0 else 1.0
        window.flat = rest + (maximum(docs.prior_maxima, w * step, step) if len(docs.prior) > 0 else 0.0)
        window.total = total * window.scaling + window.flat
        high = max(high, window.total)
    start_histogram(work, max(low, m.threshold), high)
    m.slack = 1e-12 * (1.0 + m.n_terms / 1000.0) * (1.0 + abs(high) + abs(m.low))


@inner
def start_histogram(work, low, high):
    """Classes of scores between `low` and `high`, all empty."""
    m = work.model[0]
    m.low, m.edge, m.above = low, 0, 0
    m.per_class = HISTOGRAM / (high - low) if high > low else 0.0
    for place in range(len(work.histogram)):
        work.histogram[place] = 0


@inner
def maximum(values, begin, n):
    """values[begin : begin + n].max()"""
    highest = -np.inf
    for i in range(begin, min(begin + n, len(values))):
        highest = max(highest, values[i])
    return highest
