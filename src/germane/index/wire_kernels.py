# mypy: ignore-errors
"""Numba kernels of the CIFF exchange format: many protobuf messages to arrays and back, no Python per posting.

The wire format in five lines. A varint holds seven bits a byte, the lowest first, the top bit saying that more follow.
A field is a varint tag (number << 3 | type) and a value: type 0 a varint, 1 eight bytes, 2 a varint length and that
many bytes, 5 four bytes. A message is its fields in any order; a number that is 0 and a string that is empty are not
written; unknown fields are skipped; the last of a repeated number or string counts. A negative number is written as its
two's complement in 64 bits. Messages follow one another, each after its length as a varint.

The plain Python of it, which the tests compare with the kernels:

    def varint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)

    def field(number, value):
        if isinstance(value, bytes):
            return varint(number << 3 | 2) + varint(len(value)) + value
        return varint(number << 3) + varint(value) if value else b""

    def delimited(body):
        return varint(len(body)) + body

The decoders stop before a message that is not all there, and never look beyond `end`.
"""

import numpy as np

from germane.jit import njit

MAX_MESSAGE = 2**31 - 1
"""Protobuf's own limit."""
MAX_INT32 = 2**31 - 1
POSTING_BYTES = 14
"""The most a posting takes: tag, size, and two numbers of a tag and five bytes."""
LIST_BYTES = 40
"""The most a list takes beside its term and its postings."""
RECORD_BYTES = 36
"""The most a document record takes beside its id."""

CUT, LONG_VARINT, TOO_LONG, BAD_TAG, WIRE_TYPE = -1, -2, -3, -4, -5
NO_TERM, NO_POSTINGS, NEGATIVE_GAP, REPEATED_DOC, DOC_RANGE, TF_RANGE, DF, CF, NO_ID, LENGTH_RANGE = range(-15, -5)


@njit(cache=True, nogil=True, _nrt=False)
def put_varint(out, at, value):
    """Write a non-negative number; return the position after it."""
    while value > 127:
        out[at] = np.uint8(value & 127 | 128)
        value >>= 7
        at += 1
    out[at] = np.uint8(value)
    return at + 1


@njit(cache=True, nogil=True, _nrt=False)
def varint_size(value):
    """Bytes that `put_varint` writes: `max(1, math.ceil(value.bit_length() / 7))`."""
    size = 1
    while value > 127:
        value >>= 7
        size += 1
    return size


@njit(cache=True, nogil=True, _nrt=False)
def get_varint(data, at, end):
    """The number at `at` and the position after it, which is CUT where it runs past `end`, or LONG_VARINT."""
    value = np.int64(0)
    shift = 0
    while at < end:
        byte = np.int64(data[at])
        value |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return value, at
        shift += 7
        if shift >= 70:
            return value, np.int64(LONG_VARINT)
    return value, np.int64(CUT)


@njit(cache=True, nogil=True, _nrt=False)
def skip_value(data, at, end, wire):
    """The position after a value that nobody asked for; negative: what is wrong with it."""
    if wire == 0:
        _, at = get_varint(data, at, end)
        return at
    if wire == 2:
        size, at = get_varint(data, at, end)
        if at < 0:
            return at
    elif wire == 1:
        size = np.int64(8)
    elif wire == 5:
        size = np.int64(4)
    else:
        return np.int64(WIRE_TYPE)
    if size < 0 or size > end - at:
        return np.int64(CUT)
    return at + size


@njit(cache=True, nogil=True, _nrt=False)
def next_message(data, position, end):
    """Begin and end of the message at `position`; begin is CUT (end: bytes needed) if it is not all there yet."""
    length, at = get_varint(data, position, end)
    if at == CUT:
        return np.int64(CUT), np.int64(end - position + 1)
    if at < 0:
        return at, at
    if length < 0 or length > MAX_MESSAGE:
        return np.int64(TOO_LONG), np.int64(TOO_LONG)
    if length > end - at:
        return np.int64(CUT), at - position + length
    return at, at + length


