"""Ranking models: how a weighted query and the collection's statistics become the numbers of the scoring kernel.

Each model is a frozen value with its parameters; `plan` does the work of a query, and `document_background`,
`document_norm` and `document_base` what depends on the documents alone and is computed once for each segment. See
`rank.kinds` for the shape of a score.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats
from germane.lm import idf
from germane.rank.models.term_formulas import TermFormula, numbers_of
from germane.rank.plan import NOTHING, Collection, Plan, QueryTerm, in_order, in_turn, weighed
from germane.rank.scoring.statistics import Need


class Documents(NamedTuple):
    """The documents of a segment: tokens, distinct terms, and the sums a model asked for (see `word_sums`)."""

    length: npt.NDArray[np.uint32]
    unique: npt.NDArray[np.uint32]
    sums: Floats


class WordSums(Enum):
    """A sum over all words of a document: Σ_w f(c_wd) · g(w), g being what `word_weights` gives."""

    SQUARED_TFIDF = "((1 + log c)·idf)²"
    LOG_PROBABILITY = "c·log p_C"

    @property
    def squared_log(self) -> bool:
        """Whether f(c) = (1 + log c)²; else f(c) = c."""
        return self is WordSums.SQUARED_TFIDF


def word_weights(
    asked: WordSums, df: npt.NDArray[np.int64], cf: npt.NDArray[np.int64], collection: Collection
) -> Floats:
    """g(w) of each word: idf² or log p_C."""
    if asked is WordSums.SQUARED_TFIDF:
        return idf(collection.n_docs, df) ** 2
    return np.log(cf / collection.n_tokens)


class RankingModel(ABC):
    """A formula for the score of a document."""

    @abstractmethod
    def plan(self, terms: Sequence[QueryTerm], collection: Collection) -> Plan:
        """The work of one query. `terms` hold each term once; all are known to the collection, weights > 0."""

    needs_entropy: ClassVar[bool] = False
    """Whether `plan` reads the collection's H(p_C)."""

    def chosen(self, collection: Collection) -> Mapping[str, float]:
        """The parameters that the model takes from the collection, with the values that these have there."""
        return {}

    def document_background(self, documents: Documents) -> Floats:
        """The part of the collection model in each document, multiplied by the plan's mass and added to the score.

        log a_D, or whatever stands in its place; empty: none.
        """
        return NOTHING

    def document_norm(self, documents: Documents) -> Floats:
        """One number for each document by which its impacts are multiplied; empty: none."""
        return NOTHING

    def document_base(self, documents: Documents) -> Floats:
        """One number for each document that is added to its score whatever the query; empty: none."""
        return NOTHING

    def word_sums(self) -> WordSums | None:
        """The sum over all its words that a document's norm or base needs."""
        return None

    def need(self, weights: Mapping[str, float]) -> Need:
        """What the ranking by these words takes from the whole collection."""
        return Need(tuple(weights), vocabulary=self.needs_entropy or self.word_sums() is not None)

    def of_query(self, runs: tuple[tuple[str, ...], ...]) -> "RankingModel":
        """What ranks one query, of whose terms those of a run stand one after the other; the same for most models."""
        return self


class TermwiseModel(RankingModel):
    """A ranking that weighs each term by itself, by one of the `term_formulas`: kernels can do so, too."""

    @abstractmethod
    def formula(self, collection: Collection) -> TermFormula:
        """That of terms which weigh 1; see `plan.weighed` for other weights."""

    @abstractmethod
    def frame(self, collection: Collection) -> Plan:
        """The plan of no terms. With mass 1, the mass of a plan is the sum of its terms' weights, and the constant that
        of their parts and of the mass times the constant here; with mass 0, the two are 0."""

    def plan(self, terms: Sequence[QueryTerm], collection: Collection) -> Plan:
        formula = self.formula(collection)
        rows = (weighed(term, numbers_of(term.df, term.cf, formula)) for term in terms)
        held, weight, scale, constants = in_order(rows)
        arrays = np.array(weight, np.float64), np.array(scale, np.float64)
        return self.frame(collection).of(held, *arrays, in_turn(weight), in_turn(constants))
