# mypy: ignore-errors
"""Scoring over decoded lists: exact top k where the lists of the query's terms lie unpacked in memory.

A list is kept as two bytes for each document (its place in a chunk of 2^15), one byte for its count and, where sizes
matter, one for its saturation c/(c + x0 + x1·size), rounded up, or the class of its ratio (c - δ)/(x0 + x1·size). So an
impact is bounded by a small table for each term, in whole units that add up in 16 bits without overflow, and a posting
costs a nanosecond.

The road (MaxScore over chunks): in each chunk, the terms that can lift a document over the threshold are added up, and
documents that can still reach it are looked up in the lists of the others. What comes out are bounds of scores; the
documents whose bounds reach what k documents surely have are then scored exactly, in the canonical order of terms.

Where many postings would be added up, bounds are tighter. Sums begin with the documents' backgrounds, instead of the
best one for all. The few postings of a list with the largest codes, its peaks, are kept a second time, apart: what they
give above the rest, the cap, is always added, so that a document that is not looked up has no more than the cap. And if
few documents are asked for, those that may be among them are scored at once, so that the threshold rises higher.

Equivalent in NumPy: score every document, `np.lexsort((id_rank, -score))[:k]`.
"""

import numpy as np

from germane.index.simd_kernels import prefetch
from germane.jit import inner, kernel
from germane.rank.maxscore.accumulation_kernels import add_all, add_peaks, enter, is_dense, lay
from germane.rank.maxscore.impact_kernels import score_of, with_rest
from germane.rank.maxscore.lookup_kernels import find
from germane.rank.maxscore.quantised_bounds_kernels import BACKGROUNDS, cap, start
from germane.rank.maxscore.records import CHUNK, CHUNK_BITS, LANES, Asked, Decoded, DocumentArrays, Sums
from germane.rank.maxscore.rescoring_kernels import finish, make_room, settle
from germane.rank.maxscore.result_kernels import rise, take
from germane.rank.maxscore.simd_kernels import count_bits, lowest_bit, reach_mask

ASKING = 16
"""Looking a document up in a list costs as much as adding so many postings."""
ADDING_FREQUENT, ASKING_FREQUENT = 16, 3
"""Where a list is kept in its second form, so many places are added up in the time of a posting, and looking up costs
as much as adding so many."""
COUNTING = 16
"""Places that can be searched for those that reach something, in the time that it takes to add a posting."""
AHEAD = 16
"""Documents between asking for one's background and reading it."""
FIRST_PIECE, PIECE, PAST = 512, 4096, 8
"""The threshold is looked at again after so many places of a chunk: the first, then twice as many, up to the most, or
to one of so many documents in the chunks before."""
HEAVY = 2
"""If essential terms have a posting for every so many places of a chunk, or more, better bounds are worth their price:
those with the documents' backgrounds, and with peaks apart."""
CAPPED = 1.3
"""Terms are capped from the last one on while their caps are less than so many times what is required: it will rise."""
SAMPLE = 8
"""One of so many groups of places is looked at, to tell how many places of a chunk reach something."""
FURTHER = 4
"""So much of what was added, one part of so many, is added next, before it is looked again what may reach."""
ROUGH = 32
"""If bounds may be too large by one of so many parts of what is required, few documents are scored as they are met."""
SPARSE = 16
"""A chunk is searched whole if a SPARSE-th of it, or more, was added; else its postings are gone through again."""


@inner
def bound_of(docs, m, rounded, d, impacts):
    """What `score_of` says, or a little more: by rounded backgrounds, if there are some."""
    if len(rounded) == 0:
        return score_of(docs, m, d, impacts)
    return with_rest(docs, d, impacts, m.rest + m.step * np.float64(rounded[d]))