@njit(cache=True, nogil=True)
def encode_lists(starts, docs, counts, term_bytes, term_offsets, out):
    """PostingsList messages of the lists `docs[starts[t]:starts[t + 1]]`; return the bytes written, or TOO_LONG.

    Equivalent: `delimited(field(1, term) + field(2, df) + field(3, cf) + postings)`, each posting being
    `field(4, field(1, gap) + field(2, tf))` and the first gap the document itself.
    """
    at = np.int64(0)
    for t in range(len(starts) - 1):
        term_size = np.int64(term_offsets[t + 1]) - np.int64(term_offsets[t])
        df = np.int64(starts[t + 1] - starts[t])
        cf = np.int64(0)
        size = 1 + varint_size(term_size) + term_size + 1 + varint_size(df)
        previous = np.int64(0)
        for i in range(starts[t], starts[t + 1]):
            gap = np.int64(docs[i]) - previous
            previous = np.int64(docs[i])
            cf += np.int64(counts[i])
            size += 3 + varint_size(np.int64(counts[i]))
            if gap > 0:
                size += 1 + varint_size(gap)
        size += 1 + varint_size(cf)
        if size > MAX_MESSAGE:
            return np.int64(TOO_LONG)
        at = put_varint(out, at, size)
        out[at] = 0x0A
        at = put_varint(out, at + 1, term_size)
        for i in range(np.int64(term_offsets[t]), np.int64(term_offsets[t + 1])):
            out[at] = term_bytes[i]
            at += 1
        out[at] = 0x10
        at = put_varint(out, at + 1, df)
        out[at] = 0x18
        at = put_varint(out, at + 1, cf)
        previous = np.int64(0)
        for i in range(starts[t], starts[t + 1]):
            gap = np.int64(docs[i]) - previous
            previous = np.int64(docs[i])
            out[at] = 0x22
            size_at = at + 1  # at most 12, so one byte
            at += 2
            if gap > 0:
                out[at] = 0x08
                at = put_varint(out, at + 1, gap)
            out[at] = 0x10
            at = put_varint(out, at + 1, np.int64(counts[i]))
            out[size_at] = np.uint8(at - size_at - 1)
    return at


@njit(cache=True, nogil=True)
def encode_records(docs, first, id_bytes, id_offsets, doc_len, out):
    """DocRecord messages of the documents `docs`, numbered from `first` on; return the bytes written.

    Equivalent: `delimited(field(1, number) + field(2, id) + field(3, length))`.
    """
    at = np.int64(0)
    for i in range(len(docs)):
        d = docs[i]
        number = np.int64(first + i)
        id_size = np.int64(id_offsets[d + 1]) - np.int64(id_offsets[d])
        length = np.int64(doc_len[d])
        size = 1 + varint_size(id_size) + id_size
        if number > 0:
            size += 1 + varint_size(number)
        if length > 0:
            size += 1 + varint_size(length)
        at = put_varint(out, at, size)
        if number > 0:
            out[at] = 0x08
            at = put_varint(out, at + 1, number)
        out[at] = 0x12
        at = put_varint(out, at + 1, id_size)
        for j in range(np.int64(id_offsets[d]), np.int64(id_offsets[d + 1])):
            out[at] = id_bytes[j]
            at += 1
        if length > 0:
            out[at] = 0x18
            at = put_varint(out, at + 1, length)
    return at


@njit(cache=True, nogil=True, _nrt=False)
def decode_posting(data, at, end):
    """Gap, count and the position after a Posting, which ends at `end`; negative: what is wrong with it."""
    gap = np.int64(0)
    tf = np.int64(0)
    while at < end:
        tag, at = get_varint(data, at, end)
        if at >= 0 and tag == 0x08:
            gap, at = get_varint(data, at, end)
        elif at >= 0 and tag == 0x10:
            tf, at = get_varint(data, at, end)
        elif at >= 0:
            at = skip_unknown(data, at, end, tag, 2)
        if at < 0:
            return gap, tf, at
    return gap, tf, at


@njit(cache=True, nogil=True, _nrt=False)
def skip_unknown(data, at, end, tag, known):
    """The position after a field whose tag matched none; negative where its number is one of the `known` first."""
    number = tag >> 3
    if number < 1 or number > 0x1FFFFFFF:
        return np.int64(BAD_TAG)
    if number <= known:
        return np.int64(WIRE_TYPE)
    return skip_value(data, at, end, tag & 7)


