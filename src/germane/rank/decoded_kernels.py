"""Scoring over decoded lists: exact top k where the lists of the query's terms lie unpacked in memory.

A list is kept as two bytes for each document (its place in a chunk of 2^16) and one byte for its count, or for its
saturation c/(c + x0 + x1·size) rounded up. So an impact is bounded by a small table for each term, in whole units that
add up in 16 bits without overflow, and a posting costs a nanosecond.

The road (MaxScore over chunks): in each chunk, the terms that can lift a document over the threshold are added up, and
documents that can still reach it are looked up in the lists of the others. What comes out are bounds of scores; the
documents whose bounds reach what k documents surely have are then scored exactly, in the canonical order of terms.

Equivalent in NumPy: see `rank.kernels`.
"""

import math

import numpy as np

from germane.index.block_kernels import decode_block
from germane.index.blocks import BLOCK
from germane.jit import inner, kernel
from germane.rank.impact_kernels import impact, score_of
from germane.rank.kernels import arrange, forget, rise, take
from germane.rank.kinds import SATURATION
from germane.rank.records import HISTOGRAM, Asked, Decoded, Documents, Lists, Sums
from germane.rank.simd import LANES, lowest_bit, reach_mask

CHUNK_BITS = 16
CHUNK = 1 << CHUNK_BITS
CODES = 256
ROOM_IN_UNITS = 60000.0
"""What the largest sum of impacts is in units; the rest of 16 bits is for rounding up."""
ASKING = 16
"""Looking a document up in a list costs as much as adding so many postings."""
PIECE = 4096
"""The threshold is looked at again after so many places of a chunk."""
SPARSE = 16
"""A chunk is searched whole if a SPARSE-th of it, or more, was added; else its postings are gone through again."""


@kernel
def fill(words, table, lists, size, x0, x1, numbers, row, used, decoded, block):
    """Unpack the lists of terms into the rows from `row` on, their postings from `used` on; returns the end.

    `x0`, `x1`: of the saturation that is to be kept beside counts; x0 < 0: counts alone. `block`: memory for one.
    """
    lists, decoded, (docs, extras) = Lists(*lists), Decoded(*decoded), block
    for number in numbers:
        df, first, previous, chunk = lists.df[number], lists.first_block[number], np.int64(-1), 0
        decoded.begins[row, 0], decoded.tops[row, 0], decoded.most[row] = used, 0, 1
        for done in range(0, df, BLOCK):
            b, n = first + done // BLOCK, min(BLOCK, df - done)
            decode_block(words, table, b, n, previous, docs, extras, 0)
            previous = np.int64(table[b].last)
            for i in range(n):
                d, extra = np.int64(docs[i]), np.int64(extras[i])
                while chunk < d >> CHUNK_BITS:
                    chunk += 1
                    decoded.begins[row, chunk], decoded.tops[row, chunk] = used, 0
                code = min(extra, CODES - 1)
                decoded.docs[used], decoded.extras[used] = np.uint16(d & (CHUNK - 1)), np.uint8(code)
                decoded.most[row] = max(decoded.most[row], extra + 1)
                if x0 >= 0.0:
                    count = np.float64(extra) + 1.0
                    share = count / (count + (x0 + x1 * np.float64(size[d])))
                    code = min(np.int64(math.ceil(share * CODES)), CODES) - 1
                    decoded.codes[used] = np.uint8(code)
                decoded.tops[row, chunk] = max(decoded.tops[row, chunk], np.uint8(code))
                used += 1
        while chunk + 1 < decoded.begins.shape[1]:
            chunk += 1
            decoded.begins[row, chunk], decoded.tops[row, chunk] = used, 0
        row += 1
    return used


@inner
def top_code(decoded, row):
    """The largest code of a list."""
    top = np.int64(0)
    for chunk in range(decoded.tops.shape[1]):
        top = max(top, np.int64(decoded.tops[row, chunk]))
    return top


