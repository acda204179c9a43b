"""The one scoring kernel: exact top k of a weighted query over one segment.

A score is   norm_D · Σ_t impact_t(c_tD, size_D) + (constant + mass · doc_D + prior_D)   over the query's terms t, where
the impact is of one of five kinds (w = `weight`, s = `scale`):

| kind | impact | models |
|---|---|---|
| LOG_COUNT_RATIO | w · log(1 + s·c) | Dirichlet query likelihood, T-cross-entropy: s = 1/(μ p_C) |
| LOG_SIZE_RATIO | w · log(1 + s·(c - δ)/(x0 + x1·size)) | Jelinek-Mercer, two-stage, absolute discounting |
| SATURATION | w · c/(c + x0 + x1·size) | BM25 |
| LOG_COUNT | w · (1 + log c) | TF-IDF cosine |
| COUNT | w · c | D-cross-entropy |

Terms come in one canonical order, and every document's impacts are added in that order, whatever is pruned: the score
is the same floating-point number on every road.

The road (block-max MaxScore over windows of documents, in the manner of Lucene's bulk scorer and of BMP): an upper
bound of each term in each window of some thousand documents comes from the block table (or, for short lists, from the
decoded list itself). The most promising windows go first and set the threshold; one whose bound lies below is skipped.
In a window the terms whose bounds together cannot reach the threshold are non-essential: the others are added up term
by term into an accumulator that fits the fastest cache, and only documents that can still enter the top k meet the
rest.

Equivalent in NumPy: score every document, `np.lexsort((id_rank, -score))[:k]`.
"""

import math

import numpy as np
from numba import njit

from germane.index.kernels import BLOCK, TF_CAP, PostingBlocks, decode_block, decode_full_block
from germane.rank.arguments import DocumentValues, Impact, Results, Scratch, Tables, TermArrays, Windows
from germane.rank.kinds import COUNT, LOG_COUNT, LOG_COUNT_RATIO, LOG_SIZE_RATIO, SATURATION
from germane.rank.simd import LANES, add_table, count_bits, lowest_bit, prefetch, reach_mask

FINE_BITS = 11
"""Documents' values (norm, term, prior) come with their maxima in windows of 2^FINE_BITS documents."""
SHORT_BITS = 12
"""Windows of a query of few terms: small, for tight bounds."""
LONG_BITS = 14
"""Windows of a query of more than SHORT terms: large, for there all lists are walked side by side."""
SHORT = 12
SPARSE = 64
"""A term in fewer than one document of SPARSE is decoded once, before the windows are visited."""
DECODED = -2
"""Marks a term whose whole list lies decoded."""
ASKING = 16
"""Asking for one document in one list costs as much as adding this many postings."""
PREFETCH = 12
"""Cache lines of a list asked for on behalf of the next window."""
GUESSED, MARGIN = 100, 2
"""For so many results and more, the k-th score is guessed from the first windows, MARGIN times too deep to be safe."""
NO_CANDIDATES = np.int64(-1)
"""Instead of a number of candidates: all documents count. (A literal would have its callee compiled once more.)"""
SEEDS = 8
"""Windows visited first, best bound first."""


@njit(cache=True, nogil=True, _nrt=False, inline="always")
def impact(kind, weight, scale, delta, x0, x1, count, size):
    """The impact of one posting, as in the table above."""
    if kind == LOG_COUNT_RATIO:
        return weight * math.log1p(scale * count)
    if kind == LOG_SIZE_RATIO:
        return weight * math.log1p(scale * (count - delta) / (x0 + x1 * size))
    if kind == SATURATION:
        return weight * (count / (count + (x0 + x1 * size)))
    if kind == LOG_COUNT:
        return weight * (1.0 + math.log(count))
    return weight * count


@njit(cache=True, nogil=True, _nrt=False, inline="always")
def impact_of(terms, t):
    """The impact of term t, to be computed by `impact`."""
    return Impact(terms.kind, terms.weight[t], terms.scale[t], terms.delta, terms.x0, terms.x1)


