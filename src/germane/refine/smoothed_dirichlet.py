"""EM of two Smoothed Dirichlet distributions with explicit marks, SD ch. 5."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import log_softmax

from germane.arrays import Integers, Labels
from germane.lm.distributions import SmoothedDocuments
from germane.lm.parameters import open_fraction, positive, whole
from germane.refine.calibration import Calibration
from germane.refine.em import ONE_PER_CLASS
from germane.refine.method import Estimate, RefineMethod, linear_estimate
from germane.refine.mixture import e_step
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
        own = _over_all_words(documents, used, results.n_words)

        def rows_of(texts: ResultList) -> Any:
            if texts is results:
                return own
            others = SmoothedDocuments.of(texts.counts[:, used], documents.p_C, self.lam)
            return _over_all_words(others, used, results.n_words)

        return linear_estimate(results, rows_of, beta, float(np.diff(constant + log_prior)[0]))


def _over_all_words(documents: SmoothedDocuments, used: Integers, n_words: int) -> Any:
    """The log ratios, log(1 + λ·f/|d| / ((1-λ)·p_C)), with the columns of the whole vocabulary."""
    ratios = documents.log_ratios
    return sparse.csr_matrix((ratios.data, used[ratios.indices], ratios.indptr), (ratios.shape[0], n_words))
