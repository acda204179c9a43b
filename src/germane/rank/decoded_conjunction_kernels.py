"""The best documents that hold all of some terms, over decoded lists.

As in `rank.decoded_kernels`, a document's score is bounded by the units of its postings, and what may be among the best
is scored exactly at the end. The rarest list is gone through, each other one is asked for what is left.

Equivalent in NumPy: `functools.reduce(np.intersect1d, lists)`, then as in `rank.kernels`.
"""

import numpy as np

from germane.jit import inner, kernel
from germane.rank.decoded_kernels import enter, find, finish, look_up, make_room, required_units, start
from germane.rank.impact_kernels import score_of
from germane.rank.kernels import rise, take
from germane.rank.records import CHUNK_BITS, Asked, Decoded, Documents, Sums


@inner
def bounds_from(decoded, terms, order, n_required, suffix, chunk):
    """Whether the chunk may hold a document of all required terms; fills `suffix`: the units that there can be from a
    term on, in this order.
    """
    suffix[len(order), 0] = 0.0
    for i in range(len(order) - 1, -1, -1):
        t = terms[order[i]]
        n = enter(decoded, t, chunk)
        if n == 0 and i < n_required:
            return False
        top = np.float64(t.units[np.uint64(decoded.tops[t.row, chunk])]) if n > 0 else 0.0
        suffix[i, 0] = suffix[i + 1, 0] + top
    return True


@inner
def begin_with(decoded, t, candidates, base, least):
    """The documents of the chunk that hold the term, and have at least so many units of it, as candidates. How many."""
    n = 0
    for p in range(np.uint64(t.begin), np.uint64(t.end)):
        units = np.float64(t.units[np.uint64(decoded.codes[p])])
        candidates[n].doc, candidates[n].sum = base + np.int64(decoded.docs[p]), units
        n += units >= least
    return n


@inner
def keep_found(decoded, t, candidates, n, least):
    """Those of n candidates that hold the term and have at least `least` units then."""
    kept = 0
    for c in range(n):
        d = candidates[c].doc
        p = find(decoded, t, d)
        if p >= 0:
            total = candidates[c].sum + np.float64(t.units[np.uint64(decoded.codes[np.uint64(p)])])
            candidates[kept].doc, candidates[kept].sum = d, total
            kept += total >= least
    return kept


@inner
def visit_all(docs, decoded, terms, m, sums, order, n_required, chunk):
    """Take the chunk's documents in that hold all required terms and whose bounds reach the threshold."""
    suffix, candidates, needed = sums.suffix, sums.candidates, required_units(m)
    if not bounds_from(decoded, terms, order, n_required, suffix, chunk) or suffix[0, 0] < needed:
        return
    n = begin_with(decoded, terms[order[0]], candidates, chunk << CHUNK_BITS, needed - suffix[1, 0])
    for i in range(1, len(order)):
        t, least = terms[order[i]], needed - suffix[i + 1, 0]
        if i >= n_required:
            n = look_up(decoded, t, candidates, n, least)
        else:
            n = keep_found(decoded, t, candidates, n, least)
    for c in range(n):
        d = candidates[c].doc
        if len(docs.mask) > 0 and docs.mask[d] == 0:
            continue
        score = score_of(docs, m, d, candidates[c].sum * m.unit)
        if score >= m.threshold:
            take(m, sums, d, score)
    rise(m, sums.histogram)


@kernel
def top_k_with_all(asked, docs, extremes, decoded, rows, terms, model, sums, order, n_required):
    """What `decoded_kernels.top_k` gives, of documents that hold all of the first `n_required` terms of `order`.

    `order`: places of all terms in the query, the required ones first and the rarest before the others.
    """
    asked, docs, decoded, sums, m = Asked(*asked), Documents(*docs), Decoded(*decoded), Sums(*sums), model[0]
    start(asked, extremes, decoded, rows, terms, m, sums)
    for chunk in range(decoded.begins.shape[1] - 1):
        if not make_room(m, sums):
            return -1
        visit_all(docs, decoded, terms, m, sums, order, n_required, chunk)
    return finish(docs, decoded, terms, m, sums)
