"""The kernel for queries of many terms, such as feedback makes: add up coarsely, score exactly what may count.

Every term of such a query is walked whole (its bounds prune too little), so what counts is the cost of one addition.
Impacts are rounded up to whole units, 1/65,000 of the largest possible sum, and added in 16 bits: the accumulators of
16,384 documents then fit the fastest cache. A rounded sum exceeds the true one by less than a unit a term, so the
documents among the best k by the rounded sums minus that error, and no others, can be among the true best k. They
alone are scored exactly, from the forward index, in the canonical order of the terms: the same floating-point numbers
as `rank.kernels.top_k` gives, tested to the last bit.

For impacts that depend on the count alone, and counts below TF_CAP. Where so many documents are so nearly equal that
they do not fit the buffer, the answer is FALL_BACK, and `top_k` must be asked.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from germane.index.kernels import BLOCK, TF_CAP, decode_block, decode_full_block
from germane.index.segment import ForwardArrays
from germane.rank.forward_kernels import ask_ahead, hash_terms, look_up
from germane.rank.kernels import (
    GUESSED,
    LONG_BITS,
    MARGIN,
    coarse_maximum,
    impact,
    largest_count,
    named,
    score_of,
    select_best,
    sort_results,
)
from germane.rank.simd import LANES, add_table, lowest_bit, prefetch, reach_mask

WINDOW = 1 << LONG_BITS
UNITS = 60_000.0
"""The largest possible sum in units; rounding up adds at most one unit a term, and 65,535 is the limit."""
PREFETCH = 16
"""Cache lines of a list asked for on behalf of the next window."""
FALL_BACK = -1


class Units(NamedTuple):
    """Impacts by count in whole units: those of term t from `table_at[t]` on, and how much one `unit` is."""

    units: npt.NDArray[np.uint16]
    table_at: npt.NDArray[np.int64]
    unit: float


@njit(cache=True, nogil=True)
def top_k_long(blocks, id_rank, forward, most_unique, terms, values, mask, k, threshold, scratch, out):
    """Allocate for `add_up` and `score_exactly`; arguments as in `rank.kernels.top_k`, and the forward index.

    `most_unique`: distinct terms of the document that has most. `scratch.acc`: WINDOW uint16 zeros; `docs` and
    `tf_minus_one`: room for a block a term, and one.
    """
    blocks, terms, values, scratch, out = named(blocks, terms, values, scratch, out)
    forward = ForwardArrays(*forward)
    first_block, df, numbers, weight, scale, kind = (
        terms.first_block, terms.df, terms.numbers, terms.weight, terms.scale, terms.kind
    )  # fmt: skip
    out_scores, out_docs = out
    n_terms = len(df)
    table_at = np.empty(n_terms + 1, np.int64)
    table_at[0] = 0
    for t in range(n_terms):
        largest = largest_count(blocks.max_tf, first_block[t], df[t])
        if largest >= TF_CAP:
            return FALL_BACK
        table_at[t + 1] = table_at[t] + largest
    table = np.empty(table_at[n_terms])
    most = 0.0
    for t in range(n_terms):
        for e in range(table_at[t + 1] - table_at[t]):
            table[table_at[t] + e] = impact(kind, weight[t], scale[t], 0.0, 0.0, 0.0, np.float64(e + 1), 0.0)
        most += table[table_at[t + 1] - 1]
    units = np.empty(len(table), np.uint16)
    unit = most / UNITS
    for i in range(len(table)):
        units[i] = np.uint16(math.ceil(table[i] / unit))
    found, guessed = add_up(
        blocks, id_rank, terms, values, mask, k, threshold, scratch, out, Units(units, table_at, unit),
        first_block.copy(), np.full(n_terms, -1),
    )  # fmt: skip
    if found == FALL_BACK:
        return found
    slots, held, own = hash_terms(numbers), np.zeros(n_terms, np.int64), np.empty(most_unique, np.uint32)
    score_exactly(forward, terms, values, table, table_at, slots, held, own, out, found)
    if found > k:
        select_best(out_scores, out_docs, id_rank, found, k)
        found = k
    sort_results(out_scores, out_docs, id_rank, found)
    if guessed > threshold and (found < k or out_scores[k - 1] < guessed):
        return FALL_BACK
    return found


@njit(cache=True, nogil=True, _nrt=False)
def add_up(blocks, id_rank, terms, values, mask, k, threshold, scratch, out, by_count, cursor, cached):
    """Documents that may be among the best k, in no order: how many, and a guess that the k-th score must reach."""
    words, blk_last, blk_at, blk_doc_bits, blk_tf_bits, blk_max_tf, _ = blocks
    first_block, df, constant, mass = terms.first_block, terms.df, terms.constant, terms.mass
    norm, norm_max, doc, doc_max, prior, prior_max = values
    acc, docs, tf_minus_one = scratch
    out_scores, out_docs = out
    units, table_at, unit = by_count
    n_terms = len(df)
    n_docs = len(id_rank)
    has_norm, has_mask = len(norm) > 0, len(mask) > 0
    found = 0
    due = k
    guessed = -np.inf
    scaling = 1.0
    if has_norm:
        scaling = coarse_maximum(norm_max, 0, 62)
    magnitude = abs(constant) + UNITS * unit * scaling
    if len(doc) > 0:
        magnitude += abs(mass * coarse_maximum(doc_max, 0, 62))
    if len(prior) > 0:
        magnitude += abs(coarse_maximum(prior_max, 0, 62))
    slack = 1e-12 * magnitude
    error = n_terms * unit * scaling + slack
    for w in range((n_docs + WINDOW - 1) >> LONG_BITS):
        base = w << LONG_BITS
        stop = min(base + WINDOW, n_docs)
        for t in range(n_terms):
            block, last_block = cursor[t], first_block[t] + (df[t] + BLOCK - 1) // BLOCK
            while block < last_block:
                previous = np.int64(blk_last[block - 1]) if block > first_block[t] else np.int64(-1)
                if previous + 1 >= stop:
                    break
                n = min(BLOCK, df[t] - (block - first_block[t]) * BLOCK)
                cut = np.int64(blk_last[block]) >= stop
                # A block that the window cuts is kept for the next window; the others share one place in the cache.
                buffer = t * BLOCK if cut or cached[t] == block else n_terms * BLOCK
                if cached[t] != block:
                    if n == BLOCK:
                        decode_full_block(
                            words, np.int64(blk_at[block]), np.int64(blk_doc_bits[block]), np.int64(blk_tf_bits[block]),
                            previous, np.int64(blk_max_tf[block]), docs, tf_minus_one, buffer,
                        )  # fmt: skip
                    else:
                        decode_block(
                            words, np.int64(blk_at[block]), np.int64(blk_doc_bits[block]), np.int64(blk_tf_bits[block]),
                            n, previous, blk_last[block], np.int64(blk_max_tf[block]), docs, tf_minus_one, buffer,
                        )  # fmt: skip
                    if cut:
                        cached[t] = block
                first, end = buffer, buffer + n
                if previous + 1 < base:
                    while np.int64(docs[first]) < base:
                        first += 1
                if cut:
                    while np.int64(docs[end - 1]) >= stop:
                        end -= 1
                add_table(acc, base, docs, tf_minus_one, first, end, units, table_at[t])
                if cut:
                    break
                block += 1
            cursor[t] = block
            if block < last_block:
                ahead = np.int64(blk_at[block])
                for line in range(PREFETCH):
                    prefetch(words, ahead + 16 * line)

        scaling = coarse_maximum(norm_max, w, LONG_BITS) if has_norm else 1.0
        flat = constant
        if len(doc) > 0:
            flat += mass * coarse_maximum(doc_max, w, LONG_BITS)
        if len(prior) > 0:
            flat += coarse_maximum(prior_max, w, LONG_BITS)
        need = (threshold - slack - flat) / (scaling * unit) if scaling > 0.0 else 0.0
        least = np.uint16(min(max(math.floor(need), 1.0), 65535.0))
        for group in range(0, WINDOW, LANES):
            reaching = reach_mask(acc, group, least)
            while reaching != 0:
                j = group + lowest_bit(reaching)
                reaching &= reaching - np.uint64(1)
                d = base + j
                if has_mask and mask[d] == 0:
                    continue
                score = score_of(acc[j] * unit, d, norm, constant, mass, doc, prior)
                if score < threshold - slack:
                    continue
                out_scores[found] = score
                out_docs[found] = d
                found += 1
                if found == len(out_scores):
                    found, threshold = keep_near(out_scores, out_docs, id_rank, found, k, threshold, error)
                    if found > (3 * len(out_scores)) // 4:
                        clear(acc)
                        return FALL_BACK, guessed
        if w == 1 and k >= GUESSED and n_docs >= 8 * WINDOW:
            # As in `rank.kernels.visit_windows`: what the best k of all would be, were these documents a sample.
            likely = min(found, MARGIN * k * 2 * WINDOW // n_docs + 16)
            if likely > 0 and likely < k:
                select_best(out_scores, out_docs, id_rank, found, likely)
                guessed = out_scores[likely - 1] - error
                threshold = max(threshold, guessed)
        if found >= due:
            found, threshold = keep_near(out_scores, out_docs, id_rank, found, k, threshold, error)
            due = found + max(k >> 1, 16)
        clear(acc)
    if found > k:
        found, threshold = keep_near(out_scores, out_docs, id_rank, found, k, threshold, error)
    return found, guessed


@njit(cache=True, nogil=True, _nrt=False)
def clear(acc):
    """acc[:] = 0."""
    for j in range(len(acc)):
        acc[j] = np.uint16(0)


@njit(cache=True, nogil=True, _nrt=False)
def keep_near(scores, docs, id_rank, n, k, threshold, error):
    """Keep the results that reach the k-th best rounded score minus the error; returns how many, and that threshold.

    So many documents truly reach the threshold, and no rounded score lies below the true one.
    """
    select_best(scores, docs, id_rank, n, k)
    threshold = max(threshold, scores[k - 1] - error)
    kept = 0
    for i in range(n):
        if scores[i] >= threshold:
            scores[kept], docs[kept] = scores[i], docs[i]
            kept += 1
    return kept, threshold


@njit(cache=True, nogil=True, _nrt=False)
def score_exactly(forward, terms, values, table, table_at, slots, held, own, out, n):
    """Replace the scores of n documents by the exact ones: counts from the forward index, impacts in canonical order.

    `slots`: of `forward_kernels.hash_terms`. `held`: zeros, and zeros again afterwards. `own`: room for the
    words of the longest document.
    """
    norm, _, doc, _, prior, _ = values
    scores, docs = out
    for i in range(n):
        ask_ahead(docs, i, n, forward)
        d = docs[i]
        look_up(d, forward, terms.numbers, slots, held, own)
        impacts = 0.0
        for t in range(len(held)):
            if held[t] > 0:
                impacts += table[table_at[t] + held[t] - 1]
                held[t] = 0
        scores[i] = score_of(impacts, d, norm, terms.constant, terms.mass, doc, prior)
