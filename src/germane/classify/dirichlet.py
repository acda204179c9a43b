"""The Dirichlet classifier: documents as smoothed proportions, drawn from a Dirichlet for each class."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from germane.arrays import Floats
from germane.classify.smoothed_dirichlet import LogRatioClassifier
from germane.classify.statistics import ClassStatistics
from germane.lm.distributions import fit_dirichlet
from germane.lm.parameters import positive


class DirichletClassifier(LogRatioClassifier):
    """log P(D|T) = -Σ_j log Γ(α_j^T) + Σ_j α_j^T log θ_j^D, SD (3.11), §4.4, with θ^D = λθ̂^D + (1-λ)θ^GE.

    Σ_j α_j^T = S for all classes. Of (4.29) only the words of the document are visited; the rest is a constant of the
    class. α^T is the maximum-likelihood estimate from the means of log θ^i, in up to `max_iter` steps or until the
    likelihood rises by less than the share `tol`.

    Attributes: `alpha_`, classes × vocabulary; `theta_GE_`; `n_iter_`, of each class; `class_log_prior_`;
    `statistics_`.
    """

    def __init__(
        self,
        S: float = 400.0,
        lam: float = 0.1,
        beta: float = 1e-2,
        prior: str | npt.ArrayLike = "uniform",
        max_iter: int = 100,
        tol: float = 1e-6,
        background: npt.ArrayLike | None = None,
    ) -> None:
        self.S = S
        self.lam = lam
        self.beta = beta
        self.prior = prior
        self.max_iter = max_iter
        self.tol = tol
        self.background = background

    @property
    def alpha_(self) -> Floats:
        """α^T, classes × vocabulary; each row sums to S."""
        alpha: Floats = self._alpha.T
        return alpha

    def _estimate(self, statistics: ClassStatistics) -> None:
        S = positive("S", self.S)
        self._set_background(statistics)
        log_background = np.log1p(-self.lam) + np.log(self.theta_GE_)
        self._alpha = np.empty(statistics.sums.T.shape)
        self.n_iter_ = np.ones(len(statistics.classes), np.int64)
        for k, (sums, n_docs) in enumerate(zip(statistics.sums, statistics.n_docs, strict=True)):
            if n_docs == 0 or len(sums) == 1:  # nothing to learn from, or nothing to learn
                self._alpha[:, k] = S * self.theta_GE_
            else:
                mean_log = sums / n_docs + log_background
                fit = fit_dirichlet(mean_log, S=S, max_iter=self.max_iter, tol=self.tol)
                self._alpha[:, k] = fit.alpha
                self.n_iter_[k] = len(fit.log_likelihoods)
        self._constant = log_background @ self._alpha - gammaln(self._alpha).sum(axis=0)

    def _log_density(self, X: Any) -> Floats:
        evidence = self._log_evidence(X)
        evidence[np.diff(X.indptr) > 0] += self._constant
        return evidence

    def _log_evidence(self, X: Any) -> Floats:
        return self._cross_entropy(X, self._alpha)
