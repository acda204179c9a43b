# mypy: ignore-errors
"""Bounds of impacts in whole units, before a search over decoded lists: for each term and each code of its postings.

A unit is such a part of the largest sum there can be that any sum fits 16 bits. Units are rounded up: what they add up
to is a bound, and by how much it may be too large is known (`slack`).
"""

import math

import numpy as np

from germane.jit import inner
from germane.rank.kinds import LOG_SIZE_RATIO, SATURATION
from germane.rank.maxscore.decoding_kernels import largest_ratio
from germane.rank.maxscore.impact_kernels import begin_model, impact
from germane.rank.maxscore.records import CLASSES, CODES, HISTOGRAM
from germane.rank.maxscore.result_kernels import classes_of

ROOM_IN_UNITS = 60000.0
"""What the largest sum of impacts is in units; the rest of 16 bits is for rounding up."""
ROUNDING = 1.01
"""Units by which one impact is rounded up, at most."""
LEAST_TOTAL = 1e-290
"""A unit must not vanish."""
BACKGROUNDS = 1 << 16
"""Above any rounded background; the units of one are found by whole numbers, in so many parts of a unit."""


@inner
def start(asked, extremes, decoded, rows, terms, m, sums):
    """Prepare a search: the records, the highest score there can be, an empty histogram of bounds."""
    prior = extremes[1]
    m.norm, m.step = extremes[0], asked.settings[5] * extremes[5]
    rough = begin(asked, decoded, rows, terms, m, extremes[2], np.int64(extremes[3]), len(sums.id_rank))
    m.rest, m.flat = m.constant + m.mass * extremes[4], m.constant + m.mass * m.top + prior
    m.base, m.factor = m.rest + prior, math.ceil(BACKGROUNDS * m.step / (m.norm * m.unit))
    m.capped, m.laid = m.n_terms, False
    total = m.norm * m.unit * ROOM_IN_UNITS
    m.low, m.edge, m.above, high = max(asked.settings[9], m.threshold), 0, 0, m.flat + total
    m.per_class = classes_of(high - m.low, HISTOGRAM)
    magnitude = 1.0 + abs(m.constant) + abs(m.mass * m.top) + total + abs(m.low)
    if prior > -np.inf:
        magnitude += abs(prior)
    m.rounding = 1e-12 * magnitude
    m.slack = m.norm * rough + 2.0 * m.step + m.rounding
    if m.threshold < np.inf:  # as it may be by a prior
        m.threshold -= m.rounding  # bounds are rounded too, by less
    for place in range(len(sums.histogram)):
        sums.histogram[place] = 0


@inner
def top_code(decoded, row):
    """The largest code of a list."""
    top = np.int64(0)
    for chunk in range(decoded.tops.shape[1]):
        if decoded.tops[row, chunk] > top:
            top = np.int64(decoded.tops[row, chunk])
    return top


@inner
def begin(asked, decoded, rows, terms, m, inflation, lowest, n_docs):
    """Fill the records of the model and of the terms, with impacts and units by code; by how much sums may be too
    large."""
    begin_model(asked.settings, len(rows), n_docs, m)
    total, rough = BACKGROUNDS * m.step / m.norm, 0.0
    for i in range(m.n_terms):
        t, row = terms[i], rows[i]
        t.row, t.weight, t.scale, t.number = row, asked.weight[i], asked.scale[i], asked.numbers[i]
        t.least, t.top, t.frequent = decoded.least[row], top_code(decoded, row), decoded.frequent[row]
        t.width = decoded.widths[t.frequent] if t.frequent >= 0 else 1
        if m.kind == SATURATION:
            rough += t.weight * (inflation - 1.0 / inflation + inflation * t.width / CODES)
            total += t.weight * min(inflation * (t.top + 1) / CODES, 1.0)
        else:
            rough += value_ratios(decoded, t, m, lowest) if m.kind == LOG_SIZE_RATIO else value_counts(decoded, t, m)
            total += t.value[t.top]
    m.unit = max(total, LEAST_TOTAL) / ROOM_IN_UNITS
    for i in range(m.n_terms):
        t = terms[i]
        if m.kind == SATURATION:
            spread_evenly(t, t.weight / m.unit, inflation / CODES)
        else:
            for code in range(t.least, t.top + 1):
                t.units[code] = np.uint16(max(np.int32(math.ceil(t.value[code] / m.unit)), 1))
        if t.frequent >= 0:
            by_class(decoded, t)
            rough += t.coarse * m.unit
    return rough + ROUNDING * m.unit * m.n_terms


