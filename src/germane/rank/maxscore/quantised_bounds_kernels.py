# mypy: ignore-errors
"""Upper bounds of impacts in whole units, for each term and each code of its postings.

A unit is such a part of the largest possible sum that any sum fits 16 bits. Units are rounded up: sums of them are
bounds, and `slack` says by how much a bound may be too large.
"""

import math

import numpy as np

from germane.jit import inner
from germane.rank.kinds import LOG_SIZE_RATIO, SATURATION
from germane.rank.maxscore.decoding_kernels import largest_ratio
from germane.rank.maxscore.impact_kernels import impact, set_impact
from germane.rank.maxscore.records import CODES, HISTOGRAM
from germane.rank.maxscore.result_kernels import classes_of

ROOM_IN_UNITS = 60000.0
"""What the largest sum of impacts is in units; the rest of 16 bits is for rounding up."""
ROUNDING = 1.01
"""Units by which one impact is rounded up, at most."""
LEAST_TOTAL = 1e-290
"""A unit must not vanish."""


@inner
def start(query, decoded, rows, terms, m, work):
    """Prepare a search: the records, the highest possible score, an empty histogram of bounds."""
    settings = query.settings
    set_impact(settings, m)
    m.sized = m.kind == SATURATION or m.kind == LOG_SIZE_RATIO
    m.constant, m.mass, m.threshold, m.k = settings[4], settings[5], settings[6], np.int64(settings[7])
    background, prior, m.norm = settings[8], settings[9], settings[10]
    m.n_docs, m.n_terms, m.found = len(work.id_rank), len(rows), 0
    rough = bound_terms(query, decoded, rows, terms, m, settings[12], np.int64(settings[13]))
    total = m.norm * m.unit * ROOM_IN_UNITS
    m.flat = m.constant + m.mass * background + prior
    m.low, m.edge, m.above = max(settings[11], m.threshold), 0, 0
    m.per_class = classes_of(m.flat + total - m.low, HISTOGRAM)
    magnitude = 1.0 + abs(m.constant) + abs(m.mass * background) + total + abs(m.low)
    if prior > -np.inf:
        magnitude += abs(prior)
    rounding = 1e-12 * magnitude
    m.slack = m.norm * rough + rounding
    if m.threshold < np.inf:  # as it may be by a prior
        m.threshold -= rounding  # bounds are rounded too, by less
    for place in range(len(work.histogram)):
        work.histogram[place] = 0


@inner
def bound_terms(query, decoded, rows, terms, m, inflation, lowest):
    """Fill the records of the terms, with impacts and units by code; by how much a sum may be too large."""
    total, rough = 0.0, 0.0
    for i in range(m.n_terms):
        t, row = terms[i], rows[i]
        t.row, t.weight, t.scale = row, query.weight[i], query.scale[i]
        t.least, t.top = decoded.least[row], top_code(decoded, row)
        if m.kind == SATURATION:
            rough += t.weight * (inflation - 1.0 / inflation + inflation / CODES)
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
    return rough + ROUNDING * m.unit * m.n_terms


@inner
def top_code(decoded, row):
    """The largest code of a list."""
    top = np.int64(0)
    for chunk in range(decoded.tops.shape[1]):
        if decoded.tops[row, chunk] > top:
            top = np.int64(decoded.tops[row, chunk])
    return top


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
def value_counts(decoded, t, m):
    """Fill the impacts by count; the last code stands for any larger count too. By how much one may be too large."""
    for code in range(t.top + 1):
        t.value[code] = impact(t, m, np.float64(code) + 1.0, 1.0)
    return bound_hidden(t, m, np.int64(decoded.most[t.row]), 1.0)


@inner
def value_ratios(decoded, t, m, lowest):
    """Fill the largest impacts by class of ratios. By how much one may be too large."""
    rough = 0.0
    for code in range(t.least, t.top + 1):
        t.value[code] = t.weight * math.log1p(t.scale * largest_ratio(np.int64(code), lowest))
        if code > t.least:
            rough = max(rough, t.value[code] - t.value[code - 1])
        else:
            rough = t.value[code] if code == 0 else t.weight * math.log1p(1.0 / 16.0)
    return rough + bound_hidden(t, m, np.int64(decoded.most[t.row]), m.x0 + m.x1)


@inner
def bound_hidden(t, m, most, by):
    """Let the last code bound what it hides, `most` being the largest count of that. By how much it rose."""
    if most == 0:
        return 0.0
    before, t.value[t.top] = t.value[t.top], max(t.value[t.top], impact(t, m, np.float64(most), by))
    return t.value[t.top] - before
