"""The multiple-Bernoulli classifier (binary independence): which words a document has, and which it lacks."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from germane.arrays import Floats
from germane.classify.generative import StatisticsClassifier, ones_if_none
from germane.classify.statistics import ClassStatistics, class_counts
from germane.lm.parameters import positive


class BernoulliClassifier(StatisticsClassifier):
    """log P(D|T) = Σ_j x_j log β_j^T + (1-x_j) log(1-β_j^T), x_j = 1 where f_j^D > 0, SD (1.12).

    β_j^T = (n_j^T + δ) / (N^T + 2δ), from the class's N documents of which n_j have the word; δ = 1 is Laplace's.
    An empty document is evidence here: it lacks every word.

    Attributes: `beta_`, classes × vocabulary; `class_log_prior_`; `statistics_`.
    """

    def __init__(self, delta: float = 1.0, prior: str | npt.ArrayLike = "uniform") -> None:
        self.delta = delta
        self.prior = prior

    def _statistics(
        self, X: Any, number: NDArray[np.intp], weight: Floats | None, known: ClassStatistics | None
    ) -> ClassStatistics:
        return class_counts(_presence(X), number, ones_if_none(weight, X.shape[0]), self.classes_)

    def _estimate(self, statistics: ClassStatistics) -> None:
        delta = positive("delta", self.delta)
        n_docs = statistics.n_docs[:, np.newaxis]
        self.beta_ = (statistics.sums + delta) / (n_docs + 2 * delta)
        absent = np.log((n_docs - statistics.sums + delta) / (n_docs + 2 * delta))  # 1-β, without cancellation
        self._log_odds = np.ascontiguousarray((np.log(self.beta_) - absent).T)
        self._all_absent = absent.sum(axis=1)

    def _log_density(self, X: Any) -> Floats:
        return np.asarray(self._log_evidence(X) + self._all_absent)

    def _log_evidence(self, X: Any) -> Floats:
        return np.asarray(_presence(X) @ self._log_odds)


def _presence(X: Any) -> Any:
    """x_j = 1 where f_j > 0."""
    return type(X)(((X.data > 0).astype(np.float64), X.indices, X.indptr), shape=X.shape, copy=False)
