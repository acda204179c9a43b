"""Kernels that score documents rather than find the best: all of a segment, or a few that are known.

`rank.kernels` tells the shape of a score, `rank.arguments` what the groups of arguments hold.
"""

import math

import numpy as np
from numba import njit

from germane.index.kernels import BLOCK, decode_list
from germane.rank.forward_kernels import hash_terms, look_up
from germane.rank.kernels import impact, score_of


@njit(cache=True, nogil=True)
def word_sums(blocks, first_block, df, weight, squared_log, out):
    """out[d] = Σ_w f(c_wd) · weight(w) over all words of document d, f(c) = (1 + log c)² or c."""
    largest = 0
    for t in range(len(df)):
        largest = max(largest, np.int64(df[t]))
    docs = np.empty(largest + BLOCK, np.uint32)
    counts = np.empty(largest + BLOCK, np.uint32)
    out[:] = 0.0
    for t in range(len(df)):
        n = np.int64(df[t])
        decode_list(
            blocks.words, blocks.last, blocks.at, blocks.doc_bits, blocks.tf_bits, blocks.max_tf, first_block[t], n,
            docs, counts,
        )  # fmt: skip
        for i in range(n):
            value = np.float64(counts[i])
            if squared_log:
                value = (1.0 + math.log(value)) ** 2
            out[docs[i]] += value * weight[t]


@njit(cache=True, nogil=True)
def impact_sums(blocks, terms, out):
    """out[d] = Σ_t impact(t, d) over the terms given, for every document of the segment."""
    first_block, df, _, weight, scale, kind, delta, x0, x1, size, _, _, _ = terms
    largest = 0
    for t in range(len(df)):
        largest = max(largest, np.int64(df[t]))
    docs = np.empty(largest + BLOCK, np.uint32)
    counts = np.empty(largest + BLOCK, np.uint32)
    out[:] = 0.0
    for t in range(len(df)):
        n = np.int64(df[t])
        decode_list(
            blocks.words, blocks.last, blocks.at, blocks.doc_bits, blocks.tf_bits, blocks.max_tf, first_block[t], n,
            docs, counts,
        )  # fmt: skip
        for i in range(n):
            d = docs[i]
            out[d] += impact(kind, weight[t], scale[t], delta, x0, x1, np.float64(counts[i]), np.float64(size[d]))


@njit(cache=True, nogil=True)
def score_documents(forward, terms, values, docs, out):
    """out[i] = the score of document docs[i], its counts looked up in the forward index, impacts in the order given.

    -inf for one that holds none of the terms, which a search would not find.
    """
    _, _, numbers, weight, scale, kind, delta, x0, x1, size, _, constant, mass = terms
    norm, _, doc, _, prior, _ = values
    most = 0
    for d in docs:
        most = max(most, np.int64(forward.n_unique[d]))
    slots, held, own = hash_terms(numbers), np.zeros(len(numbers), np.int64), np.empty(most, np.uint32)
    for i in range(len(docs)):
        d = docs[i]
        look_up(d, forward, numbers, slots, held, own)
        impacts = 0.0
        found = False
        for t in range(len(held)):
            if held[t] > 0:
                count = np.float64(held[t])
                impacts += impact(kind, weight[t], scale[t], delta, x0, x1, count, np.float64(size[d]))
                held[t] = 0
                found = True
        out[i] = score_of(impacts, d, norm, constant, mass, doc, prior) if found else -np.inf
