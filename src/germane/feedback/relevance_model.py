"""The Relevance Model of Lavrenko & Croft (2001), SD §5.1; interpolated with the query it is known as RM3."""

from dataclasses import dataclass, field

from germane.arrays import Floats
from germane.feedback.evidence import Evidence
from germane.feedback.means import arithmetic_mean
from germane.feedback.method import FeedbackMethod, RankingChoice, tempered
from germane.feedback.weights import log_likelihoods, weigh
from germane.lm import MLE, Dirichlet, LanguageModel, Smoothing
from germane.lm.parameters import positive


@dataclass(frozen=True, kw_only=True)
class RM3(FeedbackMethod):
    """θ^R = Σ_i W(i)·θ^i with W(i) ∝ P(Q|θ^i)^K, SD (5.4), (5.8); ranked by T-cross-entropy (5.9).

    Three smoothings, as in SD §5.3.4: `weighting` for P(Q|θ^i) (its λ_Q, which also ranks first), `smoothing` for the
    averaged θ^i (λ_M; none by default), `final` for the last ranking (λ_CE). `tempering` is K: 1 as printed.
    Interpolated with the query by `query_weight` (Abdul-Jaleel et al. 2004). The defaults were chosen once, on seven
    collections together: `reproduce/feedback-untuned.toml`.
    """

    n_docs: int = 15
    n_terms: int | None = 80
    query_weight: float = 0.25
    weighting: Smoothing = field(default_factory=lambda: Dirichlet(1000.0))
    smoothing: Smoothing = field(default_factory=MLE)
    first: RankingChoice = field(default_factory=lambda: Dirichlet(1000.0))
    final: RankingChoice = field(default_factory=lambda: Dirichlet(1000.0))
    tempering: float = 0.5
    negative_weight: float = 0.25

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("tempering", self.tempering)

    def document_weights(self, evidence: Evidence) -> Floats:
        """(5.8), tempered; marks as in `weights.weigh`."""
        scores = tempered(log_likelihoods(evidence, self.weighting), self.tempering)
        return weigh(evidence, scores, self.unmarked)

    def estimate(self, evidence: Evidence, weights: Floats) -> LanguageModel:
        """(5.2)."""
        return arithmetic_mean(evidence, weights, self.smoothing)


@dataclass(frozen=True, kw_only=True)
class RM1(RM3):
    """The Relevance Model alone: RM3 with a query weight of 0."""

    query_weight: float = 0.0
