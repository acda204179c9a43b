"""Scoring over packed lists: exact top k of a weighted query over one segment.

`rank.impact_kernels` tells the shape of a score. Terms come in one canonical order, those that say most for each of
their postings first, and every document's impacts are added in that order, whatever is skipped: the score is the same
floating-point number on every road.

The road (block-max MaxScore over windows of documents): a window whose bound lies below the threshold is skipped. In a
window the last terms, whose bounds together cannot reach the threshold, are not essential. The others are added up,
term by term, into an accumulator that fits the cache, but for blocks and counts that could not lift a document over the
threshold. Then only documents that can still enter the top k are looked up in the lists of the rest. When that would be
too many, more terms are added up first.

The threshold rises with a histogram of the scores found; `rank.scoring` selects and sorts the results.

Equivalent in NumPy: score every document, `np.lexsort((id_rank, -score))[:k]`.
"""

import numpy as np

from germane.index.block_kernels import decode_block
from germane.index.blocks import BLOCK
from germane.index.simd import prefetch
from germane.jit import inner, kernel
from germane.rank.impact_kernels import block_size, decoded_impact, score_of
from germane.rank.kinds import SATURATION
from germane.rank.records import HISTOGRAM, LANES, Documents, Query, Work
from germane.rank.simd import add_table, count_bits, lowest_bit, reach_mask

ASKING = 40
"""Looking a document up in a list costs as much as adding so many postings."""
NARROW = 64
"""So many results that are out of order only among themselves are sorted by moving each past its neighbours."""
FEW_IN_A_CLASS = 4
"""Classes of scores for each result that is put into one."""
LEAST = 5e-324
"""The smallest number above 0: a document that holds a term has at least this."""


@inner
def decode(words, table, t, b):
    """Bring block b of the term into its buffers."""
    if t.cached != b:
        t.cached = b
        previous = np.int64(table[b - 1].last) if b > t.first else np.int64(-1)
        decode_block(words, table, b, block_size(t, b), previous, t.docs, t.extras, 0)


