# mypy: ignore-errors
"""The scores of documents that are known: their counts of the query's terms, looked up in the forward index."""

import numpy as np

from germane.index.block_kernels import words_needed
from germane.index.kernels import is_verified
from germane.index.segment_arrays import ForwardArrays
from germane.index.simd_kernels import prefetch
from germane.jit import inner, kernel
from germane.rank.maxscore.impact_kernels import begin, impact, score_of
from germane.rank.maxscore.records import Asked, DocumentArrays, Lists

AHEAD = 4
"""Documents between asking for a forward list and reading it."""


@inner
def slot_of(number, size):
    """Where a hash table of `size` (a power of two) looks for a term first: multiplicative hashing."""
    return np.int64((np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)) & (size - 1)


@inner
def hash_terms(terms, n, slots, held):
    """Put the positions of n terms into slots, at `slot_of` their numbers or the next free one behind; -1 elsewhere.

    `held`, where counts are to be put, becomes zeros.
    """
    for slot in range(len(slots)):
        slots[slot] = -1
    for i in range(n):
        held[i] = 0
        slot = slot_of(terms[i].number, len(slots))
        while slots[slot] >= 0:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = i


@inner
def packed_value(words, at, bits, i):
    """Value i of those packed horizontally from words[at] on (see `index.block_kernels`)."""
    bit = (np.uint64(at) << np.uint64(5)) + np.uint64(i) * np.uint64(bits)
    word = bit >> np.uint64(5)
    pair = np.uint64(words[word]) | (np.uint64(words[word + np.uint64(1)]) << np.uint64(32))
    return np.int64((pair >> (bit & np.uint64(31))) & ((np.uint64(1) << np.uint64(bits)) - np.uint64(1)))


@inner
def ask_ahead(docs, c, n, forward):
    """Fetch into the cache what the documents a few places behind docs[c] will need; there are n."""
    if c + 2 * AHEAD < n:
        soon = docs[c + 2 * AHEAD]
        prefetch(forward.at, soon)
        prefetch(forward.n_unique, soon)
        prefetch(forward.term_bits, soon)
        prefetch(forward.tf_bits, soon)
    if c + AHEAD < n:
        at = forward.at[docs[c + AHEAD]]
        for line in range(4):
            prefetch(forward.words, at + 16 * line)


@inner
def look_up(d, forward, terms, slots, held):
    """held[t] = how often document d holds term t; terms it does not hold are left as they are."""
    n, width = np.int64(forward.n_unique[d]), np.int64(forward.term_bits[d])
    at, number = forward.at[d], np.int64(-1)
    for j in range(n):
        number += packed_value(forward.words, at, width, j) + 1
        slot = slot_of(number, len(slots))
        while slots[slot] >= 0:
            if terms[slots[slot]].number == number:
                counts_at, bits = at + words_needed(n, width), np.int64(forward.tf_bits[d])
                held[slots[slot]] = packed_value(forward.words, counts_at, bits, j) + 1
                break
            slot = (slot + 1) & (len(slots) - 1)


@inner
def score_all(documents, forward, terms, m, slots, held, docs, out):
    """out[c] = the score of document docs[c], its counts from the forward index, impacts in the terms' order.

    -inf for one that holds none of the terms, which a search would not find. `slots`: a power of two of them. False if
    a list is not known to be right.
    """
    hash_terms(terms, m.n_terms, slots, held)
    for c in range(len(out)):
        ask_ahead(docs, c, len(out), forward)
        d, total, found = docs[c], 0.0, False
        if not is_verified(forward, d):
            return False
        look_up(d, forward, terms, slots, held)
        for i in range(m.n_terms):
            if held[i] > 0:
                total += impact(terms[i], m, np.float64(held[i]), m.x0 + m.x1 * np.float64(documents.size[d]))
                held[i], found = 0, True
        out[c] = score_of(documents, m, d, total) if found else -np.inf
    return True


@kernel
def score_documents(asked, lists, documents, forward, terms, model, slots, held, docs, out):
    """`score_all` of the documents of a segment."""
    documents, m = DocumentArrays(*documents), model[0]
    begin(Asked(*asked), Lists(*lists), terms, m, len(documents.size))
    return score_all(documents, ForwardArrays(*forward), terms, m, slots, held, docs, out)
