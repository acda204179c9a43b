"""A Numba kernel of small segments (`rank.small_segments`): all postings of a query's terms, which lie in memory."""

from typing import NamedTuple

import numpy as np

from germane.jit import kernel
from germane.rank.impact_kernels import impact

SETTINGS = 7


class Term(NamedTuple):
    """What `rank.impact_kernels` asks of a term."""

    weight: float
    scale: float


class Model(NamedTuple):
    """What it asks of a model."""

    kind: int
    delta: float


@kernel
def score_lists(asked, weight, scale, size, values, mask, lists, postings, found, work):
    """The documents that hold a term, pass the mask and reach the threshold, in any order; how many.

    `asked`: the first settings of `rank.records`, and the number of each term; `lists`, `postings`: see `index.recent`;
    `values`: norm, background and prior of each document, or none. Of `work` the first two columns are zero, and are so
    again; the third gets the scores of those found. Each array is an argument of its own, and they are few: making one
    more, or telling the types of a group, takes as long as the scores.
    """
    m, x0, x1 = Model(np.int64(asked[0]), asked[1]), asked[2], asked[3]
    constant, mass, threshold = asked[4], asked[5], asked[6]
    met = 0
    for i in range(len(weight)):
        number = np.int64(asked[SETTINGS + i])
        if number >= len(lists):
            continue
        t, begin = Term(weight[i], scale[i]), lists[number, 0]
        for p in range(begin, begin + lists[number, 1]):
            d = postings[p, 0]
            if work[d, 1] == 0.0:
                work[d, 1] = 1.0
                found[met] = d
                met += 1
            work[d, 0] += impact(t, m, np.float64(postings[p, 1]), x0 + x1 * np.float64(size[d]))
    n = 0
    for j in range(met):
        d = found[j]
        score, rest = work[d, 0], constant
        work[d, 0], work[d, 1] = 0.0, 0.0
        if len(values) > 0:
            score *= values[d, 0]
            rest += mass * values[d, 1]
            rest += values[d, 2]
        score += rest
        if (len(mask) == 0 or mask[d]) and score >= threshold:
            found[n], work[n, 2] = d, score
            n += 1
    return n
