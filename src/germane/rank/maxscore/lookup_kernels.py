# mypy: ignore-errors
"""Find a document in the postings of a chunk."""

import numpy as np

from germane.jit import inner
from germane.rank.maxscore.records import CHUNK, CHUNK_BITS, LANES


@inner
def enter(decoded, t, chunk):
    """Find the term's postings of a chunk; return how many there are."""
    t.begin, t.end = decoded.begins[t.row, chunk], decoded.begins[t.row, chunk + 1]
    return t.end - t.begin


@inner
def find(decoded, t, d):
    """The term's posting of document d in the chunk, or -1."""
    place = np.uint16(d & (CHUNK - 1))
    p = seek(decoded.docs, t.begin, t.end, place)
    return p if p < t.end and decoded.docs[np.uint64(p)] == place else np.int64(-1)


@inner
def seek(docs, begin, end, place):
    """The first posting from `begin` to `end`, those of a chunk, whose place is not below `place`; `end` if none.

    The search begins where the place would be if places were spread evenly, and goes on at ever larger distances.
    """
    low, step = begin + ((end - begin) * np.int64(place) >> CHUNK_BITS), LANES
    if docs[np.uint64(low)] < place:
        high = low + step
        while high < end and docs[np.uint64(high)] < place:
            step *= 2
            low, high = high, high + step
        high = min(high, end)
    else:
        low, high = low - step, low
        while low > begin and docs[np.uint64(low)] >= place:
            step *= 2
            low, high = low - step, low
        low = max(low, begin)
    least = LANES if end - begin >= LANES else 0
    while high - low > least:
        middle = (low + high) >> 1
        if docs[np.uint64(middle)] < place:
            low = middle + 1
        else:
            high = middle
    if least == 0:
        return low
    low = min(low, end - LANES)
    return low + below(docs, low, place)


@inner
def below(docs, p, place):
    """How many of LANES postings from p on have a smaller place."""
    n = np.uint16(0)
    for at in range(np.uint64(p), np.uint64(p + LANES)):
        n = np.uint16(n + np.uint16(docs[at] < place))
    return np.int64(n)