@njit(cache=True, nogil=True)
def decode_lists(data, position, end, limit, n_docs, term_begin, term_end, starts, docs, counts):
    """At most `limit` PostingsList messages of `data[position:end]`: terms as places in `data`, gaps summed.

    Returns (fault or 0, messages, position after them, bytes the next message needs). Room: a message takes five bytes
    at least, a posting four. The last of (`starts`, `docs`, `counts`) that counts is `starts[messages]`.
    """
    starts[0] = 0
    n = np.int64(0)
    for m in range(limit):
        at, stop = next_message(data, position, end)
        if at == CUT:
            return 0, m, position, stop
        if at < 0:
            return at, m, position, 0
        after = stop
        begin = stop
        finish = stop
        df = np.int64(0)
        cf = np.int64(0)
        stated_df = np.int64(0)
        stated_cf = np.int64(0)
        doc = np.int64(0)
        while at < after:
            tag, at = get_varint(data, at, after)
            if at < 0:
                return at, m, position, 0
            if tag == 0x22:
                size, at = get_varint(data, at, after)
                if at < 0:
                    return at, m, position, 0
                if size < 0 or size > after - at:
                    return CUT, m, position, 0
                gap, tf, at = decode_posting(data, at, at + size)
                if at < 0:
                    return at, m, position, 0
                if gap < 0:
                    return NEGATIVE_GAP, m, position, 0
                if gap == 0 and df > 0:
                    return REPEATED_DOC, m, position, 0
                if gap >= n_docs - doc:
                    return DOC_RANGE, m, position, 0
                if tf < 1 or tf > MAX_INT32:
                    return TF_RANGE, m, position, 0
                doc += gap
                docs[n] = np.uint32(doc)
                counts[n] = np.uint32(tf)
                n += 1
                df += 1
                cf += tf
            elif tag == 0x0A:
                size, at = get_varint(data, at, after)
                if at < 0:
                    return at, m, position, 0
                if size < 0 or size > after - at:
                    return CUT, m, position, 0
                begin = at
                at += size
                finish = at
            elif tag == 0x10:
                stated_df, at = get_varint(data, at, after)
            elif tag == 0x18:
                stated_cf, at = get_varint(data, at, after)
            else:
                at = skip_unknown(data, at, after, tag, 4)
            if at < 0:
                return at, m, position, 0
        if begin == finish:
            return NO_TERM, m, position, 0
        if df == 0:
            return NO_POSTINGS, m, position, 0
        if df != stated_df:
            return DF, m, position, 0
        if cf != stated_cf:
            return CF, m, position, 0
        term_begin[m] = begin
        term_end[m] = finish
        starts[m + 1] = n
        position = after
    return 0, limit, position, 0


@njit(cache=True, nogil=True)
def decode_records(data, position, end, limit, n_docs, docs, id_begin, id_end, lengths):
    """At most `limit` DocRecord messages of `data[position:end]`: ids as places in `data`. Returns as `decode_lists`.

    Room: a message takes four bytes at least.
    """
    for m in range(limit):
        at, stop = next_message(data, position, end)
        if at == CUT:
            return 0, m, position, stop
        if at < 0:
            return at, m, position, 0
        begin = stop
        finish = stop
        doc = np.int64(0)
        length = np.int64(0)
        while at < stop:
            tag, at = get_varint(data, at, stop)
            if at < 0:
                return at, m, position, 0
            if tag == 0x08:
                doc, at = get_varint(data, at, stop)
            elif tag == 0x12:
                size, at = get_varint(data, at, stop)
                if at < 0:
                    return at, m, position, 0
                if size < 0 or size > stop - at:
                    return CUT, m, position, 0
                begin = at
                at += size
                finish = at
            elif tag == 0x18:
                length, at = get_varint(data, at, stop)
            else:
                at = skip_unknown(data, at, stop, tag, 3)
            if at < 0:
                return at, m, position, 0
        if begin == finish:
            return NO_ID, m, position, 0
        if doc < 0 or doc >= n_docs:
            return DOC_RANGE, m, position, 0
        if length < 0 or length > MAX_INT32:
            return LENGTH_RANGE, m, position, 0
        docs[m] = doc
        id_begin[m] = begin
        id_end[m] = finish
        lengths[m] = length
        position = stop
    return 0, limit, position, 0
