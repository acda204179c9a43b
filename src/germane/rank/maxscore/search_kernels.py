# mypy: ignore-errors
"""MaxScore over decoded lists: the best k documents, exact to the last bit.

Documents are visited in chunks of 2^15. In a chunk the essential lists are accumulated, those without which no document
reaches the threshold; documents that may still reach it are looked up in the other lists. Sums are upper bounds in
whole units (`quantised_bounds_kernels`); documents whose bounds reach what k documents surely have are rescored
(`rescoring_kernels`). Where terms are required, the candidates are the documents of the rarest required list, and those
that a look-up does not find are dropped.

Equivalent in NumPy: `rank.scoring.exact.top_k`, which is the oracle of the tests.
"""

import numpy as np

from germane.jit import inner, kernel
from germane.rank.maxscore.impact_kernels import score_of
from germane.rank.maxscore.lookup_kernels import enter, find
from germane.rank.maxscore.quantised_bounds_kernels import start
from germane.rank.maxscore.records import CHUNK, CHUNK_BITS, CODES, LANES, Decoded, DocumentArrays, Query, Work
from germane.rank.maxscore.rescoring_kernels import finish, make_room
from germane.rank.maxscore.result_kernels import rise, take
from germane.rank.maxscore.simd_kernels import count_bits, four_at, lowest_bit, reach_mask

LOOKING_UP = 16
"""Looking a document up in a list costs as much as accumulating so many postings."""
SPARSE = 16
"""A chunk is scanned if a SPARSE-th of its places, or more, was accumulated; else the postings are read again."""
FIRST_PIECE, PIECE, PAST = 512, 4096, 8
"""The threshold is looked at again after so many places of a chunk: the first, then twice as many, up to the most, or
to one of so many documents in the chunks before."""
SAMPLE = 8
"""One of so many groups of places tells how many of them reach something."""


@inner
def required_units(m):
    """What a sum must reach, so that a score may reach the threshold."""
    units = (m.threshold - m.flat) / (m.norm * m.unit)
    return units if units > 0.0 else 0.0


@inner
def units_needed(required, later):
    """What a sum must be already, at least 1, if it may get so much later."""
    need = required - later
    return np.uint16(1) if need < 1.0 else np.uint16(65535) if need > 65535.0 else np.uint16(need)


@inner
def split(decoded, m, terms, work, chunk, n_required):
    """How many terms are essential in a chunk, 0 for none; fills the sums of bounds in `suffix`.

    Of required terms the first is essential, unless one of them has no posting here.
    """
    essential, required = 0, required_units(m)
    work.suffix[m.n_terms] = 0.0
    for i in range(m.n_terms - 1, -1, -1):
        t = terms[work.order[i]]
        n = enter(decoded, t, chunk)
        if n == 0 and i < n_required:
            return 0
        top = np.float64(t.units[np.uint64(decoded.tops[t.row, chunk])]) if n > 0 else 0.0
        work.suffix[i] = work.suffix[i + 1] + top
        if essential == 0 and work.suffix[i] >= required:
            essential = i + 1
    return min(essential, 1) if n_required > 0 else essential


@inner
def accumulate(decoded, t, acc):
    """acc[docs[p]] += units[codes[p]] over the term's postings of the chunk; four are loaded at once."""
    docs, codes, place, code = decoded.docs, decoded.codes, np.uint64(CHUNK - 1), np.uint64(CODES - 1)
    units, whole = t.units, t.begin + ((t.end - t.begin) & -4)
    for p in range(t.begin, whole, 4):
        d, c = four_at(docs, p), four_at(codes, p)
        acc[d & place] += units[c & code]
        acc[(d >> np.uint64(16)) & place] += units[(c >> np.uint64(8)) & code]
        acc[(d >> np.uint64(32)) & place] += units[(c >> np.uint64(16)) & code]
        acc[d >> np.uint64(48)] += units[c >> np.uint64(24)]
    for p in range(np.uint64(whole), np.uint64(t.end)):
        acc[np.uint64(docs[p])] += units[np.uint64(codes[p])]


@inner
def count_reaching(acc, places, need):
    """How many places reach `need`, by a sample."""
    n = 0
    for group in range(0, places, SAMPLE * LANES):
        n += count_bits(reach_mask(acc, group, need))
    return SAMPLE * n


@inner
def accumulate_essential(decoded, m, terms, work, essential, places):
    """Accumulate the essential lists of a chunk, and others while looking up their candidates would cost more.

    Return the number of lists, and whether the chunk is to be scanned.
    """
    size = np.int64(0)
    for i in range(essential):
        t = terms[work.order[i]]
        size += t.end - t.begin
        accumulate(decoded, t, work.acc)
    required = required_units(m)
    while size * SPARSE > places and essential < m.n_terms:
        t = terms[work.order[essential]]
        reaching = count_reaching(work.acc, places, units_needed(required, work.suffix[essential]))
        if reaching * LOOKING_UP <= t.end - t.begin:
            break
        size += t.end - t.begin
        accumulate(decoded, t, work.acc)
        essential += 1
    return essential, size * SPARSE > places


