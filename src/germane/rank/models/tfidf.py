"""The vector space model with tf-idf weights."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from germane.arrays import Floats
from germane.lm import idf
from germane.rank.kinds import LOG_COUNT
from germane.rank.models.base import Documents, RankingModel, WordSums
from germane.rank.plan import Collection, Plan, QueryTerm


@dataclass(frozen=True)
class TfIdf(RankingModel):
    """Cosine of (1 + log c)·idf(w) weights, idf(w) = log(1 + N/df); the Lecture's vector space baseline.

    The query's own norm is left out: it does not change the ranking.
    """

    def plan(self, terms: Sequence[QueryTerm], collection: Collection) -> Plan:
        weight = [term.weight * float(idf(collection.n_docs, term.df)) ** 2 for term in terms]
        return Plan.ordered(LOG_COUNT, terms, weight, strength=weight)

    def word_sums(self) -> WordSums:
        return WordSums.SQUARED_TFIDF

    def document_norm(self, documents: Documents) -> Floats:
        """1/√Σ_w ((1 + log c)·idf)²; without words next to nothing, but above 0, as the kernel expects."""
        nothing = np.full(len(documents.sums), np.finfo(np.float64).tiny)
        return np.divide(1.0, np.sqrt(documents.sums), out=nothing, where=documents.sums > 0)
