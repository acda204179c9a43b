"""How many clusters? The Davies-Bouldin index for pairwise clustering, Refine (12)-(13)."""

import numpy as np

from germane.arrays import Floats, Integers
from germane.refine.clustering import Hierarchy
from germane.refine.clustering_kernels import davies_bouldin_index

MOST_COMPONENTS = 10
"""The index falls towards one cluster a result, so K is bounded, as in the paper's figure 1."""

LEAST_GAIN = 0.02
"""A relative fall of the index that another cluster must be worth."""


def davies_bouldin(dissimilarity: Floats, cluster: Integers) -> float:
    """DB = (1/K) Σ_i max_{j≠i} (S_i + S_j)/d_ij, Refine (13).

    The centroid q_i of a cluster is its member with the least maximum dissimilarity from the others, (12) (of equals,
    the first); S_i is the members' mean dissimilarity from q_i, d_ij that of q_i and q_j. A ratio 0/0 is 0, x/0 is ∞.
    """
    D = np.ascontiguousarray(dissimilarity, np.float64)
    return float(davies_bouldin_index(D, np.ascontiguousarray(cluster, np.int64), int(cluster.max()) + 1))


def choose_k(index: Floats, tolerance: float = LEAST_GAIN) -> int:
    """K* of index values for K = 2, 3, ...: the minimum, the first of equals.

    Where the index only falls the minimum says nothing; then the first K whose next step gains no more than
    `tolerance`, (DB_K - DB_{K+1})/DB_K, and without one the last. Refine §IV, errata.
    """
    if len(index) > 1 and (index[1:] < index[:-1]).all():
        gain = 1.0 - index[1:] / index[:-1]
        flat = np.flatnonzero(gain <= tolerance)
        return 2 + (int(flat[0]) if len(flat) else len(index) - 1)
    return 2 + int(np.argmin(index))


def best_cut(hierarchy: Hierarchy, most: int = MOST_COMPONENTS) -> Integers:
    """The clusters of `choose_k` over K = 2 ... min(`most`, n-1), n ≥ 3."""
    cuts = [hierarchy.cut(K) for K in range(2, min(most, len(hierarchy) - 1) + 1)]
    return cuts[choose_k(np.array([davies_bouldin(hierarchy.dissimilarity, cut) for cut in cuts])) - 2]
