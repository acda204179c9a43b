"""The compiled clustering against plain loops over the definitions, and the number of clusters."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from germane.errors import ParameterError
from germane.refine.clustering import (
    Hierarchy,
    best_cut,
    choose_k,
    davies_bouldin,
    farthest_neighbour,
    information_bottleneck,
    symmetric_kl,
)
from germane.refine.clustering_kernels import farthest_neighbour_merges

INSTANCES = 200
in_blocks = pytest.mark.parametrize("seeds", [range(first, first + 20) for first in range(0, INSTANCES, 20)])


def instance(seed: int) -> sparse.csr_matrix:
    """2-9 rows of weights like tf-idf, few words, so that rows overlap; a third of the instances has an empty row."""
    random = np.random.default_rng(seed)
    rows = random.poisson(0.8, (random.integers(2, 10), random.integers(3, 15))) * random.gamma(2, 1)
    rows = rows * random.gamma(2.0, 1.0, rows.shape[1])
    if seed % 3 == 0:
        rows[-1] = 0
    return sparse.csr_matrix(rows)


def kl(p: np.ndarray, q: np.ndarray) -> float:
    return sum(x * np.log(x / y) for x, y in zip(p, q, strict=True) if x > 0)


def partitions(n: int, cost) -> list[list[list[int]]]:
    """Clusters after 0, 1, ... n-1 merges of the pair of least cost; every cost computed anew."""
    clusters = [[i] for i in range(n)]
    found = [[list(c) for c in clusters]]
    while len(clusters) > 1:
        a, b = min(combinations(range(len(clusters)), 2), key=lambda pair: cost(clusters[pair[0]], clusters[pair[1]]))
        clusters[a] = clusters[a] + clusters.pop(b)
        found.append([list(c) for c in clusters])
    return found


def assert_same(hierarchy: Hierarchy, expected: list[list[list[int]]]) -> None:
    n = len(hierarchy)
    for K in range(1, n + 1):
        cluster = hierarchy.cut(K)
        assert cluster.max() + 1 == K
        got = {frozenset(np.flatnonzero(cluster == c).tolist()) for c in range(K)}
        assert got == {frozenset(c) for c in expected[n - K]}


@in_blocks
def test_farthest_neighbour_is_algorithm_1(seeds: range) -> None:
    for seed in seeds:
        compare_farthest_neighbour(seed)


def compare_farthest_neighbour(seed: int) -> None:
    weights = instance(seed)
    smoothed = weights.toarray() + 1
    p = smoothed / smoothed.sum(axis=1, keepdims=True)
    n = len(p)
    D = np.array([[0.5 * (kl(p[i], p[j]) + kl(p[j], p[i])) for j in range(n)] for i in range(n)])
    hierarchy = farthest_neighbour(weights)
    assert_allclose(hierarchy.dissimilarity, D, atol=1e-12)
    assert_same(hierarchy, partitions(n, lambda a, b: max(D[i, j] for i in a for j in b)))


@in_blocks
def test_information_bottleneck_is_the_definition(seeds: range) -> None:
    for seed in seeds:
        compare_information_bottleneck(seed)


def compare_information_bottleneck(seed: int) -> None:
    weights = instance(seed)
    rows = weights.toarray()
    rows = rows[:, rows.any(axis=0)]
    rows[~rows.any(axis=1)] = 1
    p = rows / rows.sum(axis=1, keepdims=True)
    n = len(p)

    def js(a: np.ndarray, b: np.ndarray, pi_a: float, pi_b: float) -> float:
        """Refine (14) for two."""
        mixed = pi_a * a + pi_b * b
        return pi_a * kl(a, mixed) + pi_b * kl(b, mixed)

    def distortion(a: list[int], b: list[int]) -> float:
        mass_a, mass_b = len(a) / n, len(b) / n
        total = mass_a + mass_b
        return total * js(p[a].mean(axis=0), p[b].mean(axis=0), mass_a / total, mass_b / total)

    hierarchy = information_bottleneck(weights)
    D = np.array([[js(p[i], p[j], 0.5, 0.5) for j in range(n)] for i in range(n)])
    assert_allclose(hierarchy.dissimilarity, D, atol=1e-12)
    assert_same(hierarchy, partitions(n, distortion))


def literal_davies_bouldin(D: np.ndarray, cluster: np.ndarray) -> float:
    """Refine (12) and (13)."""
    K = cluster.max() + 1
    members = [np.flatnonzero(cluster == c) for c in range(K)]
    centroid = [min(m, key=lambda j, m=m: max((D[j, k] for k in m if k != j), default=0.0)) for m in members]
    S = [sum(D[j, q] for j in m) / len(m) for m, q in zip(members, centroid, strict=True)]
    worst = [max((S[i] + S[j]) / D[centroid[i], centroid[j]] for j in range(K) if j != i) for i in range(K)]
    return sum(worst) / K


@in_blocks
def test_davies_bouldin_is_the_formula(seeds: range) -> None:
    for seed in seeds:
        compare_davies_bouldin(seed)


def compare_davies_bouldin(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 15))
    D = random.random((n, n)) + 0.01
    D = (D + D.T) * (1 - np.eye(n))
    K = int(random.integers(2, n + 1))
    cluster = random.permutation(np.concatenate([np.arange(K), random.integers(K, size=n - K)]))
    assert davies_bouldin(D, cluster) == pytest.approx(literal_davies_bouldin(D, cluster), rel=1e-12)


def test_davies_bouldin_of_equal_centroids() -> None:
    together = np.zeros((4, 4))
    assert davies_bouldin(together, np.array([0, 0, 1, 1])) == 0
    apart = np.array([[0.0, 1, 0, 1], [1, 0, 1, 1], [0, 1, 0, 1], [1, 1, 1, 0]])
    assert davies_bouldin(apart, np.array([0, 0, 1, 1])) == np.inf


@pytest.mark.parametrize(
    ("index", "K"),
    [
        ([3.0, 1.0, 2.0], 3),  # the minimum
        ([1.0, 2.0, 3.0], 2),
        ([2.0, 1.0, 1.0], 3),  # of equals, the first: it does not only fall
        ([2.0, 1.0, 0.99, 0.5], 3),  # only falls: the first step of a gain of at most 2 %
        ([2.0, 1.0, 0.5], 4),  # only falls, every step worth it
        ([1.0], 2),
        ([np.inf, 1.0, 0.999], 3),
        ([np.inf, np.inf], 2),
    ],
)
def test_the_number_of_clusters(index: list[float], K: int) -> None:
    assert choose_k(np.array(index)) == K


def test_the_best_cut_is_bounded() -> None:
    hierarchy = farthest_neighbour(instance(4)[:3])
    assert best_cut(hierarchy).max() + 1 == 2
    random = np.random.default_rng(0)
    many = information_bottleneck(sparse.csr_matrix(random.poisson(0.5, (30, 20)).astype(float)))
    assert 2 <= best_cut(many).max() + 1 <= 10
    assert best_cut(many, 3).max() + 1 <= 3


def test_unused_words_count_in_the_smoothing() -> None:
    """Laplace over |V|: words of no row take their share too."""
    rows = np.array([[3.0, 0, 1, 0, 0], [0, 2, 2, 0, 0]])
    p = (rows + 1) / (rows + 1).sum(axis=1, keepdims=True)
    expected = 0.5 * (kl(p[0], p[1]) + kl(p[1], p[0]))
    assert symmetric_kl(sparse.csr_matrix(rows))[0, 1] == pytest.approx(expected)


def test_equal_and_empty_rows() -> None:
    rows = sparse.csr_matrix(np.array([[1.0, 2], [1, 2], [0, 0], [0, 0], [3, 0]]))
    for hierarchy in (farthest_neighbour(rows), information_bottleneck(rows), information_bottleneck(rows * 0)):
        assert np.isfinite(hierarchy.dissimilarity).all()
        assert len(np.unique(hierarchy.cut(3))) == 3


def test_ties_take_the_first_pair() -> None:
    D = np.ones((4, 4)) - np.eye(4)
    assert farthest_neighbour_merges(D).tolist() == [[0, 1], [0, 2], [0, 3]]


def test_more_clusters_than_rows() -> None:
    with pytest.raises(ParameterError, match="cannot make 3 clusters"):
        farthest_neighbour(instance(4)[:2]).cut(3)