@inner
def highest(acc, group):
    """The largest sum of a group of LANES places."""
    top = np.uint16(0)
    for place in range(np.uint64(group), np.uint64(group + LANES)):
        value = acc[place]
        top = value if value > top else top
    return top


@inner
def collect(docs, m, work, base, begin, end, need, later):
    """The candidates among the places from `begin` to `end` of a chunk; how many. All sums are cleared."""
    n, acc = 0, work.acc
    for group in range(begin, end, LANES):
        reaching = reach_mask(acc, group, need) if highest(acc, group) >= need else np.uint64(0)
        while reaching != 0:
            place = group + lowest_bit(reaching)
            reaching &= reaching - np.uint64(1)
            n = admit(docs, m, work, base + place, np.float64(acc[place]), later, n)
    for place in range(np.uint64(begin), np.uint64(end)):
        acc[place] = np.uint16(0)
    return n


@inner
def collect_touched(docs, decoded, m, terms, work, essential, base, need, later):
    """The same among the few places that the essential lists touched. The first loop does not branch."""
    acc, hits, touched, n = work.acc, work.hits, np.uint64(0), 0
    for i in range(essential):
        t = terms[work.order[i]]
        for p in range(np.uint64(t.begin), np.uint64(t.end)):
            place = np.uint64(decoded.docs[p])
            hits[touched] = (np.int64(acc[place]) << CHUNK_BITS) + np.int64(place)
            touched += np.uint64(acc[place] >= need)
            acc[place] = np.uint16(0)
    for h in range(touched):
        n = admit(docs, m, work, base + (hits[h] & (CHUNK - 1)), np.float64(hits[h] >> CHUNK_BITS), later, n)
    return n


@inner
def collect_required(docs, decoded, m, t, work, base, later):
    """The same among all documents of one list."""
    n = 0
    for p in range(np.uint64(t.begin), np.uint64(t.end)):
        units = np.float64(t.units[np.uint64(decoded.codes[p])])
        n = admit(docs, m, work, base + np.int64(decoded.docs[p]), units, later, n)
    return n


@inner
def admit(docs, m, work, d, units, later, n):
    """Take document d as a candidate if the mask allows it and it may reach the threshold; how many there are then."""
    if len(docs.mask) > 0 and docs.mask[d] == 0:
        return n
    if score_of(docs, m, d, (units + later) * m.unit) >= m.threshold:
        work.candidates[n].doc, work.candidates[n].sum = d, units
        n += 1
    return n


@inner
def look_up(decoded, t, candidates, n, least, is_required):
    """Add the term to the candidates that hold it; keep those that have `least` and, if required, hold it."""
    kept = 0
    for c in range(n):
        d, total = candidates[c].doc, candidates[c].sum
        p = find(decoded, t, d)
        if p >= 0:
            total += np.float64(t.units[np.uint64(decoded.codes[p])])
        if total >= least and (p >= 0 or not is_required):
            candidates[kept].doc, candidates[kept].sum = d, total
            kept += 1
    return kept


@inner
def visit(docs, decoded, terms, m, work, chunk, n_required):
    """Take in the chunk's documents whose bounds reach the threshold, which rises from piece to piece."""
    base = chunk << CHUNK_BITS
    places = min(m.n_docs - base, CHUNK)
    essential, scanned = split(decoded, m, terms, work, chunk, n_required), False
    if essential == 0:
        return
    if n_required == 0:
        essential, scanned = accumulate_essential(decoded, m, terms, work, essential, places)
    begin, end = 0, min(max(FIRST_PIECE, base // PAST), places) if scanned else places
    while begin < places:
        required, later = required_units(m), work.suffix[essential]
        need = units_needed(required, later)
        if n_required > 0:
            n = collect_required(docs, decoded, m, terms[work.order[0]], work, base, later)
        elif scanned:
            n = collect(docs, m, work, base, begin, end, need, later)
        else:
            n = collect_touched(docs, decoded, m, terms, work, essential, base, need, later)
        for i in range(essential, m.n_terms):
            t, least = terms[work.order[i]], required - work.suffix[i + 1]
            n = look_up(decoded, t, work.candidates, n, least, i < n_required)
        for c in range(n):
            d = work.candidates[c].doc
            score = score_of(docs, m, d, work.candidates[c].sum * m.unit)
            if score >= m.threshold:
                take(m, work, d, score)
        rise(m, work.histogram)
        begin, end = end, min(end + min(end, max(PIECE, base // PAST)), places)


@kernel
def top_k(query, docs, decoded, rows, n_required, terms, search, work):
    """The best k documents, in the total order, into `best`; how many. `rows`: the lists of the terms.

    A document must hold the first `n_required` terms in `order`, of which the first is the rarest.
    """
    query, docs, decoded, work, m = Query(*query), DocumentArrays(*docs), Decoded(*decoded), Work(*work), search[0]
    start(query, decoded, rows, terms, m, work)
    for chunk in range(decoded.begins.shape[1] - 1):
        make_room(docs, decoded, terms, m, work)
        visit(docs, decoded, terms, m, work, chunk, n_required)
    return finish(docs, decoded, terms, m, work)
