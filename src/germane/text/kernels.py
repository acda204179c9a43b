# mypy: ignore-errors
"""Bytes to tokens: the loops of bulk analysis.

Indices are cast to unsigned where they are used, which spares Numba's test for negative ones.
"""

import numpy as np
from numba import uint32, uint64

from germane.jit import njit
from germane.text.instruction_kernels import eight
from germane.text.tokenizer import MAX_TOKEN_BYTES

DONE, GROW, NEW_PAGE = range(3)
"""Results of `fold`: finished, or resume after making more room, or after adding a page of characters."""

POS, DOC, OUT, PAGE = range(4)
"""Places in its state: next byte, text, how much was written; the page that is missing."""

SIMPLE, CJK, MARK, COMPOSING, CONTEXTUAL = range(5)
"""Kinds of characters: those that `fold` replaces one by one; those of which runs become bigrams; marks that stay as
they are; marks that may become one character with the letter before them; all others."""
MAX_FOLDED = 640
"""Room that `fold` wants for one character: twice 255 bytes and the spaces around them."""

_APOSTROPHE, _COMMA, _STOP, _ZERO, _NINE, _A, _Z, _S, _SPACE = (ord(c) for c in "',.09AZs ")


def _fold_table():
    """byte -> its lower-case byte if it belongs to tokens, else 0."""
    table = np.zeros(256, dtype=np.uint8)
    table[0x80:] = np.arange(0x80, 0x100)
    for char in "0123456789abcdefghijklmnopqrstuvwxyz":
        table[ord(char)] = table[ord(char.upper())] = ord(char)
    return table


_FOLD = _fold_table()


@njit(cache=True, nogil=True, _nrt=False)
def _is_digit(folded):
    return _ZERO <= folded <= _NINE


@njit(cache=True, nogil=True, _nrt=False)
def _run_end(folded, pos):
    """The first zero at or behind `pos`, sought eight bytes at a time."""
    while True:
        group = eight(folded, pos)
        zeros = (group - uint64(0x0101010101010101)) & ~group & uint64(0x8080808080808080)  # exact up to the first
        if zeros != uint64(0):
            first = (zeros & (~zeros + uint64(1))) >> uint64(7)
            return pos + np.int64((first * uint64(0x0001020304050607)) >> uint64(56))
        pos += 8


@njit(cache=True, nogil=True, _nrt=False)
def cut(text, ends, folded, begins, word_ends, doc_ends):
    """Cut the documents `text[ends[d - 1]:ends[d]]` into tokens, `folded[begins[i]:word_ends[i]]`; returns how many.

    Token `i` of all is `[token for document in documents for token in tokenize(document)][i]`, and `doc_ends[d]` is
    where those of document d end. `text` is UTF-8 of which every byte from 0x80 on belongs to a token, and each
    document ends in a byte that does not. `folded` has eight bytes more than the text.
    """
    for i in range(ends[ends.size - 1]):
        folded[uint64(i)] = _FOLD[text[uint64(i)]]
    n, pos = 0, np.int64(0)
    for doc in range(ends.size):
        while True:
            while pos < ends[doc] and folded[uint64(pos)] == 0:
                pos += 1
            if pos >= ends[doc]:
                break
            begin = pos
            pos = _run_end(folded, pos)
            size = pos - begin
            behind = text[uint64(pos)]
            if behind == _APOSTROPHE or behind == _STOP or behind == _COMMA:
                size, pos = _join(text, folded, begin, pos)
            if size > MAX_TOKEN_BYTES:
                size = MAX_TOKEN_BYTES
                while folded[begin + size] & 0xC0 == 0x80:  # inside a character
                    size -= 1
            begins[uint64(n)] = begin
            word_ends[uint64(n)] = begin + size
            n += 1
        doc_ends[doc] = n
    return n


@njit(cache=True, nogil=True, _nrt=False)
def _join(text, folded, begin, pos):
    """Go on with the token `folded[begin:pos]` behind which a joiner stands: rules 4 and 5 of `tokenizer`.

    What is joined moves up to close the gaps. Returns the token's size and where the text goes on behind it.
    """
    size = pos - begin
    while True:
        joiner, before, after = text[pos], folded[begin + size - 1], folded[pos + 1]
        if joiner == _APOSTROPHE:
            if after == _S and folded[pos + 2] == 0:
                return size, pos + 2
            if _is_digit(before) or _is_digit(after) or after == 0:
                return size, pos
        elif (joiner == _STOP or joiner == _COMMA) and _is_digit(before) and _is_digit(after):
            if joiner == _STOP:
                folded[begin + size] = _STOP
                size += 1
        else:
            return size, pos
        pos += 1
        while folded[pos] != 0:
            folded[begin + size] = folded[pos]
            size += 1
            pos += 1