@inner
def begin(asked, decoded, rows, terms, m, inflation, n_docs):
    """Fill the records of the model and of the terms, with impacts and units by code."""
    settings, total = asked.settings, 0.0
    m.kind, m.delta, m.x0, m.x1 = np.int64(settings[0]), settings[1], settings[2], settings[3]
    m.constant, m.mass, m.threshold, m.top = settings[4], settings[5], settings[6], settings[9]
    m.k, m.prune = np.int64(settings[8]), True
    m.n_docs, m.n_terms, m.found = n_docs, len(rows), 0
    for i in range(m.n_terms):
        t, row = terms[i], rows[i]
        t.row, t.weight, t.scale, t.number = row, asked.weight[i], asked.scale[i], asked.numbers[i]
        t.top = top_code(decoded, row)
        for code in range(t.top + 1):
            if m.kind == SATURATION:
                t.value[code] = t.weight * min(inflation * (code + 1) / CODES, 1.0)
            else:
                t.value[code] = impact(t, m, np.float64(code) + 1.0, 1.0)
        t.rough = t.weight * (inflation - 1.0 / inflation + inflation / CODES) if m.kind == SATURATION else 0.0
        if m.kind != SATURATION and t.top == CODES - 1:
            t.rough = impact(t, m, np.float64(decoded.most[row]), 1.0) - t.value[t.top]
            t.value[t.top] += t.rough
        total += t.value[t.top]
    m.unit = max(total, 5e-324) / ROOM_IN_UNITS
    rough = 0.0
    for i in range(m.n_terms):
        t = terms[i]
        for code in range(t.top + 1):
            t.units[code] = np.uint16(math.ceil(t.value[code] / m.unit)) + np.uint16(1)
        rough += t.rough + 2.0 * m.unit
    return rough


@inner
def add(decoded, t, begin, end, acc):
    """Add the units of some of the term's postings."""
    docs, codes, units = decoded.docs, decoded.codes, t.units
    for p in range(np.uint64(begin), np.uint64(end)):
        acc[np.uint64(docs[p])] += units[np.uint64(codes[p])]


@inner
def find(docs, begin, end, place):
    """Where in docs[begin:end], ascending, `place` is, or -1."""
    while begin < end:
        middle = (begin + end) >> 1
        if docs[middle] < place:
            begin = middle + 1
        else:
            end = middle
    return begin


@inner
def admit(docs, m, sums, d, units, later, n):
    """Take document d in, if it is wanted and its bound reaches the threshold; how many candidates there are then.

    `later`: units it may still get from other terms; if there are none its bound is complete, else it is a candidate.
    """
    if len(docs.mask) > 0 and docs.mask[d] == 0:
        return n
    score = score_of(docs, m, d, (units + later) * m.unit)
    if score >= m.threshold:
        if later == 0.0:
            take(m, sums, d, score)
        else:
            sums.candidates[n].doc, sums.candidates[n].sum = d, units
            n += 1
    return n


@inner
def collect(docs, m, sums, base, begin, end, need, later):
    """Admit the documents from `begin` to `end` of a chunk that have what they need; all sums are cleared.

    How many candidates.
    """
    n, acc = 0, sums.acc
    for group in range(begin, end, LANES):
        reaching = reach_mask(acc, group, need)
        while reaching != 0:
            place = group + lowest_bit(reaching)
            reaching &= reaching - np.uint64(1)
            n = admit(docs, m, sums, base + place, np.float64(acc[place]), later, n)
    for place in range(np.uint64(begin), np.uint64(end)):
        acc[place] = np.uint16(0)
    return n


@inner
def collect_touched(docs, m, sums, decoded, terms, n_terms, chunk, need, later):
    """The same for all documents of a chunk that the first terms touched."""
    n, acc = 0, sums.acc
    for i in range(n_terms):
        row = terms[i].row
        for p in range(np.uint64(decoded.begins[row, chunk]), np.uint64(decoded.begins[row, chunk + 1])):
            place = np.uint64(decoded.docs[p])
            if acc[place] >= need:
                d = (chunk << CHUNK_BITS) + np.int64(place)
                n = admit(docs, m, sums, d, np.float64(acc[place]), later, n)
            acc[place] = np.uint16(0)
    return n


@inner
def count_reaching(decoded, terms, n, chunk, whole, places, acc, need, most):
    """How many places reach `need`, one as often as it was added to if not `whole`; stops counting above `most`."""
    reaching = 0
    if whole:
        for place in range(np.uint64(places)):
            reaching += acc[place] >= need
        return reaching
    for i in range(n):
        row = terms[i].row
        for p in range(np.uint64(decoded.begins[row, chunk]), np.uint64(decoded.begins[row, chunk + 1])):
            reaching += acc[np.uint64(decoded.docs[p])] >= need
        if reaching > most:
            break
    return reaching


@inner
def look_up(decoded, t, chunk, candidates, n, least):
    """Add the term to the candidates that hold it; keeps those that have at least `least`."""
    begin, end, kept = decoded.begins[t.row, chunk], decoded.begins[t.row, chunk + 1], 0
    for c in range(n):
        d, total = candidates[c].doc, candidates[c].sum
        place = d & (CHUNK - 1)
        p = find(decoded.docs, begin, end, place)
        if p < end and np.int64(decoded.docs[p]) == place:
            total += np.float64(t.units[np.uint64(decoded.codes[p])])
        if total >= least:
            candidates[kept].doc, candidates[kept].sum = d, total
            kept += 1
    return kept


