"""Probability of relevance of each document. Logistic regression that takes the unread for mostly irrelevant."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from germane.arrays import Floats, Labels
from germane.errors import ParameterError
from germane.lazy import LazyModule, on_first_use
from germane.types import Mark

with on_first_use(__name__):
    from scipy import optimize

if TYPE_CHECKING:
    from germane.refine.screening import ranking_kernels
else:
    ranking_kernels = LazyModule("germane.refine.screening.ranking_kernels")

QUICK = (6, 0.05)
"""(passes, tolerance) from a warm start, where the order is all that matters."""
UNREAD_WEIGHT = 3.0
"""All unread documents together weigh as much as so many times those read; docs/screening.md has how it was chosen."""
THOROUGH = (30, 0.01)
"""(passes, tolerance) from a cold start: the answer then depends on the decisions alone, not on the way to them."""


@dataclass(frozen=True)
class Fit:
    """Coefficients of the words, the bias, the log-odds of every document, and where the solver can go on from."""

    coefficients: Floats
    bias: float
    scores: Floats
    shares: Floats
    signs: Floats


@dataclass(frozen=True, slots=True)
class RankerParameters:
    """Logistic regression that takes the unread for mostly irrelevant: what an error costs, what the unread weigh."""

    C: float = 1.0
    unread_weight: float = UNREAD_WEIGHT

    def __post_init__(self) -> None:
        for name, value in (("C", self.C), ("unread_weight", self.unread_weight)):
            if not (np.isfinite(value) and value > 0.0):
                raise ParameterError(f"{name} must be a number above 0, not {value}")


class Ranker:
    """L2-regularised logistic regression on unit rows, in which unread documents are weak negatives.

    Each unread document counts as irrelevant with weight v = min(1, `unread_weight`·read/unread), so that together they
    weigh as much as `unread_weight` times those read, and each that was read with weight 1. With n = n₁ + n₀ + v·u
    (relevant, irrelevant, unread), both sides get the same total cost, C·n/2, spread over their documents by weight:

        min_w ½|w|² + Σ_i c_i·ln(1 + exp(-y_i·w·(x_i, 1))),   c_i = C·n/(2n₁) or C·n·v_i/(2(n₀ + v·u))

    Few documents of a review are relevant, so that calling all unread ones irrelevant is nearly right, and tells the
    model which words are common. The bias is regularised like any other coefficient. Solved by dual coordinate descent
    (Yu, Huang & Lin 2011) in an order drawn once by `random_state`. Deterministic.
    """

    def __init__(
        self, rows: sparse.csr_array, *, C: float = 1.0, unread_weight: float = UNREAD_WEIGHT, random_state: int = 0
    ) -> None:
        RankerParameters(C, unread_weight)  # complains
        self.rows = sparse.csr_array(rows, dtype=np.float64)
        self.C = C
        self.unread_weight = unread_weight
        self._square = np.asarray(self.rows.multiply(self.rows).sum(axis=1), np.float64).ravel()
        self._order = np.random.default_rng(random_state).permutation(self.rows.shape[0])

    def costs(self, labels: Labels) -> Floats:
        """c_i of every document; there must be one that is relevant and one that is not."""
        relevant, unread = labels == Mark.RELEVANT, labels == Mark.UNMARKED
        n_unread = int(unread.sum())
        weak = min(1.0, self.unread_weight * (len(labels) - n_unread) / max(1, n_unread))
        weight = np.where(unread, weak, 1.0)
        n_relevant, n_other = float(relevant.sum()), float(weight[~relevant].sum())
        half = self.C * (n_relevant + n_other) / 2.0
        costs: Floats = weight * half / np.where(relevant, n_relevant, n_other)
        return costs

    def fit(self, labels: Labels, warm: Fit | None = None, effort: tuple[int, float] = THOROUGH) -> Fit:
        """Learn from `labels` (1 relevant, 0 irrelevant, -1 unread), starting from `warm` if it is given.

        A warm start keeps α_i/c_i, which depends on the margin alone, and starts at 0 where the side changed. Without
        a relevant document, or with nothing else, there is nothing to tell apart and every score is 0.
        """
        n_docs, n_words = self.rows.shape
        relevant = labels == Mark.RELEVANT
        signs = np.where(relevant, 1.0, -1.0)
        if not relevant.any() or relevant.all():
            return Fit(np.zeros(n_words), 0.0, np.zeros(n_docs), np.zeros(n_docs), signs)
        costs = self.costs(labels)
        alpha = np.zeros(n_docs) if warm is None else np.where(warm.signs == signs, warm.shares, 0.0) * costs
        w = np.zeros(n_words + 1)
        table = self.rows.indptr, self.rows.indices, self.rows.data
        ranking_kernels.primal(*table, signs, alpha, w)
        ranking_kernels.descend(*table, self._square, self._order, signs, costs, alpha, w, *effort)
        margins = self.rows @ w[:-1]
        bias = best_bias(margins, signs, costs)
        return Fit(w[:-1], bias, margins + bias, alpha / costs, signs)


def best_bias(margins: Floats, signs: Floats, costs: Floats) -> float:
    """argmin_b ½b² + Σ_i c_i·ln(1 + exp(-y_i·(m_i + b))), where the slope b - Σ c_i·y_i·p_i crosses 0 (Brent's method).

    Every document has the bias, so that coordinate descent, stopped early, leaves it farthest from its place.
    """

    def slope(bias: float) -> float:
        p = 0.5 * (1.0 - np.tanh(0.5 * signs * (margins + bias)))
        return bias - float((costs * signs * p).sum())

    bound = 1.0 + float(costs.sum())  # 0 < p < 1: the slope is positive there, and negative at -bound
    return float(optimize.brentq(slope, -bound, bound, xtol=1e-10))
