"""The kernel for long queries when a good threshold is known beforehand, as it is after a first ranking (`hint`).

The terms are walked in the order of what a posting can give, rare words with much weight first. In each window the
walk stops as soon as the terms still to come cannot lift a document over the threshold without the help of those
already walked, and so few documents are left that it is cheaper to look each of them up in the forward index. The
commonest words, which have most postings and least to say, are then hardly ever walked. The scores are those of
`rank.kernels.top_k`, to the last bit: each candidate's impacts are added in the canonical order of the terms.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from germane.index.kernels import BLOCK, TF_CAP
from germane.index.segment import ForwardArrays
from germane.rank.arguments import Tables
from germane.rank.forward_kernels import ask_ahead, hash_terms, look_up
from germane.rank.kernels import (
    LONG_BITS,
    add_blocks,
    coarse_maximum,
    depends_on_count,
    impact,
    largest_count,
    named,
    score_of,
    select_best,
    sort_results,
)
from germane.rank.simd import LANES, count_bits, lowest_bit, reach_mask

WINDOW = 1 << LONG_BITS
LOOK_UP = 3000
"""Looking up one document costs as much as walking so many postings."""
CHECK_EVERY = 6
"""Terms between two looks at how many documents are left."""
SIFTED = 32
"""So many times more documents may reach the window's limit than reach their own."""
ENDLESS = 4294967295.0
"""Stands for a count that the block table does not tell."""


class Walk(NamedTuple):
    """What `visit` knows of terms and windows.

    The order of the `walk`; for each window and term its `bound`; postings `left` and bounds of the `rest` from a step
    on; for each term its `cursor` and the block that is `cached`; `candidates` of one window; and for looking up the
    hash table `slots`, the counts `held` (zeros) and room for the words of a document, `own`.
    """

    walk: npt.NDArray[np.int64]
    bound: npt.NDArray[np.float64]
    left: npt.NDArray[np.int64]
    rest: npt.NDArray[np.float64]
    cursor: npt.NDArray[np.int64]
    cached: npt.NDArray[np.int64]
    candidates: npt.NDArray[np.int64]
    slots: npt.NDArray[np.int64]
    held: npt.NDArray[np.int64]
    own: npt.NDArray[np.uint32]


