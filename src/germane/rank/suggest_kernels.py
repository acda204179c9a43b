# mypy: ignore-errors
"""The distance between what was typed and every term of a segment."""

import numpy as np

from germane.jit import allocating


@allocating
def edit_distances(term_bytes, term_offsets, surface_bytes, surface_offsets, typed, most, out):
    """out[t] = edits (with transpositions of neighbours) between `typed` and term t's written form, capped at most + 1.

    Distances are of bytes; a term whose form is empty is written as itself.
    """
    n = len(typed)
    rows = np.empty((3, n + 1), np.int64)
    for t in range(len(out)):
        begin, end = np.int64(surface_offsets[t]), np.int64(surface_offsets[t + 1])
        own = begin == end
        if own:
            begin, end = np.int64(term_offsets[t]), np.int64(term_offsets[t + 1])
        m = end - begin
        out[t] = most + 1
        if m > n + most or n > m + most:
            continue
        for j in range(n + 1):
            rows[0, j] = j
        for i in range(1, m + 1):
            now, last, older = i % 3, (i - 1) % 3, (i - 2) % 3
            low, high = max(1, i - most), min(n, i + most)  # farther from the diagonal it is more than `most`
            rows[now, low - 1] = i if low == 1 else most + 1
            if high < n:
                rows[now, high + 1] = most + 1  # for the next row
            least = rows[now, low - 1]
            here = term_bytes[begin + i - 1] if own else surface_bytes[begin + i - 1]
            for j in range(low, high + 1):
                cost = 0 if here == typed[j - 1] else 1
                value = min(rows[last, j] + 1, rows[now, j - 1] + 1, rows[last, j - 1] + cost)
                if i > 1 and j > 1:
                    there = term_bytes[begin + i - 2] if own else surface_bytes[begin + i - 2]
                    if here == typed[j - 2] and there == typed[j - 1]:
                        value = min(value, rows[older, j - 2] + 1)
                rows[now, j] = value
                least = min(least, value)
            if least > most:
                break
        else:
            out[t] = min(rows[m % 3, n], most + 1)
