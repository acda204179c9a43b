# mypy: ignore-errors
"""EM of IBM model 1 over a sparse table of word pairs: arrays in, arrays out, no checks."""

import numpy as np

from germane.jit import allocating, inner


@inner
def _place(columns, low, high, word):
    """Return the position of `word` in columns[low:high], which are sorted and hold it."""
    while low < high:
        middle = (low + high) // 2
        if columns[middle] < word:
            low = middle + 1
        else:
            high = middle
    return low


@allocating
def expected_translations(queries, titles, weights, table, probability, first, last, expected):
    """One E-step over pairs first..last: `expected[p]` grows by the expected count of the word pair p.

    Of a query word q, the title word w answers for n(w, d) t(q|w) / Σ_w' n(w', d) t(q|w'), Brown et al. (1993).
    `table` is (starts, columns): the title words of each query word, sorted; `probability` has t(q|w) in that order.
    """
    starts, columns = table
    longest = 1
    for i in range(first, last):
        longest = max(longest, titles[0][i + 1] - titles[0][i])
    place, share = np.empty(longest, np.int64), np.empty(longest)
    for i in range(first, last):
        begin, end = titles[0][i], titles[0][i + 1]
        for at in range(queries[0][i], queries[0][i + 1]):
            q, total = queries[1][at], 0.0
            low = starts[q]
            for j in range(begin, end):
                low = _place(columns, low, starts[q + 1], titles[1][j])
                place[j - begin] = low
                share[j - begin] = titles[2][j] * probability[low]
                total += share[j - begin]
            scale = weights[i] * queries[2][at] / total if total > 0 else 0.0
            for j in range(end - begin):
                expected[place[j]] += scale * share[j]
