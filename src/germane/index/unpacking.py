"""Lists unpacked by NumPy, for processes that have not loaded the compiler (`germane.lazy.is_few`).

What `index.block_kernels.decode_list` and `index.kernels.decode_forward_many` do, in some tenths of a millisecond a
list. Blocks of the same width are unpacked together.
"""

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers
from germane.index.blocks import BLOCK, LANES, MOST_EXTRA, TF_CAP, PostingBlocks

Values = npt.NDArray[np.uint32]
Widths = npt.NDArray[np.integer]
IN_A_LANE = BLOCK // LANES


def unpack_list(blocks: PostingBlocks, first_block: int, df: int) -> tuple[Values, Values]:
    """Documents and counts of one list."""
    full, rest = divmod(df, BLOCK)
    gaps, extras = np.empty(df, np.uint32), np.empty(df, np.uint32)
    own = slice(first_block, first_block + full + (rest > 0))
    last, at, doc_bits, tf_bits, max_tf = (column[own].astype(np.int64) for column in blocks.table)
    whole = gaps[: full * BLOCK].reshape(full, BLOCK), extras[: full * BLOCK].reshape(full, BLOCK)
    _unpack_full(blocks.words, at[:full], doc_bits[:full], whole[0])
    _unpack_full(blocks.words, at[:full] + LANES * doc_bits[:full], tf_bits[:full], whole[1])
    if rest > 0:
        stored = rest if rest > 1 else 0  # the document of a block of one posting is the block's last
        gaps[full * BLOCK :] = 0
        gaps[df - stored :] = _unpack_short(blocks.words, int(at[-1]), int(doc_bits[-1]), stored)
        behind = int(at[-1]) + (stored * int(doc_bits[-1]) + 31) // 32
        extras[full * BLOCK :] = _unpack_short(blocks.words, behind, int(tf_bits[-1]), rest)
    sizes = np.full(len(last), BLOCK)
    sizes[full:] = rest
    starts, previous = np.cumsum(sizes) - sizes, np.concatenate([[-1], last[:-1]])
    steps = gaps.astype(np.int64) + 1
    sums = np.cumsum(steps)
    docs = sums + np.repeat(previous - (sums - steps)[starts], sizes)
    if rest == 1:
        docs[-1] = last[-1]
    for block in np.flatnonzero(docs[starts + sizes - 1] != last).tolist():  # the words contradict the table
        begin, n = int(starts[block]), int(sizes[block])
        docs[begin : begin + n] = np.arange(last[block] - n, last[block]) + 1
    most = np.where((tf_bits > 0) & (max_tf == TF_CAP), MOST_EXTRA, max_tf - 1).astype(np.uint32)
    most_of_all = np.repeat(most, sizes)
    extras = np.where(np.repeat(tf_bits == 0, sizes), most_of_all, np.minimum(extras, most_of_all))
    return docs.astype(np.uint32), extras + np.uint32(1)


def _unpack_full(words: Values, at: Integers, bits: Integers, out: Values) -> None:
    """Full blocks: value i lies in lane i % LANES, each lane's values one after the other."""
    for width in np.unique(bits).tolist():
        chosen = np.flatnonzero(bits == width)
        if width == 0:
            out[chosen] = 0
            continue
        held = words[at[chosen, None] + np.arange(LANES * width)].reshape(len(chosen), width, LANES).astype(np.uint64)
        held = np.concatenate([held, np.zeros((len(chosen), 1, LANES), np.uint64)], axis=1)
        bit = np.arange(IN_A_LANE) * width
        word, shift = bit >> 5, (bit & 31).astype(np.uint64)[None, :, None]
        pairs = held[:, word] | (held[:, word + 1] << np.uint64(32))
        values = (pairs >> shift) & np.uint64((1 << width) - 1)
        out[chosen] = values.reshape(len(chosen), BLOCK).astype(np.uint32)


def _unpack_short(words: Values, at: int, bits: int, n: int) -> Values:
    """So many values, one after the other."""
    return unpack_lists(words, np.array([at]), np.array([bits]), np.array([0, n]))


def unpack_lists(words: Values, at: Integers, bits: Widths, starts: Integers) -> Values:
    """Lists packed one value after the other (`index.packing.pack_lists`); list i goes to [starts[i], starts[i + 1]).

    One word behind a list may be looked at.
    """
    which = np.repeat(np.arange(len(at)), np.diff(starts))
    width = bits[which].astype(np.int64)
    bit = (np.arange(int(starts[-1])) - starts[which]) * width
    word = at[which] + (bit >> 5)
    pairs = words[word].astype(np.uint64) | words[word + 1].astype(np.uint64) << np.uint64(32)
    masks = (np.uint64(1) << width.astype(np.uint64)) - np.uint64(1)
    values: Values = (pairs >> (bit & 31).astype(np.uint64) & masks).astype(np.uint32)
    return values


def unpack_forward(
    words: Values, at: Integers, term_bits: Widths, tf_bits: Widths, starts: Integers
) -> tuple[Values, Values]:
    """Terms and counts of the forward lists of documents, as `index.kernels.decode_forward_many` reads them."""
    n = np.diff(starts)
    gaps = unpack_lists(words, at, term_bits, starts).astype(np.int64)
    extras = unpack_lists(words, at + ((n * term_bits + 31) >> 5), tf_bits, starts)
    sums = np.concatenate([[0], np.cumsum(gaps + 1)])
    terms = sums[1:] - 1 - np.repeat(sums[starts[:-1]], n)
    return np.minimum(terms, 0xFFFFFFFF).astype(np.uint32), extras + np.uint32(1)
