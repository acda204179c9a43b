"""The Relevance Model of Lavrenko & Croft (2001), SD §5.1; interpolated with the query it is known as RM3."""

from dataclasses import dataclass, field

from germane.arrays import Floats
from germane.feedback.evidence import Evidence
from germane.feedback.means import arithmetic_mean
from germane.feedback.method import FeedbackMethod, RankingChoice
from germane.feedback.weights import likelihood_weights
from germane.lm import MLE, Dirichlet, LanguageModel, Smoothing


@dataclass(frozen=True, kw_only=True)
class RM3(FeedbackMethod):
    """θ^R = Σ_i W(i)·θ^i with W(i) ∝ P(Q|θ^i)^K, SD (5.4), (5.8); ranked by T-cross-entropy (5.9).

    Three smoothings, as in SD §5.3.4: `weighting` for P(Q|θ^i) (its λ_Q), `smoothing` for the averaged θ^i (λ_M; none
    by default), `final` for the last ranking (λ_CE; by default both rankings are the engine's own). `tempering` is K: 1
    as printed. Interpolated with the query by `query_weight` (Abdul-Jaleel et al. 2004). How the defaults were
    chosen: docs/defaults.md.
    """

    n_docs: int = 15
    n_terms: int | None = 100
    query_weight: float = 0.5
    weighting: Smoothing = field(default_factory=lambda: Dirichlet(300.0))
    smoothing: Smoothing = field(default_factory=MLE)
    first: RankingChoice = "adaptive"
    final: RankingChoice = "adaptive"
    tempering: float = 0.5
    negative_weight: float = 0.25

    def document_weights(self, evidence: Evidence) -> Floats:
        """(5.8), tempered; marks as in `weights.weigh`."""
        return likelihood_weights(evidence, self.weighting, self.tempering, self.unmarked)

    def estimate(self, evidence: Evidence, weights: Floats) -> LanguageModel:
        """(5.2)."""
        return arithmetic_mean(evidence, weights, self.smoothing)


@dataclass(frozen=True, kw_only=True)
class RM1(RM3):
    """The Relevance Model alone: RM3 with a query weight of 0."""

    query_weight: float = 0.0
