"""EM of Smoothed Dirichlet distributions with explicit marks: one for each class, SD ch. 5, or several, as MMEM has."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import log_softmax

from germane.arrays import Floats, Integers, Labels
from germane.lm.distributions import SmoothedDocuments
from germane.lm.distributions.mixtures import LEAST_WEIGHT, SmoothedDirichlets
from germane.lm.parameters import open_fraction, positive, whole
from germane.refine.calibration import Calibration
from germane.refine.em import ONE_PER_CLASS
from germane.refine.method import Contributions, Estimate, RefineMethod, linear_estimate, row_of
from germane.refine.mixture import Mixture, e_step
from germane.refine.multi_mixture import MultiMixtureAIB, topics
from germane.refine.weighting import ResultList
from germane.types import Mark


@dataclass(frozen=True, kw_only=True)
class SmoothedDirichletEM(RefineMethod):
    """P(c|d) ∝ P(c)·exp(-S·KL(θ^c‖θ^d)), θ^c the normalised geometric mean of its documents, SD (5.13), table 5.1.

    θ^d = λ·f/|d| + (1-λ)·p_C with p_C of the list itself. Relevant and rejected marks keep their class throughout. S is
    the classes' precision, the same for both (errata). Departure: no query, for a list of texts has none.
    """

    name: ClassVar[str] = "sd"
    calibration: ClassVar[Calibration] = Calibration(-1.347, 0.356, 0.226)
    lam: float = 0.9
    S: float = 50.0
    iterations: int = 10

    def __post_init__(self) -> None:
        open_fraction("lam", self.lam)
        positive("S", self.S)
        whole("iterations", self.iterations, least=0)

    def _refine(self, results: ResultList, labels: Labels) -> Estimate:
        cf = np.asarray(results.counts.sum(axis=0)).ravel()
        used = np.flatnonzero(cf)
        if not used.size:  # nothing but empty texts: no evidence
            return linear_estimate(results, lambda texts: texts.counts, cf, 0.0)
        documents = SmoothedDocuments.of(results.counts[:, used], cf[used] / cf.sum(), self.lam)
        ratios, log_p_C = documents.log_ratios, np.log(documents.p_C)[:, None]
        unmarked = (labels == Mark.UNMARKED)[:, None]
        allowed = unmarked | (labels[:, None] == ONE_PER_CLASS)
        shares = np.where(unmarked, 0.0, allowed)
        for step in range(self.iterations + 1):
            members = shares.sum(axis=0)
            # Σ_i w_i log a_i is the same for all words, so the softmax takes it out.
            log_theta = log_softmax(ratios.T @ shares / members + log_p_C, axis=0)
            theta = np.exp(log_theta)
            log_prior = np.log((1.0 + members) / (2.0 + members.sum()))
            # -S·KL(θ^c‖θ^d), less log a_d, which both classes share.
            constant = self.S * (theta * (log_p_C - log_theta)).sum(axis=0)
            if step < self.iterations:
                shares = e_step(self.S * (ratios @ theta) + constant, log_prior, allowed)
        beta = np.zeros(results.n_words)
        beta[used] = self.S * (theta[:, 1] - theta[:, 0])
        excess = _over_all_words(documents, used, results.n_words)

        def rows_of(texts: ResultList) -> Any:
            if texts is results:
                return excess
            others = SmoothedDocuments.of(texts.counts[:, used], documents.p_C, self.lam)
            return _over_all_words(others, used, results.n_words)

        return linear_estimate(results, rows_of, beta, float(np.diff(constant + log_prior)[0]))


@dataclass(frozen=True, kw_only=True)
class MultiMixtureSD(MultiMixtureAIB):
    """MMEM(AIB), Refine (10), whose components are Smoothed Dirichlets, as SD §7.1 proposes them for mixtures.

    log p(d|c) = S·Σ_{w∈d} α_w^c log(1 + λθ̂_w/((1-λ)p_C(w))), SD-CE's evidence, α^c the geometric mean of the documents
    of a component, p_C of the list itself. Beside multinomials the order is better and the decision by log-odds worse
    (docs/refine.md). `weights` are those of the clustering.
    """

    name: ClassVar[str] = "mmem-sd"
    calibration: ClassVar[Calibration] = Calibration(-1.342, 0.509, 0.263)
    lam: float = 0.1
    S: float = 1000.0

    def __post_init__(self) -> None:
        super().__post_init__()
        open_fraction("lam", self.lam)
        positive("S", self.S)

    def _refine(self, results: ResultList, labels: Labels) -> Estimate:
        cf = np.asarray(results.counts.sum(axis=0)).ravel()
        used = np.flatnonzero(cf)
        if not used.size:  # nothing but empty texts: no evidence
            return linear_estimate(results, lambda texts: texts.counts, cf, 0.0)
        start, classes = self.start(results, labels)
        documents = SmoothedDocuments.of(results.counts[:, used], cf[used] / cf.sum(), self.lam)
        components = SmoothedDirichlets(documents.log_ratios, documents.p_C, S=self.S)
        unmarked = labels == Mark.UNMARKED
        allowed = unmarked[:, None] | (labels[:, None] == classes)
        weight = np.where(unmarked, self.unlabelled_weight, 1.0)[:, None]
        shares = np.where((start >= 0)[:, None], start[:, None] == np.arange(len(classes)), 0.0)
        for step in range(self.iterations + 1):
            members = (shares * weight).sum(axis=0)
            components.m_step(shares * weight, members + LEAST_WEIGHT)
            log_prior = np.log((1.0 + members) / (len(classes) + members.sum()))
            log_likelihood = components.log_density()
            if step < self.iterations:
                shares = e_step(log_likelihood, log_prior, allowed)
        alpha = np.full((results.n_words, len(classes)), np.finfo(float).tiny)  # words of no result: never looked at
        alpha[used] = components.alpha.T
        mixture = Mixture(np.log(alpha), log_prior, classes, shares, log_likelihood + log_prior, ())
        ratios = _over_all_words(documents, used, results.n_words)

        def contributions(i: int) -> Contributions:
            words, values = row_of(ratios, i)
            return Contributions(words, self.S * values * (alpha[words] @ mixture.leaning(i)))

        def decide(texts: ResultList) -> Floats:
            others = SmoothedDocuments.of(texts.counts[:, used], documents.p_C, self.lam)
            return mixture.class_log_odds(components.log_density(others.log_ratios) + log_prior)

        return Estimate(mixture.log_odds, topics(mixture), contributions=contributions, decide=decide)


def _over_all_words(documents: SmoothedDocuments, used: Integers, n_words: int) -> Any:
    """The log ratios, log(1 + λ·f/|d| / ((1-λ)·p_C)), with the columns of the whole vocabulary."""
    ratios = documents.log_ratios
    return sparse.csr_matrix((ratios.data, used[ratios.indices], ratios.indptr), (ratios.shape[0], n_words))
