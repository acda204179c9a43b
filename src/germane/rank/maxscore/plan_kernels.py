# mypy: ignore-errors
"""Plans: what `models.TermwiseModel.plan` does, from the frequencies of remembered terms."""

import math

import numpy as np

from germane.index.recent import CF, DF
from germane.jit import brief, inner
from germane.rank.models.term_formulas import numbers_of
from germane.rank.plan import MAX_WEIGHT

numbers_of = inner(numbers_of)
NOT_HELD = -1
"""In place of a count of ties: a term is in no live document, or does not weigh what one may."""


@inner
def comes_before(places, i, j):
    """Whether term i comes before term j: by their places, then as they came."""
    return places[i] < places[j] or (places[i] == places[j] and i < j)


@inner
def sort(places, order):
    """Bring the terms into the canonical order; equal ones stay as they came."""
    n, gap = len(order), 1
    for i in range(n):
        order[i] = i
    while 3 * gap < n:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            moved, j = order[i], i
            while j >= gap and comes_before(places, moved, order[j - gap]):
                order[j] = order[j - gap]
                j -= gap
            order[j] = moved
        gap //= 3


@inner
def frequencies(known, recent, cell):
    """df and cf of a term among all live documents."""
    df, cf, number = known[cell, 0], known[cell, 1], known[cell, known.shape[1] - 1]
    return (df + recent[number, DF], cf + recent[number, CF]) if number < len(recent) else (df, cf)


@brief
def arrange(known, recent, asked, formula, weight, scale, own):
    """Weigh the terms of a query and bring them into the canonical order.

    How many have the place of another in it, and stay as they came (NOT_HELD: see there); the sum of the weights, and
    of the parts of the constant.

    `asked`: in the first row the cells of the terms in `known` (`term_table.KnownTerms`), in the second what they
    weigh; `recent`: the lists of recent documents (`index.recent`). `own`: a row each for which term comes when, df,
    cf, and the number in each segment. Equivalent in NumPy, a term's `numbers_of` being a row of `values`:
    `order = np.argsort(-values[:, 0] / np.sqrt(df) * asked[1], kind="stable")`.
    """
    n, order, places = len(weight), own[0], weight  # places lie there until the order is known
    given = formula[0], formula[1], formula[2], formula[3], formula[4]
    for i in range(n):
        df, cf = frequencies(known, recent, np.int64(asked[0, i]))
        if df <= 0 or not 0.0 < asked[1, i] <= MAX_WEIGHT:
            return NOT_HELD, 0.0, 0.0
        places[i] = -numbers_of(df, cf, given)[0] / math.sqrt(df) * asked[1, i]
    sort(places, order)
    ties, mass, constant = 0, 0.0, 0.0
    for i in range(1, n):
        ties += places[order[i - 1]] == places[order[i]]
    for i in range(n):
        cell, alpha = np.int64(asked[0, order[i]]), asked[1, order[i]]
        df, cf = frequencies(known, recent, cell)
        _, own_weight, scale[i], own_constant = numbers_of(df, cf, given)
        weight[i] = own_weight * alpha
        mass += weight[i]
        constant += own_constant * alpha
        own[1, i], own[2, i] = df, cf
        for segment in range(2, known.shape[1]):
            own[1 + segment, i] = known[cell, segment]
    return ties, mass, constant
