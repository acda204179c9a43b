# mypy: ignore-errors
"""Numba kernels of recent documents (`index.recent`)."""

from germane.jit import kernel


@kernel
def add(starts, terms, counts, doc, lists, room, postings, end):
    """Add the postings of documents, numbered from `doc` on, to the lists; where the last one ends then.

    A list that has no room moves to the end, with room for as many more.
    """
    for d in range(len(starts) - 1):
        for j in range(starts[d], starts[d + 1]):
            t = terms[j]
            begin, n = lists[t, 0], lists[t, 1]
            if n == room[t]:
                for i in range(n):
                    postings[end + i, 0], postings[end + i, 1] = postings[begin + i, 0], postings[begin + i, 1]
                begin, room[t] = end, 2 * n if n > 0 else 1
                end += room[t]
            postings[begin + n, 0], postings[begin + n, 1] = doc + d, counts[j]
            lists[t, 0], lists[t, 1] = begin, n + 1
            lists[t, 2] += counts[j]
    return end


@kernel
def cut(lists, postings, n_docs):
    """Leave the postings of the first documents alone in the lists."""
    for t in range(len(lists)):
        while lists[t, 1] > 0 and postings[lists[t, 0] + lists[t, 1] - 1, 0] >= n_docs:
            lists[t, 1] -= 1
            lists[t, 2] -= postings[lists[t, 0] + lists[t, 1], 1]
