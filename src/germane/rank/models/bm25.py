"""BM25; and the default ranking, an adaptive BM25 whose parameters come from the collection and from each word."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from germane.lm.parameters import bounded, fraction, number, positive
from germane.rank.kinds import SATURATION
from germane.rank.models.base import TermwiseModel
from germane.rank.models.term_formulas import BURSTS, TermFormula
from germane.rank.plan import Collection, Plan

FROM_LENGTHS = 0.0
"""The k1 that stands for the one of `saturation`."""
LEAST_K1, MOST_K1 = 0.5, 2.0
LARGEST_POWER = 10.0


def saturation(average_length: float) -> float:
    """k1 = √avgdl/5, between ½ and 2.

    A word that comes back says little in a title and much in an abstract, where there is room for what is not repeated.
    """
    return min(max(math.sqrt(average_length) / 5.0, LEAST_K1), MOST_K1)


@dataclass(frozen=True)
class BM25(TermwiseModel):
    """Σ_w α_w · idf(w) · c (k1 + 1) / (c + k1 (1 - b + b |D|/avgdl)), idf(w) = log(1 + (N - df + ½)/(df + ½)).

    Robertson & Zaragoza (2009), with the always positive idf of Lucene.
    """

    k1: float = 2.0
    b: float = 0.75

    def __post_init__(self) -> None:
        positive("k1", self.k1)
        fraction("b", self.b)

    def formula(self, collection: Collection) -> TermFormula:
        return TermFormula(BURSTS, float(collection.n_docs), 1.0, 0.0, self.k1 + 1.0)

    def frame(self, collection: Collection) -> Plan:
        return Plan(SATURATION, x0=self.k1 * (1.0 - self.b), x1=self.k1 * self.b / collection.average_length)


@dataclass(frozen=True)
class AdaptiveBM25(TermwiseModel):
    """BM25 of bursty words: Σ_w α_w · idf(w)^p · burst(w)^g · c (k1 + 1) / (c + k1 (1 - b + b |D|/avgdl)).

    idf(w) is BM25's, burst(w) = (cf + 4½)/(df + 3) the word's mean count in the documents that hold it, shrunk; p is
    `idf`, g `burst`. `k1` = 0: √avgdl/5, between ½ and 2. No judgement is needed. How the form and the constants
    were chosen, and what they are worth on collections that had no part in it: docs/defaults.md. Limit case: p = 1,
    g = 0 and a k1 above 0 is `BM25`.
    """

    k1: float = FROM_LENGTHS
    b: float = 0.8
    idf: float = 1.4
    burst: float = 0.75

    def __post_init__(self) -> None:
        if number("k1", self.k1) != FROM_LENGTHS:
            positive("k1", self.k1)
        fraction("b", self.b)
        bounded("idf", self.idf, 0.0, LARGEST_POWER)
        bounded("burst", self.burst, 0.0, LARGEST_POWER)

    def chosen(self, collection: Collection) -> Mapping[str, float]:
        return {"k1": self._k1(collection)} if self.k1 == FROM_LENGTHS else {}

    def formula(self, collection: Collection) -> TermFormula:
        return TermFormula(BURSTS, float(collection.n_docs), self.idf, self.burst, self._k1(collection) + 1.0)

    def frame(self, collection: Collection) -> Plan:
        k1 = self._k1(collection)
        return Plan(SATURATION, x0=k1 * (1.0 - self.b), x1=k1 * self.b / collection.average_length)

    def _k1(self, collection: Collection) -> float:
        return self.k1 if self.k1 != FROM_LENGTHS else _own_k1(collection)


@lru_cache(maxsize=16)
def _own_k1(collection: Collection) -> float:
    """The `saturation` of a collection, remembered: every word of a query asks for it."""
    return saturation(collection.average_length)
