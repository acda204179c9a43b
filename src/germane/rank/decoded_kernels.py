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

import math

import numpy as np

from germane.index.simd import prefetch
from germane.jit import inner, kernel
from germane.rank.decoding_kernels import largest_ratio
from germane.rank.impact_kernels import begin_model, impact, score_of, with_rest
from germane.rank.kinds import LOG_SIZE_RATIO, SATURATION
from germane.rank.records import (
    CHUNK,
    CHUNK_BITS,
    CLASSES,
    CODES,
    FREQUENT,
    HISTOGRAM,
    LANES,
    Asked,
    Decoded,
    Documents,
    Sums,
)
from germane.rank.result_kernels import arrange, classes_of, forget, rise, take
from germane.rank.simd import add_classes, count_bits, four_at, lowest_bit, reach_mask

ROOM_IN_UNITS = 60000.0
"""What the largest sum of impacts is in units; the rest of 16 bits is for rounding up."""
ASKING = 16
"""Looking a document up in a list costs as much as adding so many postings."""
ADDING_FREQUENT, ASKING_FREQUENT = 16, 3
"""Where a list is kept in its second form, so many places are added up in the time of a posting, and looking up costs
as much as adding so many."""
ROUNDING = 1.01
"""Units by which one impact is rounded up, at most."""
LEAST_TOTAL = 1e-290
"""A unit must not vanish."""
COUNTING = 16
"""Places that can be searched for those that reach something, in the time that it takes to add a posting."""
SCANNING = 32
"""A list of so many postings for each document that is looked for, or fewer, is read whole."""
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
SURELY = 0.99
"""Of what bounds may be too large by; the rest is for the rounding of sums."""
BACKGROUNDS = 1 << 16
"""Above any rounded background; the units of one are found by whole numbers, in so many parts of a unit."""
SPARSE = 16
"""A chunk is searched whole if a SPARSE-th of it, or more, was added; else its postings are gone through again."""


@inner
def top_code(decoded, row):
    """The largest code of a list."""
    top = np.int64(0)
    for chunk in range(decoded.tops.shape[1]):
        if decoded.tops[row, chunk] > top:
            top = np.int64(decoded.tops[row, chunk])
    return top


@inner
def begin(asked, decoded, rows, terms, m, inflation, lowest, n_docs):
    """Fill the records of the model and of the terms, with impacts and units by code; by how much sums may be too
    large."""
    begin_model(asked.settings, len(rows), n_docs, m)
    total, rough = BACKGROUNDS * m.step / m.norm, 0.0
    for i in range(m.n_terms):
        t, row = terms[i], rows[i]
        t.row, t.weight, t.scale, t.number = row, asked.weight[i], asked.scale[i], asked.numbers[i]
        t.least, t.top, t.frequent = decoded.least[row], top_code(decoded, row), decoded.frequent[row]
        t.width = decoded.widths[t.frequent] if t.frequent >= 0 else 1
        if m.kind == SATURATION:
            rough += t.weight * (inflation - 1.0 / inflation + inflation * t.width / CODES)
            total += t.weight * min(inflation * (t.top + 1) / CODES, 1.0)
        else:
            rough += value_ratios(decoded, t, m, lowest) if m.kind == LOG_SIZE_RATIO else value_counts(decoded, t, m)
            total += t.value[t.top]
    m.unit = max(total, LEAST_TOTAL) / ROOM_IN_UNITS
    for i in range(m.n_terms):
        t = terms[i]
        if m.kind == SATURATION:
            spread_evenly(t, t.weight / m.unit, inflation / CODES)
        else:
            for code in range(t.least, t.top + 1):
                t.units[code] = np.uint16(max(np.int32(math.ceil(t.value[code] / m.unit)), 1))
        if t.frequent >= 0:
            by_class(decoded, t)
            rough += t.coarse * m.unit
    return rough + ROUNDING * m.unit * m.n_terms


@inner
def spread_evenly(t, most, share):
    """Fill the units of saturations by code: most·share·(code + 1), rounded up, or `most`; by additions alone.

    They are 1 at least, also where the weight is nothing beside others.
    """
    step, limit = np.uint64(max(math.ceil(most * share * (1 << 16)), 1)), np.uint64(max(math.ceil(most), 1))
    total = np.uint64((1 << 16) - 1)
    for code in range(t.top + 1):
        total += step
        t.units[code] = np.uint16(min(total >> np.uint64(16), limit))


