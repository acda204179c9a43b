# mypy: ignore-errors
"""Sums over the words of every document of a segment, matching or not."""

import math

import numpy as np

from germane.index.block_kernels import decode_list
from germane.index.blocks import BLOCK
from germane.jit import allocating
from germane.rank.maxscore.impact_kernels import impact, set_impact


@allocating
def word_sums(words, table, first_block, df, weight, squared_log, out):
    """out[d] = Σ_w f(c_wd) · weight(w) over all words of document d, f(c) = (1 + log c)² or c."""
    out[:] = 0.0
    largest = 0
    for t in range(len(df)):
        largest = max(largest, df[t])
    docs, counts = np.empty(largest + BLOCK, np.uint32), np.empty(largest + BLOCK, np.uint32)
    for t in range(len(df)):
        decode_list(words, table, first_block[t], df[t], docs, counts)
        for i in range(df[t]):
            value = np.float64(counts[i])
            if squared_log:
                value = (1.0 + math.log(value)) ** 2
            out[docs[i]] += value * weight[t]


@allocating
def impact_sums(weight, scale, settings, numbers, words, table, first_block, df, size, term, search, out):
    """out[d] = Σ_t impact(t, d) over the terms `numbers`, for every document of the segment."""
    t, m = term[0], search[0]
    set_impact(settings, m)
    out[:] = 0.0
    largest = 0
    for number in numbers:
        largest = max(largest, df[number])
    docs, counts = np.empty(largest + BLOCK, np.uint32), np.empty(largest + BLOCK, np.uint32)
    for i in range(len(numbers)):
        length = df[numbers[i]]
        t.weight, t.scale = weight[i], scale[i]
        decode_list(words, table, first_block[numbers[i]], length, docs, counts)
        for j in range(length):
            d = docs[j]
            out[d] += impact(t, m, np.float64(counts[j]), m.x0 + m.x1 * np.float64(size[d]))
