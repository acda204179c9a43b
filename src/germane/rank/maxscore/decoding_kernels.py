# mypy: ignore-errors
"""Decode posting lists into memory, as `posting_cache` keeps them and `search_kernels` searches them."""

import math

import numpy as np

from germane.index.block_kernels import decode_block
from germane.index.blocks import BLOCK, BlockTable
from germane.jit import inner, kernel
from germane.rank.kinds import COUNT, LOG_SIZE_RATIO, SATURATION
from germane.rank.maxscore.impact_kernels import argument
from germane.rank.maxscore.records import CHUNK, CHUNK_BITS, CODES, MANTISSA_BITS, Decoded


@inner
def ratio_class(ratio, lowest):
    """The class of a ratio, rounded up: the number of those from `lowest` on, 0 for any smaller one."""
    bits = np.float64(ratio).view(np.int64) + ((1 << MANTISSA_BITS) - 1)
    return max((bits >> MANTISSA_BITS) - lowest, 0)


@inner
def largest_ratio(code, lowest):
    """The largest ratio of a class; of a smaller one any ratio is below."""
    return np.int64((lowest + code) << MANTISSA_BITS).view(np.float64)


@inner
def code_postings(coding, docs, extras, size, sizes, codes, a, b):
    """codes[i] = the code of posting i for a <= i < b, too large where none is left; `sizes`: memory for these."""
    kind, delta, x0, x1, first, _ = coding
    lowest = np.int64(first)
    if kind == COUNT:
        for i in range(np.uint64(a), np.uint64(b)):
            codes[i] = extras[i]
        return
    for i in range(np.uint64(a), np.uint64(b)):  # apart from what follows, so that many are computed at once there
        sizes[i] = size[np.uint64(docs[i])]
    if kind == SATURATION:
        for i in range(np.uint64(a), np.uint64(b)):
            count = np.float64(extras[i]) + 1.0
            share = argument(SATURATION, 1.0, 0.0, count, x0 + x1 * np.float64(sizes[i]))
            codes[i] = np.uint32(np.int32(math.ceil(share * CODES)) - 1)  # a share is not above 1
    else:
        for i in range(np.uint64(a), np.uint64(b)):
            count, by = np.float64(extras[i]) + 1.0, x0 + x1 * np.float64(sizes[i])
            ratio = argument(LOG_SIZE_RATIO, 1.0, delta, count, by)
            codes[i] = np.uint32(ratio_class(ratio, lowest))


@inner
def put(decoded, row, chunk, at, docs, extras, codes, a, b, sized):
    """Store the postings from a to b of a block, all of one chunk, from `at` on; whether some do not fit a byte."""
    at, most, last = np.uint64(at), np.uint32(0), np.uint32(CODES - 1)
    least, top = np.uint32(decoded.least[row]), np.uint32(decoded.tops[row, chunk])
    for i in range(np.uint64(a), np.uint64(b)):
        to = at + i - np.uint64(a)
        decoded.docs[to] = np.uint16(docs[i] & np.uint32(CHUNK - 1))
        decoded.extras[to] = np.uint8(min(extras[i], last))
        most = max(most, extras[i])
    for i in range(np.uint64(a), np.uint64(b)):
        least, top = min(least, codes[i]), max(top, codes[i])
    if sized:
        for i in range(np.uint64(a), np.uint64(b)):
            decoded.codes[at + i - np.uint64(a)] = np.uint8(min(codes[i], last))
    decoded.least[row], decoded.tops[row, chunk] = np.uint8(least), np.uint8(min(top, last))
    return most >= last or top > last


@inner
def note_large(decoded, row, at, extras, codes, a, b, n_large):
    """Note the counts that do not fit a byte, and the largest one of those that have no code; how many there are."""
    for i in range(a, b):
        count = np.int64(extras[i]) + 1
        if count >= CODES and n_large < len(decoded.large) - 1:  # a forged file may have more than its totals allow
            decoded.large[n_large, 0], decoded.large[n_large, 1] = at + i - a + 1, count
            n_large += 1
        if codes[i] >= CODES:
            decoded.most[row] = max(decoded.most[row], count)
    return n_large


@kernel
def decode(words, table, first_block, df, size, coding, numbers, state, decoded, block):
    """Decode the lists of terms behind those that are there; `state` counts lists, postings, and large counts.

    `coding`: a `posting_cache.Coding`; `block`: memory for four blocks.
    """
    table, decoded = BlockTable(*table), Decoded(*decoded)
    docs, extras, sizes, codes = block[0], block[1], block[2], block[3]
    row, used, n_large, sized = state[0], state[1], state[2], coding[0] != COUNT
    n_chunks = decoded.begins.shape[1] - 1
    for number in numbers:
        length, first, previous, chunk = df[number], first_block[number], np.int64(-1), -1
        decoded.most[row], decoded.least[row] = 0, CODES - 1
        for done in range(0, length, BLOCK):
            n, a = min(BLOCK, length - done), 0
            decode_block(words, table, first + done // BLOCK, n, previous, docs, extras, 0)
            previous = np.int64(docs[n - 1])
            while a < n:
                own, b = np.int64(docs[a]) >> CHUNK_BITS, n
                while own < np.int64(docs[b - 1]) >> CHUNK_BITS:
                    b -= 1
                while chunk < own:
                    chunk += 1
                    decoded.begins[row, chunk], decoded.tops[row, chunk] = used, 0
                code_postings(coding, docs, extras, size, sizes, codes, a, b)
                if put(decoded, row, chunk, used, docs, extras, codes, a, b, sized):
                    n_large = note_large(decoded, row, used, extras, codes, a, b, n_large)
                used, a = used + b - a, b
        while chunk < n_chunks:
            chunk += 1
            decoded.begins[row, chunk], decoded.tops[row, chunk] = used, 0
        row += 1
    state[0], state[1], state[2] = row, used, n_large