@inner
def first_at_least(docs, value):
    """Where a block's documents reach `value`: `np.searchsorted(docs, value)`, without a branch."""
    at, step, limit = np.uint64(0), np.uint64(BLOCK // 2), np.uint32(value)
    while step > 0:
        at += step * np.uint64(docs[at + step - np.uint64(1)] < limit)
        step >>= np.uint64(1)
    return np.int64(at + np.uint64(docs[at] < limit))


@inner
def add_densely(t, m, size, begin, end, base, acc):
    """Add the postings begin <= i < end of the term's buffers."""
    docs, extras, table, offset = t.docs, t.extras, t.table, np.uint32(base)
    weight, x0, x1 = t.weight, m.x0, m.x1
    if t.tabled:
        add_table(acc, np.int64(base), docs, extras, np.int64(begin), np.int64(end), table)
    elif m.kind == SATURATION:
        for i in range(np.uint64(begin), np.uint64(end)):
            count = np.float64(extras[i]) + 1.0
            by = x0 + x1 * np.float64(size[np.uint64(docs[i])])
            acc[np.uint64(docs[i] - offset)] += weight * (count / (count + by))
    else:
        for i in range(np.uint64(begin), np.uint64(end)):
            acc[np.uint64(docs[i] - offset)] += decoded_impact(t, m, extras[i], size[np.uint64(docs[i])])


@inner
def add_sparsely(t, m, size, begin, end, least, base, acc, touched, n):
    """Add those with `least` occurrences beyond the first, or more; notes where, from touched[n] on, around its end."""
    docs, extras, table, offset = t.docs, t.extras, t.table, np.uint32(base)
    weight, x0, x1, last = t.weight, m.x0, m.x1, np.uint64((1 << m.bits) - 1)
    tabled, saturating = t.tabled > 0, m.kind == SATURATION
    for i in range(np.uint64(begin), np.uint64(end)):
        if extras[i] >= least:
            d = np.uint64(docs[i])
            if tabled:
                value = table[np.uint64(extras[i])]
            elif saturating:
                count = np.float64(extras[i]) + 1.0
                value = weight * (count / (count + (x0 + x1 * np.float64(size[d]))))
            else:
                value = decoded_impact(t, m, extras[i], size[d])
            place = np.uint64(docs[i] - offset)
            acc[place] += value
            touched[np.uint64(n) & last] = np.uint32(place)
            n += 1
    return n


@inner
def add_term(words, table, bounds, t, m, size, b, base, least, acc, touched, n):
    """Add the term's postings in the window from `base` on, from block b on, but for those bounded below `least`."""
    stop = base + (1 << m.bits)
    begin = np.int64(table[b - 1].last) + 1 if b > t.first else np.int64(0)
    while b < t.end and begin < stop:
        bound, last = bounds[t.bounds + b], np.int64(table[b].last)
        if bound[3] >= least:
            decode(words, table, t, b)
            lo = first_at_least(t.docs, base) if begin < base else 0
            hi = first_at_least(t.docs, stop) if last >= stop else block_size(t, b)
            extra = np.uint32(0) if bound[0] >= least else np.uint32(1) if bound[1] >= least else np.uint32(3)
            if m.dense:
                add_densely(t, m, size, lo, hi, base, acc)
            else:
                n = add_sparsely(t, m, size, lo, hi, extra, base, acc, touched, n)
        begin = last + 1
        b += 1
    return n


@inner
def count_reaching(acc, touched, n, window, need, most):
    """How many places reach `need`, a touched one as often as it was; stops counting above `most`."""
    reaching = 0
    if n >= window:
        for group in range(0, window, LANES):
            reaching += count_bits(reach_mask(acc, group, need))
            if reaching > most:
                break
    else:
        for i in range(np.uint64(n)):
            reaching += acc[np.uint64(touched[i])] >= need
    return reaching


@inner
def collect(acc, touched, candidates, n, window, base, need):
    """The documents whose sums reach `need`; all sums are cleared. n >= the window: any place may be touched."""
    found = 0
    if n >= window:
        for group in range(0, window, LANES):
            reaching = reach_mask(acc, group, need)
            while reaching != 0:
                place = group + lowest_bit(reaching)
                reaching &= reaching - np.uint64(1)
                candidates[found].doc, candidates[found].sum = place + base, acc[place]
                found += 1
        for place in range(np.uint64(window)):
            acc[place] = 0.0
    else:
        for i in range(np.uint64(n)):
            place = np.uint64(touched[i])
            total = acc[place]
            acc[place] = 0.0
            if total >= need:
                candidates[found].doc, candidates[found].sum = np.int64(place) + base, total
                found += 1
    return found


@inner
def qualify(docs, m, candidates, n, reserve, missing, limit):
    """Keep the candidates that are wanted and can reach the limit, and say what each must reach.

    `reserve`: the bounds of what is still to be added, which holds `missing` of the background.
    """
    kept = 0
    for c in range(n):
        if c + 8 < n:
            prefetch(docs.background, candidates[c + 8].doc)
        d = candidates[c].doc
        if len(docs.mask) > 0 and docs.mask[d] == 0:
            continue
        need = limit - score_of(docs, m, d, 0.0)
        if len(docs.norm) > 0:
            need /= docs.norm[d]
        lack = m.mass * (docs.background[d] - m.top) if len(docs.background) > 0 else 0.0
        if candidates[c].sum + reserve >= need + missing * lack:
            kept_one = candidates[kept]
            kept_one.sum, kept_one.doc, kept_one.need, kept_one.lack = candidates[c].sum, d, need, lack
            kept += 1
    return kept


@inner
def look_up(words, table, bounds, t, m, size, b, candidates, n, later, missing):
    """Add the term to the n candidates that hold it; keeps those that can reach what they need.

    `later`: the bounds of the terms behind it; `missing`: the share of the background in these and its own.
    """
    first, before, kept = b, np.int64(-1), 0
    for c in range(n):
        one = candidates[c]
        d, total = one.doc, one.sum
        if d < before:
            b = first
        before = d
        while b < t.end and np.int64(table[b].last) < d:
            b += 1
        bound = bounds[t.bounds + b, 3] if b < t.end else 0.0
        if total + later + bound >= one.need + missing * one.lack:
            if b < t.end:
                decode(words, table, t, b)
                i = first_at_least(t.docs, d)
                if np.int64(t.docs[i]) == d:
                    total += decoded_impact(t, m, t.extras[i], size[d])
            kept_one = candidates[kept]
            kept_one.doc, kept_one.need, kept_one.lack, kept_one.sum = d, one.need, one.lack, total
            kept += 1
    return kept


@inner
def split(query, m, w, required):
    """How many terms are essential in window w, and the others' share of the background; fills `suffix`."""
    suffix, essential, missing = query.suffix, 0, 0.0
    suffix[m.n_terms] = 0.0
    for i in range(m.n_terms - 1, -1, -1):
        suffix[i] = suffix[i + 1] + query.cells[w * m.n_terms + i].bound
        if essential == 0 and suffix[i] >= required:
            essential = i + 1
        elif essential == 0:
            missing += query.terms[i].share
    return max(essential, 1), missing


@inner
def visit(words, table, docs, query, work, w, limit):
    """Candidates of window w with their whole sums; how many."""
    terms, m, suffix = query.terms, query.model[0], query.suffix
    n_terms, base, window = m.n_terms, w << m.bits, 1 << m.bits
    required = (limit - query.windows[w].flat) / query.windows[w].scaling if m.prune else -np.inf
    essential, missing = split(query, m, w, required)
    done, n = 0, window if m.dense else 0
    while True:
        for i in range(done, essential):
            cell, t = query.cells[w * n_terms + i], terms[i]
            if cell.block < t.end:
                least, b = required - (suffix[0] - cell.bound), cell.block
                n = add_term(words, table, query.bounds, t, m, docs.size, b, base, least, work.acc, work.touched, n)
        need = max(required - suffix[essential], LEAST)
        if essential == n_terms:
            break
        most = (terms[essential - 1].later << m.bits) // (m.n_docs * ASKING * (n_terms - essential))
        if count_reaching(work.acc, work.touched, n, window, need, most) <= most:
            break
        done = essential
        while essential == done or (essential < n_terms and 2 * terms[essential - 1].later > terms[done - 1].later):
            missing -= terms[essential].share
            essential += 1
    n = collect(work.acc, work.touched, work.candidates, n, window, base, need)
    n = qualify(docs, m, work.candidates, n, suffix[essential], missing, limit)
    for i in range(essential, n_terms):
        t, b = terms[i], query.cells[w * n_terms + i].block
        n = look_up(words, table, query.bounds, t, m, docs.size, b, work.candidates, n, suffix[i + 1], missing)
        missing -= t.share
    return n


@inner
def forget(results, m):
    """Drop the results below the threshold."""
    kept = 0
    for i in range(m.found):
        if results[i].score >= m.threshold:
            results[kept].score, results[kept].doc = results[i].score, results[i].doc
            kept += 1
    m.found = kept


@inner
def classes_of(span, n):
    """Classes a unit of score, where n of them span so much; 0: all scores are of one, for their span has no end, is
    none, or is so small that the number would have no end."""
    per_class = n / span if span > 0.0 else 0.0
    return per_class if per_class < np.inf else 0.0


@inner
def take(m, work, d, score):
    """Take a document in whose score reaches the threshold."""
    work.results[m.found].score, work.results[m.found].doc = score, d
    m.found += 1
    place = 0
    if score > m.low and m.per_class > 0.0:  # a prior may be infinite, and then no class is finite
        place = min(HISTOGRAM - 1, np.int64((score - m.low) * m.per_class))
    work.histogram[place] += 1
    m.above += place > m.edge


@inner
def rise(m, histogram):
    """Let the threshold rise with the histogram of scores."""
    edge, above, k = np.uint64(m.edge), m.above, m.k
    while above - histogram[edge + np.uint64(1)] >= k:
        edge += np.uint64(1)
        above -= histogram[edge]
    m.edge, m.above = np.int64(edge), above
    if m.above >= m.k and m.prune:
        m.threshold = max(m.threshold, m.low + (m.edge + 1) / m.per_class - m.slack)


@kernel
def scan(words, table, docs, query, work, w):
    """Visit the windows from w on until the results may not fit; returns the next window.

    `rank.bound_kernels.prepare` was asked before. Of the results in `work`, k reach the threshold as soon as there are
    so many; none lies below it.
    """
    docs, query, work = Documents(*docs), Query(*query), Work(*work)
    m = query.model[0]
    while w < m.n_windows:
        if m.found + (1 << m.bits) > len(work.results):
            forget(work.results, m)
            if m.found + (1 << m.bits) > len(work.results):
                break
        limit = m.threshold - m.slack
        if query.windows[w].total >= limit or not m.prune:
            n = visit(words, table, docs, query, work, w, limit)
            for c in range(n):
                d = work.candidates[c].doc
                score = score_of(docs, m, d, work.candidates[c].sum)
                if score >= m.threshold:
                    take(m, work, d, score)
            rise(m, work.histogram)
        w += 1
    forget(work.results, m)
    return w


@inner
def sort(results, n, id_rank, gap):
    """Bring n results into the total order, score descending, then id ascending: Shell's sort from a gap on."""
    while gap > 0:
        for i in range(gap, n):
            score, doc = results[i].score, results[i].doc
            j = i
            while j >= gap:
                before = results[j - gap]
                if before.score > score or (before.score == score and id_rank[before.doc] < id_rank[doc]):
                    break
                results[j].score, results[j].doc = before.score, before.doc
                j -= gap
            results[j].score, results[j].doc = score, doc
        gap = gap * 4 // 9 if gap > 2 else gap - 1


@inner
def arrange(results, n, k, id_rank, histogram, best):
    """The best k of n results, in the total order, into `best`, which has room for all. How many.

    They are first put into classes of scores, so that little is left to sort.
    """
    low, high = np.inf, -np.inf
    for i in range(n):
        low, high = min(low, results[i].score), max(high, results[i].score)
    above, edge, widest = 0, min(HISTOGRAM, FEW_IN_A_CLASS * n), np.int64(0)
    per_class = classes_of(high - low, edge - 1)
    if per_class == 0.0:
        for i in range(n):
            best[i].score, best[i].doc = results[i].score, results[i].doc
        sort(best, n, id_rank, n // 2)
        return min(n, k)
    for place in range(edge):
        histogram[place] = 0
    for i in range(n):
        histogram[np.int64((results[i].score - low) * per_class)] += 1
    while above < k and edge > 0:
        edge -= 1
        size = np.int64(histogram[edge])
        histogram[edge], widest = above, max(widest, size)
        above += size
    for i in range(n):
        place = np.int64((results[i].score - low) * per_class)
        if place >= edge:
            at = histogram[place]
            best[at].score, best[at].doc = results[i].score, results[i].doc
            histogram[place] += 1
    sort(best, above, id_rank, 1 if widest < NARROW else above // 2)
    return min(above, k)


@kernel
def order(results, n, k, id_rank, histogram, best):
    """`arrange`, from Python."""
    return arrange(results, n, k, id_rank, histogram, best)