@njit(cache=True, nogil=True, _nrt=False)
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


@njit(cache=True, nogil=True, _nrt=False)
def commonest(term_of, counts, best):
    """`best[t]` = the token with the highest count of those with term t, of equals the first."""
    best[:] = -1
    for token in range(term_of.size):
        term = term_of[token]
        if term >= 0 and (best[term] < 0 or counts[token] > counts[best[term]]):
            best[term] = token


@njit(cache=True, nogil=True, _nrt=False)
def count_terms(ids, ends, before, places, terms, counts, doc_ends, order):
    """Each document's distinct terms in order of appearance, and how often each came. Returns how many in all.

    In Python: `Counter(ids[ends[d - 1]:ends[d]])` for each document. `order[i]` says which of its document's terms
    token i is. `places[t]` is where term t was last written, counted over all calls: `before` is what earlier ones
    returned in all.
    """
    read, written = np.int64(0), np.int64(0)
    for doc in range(ends.size):
        begin = written
        while read < ends[doc]:
            term = uint64(ids[uint64(read)])
            place = places[term] - before
            if place >= begin:
                counts[uint64(place)] += uint32(1)
            else:
                place = written
                places[term] = before + written
                terms[uint64(written)] = uint32(term)
                counts[uint64(written)] = uint32(1)
                written += 1
            order[uint64(read)] = uint32(place - begin)
            read += 1
        doc_ends[doc] = written
    return written


@njit(cache=True, nogil=True, _nrt=False)
def fold(text, lengths, normal, pages, entries, folded, out, ends, state):
    """Characters to what `tokenizer.scannable` makes of them, text by text; `lengths` counts characters, and the last
    of each text is ASCII. `normal` says that the texts are in the form NFKC.

    `pages[code >> 8]` is the row of `entries` that holds the character, -1 where it was not made yet (`text.folding`
    says what is in an entry). A text with a character that only its neighbours decide is left out: `ends[d]` = -1.
    Returns `DONE`, or what is needed to go on with text `state[DOC]`: `GROW`, more room; `NEW_PAGE`, the page
    `state[PAGE]`.
    """
    pos, at = state[POS], state[OUT]
    for doc in range(state[DOC], lengths.size):
        begin, from_pos = at, pos
        run, previous, alone = 0, np.int64(0), False
        order, changed = np.int64(0), False  # the last character's combining class; whether folding changed a letter
        for _ in range(lengths[doc]):
            if at + MAX_FOLDED > out.size:
                state[POS], state[DOC], state[OUT] = from_pos, doc, begin
                return GROW
            byte = text[uint64(pos)]
            if byte < 0x80:
                pos += 1
                at, run = _end_run(out, at, run)
                out[uint64(at)] = byte
                at += 1
                order, changed = 0, _A <= byte <= _Z
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
            kind, combining = entry & 0xFF, (entry >> 16) & 0xFF
            if kind == CONTEXTUAL or (kind == COMPOSING and (changed or not normal)) or 0 < combining < order:
                alone = True
                continue
            order = combining
            if kind == CJK:
                if run != 1:
                    out[uint64(at)] = _SPACE
                    at += 1
                if run > 1:
                    at = _copy(folded, previous, out, at)
                run += 1
                previous = entry
            elif kind == SIMPLE:
                if (entry >> 8) & 0xFF > 0:
                    at, run = _end_run(out, at, run)
            else:
                at, run = _end_run(out, at, run)
                if _FOLD[out[uint64(at - 1)]] == 0 or at == begin:  # a mark with nothing before it separates
                    out[uint64(at)] = _SPACE
                    at += 1
                    continue
            if kind < MARK or combining == 0:
                changed = (entry >> 24) & 1 == 1
            at = _copy(folded, entry, out, at)
        at = begin if alone else at
        ends[doc] = -1 if alone else at
    return DONE


@njit(cache=True, nogil=True, _nrt=False)
def _end_run(out, at, run):
    """The space behind a run of bigrams; no run goes on."""
    if run > 0:
        out[uint64(at)] = _SPACE
        at += 1
    return at, 0


@njit(cache=True, nogil=True, _nrt=False)
def _copy(folded, entry, out, at):
    """Write the bytes of an entry; returns where they end."""
    begin, size = entry >> 25, (entry >> 8) & 0xFF
    for k in range(size):
        out[uint64(at + k)] = folded[uint64(begin + k)]
    return at + size


@njit(cache=True, nogil=True, _nrt=False)
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
