"""A Numba kernel of small segments (`rank.small_segments`): all postings of a query's terms, already unpacked."""

import numpy as np

from germane.jit import inner, kernel
from germane.rank.document_kernels import set_impact
from germane.rank.impact_kernels import impact, score_of
from germane.rank.records import Asked, Documents


@inner
def add_list(lists, at, first, t, m, size, sums, held, found, n):
    """Add the impacts of a list to the sums of its documents, which are numbered from `first` on.

    Those that are met for the first time are noted from `found[n]` on; how many are noted then.
    """
    docs, counts, starts = lists
    for j in range(starts[at], starts[at + 1]):
        d = first + np.int64(docs[j])
        sums[d] += impact(t, m, np.float64(counts[j]), m.x0 + m.x1 * np.float64(size[d]))
        if not held[d]:
            held[d] = 1
            found[n] = d
            n += 1
    return n


@kernel
def score_lists(asked, documents, older, newest, places, numbers, term, model, sums, held, found, scores):
    """The documents that hold a term, pass the mask and reach the threshold, in any order, and their scores; how many.

    `older`, `newest`: documents, counts, and where each list begins. `places`: for each small segment its place among
    all, and which list of the older ones is its first, or for the newest, which document. `numbers`: by segment
    and term. `sums` and `held` are zero.
    """
    asked, documents, t, m = Asked(*asked), Documents(*documents), term[0], model[0]
    set_impact(asked.settings, m)
    m.constant, m.mass, m.threshold = asked.settings[4], asked.settings[5], asked.settings[6]
    met, last = 0, len(places) - 1
    for i in range(len(asked.weight)):
        t.weight, t.scale = asked.weight[i], asked.scale[i]
        for s in range(last + 1):
            number = numbers[places[s, 0], i]
            if number >= 0 and s < last:
                met = add_list(older, places[s, 1] + number, 0, t, m, documents.size, sums, held, found, met)
            elif number >= 0:
                met = add_list(newest, number, places[s, 1], t, m, documents.size, sums, held, found, met)
    n = 0
    for j in range(met):
        d = found[j]
        if len(documents.mask) == 0 or documents.mask[d]:
            score = score_of(documents, m, d, sums[d])
            if score >= m.threshold:
                found[n], scores[n] = d, score
                n += 1
    return n
