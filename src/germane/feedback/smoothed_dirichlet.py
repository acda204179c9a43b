"""The Smoothed Dirichlet classifier with EM, SD §5.2: relevance as a class, learnt from unlabelled documents."""

from dataclasses import dataclass, field

from germane.arrays import Floats
from germane.feedback.evidence import Evidence
from germane.feedback.means import geometric_mean
from germane.feedback.method import FeedbackMethod, RankingChoice
from germane.feedback.weights import log_odds, weigh, weigh_negatives
from germane.lm import Dirichlet, JelinekMercer, LanguageModel, Smoothing
from germane.lm.parameters import fraction, positive, whole
from germane.types import Mark

ALL_BACKGROUND = LanguageModel([], [], 1.0)
"""θ^GE, general English, as a model: nothing but background."""


@dataclass(frozen=True, kw_only=True)
class SD(FeedbackMethod):
    """α^R = (S/Z)·Π_i (θ^i)^W(i) with W(i) ∝ P(R|θ^i), SD (5.13), (5.26); α^N = S·θ^GE (5.10); S = K·|Q|.

    First M-step: α^R = S·(λ_M1·θ̂^Q + (1-λ_M1)·θ^GE), (5.11), `lam_query`. E-step: posteriors with documents smoothed by
    `weighting` (λ_E1). Second M-step: the geometric mean of documents smoothed by `smoothing` (λ_M2). Ranking with
    `final` (λ_E2). `precision` is K; since only K·λ_M1 matters, λ_M1 may stay as it is. `iterations` > 1 repeats the
    E-step, with the α^R just found and documents smoothed as for the final ranking, and the M-step.
    `contrast`: rank first as table 5.1 row 2 has it, by (5.12), H(α^N, θ^D) - H(α^R, θ^D) of (5.10) and (5.11): but for
    the factor S·λ_M1 that is -H(θ̂^Q, θ^D) + H(p_C, θ^D). Otherwise by query likelihood, -H(θ̂^Q, θ^D).
    Documents marked not relevant take the place of general English: α^N is then their geometric mean.
    """

    n_docs: int = 15
    n_terms: int | None = 100
    query_weight: float = 0.5
    lam_query: float = 0.99
    weighting: Smoothing = field(default_factory=lambda: Dirichlet(300.0))
    smoothing: Smoothing = field(default_factory=lambda: JelinekMercer(0.003))
    first: RankingChoice = "adaptive"
    final: RankingChoice = "adaptive"
    precision: float = 0.5
    iterations: int = 1
    contrast: bool = False
    negative_weight: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        fraction("lam_query", self.lam_query)
        positive("precision", self.precision)
        whole("iterations", self.iterations, least=1)

    @property
    def first_background(self) -> float:
        return -1.0 if self.contrast else 0.0

    def document_weights(self, evidence: Evidence) -> Floats:
        """The posteriors of the last E-step, (5.26); marks as in `weights.weigh`."""
        S = self.precision * evidence.query_length
        against = self._non_relevant(evidence)
        relevant = evidence.query_model.interpolate(ALL_BACKGROUND, own_weight=self.lam_query)
        weights = weigh(evidence, log_odds(evidence, relevant, against, S, self.weighting), self.unmarked)
        later = self.final if isinstance(self.final, Smoothing) else self.weighting
        for _ in range(self.iterations - 1):
            if not weights.any():
                break
            relevant = self.estimate(evidence, weights)
            weights = weigh(evidence, log_odds(evidence, relevant, against, S, later), self.unmarked)
        return weights

    def estimate(self, evidence: Evidence, weights: Floats) -> LanguageModel:
        """The M-step (5.13)."""
        return geometric_mean(evidence, weights, self.smoothing)

    def against(self, evidence: Evidence, repelled: Floats) -> LanguageModel | None:
        """Without negative marks general English, (5.10), if background shares are to count in the ranking (5.12)."""
        return ALL_BACKGROUND if self.keep_background and not repelled.any() else super().against(evidence, repelled)

    def _non_relevant(self, evidence: Evidence) -> LanguageModel:
        """α^N / S: general English (5.10), or the model of the documents marked not relevant."""
        if evidence.n_marked(Mark.NOT_RELEVANT):
            return self.estimate(evidence, weigh_negatives(evidence))
        return ALL_BACKGROUND
