"""Model-based feedback, Zhai & Lafferty (2001): what the documents say beyond what the collection explains."""

from dataclasses import dataclass, field

import numpy as np

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.feedback.evidence import Evidence
from germane.feedback.means import sparse
from germane.feedback.method import FeedbackMethod, RankingChoice
from germane.feedback.weights import likelihood_weights
from germane.lm import Dirichlet, LanguageModel, Smoothing
from germane.lm.parameters import fraction, whole

CONVERGED = 1e-8


@dataclass(frozen=True, kw_only=True)
class Mixture(FeedbackMethod):
    """θ^F maximises Σ_w c(w;F)·log((1-noise)·θ^F(w) + noise·p_C(w)), c(w;F) being the documents' weighted counts.

    EM: t(w) = (1-noise)·θ^F / ((1-noise)·θ^F + noise·p_C), θ^F ∝ c·t. Departure: the source counts all documents of the
    first ranking alike (`tempering` = 0); here they count by the query's likelihood, as in `RM3`.
    Limit case: noise = 0 is the maximum likelihood estimate of the documents put together.
    """

    n_docs: int = 15
    n_terms: int | None = 100
    query_weight: float = 0.6
    weighting: Smoothing = field(default_factory=lambda: Dirichlet(300.0))
    tempering: float = 0.5
    first: RankingChoice = "adaptive"
    final: RankingChoice = "adaptive"
    noise: float = 0.5
    iterations: int = 50
    negative_weight: float = 0.25

    def __post_init__(self) -> None:
        super().__post_init__()
        fraction("noise", self.noise)
        if self.noise == 1.0:
            raise ParameterError("noise = 1 explains everything by the collection and leaves no model to estimate")
        whole("iterations", self.iterations, least=1)

    def document_weights(self, evidence: Evidence) -> Floats:
        """By the query's likelihood, tempered; marks as in `weights.weigh`."""
        return likelihood_weights(evidence, self.weighting, self.tempering, self.unmarked)

    def estimate(self, evidence: Evidence, weights: Floats) -> LanguageModel:
        """EM from θ^F ∝ c(w;F) until no probability moves by more than 1e-8."""
        counts = evidence.per_word(weights[evidence.document_of] * evidence.counts)
        if not counts.sum() > 0:
            return sparse(counts, 1.0)
        theta = counts / counts.sum()
        for _ in range(self.iterations):
            mixed = (1.0 - self.noise) * theta + self.noise * evidence.p_C
            found = counts * (1.0 - self.noise) * theta / np.where(mixed > 0, mixed, 1.0)
            found /= found.sum()
            moved, theta = np.abs(found - theta).max(), found
            if moved < CONVERGED:
                break
        return sparse(theta, 0.0)
