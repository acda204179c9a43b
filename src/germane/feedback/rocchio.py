"""Rocchio feedback in the vector space (Rocchio 1971; Salton & Buckley 1990)."""

from dataclasses import dataclass, field

import numpy as np

from germane.arrays import Floats
from germane.feedback.evidence import Evidence
from germane.feedback.means import sparse
from germane.feedback.method import FeedbackMethod, RankingChoice
from germane.feedback.weights import likelihood_weights
from germane.lm import Dirichlet, LanguageModel, Smoothing, idf


@dataclass(frozen=True, kw_only=True)
class Rocchio(FeedbackMethod):
    """q' = λ·q/|q| + (1-λ)·r/|r| - γ·n/|n|, where r and n are the means over relevant and rejected documents of v_D.

    v_D(w) = (1 + log c)/‖D‖, ‖D‖² = Σ_w ((1 + log c)·idf(w))²; |x| is the sum of a vector's numbers, all ≥ 0. With
    `first` = `final` = "tfidf" both rankings are in the vector space, as the source has it: that ranking multiplies q'
    by idf once as the query's own and once as the document's, so a document's unit vector is v_D·idf. λ is
    `query_weight`, γ `negative_weight`. Departures: the source adds the vectors as they are; we divide each by its
    sum, so that λ is the query's share of the whole whatever the number of words. It counts all documents alike
    (`tempering` = 0); here they count by the query's likelihood, as in `RM3`, and the engine's own model ranks.
    """

    n_docs: int = 15
    n_terms: int | None = 100
    query_weight: float = 0.5
    weighting: Smoothing = field(default_factory=lambda: Dirichlet(300.0))
    tempering: float = 0.5
    first: RankingChoice = "adaptive"
    final: RankingChoice = "adaptive"
    negative_weight: float = 0.25

    def document_weights(self, evidence: Evidence) -> Floats:
        """By the query's likelihood, tempered; marks as in `weights.weigh`."""
        return likelihood_weights(evidence, self.weighting, self.tempering, self.unmarked)

    def estimate(self, evidence: Evidence, weights: Floats) -> LanguageModel:
        """The weighted mean of unit vectors, as a distribution."""
        log_counts = 1.0 + np.log(evidence.counts)
        squares = evidence.per_document((log_counts * idf(evidence.n_docs, evidence.df)[evidence.ids]) ** 2)
        norms = np.sqrt(np.where(squares > 0, squares, 1.0))
        vector = evidence.per_word((weights / norms)[evidence.document_of] * log_counts)
        total = vector.sum()
        return sparse(vector / total, 0.0) if total > 0 else sparse(vector, 1.0)
