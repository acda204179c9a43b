# mypy: ignore-errors
"""Sums over the postings of evidence, in one pass."""

from germane.jit import kernel


@kernel
def sum_by_word(starts, ids, counts, table, weights, sums):
    """Add to the sum of each word, for each document that holds it c times, weights[D] · table[D, c - 1].

    Equivalent in NumPy: `np.bincount(ids, weights[D] * table[D, counts - 1])`, D being the document of each posting.
    """
    for d in range(len(weights)):
        for p in range(starts[d], starts[d + 1]):
            sums[ids[p]] += weights[d] * table[d, int(counts[p]) - 1]
