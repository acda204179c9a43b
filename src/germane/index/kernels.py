"""Numba kernels of the index: inversion of token streams, forward lists, joining of lists, strings."""

import numpy as np
from numba import njit

from germane.index.block_kernels import bits_needed, decode_list, put, unpack_short, words_needed


@njit(cache=True, nogil=True)
def invert(tokens, ends, rank, cf, docs, counts, starts):
    """Token stream -> posting lists, by one counting sort; returns the number of postings.

    `rank[t]` is the final number of term t; `cf[rank]` its collection frequency (filled here); `docs`, `counts` need
    room for every token; `starts` (V + 1) receives the list boundaries. Equivalent: `np.unique` over (rank, document)
    pairs with counts.
    """
    n_terms = len(cf)
    for i in range(len(tokens)):
        cf[rank[tokens[i]]] += 1
    at = np.empty(n_terms, np.int64)
    total = 0
    for t in range(n_terms):
        at[t] = total
        total += cf[t]
    position = 0
    for d in range(len(ends)):
        while position < ends[d]:
            t = rank[tokens[position]]
            docs[at[t]] = np.uint32(d)
            at[t] += 1
            position += 1
    out = 0
    read = 0
    for t in range(n_terms):
        starts[t] = out
        stop = read + cf[t]
        while read < stop:
            d = docs[read]
            c = np.uint32(1)
            read += 1
            while read < stop and docs[read] == d:
                c += np.uint32(1)
                read += 1
            docs[out] = d
            counts[out] = c
            out += 1
    starts[n_terms] = out
    return out


@njit(cache=True, nogil=True)
def transpose(starts, docs, counts, n_docs, doc_starts, terms, term_counts):
    """Posting lists -> forward lists (terms ascending in each document), by one counting sort."""
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


@njit(cache=True, nogil=True)
def encode_forward(doc_starts, terms, counts, words, term_bits, tf_bits):
    """Pack each document's (term, count) list horizontally: gaps of `term_bits`, counts - 1 of `tf_bits`."""
    at = 0
    for d in range(len(doc_starts) - 1):
        begin = doc_starts[d]
        n = doc_starts[d + 1] - begin
        max_gap = np.int64(0)
        max_tf = np.int64(1)
        previous = np.int64(-1)
        for i in range(begin, begin + n):
            max_gap = max(max_gap, np.int64(terms[i]) - previous - 1)
            max_tf = max(max_tf, np.int64(counts[i]))
            previous = np.int64(terms[i])
        gap_width = bits_needed(max_gap)
        tf_width = bits_needed(max_tf - 1)
        term_bits[d] = gap_width
        tf_bits[d] = tf_width
        size = words_needed(n, gap_width) + words_needed(n, tf_width)
        for i in range(size):
            words[at + i] = np.uint32(0)
        previous = np.int64(-1)
        for i in range(n if gap_width > 0 else 0):
            put(words, at, i * gap_width, gap_width, np.int64(terms[begin + i]) - previous - 1, 1)
            previous = np.int64(terms[begin + i])
        at += words_needed(n, gap_width)
        for i in range(n if tf_width > 0 else 0):
            put(words, at, i * tf_width, tf_width, np.int64(counts[begin + i]) - 1, 1)
        at += words_needed(n, tf_width)
    return at


@njit(cache=True, nogil=True, _nrt=False)
def decode_forward(words, at, n, term_width, tf_width, terms, counts, base):
    """Read one document's list packed by `encode_forward` into `terms`, `counts` from `base` on."""
    unpack_short(words, at, term_width, n, terms, base)
    unpack_short(words, at + words_needed(n, term_width), tf_width, n, counts, base)
    t = np.int64(-1)
    for i in range(base, base + n):
        t += np.int64(terms[i]) + 1
        terms[i] = np.uint32(t)
        counts[i] += np.uint32(1)


