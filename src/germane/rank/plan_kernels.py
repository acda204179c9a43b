"""Plans of many terms: what `rank.plan.Columns.of` does with rows, over columns."""

from germane.jit import inner, kernel
from germane.rank.plan import MAX_WEIGHT


@inner
def comes_before(places, i, j):
    """Whether term i comes before term j: by their places, then as they came."""
    return places[i] < places[j] or (places[i] == places[j] and i < j)


@kernel
def arrange(values, numbers, places, alpha, columns, own, sums):
    """Bring the terms at these places, which weigh `alpha`, into the canonical order.

    How many have the place of another in it, and stay as they came; -1 if one does not weigh what a term may.

    `values`: of each term its place in the order, weight, scale and part of the constant; `numbers`: its number in each
    segment. `columns`: a row for each kind of number; `own`: which term comes when, then a row for each segment;
    `sums`: of the weights and of the parts of the constant. Equivalent in NumPy:
    `order = np.argsort(values[places, 0] * alpha, kind="stable")`, both taken in that order.
    """
    n, ties, order, at = len(places), 0, own[0], columns[0]
    for i in range(n):
        if not 0.0 < alpha[i] <= MAX_WEIGHT:
            return -1
        at[i] = values[places[i], 0] * alpha[i]
        order[i] = i
    gap = 1
    while 3 * gap < n:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            moved, j = order[i], i
            while j >= gap and comes_before(at, moved, order[j - gap]):
                order[j] = order[j - gap]
                j -= gap
            order[j] = moved
        gap //= 3
    for i in range(1, n):
        ties += at[order[i - 1]] == at[order[i]]
    sums[0], sums[1] = 0.0, 0.0
    for i in range(n):
        row, weight = places[order[i]], alpha[order[i]]
        columns[1, i], columns[2, i], columns[3, i] = values[row, 1] * weight, values[row, 2], values[row, 3] * weight
        sums[0] += columns[1, i]
        sums[1] += columns[3, i]
        for segment in range(numbers.shape[1]):
            own[1 + segment, i] = numbers[row, segment]
    return ties
