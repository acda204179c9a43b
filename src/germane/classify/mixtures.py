"""Clustering: documents as a mixture of distributions, learnt by EM without labels, as scikit-learn's clusterers.

P(D) = Σ_k π_k P(D|α^k). E step: r_dk = π_k P(D|α^k)/P(D). M step: π_k = Σ_d r_dk/n, α^k the estimate of the
distribution from documents that weigh r_dk. SD §7.1 proposes SD components; Zhong & Ghosh (2005) compare others.
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
from germane.classify.smoothed_dirichlet import MARGIN, NO_MARGIN, log_ratio_matrix
from germane.errors import ParameterError
from germane.lm.parameters import open_fraction, positive, whole, wholes

LEAST_WEIGHT = 1e-10
"""Documents' worth of weight that a component has at least, so that an empty one has a model: the background's."""


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
        shares = np.zeros((n_docs, n_clusters))
        shares[np.arange(n_docs), first] = 1.0
        self.labels_ = first.astype(np.int64)
        likelihood: list[float] = []
        for _ in range(self.max_iter):
            weight = shares.sum(axis=0) + LEAST_WEIGHT
            self.weights_ = weight / weight.sum()
            self._m_step(shares, weight)
            joint = self._log_density(X) + np.log(self.weights_)
            whole_of = logsumexp(joint, axis=1)
            shares = np.exp(joint - whole_of[:, None])
            likelihood.append(float(whole_of.mean()))
            labels = joint.argmax(axis=1)
            moved = int((labels != self.labels_).sum())
            self.labels_ = labels.astype(np.int64)
            if moved <= self.tol * n_docs:
                break
        self.log_likelihood_, self.n_iter_ = np.array(likelihood), len(likelihood)
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

    α^k ∝ θ^GE · Π_d (1 + λθ̂^d/((1-λ)θ^GE))^(r_dk/Σ_d r_dk): the weighted geometric mean, SD (3.33), which maximises the
    expected log density (3.25) of any scale S.
    `rule="kl"`: log P(D|α^k) = -S·KL(α^k ‖ θ^D) + const(D), the density itself: EM, whose likelihood never falls.
    `rule="ce"`: S·Σ_{j∈D} α_j^k log(1 + λθ̂_j/((1-λ)θ^GE_j)), SD-CE's evidence in its place, as SD §4.5.2 classifies. No
    likelihood then, and no proof that it rises; but far better clusters (docs/classification.md).
    `S`: the scale Σα. None sets it anew at each step so that documents stand on average `MARGIN` above the other
    clusters, as `SmoothedDirichletClassifier` does; then the likelihoods of two steps cannot be compared.

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
        if self.rule not in ("kl", "ce"):
            raise ParameterError(f"the rule is 'kl' or 'ce', not {self.rule!r}")
        if self.S is not None:
            positive("S", self.S)
        counts = np.asarray(X.sum(axis=0), np.float64).ravel()
        self.theta_GE_ = general_english(counts, positive("beta", self.beta))
        self._ratio = log_ratio_weights(self.theta_GE_, open_fraction("lam", self.lam))
        self._logs = log_ratio_matrix(X, self._ratio)
        self._by_word = self._logs.T.tocsr()

    def _m_step(self, shares: Floats, weight: Floats) -> None:
        log_alpha = np.log(self.theta_GE_) + np.asarray(self._by_word @ shares).T / weight[:, None]
        log_alpha -= logsumexp(log_alpha, axis=1, keepdims=True)
        self.alpha_ = np.exp(log_alpha)
        self._kl_to_GE = (self.alpha_ * (log_alpha - np.log(self.theta_GE_))).sum(axis=1)
        self.S_ = self._scale(shares) if self.S is None else float(self.S)

    def _scale(self, shares: Floats) -> float:
        evidence = self._evidence(self._logs)
        n_docs, n_clusters = shares.shape
        own, all_of = float((shares * evidence).sum()) / n_docs, float(evidence.sum()) / n_docs
        margin = own - (all_of - own) / max(n_clusters - 1, 1)
        return MARGIN / margin if n_clusters > 1 and margin > NO_MARGIN * abs(own) else 1.0

    def _evidence(self, logs: Any) -> Floats:
        evidence = np.asarray(logs @ self.alpha_.T)
        if self.rule == "kl":
            evidence[np.diff(logs.indptr) > 0] -= self._kl_to_GE
        return evidence

    def _log_density(self, X: Any) -> Floats:
        logs = self._logs if self._logs is not None else log_ratio_matrix(X, self._ratio)
        return self.S_ * self._evidence(logs)

    def _forget(self) -> None:
        self._logs = self._by_word = None


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
