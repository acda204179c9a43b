"""Plans of many terms: what `rank.plan.Columns.of` does with rows, over columns."""

from germane.jit import inner, kernel


@inner
def comes_before(places, i, j):
    """Whether term i comes before term j: by their places, then as they came."""
    return places[i] < places[j] or (places[i] == places[j] and i < j)


@kernel
def arrange(values, numbers, places, alpha, order, columns, own, sums):
    """Bring the terms at these places, which weigh `alpha`, into the canonical order; whether their places tell it.

    Terms that have the same place there stay as they came.

    `values`: of each term its place in the order, weight, scale and part of the constant; `numbers`: its number in each
    segment. `order`: which term comes when; `columns`, `own`: what becomes of the two, a row for each kind of number
    and for each segment; `sums`: of the weights and of the parts of the constant. Equivalent in NumPy:
    `order = np.argsort(values[places, 0] * alpha, kind="stable")`, both taken in that order.
    """
    n, sure = len(places), True
    for i in range(n):
        columns[0, i] = values[places[i], 0] * alpha[i]
        order[i] = i
    gap = 1
    while 3 * gap < n:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            moved, j = order[i], i
            while j >= gap and comes_before(columns[0], moved, order[j - gap]):
                order[j] = order[j - gap]
                j -= gap
            order[j] = moved
        gap //= 3
    for i in range(1, n):
        sure &= columns[0, order[i - 1]] < columns[0, order[i]]
    sums[0], sums[1] = 0.0, 0.0
    for i in range(n):
        at, weight = places[order[i]], alpha[order[i]]
        columns[1, i], columns[2, i], columns[3, i] = values[at, 1] * weight, values[at, 2], values[at, 3] * weight
        sums[0] += columns[1, i]
        sums[1] += columns[3, i]
        for segment in range(len(own)):
            own[segment, i] = numbers[at, segment]
    return sure
