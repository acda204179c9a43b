"""The Smoothed Dirichlet classifier: SD (negative KL divergence) and SD-CE (cross-entropy)."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from germane.arrays import Floats
from germane.classify import kernels
from germane.classify.background import general_english, log_ratio_weights
from germane.classify.generative import StatisticsClassifier, ones_if_none
from germane.classify.statistics import ClassStatistics, class_log_ratios, word_counts
from germane.errors import ParameterError
from germane.lm.distributions.mixtures import MARGIN, NO_MARGIN
from germane.lm.parameters import open_fraction, positive, reals


class LogRatioClassifier(StatisticsClassifier):
    """Documents as smoothed proportions θ^D = λθ̂^D + (1-λ)θ^GE: what SD and the Dirichlet share.

    The statistics are Σ_i log(1 + λθ̂^i/((1-λ)θ^GE)), and θ^GE, SD (4.10), is over the whole training set. `fit` reads
    the documents twice for that. `partial_fit` cannot: it takes θ^GE from `background`, word counts of some large
    collection, or where that is None from its first batch, and keeps it. Statistics merge if they have one background.
    """

    lam: float
    beta: float
    background: npt.ArrayLike | None

    def _statistics(
        self, X: Any, number: NDArray[np.intp], weight: Floats | None, known: ClassStatistics | None
    ) -> ClassStatistics:
        lam, beta = open_fraction("lam", self.lam), positive("beta", self.beta)
        background = self._background(X, weight) if known is None else known.background
        assert background is not None
        return class_log_ratios(X, number, weight, self.classes_, background, lam=lam, beta=beta)

    def _background(self, X: Any, weight: Floats | None) -> Floats:
        if self.background is None:
            return word_counts(X, ones_if_none(weight, X.shape[0]))
        counts = reals("background", self.background)
        if len(counts) != X.shape[1]:
            raise ParameterError(f"the background counts {len(counts)} words, the documents {X.shape[1]}")
        return counts

    def _set_background(self, statistics: ClassStatistics) -> None:
        assert statistics.background is not None
        self.theta_GE_ = general_english(statistics.background, self.beta)
        self._ratio = log_ratio_weights(self.theta_GE_, self.lam)

    def _cross_entropy(self, X: Any, alpha: Floats) -> Floats:
        """Σ_{j∈D} α_j^T log(1 + λθ̂_j/((1-λ)θ^GE_j)), the document's part of (4.29); α is vocabulary × classes."""
        return np.asarray(log_ratio_matrix(X, self._ratio) @ alpha)


class SmoothedDirichletClassifier(LogRatioClassifier):
    """Classes as Smoothed Dirichlet distributions, whose estimate is a geometric mean: one pass, closed form.

    α^T ∝ θ^GE · Π_{i∈T} (1 + λθ̂^i/((1-λ)θ^GE))^(1/N), SD (3.33), Σ_j α_j = 1.
    `rule="kl"`: -KL(α^T ‖ θ^D) = -KL(α^T ‖ θ^GE) + Σ_{j∈D} α_j^T log(1 + λθ̂_j/((1-λ)θ^GE_j)), SD (4.36).
    `rule="ce"`: its last sum alone (SD-CE). SD §4.5.2 says 'the cross-entropy term', which as printed has a class
    constant, Σ_j α_j^T log((1-λ)θ^GE_j); with it one class takes nearly every document, so it is left out.

    `S`: the scale Σ_j α_j of the density, by which log densities differ: log P(D|T) = S·rule + const(D), by (3.25)
    with S·α^T. SD sets S = 1, since it changes neither the estimate nor, under the uniform prior, the decision. It does
    decide how sharp `predict_proba` is and what a document counts for against an unequal prior, and with S = 1 every
    posterior is nearly the prior. None sets it from the statistics: training documents then have a log density under
    their own class that is on average `MARGIN` above that under the other classes. SD-CE is scaled alike.

    Attributes: `alpha_`, classes × vocabulary; `theta_GE_`; `S_`, the scale used; `class_log_prior_`; `statistics_`.
    """

    def __init__(
        self,
        lam: float = 1e-4,
        beta: float = 0.1,
        rule: str = "kl",
        prior: str | npt.ArrayLike = "uniform",
        S: float | None = None,
        background: npt.ArrayLike | None = None,
    ) -> None:
        self.lam = lam
        self.beta = beta
        self.rule = rule
        self.prior = prior
        self.S = S
        self.background = background

    @property
    def alpha_(self) -> Floats:
        """α^T, classes × vocabulary; each row sums to 1."""
        alpha: Floats = self._alpha.T
        return alpha

    def _estimate(self, statistics: ClassStatistics) -> None:
        if self.rule not in ("kl", "ce"):
            raise ParameterError(f"the rule is 'kl' or 'ce', not {self.rule!r}")
        self._set_background(statistics)
        # Vocabulary × classes: a document's product then reads whole rows.
        self._alpha = np.zeros(statistics.sums.T.shape)
        self._kl_to_GE, own = kernels.geometric_means(statistics.sums, statistics.n_docs, self.theta_GE_, self._alpha)
        self.S_ = self._scale_for_margin(statistics, own) if self.S is None else positive("S", self.S)

    def _scale_for_margin(self, statistics: ClassStatistics, own: Floats) -> float:
        """The S by which a class's own documents stand `MARGIN` above other classes' models; 1 if no class differs.

        `own`: Σ_j α_j^T log(1 + ·) averaged over the class's documents. Its average over all pairs of a model and a
        class of documents is a product of averages. KL(α^T ‖ θ^GE) cancels in the difference.
        """
        seen = statistics.n_docs > 0
        n, share = int(seen.sum()), seen / seen.sum()
        mean_log = (share / np.where(seen, statistics.n_docs, 1)) @ statistics.sums
        across = float(mean_log @ self._alpha @ share)
        margin = (own @ share - across) * n / max(n - 1, 1)
        return float(MARGIN / margin) if margin > NO_MARGIN * across else 1.0

    def _log_density(self, X: Any) -> Floats:
        evidence = self._log_evidence(X)
        if self.rule == "kl":
            evidence[np.diff(X.indptr) > 0] -= self.S_ * self._kl_to_GE
        return evidence

    def _log_evidence(self, X: Any) -> Floats:
        evidence = self._cross_entropy(X, self._alpha)
        evidence *= self.S_
        return evidence


def log_ratio_matrix(X: Any, ratio: Floats) -> Any:
    """log(1 + λθ̂/((1-λ)θ^GE)) of the non-zero counts: a matrix with the non-zeros of `X`, whose indices it shares."""
    data = np.empty(X.nnz)
    kernels.scaled_shares(X.indptr, X.indices, X.data, ratio, data)
    np.log1p(data, out=data)  # NumPy's is several numbers at once
    return type(X)((data, X.indices, X.indptr), shape=X.shape, copy=False)
