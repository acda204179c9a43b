"""Bounds of scores: of blocks of postings, of terms in windows of documents, of windows.

A bound of a posting holds its impact and its share of the background: the shares of all terms make one, and a document
that lacks some of them is only bounded more loosely. So a bound knows that a long document has less background.
"""

import numpy as np

from germane.index.blocks import NO_LENGTH, TF_CAP
from germane.jit import inner, kernel
from germane.rank.impact_kernels import begin, impact
from germane.rank.kernels import classes_of
from germane.rank.kinds import LOG_SIZE_RATIO, SATURATION
from germane.rank.records import FINE_BITS, HISTOGRAM, Asked, Extremes, Lists, Query

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
def bound_terms(table, query, m):
    """Bounds of blocks and of terms in windows, and where each window's postings begin."""
    cells, bounds, row = query.cells, query.bounds, 0
    for i in range(m.n_terms):
        t = query.terms[i]
        t.bounds = row - t.first
        t.tabled = m.kind != SATURATION and m.kind != LOG_SIZE_RATIO
        begin, window = np.int64(0), np.int64(-1)
        for b in range(t.first, t.end):
            block = table[b]
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
def prepare(asked, lists, table, n_docs, extremes, query, histogram):
    """Everything that is to be known before the windows are visited.

    Groups of arguments come as plain tuples: that costs half the time of named ones, and compiled code kept on disk
    must not speak of classes that a later version may not have.
    """
    asked, lists, extremes, query = Asked(*asked), Lists(*lists), Extremes(*extremes), Query(*query)
    m, background, low, high = query.model[0], extremes.background_by_length, asked.settings[11], -np.inf
    magnitude = 1.0
    begin(asked, lists, query.terms, m, n_docs)
    m.top = background[0] if len(background) > 0 else 0.0
    for code in range(NO_LENGTH):
        m.by_of[code] = m.x0 + m.x1 * np.float64(extremes.least_size[code])
        m.background_of[code] = m.mass * (background[code] - m.top) if len(background) > 0 else 0.0
    m.n_windows = (n_docs + (1 << m.bits) - 1) >> m.bits
    bound_terms(table, query, m)
    step = 1 << (m.bits - FINE_BITS)
    for w in range(m.n_windows):
        window, total = query.windows[w], 0.0
        for i in range(m.n_terms):
            total += query.cells[w * m.n_terms + i].bound
        prior = maximum(extremes.prior_maxima, w * step, step, 0.0)
        window.flat = m.constant + m.mass * m.top + prior
        window.scaling = maximum(extremes.norm_maxima, w * step, step, 1.0)
        window.total = total * window.scaling + window.flat
        high = max(high, window.total)
        if prior > -np.inf:
            magnitude = max(magnitude, total * window.scaling + abs(prior))
    m.low, m.edge, m.above = max(low, m.threshold), 0, 0
    m.per_class = classes_of(high - m.low, HISTOGRAM)
    # The parts of a score may be far larger than itself: sums in another order differ by the rounding of the parts.
    magnitude += abs(m.constant) + abs(m.mass * m.top) + abs(high) + abs(m.low)
    if len(background) > 0:
        magnitude += abs(m.mass * (background[NO_LENGTH] - m.top))
    m.slack = 1e-12 * (1.0 + m.n_terms / 1000.0) * magnitude
    for place in range(len(histogram)):
        histogram[place] = 0


@inner
def maximum(values, begin, n, otherwise):
    """values[begin : begin + n].max(), or `otherwise` if there are no values at all."""
    if len(values) == 0:
        return otherwise
    highest = values[begin]
    for i in range(begin + 1, min(begin + n, len(values))):
        highest = max(highest, values[i])
    return highest
