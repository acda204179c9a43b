# mypy: ignore-errors
"""The table of words (`text.word_table`): hashing, finding and entering, eight bytes at a time.

The table is four arrays. Word `i` occupies `arena[starts[i]:starts[i + 1]]` and has the hash `hashes[i]`; `slots` is an
open-addressing table with linear probing, a power of two long and at most half full, of `tag(hash) << 32 | i + 1`,
where 0 is an empty slot. Tags save comparisons; equality is always decided on the bytes.

Words are looked up in passes over many, each without a branch that is hard to foretell, so that the processor waits for
many places of the memory at once: hashes, then guesses, then comparisons.
"""

import numpy as np
from numba import uint64

from germane.jit import njit
from germane.text.instruction_kernels import eight, fetch

DONE, GROW_TABLE, GROW_ARENA = range(3)
"""Results of `enter_words`: finished, or resume after making room for more words, or for more bytes."""

NEXT, WORDS, BYTES = range(3)
"""Places in its state: the next word to enter; words in the table, bytes in its arena."""

AHEAD = 16
"""So many words before one is compared, its place in memory is asked for."""


@njit(cache=True, nogil=True, _nrt=False)
def _group(data, at, n):
    """The bytes `data[at:at + n]`, 1 to 8 of them, as one number."""
    if at + 8 <= data.size:
        return eight(data, at) & (~uint64(0) >> uint64(64 - 8 * n))
    group = uint64(0)
    for k in range(n):
        group |= uint64(data[uint64(at + k)]) << uint64(8 * k)
    return group


@njit(cache=True, nogil=True, _nrt=False)
def _mix(h, group):
    h = (h ^ group) * uint64(0x9E3779B97F4A7C15)
    return h ^ (h >> uint64(32))


@njit(cache=True, nogil=True, _nrt=False)
def hash_words(data, begins, ends, hashes):
    """`hashes[i]` = the hash of `data[begins[i]:ends[i]]`: its bytes by eights, the last group short; its length."""
    for i in range(hashes.size):
        at, end = begins[uint64(i)], ends[uint64(i)]
        h = uint64(end - at)
        while at + 8 < end:
            h = _mix(h, _group(data, at, 8))
            at += 8
        hashes[uint64(i)] = _mix(h, _group(data, at, end - at)) if at < end else h


@njit(cache=True, nogil=True, _nrt=False)
def guess_words(hashes, slots, out):
    """`out[i]` = the word in the first slot for the hash; a number that no word has where it is empty."""
    mask = uint64(slots.size - 1)
    for i in range(out.size):
        out[uint64(i)] = (slots[hashes[uint64(i)] & mask] & uint64(0xFFFFFFFF)) - uint64(1)


@njit(cache=True, nogil=True, _nrt=False)
def _equal(arena, starts, word, data, at, n):
    """Whether the word is `data[at:at + n]`."""
    first = starts[uint64(word)]
    if starts[uint64(word + 1)] - first != n:
        return False
    while n > 8:
        if _group(arena, first, 8) != _group(data, at, 8):
            return False
        first, at, n = first + 8, at + 8, n - 8
    return n == 0 or _group(arena, first, n) == _group(data, at, n)


@njit(cache=True, nogil=True, _nrt=False)
def _find(arena, starts, slots, h, data, at, n):
    """The word equal to `data[at:at + n]`, which has the hash `h`, or -1; and its slot, or the free one."""
    mask = uint64(slots.size - 1)
    slot = h & mask
    while slots[slot] != uint64(0):
        word = np.int64(slots[slot] & uint64(0xFFFFFFFF)) - 1
        if slots[slot] >> uint64(32) == h >> uint64(32) and _equal(arena, starts, word, data, at, n):
            return word, slot
        slot = (slot + uint64(1)) & mask
    return np.int64(-1), slot


@njit(cache=True, nogil=True, _nrt=False)
def enter_words(data, begins, ends, own, arena, starts, hashes, slots, out, state):
    """`out[i]` = the number of the word `data[begins[i]:ends[i]]` of hash `own[i]`, entered if it is new.

    In Python: `out = [table.setdefault(word, len(table)) for word in words]`. `out` comes with guesses. Returns `DONE`,
    or the kind of room it needs to go on where `state` says.
    """
    n_words, used, last = state[WORDS], state[BYTES], out.size - 1
    for i in range(state[NEXT], out.size):
        at = begins[uint64(i)]
        n = ends[uint64(i)] - at
        fetch(starts, np.int64(out[uint64(min(i + 2 * AHEAD, last))]))
        fetch(arena, starts[uint64(min(np.int64(out[uint64(min(i + AHEAD, last))]), n_words))])
        word = np.int64(out[uint64(i)])
        if word < n_words and _equal(arena, starts, word, data, at, n):
            continue
        word, slot = _find(arena, starts, slots, own[uint64(i)], data, at, n)
        if word < 0:
            if used + n > arena.size or n_words >= hashes.size:
                state[NEXT], state[WORDS], state[BYTES] = i, n_words, used
                return GROW_ARENA if used + n > arena.size else GROW_TABLE
            for k in range(n):
                arena[uint64(used + k)] = data[uint64(at + k)]
            word = n_words
            used += n
            n_words += 1
            hashes[word] = own[uint64(i)]
            starts[n_words] = used
            slots[slot] = own[uint64(i)] >> uint64(32) << uint64(32) | uint64(n_words)
        out[uint64(i)] = word
    state[NEXT], state[WORDS], state[BYTES] = out.size, n_words, used
    return DONE


@njit(cache=True, nogil=True, _nrt=False)
def fill_slots(hashes, n_words, slots):
    """Enter the first `n_words` words in an empty `slots`: `slots[first free from hash] = tag << 32 | i + 1`."""
    mask = uint64(slots.size - 1)
    for i in range(n_words):
        slot = hashes[i] & mask
        while slots[slot] != uint64(0):
            slot = (slot + uint64(1)) & mask
        slots[slot] = hashes[i] >> uint64(32) << uint64(32) | uint64(i + 1)