@njit(cache=True, nogil=True)
def top_k_above(blocks, id_rank, forward, most_unique, terms, values, mask, k, threshold, scratch, out):
    """The best k documents that reach the threshold; arguments as in `rank.long_kernels.top_k_long`.

    `threshold`: a score that k documents of the index are known to reach.
    """
    blocks, terms, values, scratch, out = named(blocks, terms, values, scratch, out)
    forward = ForwardArrays(*forward)
    first_block, df, numbers, weight, scale, kind, delta, x0, x1, _, sized_by_length, _, _ = terms
    out_scores, out_docs = out
    blk_last, blk_max_tf, blk_min_len = blocks.last, blocks.max_tf, blocks.min_len
    n_terms = len(df)
    n_windows = (len(id_rank) + WINDOW - 1) >> LONG_BITS
    table_at, n_table = np.zeros(n_terms + 1, np.int64), np.empty(n_terms, np.int64)
    bound, highest = np.zeros((n_windows, n_terms)), np.zeros(n_terms)
    by_count = depends_on_count(kind)
    for t in range(n_terms):
        largest = largest_count(blk_max_tf, first_block[t], df[t])
        held = min(largest, TF_CAP) if by_count else 0
        table_at[t + 1] = table_at[t] + held
        n_table[t] = -1 if by_count and largest < TF_CAP else held
        first = np.int64(0)
        for b in range(first_block[t], first_block[t] + (df[t] + BLOCK - 1) // BLOCK):
            count = np.float64(blk_max_tf[b]) if blk_max_tf[b] < TF_CAP else ENDLESS
            least = np.float64(blk_min_len[b]) if sized_by_length and blk_max_tf[b] < TF_CAP else 1.0
            value = impact(kind, weight[t], scale[t], delta, x0, x1, count, least)
            last = np.int64(blk_last[b]) >> LONG_BITS
            for w in range(first, last + 1):
                bound[w, t] = max(bound[w, t], value)
            first = (np.int64(blk_last[b]) + 1) >> LONG_BITS
            highest[t] = max(highest[t], value)
    table = np.empty(table_at[n_terms])
    for t in range(n_terms):
        for e in range(table_at[t + 1] - table_at[t]):
            table[table_at[t] + e] = impact(kind, weight[t], scale[t], delta, x0, x1, np.float64(e + 1), 0.0)
    walk = np.argsort(-highest / df, kind="mergesort")
    left = np.zeros(n_terms + 1, np.int64)
    for step in range(n_terms - 1, -1, -1):
        left[step] = left[step + 1] + df[walk[step]]
    work = Walk(
        walk, bound, left, np.zeros(n_terms + 1), first_block.copy(), np.full(n_terms, -1), np.empty(WINDOW, np.int64),
        hash_terms(numbers), np.zeros(n_terms, np.int64), np.empty(most_unique, np.uint32),
    )  # fmt: skip
    tables = Tables(table, table_at, n_table)
    found = visit(blocks, id_rank, forward, terms, values, mask, k, threshold, scratch, out, tables, work)
    if found > k:
        select_best(out_scores, out_docs, id_rank, found, k)
        found = k
    sort_results(out_scores, out_docs, id_rank, found)
    return found


@njit(cache=True, nogil=True, _nrt=False)
def visit(blocks, id_rank, forward, terms, values, mask, k, threshold, scratch, out, tables, work):
    """Window by window: walk, stop, look up; returns how many results there are, more than k perhaps, in no order."""
    blk_last = blocks.last
    first_block, df, numbers, weight, scale, kind, delta, x0, x1, size, _, constant, mass = terms
    norm, norm_max, doc, doc_max, prior, prior_max = values
    acc = scratch.acc
    out_scores, out_docs = out
    walk, bound, left, rest, cursor, cached, candidates, slots, held, own = work
    n_terms, n_docs = len(df), len(id_rank)
    n_windows = (n_docs + WINDOW - 1) >> LONG_BITS
    found = 0
    for w in range(n_windows):
        base = w << LONG_BITS
        stop = min(base + WINDOW, n_docs)
        scaling = coarse_maximum(norm_max, w, LONG_BITS) if len(norm) > 0 else 1.0
        flat = constant
        if len(doc) > 0:
            flat += mass * coarse_maximum(doc_max, w, LONG_BITS)
        if len(prior) > 0:
            flat += coarse_maximum(prior_max, w, LONG_BITS)
        for step in range(n_terms - 1, -1, -1):
            rest[step] = rest[step + 1] + bound[w, walk[step]]
        slack = 1e-12 * (abs(flat) + rest[0] * scaling + abs(threshold))
        limit = threshold - slack
        need = (limit - flat) / scaling if scaling > 0.0 else 0.0
        check, n_candidates = 0, -1
        reserve = 0.0
        for step in range(n_terms):
            reserve = rest[step]
            if step >= check and need > reserve:
                worth = left[step] // (LOOK_UP * n_windows)
                n_candidates = gather(
                    acc, base, need - reserve, reserve, limit, worth, norm, constant, mass, doc, prior, candidates
                )  # fmt: skip
                if n_candidates >= 0:
                    break
                check = step + CHECK_EVERY
            t = walk[step]
            if bound[w, t] == 0.0:
                continue
            block, last = cursor[t], first_block[t] + (df[t] + BLOCK - 1) // BLOCK
            while block < last and np.int64(blk_last[block]) < base:
                block += 1
            cursor[t] = block
            if block < last:
                add_blocks(blocks, terms, tables, scratch, t, block, base, stop, t * BLOCK, cached, candidates, -1)
        if n_candidates < 0:
            least = need * (1.0 - 1e-12) if need > 0.0 else 5e-324
            n_candidates = gather(
                acc, base, least, 0.0, limit, WINDOW, norm, constant, mass, doc, prior, candidates
            )  # fmt: skip
        for j in range(WINDOW):
            acc[j] = 0.0
        for c in range(n_candidates):
            ask_ahead(candidates, c, n_candidates, forward)
            d = candidates[c]
            if len(mask) > 0 and mask[d] == 0:
                continue
            look_up(d, forward, numbers, slots, held, own)
            impacts = 0.0
            for t in range(n_terms):
                if held[t] > 0:
                    count = np.float64(held[t])
                    impacts += impact(kind, weight[t], scale[t], delta, x0, x1, count, np.float64(size[d]))
                    held[t] = 0
            score = score_of(impacts, d, norm, constant, mass, doc, prior)
            if impacts > 0.0 and score >= threshold:
                out_scores[found] = score
                out_docs[found] = d
                found += 1
                if found == len(out_scores):
                    select_best(out_scores, out_docs, id_rank, found, k)
                    found = k
                    threshold = max(threshold, out_scores[k - 1])
    return found


@njit(cache=True, nogil=True, _nrt=False)
def gather(acc, base, least, reserve, limit, most, norm, constant, mass, doc, prior, candidates):
    """Documents of the window that reach the limit if they get `reserve` too; how many, or -1 if more than `most`.

    `least` is what the impacts must add up to at least in this window, whatever the document.
    """
    reaching_docs = 0
    for group in range(0, WINDOW, LANES):
        reaching_docs += count_bits(reach_mask(acc, group, least))
        if reaching_docs > SIFTED * most:
            return -1
    n = 0
    for group in range(0, WINDOW, LANES):
        reaching = reach_mask(acc, group, least)
        while reaching != 0:
            j = group + lowest_bit(reaching)
            reaching &= reaching - np.uint64(1)
            if score_of(acc[j] + reserve, base + j, norm, constant, mass, doc, prior) >= limit:
                if n == most:
                    return -1
                candidates[n] = base + j
                n += 1
    return n
