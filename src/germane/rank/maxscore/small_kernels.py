# mypy: ignore-errors
"""A Numba kernel of small segments (`scoring.small_segments`): all postings of a query's terms, which lie in memory."""

from typing import NamedTuple

import numpy as np

from germane.jit import brief
from germane.rank.maxscore.impact_kernels import impact


class Term(NamedTuple):
    """What `rank.maxscore.impact_kernels` asks of a term."""

    weight: float
    scale: float


class Model(NamedTuple):
    """What it asks of a model."""

    kind: int
    delta: float


@brief
def score_lists(asked, numbers, weight, scale, size, values, mask, lists, postings, found, work, scores):
    """The documents that hold a term, pass the mask and reach the threshold, in any order; how many.

    `asked`: the first settings of `records`; `numbers`: of the terms; `lists`, `postings`: see `index.recent`;
    `values`: norm, background and prior of each document, or none. `work` is zero, and is so
    again; `scores`: of those found. Each array is an argument of its own, and they are few: making one
    more, or telling the types of a group, takes as long as the scores.
    """
    m, x0, x1 = Model(np.int64(asked[0]), asked[1]), asked[2], asked[3]
    constant, mass, threshold = asked[4], asked[5], asked[6]
    met = 0
    for i in range(len(weight)):
        number = numbers[i]
        if number >= len(lists):
            continue
        t, begin = Term(weight[i], scale[i]), lists[number, 0]
        for p in range(begin, begin + lists[number, 1]):
            d = postings[p, 0]
            if work[d, 1] == 0.0:
                work[d, 1] = 1.0
                found[met] = d
                met += 1
            work[d, 0] += impact(t, m, np.float64(postings[p, 1]), x0 + x1 * np.float64(size[d]))
    n = 0
    for j in range(met):
        d = found[j]
        score, rest = work[d, 0], constant
        work[d, 0], work[d, 1] = 0.0, 0.0
        if len(values) > 0:
            score *= values[d, 0]
            rest += mass * values[d, 1]
            rest += values[d, 2]
        score += rest
        if (len(mask) == 0 or mask[d]) and score >= threshold:
            found[n], scores[n] = d, score
            n += 1
    return n


@brief
def join(best, segments, docs, found, found_scores, starts, small, scores, places):
    """Documents in order and recent ones in any, by their scores; whether some of these equal others.

    `starts`: where the documents of small segments begin, `small`: where these lie in the snapshot. `places`: a row
    each for segments and documents.
    """
    for i in range(1, len(found)):  # they are few, or in order
        doc, score, j = found[i], found_scores[i], i
        while j > 0 and found_scores[j - 1] < score:
            found[j], found_scores[j] = found[j - 1], found_scores[j - 1]
            j -= 1
        found[j], found_scores[j] = doc, score
    i, j, tied = 0, 0, False
    for n in range(len(scores)):
        if j == len(found) or (i < len(best) and best[i] >= found_scores[j]):
            tied |= j < len(found) and best[i] == found_scores[j]
            scores[n], places[0, n], places[1, n] = best[i], segments[i], docs[i]
            i += 1
        else:
            tied |= j > 0 and found_scores[j - 1] == found_scores[j]
            place = np.searchsorted(starts, found[j], "right") - 1
            scores[n], places[0, n], places[1, n] = found_scores[j], small[place], found[j] - starts[place]
            j += 1
    return tied
