"""Numba kernels of the index: block packing, encoding and decoding of lists.

Layout of a posting list (documents ascending, counts >= 1), in blocks of BLOCK = 128 postings:

- gaps: d_i - d_(i-1) - 1, the predecessor of the first posting of a block being the last document of the block before
  (or -1), each in `doc_bits` bits;
- counts: tf - 1, each in `tf_bits` bits; `tf_bits` = 0 says that every count of the block is the block's maximum;
- a block of one posting stores no gap: its document is the block's last.

A full block is packed vertically (value i lies in lane i % 4), so that four neighbours are shifted and masked by one
vector instruction (`index.simd`); a last, shorter block is packed horizontally, one value after the other. `words` are
uint32. The block maximum of the counts is kept in 8 bits; TF_CAP stands for "this or more".
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from germane.index.simd import unpack_documents, unpack_values

BLOCK = 128
LANES = 4
TF_CAP = 255


class PostingBlocks(NamedTuple):
    """Packed posting lists, and for each block where its words begin, its widths and its bounds."""

    words: npt.NDArray[np.uint32]
    last: npt.NDArray[np.uint32]
    at: npt.NDArray[np.uint32]
    doc_bits: npt.NDArray[np.uint8]
    tf_bits: npt.NDArray[np.uint8]
    max_tf: npt.NDArray[np.uint8]
    min_len: npt.NDArray[np.uint16]

    @classmethod
    def empty(cls, n_words: int, n_blocks: int) -> "PostingBlocks":
        """Room for so many words and blocks."""
        types = (np.uint32, np.uint32, np.uint8, np.uint8, np.uint8, np.uint16)
        return cls(np.empty(n_words, np.uint32), *(np.empty(n_blocks, dtype) for dtype in types))


@njit(cache=True, nogil=True, _nrt=False)
def bits_needed(value):
    """Number of bits of a non-negative integer: `int(value).bit_length()`."""
    bits = 0
    while value > 0:
        bits += 1
        value >>= 1
    return bits


@njit(cache=True, nogil=True, _nrt=False)
def words_needed(n, bits):
    """Words that `n` values of `bits` bits take: `math.ceil(n * bits / 32)`."""
    return (n * bits + 31) >> 5


@njit(cache=True, nogil=True, _nrt=False)
def pack(values, n, bits, words, at):
    """Write `n` <= BLOCK values of `bits` bits to `words[at:]`; return the position after them."""
    size = words_needed(n, bits)
    for i in range(size):
        words[at + i] = 0
    if bits == 0:
        return at
    vertical = n == BLOCK
    stride = LANES if vertical else 1
    for i in range(n):
        if vertical:
            bit = (i // LANES) * bits
            word = at + (bit >> 5) * LANES + i % LANES
        else:
            bit = i * bits
            word = at + (bit >> 5)
        shift = bit & 31
        value = np.uint64(values[i]) << np.uint64(shift)
        words[word] |= np.uint32(value & np.uint64(0xFFFFFFFF))
        if shift + bits > 32:
            words[word + stride] |= np.uint32(value >> np.uint64(32))
    return at + size


@njit(cache=True, nogil=True, _nrt=False)
def unpack_short(words, at, bits, n, out, base):
    """Read `n` < BLOCK values packed horizontally into `out[base:base + n]`."""
    mask = np.uint64((np.uint64(1) << np.uint64(bits)) - np.uint64(1))
    bit = np.uint64(at) << np.uint64(5)
    for i in range(n):
        word = bit >> np.uint64(5)
        shift = bit & np.uint64(31)
        value = np.uint64(words[word]) >> shift
        if shift + np.uint64(bits) > np.uint64(32):
            value |= np.uint64(words[word + np.uint64(1)]) << (np.uint64(32) - shift)
        out[base + i] = np.uint32(value & mask)
        bit += np.uint64(bits)


@njit(cache=True, nogil=True, _nrt=False, inline="always")
def decode_full_block(words, at, doc_bits, tf_bits, previous, max_tf, docs, tf_minus_one, base):
    """Documents and counts minus one of a block of BLOCK postings into `docs`, `tf_minus_one` from `base` on."""
    unpack_documents(words, np.int64(at), np.int64(doc_bits), docs, np.int64(base), np.int64(previous))
    if tf_bits > 0:
        counts_at = np.int64(at) + LANES * np.int64(doc_bits)
        unpack_values(words, counts_at, np.int64(tf_bits), tf_minus_one, np.int64(base), np.int64(0))
    else:
        for i in range(np.uint64(base), np.uint64(base + BLOCK)):
            tf_minus_one[i] = np.uint32(max_tf - 1)


@njit(cache=True, nogil=True, _nrt=False)
def decode_block(words, at, doc_bits, tf_bits, n, previous, last, max_tf, docs, tf_minus_one, base):
    """Documents and counts minus one of a block of `n` <= BLOCK postings into `docs`, `tf_minus_one` from `base` on."""
    if n == BLOCK:
        decode_full_block(words, at, doc_bits, tf_bits, previous, max_tf, docs, tf_minus_one, base)
        return
    if n == 1:
        docs[base] = last
    else:
        unpack_short(words, at, doc_bits, n, docs, base)
        d = np.int64(previous)
        for i in range(n):
            d += np.int64(docs[base + i]) + 1
            docs[base + i] = np.uint32(d)
    if tf_bits > 0:
        gap_words = words_needed(n, doc_bits) if n > 1 else 0
        unpack_short(words, at + gap_words, tf_bits, n, tf_minus_one, base)
    else:
        for i in range(n):
            tf_minus_one[base + i] = np.uint32(max_tf - 1)


@njit(cache=True, nogil=True, _nrt=False)
def decode_list(words, blk_last, blk_at, blk_doc_bits, blk_tf_bits, blk_max_tf, first_block, df, docs, counts):
    """A whole posting list: `df` documents and counts into the front of `docs`, `counts`.

    The two buffers must have room for whole blocks.
    """
    previous = np.int64(-1)
    done = 0
    block = first_block
    while done < df:
        n = min(BLOCK, df - done)
        decode_block(
            words,
            np.int64(blk_at[block]),
            np.int64(blk_doc_bits[block]),
            np.int64(blk_tf_bits[block]),
            n,
            previous,
            blk_last[block],
            np.int64(blk_max_tf[block]),
            docs,
            counts,
            done,
        )
        previous = np.int64(blk_last[block])
        done += n
        block += 1
    for i in range(df):
        counts[i] += np.uint32(1)


@njit(cache=True, nogil=True)
def encode_lists(starts, docs, counts, doc_len, blocks):
    """Encode the lists `docs[starts[t]:starts[t+1]]` into `blocks`; return (words written, blocks written).

    `blocks.at` counts from the beginning of `blocks.words`; `blocks.min_len` is the shortest document of the block,
    capped at 65535 (a lower bound stays a lower bound).
    """
    gaps = np.empty(BLOCK, np.uint32)
    tf_minus_one = np.empty(BLOCK, np.uint32)
    at = 0
    block = 0
    for t in range(len(starts) - 1):
        previous = np.int64(-1)
        position = starts[t]
        while position < starts[t + 1]:
            n = min(BLOCK, starts[t + 1] - position)
            max_gap = np.int64(0)
            max_tf = np.int64(0)
            min_tf = np.int64(0xFFFFFFFF)
            min_len = np.int64(65535)
            for i in range(n):
                d = np.int64(docs[position + i])
                c = np.int64(counts[position + i])
                gaps[i] = np.uint32(d - previous - 1)
                tf_minus_one[i] = np.uint32(c - 1)
                max_gap = max(max_gap, d - previous - 1)
                max_tf = max(max_tf, c)
                min_tf = min(min_tf, c)
                min_len = min(min_len, np.int64(doc_len[d]))
                previous = d
            doc_bits = bits_needed(max_gap) if n > 1 else 0
            if min_tf == max_tf and max_tf < TF_CAP:
                tf_bits = 0
            else:
                tf_bits = bits_needed(max_tf - 1)
            blocks.at[block] = np.uint32(at)
            at = pack(gaps, n, doc_bits, blocks.words, at)
            at = pack(tf_minus_one, n, tf_bits, blocks.words, at)
            blocks.last[block] = np.uint32(previous)
            blocks.doc_bits[block] = np.uint8(doc_bits)
            blocks.tf_bits[block] = np.uint8(tf_bits)
            blocks.max_tf[block] = np.uint8(min(max_tf, np.int64(TF_CAP)))
            blocks.min_len[block] = np.uint16(min_len)
            block += 1
            position += n
    return at, block


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
def merge_lists(blocks, first_blocks, dfs, remap, buffer_docs, buffer_counts, docs, counts, starts):
    """Append lists of one segment, documents renumbered by `remap` (-1 drops), to lists under construction.

    For each i: list i is decoded and written to `docs[starts[i]:]`; `starts[i]` advances by the postings kept.
    A list with dfs[i] = 0 is absent from this segment.
    """
    for i in range(len(dfs)):
        if dfs[i] == 0:
            continue
        decode_list(
            blocks.words, blocks.last, blocks.at, blocks.doc_bits, blocks.tf_bits, blocks.max_tf, first_blocks[i],
            dfs[i], buffer_docs, buffer_counts,
        )  # fmt: skip
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
