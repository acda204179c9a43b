"""Clustering: documents as a mixture of distributions, as scikit-learn's clusterers.

EM is that of `lm.distributions.mixtures`. SD §7.1 proposes SD components; Zhong & Ghosh (2005) compare others.
"""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from germane.arrays import Floats, Integers
from germane.classify.background import general_english, log_ratio_weights
from germane.classify.generative import counts_of
from germane.classify.multinomial import laplace
from germane.classify.smoothed_dirichlet import log_ratio_matrix
from germane.errors import ParameterError
from germane.lm.distributions.mixtures import SmoothedDirichlets, cluster
from germane.lm.parameters import open_fraction, positive, whole, wholes


class DocumentMixture(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """EM over counts, from a random partition into parts of equal size, until hardly a document changes its cluster.

    A distribution supplies `_prepare`, `_m_step` and `_log_density`. Attributes: `labels_`, the likeliest cluster of
    each document; `weights_`, π; `log_likelihood_`, the mean log P(D) before each M step but the first, up to constants
    of the documents; `n_iter_`. A cluster may be left without documents.
    """

    n_clusters: int
    max_iter: int
    tol: float
    random_state: Any

    def fit(self, X: Any, y: Any = None, *, start: npt.ArrayLike | None = None) -> Self:
        """Learn from counts `X` (documents × vocabulary, sparse or dense); `y` is not looked at.

        `start`: the number of each document's cluster to begin with, in the place of a drawn one.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        X = counts_of(X, type(self).__name__)
        n_docs, n_clusters = X.shape[0], whole("n_clusters", self.n_clusters, least=1)
        if n_docs < n_clusters:
            raise ParameterError(f"n_samples={n_docs} documents cannot be put in {n_clusters} clusters")
        whole("max_iter", self.max_iter, least=1)
        self._prepare(X)
        if start is None:
            first = check_random_state(self.random_state).permutation(n_docs) % n_clusters
        else:
            first = wholes("start", start)
            if len(first) != n_docs or first.max() >= n_clusters:
                raise ParameterError(f"start is a cluster below {n_clusters} for each of {n_docs} documents")
        found = cluster(
            first, n_clusters, self._m_step, lambda: self._log_density(X), max_iter=self.max_iter, tol=self.tol
        )
        self.labels_, self.weights_, self.log_likelihood_ = found
        self.n_iter_ = len(self.log_likelihood_)
        self._forget()
        return self

    def responsibilities(self, X: Any) -> Floats:
        """P(k|D), documents × clusters."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        joint = self._log_density(counts_of(X, type(self).__name__)) + np.log(self.weights_)
        return np.asarray(np.exp(joint - logsumexp(joint, axis=1, keepdims=True)))

    def predict(self, X: Any) -> Integers:
        """The likeliest cluster of each document."""
        return np.asarray(self.responsibilities(X).argmax(axis=1), np.int64)

    @abstractmethod
    def _prepare(self, X: Any) -> None:
        """What the steps need of the documents."""

    @abstractmethod
    def _m_step(self, shares: Floats, weight: Floats) -> None:
        """The components from the documents' shares in them, and their sums."""

    @abstractmethod
    def _log_density(self, X: Any) -> Floats:
        """log P(D|α^k), documents × clusters; 0 for an empty document."""

    @abstractmethod
    def _forget(self) -> None:
        """Let go of what `_prepare` kept."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


class SmoothedDirichletMixture(DocumentMixture):
    """A mixture of Smoothed Dirichlet distributions, SD §7.1.

    `rule`, `S` and the formulas: `lm.distributions.mixtures.SmoothedDirichlets`, over θ^GE (4.10) of the documents.
    "ce", the default, gives far better clusters than "kl", the density itself (docs/classification.md).

    Attributes: `alpha_`, clusters × vocabulary; `theta_GE_`; `S_`.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        lam: float = 0.01,
        beta: float = 0.1,
        rule: str = "ce",
        S: float | None = None,
        max_iter: int = 100,
        tol: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.beta = beta
        self.rule = rule
        self.S = S
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _prepare(self, X: Any) -> None:
        counts = np.asarray(X.sum(axis=0), np.float64).ravel()
        self.theta_GE_ = general_english(counts, positive("beta", self.beta))
        self._ratio = log_ratio_weights(self.theta_GE_, open_fraction("lam", self.lam))
        self._components = SmoothedDirichlets(log_ratio_matrix(X, self._ratio), self.theta_GE_, self.rule, self.S)
        self._fitting = True

    def _m_step(self, shares: Floats, weight: Floats) -> None:
        self._components.m_step(shares, weight)

    @property
    def alpha_(self) -> Floats:
        """α^k, clusters × vocabulary; each row sums to 1."""
        return self._components.alpha

    @property
    def S_(self) -> float:
        """The scale in use."""
        return self._components.scale

    def _log_density(self, X: Any) -> Floats:
        return self._components.log_density(None if self._fitting else log_ratio_matrix(X, self._ratio))

    def _forget(self) -> None:
        self._components.forget()
        self._fitting = False


class MultinomialMixture(DocumentMixture):
    """A mixture of multinomials, log P(D|θ^k) = Σ_j f_j log θ^k_j, with θ^k_j = (Σ_d r_dk f_j^d + δ)/(… + Vδ).

    Nigam et al. (2000) without labels; Zhong & Ghosh (2005). With δ the posterior under a Dirichlet(1 + δ) rises, not
    the likelihood alone. Attributes: `theta_`, clusters × vocabulary.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        delta: float = 0.1,
        max_iter: int = 100,
        tol: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.delta = delta
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _prepare(self, X: Any) -> None:
        positive("delta", self.delta)
        self._by_word = X.T.tocsr()

    def _m_step(self, shares: Floats, weight: Floats) -> None:
        self.theta_ = laplace(np.asarray(self._by_word @ shares).T, self.delta)

    def _log_density(self, X: Any) -> Floats:
        return np.asarray(X @ np.log(self.theta_).T)

    def _forget(self) -> None:
        self._by_word = None
