"""Lists packed by NumPy: a few documents are indexed without a compiler.

What the kernels do that build a segment, to the same bytes (`index.block_kernels`, `index.inversion_kernels`,
`index.kernels`, `index.sequence_kernels`); `index.unpacking` is the way back.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers, Words
from germane.index.blocks import BLOCK, LANES, TF_CAP, PostingBlocks, bits_needed


class FewLists(NamedTuple):
    """The lists of a few documents: their distinct terms, ascending, with counts, and where each document's end; for
    each token the place of its term among its document's; and by term, the postings `document << 32 | count`."""

    terms: Words
    counts: Words
    ends: Integers
    places: Integers
    postings: npt.NDArray[np.uint64]


def lists_of(ids: Words, ends: Integers) -> FewLists:
    """The lists of the documents whose terms are `ids[ends[d - 1]:ends[d]]`, in order."""
    docs = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    pairs, places, counts = np.unique(docs << 32 | ids, return_inverse=True, return_counts=True)
    starts = np.searchsorted(pairs, np.arange(len(ends) + 1) << 32)
    terms = pairs.astype(np.uint32)
    postings = (pairs >> 32 << 32 | counts).astype(np.uint64)[np.argsort(terms, kind="stable")]
    return FewLists(terms, counts.astype(np.uint32), starts[1:], places - starts[docs], postings)


def words_needed(n: Integers, bits: Integers) -> Integers:
    """Words that n values of so many bits take."""
    return (n * bits + 31) >> 5


def places_of(sizes: Integers) -> Integers:
    """Where each of some parts begins, and the last one's end."""
    return np.concatenate([[0], np.cumsum(sizes)])


def pack_lists(
    words: Words, at: Integers, bits: Integers, starts: Integers, values: Integers, lanes: Integers | None = None
) -> None:
    """Pack list i, `values[starts[i]:starts[i + 1]]`, in `bits[i]` each, into the zeros from `words[at[i]]` on.

    Value j of a list lies in lane j % lanes, and each lane takes every lanes-th word (one lane: one after the other).
    """
    which = np.repeat(np.arange(len(bits)), np.diff(starts))
    i = np.flatnonzero(bits[which])
    which = which[i]
    j, n_lanes = i - starts[which], lanes[which] if lanes is not None else np.ones(len(i), np.int64)
    bit = j // n_lanes * bits[which]
    word = at[which] + (bit >> 5) * n_lanes + j % n_lanes
    shifted = values[i].astype(np.uint64) << (bit & 31).astype(np.uint64)
    np.bitwise_or.at(words, word, shifted.astype(np.uint32))
    wide = shifted >> np.uint64(32) > 0
    np.bitwise_or.at(words, (word + n_lanes)[wide], (shifted[wide] >> np.uint64(32)).astype(np.uint32))


def pack_sequences(places: Integers, ends: Integers, n_unique: Integers) -> Words:
    """`index.sequence_kernels.pack_sequences`."""
    starts, bits = np.concatenate([[0], ends]), bits_needed(np.maximum(n_unique - 1, 0))
    at = places_of(words_needed(np.diff(starts), bits))
    words = np.zeros(int(at[-1]), np.uint32)
    pack_lists(words, at, bits, starts, places)
    return words


def encode_forward(starts: Integers, terms: Words, counts: Words) -> tuple[Words, Integers, Integers]:
    """`index.kernels.encode_forward` of the lists `terms[starts[d]:starts[d + 1]]`: words, widths of terms, of counts.

    The lists are all of them: `starts` begins with 0.
    """
    which = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    most = np.zeros((2, len(starts) - 1), np.int64)
    gaps, extras = _gaps(starts, terms), counts.astype(np.int64) - 1
    np.maximum.at(most[0], which, gaps)
    np.maximum.at(most[1], which, extras)
    term_bits, tf_bits = bits_needed(most)
    sizes = words_needed(np.diff(starts), term_bits), words_needed(np.diff(starts), tf_bits)
    at = places_of(sizes[0] + sizes[1])
    words = np.zeros(int(at[-1]), np.uint32)
    pack_lists(words, at, term_bits, starts, gaps)
    pack_lists(words, at[:-1] + sizes[0], tf_bits, starts, extras)
    return words, term_bits, tf_bits


def encode_lists(starts: Integers, docs: Words, counts: Words) -> PostingBlocks:
    """`index.block_kernels.encode_lists` of the lists `docs[starts[t]:starts[t + 1]]`, none of them empty.

    The lists are all of them: `starts` begins with 0.
    """
    n_blocks = -(-np.diff(starts) // BLOCK)
    first = places_of(n_blocks)
    which = np.repeat(np.arange(len(n_blocks)), n_blocks)
    begins = starts[which] + (np.arange(len(which)) - first[which]) * BLOCK
    bounds = np.append(begins, len(docs))
    n, gaps = np.diff(bounds), _gaps(starts, docs)
    least, most = np.minimum.reduceat(counts, begins), np.maximum.reduceat(counts, begins)
    doc_bits = np.where(n > 1, bits_needed(np.maximum.reduceat(gaps, begins)), 0)
    tf_bits = np.where((least == most) & (most < TF_CAP), 0, bits_needed(most - np.uint32(1)))
    sizes = words_needed(n, doc_bits), words_needed(n, tf_bits)
    at = places_of(sizes[0] + sizes[1])
    words, lanes = np.zeros(int(at[-1]), np.uint32), np.where(n == BLOCK, LANES, 1)
    pack_lists(words, at, doc_bits, bounds, gaps, lanes)
    pack_lists(words, at[:-1] + sizes[0], tf_bits, bounds, counts.astype(np.int64) - 1, lanes)
    last, widths = docs[bounds[1:] - 1], (doc_bits.astype(np.uint8), tf_bits.astype(np.uint8))
    return PostingBlocks(words, (last, at[:-1].astype(np.uint32), *widths, np.minimum(most, TF_CAP).astype(np.uint8)))


def _gaps(starts: Integers, values: Words) -> Integers:
    """What each value of an ascending list leaves out behind the one before it (the first: behind -1)."""
    gaps = values.astype(np.int64)
    gaps[1:] -= values[:-1].astype(np.int64) + 1
    firsts = starts[:-1][np.diff(starts) > 0]
    gaps[firsts] = values[firsts]
    return gaps
