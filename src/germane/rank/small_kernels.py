"""A Numba kernel of small segments (`rank.small_segments`): all postings of a query's terms, in memory as chains."""

from typing import NamedTuple

import numpy as np

from germane.jit import kernel
from germane.rank.impact_kernels import impact, score_of
from germane.rank.records import Documents


class Term(NamedTuple):
    """What `rank.impact_kernels` asks of a term."""

    weight: float
    scale: float


class Model(NamedTuple):
    """What it asks of a model."""

    kind: int
    delta: float
    constant: float
    mass: float


@kernel
def score_chains(newest, weight, scale, settings, size, norm, background, prior, mask, postings, found, work):
    """The documents that hold a term, pass the mask and reach the threshold, in any order; how many.

    `newest`: the newest posting of each term, or -1; `postings`: see `index.recent`; `settings`: those of
    `rank.records`. Of `work` the first two columns are zero, and are so again; the third gets the scores of those
    found, one after the other. Each array is an argument of its own: telling the types of groups takes Numba longer
    than all the rest.
    """
    m, x0, x1, threshold = Model(np.int64(settings[0]), settings[1], settings[4], settings[5]), settings[2], settings[3], settings[6]
    documents, met = Documents(size, norm, background, prior, mask), 0
    for i in range(len(newest)):
        t, p = Term(weight[i], scale[i]), newest[i]
        while p >= 0:
            d = np.int64(postings[p, 0])
            if work[d, 1] == 0.0:
                work[d, 1] = 1.0
                found[met] = d
                met += 1
            work[d, 0] += impact(t, m, np.float64(postings[p, 1]), x0 + x1 * np.float64(size[d]))
            p = np.int64(postings[p, 2])
    n = 0
    for j in range(met):
        d = found[j]
        score = score_of(documents, m, d, work[d, 0])
        work[d, 0], work[d, 1] = 0.0, 0.0
        if (len(mask) == 0 or mask[d]) and score >= threshold:
            found[n], work[n, 2] = d, score
            n += 1
    return n
