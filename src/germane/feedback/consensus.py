"""Our own rule: what two rankings agree on, in the words that tell documents apart."""

import math
from dataclasses import dataclass, field

import numpy as np

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.feedback.evidence import Evidence
from germane.feedback.means import mean_excess, sparse
from germane.feedback.method import FeedbackMethod, RankingChoice
from germane.feedback.weights import share_out
from germane.lm import Dirichlet, LanguageModel, Smoothing
from germane.lm.parameters import fraction, positive


@dataclass(frozen=True, kw_only=True)
class Consensus(FeedbackMethod):
    """A Relevance Model over two first rankings, its words weighed by √idf, ranked by the engine's own model.

    W(D) = ½·w_1(D) + ½·w_2(D), where w_i ∝ exp(K_i·score_i) over the n_docs best of `first` (query likelihood) and of
    `second` (the engine's own), 0 for a document that is not among them: each ranking corrects the other's accidents.
    The estimate is t(w) ∝ √idf(w)·Σ_D W(D)·c(w,D)/(|D| + 20): the 20 keeps very short documents from dominating.
    The topic is b·q + (1-b)·t with q ∝ f_w·√idf(w) and b = min(query_weight·√|Q|, most_query_weight): by default ½ for
    every query, with a smaller `query_weight` more for a long one. How the constants were chosen: docs/defaults.md.
    """

    n_docs: int = 15
    n_terms: int | None = 100
    query_weight: float = 0.5
    first: RankingChoice = field(default_factory=lambda: Dirichlet(300.0))
    second: RankingChoice = "adaptive"
    final: RankingChoice = "adaptive"
    tempering: float = 0.7
    second_tempering: float = 0.1
    smoothing: Smoothing = field(default_factory=lambda: Dirichlet(20.0))
    most_query_weight: float = 0.5
    negative_weight: float = 0.25

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("tempering", self.tempering)
        positive("second_tempering", self.second_tempering)
        fraction("most_query_weight", self.most_query_weight)

    @property
    def first_rankings(self) -> tuple[RankingChoice, ...]:
        return (self.first, self.second)

    def document_weights(self, evidence: Evidence) -> Floats:
        """Half of each ranking's softmax; marks as in `weights.share_out`."""
        if evidence.scores is None or len(evidence.scores) != 2:
            raise ParameterError("Consensus needs the documents' scores in both first rankings")
        first, second = (
            _softmax(tempering * scores)
            for tempering, scores in zip((self.tempering, self.second_tempering), evidence.scores, strict=True)
        )
        return share_out(evidence, (first + second) / 2.0, self.unmarked)

    def estimate(self, evidence: Evidence, weights: Floats) -> LanguageModel:
        """t(w), as a distribution."""
        mean = mean_excess(evidence, weights, self.smoothing) * evidence.root_idf
        total = float(mean.sum())
        return sparse(mean / total, 0.0) if total > 0.0 else sparse(mean, 1.0)

    def query_topic(self, evidence: Evidence) -> LanguageModel:
        """q(w) ∝ f_w·√idf(w)."""
        root = evidence.root_idf.item
        return LanguageModel.of_weights({word: f * root(word) for word, f in evidence.query.items()})

    def unmarked_share(self, evidence: Evidence) -> float:
        """b."""
        return min(self.query_weight * math.sqrt(evidence.query_length), self.most_query_weight)


def _softmax(scores: Floats) -> Floats:
    """exp(scores) divided by their sum; -inf has none. All zeros if no score is finite."""
    most = scores.max(initial=-np.inf)
    if not math.isfinite(most):
        return np.zeros(len(scores))
    exponentials = np.exp(scores - most)
    return np.asarray(exponentials / exponentials.sum())