@njit(cache=True, nogil=True, _nrt=False, inline="always")
def depends_on_count(kind):
    """Whether the impact depends on the count alone, so that it can be tabulated."""
    return kind == LOG_COUNT_RATIO or kind == LOG_COUNT or kind == COUNT


@njit(cache=True, nogil=True, _nrt=False, inline="always")
def score_of(impacts, d, norm, constant, mass, doc, prior):
    """The score of document d whose impacts add up to `impacts`; empty arrays stand for 1, 0 and 0."""
    rest = constant
    if len(doc) > 0:
        rest += mass * doc[d]
    if len(prior) > 0:
        rest += prior[d]
    if len(norm) > 0:
        impacts *= norm[d]
    return impacts + rest


@njit(cache=True, nogil=True, _nrt=False)
def add_postings(acc, base, docs, tf_minus_one, begin, end, of_term, size, table, at, n_table):
    """acc[docs[i] - base] += impact of posting i, for begin <= i < end; `of_term`: an `Impact`.

    For lists whose impacts are not all in the table: n_table >= 0 is what it holds of this list.
    """
    kind, weight, scale, delta, x0, x1 = of_term
    offset = np.uint64(base)
    for i in range(np.uint64(begin), np.uint64(end)):
        d = np.uint64(docs[i])
        count = np.float64(tf_minus_one[i]) + 1.0
        if kind == SATURATION:
            acc[d - offset] += weight * (count / (count + (x0 + x1 * np.float64(size[d]))))
        elif kind == LOG_SIZE_RATIO:
            acc[d - offset] += weight * math.log1p(scale * (count - delta) / (x0 + x1 * np.float64(size[d])))
        elif np.int64(tf_minus_one[i]) < n_table:
            acc[d - offset] += table[np.uint64(at) + np.uint64(tf_minus_one[i])]
        else:
            acc[d - offset] += impact(kind, weight, scale, delta, x0, x1, count, 0.0)


@njit(cache=True, nogil=True, _nrt=False, inline="always")
def first_at_least(docs, begin, value):
    """Where a block's documents reach `value`: `begin + np.searchsorted(docs[begin:][:BLOCK], value)`, no branch."""
    at = np.uint64(begin)
    limit = np.uint32(value)
    at += np.uint64(64) * np.uint64(docs[at + np.uint64(63)] < limit)
    at += np.uint64(32) * np.uint64(docs[at + np.uint64(31)] < limit)
    at += np.uint64(16) * np.uint64(docs[at + np.uint64(15)] < limit)
    at += np.uint64(8) * np.uint64(docs[at + np.uint64(7)] < limit)
    at += np.uint64(4) * np.uint64(docs[at + np.uint64(3)] < limit)
    at += np.uint64(2) * np.uint64(docs[at + np.uint64(1)] < limit)
    at += np.uint64(1) * np.uint64(docs[at] < limit)
    at += np.uint64(1) * np.uint64(docs[at] < limit)
    return np.int64(at)


@njit(cache=True, nogil=True, _nrt=False)
def before(score_a, doc_a, score_b, doc_b, id_rank):
    """The total order of results: higher score first, then smaller id (looked up only for equal scores)."""
    if score_a != score_b:
        return score_a > score_b
    return id_rank[doc_a] < id_rank[doc_b]


@njit(cache=True, nogil=True, _nrt=False)
def sift_down(scores, docs, id_rank, root, n):
    """Restore the heap whose root is the last of its results in the total order."""
    score, doc = scores[root], docs[root]
    while True:
        child = 2 * root + 1
        if child >= n:
            break
        right = child + 1
        if right < n and before(scores[child], docs[child], scores[right], docs[right], id_rank):
            child = right
        if not before(score, doc, scores[child], docs[child], id_rank):
            break
        scores[root], docs[root] = scores[child], docs[child]
        root = child
    scores[root], docs[root] = score, doc


@njit(cache=True, nogil=True, _nrt=False)
def swap(scores, docs, i, j):
    """Exchange two results."""
    scores[i], scores[j] = scores[j], scores[i]
    docs[i], docs[j] = docs[j], docs[i]


