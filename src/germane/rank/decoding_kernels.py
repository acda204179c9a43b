"""Unpacking lists into memory, as `rank.decoded` keeps them and `rank.decoded_kernels` searches them."""

import math

import numpy as np

from germane.index.block_kernels import decode_block
from germane.index.blocks import BLOCK
from germane.jit import inner, kernel
from germane.rank.records import CHUNK, CHUNK_BITS, CLASSES, CODES, PEAKS, Decoded, Lists
from germane.rank.simd import count_bits


@inner
def copy_peaks(decoded, row, counts, room, used):
    """Copy the postings of a list whose codes are the largest, at most `room` of them, behind all postings.

    `counts`: those of each code. Returns how many postings there are then.
    """
    cut = CODES - 1
    while cut > 0 and np.int64(counts[cut]) <= room:
        room -= np.int64(counts[cut])
        cut -= 1
    decoded.cuts[row] = cut
    for chunk in range(decoded.begins.shape[1] - 1):
        decoded.peaks[row, chunk] = used
        for p in range(decoded.begins[row, chunk], decoded.begins[row, chunk + 1]):
            decoded.docs[used], decoded.codes[used] = decoded.docs[p], decoded.codes[p]
            used += decoded.codes[p] > cut
    decoded.peaks[row, -1] = used
    return used


@kernel
def fill(words, table, lists, size, x0, x1, numbers, state, decoded, block):
    """Unpack the lists of terms behind those that are there; `state` counts lists, postings, and large counts.

    `x0`, `x1`: of the saturation that is to be kept beside counts; x0 < 0: counts alone. `block`: memory for one, and
    for a number for each code.
    """
    lists, decoded, docs, extras, counts = Lists(*lists), Decoded(*decoded), block[0], block[1], block[2]
    row, used, n_large = state[0], state[1], state[2]
    for number in numbers:
        df, first, previous, chunk = lists.df[number], lists.first_block[number], np.int64(-1), 0
        decoded.begins[row, 0], decoded.tops[row, 0], decoded.most[row] = used, 0, 1
        for code in range(CODES):
            counts[code] = 0
        for done in range(0, df, BLOCK):
            b, n = first + done // BLOCK, min(BLOCK, df - done)
            decode_block(words, table, b, n, previous, docs, extras, 0)
            previous = np.int64(table[b].last)
            for i in range(n):
                d, count = np.int64(docs[i]), np.int64(extras[i]) + 1
                while chunk < d >> CHUNK_BITS:
                    chunk += 1
                    decoded.begins[row, chunk], decoded.tops[row, chunk] = used, 0
                code = count - 1 if count < CODES else CODES - 1
                if count >= CODES:
                    decoded.large[n_large, 0], decoded.large[n_large, 1] = used, count
                    n_large += 1
                    if count > decoded.most[row]:
                        decoded.most[row] = count
                decoded.docs[used], decoded.extras[used] = np.uint16(d & (CHUNK - 1)), np.uint8(code)
                if x0 >= 0.0:
                    share = count / (count + (x0 + x1 * np.float64(size[d])))
                    code = np.int64(math.ceil(share * CODES)) - 1  # share <= 1
                    decoded.codes[used] = np.uint8(code)
                counts[code] += 1
                if code > decoded.tops[row, chunk]:
                    decoded.tops[row, chunk] = np.uint8(code)
                used += 1
        while chunk + 1 < decoded.begins.shape[1]:
            chunk += 1
            decoded.begins[row, chunk], decoded.tops[row, chunk] = used, 0
        used = copy_peaks(decoded, row, counts, df // PEAKS, used)
        row += 1
    state[0], state[1], state[2] = row, used, n_large


@kernel
def spread(decoded, rows, n):
    """Write the lists of frequent terms in their second form, from row n on. Classes are equal parts of the codes."""
    decoded = Decoded(*decoded)
    for row in rows:
        begins, classes, held = decoded.begins[row], decoded.classes[n], decoded.held[n]
        least, cut = np.int64(CODES), np.int64(decoded.cuts[row])
        for p in range(begins[0], begins[-1]):
            least = min(least, np.int64(decoded.codes[p]))
        width = (cut - least) // (CLASSES - 1) + 1
        decoded.frequent[row], decoded.steps[n, 0], decoded.steps[n, 1] = n, least, width
        for chunk in range(len(begins) - 1):
            for p in range(begins[chunk], begins[chunk + 1]):
                d = (chunk << CHUNK_BITS) + np.int64(decoded.docs[p])
                own = 1 + (min(np.int64(decoded.codes[p]), cut) - least) // width
                held[d >> 6, 0] |= np.uint64(1) << np.uint64(d & 63)
                classes[(d >> 5 << 4) + (d & 15)] |= np.uint8(own << (d >> 2 & 4))
        before = begins[0]
        for word in range(len(held)):
            held[word, 1] = np.uint64(before)
            before += count_bits(held[word, 0])
        n += 1
