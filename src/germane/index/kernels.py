# mypy: ignore-errors
"""Numba kernels of the index: forward lists, joining of lists."""

import numpy as np

from germane.index.block_kernels import bits_needed, decode_list, unpack_short, words_needed
from germane.index.segment_arrays import ForwardArrays
from germane.jit import inner, kernel

DIGIT = 11
"""Bits of a term's number that one pass of a radix sort looks at."""
UNVERIFIED = -2
"""What a kernel answers that needs a forward list of which it is not known yet whether it is right."""


@kernel
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
        gaps, width = np.uint64(0), 0  # what is not written yet, and its bits
        previous = np.int64(-1)
        for i in range(begin, begin + n):
            gaps |= np.uint64(np.int64(terms[i]) - previous - 1) << np.uint64(width)
            previous = np.int64(terms[i])
            width += gap_width
            if width >= 32:
                words[at] = np.uint32(gaps & np.uint64(0xFFFFFFFF))
                gaps >>= np.uint64(32)
                width -= 32
                at += 1
        if width > 0:
            words[at] = np.uint32(gaps)
            at += 1
        tfs, width = np.uint64(0), 0
        for i in range(begin, begin + n):
            tfs |= np.uint64(counts[i] - np.uint32(1)) << np.uint64(width)
            width += tf_width
            if width >= 32:
                words[at] = np.uint32(tfs & np.uint64(0xFFFFFFFF))
                tfs >>= np.uint64(32)
                width -= 32
                at += 1
        if width > 0:
            words[at] = np.uint32(tfs)
            at += 1
    return at


@kernel
def decode_forward(words, at, n, term_width, tf_width, terms, counts, base):
    """Read one document's list packed by `encode_forward` into `terms`, `counts` from `base` on; return its last term.

    Terms ascend: where the last one is in the dictionary, all are.
    """
    unpack_short(words, at, term_width, n, terms, base)
    unpack_short(words, at + words_needed(n, term_width), tf_width, n, counts, base)
    t = np.int64(-1)
    for i in range(base, base + n):
        t += np.int64(terms[i]) + 1
        terms[i] = np.uint32(t)
        counts[i] += np.uint32(1)
    return t


@kernel
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


@inner
def is_verified(forward, d):
    """Whether the pieces that hold document d's list were verified."""
    begin, end, step = 4 * forward.at[d], 4 * forward.at[d + 1], forward.step
    for piece in range(begin // step, (end + step - 1) // step):
        if forward.right[piece] == 0:
            return False
    return True


@kernel
def decode_forward_many(forward, docs, starts, terms, counts):
    """`decode_forward` for several documents: list d goes to `terms[starts[d]:starts[d + 1]]`; fills `starts`.

    Returns the largest of their terms, or UNVERIFIED.
    """
    forward, most = ForwardArrays(*forward), np.int64(-1)
    starts[0] = 0
    for i in range(len(docs)):
        d = docs[i]
        if not is_verified(forward, d):
            return UNVERIFIED
        n, widths = np.int64(forward.n_unique[d]), (np.int64(forward.term_bits[d]), np.int64(forward.tf_bits[d]))
        last = decode_forward(forward.words, forward.at[d], n, *widths, terms, counts, starts[i])
        starts[i + 1], most = starts[i] + n, max(most, last)
    return most


@kernel
def number_anew(numbers, orders, begins, words, distinct):
    """words[i] = the place of numbers[i] among the distinct ones, which go to `distinct`, ascending. How many.

    Radix sort of the numbers, each with its i. `orders`: memory, two rows as long as the numbers; `begins`: 2^DIGIT.
    Equivalent in NumPy: `np.unique(numbers, return_inverse=True)`.
    """
    (order, other), n, most, shift = orders, len(numbers), np.uint64(0), np.uint64(32)
    low, digits, step = np.uint64((1 << 32) - 1), np.uint64((1 << DIGIT) - 1), np.uint64(DIGIT)
    for i in range(n):
        order[i] = (np.uint64(numbers[i]) << shift) | np.uint64(i)
        most = max(most, order[i])
    while shift < 64 and most >> shift > 0:
        begins[:] = 0
        for i in range(n):
            begins[(order[i] >> shift) & digits] += 1
        smaller = 0
        for digit in range(len(begins)):
            begins[digit], smaller = smaller, smaller + begins[digit]
        for i in range(n):
            digit = (order[i] >> shift) & digits
            other[begins[digit]] = order[i]
            begins[digit] += 1
        order, other, shift = other, order, shift + step
    last = before = np.int64(-1)
    for i in range(n):
        number = np.int64(order[i] >> np.uint64(32))
        last += number != before
        distinct[last], words[order[i] & low], before = number, last, number
    return last + 1


@kernel
def close_gaps(room, ends, docs, counts):
    """Move list i from [room[i], ends[i]) to directly behind list i - 1, in place."""
    at = 0
    for i in range(len(ends)):
        for j in range(room[i], ends[i]):
            docs[at] = docs[j]
            counts[at] = counts[j]
            at += 1
