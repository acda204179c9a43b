"""Hierarchies of the non-relevant results, Refine §IV: farthest neighbour, the information bottleneck, and where to cut
them (the Davies-Bouldin index)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from germane.arrays import Floats, Integers
from germane.errors import ParameterError
from germane.lm.parameters import whole
from germane.refine.clustering_kernels import (
    cut_merges,
    davies_bouldin_index,
    farthest_neighbour_merges,
    information_bottleneck_merges,
)


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """`merges` (n-1 pairs of rows, i < j, j's cluster into i's, in order) and the rows' pairwise `dissimilarity`."""

    merges: Integers
    dissimilarity: Floats

    def __len__(self) -> int:
        return len(self.dissimilarity)

    def cut(self, K: int) -> Integers:
        """The cluster of each row, 0...K-1 in order of their first rows, 1 ≤ K ≤ n."""
        if whole("K", K, least=1) > len(self):
            raise ParameterError(f"{len(self)} results cannot make {K} clusters")
        return np.asarray(cut_merges(self.merges, len(self), K))


def farthest_neighbour(weights: Any) -> Hierarchy:
    """Algorithm 1: merge the clusters whose farthest members are nearest by `symmetric_kl`; of equals, the first."""
    dissimilarity = symmetric_kl(weights)
    return Hierarchy(farthest_neighbour_merges(dissimilarity), dissimilarity)


def information_bottleneck(weights: Any) -> Hierarchy:
    """AIB (Slonim & Tishby 1999): merge the pair of least (p(z_i) + p(z_j))·JS_π[p(y|z_i), p(y|z_j)], Refine §IV.A.

    p(x) is uniform, p(y|x) the row over its sum, without Laplace smoothing (JS needs none; departure from §VI); a row
    without weight is uniform over the words in use. The dissimilarity of two results is their JS_π, (14), π = (½, ½).
    """
    rows, _ = _used_columns(weights)
    total = rows.sum(axis=1, keepdims=True)
    uniform = np.full(rows.shape, 1.0 / rows.shape[1])
    conditional = np.divide(rows, total, out=uniform, where=total > 0)
    merges, dissimilarity = information_bottleneck_merges(conditional / max(len(rows), 1))
    return Hierarchy(merges, dissimilarity)


def symmetric_kl(weights: Any) -> Floats:
    """½(D_KL[p_i‖p_j] + D_KL[p_j‖p_i]), Refine (11), of each pair of rows, Laplace-smoothed over all columns."""
    rows, unused = _used_columns(weights)
    smoothed = rows + 1.0
    total = smoothed.sum(axis=1) + unused
    # A last column stands for the words of no row: `unused` of them, all of probability 1/total.
    p = np.column_stack([smoothed / total[:, None], unused / total])
    log_p = np.log(np.column_stack([smoothed, np.ones(len(rows))]) / total[:, None])
    cross = p @ log_p.T
    entropies = np.diag(cross)
    divergence = 0.5 * (entropies[:, None] - cross + entropies[None] - cross.T)
    np.fill_diagonal(divergence, 0.0)
    return np.asarray(np.maximum(divergence, 0.0))


def _used_columns(weights: Any) -> tuple[Floats, int]:
    """The rows over the columns in use (one at least), dense, and the number of other columns."""
    used = np.unique(weights.indices) if weights.nnz else np.array([0])
    return np.asarray(weights[:, used].toarray()), int(weights.shape[1] - len(used))


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
