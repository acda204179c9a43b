# mypy: ignore-errors
"""Packing and unpacking of posting lists, in blocks of BLOCK postings (`index.blocks`).

A list is documents ascending, each with a count >= 1:

- gaps: d_i - d_(i-1) - 1, the predecessor of the first posting of a block being the last document of the block before
  (or -1), each in `doc_bits` bits;
- counts: tf - 1, each in `tf_bits` bits; `tf_bits` = 0 says that every count of the block is the block's maximum;
- a block of one posting stores no gap: its document is the block's last.

A full block is packed vertically (value i lies in lane i % 4), so that eight neighbours are shifted and masked at once
(`index.simd_kernels`); a last, shorter block is packed horizontally, one value after the other. Words are uint32.
"""

import numpy as np

from germane.index.blocks import BLOCK, LANES, MOST_EXTRA, TF_CAP, BlockTable
from germane.index.simd_kernels import unpack_documents, unpack_values
from germane.jit import inner, kernel

NO_DOCUMENT = np.uint32(0xFFFFFFFF)
"""Fills the places behind a short block, so that a search among its documents need not know where it ends."""


@inner
def bits_needed(value):
    """Number of bits of a non-negative integer: `int(value).bit_length()`."""
    bits = 0
    while value > 0:
        bits += 1
        value >>= 1
    return bits


@inner
def words_needed(n, bits):
    """Words that `n` values of `bits` bits take: `math.ceil(n * bits / 32)`."""
    return (n * bits + 31) >> 5


@inner
def put(words, at, bit, width, value, stride):
    """Or one value of `width` bits into zeroed words, `bit` bits after `words[at]`, what does not fit `stride` on."""
    word = at + (bit >> 5) * stride
    shifted = np.uint64(value) << np.uint64(bit & 31)
    words[word] |= np.uint32(shifted & np.uint64(0xFFFFFFFF))
    if (bit & 31) + width > 32:
        words[word + stride] |= np.uint32(shifted >> np.uint64(32))


