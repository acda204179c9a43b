# mypy: ignore-errors
"""Numba kernels that verify what others rely on: the order of the dictionary, and packed lists (`index.check`)."""

import numpy as np

from germane.index.block_kernels import pack
from germane.index.blocks import BLOCK, BlockTable
from germane.index.string_kernels import less, same_string
from germane.jit import inner, kernel


@inner
def same_words(words, at, values, n, bits, room):
    """Whether the n values, packed in so many bits each, are the words from `at` on; where those end."""
    end = pack(values, n, bits, room, 0)
    for i in range(n):
        if np.int64(values[i]) >> bits > 0:
            return False, at + end
    for i in range(end):
        if words[at + i] != room[i]:
            return False, at + end
    return True, at + end


@kernel
def lists_are_packed(words, table, b, starts, docs, counts, values, room):
    """Whether the lists `docs[starts[t]:starts[t + 1]]`, decoded from block b on, are what the words say.

    Decoding keeps to the table where the words contradict it (`index.block_kernels.decode_block`). `values`, `room`:
    BLOCK uint32 each.
    """
    table = BlockTable(*table)
    for t in range(len(starts) - 1):
        before = np.int64(-1)
        for begin in range(starts[t], starts[t + 1], BLOCK):
            n, at = min(BLOCK, starts[t + 1] - begin), np.int64(table.at[b])
            for i in range(n):
                values[i] = np.uint32(np.int64(docs[begin + i]) - before - 1)
                before = np.int64(docs[begin + i])
            same = True
            if n > 1:
                same, at = same_words(words, at, values, n, np.int64(table.doc_bits[b]), room)
            for i in range(n):
                values[i] = counts[begin + i] - np.uint32(1)
            if same and table.tf_bits[b] > 0:
                same, at = same_words(words, at, values, n, np.int64(table.tf_bits[b]), room)
            if not same:
                return False
            b += 1
    return True


@kernel
def strings_ascend(data, offsets):
    """Whether each string is less than the next."""
    for i in range(len(offsets) - 2):
        if not less(data, offsets, i, i + 1) or same_string(data, offsets, i, i + 1):
            return False
    return True
