"""Bytes to token ids: the loops of bulk analysis, and the table of words they share (`text.word_table`).

The table is four arrays. Word `i` occupies `arena[starts[i]:starts[i + 1]]` and has the hash `hashes[i]`;
`slots` is an open-addressing table with linear probing, a power of two long and at most half full, of
`tag(hash) << 32 | i + 1`, where 0 is an empty slot. Tags save comparisons; equality is always decided on the bytes.

Indices are cast to unsigned where they are used, which spares Numba's test for negative ones.
"""

import numpy as np
from numba import njit, uint8, uint32, uint64

from germane.text.tokenizer import MAX_TOKEN_BYTES

DONE, GROW_TABLE, GROW_ARENA, NEW_PAGE = range(4)
"""What a kernel returns: finished, or resume after making room for more words, or for more bytes, or after adding a
page of characters."""

POS, DOC, OUT, TOKENS, BYTES, PAGE = range(6)
"""Places in a kernel's state: next byte, document, how much was written, words in the table, bytes in its arena; the
page that is missing."""

SIMPLE, CJK, CONTEXTUAL = range(3)
"""Kinds of characters: those that `fold` replaces one by one; those of which runs become bigrams; all others."""
MAX_FOLDED = 640
"""Room that `fold` wants for one character: twice 255 bytes and the spaces around them."""

_APOSTROPHE, _COMMA, _STOP, _ZERO, _NINE, _S, _SPACE = (ord(c) for c in "',.09s ")


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


@njit(inline="always")
def _find(arena, starts, slots, h, at, n):
    """The word equal to `arena[at:at + n]`, which has the hash `h`, or -1; and its slot, or the free one."""
    mask = uint64(slots.size - 1)
    slot = h & mask
    tag = h >> uint64(32)
    while True:
        entry = slots[slot]
        if entry == uint64(0):
            return np.int64(-1), slot
        if entry >> uint64(32) == tag:
            word = np.int64(entry & uint64(0xFFFFFFFF)) - 1
            first = starts[uint64(word)]
            if starts[uint64(word + 1)] - first == n:
                k = 0
                while k < n and arena[uint64(first + k)] == arena[uint64(at + k)]:
                    k += 1
                if k == n:
                    return word, slot
        slot = (slot + uint64(1)) & mask


@njit(inline="always")
def _enter(starts, hashes, slots, h, slot, n_words, used):
    """Make the word that ends at `used` the last of now `n_words`."""
    hashes[n_words - 1] = h
    starts[n_words] = used
    slots[slot] = h >> uint64(32) << uint64(32) | uint64(n_words)


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

            token, slot = _find(arena, starts, slots, h, used, n)
            if token < 0:
                if n_tokens >= hashes.size:
                    state[POS], state[DOC], state[OUT], state[TOKENS], state[BYTES] = begin, doc, out_n, n_tokens, used
                    return GROW_TABLE
                token = n_tokens
                used += n
                n_tokens += 1
                _enter(starts, hashes, slots, h, slot, n_tokens, used)
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


@njit(cache=True, nogil=True)
def enter_words(data, ends, arena, starts, hashes, slots, out, state):
    """`out[i]` = the number of the word `data[ends[i - 1]:ends[i]]`, entered if it is new. Resumes as `scan` does.

    In Python: `out = [table.setdefault(word, len(table)) for word in words]`.
    """
    n_words, used = state[TOKENS], state[BYTES]
    for i in range(state[OUT], ends.size):
        begin = ends[i - 1] if i > 0 else np.int64(0)
        n = ends[i] - begin
        room = used + n <= arena.size
        if not room or n_words >= hashes.size:
            state[OUT], state[TOKENS], state[BYTES] = i, n_words, used
            return GROW_TABLE if room else GROW_ARENA
        for k in range(n):
            arena[uint64(used + k)] = data[uint64(begin + k)]
        h = _hash(arena, used, n)
        word, slot = _find(arena, starts, slots, h, used, n)
        if word < 0:
            word = n_words
            used += n
            n_words += 1
            _enter(starts, hashes, slots, h, slot, n_words, used)
        out[i] = word
    state[OUT], state[TOKENS], state[BYTES] = ends.size, n_words, used
    return DONE


