"""The multinomial (naive Bayes) classifier, with Laplace or Jelinek-Mercer smoothing."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from germane.arrays import Floats
from germane.classify.background import general_english
from germane.classify.generative import StatisticsClassifier, ones_if_none
from germane.classify.statistics import ClassStatistics, class_counts
from germane.errors import ParameterError
from germane.lm.parameters import fraction, positive, reals


class MultinomialClassifier(StatisticsClassifier):
    """log P(D|T) = Σ_{j∈D} f_j^D log θ_j^T: D-cross-entropy, SD (2.11); Lecture (naive Bayes).

    `smoothing="laplace"`: θ^T = (Σ_{i∈T} f^i + δ) / (Σ_{i∈T} |D_i| + Vδ), SD (4.8); δ = 1 is the Lecture's.
    `smoothing="jm"`: θ^T = λθ̂^T + (1-λ)θ^GE, SD (4.9), with θ^GE smoothed by β, (4.10): of the training documents, or
    of the counts of words in `background`.

    Attributes: `theta_`, classes × vocabulary; `class_log_prior_`; `statistics_`.
    """

    def __init__(
        self,
        smoothing: str = "laplace",
        delta: float = 0.01,
        lam: float = 0.7,
        beta: float = 1e-3,
        prior: str | npt.ArrayLike = "uniform",
        background: npt.ArrayLike | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.delta = delta
        self.lam = lam
        self.beta = beta
        self.prior = prior
        self.background = background

    @property
    def theta_(self) -> Floats:
        """θ^T, classes × vocabulary."""
        return np.asarray(np.exp(self._log_theta.T))

    def _statistics(
        self, X: Any, number: NDArray[np.intp], weight: Floats | None, known: ClassStatistics | None
    ) -> ClassStatistics:
        return class_counts(X, number, ones_if_none(weight, X.shape[0]), self.classes_)

    def _estimate(self, statistics: ClassStatistics) -> None:
        counts = statistics.sums
        if self.smoothing == "laplace":
            theta = laplace(counts, positive("delta", self.delta))
        elif self.smoothing == "jm":
            background = counts.sum(axis=0) if self.background is None else reals("background", self.background)
            if len(background) != counts.shape[1]:
                raise ParameterError(f"the background counts {len(background)} words, the documents {counts.shape[1]}")
            theta_GE = general_english(background, positive("beta", self.beta))
            theta = jelinek_mercer(counts, theta_GE, fraction("lam", self.lam))
        else:
            raise ParameterError(f"smoothing is 'laplace' or 'jm', not {self.smoothing!r}")
        # Vocabulary × classes: a document's product then reads whole rows.
        self._log_theta = np.ascontiguousarray(np.log(theta).T)

    def _log_density(self, X: Any) -> Floats:
        return np.asarray(X @ self._log_theta)

    def _log_evidence(self, X: Any) -> Floats:
        return self._log_density(X)


def laplace(counts: Floats, delta: float) -> Floats:
    """(f + δ) / (Σ_j f_j + Vδ) for each row of counts, SD (4.8)."""
    smoothed = counts + delta
    return np.asarray(smoothed / smoothed.sum(axis=1, keepdims=True))


def jelinek_mercer(counts: Floats, theta_GE: Floats, lam: float) -> Floats:
    """λ f/Σ_j f_j + (1-λ)θ^GE for each row of counts, SD (4.9); a row without counts is θ^GE."""
    if lam == 1:
        raise ParameterError("lam must be less than 1, or words unseen in a class have no probability")
    lengths = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, lengths, out=np.tile(theta_GE, (len(counts), 1)), where=lengths > 0)
    return np.asarray(lam * shares + (1 - lam) * theta_GE)
