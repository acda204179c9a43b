"""A Numba kernel of recent documents (`index.recent`)."""

from germane.jit import kernel


@kernel
def chain(starts, terms, counts, doc, at, last, postings):
    """Write the postings of documents, which are numbered from `doc` on, from `at` on, each before its term's last."""
    for d in range(len(starts) - 1):
        for j in range(starts[d], starts[d + 1]):
            before, p = last[terms[j]], at + j
            postings[p, 0], postings[p, 1], postings[p, 2] = doc + d, counts[j], before
            postings[p, 3], postings[p, 4] = 1, counts[j]
            if before >= 0:
                postings[p, 3] += postings[before, 3]
                postings[p, 4] += postings[before, 4]
            last[terms[j]] = p