@njit(cache=True, nogil=True)
def commonest(term_of, counts, best):
    """`best[t]` = the token with the highest count of those with term t, of equals the first."""
    best[:] = -1
    for token in range(term_of.size):
        term = term_of[token]
        if term >= 0 and (best[term] < 0 or counts[token] > counts[best[term]]):
            best[term] = token


@njit(cache=True, nogil=True)
def count_terms(ids, ends, number, stamps, places, terms, counts, doc_ends):
    """Each document's distinct terms in order of appearance, and how often each came. Returns how many in all.

    In Python: `Counter(ids[ends[d - 1]:ends[d]])` for each document. `stamps[t]` is the last document (counted from
    `number` on, over all calls) that held term t, `places[t]` where it was written.
    """
    read, written = np.int64(0), np.int64(0)
    for doc in range(ends.size):
        while read < ends[doc]:
            term = uint64(ids[uint64(read)])
            if stamps[term] == number + doc:
                counts[uint64(places[term])] += uint32(1)
            else:
                stamps[term] = number + doc
                places[term] = written
                terms[uint64(written)] = uint32(term)
                counts[uint64(written)] = uint32(1)
                written += 1
            read += 1
        doc_ends[doc] = written
    return written


@njit(cache=True, nogil=True)
def fold(text, lengths, pages, entries, folded, out, ends, state):
    """Characters to what `tokenizer.scannable` makes of them, text by text; `lengths` counts characters.

    `pages[code >> 8]` is the row of `entries` that holds the character, -1 where it was not made yet. An entry is
    `at << 16 | size << 8 | kind`, its bytes `folded[at:at + size]` (see `text.folding`). A text with a character that
    only its neighbours decide is left out: `ends[d]` = -1. Returns `DONE`, or what is needed to go on with text
    `state[DOC]`: `GROW_ARENA`, more room; `NEW_PAGE`, the page `state[PAGE]`.
    """
    pos, at = state[POS], state[OUT]
    for doc in range(state[DOC], lengths.size):
        begin, from_pos = at, pos
        run, previous, alone = 0, np.int64(0), False
        for _ in range(lengths[doc]):
            if at + MAX_FOLDED > out.size:
                state[POS], state[DOC], state[OUT] = from_pos, doc, begin
                return GROW_ARENA
            byte = text[uint64(pos)]
            if byte < 0x80:
                pos += 1
                if run > 0:
                    out[uint64(at)] = _SPACE
                    at += 1
                    run = 0
                out[uint64(at)] = byte
                at += 1
                continue
            code, n = _character(text, pos)
            pos += n
            if alone:
                continue
            row = pages[code >> 8]
            if row < 0:
                state[POS], state[DOC], state[OUT], state[PAGE] = from_pos, doc, begin, code >> 8
                return NEW_PAGE
            entry = entries[row, code & 0xFF]
            source, size, kind = entry >> 16, (entry >> 8) & 0xFF, entry & 0xFF
            if kind == CONTEXTUAL:
                alone = True
                at = begin
                run = 0
                continue
            if kind == CJK:
                if run != 1:
                    out[uint64(at)] = _SPACE
                    at += 1
                if run > 1:
                    at = _copy(folded, previous >> 16, (previous >> 8) & 0xFF, out, at)
                run += 1
                previous = entry
            elif run > 0 and size > 0:
                out[uint64(at)] = _SPACE
                at += 1
                run = 0
            at = _copy(folded, source, size, out, at)
        if run > 0:
            out[uint64(at)] = _SPACE
            at += 1
        if alone:
            at = begin
        ends[doc] = -1 if alone else at
    return DONE


@njit(inline="always")
def _copy(source, begin, size, out, at):
    for k in range(size):
        out[uint64(at + k)] = source[uint64(begin + k)]
    return at + size


@njit(inline="always")
def _character(text, pos):
    """The code of the character of two to four bytes at `pos`, and its size."""
    first = np.int64(text[uint64(pos)])
    second = np.int64(text[uint64(pos + 1)]) & 0x3F
    if first < 0xE0:
        return (first & 0x1F) << 6 | second, 2
    third = np.int64(text[uint64(pos + 2)]) & 0x3F
    if first < 0xF0:
        return (first & 0x0F) << 12 | second << 6 | third, 3
    return (first & 0x07) << 18 | second << 12 | third << 6 | np.int64(text[uint64(pos + 3)]) & 0x3F, 4
