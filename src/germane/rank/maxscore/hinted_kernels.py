# mypy: ignore-errors
"""Scoring over decoded lists where it is known what the best documents reach, as of feedback's second ranking.

What k documents reach is told, or found from documents that are likely to be among the best. The terms that can lift a
document over this threshold are added up, as in `search_kernels`, and more of them until few documents may reach
it, given their lengths. These are scored by their forward lists.
"""

import math

import numpy as np

from germane.index.kernels import UNVERIFIED
from germane.index.segment_arrays import ForwardArrays
from germane.jit import inner, kernel
from germane.rank.kinds import SATURATION
from germane.rank.maxscore.accumulation_kernels import add_all
from germane.rank.maxscore.forward_kernels import score_all
from germane.rank.maxscore.quantised_bounds_kernels import start
from germane.rank.maxscore.records import CHUNK, CHUNK_BITS, HINT_MARGIN, LANES, Asked, Decoded, DocumentArrays, Sums
from germane.rank.maxscore.result_kernels import arrange
from germane.rank.maxscore.search_kernels import COUNTING, bound_of, costs, highest, required_units, split, units_needed
from germane.rank.maxscore.simd_kernels import lowest_bit, reach_mask

READING = 256
"""Scoring a document by its forward list costs as much as adding so many postings."""
MOST_LEFT = 1024
"""If more documents than these may reach a threshold, it was no good hint."""
TOO_MANY = -1


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
def units_left(m, sums, done, share):
    """The units that a document may still get from the terms from `done` on: its length is shared by all that it holds.

    Of saturations: Σ w·c/(c + x) = Σw - x·Σ w/(c + x) <= Σw - (Σ√w)²·x/(|D| + n·x), by Cauchy and Schwarz, since Σc <=
    |D|. `share`: x/|D|; the smaller it is, the more is left.
    """
    later, weights, roots, n = sums.suffix[done]
    if m.kind != SATURATION or later == 0.0:
        return later
    return min(later, weights - roots * roots * share / (1.0 + n * share) + 1.0)


@inner
def leave(docs, m, sums, done, base, places, most):
    """Put the documents of a chunk that may reach the threshold behind the results, the terms before `done` added up.

    How many; stops above `most`.
    """
    acc, found, need = sums.acc, m.found, units_needed(required_units(m), units_left(m, sums, done, m.x1))
    for group in range(0, places, LANES):
        if highest(acc, group) >= need:
            mask = reach_mask(acc, group, need)
            while mask != 0:
                place = group + lowest_bit(mask)
                mask &= mask - np.uint64(1)
                share = m.x1 + m.x0 / np.float64(docs.size[base + place])
                units = np.float64(acc[place]) + units_left(m, sums, done, share)
                if bound_of(docs, m, sums.rounded, base + place, units * m.unit) >= m.threshold:
                    sums.results[found].doc = base + place
                    found += len(docs.mask) == 0 or docs.mask[base + place] != 0
            if found - m.found > most:
                break
    return found - m.found


@inner
def leave_few(docs, decoded, m, terms, sums, essential, chunk, places):
    """Add up the first terms of a chunk, each time as much again, until few places may reach; these are left.

    How many terms were added. All sums are cleared.
    """
    done, size = 0, np.int64(0)
    while True:
        size += add_all(decoded, terms, done, essential, m.capped, sums.acc, sums.hits, chunk, places)
        done, adding, step = essential, np.int64(0), max(size, places // COUNTING)
        while essential < m.n_terms and adding <= step:
            adding, essential = adding + costs(terms[essential], places)[0], essential + 1
        most = adding // READING if essential > done else places
        found = leave(docs, m, sums, done, chunk << CHUNK_BITS, places, most)
        if found <= most:
            break
    m.found += found
    for place in range(np.uint64(places)):
        sums.acc[place] = np.uint16(0)
    return done


@inner
def finish(docs, forward, terms, m, sums, lookup, scores):
    """Score what was left by the forward lists, and put the best k in the total order into `best`. How many."""
    left, (slots, held) = sums.hits, lookup
    for r in range(m.found):
        left[r] = sums.results[r].doc
    if not score_all(docs, forward, terms, m, slots, held, left, scores[: m.found]):
        return UNVERIFIED
    for r in range(m.found):
        sums.results[r].score = scores[r] if scores[r] == scores[r] else -np.inf  # infinite parts that have no sum
    return arrange(sums.results, m.found, m.k, sums.id_rank, sums.histogram, sums.best)


@inner
def learn_threshold(docs, forward, terms, m, sums, lookup, scores, hint):
    """Let the threshold be what k of some documents reach. False, and these are left, if their lists are not known."""
    m.found = len(hint)
    for r in range(m.found):
        sums.results[r].doc = hint[r]
    if finish(docs, forward, terms, m, sums, lookup, scores) == UNVERIFIED:
        return False
    sure = sums.best[m.k - 1].score
    if sure < np.inf:  # as it may be by a prior
        m.threshold = max(m.threshold, sure - HINT_MARGIN * abs(sure) - m.rounding)
    m.found = 0
    return True


@kernel
def top_k_above(asked, docs, extremes, decoded, rows, terms, model, sums, forward, lookup, scores, hint):
    """The best k documents, in the total order, into `best`. How many; TOO_MANY if too many may reach the threshold.

    UNVERIFIED if forward lists are needed that are not known to be right: those of the documents among the results. The
    arguments are those of `search_kernels.top_k` and of `forward_kernels.score_all`, `scores` memory for
    MOST_LEFT of them; `lookup`: its slots and held counts; `hint`: k documents or more, up to MOST_LEFT, or none. A
    chunk begins with as many terms as the one before needed.
    """
    asked, docs, decoded, sums, m = Asked(*asked), DocumentArrays(*docs), Decoded(*decoded), Sums(*sums), model[0]
    start(asked, extremes, decoded, rows, terms, m, sums)
    forward, needed = ForwardArrays(*forward), 0
    if len(hint) > 0 and not learn_threshold(docs, forward, terms, m, sums, lookup, scores, hint):
        return UNVERIFIED
    for chunk in range(decoded.begins.shape[1] - 1):
        if m.found > MOST_LEFT:
            return TOO_MANY
        places = min(m.n_docs - (chunk << CHUNK_BITS), CHUNK)
        essential, _ = split(decoded, m, terms, sums.suffix, chunk, required_units(m))
        if essential > 0:
            sum_weights(m, terms, sums.suffix)
            needed = leave_few(docs, decoded, m, terms, sums, max(essential, needed), chunk, places)
    if m.found > MOST_LEFT:
        return TOO_MANY
    return finish(docs, forward, terms, m, sums, lookup, scores)