@kernel
def pack(values, n, bits, words, at):
    """Write `n` <= BLOCK values of `bits` bits to `words[at:]`; return the position after them."""
    size = words_needed(n, bits)
    for i in range(size):
        words[at + i] = 0
    if bits > 0:
        for i in range(n):
            if n == BLOCK:
                put(words, at + i % LANES, (i // LANES) * bits, bits, values[i], LANES)
            else:
                put(words, at, i * bits, bits, values[i], 1)
    return at + size


@inner
def unpack_short(words, at, bits, n, out, base):
    """Read `n` values packed horizontally into `out[base:base + n]`; one word behind them may be looked at."""
    mask = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    bit = np.uint64(at) << np.uint64(5)
    for i in range(np.uint64(base), np.uint64(base + n)):
        word = bit >> np.uint64(5)
        pair = np.uint64(words[word]) | (np.uint64(words[word + np.uint64(1)]) << np.uint64(32))
        out[i] = np.uint32((pair >> (bit & np.uint64(31))) & mask)
        bit += np.uint64(bits)


@inner
def ascend(docs, base, n, previous):
    """Whether `previous` and docs[base:base + n] ascend."""
    before = np.int64(previous)
    for i in range(base, base + n):
        if np.int64(docs[i]) <= before:
            return False
        before = np.int64(docs[i])
    return True


@inner
def decode_block(words, table, b, n, previous, docs, extras, base):
    """Block b's n documents, the one before them being `previous`, and counts minus one, into `docs`, `extras`.

    They have room for a whole block from `base` on. Whatever the words say, the documents ascend from `previous` to the
    block's last one, and no count exceeds the block's largest: where the words contradict the table, the documents are
    the n that end with the last. So no reader of a forged file leaves its arrays or skips what it should not.
    """
    at, doc_bits, tf_bits = np.int64(table.at[b]), np.int64(table.doc_bits[b]), np.int64(table.tf_bits[b])
    last, max_tf = table.last[b], np.int64(table.max_tf[b])
    if n == BLOCK:
        unpack_documents(words, at, doc_bits, docs, np.int64(base), np.int64(previous))
        unpack_values(words, at + LANES * doc_bits, tf_bits, extras, np.int64(base), np.int64(0))
    else:
        if n > 1:
            unpack_short(words, at, doc_bits, n, docs, base)
            at += words_needed(n, doc_bits)
            d = np.uint32(previous)
            for i in range(base, base + n):
                d += docs[i] + np.uint32(1)
                docs[i] = d
        else:
            docs[base] = last
        for i in range(base + n, base + BLOCK):
            docs[i] = NO_DOCUMENT
        unpack_short(words, at, tf_bits, n, extras, base)
    wraps = (np.int64(previous) + 1) + (n << doc_bits) > np.int64(NO_DOCUMENT)
    if docs[base + n - 1] != last or (wraps and not ascend(docs, base, n, previous)):
        for i in range(n):
            docs[base + i] = last - np.uint32(n - 1 - i)
    most = np.uint32(max_tf - 1)
    if tf_bits == 0:
        for i in range(np.uint64(base), np.uint64(base + n)):
            extras[i] = most
    else:
        if max_tf == TF_CAP:
            most = np.uint32(MOST_EXTRA)
        for i in range(np.uint64(base), np.uint64(base + n)):
            extras[i] = min(extras[i], most)


@kernel
def decode_list(words, table, first_block, df, docs, counts):
    """A whole posting list: `df` documents and counts into `docs`, `counts`, which have room for whole blocks."""
    table, previous = BlockTable(*table), np.int64(-1)
    for done in range(0, df, BLOCK):
        b = first_block + done // BLOCK
        decode_block(words, table, b, min(BLOCK, df - done), previous, docs, counts, done)
        previous = np.int64(table.last[b])
    for i in range(df):
        counts[i] += np.uint32(1)


@kernel
def decode_lists(words, table, first_block, df, docs, counts):
    """All posting lists, one behind the other, into `docs` and `counts`, which have room for a block behind them."""
    at = 0
    for term in range(len(df)):
        decode_list(words, table, first_block[term], df[term], docs[at:], counts[at:])
        at += df[term]


@kernel
def encode_lists(starts, docs, counts, words, table, buffer):
    """Encode the lists `docs[starts[t]:starts[t+1]]` into `words` and `table`; return (words, blocks) written.

    `table.at` counts from the beginning of `words`. `buffer`: BLOCK uint32.
    """
    table, at, b = BlockTable(*table), 0, 0
    for t in range(len(starts) - 1):
        previous = np.int64(-1)
        for begin in range(starts[t], starts[t + 1], BLOCK):
            n = min(BLOCK, starts[t + 1] - begin)
            describe_block(docs[begin : begin + n], counts[begin : begin + n], previous, table, b)
            table.at[b] = np.uint32(at)
            before = previous
            for i in range(n):
                d = np.int64(docs[begin + i])
                buffer[i] = np.uint32(d - before - 1)
                before = d
            at = pack(buffer, n, np.int64(table.doc_bits[b]), words, at)
            for i in range(n):
                buffer[i] = counts[begin + i] - np.uint32(1)
            at = pack(buffer, n, np.int64(table.tf_bits[b]), words, at)
            previous = before
            b += 1
    return at, b


@inner
def describe_block(docs, counts, previous, table, b):
    """Write what the table says of block b, but for where it begins."""
    max_gap, max_tf, min_tf = np.int64(0), np.int64(0), np.int64(0xFFFFFFFF)
    for i in range(len(docs)):
        d, c = np.int64(docs[i]), np.int64(counts[i])
        max_gap = max(max_gap, d - previous - 1)
        max_tf, min_tf = max(max_tf, c), min(min_tf, c)
        previous = d
    table.last[b] = np.uint32(previous)
    table.doc_bits[b] = np.uint8(bits_needed(max_gap) if len(docs) > 1 else 0)
    table.tf_bits[b] = np.uint8(0 if min_tf == max_tf and max_tf < TF_CAP else bits_needed(max_tf - 1))
    table.max_tf[b] = np.uint8(min(max_tf, np.int64(TF_CAP)))
