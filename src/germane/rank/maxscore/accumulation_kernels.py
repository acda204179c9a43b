# mypy: ignore-errors
"""Adding up what postings of a chunk are worth in units, into an accumulator of two bytes for each document."""

import numpy as np

from germane.jit import inner
from germane.rank.maxscore.quantised_bounds_kernels import BACKGROUNDS
from germane.rank.maxscore.records import CHUNK, CHUNK_BITS, CODES, FREQUENT, LANES
from germane.rank.maxscore.simd_kernels import add_classes, four_at

AT_ONCE = 4
"""So many frequent lists are added up in one pass over the sums, which do not fit the nearest cache."""


@inner
def enter(decoded, t, chunk):
    """Find the term's postings of a chunk; how many."""
    t.begin, t.end = decoded.begins[t.row, chunk], decoded.begins[t.row, chunk + 1]
    return t.end - t.begin


@inner
def is_dense(t, places):
    """Whether to add up every place of the chunk, by classes, costs less than the term's postings do."""
    return t.frequent >= 0 and (t.end - t.begin) * FREQUENT >= places


@inner
def add(decoded, begin, end, units, acc):
    """Add the units of a chunk's postings from `begin` to `end`: acc[docs[p]] += units[codes[p]].

    Four are loaded at once, for a posting costs what its loads and stores do.
    """
    docs, codes, place, code = decoded.docs, decoded.codes, np.uint64(CHUNK - 1), np.uint64(CODES - 1)
    whole = begin + ((end - begin) & -4)
    for p in range(begin, whole, 4):
        d, c = four_at(docs, p), four_at(codes, p)
        acc[d & place] += units[c & code]
        acc[(d >> np.uint64(16)) & place] += units[(c >> np.uint64(8)) & code]
        acc[(d >> np.uint64(32)) & place] += units[(c >> np.uint64(16)) & code]
        acc[d >> np.uint64(48)] += units[c >> np.uint64(24)]
    for p in range(np.uint64(whole), np.uint64(end)):
        acc[np.uint64(docs[p])] += units[np.uint64(codes[p])]


@inner
def add_peaks(decoded, t, acc, chunk):
    """Add what the term gives above its cap in the chunk."""
    add(decoded, decoded.peaks[t.row, chunk], decoded.peaks[t.row, chunk + 1], t.excess, acc)


@inner
def add_all(decoded, terms, begin, end, capped, acc, queue, chunk, places):
    """Add the units of the postings of some terms in the chunk, of frequent terms several at once; how many postings.

    `queue`: memory for the places of the latter.
    """
    size, waiting = np.int64(0), 0
    for i in range(begin, end):
        t = terms[i]
        size += t.end - t.begin
        if not is_dense(t, places):
            add(decoded, t.begin, t.end, t.units, acc)
            continue
        if i < capped:
            add_peaks(decoded, t, acc, chunk)
        queue[waiting] = i
        waiting += 1
        if waiting == AT_ONCE:
            add_dense(decoded, terms, queue, waiting, acc, chunk, places)
            waiting = 0
    add_dense(decoded, terms, queue, waiting, acc, chunk, places)
    return size


@inner
def add_dense(decoded, terms, queue, n, acc, chunk, places):
    """Add the units of n frequent terms by class, in one pass over the sums."""
    begin, end = chunk << (CHUNK_BITS - 1), (places + LANES - 1) & -LANES
    if n == 1:
        add_classes(acc, end, begin, (classed(decoded, terms[queue[0]]),))
    elif n == 2:
        add_classes(acc, end, begin, (classed(decoded, terms[queue[0]]), classed(decoded, terms[queue[1]])))
    elif n == 3:
        a, b, c = terms[queue[0]], terms[queue[1]], terms[queue[2]]
        add_classes(acc, end, begin, (classed(decoded, a), classed(decoded, b), classed(decoded, c)))
    elif n == 4:
        a, b, c, d = terms[queue[0]], terms[queue[1]], terms[queue[2]], terms[queue[3]]
        lists = classed(decoded, a), classed(decoded, b), classed(decoded, c), classed(decoded, d)
        add_classes(acc, end, begin, lists)


@inner
def classed(decoded, t):
    """A frequent term as `add_classes` takes it."""
    return decoded.classes[t.frequent], t.bytes, np.uint8(t.coarse)


@inner
def lay(m, sums, base, places):
    """Begin the sums of a chunk with the units of the documents' backgrounds above the least one.

    The factor is hardly above ROOM_IN_UNITS, and so one instruction gives the upper halves of many products of 16 bits.
    """
    rounded, acc = sums.rounded[base : base + places], sums.acc[:places]
    factor = np.uint32(np.uint16(m.factor))
    for place in range(np.uint64(places)):
        acc[place] = np.uint16(np.uint32(np.uint32(rounded[place]) * factor) // np.uint32(BACKGROUNDS))
