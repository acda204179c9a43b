"""Bytes to token ids: the two loops of bulk analysis, and the growth of the token table.

The token table is four arrays. Token `i` occupies `arena[starts[i]:starts[i + 1]]` and has the hash `hashes[i]`;
`slots` is an open-addressing table with linear probing, a power of two long and at most half full, of
`tag(hash) << 32 | i + 1`, where 0 is an empty slot. Tags save comparisons; equality is always decided on the bytes.

Indices are cast to unsigned where they are used, which spares Numba's test for negative ones.
"""

import numpy as np
from numba import njit, uint8, uint32, uint64

from germane.text.tokenizer import MAX_TOKEN_BYTES

DONE, GROW_TABLE, GROW_ARENA = 0, 1, 2
"""What `scan` returns: finished, or resume after making room for more tokens, or for more bytes."""

POS, DOC, OUT, TOKENS, BYTES = range(5)
"""Places in `scan`'s state: next byte, document, number of ids written, tokens in the table, bytes in the arena."""

_APOSTROPHE, _COMMA, _STOP, _ZERO, _NINE, _S = (ord(c) for c in "',.09s")


def _fold_table():
    """byte -> its lower-case byte if it belongs to tokens, else 0."""
    table = np.zeros(256, dtype=np.uint8)
    table[0x80:] = np.arange(0x80, 0x100)
    for char in "0123456789abcdefghijklmnopqrstuvwxyz":
        table[ord(char)] = table[ord(char.upper())] = ord(char)
    return table


_FOLD = _fold_table()


@njit(inline="always")
def _at(text, i):
    return _FOLD[text[uint64(i)]]


@njit(inline="always")
def _is_digit(folded):
    return _ZERO <= folded <= _NINE


@njit(inline="always")
def _is_letter(folded):
    return folded != 0 and not _is_digit(folded)


@njit(inline="always")
def _mix(h, word):
    h = (h ^ word) * uint64(0x9E3779B97F4A7C15)
    return h ^ (h >> uint64(32))


@njit(cache=True, nogil=True)
def _hash(arena, start, n):
    """hash(arena[start:start + n]): eight bytes at a time, the last group short, then the length."""
    h, word, shift = uint64(0), uint64(0), uint64(0)
    for k in range(n):
        word |= uint64(arena[uint64(start + k)]) << shift
        shift += uint64(8)
        if shift == uint64(64):
            h, word, shift = _mix(h, word), uint64(0), uint64(0)
    return _mix(_mix(h, word), uint64(n))


