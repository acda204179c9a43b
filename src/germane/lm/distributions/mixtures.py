"""Mixtures of distributions over documents, learnt by EM without labels, and the Smoothed Dirichlets as components.

P(D) = Σ_k π_k P(D|α^k). E step: r_dk = π_k P(D|α^k)/P(D). M step: π_k = Σ_d r_dk/n, α^k the estimate of the
distribution from documents that weigh r_dk.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from germane.arrays import Floats, Integers
from germane.deadline import look
from germane.errors import ParameterError
from germane.lm.parameters import positive

LEAST_WEIGHT = 1e-10
"""Documents' worth of weight that a component has at least, so that an empty one has a model: the background's."""
MARGIN = 12.0
"""Average log odds of a training document's own class: about the likeliest on held-out 20 Newsgroups, at any λ."""
NO_MARGIN = 1e-12
"""The share of its own class's value below which a margin is rounding error."""


class Clusters(NamedTuple):
    """The likeliest component of each document, π, and the mean log P(D) before each M step but the first."""

    labels: Integers
    weights: Floats
    log_likelihood: Floats


def cluster(
    start: Integers,
    n_clusters: int,
    m_step: Callable[[Floats, Floats], None],
    log_density: Callable[[], Floats],
    *,
    max_iter: int = 100,
    tol: float = 1e-3,
) -> Clusters:
    """EM from a partition, until no more than the share `tol` of the documents change their component.

    `m_step` estimates the components from the documents' shares in them (documents × components) and their sums;
    `log_density` gives log P(D|α^k), documents × components.
    """
    shares = np.zeros((len(start), n_clusters))
    shares[np.arange(len(start)), start] = 1.0
    labels = start.astype(np.int64)
    likelihood: list[float] = []
    for _ in range(max_iter):
        look()
        weight = shares.sum(axis=0) + LEAST_WEIGHT
        weights = weight / weight.sum()
        m_step(shares, weight)
        joint = log_density() + np.log(weights)
        whole_of = logsumexp(joint, axis=1)
        shares = np.exp(joint - whole_of[:, None])
        likelihood.append(float(whole_of.mean()))
        before, labels = labels, joint.argmax(axis=1).astype(np.int64)
        if (labels != before).sum() <= tol * len(start):
            break
    return Clusters(labels, weights, np.array(likelihood))


class SmoothedDirichlets:
    """Smoothed Dirichlet components, SD §7.1, over documents whose log(1 + λθ̂/((1-λ)p_C)) are `log_ratios`.

    α^k ∝ p_C · Π_d (1 + λθ̂^d/((1-λ)p_C))^(r_dk/Σ_d r_dk): the weighted geometric mean, SD (3.33), which maximises the
    expected log density (3.25) of any scale S.
    `rule="kl"`: log P(D|α^k) = -S·KL(α^k ‖ θ^D) + const(D), the density itself: EM, whose likelihood never falls.
    `rule="ce"`: S·Σ_{j∈D} α_j^k log(1 + λθ̂_j/((1-λ)p_C(j))), SD-CE's evidence in its place, as SD §4.5.2 classifies. No
    likelihood then, and no proof that it rises.
    `S`: the scale Σα. None sets it anew at each step so that documents stand on average `MARGIN` above the other
    components, as `SmoothedDirichletClassifier` does; then the likelihoods of two steps cannot be compared.

    Attributes: `alpha`, components × vocabulary; `scale`, the S in use.
    """

    def __init__(self, log_ratios: Any, p_C: Floats, rule: str = "ce", S: float | None = None) -> None:
        if rule not in ("kl", "ce"):
            raise ParameterError(f"the rule is 'kl' or 'ce', not {rule!r}")
        self._rule, self._S = rule, None if S is None else positive("S", S)
        self._log_p_C = np.log(p_C)
        self._ratios, self._by_word = log_ratios, log_ratios.T.tocsr()

    def m_step(self, shares: Floats, weight: Floats) -> None:
        """The components from the documents' shares in them, and the sums of these."""
        log_alpha = self._log_p_C + np.asarray(self._by_word @ shares).T / weight[:, None]
        log_alpha -= logsumexp(log_alpha, axis=1, keepdims=True)
        self.alpha = np.exp(log_alpha)
        self._kl_to_p_C = (self.alpha * (log_alpha - self._log_p_C)).sum(axis=1)
        self.scale = self._for_margin(shares) if self._S is None else self._S

    def log_density(self, log_ratios: Any = None) -> Floats:
        """log P(D|α^k) up to a constant of D, documents × components, of others where they are given; 0 if empty."""
        return self.scale * self._evidence(self._ratios if log_ratios is None else log_ratios)

    def forget(self) -> None:
        """Let go of the documents."""
        self._ratios = self._by_word = None

    def _for_margin(self, shares: Floats) -> float:
        evidence = self._evidence(self._ratios)
        n_docs, n_clusters = shares.shape
        own, all_of = float((shares * evidence).sum()) / n_docs, float(evidence.sum()) / n_docs
        margin = own - (all_of - own) / max(n_clusters - 1, 1)
        return MARGIN / margin if n_clusters > 1 and margin > NO_MARGIN * abs(own) else 1.0

    def _evidence(self, log_ratios: Any) -> Floats:
        evidence = np.asarray(log_ratios @ self.alpha.T)
        if self._rule == "kl":
            evidence[np.diff(log_ratios.indptr) > 0] -= self._kl_to_p_C
        return evidence
