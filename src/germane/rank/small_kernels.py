"""A Numba kernel of small segments (`rank.small_segments`): all postings of a query's terms, already unpacked."""

import numpy as np

from germane.jit import kernel
from germane.rank.document_kernels import set_impact
from germane.rank.impact_kernels import impact, score_of
from germane.rank.records import Asked, Documents


@kernel
def score_lists(asked, documents, pieces, docs, counts, term, model, sums, held, found, scores):
    """The documents that hold a term, pass the mask and reach the threshold, ascending, and their scores; how many.

    `pieces[i]` says whose postings come next and where they end; the terms ascend. `sums` and `held` are zero.
    """
    asked, documents, t, m = Asked(*asked), Documents(*documents), term[0], model[0]
    set_impact(asked.settings, m)
    m.constant, m.mass, m.threshold = asked.settings[4], asked.settings[5], asked.settings[6]
    j = 0
    for i in range(len(pieces)):
        t.weight, t.scale = asked.weight[pieces[i, 0]], asked.scale[pieces[i, 0]]
        while j < pieces[i, 1]:
            d = docs[j]
            sums[d] += impact(t, m, np.float64(counts[j]), m.x0 + m.x1 * np.float64(documents.size[d]))
            held[d] = 1
            j += 1
    n = 0
    for d in range(len(held)):
        if held[d] and (len(documents.mask) == 0 or documents.mask[d]):
            score = score_of(documents, m, d, sums[d])
            if score >= m.threshold:
                found[n], scores[n] = d, score
                n += 1
    return n
