# mypy: ignore-errors
"""Decoding with open eyes: the kernels that look at lists before others rely on them."""

import numpy as np

from germane.index.block_kernels import decode_block
from germane.index.blocks import BLOCK, TF_CAP
from germane.index.string_kernels import less, same_string
from germane.jit import inner, kernel


@inner
def block_is_sound(block, docs, extras, n, previous, doc_len):
    """Whether a decoded block is what the table says of it, and its documents ascend from `previous` on.

    Its last document is known to be in the segment: one that ascends up to it is too.
    """
    if np.int64(docs[0]) <= previous or docs[n - 1] != block.last:
        return False
    ascending = True
    for i in range(1, n):
        ascending &= docs[i] > docs[i - 1]
    if not ascending:
        return False
    largest = np.uint32(0)
    for i in range(n):
        if extras[i] >= doc_len[np.int64(docs[i])]:
            return False
        largest = max(largest, extras[i])
    return min(np.int64(largest) + 1, np.int64(TF_CAP)) == np.int64(block.max_tf)


@kernel
def first_bad_list(words, table, first_block, df, cf, doc_len, terms, docs, extras):
    """The first of `terms` whose list is not what the tables say of it; -1 where all are.

    The tables are known to stay within `words`, and to name no document that is not there. `docs`, `extras`: room for
    a block.
    """
    for k in range(len(terms)):
        t = terms[k]
        previous, total, b = np.int64(-1), np.int64(0), first_block[t]
        for done in range(0, df[t], BLOCK):
            n = min(BLOCK, df[t] - done)
            decode_block(words, table, b, n, previous, docs, extras, 0)
            if not block_is_sound(table[b], docs, extras, n, previous, doc_len):
                return t
            for i in range(n):
                total += np.int64(extras[i]) + 1
            previous = np.int64(table[b].last)
            b += 1
        if total != cf[t]:
            return t
    return np.int64(-1)


@kernel
def strings_ascend(data, offsets):
    """Whether each string is less than the next."""
    for i in range(len(offsets) - 2):
        if not less(data, offsets, i, i + 1) or same_string(data, offsets, i, i + 1):
            return False
    return True
