"""The Dirichlet compound multinomial classifier: naive Bayes with bursty words."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray
from scipy.special import gammaln

from germane.arrays import Floats
from germane.classify import kernels
from germane.classify.generative import GenerativeClassifier
from germane.lm.distributions import fit_dcm
from germane.lm.parameters import positive


class DCMClassifier(GenerativeClassifier):
    """log P(D|T) = log Γ(S)/Γ(S+|D|) + Σ_{j∈D} log Γ(α_j^T+f_j)/Γ(α_j^T), SD (4.14), (4.17).

    α^T is the class's maximum-likelihood estimate, smoothed: α^T = S(α̂^T + δ) / (Σ_j α̂_j^T + Vδ), SD (4.11). With
    `S` given it is the same for all classes, as in SD, and the terms with S cancel; with None each class has its own.
    Estimation goes over the documents many times, up to `max_iter` steps or until the likelihood rises by less than
    the share `tol`; there is no `partial_fit`.

    Attributes: `alpha_`, classes × vocabulary; `S_` and `n_iter_`, of each class; `class_log_prior_`.
    """

    def __init__(
        self,
        S: float | None = None,
        delta: float = 1e-4,
        prior: str | npt.ArrayLike = "uniform",
        max_iter: int = 100,
        tol: float = 1e-6,
    ) -> None:
        self.S = S
        self.delta = delta
        self.prior = prior
        self.max_iter = max_iter
        self.tol = tol

    @property
    def alpha_(self) -> Floats:
        """α^T, classes × vocabulary."""
        alpha: Floats = self._alpha.T
        return alpha

    def _learn(self, X: Any, number: NDArray[np.intp], weight: Floats | None) -> None:
        delta = positive("delta", self.delta)
        self._alpha = np.empty((X.shape[1], len(self.classes_)))
        self.S_ = np.empty(len(self.classes_))
        self.n_iter_ = np.empty(len(self.classes_), np.int64)
        for k in range(len(self.classes_)):
            of_class = number == k
            fit = fit_dcm(
                X[of_class],
                S=self.S,
                max_iter=self.max_iter,
                tol=self.tol,
                sample_weight=None if weight is None else weight[of_class],
            )
            self._alpha[:, k] = fit.S * (fit.alpha + delta) / (fit.S + len(fit.alpha) * delta)
            self.S_[k] = fit.S
            self.n_iter_[k] = len(fit.log_likelihoods)
        self._log_alpha = np.log(self._alpha)

    def _log_density(self, X: Any) -> Floats:
        return np.asarray(self._of_words(X) + self._of_length(X))

    def _log_evidence(self, X: Any) -> Floats:
        # With one S the part of the length is the same for all classes; with S of their own it ranks documents too.
        return np.asarray(self._of_words(X) + self._of_length(X)) if self.S is None else self._of_words(X)

    def _of_words(self, X: Any) -> Floats:
        evidence = np.empty((X.shape[0], len(self.classes_)))
        kernels.dcm_evidence(X.indptr, X.indices, X.data, self._alpha, self._log_alpha, evidence)
        return evidence

    def _of_length(self, X: Any) -> Floats:
        lengths = np.asarray(X.sum(axis=1)).reshape(-1, 1)
        return np.asarray(gammaln(self.S_) - gammaln(self.S_ + lengths))