@njit(cache=True, nogil=True)
def scan(text, ends, arena, starts, hashes, slots, out, out_ends, state):
    """Cut the documents `text[ends[d - 1]:ends[d]]` into tokens and write the id of each to `out`.

    In Python, where `table` is a dict of the tokens met so far:

        for d, document in enumerate(documents):
            for token in tokenize(document):
                out.append(table.setdefault(token, len(table)))
            out_ends[d] = len(out)

    `text` is UTF-8 of which every byte from 0x80 on belongs to a token. Each token is copied, folded, to the free end
    of the arena, and stays there if it is new. Returns `DONE`, or the kind of room it needs: `state` then says where
    to resume, at the start of the token that did not fit.
    """
    pos, out_n, n_tokens, used = state[POS], state[OUT], state[TOKENS], state[BYTES]
    mask = uint64(slots.size - 1)
    for doc in range(state[DOC], ends.size):
        end = ends[doc]
        while True:
            while pos < end and _at(text, pos) == 0:
                pos += 1
            if pos >= end:
                break
            if used + MAX_TOKEN_BYTES > arena.size:
                state[POS], state[DOC], state[OUT], state[TOKENS], state[BYTES] = pos, doc, out_n, n_tokens, used
                return GROW_ARENA
            begin = pos

            # Copy the token, and hash it on the way.
            n = 0
            spill = uint8(0)
            h, word, shift = uint64(0), uint64(0), uint64(0)
            while pos < end:
                byte = _at(text, pos)
                if byte == 0:
                    raw = text[uint64(pos)]
                    if pos + 1 >= end or raw not in (_APOSTROPHE, _STOP, _COMMA):
                        break
                    before, after = _at(text, pos - 1), _at(text, pos + 1)
                    if raw == _APOSTROPHE:
                        if after == _S and (pos + 2 >= end or _at(text, pos + 2) == 0):
                            pos += 2
                            break
                        if not (_is_letter(before) and _is_letter(after)):
                            break
                        pos += 1
                        continue
                    if not (_is_digit(before) and _is_digit(after)):
                        break
                    if raw == _COMMA:
                        pos += 1
                        continue
                    byte = uint8(_STOP)
                pos += 1
                if n < MAX_TOKEN_BYTES:
                    arena[uint64(used + n)] = byte
                    n += 1
                    word |= uint64(byte) << shift
                    shift += uint64(8)
                    if shift == uint64(64):
                        h, word, shift = _mix(h, word), uint64(0), uint64(0)
                elif spill == 0:
                    spill = byte
            h = _mix(_mix(h, word), uint64(n))
            if spill != 0:
                if spill & 0xC0 == 0x80:  # the cut is inside a character: take back what is there of it
                    while arena[uint64(used + n - 1)] & 0xC0 == 0x80:
                        n -= 1
                    n -= 1
                h = _hash(arena, used, n)

            # Find it in the table, or add it.
            slot = h & mask
            tag = h >> uint64(32)
            while True:
                entry = slots[slot]
                if entry == uint64(0):
                    if n_tokens >= hashes.size:
                        state[POS], state[DOC], state[OUT], state[TOKENS], state[BYTES] = (
                            begin, doc, out_n, n_tokens, used,
                        )  # fmt: skip
                        return GROW_TABLE
                    hashes[n_tokens] = h
                    used += n
                    token = n_tokens
                    n_tokens += 1
                    starts[n_tokens] = used
                    slots[slot] = tag << uint64(32) | uint64(n_tokens)
                    break
                if entry >> uint64(32) == tag:
                    token = np.int64(entry & uint64(0xFFFFFFFF)) - 1
                    first = starts[uint64(token)]
                    if starts[uint64(token + 1)] - first == n:
                        k = 0
                        while k < n and arena[uint64(first + k)] == arena[uint64(used + k)]:
                            k += 1
                        if k == n:
                            break
                slot = (slot + uint64(1)) & mask
            out[uint64(out_n)] = token
            out_n += 1
        out_ends[doc] = out_n
    state[POS], state[DOC], state[OUT], state[TOKENS], state[BYTES] = pos, ends.size, out_n, n_tokens, used
    return DONE


@njit(cache=True, nogil=True)
def fill_slots(hashes, n_tokens, slots):
    """Enter the first `n_tokens` tokens in an empty `slots`: `slots[first free from hash] = tag << 32 | i + 1`."""
    mask = uint64(slots.size - 1)
    for i in range(n_tokens):
        slot = hashes[i] & mask
        while slots[slot] != uint64(0):
            slot = (slot + uint64(1)) & mask
        slots[slot] = hashes[i] >> uint64(32) << uint64(32) | uint64(i + 1)


@njit(cache=True, nogil=True)
def tokens_to_terms(ids, ends, term_of, counts):
    """Replace token ids by term ids in place, dropping tokens without one, and count the tokens. Returns what is left.

    In NumPy:

        counts += np.bincount(ids, minlength=counts.size)
        kept = term_of[ids] >= 0
        ends[:] = np.concatenate([[0], np.cumsum(kept)])[ends]
        return term_of[ids][kept]        # here: ids[:result]
    """
    read = np.int64(0)
    written = np.int64(0)
    for doc in range(ends.size):
        end = ends[doc]
        while read < end:
            token = uint64(ids[uint64(read)])
            counts[token] += 1
            term = term_of[token]
            if term >= 0:
                ids[uint64(written)] = uint32(term)
                written += 1
            read += 1
        ends[doc] = written
    return written