@njit(cache=True, nogil=True, _nrt=False)
def select_best(scores, docs, id_rank, n, k):
    """Bring the best k of n results to the front, the k-th of them to place k - 1 (quickselect)."""
    low, high = 0, n - 1
    while low < high:
        middle = (low + high) >> 1  # median of three as pivot, left at `high`
        if before(scores[middle], docs[middle], scores[low], docs[low], id_rank):
            swap(scores, docs, middle, low)
        if before(scores[high], docs[high], scores[low], docs[low], id_rank):
            swap(scores, docs, high, low)
        if before(scores[middle], docs[middle], scores[high], docs[high], id_rank):
            swap(scores, docs, middle, high)
        score, doc = scores[high], docs[high]
        store = low
        for i in range(low, high):
            if before(scores[i], docs[i], score, doc, id_rank):
                swap(scores, docs, i, store)
                store += 1
        swap(scores, docs, store, high)
        if store == k - 1:
            return
        if store < k - 1:
            low = store + 1
        else:
            high = store - 1


@njit(cache=True, nogil=True, _nrt=False)
def sort_results(scores, docs, id_rank, n):
    """Put n results into the total order, in place (heap sort)."""
    for root in range(n // 2 - 1, -1, -1):
        sift_down(scores, docs, id_rank, root, n)
    for end in range(n - 1, 0, -1):
        swap(scores, docs, 0, end)
        sift_down(scores, docs, id_rank, 0, end)


@njit(cache=True, nogil=True)
def window_maxima(values, out):
    """out[w] = max of `values` over window w."""
    for w in range(len(out)):
        out[w] = values[w << FINE_BITS : (w + 1) << FINE_BITS].max()


@njit(cache=True, nogil=True, _nrt=False)
def coarse_maximum(maxima, w, bits):
    """The maximum in window w of 2^bits documents, from the maxima of its fine windows; of all windows if bits = 62."""
    first = w << (bits - FINE_BITS)
    highest = -np.inf
    for v in range(first, min(first + (1 << (bits - FINE_BITS)), len(maxima))):
        highest = max(highest, maxima[v])
    return highest


@njit(cache=True, nogil=True, _nrt=False)
def window_bits(n_terms):
    """How many documents, as a power of two, a query of so many terms looks at together."""
    return SHORT_BITS if n_terms <= SHORT else LONG_BITS


@njit(cache=True, nogil=True, inline="always")
def named(blocks, terms, values, scratch, out):
    """The groups of arguments with their names: calling compiled code with plain tuples costs half the time."""
    return PostingBlocks(*blocks), TermArrays(*terms), DocumentValues(*values), Scratch(*scratch), Results(*out)


@njit(cache=True, nogil=True)
def top_k(blocks, id_rank, terms, values, mask, k, threshold, prune, scratch, out):
    """Allocate for `visit_windows`, which is compiled without reference counting and so cannot.

    If it guessed the threshold too high (-1), it is asked again without a guess. The groups may come as plain tuples.
    """
    blocks, terms, values, scratch, out = named(blocks, terms, values, scratch, out)
    n_terms = len(terms.df)
    bits = window_bits(n_terms)
    n_windows = (len(id_rank) + (1 << bits) - 1) >> bits
    room = 0
    for t in range(n_terms):
        room += min(largest_count(blocks.max_tf, terms.first_block[t], terms.df[t]), TF_CAP)
    for guess in (prune and k >= GUESSED and terms.df.sum() > 8 * k, False):
        tables = Tables(np.empty(room), np.empty(n_terms + 1, np.int64), np.empty(n_terms, np.int64))
        windows = Windows(
            tables, np.zeros((n_terms, n_windows)), np.zeros((n_terms, n_windows + 1), np.int64), np.full(n_terms, -1),
            np.empty(n_terms, np.int64), np.zeros(n_windows), np.empty(n_windows), np.zeros(n_terms + 1),
            np.empty(1 << bits, np.int64), np.zeros(n_windows, np.bool_),
        )  # fmt: skip
        found = visit_windows(blocks, id_rank, terms, values, mask, k, threshold, prune, guess, scratch, out, windows)
        if found >= 0:
            break
    return found


@njit(cache=True, nogil=True, _nrt=False)
def largest_count(blk_max_tf, first_block, df):
    """The largest count of a list, TF_CAP standing for more."""
    largest = 0
    for b in range(first_block, first_block + (df + BLOCK - 1) // BLOCK):
        largest = max(largest, np.int64(blk_max_tf[b]))
    return largest


@njit(cache=True, nogil=True, _nrt=False)
def visit_windows(blocks, id_rank, terms, values, mask, k, threshold, prune, guess, scratch, out, windows):
    """The best `k` documents that hold at least one term, in the total order; returns how many were found.

    The groups of arguments are those of `rank.arguments`; `scratch.acc` has 2^LONG_BITS places, `docs` and
    `tf_minus_one` room for the sparse lists and one block a term. `mask`: one entry a document, or empty. `threshold`:
    a score that k documents elsewhere reach already.
    """
    words, blk_last, blk_at, blk_doc_bits, blk_tf_bits, blk_max_tf, blk_min_len = blocks
    first_block, df, _, weight, scale, kind, delta, x0, x1, size, sized_by_length, constant, mass = terms
    norm, norm_max, doc, doc_max, prior, prior_max = values
    acc, docs, tf_minus_one = scratch
    out_scores, out_docs = out
    tables, bound, position, cached, buffer, total, flat, suffix, candidates, visited = windows
    table, table_at, n_table = tables
    n_terms = len(df)
    n_docs = len(id_rank)
    bits = window_bits(n_terms)
    window_size = 1 << bits
    n_windows = (n_docs + window_size - 1) >> bits
    has_norm = len(norm) > 0
    has_mask = len(mask) > 0
    by_count = depends_on_count(kind)

    # Tables of impacts, bounds of each term in each window, and where a window's postings begin.
    room = 0
    for t in range(n_terms):
        largest = largest_count(blk_max_tf, first_block[t], df[t])
        table_at[t] = room
        n_table[t] = -1 if largest < TF_CAP and by_count else TF_CAP
        room += min(largest, TF_CAP)
    table_at[n_terms] = room
    if by_count:
        for t in range(n_terms):
            for e in range(table_at[t + 1] - table_at[t]):
                table[table_at[t] + e] = impact(kind, weight[t], scale[t], delta, x0, x1, np.float64(e + 1), 0.0)
            if n_table[t] >= 0:
                n_table[t] = table_at[t + 1] - table_at[t]

    used = 0
    for t in range(n_terms):
        begin = first_block[t]
        n_blocks = (df[t] + BLOCK - 1) // BLOCK
        buffer[t] = used
        previous = np.int64(-1)
        sparse = (df[t] * SPARSE < n_docs and n_terms <= SHORT) or not prune
        if sparse:
            cached[t] = DECODED
            for i in range(n_blocks):
                b = begin + i
                n = min(BLOCK, df[t] - i * BLOCK)
                decode_block(
                    words, np.int64(blk_at[b]), np.int64(blk_doc_bits[b]), np.int64(blk_tf_bits[b]), n, previous,
                    blk_last[b], np.int64(blk_max_tf[b]), docs, tf_minus_one, used + i * BLOCK,
                )  # fmt: skip
                previous = np.int64(blk_last[b])
            window = np.int64(-1)
            for i in range(used, used + df[t]):
                w = np.int64(docs[i]) >> bits
                while window < w:
                    window += 1
                    position[t, window] = i
                if by_count and np.int64(tf_minus_one[i]) < table_at[t + 1] - table_at[t]:
                    value = table[table_at[t] + np.int64(tf_minus_one[i])]
                else:
                    tf = np.float64(tf_minus_one[i]) + 1.0
                    value = impact(kind, weight[t], scale[t], delta, x0, x1, tf, np.float64(size[docs[i]]))
                if value > bound[t, w]:
                    bound[t, w] = value
            while window < n_windows:
                window += 1
                position[t, window] = used + df[t]
            used += n_blocks * BLOCK
        else:
            window = np.int64(-1)
            for b in range(begin, begin + n_blocks):
                count = np.int64(blk_max_tf[b])
                if count >= TF_CAP:
                    value = impact(kind, weight[t], scale[t], delta, x0, x1, 4294967295.0, 1.0)
                elif by_count and count <= table_at[t + 1] - table_at[t]:
                    value = table[table_at[t] + count - 1]
                else:
                    least = np.float64(blk_min_len[b]) if sized_by_length else 1.0
                    value = impact(kind, weight[t], scale[t], delta, x0, x1, np.float64(count), least)
                first = (previous + 1) >> bits
                last = np.int64(blk_last[b]) >> bits
                while window < last:  # this block is the first that reaches the window's beginning
                    window += 1
                    position[t, window] = b
                for w in range(first, last + 1):
                    if value > bound[t, w]:
                        bound[t, w] = value
                previous = np.int64(blk_last[b])
            while window < n_windows:
                window += 1
                position[t, window] = begin + n_blocks
            used += BLOCK

    magnitude = 1.0
    for t in range(n_terms):
        for w in range(n_windows):
            total[w] += bound[t, w]
    for w in range(n_windows):
        flat[w] = constant
        if len(doc) > 0:
            flat[w] += mass * coarse_maximum(doc_max, w, bits)
        if len(prior) > 0:
            flat[w] += coarse_maximum(prior_max, w, bits)
        if has_norm:
            total[w] *= coarse_maximum(norm_max, w, bits)
        magnitude = max(magnitude, total[w] + abs(flat[w]))
        total[w] += flat[w]
    slack = 1e-12 * magnitude

    found = 0
    due = k  # so many results are worth a selection, which raises the threshold
    seeds = min(SEEDS, n_windows) if prune else 0
    given, guessed = threshold, -np.inf
    for step in range(seeds + n_windows):
        if step == seeds and guess and n_windows >= 4 * seeds:
            # Among the documents seen, the best k·share would be those of the best k of all, if they were a sample.
            likely = min(found, MARGIN * k * seeds // n_windows + 16)
            if likely > 0 and likely < k:
                select_best(out_scores, out_docs, id_rank, found, likely)
                guessed = out_scores[likely - 1]
                threshold = max(threshold, guessed)
        if step < seeds:
            w = np.int64(0)
            best = -np.inf
            for v in range(n_windows):
                if not visited[v] and total[v] > best:
                    best = total[v]
                    w = v
        else:
            w = step - seeds
        if visited[w]:
            continue
        visited[w] = True
        if found >= due:
            select_best(out_scores, out_docs, id_rank, found, k)
            found = k
            threshold = max(threshold, out_scores[k - 1])
            due = k + max(k >> 1, 4)
        limit = threshold - slack
        if not prune:
            limit = -np.inf
        if total[w] < limit:
            continue
        base = w << bits
        stop = min(base + window_size, n_docs)
        scaling = coarse_maximum(norm_max, w, bits) if has_norm else 1.0

        # Split the terms: those after `essential` cannot lift a document over the limit by themselves.
        suffix[n_terms] = 0.0
        for t in range(n_terms - 1, -1, -1):
            suffix[t] = suffix[t + 1] + bound[t, w]
        essential = n_terms
        while essential > 0 and suffix[essential - 1] * scaling + flat[w] < limit:
            essential -= 1

        add_terms(blocks, terms, windows, scratch, np.int64(0), essential, w, base, stop, NO_CANDIDATES)

        # Few documents reach the limit with the help of the other terms: ask for those. Many: add the terms to all.
        if essential < n_terms:
            need = least_impacts(limit, flat[w], scaling, suffix[essential])
            reaching_docs = 0
            for group in range(0, window_size, LANES):
                reaching_docs += count_bits(reach_mask(acc, group, need))
            if reaching_docs == 0:
                for j in range(window_size):
                    acc[j] = 0.0
                continue
            others = 0
            for t in range(essential, n_terms):
                others += df[t]
            if reaching_docs * (n_terms - essential) * ASKING > others // n_windows:
                add_terms(blocks, terms, windows, scratch, essential, n_terms, w, base, stop, NO_CANDIDATES)
                essential = n_terms

        # Documents that can still enter.
        need = least_impacts(limit, flat[w], scaling, suffix[essential])
        n_candidates = np.int64(0)
        for group in range(0, window_size, LANES):
            reaching = reach_mask(acc, group, need)
            while reaching != 0:
                j = group + lowest_bit(reaching)
                reaching &= reaching - np.uint64(1)
                d = base + j
                if has_mask and mask[d] == 0:
                    continue
                score = score_of(acc[j] + suffix[essential], d, norm, constant, mass, doc, prior)
                if score < limit:
                    continue
                if essential < n_terms:  # other terms may still come
                    candidates[n_candidates] = j
                    n_candidates += 1
                elif score >= threshold:
                    out_scores[found] = score
                    out_docs[found] = d
                    found += 1
                    if found == len(out_scores):
                        select_best(out_scores, out_docs, id_rank, found, k)
                        found = k
                        threshold = max(threshold, out_scores[k - 1])
                        limit = threshold - slack

        for t in range(essential, n_terms):
            if n_candidates == 0:
                break
            add_terms(blocks, terms, windows, scratch, t, t + 1, w, base, stop, n_candidates)
            kept = 0
            for c in range(n_candidates):
                j = candidates[c]
                d = base + j
                if score_of(acc[j] + suffix[t + 1], d, norm, constant, mass, doc, prior) >= limit:
                    candidates[kept] = j
                    kept += 1
            n_candidates = kept

        for c in range(n_candidates):
            j = candidates[c]
            d = base + j
            score = score_of(acc[j], d, norm, constant, mass, doc, prior)
            if score >= threshold:
                out_scores[found] = score
                out_docs[found] = d
                found += 1
                if found == len(out_scores):
                    select_best(out_scores, out_docs, id_rank, found, k)
                    found = k
                    threshold = max(threshold, out_scores[k - 1])
        for j in range(window_size):
            acc[j] = 0.0
    if found > k:
        select_best(out_scores, out_docs, id_rank, found, k)
        found = k
    if guessed > given and (found < k or out_scores[k - 1] < guessed):
        return -1  # not k documents reach the guess: others may have been missed
    sort_results(out_scores, out_docs, id_rank, found)
    return found


@njit(cache=True, nogil=True, _nrt=False, inline="always")
def least_impacts(limit, flat, scaling, others):
    """What the impacts of a document must add up to, if `others` may still come, for it to reach the limit."""
    need = (limit - flat) / scaling - others if scaling > 0.0 else 0.0
    return need if need > 0.0 else 5e-324  # any impact at all: the document matches


@njit(cache=True, nogil=True, _nrt=False, inline="always")
def add_blocks(blocks, terms, tables, scratch, t, block, base, stop, buffer, cached, candidates, n_candidates):
    """Add the postings of a dense term that fall in the window [base, stop), from `block` on.

    With n_candidates >= 0, blocks without a candidate are passed over. The last block decoded stays in the term's
    buffer (`cached`), for the window after this one.
    """
    words, blk_last, blk_at, blk_doc_bits, blk_tf_bits, blk_max_tf, _ = blocks
    acc, docs, tf_minus_one = scratch
    begin, df, at, n_table = terms.first_block[t], terms.df[t], tables.table_at[t], tables.n_table[t]
    n_blocks = (df + BLOCK - 1) // BLOCK
    candidate = 0
    while block < begin + n_blocks:
        previous = np.int64(blk_last[block - 1]) if block > begin else np.int64(-1)
        if previous + 1 >= stop:
            break
        last = np.int64(blk_last[block])
        wanted = True
        if n_candidates >= 0:
            while candidate < n_candidates and candidates[candidate] + base <= previous:
                candidate += 1
            if candidate == n_candidates:
                break
            wanted = candidates[candidate] + base <= last
        if wanted:
            n = min(BLOCK, df - (block - begin) * BLOCK)
            if cached[t] != block:
                if n == BLOCK:
                    decode_full_block(
                        words, np.int64(blk_at[block]), np.int64(blk_doc_bits[block]), np.int64(blk_tf_bits[block]),
                        previous, np.int64(blk_max_tf[block]), docs, tf_minus_one, buffer,
                    )  # fmt: skip
                else:
                    decode_block(
                        words, np.int64(blk_at[block]), np.int64(blk_doc_bits[block]), np.int64(blk_tf_bits[block]), n,
                        previous, blk_last[block], np.int64(blk_max_tf[block]), docs, tf_minus_one, buffer,
                    )  # fmt: skip
                    for i in range(buffer + n, buffer + BLOCK):
                        docs[i] = np.uint32(0xFFFFFFFF)  # a short last block ends in documents that never come
                cached[t] = block
            first, end = buffer, buffer + n
            if previous + 1 < base:
                first = first_at_least(docs, buffer, base)
            if last >= stop:
                end = first_at_least(docs, buffer, stop)
            if n_table < 0:
                add_table(
                    acc, np.int64(base), docs, tf_minus_one, np.int64(first), np.int64(end), tables.table, np.int64(at)
                )
            else:
                add_postings(
                    acc, base, docs, tf_minus_one, first, end, impact_of(terms, t), terms.size, tables.table, at,
                    n_table,
                )  # fmt: skip
        block += 1
    if n_candidates < 0 and block < begin + n_blocks:
        ahead = np.int64(blk_at[block])
        for line in range(PREFETCH):
            prefetch(words, ahead + 16 * line)


@njit(cache=True, nogil=True, _nrt=False)
def add_terms(blocks, terms, windows, scratch, first, end, w, base, stop, n_candidates):
    """Add the impacts of the terms first <= t < end in window w; see `add_blocks` for n_candidates."""
    acc, docs, tf_minus_one = scratch
    tables = windows.tables
    table, table_at, n_table = tables
    position, cached, candidates = windows.position, windows.cached, windows.candidates
    for t in range(first, end):
        if windows.bound[t, w] == 0.0:
            continue
        if cached[t] == DECODED and n_table[t] < 0:
            add_table(acc, base, docs, tf_minus_one, position[t, w], position[t, w + 1], table, table_at[t])
        elif cached[t] == DECODED:
            add_postings(
                acc, base, docs, tf_minus_one, position[t, w], position[t, w + 1], impact_of(terms, t), terms.size,
                table, table_at[t], n_table[t],
            )  # fmt: skip
        else:
            add_blocks(
                blocks, terms, tables, scratch, t, position[t, w], base, stop, windows.buffer[t], cached, candidates,
                n_candidates,
            )  # fmt: skip


@njit(cache=True, nogil=True)
def edit_distances(term_bytes, term_offsets, surface_bytes, surface_offsets, typed, most, out):
    """out[t] = edits (with transpositions of neighbours) between `typed` and term t's written form, capped at most + 1.

    Distances are of bytes; a term whose form is empty is written as itself.
    """
    n = len(typed)
    rows = np.empty((3, n + 1), np.int64)
    for t in range(len(out)):
        begin, end = np.int64(surface_offsets[t]), np.int64(surface_offsets[t + 1])
        own = begin == end
        if own:
            begin, end = np.int64(term_offsets[t]), np.int64(term_offsets[t + 1])
        m = end - begin
        out[t] = most + 1
        if m > n + most or n > m + most:
            continue
        for j in range(n + 1):
            rows[0, j] = j
        for i in range(1, m + 1):
            now, last, older = i % 3, (i - 1) % 3, (i - 2) % 3
            rows[now, 0] = i
            least = i
            here = term_bytes[begin + i - 1] if own else surface_bytes[begin + i - 1]
            for j in range(1, n + 1):
                cost = 0 if here == typed[j - 1] else 1
                value = min(rows[last, j] + 1, rows[now, j - 1] + 1, rows[last, j - 1] + cost)
                if i > 1 and j > 1:
                    there = term_bytes[begin + i - 2] if own else surface_bytes[begin + i - 2]
                    if here == typed[j - 2] and there == typed[j - 1]:
                        value = min(value, rows[older, j - 2] + 1)
                rows[now, j] = value
                least = min(least, value)
            if least > most:
                break
        else:
            out[t] = min(rows[m % 3, n], most + 1)