@inner
def required_units(m):
    """What a sum must reach, so that a score may reach the threshold."""
    units = (m.threshold - m.flat) / (m.norm * m.unit)
    return units if units > 0.0 else 0.0


@inner
def split(decoded, m, terms, suffix, chunk, required):
    """How many terms are essential in a chunk, 0 for none; fills `suffix`: the bounds from a term on."""
    essential = 0
    suffix[m.n_terms] = 0.0
    for i in range(m.n_terms - 1, -1, -1):
        t = terms[i]
        held = decoded.begins[t.row, chunk + 1] > decoded.begins[t.row, chunk]
        suffix[i] = suffix[i + 1] + (np.float64(t.units[np.uint64(decoded.tops[t.row, chunk])]) if held else 0.0)
        if essential == 0 and suffix[i] >= required:
            essential = i + 1
    return essential


@inner
def add_essential(decoded, m, terms, sums, chunk, essential, places):
    """Add up the essential terms of a chunk, and more of them until few places can reach what is required.

    Returns how many terms were added, and their postings.
    """
    required, n_terms, done, size, rest = required_units(m), m.n_terms, 0, np.int64(0), np.int64(0)
    for i in range(essential, n_terms):
        rest += decoded.begins[terms[i].row, chunk + 1] - decoded.begins[terms[i].row, chunk]
    while True:
        for i in range(done, essential):
            t = terms[i]
            lo, hi = decoded.begins[t.row, chunk], decoded.begins[t.row, chunk + 1]
            size += hi - lo
            add(decoded, t, lo, hi, sums.acc)
        if essential == n_terms:
            return essential, size
        most = rest // (ASKING * (n_terms - essential))
        need = np.uint16(max(required - sums.suffix[essential], 1.0))
        whole = size * SPARSE > places
        if count_reaching(decoded, terms, essential, chunk, whole, places, sums.acc, need, most) <= most:
            return essential, size
        done, half = essential, rest // 2
        while essential < n_terms and (essential == done or rest > half):
            rest -= decoded.begins[terms[essential].row, chunk + 1] - decoded.begins[terms[essential].row, chunk]
            essential += 1


@inner
def visit(docs, decoded, terms, m, sums, chunk):
    """Take the chunk's documents in whose bounds reach the threshold; it rises from piece to piece."""
    n_terms, candidates, base = m.n_terms, sums.candidates, chunk << CHUNK_BITS
    places = min(CHUNK, m.n_docs - base)
    essential = split(decoded, m, terms, sums.suffix, chunk, required_units(m))
    if essential == 0:
        return
    essential, size = add_essential(decoded, m, terms, sums, chunk, essential, places)
    piece = PIECE if size * SPARSE > places else places
    for begin in range(0, places, piece):
        required, later = required_units(m), sums.suffix[essential]
        need = np.uint16(min(max(required - later, 1.0), 65535.0))
        if piece == PIECE:
            end = min(begin + piece, places)
            n = collect(docs, m, sums, base, begin, end, need, later)
        else:
            n = collect_touched(docs, m, sums, decoded, terms, essential, chunk, need, later)
        for i in range(essential, n_terms):
            n = look_up(decoded, terms[i], chunk, candidates, n, required - sums.suffix[i + 1])
        for c in range(n):
            score = score_of(docs, m, candidates[c].doc, candidates[c].sum * m.unit)
            if score >= m.threshold:
                take(m, sums, candidates[c].doc, score)
        rise(m, sums.histogram)


@inner
def bound(docs, decoded, terms, m, sums, low, prior, rough):
    """Collect documents with bounds of their scores: all whose bounds reach what k of them surely have.

    Whether there was room for them.
    """
    m.flat = m.constant + m.mass * m.top + prior
    total = m.norm * m.unit * ROOM_IN_UNITS
    m.low, m.edge, m.above, high = max(low, m.threshold), 0, 0, m.flat + total
    m.per_class = HISTOGRAM / (high - m.low) if high > m.low else 0.0
    m.slack = 1.0 + abs(m.constant) + abs(m.mass * m.top) + total + abs(m.low)
    if prior > -np.inf:
        m.slack += abs(prior)
    m.slack = m.norm * rough + 1e-12 * m.slack
    for place in range(len(sums.histogram)):
        sums.histogram[place] = 0
    for chunk in range(decoded.begins.shape[1] - 1):
        if m.found + CHUNK > len(sums.results):
            forget(sums.results, m)
            if m.found + CHUNK > len(sums.results):
                return False
        visit(docs, decoded, terms, m, sums, chunk)
    forget(sums.results, m)
    return True