@inner
def without_background(m, sums, d, units):
    """The units of impacts in the sum of document d."""
    return units - np.float64(np.int64(sums.rounded[d]) * m.factor // BACKGROUNDS) if m.laid else units


@inner
def admit(docs, m, sums, d, units, later, n):
    """Take document d in, if it is wanted and its bound reaches the threshold; how many candidates there are then.

    `later`: units it may still get from other terms; if there are none its bound is complete, else it is a candidate.
    """
    if len(docs.mask) > 0 and docs.mask[d] == 0:
        return n
    impacts = without_background(m, sums, d, units) + later
    score = bound_of(docs, m, sums.rounded, d, impacts * m.unit)
    if score >= m.threshold and impacts > 0.0:
        if later == 0.0:
            take(m, sums, d, score)
        else:
            sums.candidates[n].doc, sums.candidates[n].sum = d, units
            n += 1
    return n


@inner
def highest(acc, group):
    """The largest sum of a group of LANES places, found in less time than a mask of those that reach something."""
    top = np.uint16(0)
    for place in range(np.uint64(group), np.uint64(group + LANES)):
        value = acc[place]
        top = value if value > top else top
    return top


@inner
def collect(docs, m, sums, base, begin, end, need, later):
    """Admit the documents from `begin` to `end` of a chunk that have what they need; all sums are cleared.

    How many candidates.
    """
    n, acc = 0, sums.acc
    for group in range(begin, end, LANES):
        reaching = reach_mask(acc, group, need) if highest(acc, group) >= need else np.uint64(0)
        while reaching != 0:
            place = group + lowest_bit(reaching)
            reaching &= reaching - np.uint64(1)
            n = admit(docs, m, sums, base + place, np.float64(acc[place]), later, n)
    for place in range(np.uint64(begin), np.uint64(end)):
        acc[place] = np.uint16(0)
    return n


@inner
def gather_touched(decoded, terms, n_terms, acc, need, hits):
    """The places of a chunk that the first terms touched and that have what they need, with their sums; how many.

    All sums are cleared, so that each is found once. Nothing is decided on the way: no processor could foretell it.
    """
    n = np.uint64(0)
    for i in range(n_terms):
        t = terms[i]
        for p in range(np.uint64(t.begin), np.uint64(t.end)):
            place = np.uint64(decoded.docs[p])
            hits[n] = (np.int64(acc[place]) << CHUNK_BITS) + np.int64(place)
            n += np.uint64(acc[place] >= need)
            acc[place] = np.uint16(0)
    return np.int64(n)


@inner
def collect_touched(docs, m, sums, decoded, terms, n_terms, base, need, later):
    """The same for all documents of a chunk that the first terms touched, of which there are few."""
    n, hits, background = 0, sums.hits, len(sums.rounded) > 0
    for h in range(gather_touched(decoded, terms, n_terms, sums.acc, need, hits)):
        if background:
            prefetch(sums.rounded, base + (hits[h + AHEAD] & (CHUNK - 1)))
        n = admit(docs, m, sums, base + (hits[h] & (CHUNK - 1)), np.float64(hits[h] >> CHUNK_BITS), later, n)
    return n


@inner
def count_reaching(decoded, terms, n, whole, places, acc, need, most):
    """How many places reach `need`, one as often as it was added to if not `whole`; stops counting above `most`."""
    reaching = 0
    if whole:
        for group in range(0, places, SAMPLE * LANES):
            if highest(acc, group) >= need:
                reaching += SAMPLE * count_bits(reach_mask(acc, group, need))
                if reaching > most:
                    break
        return reaching
    for i in range(n):
        t = terms[i]
        for p in range(np.uint64(t.begin), np.uint64(t.end)):
            reaching += acc[np.uint64(decoded.docs[p])] >= need
        if reaching > most:
            break
    return reaching


@inner
def look_up(decoded, t, candidates, n, least, required):
    """Add the term to the candidates that hold it; keeps those that have `least` and, if `required`, hold it."""
    kept = 0
    for c in range(n):
        d, total = candidates[c].doc, candidates[c].sum
        p = find(decoded, t, d)
        if p >= 0:
            total += np.float64(t.units[np.uint64(decoded.codes[p])])
        if total >= least and (p >= 0 or not required):
            candidates[kept].doc, candidates[kept].sum = d, total
            kept += 1
    return kept


@inner
def required_units(m):
    """What a sum must reach, so that a score may reach the threshold; backgrounds in it were rounded down."""
    units = (m.threshold - m.base) / (m.norm * m.unit) - 1.0 if m.laid else (m.threshold - m.flat) / (m.norm * m.unit)
    return units if units > 0.0 else 0.0


@inner
def units_needed(required, later):
    """What a sum must be already, at least 1, if it may get so much later."""
    need = required - later
    return np.uint16(1) if need < 1.0 else np.uint16(65535) if need > 65535.0 else np.uint16(need)


@inner
def split(decoded, m, terms, suffix, chunk, required):
    """How many terms are essential in a chunk, 0 for none, and their postings; fills the sums of bounds in `suffix`."""
    essential, size = 0, np.int64(0)
    suffix[m.n_terms, 0] = 0.0
    for i in range(m.n_terms - 1, -1, -1):
        t = terms[i]
        n = enter(decoded, t, chunk)
        top = np.float64(t.units[np.uint64(decoded.tops[t.row, chunk])]) if n > 0 else 0.0
        suffix[i, 0] = suffix[i + 1, 0] + top
        if essential == 0 and suffix[i, 0] >= required:
            essential = i + 1
        if essential > 0:
            size += n
    return essential, size


@inner
def costs(t, places):
    """What it costs to add the term up, and to look a document up in its list, both in postings that are added."""
    adding = places // ADDING_FREQUENT if is_dense(t, places) else t.end - t.begin
    return adding, ASKING_FREQUENT if t.frequent >= 0 else ASKING


@inner
def add_essential(decoded, m, terms, sums, essential, chunk, places):
    """Add up the essential terms of a chunk, and those behind them while to look up what may still reach costs more.

    After each part that is added what may reach is counted. Returns how many terms were added.
    """
    done, size, required = 0, np.int64(0), required_units(m)
    while True:
        size += add_all(decoded, terms, done, essential, m.capped, sums.acc, sums.hits, chunk, places)
        m.whole |= size * SPARSE > places
        done, adding, asking, step = (
            essential,
            np.int64(0),
            np.int64(0),
            max(size // FURTHER, places // COUNTING // SAMPLE),
        )
        while essential < m.n_terms and adding <= step:
            one, other = costs(terms[essential], places)
            adding, asking, essential = adding + one, asking + other, essential + 1
        if asking == 0:
            return done
        need, most = units_needed(required, sums.suffix[done, 0]), adding // asking
        if count_reaching(decoded, terms, done, m.whole > 0, places, sums.acc, need, most) <= most:
            return done


@inner
def begin_sums(decoded, m, terms, sums, chunk, places):
    """Choose the road through a chunk, and begin its sums with what is not added term by term.

    How many terms are essential, beside peaks; -1 if nothing can reach the threshold.
    """
    m.laid = False
    required = required_units(m)
    essential, size = split(decoded, m, terms, sums.suffix, chunk, required)
    heavy = m.capped < m.n_terms or size * HEAVY > places
    if heavy and m.capped == m.n_terms and required > 0.0:
        cap(decoded, m, terms, CAPPED * required)
        essential, size = split(decoded, m, terms, sums.suffix, chunk, required)
    if essential == 0 and m.capped == m.n_terms:
        return -1
    m.whole, m.laid = heavy or size * SPARSE > places, heavy and len(sums.rounded) > 0
    if m.laid:
        lay(m, sums, chunk << CHUNK_BITS, places)
    for i in range(m.capped, m.n_terms):
        add_peaks(decoded, terms[i], sums.acc, chunk)
    return essential


@inner
def visit(docs, decoded, terms, m, sums, chunk):
    """Take the chunk's documents in whose bounds reach the threshold; it rises from piece to piece."""
    n_terms, candidates, base = m.n_terms, sums.candidates, chunk << CHUNK_BITS
    places = m.n_docs - base if m.n_docs - base < CHUNK else CHUNK
    essential = begin_sums(decoded, m, terms, sums, chunk, places)
    if essential < 0:
        return
    essential, whole = add_essential(decoded, m, terms, sums, essential, chunk, places), m.whole > 0
    rough = ROUGH * m.slack > m.norm * m.unit * required_units(m)
    few = rough and m.capped < n_terms and m.k < decoded.begins.shape[1]  # to score costs what a threshold may save
    begin, end = 0, min(max(FIRST_PIECE, base // PAST), places) if whole else places
    while begin < places:
        required, later = required_units(m), sums.suffix[essential, 0]
        need = units_needed(required, later)
        if whole:
            n = collect(docs, m, sums, base, begin, end, need, later)
        else:
            n = collect_touched(docs, m, sums, decoded, terms, essential, base, need, later)
        for i in range(essential, n_terms):
            n = look_up(decoded, terms[i], candidates, n, required - sums.suffix[i + 1, 0], False)
        for c in range(n):
            d = candidates[c].doc
            impacts = without_background(m, sums, d, candidates[c].sum)
            score = score_of(docs, m, d, impacts * m.unit)
            if score >= m.threshold and impacts > 0.0:
                if few:
                    settle(docs, decoded, terms, m, sums, d)
                else:
                    take(m, sums, d, score)
        rise(m, sums.histogram)
        begin, end = end, min(end + min(end, max(PIECE, base // PAST)), places)


@kernel
def top_k(asked, docs, extremes, decoded, rows, terms, model, sums):
    """The best k documents, in the total order, into `best`. How many.

    First all documents are collected whose bounds reach what k of them surely have, then these are scored. `extremes`:
    the largest norm and prior, the factor by which kept saturations may be wrong, the first class of ratios, the least
    background and the step of rounded ones.
    """
    asked, docs, decoded, sums, m = Asked(*asked), DocumentArrays(*docs), Decoded(*decoded), Sums(*sums), model[0]
    start(asked, extremes, decoded, rows, terms, m, sums)
    for chunk in range(decoded.begins.shape[1] - 1):
        make_room(docs, decoded, terms, m, sums)
        visit(docs, decoded, terms, m, sums, chunk)
    return finish(docs, decoded, terms, m, sums)
