"""Rocchio feedback in the vector space (Rocchio 1971; Salton & Buckley 1990)."""

from dataclasses import dataclass

import numpy as np

from germane.arrays import Floats
from germane.feedback.evidence import Evidence
from germane.feedback.means import sparse
from germane.feedback.method import FeedbackMethod, RankingChoice
from germane.feedback.weights import weigh
from germane.lm import LanguageModel, idf


@dataclass(frozen=True, kw_only=True)
class Rocchio(FeedbackMethod):
    """q' = λ·q/|q| + (1-λ)·r/|r| - γ·n/|n|, where r and n are the means over relevant and rejected documents of v_D.

    v_D(w) = (1 + log c)/‖D‖, ‖D‖² = Σ_w ((1 + log c)·idf(w))²; |x| is the sum of a vector's numbers, all ≥ 0. The
    TF-IDF ranking multiplies q' by idf once as the query's own and once as the document's, so a document's unit vector
    is v_D·idf. λ is `query_weight`, γ `negative_weight`. Departure: the source adds the vectors as they are; we divide
    each by its sum, so that λ is the query's share of the whole whatever the number of words.
    """

    n_docs: int = 10
    n_terms: int | None = 50
    query_weight: float = 0.5
    first: RankingChoice = "tfidf"
    final: RankingChoice = "tfidf"
    negative_weight: float = 0.25

    def document_weights(self, evidence: Evidence) -> Floats:
        """Equal; marks as in `weights.weigh`."""
        return weigh(evidence, np.zeros(len(evidence)), self.unmarked)

    def estimate(self, evidence: Evidence, weights: Floats) -> LanguageModel:
        """The weighted mean of unit vectors, as a distribution."""
        log_counts = 1.0 + np.log(evidence.counts)
        squares = evidence.per_document((log_counts * idf(evidence.n_docs, evidence.df)[evidence.ids]) ** 2)
        norms = np.sqrt(np.where(squares > 0, squares, 1.0))
        vector = evidence.per_word((weights / norms)[evidence.document_of] * log_counts)
        total = vector.sum()
        return sparse(vector / total, 0.0) if total > 0 else sparse(vector, 1.0)