@inner
def exact(words, table, lists, decoded, t, m, size, p, d, block):
    """The impact of the term's posting p, in document d."""
    extra = np.int64(decoded.extras[p])
    if extra < CODES - 1:
        if m.kind != SATURATION:
            return t.value[extra]
    else:
        first, place = lists.first_block[t.number], p - decoded.begins[t.row, 0]
        b, docs, extras = first + place // BLOCK, block[0], block[1]
        previous = np.int64(table[b - 1].last) if b > first else np.int64(-1)
        decode_block(words, table, b, min(BLOCK, lists.df[t.number] - (b - first) * BLOCK), previous, docs, extras, 0)
        extra = np.int64(extras[place % BLOCK])
    return impact(t, m, np.float64(extra) + 1.0, m.x0 + m.x1 * np.float64(size[d]))


@inner
def find_marked(docs, begin, end, marks, hits):
    """The postings from `begin` to `end` whose documents are marked, into `hits`. How many."""
    n = np.uint64(0)
    for p in range(np.uint64(begin), np.uint64(end)):
        hits[n] = p
        n += np.uint64(marks[np.uint64(docs[p])] > 0)
    return np.int64(n)


@inner
def find_each(docs, begin, end, results, a, b, hits):
    """The postings from `begin` to `end` of the results from a to b, into `hits`. How many."""
    n = 0
    for r in range(a, b):
        place = results[r].doc & (CHUNK - 1)
        p = find(docs, begin, end, place)
        if p < end and np.int64(docs[p]) == place:
            hits[n] = p
            n += 1
    return n


@inner
def score(words, table, lists, docs, decoded, terms, m, sums, block):
    """Put exact scores in the place of the results' bounds; the results' chunks ascend."""
    results, totals, marks, hits, a = sums.results, sums.candidates, sums.acc, sums.hits, 0
    while a < m.found:
        chunk, b, postings = results[a].doc >> CHUNK_BITS, a, np.int64(0)
        while b < m.found and b - a < CHUNK - 1 and results[b].doc >> CHUNK_BITS == chunk:
            marks[results[b].doc & (CHUNK - 1)] = np.uint16(b - a + 1)
            totals[b - a].sum = 0.0
            b += 1
        for i in range(m.n_terms):
            postings += decoded.begins[terms[i].row, chunk + 1] - decoded.begins[terms[i].row, chunk]
        few = (b - a) * m.n_terms * ASKING < postings
        for i in range(m.n_terms):
            t = terms[i]
            lo, hi = decoded.begins[t.row, chunk], decoded.begins[t.row, chunk + 1]
            if few:
                n = find_each(decoded.docs, lo, hi, results, a, b, hits)
            else:
                n = find_marked(decoded.docs, lo, hi, marks, hits)
            for h in range(n):
                place = np.int64(decoded.docs[hits[h]])
                d = (chunk << CHUNK_BITS) + place
                value = exact(words, table, lists, decoded, t, m, docs.size, hits[h], d, block)
                totals[np.int64(marks[place]) - 1].sum += value
        for r in range(a, b):
            d = results[r].doc
            marks[d & (CHUNK - 1)] = np.uint16(0)
            results[r].score = score_of(docs, m, d, totals[r - a].sum)
        a = b


@kernel
def top_k(words, table, asked, lists, docs, extremes, decoded, rows, terms, model, sums, block):
    """The best k documents, in the total order, into `best`. How many; -1 if there was no room.

    `extremes`: the largest norm and prior, and the factor by which kept saturations may be wrong.
    """
    asked, lists, docs = Asked(*asked), Lists(*lists), Documents(*docs)
    decoded, sums, m = Decoded(*decoded), Sums(*sums), model[0]
    norm, prior, inflation = extremes
    rough = begin(asked, decoded, rows, terms, m, inflation, len(sums.id_rank))
    m.norm = norm
    if not bound(docs, decoded, terms, m, sums, asked.settings[11], prior, rough):
        for place in range(CHUNK):
            sums.acc[place] = np.uint16(0)
        return -1
    score(words, table, lists, docs, decoded, terms, m, sums, block)
    return arrange(sums.results, m.found, m.k, sums.id_rank, sums.histogram, sums.best)
