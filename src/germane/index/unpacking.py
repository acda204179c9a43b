"""Posting lists unpacked by NumPy: the first lists that a process reads wait for no compiler.

What `index.block_kernels.decode_list` and `index.verify_kernels.first_bad_list` do, in some tenths of a millisecond a
list. Blocks of the same width are unpacked together.
"""

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers
from germane.index.blocks import BLOCK, LANES, NO_LENGTH, TF_CAP, PostingBlocks
from germane.lazy import compiler_is_loaded

Values = npt.NDArray[np.uint32]
IN_A_LANE = BLOCK // LANES
EARLY = 256
"""So many lists of a process are unpacked here; compiling or loading a kernel for fewer takes longer."""

_asked = 0


def use_kernels() -> None:
    """From now on no list is early: what is unpacked again and again is to be compiled beforehand."""
    global _asked
    _asked = EARLY


def is_early(n_lists: int) -> bool:
    """Whether so many more lists are to be unpacked without a kernel: these are the first, or none is loaded."""
    global _asked
    _asked += n_lists
    return _asked <= EARLY or (n_lists <= EARLY and not compiler_is_loaded())


def unpack_list(blocks: PostingBlocks, first_block: int, df: int) -> tuple[Values, Values]:
    """Documents and counts of one list."""
    full, rest = divmod(df, BLOCK)
    gaps, extras = np.empty(df, np.uint32), np.empty(df, np.uint32)
    table = blocks.table[first_block : first_block + full + (rest > 0)]
    at = table["at"].astype(np.int64)
    doc_bits, tf_bits = table["doc_bits"].astype(np.int64), table["tf_bits"].astype(np.int64)
    whole = gaps[: full * BLOCK].reshape(full, BLOCK), extras[: full * BLOCK].reshape(full, BLOCK)
    _unpack_full(blocks.words, at[:full], doc_bits[:full], whole[0])
    _unpack_full(blocks.words, at[:full] + LANES * doc_bits[:full], tf_bits[:full], whole[1])
    if rest > 0:
        stored = rest if rest > 1 else 0  # the document of a block of one posting is the block's last
        gaps[full * BLOCK :] = 0
        gaps[df - stored :] = _unpack_short(blocks.words, int(at[-1]), int(doc_bits[-1]), stored)
        behind = int(at[-1]) + (stored * int(doc_bits[-1]) + 31) // 32
        extras[full * BLOCK :] = _unpack_short(blocks.words, behind, int(tf_bits[-1]), rest)
    sizes = np.full(len(table), BLOCK)
    sizes[full:] = rest
    previous = np.concatenate([[-1], table["last"][:-1].astype(np.int64)])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    steps = gaps.astype(np.int64) + 1
    sums = np.cumsum(steps)
    before = np.concatenate([[0], sums])[starts]
    docs = (sums - np.repeat(before, sizes) + np.repeat(previous, sizes)).astype(np.uint32)
    docs[np.cumsum(sizes)[sizes < BLOCK] - 1] = table["last"][sizes < BLOCK]
    same = np.repeat(tf_bits == 0, sizes)  # then every count is the block's maximum
    extras[same] = np.repeat(table["max_tf"].astype(np.uint32) - 1, sizes)[same]
    return docs, extras + np.uint32(1)


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
    if n == 0 or bits == 0:
        return np.zeros(n, np.uint32)
    held = np.append(words[at : at + (n * bits + 31) // 32].astype(np.uint64), np.uint64(0))
    bit = np.arange(n) * bits
    pairs = held[bit >> 5] | (held[(bit >> 5) + 1] << np.uint64(32))
    values: Values = ((pairs >> (bit & 31).astype(np.uint64)) & np.uint64((1 << bits) - 1)).astype(np.uint32)
    return values


def list_is_sound(
    blocks: PostingBlocks, first_block: int, df: int, cf: int, codes: npt.NDArray[np.uint8], doc_len: Values
) -> bool:
    """Whether a list is what the table says of it. `codes`: those of the documents' lengths.

    The table is known to stay within the words, and to name no document that is not there.
    """
    docs, counts = unpack_list(blocks, first_block, df)
    table = blocks.table[first_block : first_block + -(-df // BLOCK)]
    starts = np.arange(0, df, BLOCK)
    if df and (docs[1:] <= docs[:-1]).any():
        return False
    if (docs[np.append(starts[1:], df) - 1] != table["last"]).any() or (counts - np.uint32(1) >= doc_len[docs]).any():
        return False
    largest = np.minimum(np.maximum.reduceat(counts, starts), TF_CAP)
    own = codes[docs]
    good = (largest == table["max_tf"]).all()
    for name, held in (("length_1", counts == 1), ("length_2", (counts > 1) & (counts < 4)), ("length_4", counts > 3)):
        shortest = np.minimum.reduceat(np.where(held, own, np.uint8(NO_LENGTH)), starts)
        good &= (shortest == table[name]).all()
    return bool(good) and int(counts.sum(dtype=np.int64)) == cf
