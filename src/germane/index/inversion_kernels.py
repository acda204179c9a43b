# mypy: ignore-errors
"""Numba kernels that turn lists of documents into lists of terms and back, by counting sorts."""

import numpy as np
from numba import uint64

from germane.jit import inner, njit
from germane.text.instruction_kernels import fetch

AHEAD = 24
"""So many postings before one is written, its place in memory is asked for."""
SHORT = 256
"""Terms of a list that one pass of a radix sort brings near enough to their places."""


@inner
def _insertion_sort(keys, n):
    for i in range(1, n):
        key, k = keys[i], i
        while k > 0 and keys[k - 1] > key:
            keys[k] = keys[k - 1]
            k -= 1
        keys[k] = key


@njit(cache=True, nogil=True, _nrt=False)
def sort_lists(terms, counts, ends, moved, rank, n_terms, keys, spare, places):
    """Renumber the terms of each document by `rank` (below `n_terms`) and sort them, their counts with them.

    In NumPy, for each list: `order = rank[terms].argsort()`, then `rank[terms][order]`, `counts[order]`;
    `moved[order] = arange`, the place that each term came to. A radix sort by bytes; a short list is sorted by the
    highest byte, and what is left by insertion. `keys` and `spare` have room for the longest list, `places` for 256
    numbers.
    """
    begin, highest = 0, 32
    while n_terms > 1 << (highest + 8 - 32):
        highest += 1
    for d in range(ends.size):
        n = ends[d] - begin
        for i in range(n):
            keys[i] = uint64(rank[terms[begin + i]]) << uint64(32) | uint64(i)
        shift = highest if n <= SHORT else 32
        while n_terms > 1 << (shift - 32):
            places[:] = 0
            for i in range(n):
                places[keys[i] >> uint64(shift) & uint64(255)] += 1
            at = 0
            for byte in range(256):
                at, places[byte] = at + places[byte], at
            for i in range(n):
                byte = keys[i] >> uint64(shift) & uint64(255)
                spare[places[byte]] = keys[i]
                places[byte] += 1
            keys, spare = spare, keys
            shift += 8
        if n <= SHORT:
            _insertion_sort(keys, n)
        for i in range(n):
            spare[i] = counts[begin + i]
        for i in range(n):
            before = keys[i] & uint64(0xFFFFFFFF)
            terms[begin + i] = keys[i] >> uint64(32)
            counts[begin + i] = spare[before]
            moved[uint64(begin) + before] = i
        begin = ends[d]


@njit(cache=True, nogil=True, _nrt=False)
def count_lists(terms, df):
    """`df += np.bincount(terms, minlength=len(df))`: one for each document that holds the term."""
    for i in range(terms.size):
        df[terms[uint64(i)]] += 1


@njit(cache=True, nogil=True, _nrt=False)
def invert(terms, counts, ends, first, at, postings):
    """Documents' own lists -> posting lists.

    Document `first + d` holds `terms[ends[d - 1]:ends[d]]`, each as often as `counts` says; its posting
    `document << 32 | count` goes to `postings[at[term]]`, and `at[term]` advances. Documents ascend from call to call.
    """
    i, last = np.int64(0), terms.size - 1
    for d in range(ends.size):
        while i < ends[d]:
            fetch(postings, at[terms[uint64(min(i + AHEAD, last))]])
            place = at[terms[uint64(i)]]
            at[terms[uint64(i)]] = place + 1
            postings[uint64(place)] = uint64(first + d) << uint64(32) | uint64(counts[uint64(i)])
            i += 1


@njit(cache=True, nogil=True)
def transpose(starts, docs, counts, n_docs, doc_starts, terms, term_counts):
    """Posting lists -> forward lists (terms ascending in each document)."""
    for i in range(starts[len(starts) - 1]):
        doc_starts[np.int64(docs[i]) + 1] += 1
    for d in range(n_docs):
        doc_starts[d + 1] += doc_starts[d]
    at = doc_starts[:-1].copy()
    for t in range(len(starts) - 1):
        for i in range(starts[t], starts[t + 1]):
            d = docs[i]
            terms[at[d]] = np.uint32(t)
            term_counts[at[d]] = counts[i]
            at[d] += 1