@njit(cache=True, nogil=True)
def merge_lists(words, table, first_blocks, dfs, remap, buffer_docs, buffer_counts, docs, counts, starts):
    """Append lists of one segment, documents renumbered by `remap` (-1 drops), to lists under construction.

    For each i: list i is decoded and written to `docs[starts[i]:]`; `starts[i]` advances by the postings kept.
    A list with dfs[i] = 0 is absent from this segment.
    """
    for i in range(len(dfs)):
        if dfs[i] == 0:
            continue
        decode_list(words, table, first_blocks[i], dfs[i], buffer_docs, buffer_counts)
        at = starts[i]
        for j in range(dfs[i]):
            d = remap[buffer_docs[j]]
            if d >= 0:
                docs[at] = np.uint32(d)
                counts[at] = buffer_counts[j]
                at += 1
        starts[i] = at


@njit(cache=True, nogil=True)
def find_strings(data, offsets, order, query_data, query_offsets, found):
    """found[i] = position p with string(order[p]) == query i, or -1; strings ascend along `order`.

    An empty `order` stands for the identity. Equivalent: `bisect` over the byte strings.
    """
    n = len(offsets) - 1
    direct = len(order) == 0
    for q in range(len(query_offsets) - 1):
        begin = query_offsets[q]
        length = query_offsets[q + 1] - begin
        low = np.int64(0)
        high = np.int64(n)
        found[q] = -1
        while low < high:
            middle = (low + high) >> 1
            s = middle if direct else np.int64(order[middle])
            at = np.int64(offsets[s])
            size = np.int64(offsets[s + 1]) - at
            common = min(size, length)
            i = 0
            while i < common and data[at + i] == query_data[begin + i]:
                i += 1
            if i == common and size == length:
                found[q] = middle
                break
            if i < common:
                smaller = data[at + i] < query_data[begin + i]
            else:
                smaller = size < length
            if smaller:
                low = middle + 1
            else:
                high = middle


@njit(cache=True, nogil=True)
def gather_strings(data, offsets, wanted, out):
    """Copy the wanted strings into `out`, each followed by a zero byte; return the bytes written."""
    at = 0
    for i in range(len(wanted)):
        s = wanted[i]
        for j in range(np.int64(offsets[s]), np.int64(offsets[s + 1])):
            out[at] = data[j]
            at += 1
        out[at] = np.uint8(0)
        at += 1
    return at


@njit(cache=True, nogil=True)
def decode_forward_many(words, ats, term_widths, tf_widths, starts, terms, counts):
    """`decode_forward` for neighbouring documents: list d goes to `terms[starts[d]:starts[d + 1]]`."""
    for d in range(len(ats)):
        decode_forward(
            words, ats[d], starts[d + 1] - starts[d], term_widths[d], tf_widths[d], terms, counts, starts[d]
        )  # fmt: skip


@njit(cache=True, nogil=True)
def close_gaps(room, ends, docs, counts):
    """Move list i from [room[i], ends[i]) to directly behind list i - 1, in place."""
    at = 0
    for i in range(len(ends)):
        for j in range(room[i], ends[i]):
            docs[at] = docs[j]
            counts[at] = counts[j]
            at += 1


@njit(cache=True, nogil=True)
def same_string(data, offsets, a, b):
    """`string(a) == string(b)`."""
    size = np.int64(offsets[a + 1]) - np.int64(offsets[a])
    if size != np.int64(offsets[b + 1]) - np.int64(offsets[b]):
        return False
    for j in range(size):
        if data[np.int64(offsets[a]) + j] != data[np.int64(offsets[b]) + j]:
            return False
    return True


@njit(cache=True, nogil=True)
def repeated_strings(data, offsets, order, sequence, pairs):
    """Among equal strings (neighbours along `order`): each with the next one by `sequence`; returns how many pairs."""
    n = 0
    begin = 0
    while begin < len(order):
        end = begin + 1
        while end < len(order) and same_string(data, offsets, np.int64(order[begin]), np.int64(order[end])):
            end += 1
        if end - begin > 1:
            group = order[begin:end].astype(np.int64)
            group = group[np.argsort(sequence[group])]
            for i in range(len(group) - 1):
                pairs[n, 0] = group[i]
                pairs[n, 1] = group[i + 1]
                n += 1
        begin = end
    return n
