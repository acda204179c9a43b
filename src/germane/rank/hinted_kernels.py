"""Scoring over decoded lists where it is known what the best documents reach, as of feedback's second ranking.

The terms that can lift a document over the threshold are added up, as in `rank.decoded_kernels`, and more of them until
few documents may reach it, given their lengths. These are left to be scored by their forward lists.
"""

import math

import numpy as np

from germane.jit import inner, kernel
from germane.rank.decoded_kernels import (
    COUNTING,
    add_all,
    bound_of,
    costs,
    highest,
    make_room,
    required_units,
    split,
    start,
    units_needed,
)
from germane.rank.kinds import SATURATION
from germane.rank.records import CHUNK, CHUNK_BITS, LANES, Asked, Decoded, Documents, Sums
from germane.rank.simd import count_bits, lowest_bit, reach_mask

READING = 256
"""Scoring a document by its forward list costs as much as adding so many postings."""
MOST_LEFT = 1024
"""If more documents than these may reach a threshold, it was no good hint."""


@inner
def sum_weights(m, terms, suffix):
    """Fill the columns of `suffix` behind the sums of bounds."""
    for column in range(1, suffix.shape[1]):
        suffix[m.n_terms, column] = 0.0
    for i in range(m.n_terms - 1, -1, -1):
        held = terms[i].end > terms[i].begin
        most = terms[i].weight / m.unit if held else 0.0
        suffix[i, 1], suffix[i, 2] = suffix[i + 1, 1] + most, suffix[i + 1, 2] + math.sqrt(most)
        suffix[i, 3] = suffix[i + 1, 3] + np.float64(held)


@inner
def units_left(docs, m, sums, done, d):
    """The units that document d may still get from the terms from `done` on: its length is shared by all that it holds.

    Of saturations: Σ w·c/(c + x) = Σw - x·Σ w/(c + x) <= Σw - x·(Σ√w)²/(|D| + n·x), by Cauchy and Schwarz, since Σc <=
    |D|.
    """
    later, weights, roots, n = sums.suffix[done]
    if m.kind != SATURATION or later == 0.0:
        return later
    length = np.float64(docs.size[d])
    x = m.x0 + m.x1 * length
    return min(later, weights - x * roots * roots / (length + n * x) + 1.0)


@inner
def reaching_in(docs, m, sums, group, base, need, done):
    """The bits of a group's places that may reach the threshold."""
    mask, kept = reach_mask(sums.acc, group, need), np.uint64(0)
    while mask != 0:
        bit = lowest_bit(mask)
        mask &= mask - np.uint64(1)
        units = np.float64(sums.acc[group + bit]) + units_left(docs, m, sums, done, base + group + bit)
        if bound_of(docs, m, sums.rounded, base + group + bit, units * m.unit) >= m.threshold:
            kept |= np.uint64(1) << np.uint64(bit)
    return kept


@inner
def count_reaching(docs, m, sums, done, base, places, most):
    """How many places may reach the threshold; stops counting above `most`. The terms before `done` were added."""
    reaching, need = 0, units_needed(required_units(m), sums.suffix[done, 0])
    for group in range(0, places, LANES):
        if highest(sums.acc, group) >= need:
            reaching += count_bits(reaching_in(docs, m, sums, group, base, need, done))
            if reaching > most:
                break
    return reaching


@inner
def add_until_few(docs, decoded, m, terms, sums, essential, chunk, places):
    """Add up the first terms of a chunk, each time as much again, until few places may reach; how many terms."""
    done, size = 0, np.int64(0)
    while True:
        size += add_all(decoded, terms, done, essential, sums.acc, chunk, places)
        done, adding, step = essential, np.int64(0), max(size, places // COUNTING)
        while essential < m.n_terms and adding <= step:
            adding, essential = adding + costs(terms[essential], places)[0], essential + 1
        most = adding // READING
        if essential == done or count_reaching(docs, m, sums, done, chunk << CHUNK_BITS, places, most) <= most:
            return done


@inner
def leave(docs, m, sums, done, chunk, places):
    """Put the documents of a chunk that may reach a hinted threshold among the results, unscored; all sums are cleared.

    They are few, and to be scored by their forward lists.
    """
    acc, need, base = sums.acc, units_needed(required_units(m), sums.suffix[done, 0]), chunk << CHUNK_BITS
    for group in range(0, places, LANES):
        if highest(acc, group) >= need:
            reaching = reaching_in(docs, m, sums, group, base, need, done)
            while reaching != 0:
                d = base + group + lowest_bit(reaching)
                reaching &= reaching - np.uint64(1)
                if len(docs.mask) == 0 or docs.mask[d] != 0:
                    sums.results[m.found].score, sums.results[m.found].doc = np.inf, d
                    m.found += 1
    for place in range(np.uint64(places)):
        acc[place] = np.uint16(0)


@kernel
def leave_above(asked, docs, extremes, decoded, rows, terms, model, sums):
    """The documents that may reach the threshold into `results`, in any order. How many; -1 if they are too many.

    The arguments are those of `rank.decoded_kernels.top_k`. A chunk begins with as many terms as the one before needed.
    """
    asked, docs, decoded, sums, m = Asked(*asked), Documents(*docs), Decoded(*decoded), Sums(*sums), model[0]
    start(asked, extremes, decoded, rows, terms, m, sums)
    needed = 0
    for chunk in range(decoded.begins.shape[1] - 1):
        if m.found > MOST_LEFT or not make_room(m, sums):
            return -1
        places = min(m.n_docs - (chunk << CHUNK_BITS), CHUNK)
        essential, _ = split(decoded, m, terms, sums.suffix, chunk, required_units(m))
        if essential > 0:
            sum_weights(m, terms, sums.suffix)
            needed = add_until_few(docs, decoded, m, terms, sums, max(essential, needed), chunk, places)
            leave(docs, m, sums, needed, chunk, places)
    return m.found if m.found <= MOST_LEFT else -1