@inner
def by_class(decoded, t):
    """Fill the units by class, those of its largest code up to the cut, as multiples of `coarse`: they have a byte."""
    cut = set_apart(decoded, t)
    t.coarse, t.bytes[0] = t.units[np.uint64(cut)] // (CODES - 1) + 1, 0
    for own in range(1, CLASSES):
        units = np.int64(t.units[np.uint64(min(t.least + own * t.width - 1, cut))])
        t.bytes[own] = np.uint8((units + t.coarse - 1) // t.coarse)


@inner
def set_apart(decoded, t):
    """Fill what the codes of peaks give above the largest other one, the cut, which is returned."""
    cut = min(np.int64(decoded.cuts[t.row]), t.top)
    for code in range(cut + 1, t.top + 1):
        t.excess[code] = t.units[code] - t.units[np.uint64(cut)]
    return cut


@inner
def value_counts(decoded, t, m):
    """Fill the impacts by count; the last code is of any larger count too. By how much an impact may be too large.

    Codes that have one class differ the most where counts are the least.
    """
    for code in range(t.top + 1):
        t.value[code] = impact(t, m, np.float64(code) + 1.0, 1.0)
    rough = t.value[min(t.width - 1, t.top)] - t.value[0]
    return rough + bound_hidden(t, m, np.int64(decoded.most[t.row]), 1.0)


@inner
def value_ratios(decoded, t, m, lowest):
    """Fill what impacts are at most by class of ratios. By how much one may be too large."""
    step, n, rough = t.weight * math.log1p(1.0 / 16.0), t.width, 0.0
    for code in range(t.least, t.top + 1):
        t.value[code] = t.weight * math.log1p(t.scale * largest_ratio(np.int64(code), lowest))
        below = t.value[code - n] if code - n >= t.least else t.value[t.least] - step if t.least > 0 else 0.0
        rough = max(rough, t.value[code] - below)
    return rough + bound_hidden(t, m, np.int64(decoded.most[t.row]), m.x0 + m.x1)


@inner
def bound_hidden(t, m, most, by):
    """Let the last code be a bound of larger ones too, `most` being the largest count. By how much that is more."""
    if most == 1:
        return 0.0
    before, t.value[t.top] = t.value[t.top], max(t.value[t.top], impact(t, m, np.float64(most), by))
    return t.value[t.top] - before


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
def cap(decoded, m, terms, most):
    """Let the last terms give no more than their caps, which are `most` units in all; what is above is in `excess`.

    A document that has it has a posting among the peaks. So fewer terms can lift a document over the threshold.
    """
    total = 0.0
    for i in range(m.n_terms - 1, -1, -1):
        t = terms[i]
        cut = set_apart(decoded, t)
        total += np.float64(t.units[np.uint64(cut)])
        if total > most:
            break
        for code in range(cut + 1, t.top + 1):
            t.units[code] = t.units[np.uint64(cut)]
        m.capped = i


@inner
def add_peaks(decoded, t, acc, chunk):
    """Add what the term gives above its cap in the chunk."""
    add(decoded, decoded.peaks[t.row, chunk], decoded.peaks[t.row, chunk + 1], t.excess, acc)


@inner
def add_all(decoded, terms, begin, end, capped, acc, chunk, places):
    """Add the units of the postings of some terms in the chunk, of frequent terms two at once; how many postings."""
    size, first = np.int64(0), -1
    for i in range(begin, end):
        t = terms[i]
        size += t.end - t.begin
        if not is_dense(t, places):
            add(decoded, t.begin, t.end, t.units, acc)
            continue
        if i < capped:
            add_peaks(decoded, t, acc, chunk)
        if first >= 0:
            both = classed(decoded, terms[first]), classed(decoded, t)
            add_classes(acc, (places + 31) & -32, chunk << (CHUNK_BITS - 1), both)
        first = -1 if first >= 0 else i
    if first >= 0:
        add_classes(acc, (places + 31) & -32, chunk << (CHUNK_BITS - 1), (classed(decoded, terms[first]),))
    return size


@inner
def classed(decoded, t):
    """A frequent term as `add_classes` takes it."""
    return decoded.classes[t.frequent], t.bytes, np.uint8(t.coarse)


@inner
def find(decoded, t, d):
    """The term's posting of document d in the chunk, or -1."""
    if t.frequent >= 0:
        p, is_there = place_held(decoded.held[t.frequent], d)
        return p if is_there else np.int64(-1)
    place = np.uint16(d & (CHUNK - 1))
    p = seek(decoded.docs, t.begin, t.end, place)
    return p if p < t.end and decoded.docs[np.uint64(p)] == place else np.int64(-1)


@inner
def below(docs, p, place):
    """How many of LANES postings from p on have a place below."""
    n = np.uint16(0)
    for at in range(np.uint64(p), np.uint64(p + LANES)):
        n = np.uint16(n + np.uint16(docs[at] < place))
    return np.int64(n)


@inner
def seek(docs, begin, end, place):
    """The first posting from `begin` to `end`, those of a chunk, whose place is not below `place`; `end` if none.

    It is looked for where it would be if places were spread evenly, and from there at ever larger distances.
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
def place_held(held, d):
    """Where the posting of document d is or would be, by the bits of documents that hold the term; whether it is."""
    word, bit = held[d >> 6, 0], np.uint64(1) << np.uint64(d & 63)
    return np.int64(held[d >> 6, 1]) + count_bits(word & (bit - np.uint64(1))), word & bit != np.uint64(0)


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
def lay(m, sums, base, places):
    """Begin the sums of a chunk with the units of the documents' backgrounds above the least one.

    The factor is hardly above ROOM_IN_UNITS, and so one instruction gives the upper halves of many products of 16 bits.
    """
    rounded, acc = sums.rounded[base : base + places], sums.acc[:places]
    factor = np.uint32(np.uint16(m.factor))
    for place in range(np.uint64(places)):
        acc[place] = np.uint16(np.uint32(np.uint32(rounded[place]) * factor) // np.uint32(BACKGROUNDS))


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
        size += add_all(decoded, terms, done, essential, m.capped, sums.acc, chunk, places)
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


@inner
def exact(decoded, t, m, p, by):
    """The impact of the term's posting p, in a document of this x0 + x1·size."""
    count = np.int64(decoded.extras[p]) + 1
    if count < CODES and not m.sized:
        return t.value[count - 1]
    if count == CODES:
        at = 0
        for step in range(47, -1, -1):
            further = at + (1 << step)
            if further < len(decoded.large) and decoded.large[further, 0] <= p:
                at = further
        count = decoded.large[at, 1]
    return impact(t, m, np.float64(count), by)


@inner
def settle(docs, decoded, terms, m, sums, d):
    """Score document d of the chunk, and take it in if it reaches the threshold, which then rises by exact scores."""
    total, by = 0.0, m.x0 + m.x1 * np.float64(docs.size[d]) if m.sized else 1.0
    for i in range(m.n_terms):
        p = find(decoded, terms[i], d)
        if p >= 0:
            total += exact(decoded, terms[i], m, p, by)
    score = score_of(docs, m, d, total)
    if score >= m.threshold:
        take(m, sums, d, score + SURELY * m.slack)
        sums.results[m.found - 1].score = score


@inner
def add_scanned(decoded, t, m, marks, hits, totals):
    """Add the term's impacts to the totals of the marked documents of the chunk: all postings are read.

    A mark is the place of a document's total, plus 1.
    """
    n = np.uint64(0)
    for p in range(np.uint64(t.begin), np.uint64(t.end)):
        hits[n] = p
        n += np.uint64(marks[np.uint64(decoded.docs[p])] > 0)
    for h in range(n):
        p = hits[h]
        total = totals[np.int64(marks[np.uint64(decoded.docs[np.uint64(p)])]) - 1]
        total.sum += exact(decoded, t, m, p, total.by)


@inner(forceinline=True)  # a call would cost as much as some documents
def add_looked_up(decoded, t, m, results, a, b, totals):
    """Add the term's impacts to the totals of the results from a to b: each is looked up."""
    for r in range(a, b):
        p = find(decoded, t, results[r].doc)
        if p >= 0:
            totals[r - a].sum += exact(decoded, t, m, p, totals[r - a].by)


@inner
def add_held(decoded, t, m, results, a, b, hits, totals):
    """The same for a frequent term. Those that hold it are told apart first: no processor could foretell which do."""
    held, n = decoded.held[t.frequent], np.uint64(0)
    for r in range(a, b):
        p, is_there = place_held(held, results[r].doc)
        hits[n] = (p << CHUNK_BITS) + (r - a)
        n += np.uint64(is_there)
    for h in range(n):
        p, total = hits[h] >> CHUNK_BITS, totals[hits[h] & (CHUNK - 1)]
        total.sum += exact(decoded, t, m, p, total.by)


@inner
def score(docs, decoded, terms, m, sums):
    """Put exact scores in the place of the results' bounds; the results' chunks ascend."""
    results, totals, marks, a = sums.results, sums.candidates, sums.acc, 0
    while a < m.found:
        chunk, b = results[a].doc >> CHUNK_BITS, a
        while b < m.found and b - a < CHUNK - 1 and results[b].doc >> CHUNK_BITS == chunk:
            d = results[b].doc
            marks[d & (CHUNK - 1)] = np.uint16(b - a + 1)
            totals[b - a].sum = 0.0
            if m.sized:
                totals[b - a].by = m.x0 + m.x1 * np.float64(docs.size[d])
            b += 1
        for i in range(m.n_terms):
            t = terms[i]
            n = enter(decoded, t, chunk)
            if t.frequent >= 0:
                add_held(decoded, t, m, results, a, b, sums.hits, totals)
            elif n > SCANNING * (b - a):
                add_looked_up(decoded, t, m, results, a, b, totals)
            else:
                add_scanned(decoded, t, m, marks, sums.hits, totals)
        for r in range(a, b):
            d = results[r].doc
            marks[d & (CHUNK - 1)] = np.uint16(0)
            results[r].score = score_of(docs, m, d, totals[r - a].sum)
        a = b


@inner
def start(asked, extremes, decoded, rows, terms, m, sums):
    """Prepare a search: the records, the highest score there can be, an empty histogram of bounds."""
    prior = extremes[1]
    m.norm, m.step = extremes[0], asked.settings[5] * extremes[5]
    rough = begin(asked, decoded, rows, terms, m, extremes[2], np.int64(extremes[3]), len(sums.id_rank))
    m.rest, m.flat = m.constant + m.mass * extremes[4], m.constant + m.mass * m.top + prior
    m.base, m.factor = m.rest + prior, math.ceil(BACKGROUNDS * m.step / (m.norm * m.unit))
    m.capped, m.laid = m.n_terms, False
    total = m.norm * m.unit * ROOM_IN_UNITS
    m.low, m.edge, m.above, high = max(asked.settings[9], m.threshold), 0, 0, m.flat + total
    m.per_class = classes_of(high - m.low, HISTOGRAM)
    magnitude = 1.0 + abs(m.constant) + abs(m.mass * m.top) + total + abs(m.low)
    if prior > -np.inf:
        magnitude += abs(prior)
    m.slack = m.norm * rough + 2.0 * m.step + 1e-12 * magnitude
    m.threshold -= 1e-12 * magnitude  # bounds are rounded too, by less
    for place in range(len(sums.histogram)):
        sums.histogram[place] = 0


@inner
def make_room(docs, decoded, terms, m, sums):
    """Let the results of one more chunk fit: forget those below the threshold and, if need be, all but the best k."""
    if m.found + CHUNK > len(sums.results):
        forget(sums.results, m)
    if m.found + CHUNK > len(sums.results):
        keep_best(docs, decoded, terms, m, sums)


@inner
def keep_best(docs, decoded, terms, m, sums):
    """Keep the best k results alone, which are scored; they go on as bounds that are farthest from their scores."""
    score(docs, decoded, terms, m, sums)
    results, rank, n = sums.results, sums.id_rank, m.found
    last = sums.best[arrange(results, n, m.k, rank, sums.histogram, sums.best) - 1]
    for place in range(len(sums.histogram)):
        sums.histogram[place] = 0
    m.found, m.edge, m.above = 0, 0, 0
    for r in range(n):
        own, d = results[r].score, results[r].doc
        if own > last.score or (own == last.score and rank[d] <= rank[last.doc]):
            take(m, sums, d, own + SURELY * m.slack)
    m.threshold = max(m.threshold, last.score - (1.0 - SURELY) * m.slack)
    rise(m, sums.histogram)


@inner
def finish(docs, decoded, terms, m, sums):
    """Score what was collected, and put the best k in the total order into `best`. How many."""
    forget(sums.results, m)
    score(docs, decoded, terms, m, sums)
    return arrange(sums.results, m.found, m.k, sums.id_rank, sums.histogram, sums.best)


@kernel
def top_k(asked, docs, extremes, decoded, rows, terms, model, sums):
    """The best k documents, in the total order, into `best`. How many.

    First all documents are collected whose bounds reach what k of them surely have, then these are scored. `extremes`:
    the largest norm and prior, the factor by which kept saturations may be wrong, the first class of ratios, the least
    background and the step of rounded ones.
    """
    asked, docs, decoded, sums, m = Asked(*asked), Documents(*docs), Decoded(*decoded), Sums(*sums), model[0]
    start(asked, extremes, decoded, rows, terms, m, sums)
    for chunk in range(decoded.begins.shape[1] - 1):
        make_room(docs, decoded, terms, m, sums)
        visit(docs, decoded, terms, m, sums, chunk)
    return finish(docs, decoded, terms, m, sums)
