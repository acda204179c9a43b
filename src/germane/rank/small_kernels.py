"""A Numba kernel of small segments (`rank.small_segments`): all postings of a query's terms, in memory as chains."""

import numpy as np

from germane.jit import kernel
from germane.rank.document_kernels import set_impact
from germane.rank.impact_kernels import impact, score_of
from germane.rank.records import Asked, Documents


@kernel
def score_chains(asked, documents, postings, term, model, sums, found, scores):
    """The documents that hold a term, pass the mask and reach the threshold, in any order, and their scores; how many.

    `postings`: see `index.recent`; the numbers asked for are the newest posting of each term, or -1. `sums` is zero,
    and is so again.
    """
    asked, documents, t, m = Asked(*asked), Documents(*documents), term[0], model[0]
    set_impact(asked.settings, m)
    m.constant, m.mass, m.threshold = asked.settings[4], asked.settings[5], asked.settings[6]
    met = 0
    for i in range(len(asked.weight)):
        t.weight, t.scale, p = asked.weight[i], asked.scale[i], asked.numbers[i]
        while p >= 0:
            d = np.int64(postings[p, 0])
            if sums[d, 1] == 0.0:
                sums[d, 1] = 1.0
                found[met] = d
                met += 1
            sums[d, 0] += impact(t, m, np.float64(postings[p, 1]), m.x0 + m.x1 * np.float64(documents.size[d]))
            p = np.int64(postings[p, 2])
    n = 0
    for j in range(met):
        d = found[j]
        score = score_of(documents, m, d, sums[d, 0])
        sums[d, 0], sums[d, 1] = 0.0, 0.0
        if (len(documents.mask) == 0 or documents.mask[d]) and score >= m.threshold:
            found[n], scores[n] = d, score
            n += 1
    return n
