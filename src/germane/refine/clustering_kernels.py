# mypy: ignore-errors
"""Agglomerative clustering, arrays in, arrays out; the plain equivalents are in tests/refine/test_clustering.py."""

import numpy as np

from germane.jit import njit


@njit(cache=True)
def _nearest(D, alive):
    """The first pair (i, j), i < j, of the smallest D among those alive."""
    best, bi, bj = np.inf, -1, -1
    for i in range(len(D)):
        if alive[i]:
            for j in range(i + 1, len(D)):
                if alive[j] and (bi < 0 or D[i, j] < best):
                    best, bi, bj = D[i, j], i, j
    return bi, bj


@njit(cache=True)
def farthest_neighbour_merges(D):
    """Merges (i, j), i < j, j into i, of the pair with min over pairs of max over members of D, Refine algorithm 1."""
    n = len(D)
    D = D.copy()
    merges = np.zeros((max(n - 1, 0), 2), np.int64)
    alive = np.ones(n, np.bool_)
    for step in range(n - 1):
        i, j = _nearest(D, alive)
        merges[step, 0], merges[step, 1] = i, j
        alive[j] = False
        for k in range(n):
            if alive[k] and k != i:
                D[i, k] = max(D[i, k], D[j, k])
                D[k, i] = D[i, k]
    return merges


@njit(cache=True)
def _xlogx(a):
    return a * np.log(a) if a > 0 else 0.0


@njit(cache=True)
def _index(i, joint, logs, words, n_words):
    """Note the words in use in row i, and their x·log x."""
    n = 0
    for w in range(joint.shape[1]):
        if joint[i, w] > 0:
            logs[i, w] = joint[i, w] * np.log(joint[i, w])
            words[i, n] = w
            n += 1
    n_words[i] = n


@njit(cache=True)
def _loss(i, j, joint, logs, words, n_words, mass):
    """(p_i + p_j)·JS_π of two rows: h(p_i + p_j) - h(p_i) - h(p_j) - Σ_w [h(a + b) - h(a) - h(b)], h(x) = x·log x.

    A word of one row only adds 0 to the sum, so it runs over the words of the row with fewer.
    """
    if n_words[j] < n_words[i]:
        i, j = j, i
    shared = 0.0
    for k in range(n_words[i]):
        w = words[i, k]
        if joint[j, w] > 0:
            shared += _xlogx(joint[i, w] + joint[j, w]) - logs[i, w] - logs[j, w]
    return max(_xlogx(mass[i] + mass[j]) - _xlogx(mass[i]) - _xlogx(mass[j]) - shared, 0.0)


@njit(cache=True)
def information_bottleneck_merges(joint):
    """Merges (i, j), i < j, j into i, that lose the least information, Refine §IV.A; and the rows' JS_π by pair, (14).

    `joint` is p(x, y), a row for each document; every row has some mass.
    """
    n = len(joint)
    joint = joint.copy()
    mass = np.empty(n)
    logs = np.zeros(joint.shape)
    words = np.zeros(joint.shape, np.int64)
    n_words = np.zeros(n, np.int64)
    for i in range(n):
        mass[i] = joint[i].sum()
        _index(i, joint, logs, words, n_words)
    D = np.zeros((n, n))
    divergence = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            D[i, j] = _loss(i, j, joint, logs, words, n_words, mass)
            D[j, i] = D[i, j]
            divergence[i, j] = D[i, j] / (mass[i] + mass[j])
            divergence[j, i] = divergence[i, j]
    merges = np.zeros((max(n - 1, 0), 2), np.int64)
    alive = np.ones(n, np.bool_)
    for step in range(n - 1):
        i, j = _nearest(D, alive)
        merges[step, 0], merges[step, 1] = i, j
        alive[j] = False
        joint[i] += joint[j]
        mass[i] += mass[j]
        _index(i, joint, logs, words, n_words)
        for k in range(n):
            if alive[k] and k != i:
                D[i, k] = _loss(i, k, joint, logs, words, n_words, mass)
                D[k, i] = D[i, k]
    return merges, divergence


@njit(cache=True)
def cut_merges(merges, n, K):
    """The cluster, 0...K-1 by first member, of each of n rows after n - K merges."""
    parent = np.arange(n)
    for step in range(n - K):
        parent[merges[step, 1]] = merges[step, 0]
    cluster = np.empty(n, np.int64)
    number = np.full(n, -1, np.int64)
    found = 0
    for i in range(n):
        root = i
        while parent[root] != root:
            root = parent[root]
        if number[root] < 0:
            number[root] = found
            found += 1
        cluster[i] = number[root]
    return cluster


@njit(cache=True)
def davies_bouldin_index(D, cluster, K):
    """Refine (12)-(13) on pairwise dissimilarities; `davies_bouldin.davies_bouldin` says how."""
    n = len(D)
    centroid = np.zeros(K, np.int64)
    scatter = np.zeros(K)
    for c in range(K):
        best = np.inf
        size = 0
        for i in range(n):
            if cluster[i] == c:
                size += 1
                farthest = 0.0
                for j in range(n):
                    if cluster[j] == c and j != i:
                        farthest = max(farthest, D[i, j])
                if size == 1 or farthest < best:
                    best, centroid[c] = farthest, i
        for i in range(n):
            if cluster[i] == c:
                scatter[c] += D[i, centroid[c]] / size
    total = 0.0
    for a in range(K):
        worst = 0.0
        for b in range(K):
            if a != b:
                within, between = scatter[a] + scatter[b], D[centroid[a], centroid[b]]
                if between > 0:
                    worst = max(worst, within / between)
                elif within > 0:
                    worst = np.inf
        total += worst
    return total / K
