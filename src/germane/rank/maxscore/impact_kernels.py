# mypy: ignore-errors
"""Impacts and scores in kernels; `rank.kinds` has the table of formulas."""

import math

import numpy as np

from germane.jit import inner
from germane.rank.kinds import LOG_COUNT, LOG_COUNT_RATIO, LOG_SIZE_RATIO, argument

argument = inner(argument)


@inner
def impact(t, m, count, by):
    """The impact of `count` occurrences; `by` = x0 + x1·size."""
    x = argument(m.kind, t.scale, m.delta, count, by)
    if m.kind == LOG_SIZE_RATIO or m.kind == LOG_COUNT_RATIO:
        return t.weight * math.log1p(x)
    if m.kind == LOG_COUNT:
        return t.weight * (1.0 + math.log(x))
    return t.weight * x


@inner
def set_impact(settings, m):
    """Fill in the numbers of the impact that belong to no term."""
    m.kind, m.delta, m.x0, m.x1 = np.int64(settings[0]), settings[1], settings[2], settings[3]


@inner
def score_of(docs, m, d, impacts):
    """norm_D · impacts + (constant + mass · background_D + prior_D)."""
    rest = m.constant
    if len(docs.background) > 0:
        rest += m.mass * docs.background[d]
    if len(docs.prior) > 0:
        rest += docs.prior[d]
    if len(docs.norm) > 0:
        impacts *= docs.norm[d]
    return impacts + rest