@inner
def spread_evenly(t, most, share):
    """Fill the units of saturations by code: most·share·(code + 1), rounded up, or `most`; by additions alone.

    They are 1 at least, also where the weight is nothing beside others.
    """
    step, limit = np.uint64(max(math.ceil(most * share * (1 << 16)), 1)), np.uint64(max(math.ceil(most), 1))
    total = np.uint64((1 << 16) - 1)
    for code in range(t.top + 1):
        total += step
        t.units[code] = np.uint16(min(total >> np.uint64(16), limit))


@inner
def by_class(decoded, t):
    """Fill the units by class, those of its largest code up to the cut, as multiples of `coarse`: they have a byte."""
    cut = set_apart(decoded, t)
    t.coarse, t.bytes[0] = t.units[np.uint64(cut)] // (CODES - 1) + 1, 0
    for own in range(1, CLASSES):
        units = np.int64(t.units[np.uint64(min(t.least + own * t.width - 1, cut))])
        t.bytes[own] = np.uint8((units + t.coarse - 1) // t.coarse)


@inner
def set_apart(decoded, t):
    """Fill what the codes of peaks give above the largest other one, the cut, which is returned."""
    cut = min(np.int64(decoded.cuts[t.row]), t.top)
    for code in range(cut + 1, t.top + 1):
        t.excess[code] = t.units[code] - t.units[np.uint64(cut)]
    return cut


@inner
def cap(decoded, m, terms, most):
    """Let the last terms give no more than their caps, which are `most` units in all; what is above is in `excess`.

    A document that has it has a posting among the peaks. So fewer terms can lift a document over the threshold. Lists
    that are unpacked for one query have no peaks.
    """
    total, apart = 0.0, False
    for i in range(m.n_terms):
        apart |= np.int64(decoded.cuts[terms[i].row]) < terms[i].top
    if not apart:
        return
    for i in range(m.n_terms - 1, -1, -1):
        t = terms[i]
        cut = set_apart(decoded, t)
        total += np.float64(t.units[np.uint64(cut)])
        if total > most:
            break
        for code in range(cut + 1, t.top + 1):
            t.units[code] = t.units[np.uint64(cut)]
        m.capped = i


@inner
def value_counts(decoded, t, m):
    """Fill the impacts by count; the last code is of any larger count too. By how much an impact may be too large.

    Codes that have one class differ the most where counts are the least.
    """
    for code in range(t.top + 1):
        t.value[code] = impact(t, m, np.float64(code) + 1.0, 1.0)
    rough = t.value[min(t.width - 1, t.top)] - t.value[0]
    return rough + bound_hidden(t, m, np.int64(decoded.most[t.row]), 1.0)


@inner
def value_ratios(decoded, t, m, lowest):
    """Fill what impacts are at most by class of ratios. By how much one may be too large."""
    step, n, rough = t.weight * math.log1p(1.0 / 16.0), t.width, 0.0
    for code in range(t.least, t.top + 1):
        t.value[code] = t.weight * math.log1p(t.scale * largest_ratio(np.int64(code), lowest))
        below = t.value[code - n] if code - n >= t.least else t.value[t.least] - step if t.least > 0 else 0.0
        rough = max(rough, t.value[code] - below)
    return rough + bound_hidden(t, m, np.int64(decoded.most[t.row]), m.x0 + m.x1)


@inner
def bound_hidden(t, m, most, by):
    """Let the last code be a bound of what it hides, `most` being the largest count of that. By how much it is more."""
    if most == 0:
        return 0.0
    before, t.value[t.top] = t.value[t.top], max(t.value[t.top], impact(t, m, np.float64(most), by))
    return t.value[t.top] - before
