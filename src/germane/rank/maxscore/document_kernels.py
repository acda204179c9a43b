# mypy: ignore-errors
"""Sums over the words of every document of a segment.

`rank.maxscore.impact_kernels` tells the shape of a score, `rank.maxscore.records` what the groups of arguments hold.
"""

import math

import numpy as np

from germane.index.block_kernels import decode_list
from germane.index.blocks import BLOCK
from germane.jit import allocating, inner, kernel
from germane.rank.maxscore.impact_kernels import impact
from germane.rank.maxscore.records import Asked, Lists


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


@inner
def set_impact(settings, m):
    """The numbers of the impact that belong to no term."""
    m.kind, m.delta, m.x0, m.x1 = np.int64(settings[0]), settings[1], settings[2], settings[3]


@allocating
def impact_sums(asked, lists, words, table, size, term, model, out):
    """out[d] = Σ_t impact(t, d) over the terms asked for, for every document of the segment."""
    asked, lists, t, m = Asked(*asked), Lists(*lists), term[0], model[0]
    set_impact(asked.settings, m)
    out[:] = 0.0
    largest = 0
    for number in asked.numbers:
        largest = max(largest, lists.df[number])
    docs, counts = np.empty(largest + BLOCK, np.uint32), np.empty(largest + BLOCK, np.uint32)
    for i in range(len(asked.numbers)):
        first, df = lists.first_block[asked.numbers[i]], lists.df[asked.numbers[i]]
        t.weight, t.scale = asked.weight[i], asked.scale[i]
        decode_list(words, table, first, df, docs, counts)
        for j in range(df):
            d = docs[j]
            out[d] += impact(t, m, np.float64(counts[j]), m.x0 + m.x1 * np.float64(size[d]))


@kernel
def impacts_of(asked, size, term, model, counts, out):
    """out[i] = the impact of counts[i] occurrences of term i in a document of this size, 0 for none."""
    asked, t, m = Asked(*asked), term[0], model[0]
    set_impact(asked.settings, m)
    for i in range(len(counts)):
        t.weight, t.scale = asked.weight[i], asked.scale[i]
        out[i] = impact(t, m, counts[i], m.x0 + m.x1 * size) if counts[i] > 0.0 else 0.0
