# mypy: ignore-errors
"""Numba kernels of the order of words: packing it, and looking in it for phrases.

A document's sequence is its tokens in order, its text fields one after the other; a token is the place of its term in
the document's own list (`index.kernels.encode_forward`), in as many bits as the largest place needs. A place fits in a
few bits, so that one number of 64 bits holds a run of tokens, its lanes, and a phrase is compared with the run at once.
"""

import numpy as np

from germane.index.block_kernels import bits_needed, decode_block
from germane.index.blocks import BLOCK, BlockTable
from germane.index.segment_arrays import ForwardArrays, SequenceArrays
from germane.index.simd_kernels import prefetch
from germane.jit import inner, kernel
from germane.text.instruction_kernels import eight

WINDOW = 57
"""Bits that a look at eight bytes is sure of: the first may begin within a byte."""
AHEAD = 4
"""Documents between asking for a sequence and reading it."""

_LOWEST = np.array([0] + [sum(1 << bits * lane for lane in range(WINDOW // bits)) for bits in range(1, 33)], np.uint64)
_LANES = np.array([WINDOW] + [WINDOW // bits for bits in range(1, 33)], np.int64)
"""By the bits of a lane: the lowest bit of each lane of a window, and how many there are."""


# -- packing -----------------------------------------------------------------------------------------------------------


@kernel
def pack_sequences(places, ends, n_unique, words):
    """Pack the sequences `places[ends[d - 1]:ends[d]]` of documents of so many distinct terms; return the words."""
    at, i = 0, np.int64(0)
    for d in range(len(ends)):
        bits, held, width = bits_needed(np.int64(n_unique[d]) - 1), np.uint64(0), 0
        while i < ends[d]:
            held |= np.uint64(places[i]) << np.uint64(width)
            width += bits
            i += 1
            if width >= 32:
                words[at] = np.uint32(held & np.uint64(0xFFFFFFFF))
                held >>= np.uint64(32)
                width -= 32
                at += 1
        if width > 0:
            words[at] = np.uint32(held)
            at += 1
    return at


@kernel
def renumber_sequences(words, lengths, term_ends, moved):
    """Let each token say `moved` of what it says, in place: its document's terms were sorted.

    Document d has `lengths[d]` tokens, and the terms up to `term_ends[d]`.
    """
    at, begin = 0, np.int64(0)
    for d in range(len(lengths)):
        bits, held, width, bit = bits_needed(term_ends[d] - begin - 1), np.uint64(0), 0, np.int64(at) << 5
        for _ in range(lengths[d]):
            place = packed(words, bit, bits)
            bit += bits
            held |= np.uint64(moved[begin + place]) << np.uint64(width)
            width += bits
            if width >= 32:
                words[at] = np.uint32(held & np.uint64(0xFFFFFFFF))
                held >>= np.uint64(32)
                width -= 32
                at += 1
        if width > 0:
            words[at] = np.uint32(held)
            at += 1
        begin = term_ends[d]


@inner
def packed(words, bit, bits):
    """The value of so many bits at `bit`; one word behind it may be looked at."""
    word = np.uint64(bit) >> np.uint64(5)
    pair = np.uint64(words[word]) | (np.uint64(words[word + np.uint64(1)]) << np.uint64(32))
    return np.int64((pair >> (np.uint64(bit) & np.uint64(31))) & ((np.uint64(1) << np.uint64(bits)) - np.uint64(1)))


@kernel
def first_bad_sequence(words, at, bits, lengths, starts, counts, left):
    """The first document whose tokens are not the terms of its own list, each as often as `counts` says; -1: none.

    Document d has `lengths[d]` tokens, 0 where their order is not known, and the counts from `starts[d]` on. `left`
    has room for the longest list.
    """
    for d in range(len(lengths)):
        n = starts[d + 1] - starts[d]
        if lengths[d] == 0:
            continue
        for i in range(n):
            left[i] = counts[starts[d] + i]
        bit, width = at[d] << 5, np.int64(bits[d])
        for _ in range(lengths[d]):
            place = packed(words, bit, width)
            if place >= n or left[place] == 0:
                return np.int64(d)
            left[place] -= np.uint32(1)
            bit += width
    return np.int64(-1)


# -- candidates --------------------------------------------------------------------------------------------------------


@kernel
def keep_holding(words, table, first_block, df, docs, n, block_docs, extras):
    """Keep those of the first n documents, ascending, that the posting list holds too; return how many.

    Only blocks that may hold one are decoded. `block_docs`, `extras`: room for a block.
    """
    table = BlockTable(*table)
    last_block = first_block + (df - 1) // BLOCK
    b, decoded, j, kept = first_block, np.int64(-1), 0, 0
    for i in range(n):
        d = docs[i]
        if np.int64(table.last[b]) < d:
            step = 1  # galloping: the block is sought ever farther, then between the last two looks
            while b + step <= last_block and np.int64(table.last[b + step]) < d:
                b += step
                step <<= 1
            low, high = b + 1, min(b + step, last_block + 1)
            while low < high:
                middle = (low + high) >> 1
                if np.int64(table.last[middle]) < d:
                    low = middle + 1
                else:
                    high = middle
            b = low
            if b > last_block:
                break
        if b != decoded:
            size = min(BLOCK, df - (b - first_block) * BLOCK)
            previous = np.int64(-1) if b == first_block else np.int64(table.last[b - 1])
            decode_block(words, table, b, size, previous, block_docs, extras, 0)
            decoded, j = b, 0
        while np.int64(block_docs[j]) < d:
            j += 1
        if np.int64(block_docs[j]) == d:
            docs[kept] = d
            kept += 1
    return kept


@kernel
def keep_marked(words, table, first_block, df, docs, n, marks, block_docs, extras):
    """What `keep_holding` does, by looking at the whole list: better where it is not much longer than n.

    `marks`: a bit for each document of the segment, none of them set. `docs` has room for one more than n.
    """
    table = BlockTable(*table)
    for i in range(n):
        marks[docs[i] >> 6] |= np.uint64(1) << np.uint64(docs[i] & 63)
    kept, previous = 0, np.int64(-1)
    for done in range(0, df, BLOCK):
        b, size = first_block + done // BLOCK, min(BLOCK, df - done)
        decode_block(words, table, b, size, previous, block_docs, extras, 0)
        previous = np.int64(table.last[b])
        for i in range(size):
            d = np.uint64(block_docs[i])
            docs[kept] = np.int64(d)
            kept += np.int64((marks[d >> np.uint64(6)] >> (d & np.uint64(63))) & np.uint64(1))
        if kept == n:
            return kept
    return kept


# -- looking -----------------------------------------------------------------------------------------------------------


@inner
def ask_ahead(docs, c, forward, sequences):
    """Fetch into the cache what the documents a few places behind candidate c will need."""
    if c + 2 * AHEAD < len(docs):
        soon = docs[c + 2 * AHEAD]
        prefetch(forward.at, soon)
        prefetch(forward.n_unique, soon)
        prefetch(forward.term_bits, soon)
        prefetch(sequences.at, soon)
        prefetch(sequences.field_len, soon * sequences.n_fields)
    if c + AHEAD < len(docs):
        for line in range(4):
            prefetch(forward.words, forward.at[docs[c + AHEAD]] + 16 * line)
        for line in range(3):
            prefetch(sequences.bytes, 4 * sequences.at[docs[c + AHEAD]] + 64 * line)


@inner
def find_places(forward, gaps, d, terms, places):
    """Where the terms, ascending, stand in the list of document d; whether it holds them all.

    `gaps`: the bytes of the lists.
    """
    bits, bit = np.int64(forward.term_bits[d]), forward.at[d] << 5
    lowest = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    number, found, wanted = np.int64(-1), 0, terms[0]
    for j in range(np.int64(forward.n_unique[d])):
        number += np.int64(window(gaps, bit) & lowest) + 1
        bit += bits
        if number >= wanted:
            if number > wanted:
                return False
            places[found] = j
            found += 1
            if found == len(terms):
                return True
            wanted = terms[found]
    return False


@inner
def window(data, bit):
    """The WINDOW bits from `bit` on, and some that do not count; eight bytes may be looked at."""
    return eight(data, bit >> 3) >> np.uint64(bit & 7)


@inner
def lanes_below(n, bits):
    """The bits of the first n lanes, which are in a window."""
    return (np.uint64(1) << np.uint64(n * bits)) - np.uint64(1)


@inner
def lanes_of_zero(z, lowest, bits):
    """The highest bit of each lane of z that is zero."""
    highest = lowest << np.uint64(bits - 1)
    others = highest - lowest
    return ~(((z & others) + others) | z) & highest


@inner
def holds_run(sequences, at, bits, begin, end, which, places):
    """Whether the tokens from `begin` to `end` hold the places `places[which]` next to each other, in this order.

    All starts of a window are tried at once: lane t of z is zero where token t + i is term i of the phrase, for all i.
    """
    m, lowest, bit = len(which), _LOWEST[bits], (at << 5) + begin * bits
    starts, left = _LANES[bits] - m + 1, end - begin - m + 1
    first, second = lowest * np.uint64(places[which[0]]), lowest * np.uint64(places[which[1]])
    while left > 0:
        x = window(sequences.bytes, bit)
        z = (x ^ first) | ((x >> np.uint64(bits)) ^ second)
        for i in range(2, m):
            z |= (x >> np.uint64(i * bits)) ^ (lowest * np.uint64(places[which[i]]))
        same = lanes_of_zero(z, lowest, bits)
        if same and same & lanes_below(min(starts, left), bits):
            return True
        bit += starts * bits
        left -= starts
    return False


@inner
def find_spots(sequences, at, bits, begin, end, places, n, spots, spot_ends):
    """The positions of each of n places among the tokens from `begin` to `end`, one place's after the other's."""
    found = 0
    for g in range(n):
        for t in range(begin, end):
            if packed(sequences.words, (at << 5) + t * bits, bits) == places[g]:
                spots[found] = t
                found += 1
        spot_ends[g] = found


@inner
def first_spot(spots, begin, end, least):
    """The first of the ascending spots[begin:end] that is not below `least`; `end` where none is."""
    while begin < end:
        middle = (begin + end) >> 1
        if spots[middle] < least:
            begin = middle + 1
        else:
            end = middle
    return begin


@inner
def fits_from(base, slop, which, spots, spot_ends, used):
    """Whether each term i of the phrase has a spot of its own within [base + i, base + i + slop].

    Of a repeated term the windows begin and end in order, so that taking the first free spot for each is best.
    """
    used[:] = -1
    for i in range(len(which)):
        g = which[i]
        begin = spot_ends[g - 1] if g > 0 else 0
        s = first_spot(spots, begin, spot_ends[g], max(base + i, used[g] + 1))
        if s == spot_ends[g] or spots[s] > base + i + slop:
            return False
        used[g] = spots[s]
    return True


@inner
def holds_near(slop, which, spots, spot_ends, used):
    """Whether the spots make a match: one of the terms is the one that stands farthest to the front."""
    for i in range(len(which)):
        g = which[i]
        for s in range(spot_ends[g - 1] if g > 0 else 0, spot_ends[g]):
            if fits_from(np.int64(spots[s]) - i, slop, which, spots, spot_ends, used):
                return True
    return False


@kernel
def find_phrase(forward, gaps, sequences, docs, field, terms, which, slop, spots, scratch, out):
    """out[c] = whether document docs[c] holds the phrase in the field, in any one where `field` is -1.

    The phrase is `terms[which]`, `terms` ascending, each once; the rule is that of
    `index.sequences`. `gaps`: the forward lists as bytes. `spots` has room for the longest sequence, `scratch` for
    three numbers a term.
    """
    forward, sequences = ForwardArrays(*forward), SequenceArrays(*sequences)
    m, n = len(which), len(terms)
    places, spot_ends, used = scratch[0], scratch[1], scratch[2]
    for c in range(len(docs)):
        ask_ahead(docs, c, forward, sequences)
        out[c] = False
        if not find_places(forward, gaps, docs[c], terms, places):
            continue
        at, bits = sequences.at[docs[c]], bits_needed(np.int64(forward.n_unique[docs[c]]) - 1)
        end = np.int64(0)
        for f in range(sequences.n_fields):
            begin = end
            end += np.int64(sequences.field_len[docs[c] * sequences.n_fields + f])
            if end - begin < m or (field >= 0 and f != field):
                continue
            if slop == 0 and m > 1 and bits > 0 and m * bits <= WINDOW:
                out[c] = holds_run(sequences, at, bits, begin, end, which, places)
            else:
                find_spots(sequences, at, bits, begin, end, places, n, spots, spot_ends)
                out[c] = holds_near(slop, which, spots, spot_ends, used)
            if out[c]:
                break


@kernel
def count_in_field(forward, gaps, sequences, docs, field, terms, places, out):
    """out[c] = how often document docs[c] holds the one of `terms` in the field.

    `gaps`: the forward lists as bytes; `places`: room for one.
    """
    forward, sequences = ForwardArrays(*forward), SequenceArrays(*sequences)
    for c in range(len(docs)):
        ask_ahead(docs, c, forward, sequences)
        out[c] = 0
        if not find_places(forward, gaps, docs[c], terms, places):
            continue
        begin, first = np.int64(0), docs[c] * sequences.n_fields
        for f in range(field):
            begin += np.int64(sequences.field_len[first + f])
        end = begin + np.int64(sequences.field_len[first + field])
        at, bits = sequences.at[docs[c]], bits_needed(np.int64(forward.n_unique[docs[c]]) - 1)
        if bits == 0:
            out[c] = end - begin
            continue
        lowest, lanes = _LOWEST[bits], _LANES[bits]
        wanted = lowest * np.uint64(places[0])
        for t in range(begin, end, lanes):
            same = lanes_of_zero(window(sequences.bytes, (at << 5) + t * bits) ^ wanted, lowest, bits)
            same &= lanes_below(min(lanes, end - t), bits)
            while same:
                out[c] += 1
                same &= same - np.uint64(1)
