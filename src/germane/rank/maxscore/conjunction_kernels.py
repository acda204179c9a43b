# mypy: ignore-errors
"""The best documents that hold all of some terms, over decoded lists.

As in `search_kernels`, a document's score is bounded by the units of its postings, and what may be among the best
is scored exactly at the end. The rarest list is gone through, each other one is asked for what is left.

Equivalent in NumPy: `functools.reduce(np.intersect1d, lists)`, then as in `rank.maxscore.search_kernels`.
"""

import numpy as np

from germane.jit import inner, kernel
from germane.rank.maxscore.accumulation_kernels import enter
from germane.rank.maxscore.quantised_bounds_kernels import start
from germane.rank.maxscore.records import CHUNK, CHUNK_BITS, Asked, Decoded, DocumentArrays, Sums
from germane.rank.maxscore.rescoring_kernels import SCANNING, finish, make_room
from germane.rank.maxscore.result_kernels import rise
from germane.rank.maxscore.search_kernels import admit, look_up, required_units


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
def keep_scanned(decoded, t, candidates, n, least, marks, hits):
    """What `look_up` does with a required term, where its list is not much longer than the candidates are many.

    All of it is read. A mark is the place of a candidate, plus 1.
    """
    found, kept = np.uint64(0), 0
    for c in range(n):
        marks[candidates[c].doc & (CHUNK - 1)] = np.uint16(c + 1)
    for p in range(np.uint64(t.begin), np.uint64(t.end)):
        hits[found] = p
        found += np.uint64(marks[np.uint64(decoded.docs[p])] > 0)
    for h in range(found):
        p = np.uint64(hits[h])
        hits[h] = np.int64(marks[np.uint64(decoded.docs[p])]) - 1
        candidates[hits[h]].sum += np.float64(t.units[np.uint64(decoded.codes[p])])
    for c in range(n):
        marks[candidates[c].doc & (CHUNK - 1)] = np.uint16(0)
    for h in range(found):
        candidates[kept].doc, candidates[kept].sum = candidates[hits[h]].doc, candidates[hits[h]].sum
        kept += candidates[kept].sum >= least
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
        if i >= n_required or t.frequent >= 0 or t.end - t.begin > SCANNING * n:
            n = look_up(decoded, t, candidates, n, least, i < n_required)
        else:
            n = keep_scanned(decoded, t, candidates, n, least, sums.acc, sums.hits)
    for c in range(n):
        admit(docs, m, sums, candidates[c].doc, candidates[c].sum, 0.0, 0)
    rise(m, sums.histogram)


@inner
def put_in_order(decoded, rows, numbers, required, order):
    """Fill `order` with the places of the query's terms, the required ones first, and of these the rarest.

    How many of these the query has.
    """
    n, others = 0, len(required)
    for i in range(len(order)):
        if numbers[i] in required:
            order[n] = i
            begins, rarest = decoded.begins[rows[i]], decoded.begins[rows[order[0]]]
            if begins[-1] - begins[0] < rarest[-1] - rarest[0]:
                order[0], order[n] = i, order[0]
            n += 1
        elif others < len(order):
            order[others] = i
            others += 1
    return n


@kernel
def top_k_with_all(asked, docs, extremes, decoded, rows, terms, model, sums, required, order):
    """What `search_kernels.top_k` gives, of documents that hold all required terms, told by their numbers.

    -1 if one of these is none of the query's. `order`: room for a place for each of the query's terms.
    """
    asked, docs, decoded, sums, m = Asked(*asked), DocumentArrays(*docs), Decoded(*decoded), Sums(*sums), model[0]
    order = order[: len(rows)]
    if put_in_order(decoded, rows, asked.numbers, required, order) < len(required):
        return -1
    start(asked, extremes, decoded, rows, terms, m, sums)
    for chunk in range(decoded.begins.shape[1] - 1):
        make_room(docs, decoded, terms, m, sums)
        visit_all(docs, decoded, terms, m, sums, order, len(required), chunk)
    return finish(docs, decoded, terms, m, sums)
