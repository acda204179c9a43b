"""Looking a document's counts of the query's terms up in the forward index."""

import numpy as np
from numba import njit

from germane.index.kernels import unpack_short, words_needed
from germane.rank.simd import prefetch

AHEAD = 4
"""Documents between asking for a forward list and reading it."""


@njit(cache=True, nogil=True)
def hash_terms(numbers):
    """An open hash table from term numbers to positions in `numbers`: `slot_of`, or one of the slots that follow."""
    size = 64
    while size < 8 * len(numbers):
        size *= 2
    slots = np.full(size, -1)
    for t in range(len(numbers)):
        slot = slot_of(numbers[t], size)
        while slots[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        slots[slot] = t
    return slots


@njit(cache=True, nogil=True, _nrt=False)
def slot_of(number, size):
    """Where a hash table of `size` (a power of two) looks for a term first: multiplicative hashing."""
    return np.int64((np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)) & (size - 1)


@njit(cache=True, nogil=True, _nrt=False)
def packed_value(words, at, bits, i):
    """Value i of those packed horizontally from words[at] on (see `index.kernels.pack`)."""
    bit = i * bits
    word, shift = at + (bit >> 5), bit & 31
    value = np.uint64(words[word]) >> np.uint64(shift)
    if shift + bits > 32:
        value |= np.uint64(words[word + 1]) << np.uint64(32 - shift)
    return np.int64(value & ((np.uint64(1) << np.uint64(bits)) - np.uint64(1)))


@njit(cache=True, nogil=True, _nrt=False, inline="always")
def ask_ahead(docs, i, n, forward):
    """Fetch into the cache what the documents a few places behind docs[i] will need; there are n."""
    if i + 2 * AHEAD < n:
        soon = docs[i + 2 * AHEAD]
        prefetch(forward.at, soon)
        prefetch(forward.n_unique, soon)
        prefetch(forward.term_bits, soon)
        prefetch(forward.tf_bits, soon)
    if i + AHEAD < n:
        at = forward.at[docs[i + AHEAD]]
        for line in range(4):
            prefetch(forward.words, at + 16 * line)


@njit(cache=True, nogil=True, _nrt=False, inline="always")
def look_up(d, forward, numbers, slots, held, terms):
    """held[t] = how often document d holds term numbers[t]; terms it does not hold are left as they are.

    `slots`: of `hash_terms`. `terms`: room for the longest document.
    """
    n, width = np.int64(forward.n_unique[d]), np.int64(forward.term_bits[d])
    unpack_short(forward.words, forward.at[d], width, n, terms, 0)
    counts_at = forward.at[d] + words_needed(n, width)
    number = np.int64(-1)
    for j in range(np.uint64(n)):
        number += np.int64(terms[j]) + 1
        slot = slot_of(number, len(slots))
        while slots[slot] >= 0:
            if numbers[slots[slot]] == number:
                bits = np.int64(forward.tf_bits[d])
                held[slots[slot]] = packed_value(forward.words, counts_at, bits, np.int64(j)) + 1
                break
            slot = (slot + 1) & (len(slots) - 1)
