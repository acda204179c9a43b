"""Ranking models: how a weighted query and the collection's statistics become the numbers of the scoring kernel.

Each model is a frozen value with its parameters; `plan` does the work of a query, and `document_background`,
`document_norm` and `document_base` what depends on the documents alone and is computed once for each segment. See
`rank.impact_kernels` for the score's shape.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.lm import Dirichlet, ExcessRatio, Size, Smoothing, idf
from germane.lm.parameters import EDGE, bounded, fraction, open_fraction, positive
from germane.rank.defaults import DEFAULT_MU
from germane.rank.kinds import COUNT, LOG_COUNT, LOG_COUNT_RATIO, LOG_SIZE_RATIO, SATURATION
from germane.rank.plan import NOTHING, Collection, Plan, QueryTerm, in_order, in_turn, weighed
from germane.rank.statistics import Need
from germane.rank.term_formulas import BURSTS, RATIO, TermFormula, numbers_of


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


@dataclass(frozen=True)
class QueryLikelihood(TermwiseModel):
    """Query likelihood, and T-cross-entropy for any weights α: log P(α|D) = Σ_w α_w log(e_D(w) + a_D p_C(w)).

    Lecture ("Putting this all together"), SD (2.3), (5.9). Written as Σ_{w∈D} α_w log(1 + e_D/(a_D p_C)) + Σα · log a_D
    + Σ_w α_w log p_C(w): a sum over the document's query words, one number a document, one constant.
    Words that the collection does not hold have p_C = 0; they are left out of the query.
    """

    smoothing: Smoothing = field(default_factory=lambda: Dirichlet(DEFAULT_MU))

    def __post_init__(self) -> None:
        if not isinstance(self.smoothing, Smoothing):
            raise ParameterError(f"{type(self.smoothing).__name__} cannot smooth a document for ranking")
        _ = self._ratio  # refuses what cannot rank

    @cached_property
    def _ratio(self) -> ExcessRatio:
        return self.smoothing.excess_ratio()

    def formula(self, collection: Collection) -> TermFormula:
        """The factor of e_D(w)/(a_D p_C(w)) that is the term's own; a document of the usual size is an average one."""
        ratio, usual = self._ratio, 1.0
        if ratio.size is not Size.NONE:
            usual = ratio.x0 + ratio.x1 * (collection.n_tokens / max(collection.n_docs, 1))
        return TermFormula(RATIO, float(collection.n_tokens), ratio.numerator, ratio.denominator, usual)

    def frame(self, collection: Collection) -> Plan:
        ratio = self._ratio
        return Plan(
            LOG_COUNT_RATIO if ratio.size is Size.NONE else LOG_SIZE_RATIO,
            constant=0.0 if ratio.log_background is None else ratio.log_background,
            mass=1.0,
            delta=ratio.delta,
            x0=ratio.x0,
            x1=ratio.x1,
            sized_by_unique=ratio.size is Size.UNIQUE,
        )

    def document_background(self, documents: Documents) -> Floats:
        """log a_D; where it is the same for all documents it is part of the constant."""
        if self._ratio.log_background is not None:
            return NOTHING
        _, background = self.smoothing.split(0.0, documents.length, documents.unique)
        return np.log(np.broadcast_to(background, documents.length.shape))


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


@dataclass(frozen=True)
class DCrossEntropy(RankingModel):
    """D-cross-entropy, for comparison: -H(θ_D, α) = Σ_w θ_D(w) log α(w), SD (2.11).

    θ_D is Dirichlet-smoothed with `mu`; the query model must be smoothed too: α(w) = λ·α̂(w) + (1-λ)·p_C(w), α̂ being the
    query's weights divided by their sum. Over the words of D: Σ c·[log p_C + log(1 + λα̂/((1-λ)p_C))]/(|D|+μ) + log(1-λ)
    + a_D·(Σ_w p_C log p_C + Σ_Q p_C log(1 + λα̂/((1-λ)p_C))).
    """

    needs_entropy: ClassVar[bool] = True
    mu: float = DEFAULT_MU
    lam: float = 0.5

    def __post_init__(self) -> None:
        Dirichlet(self.mu)
        bounded("lam", open_fraction("lam", self.lam), EDGE, 1.0 - EDGE)

    def plan(self, terms: Sequence[QueryTerm], collection: Collection) -> Plan:
        if collection.entropy is None:
            raise ParameterError("D-cross-entropy needs the entropy of the collection, Collection(entropy=...)")
        p_C = [term.cf / collection.n_tokens for term in terms]
        total = math.fsum(term.weight for term in terms)
        odds = self.lam / (1.0 - self.lam)
        weight = [math.log1p(odds * term.weight / total / p) for term, p in zip(terms, p_C, strict=True)]
        background = math.fsum(p * w for p, w in zip(p_C, weight, strict=True)) - collection.entropy
        constant = math.log(1.0 - self.lam)
        return Plan.ordered(COUNT, terms, weight, strength=weight, constant=constant, mass=background)

    def word_sums(self) -> WordSums:
        return WordSums.LOG_PROBABILITY

    def document_norm(self, documents: Documents) -> Floats:
        """1/(|D| + μ), by which the counts are divided."""
        return 1.0 / (documents.length.astype(np.float64) + self.mu)

    def document_background(self, documents: Documents) -> Floats:
        """a_D = μ/(|D| + μ), which multiplies the query's background."""
        return self.mu / (documents.length.astype(np.float64) + self.mu)

    def document_base(self, documents: Documents) -> Floats:
        """Σ_{w∈D} c log p_C(w)/(|D| + μ), which is the document's own whatever the query."""
        return documents.sums / (documents.length.astype(np.float64) + self.mu)


@dataclass(frozen=True)
class LikelihoodRatio(RankingModel):
    """P(D|R)/P(D|N) of two multinomials: Σ_w c·log(θ^R(w)/θ^N(w)) = |D|·(H(θ̂^D, θ^N) - H(θ̂^D, θ^R)), SD (2.16)-(2.18).

    θ^R = λ·α̂ + (1-λ)·p_C, α̂ being the query's weights divided by their sum, and θ^N = p_C. A word outside the query has
    the ratio 1-λ, so that the score is Σ_{w∈Q} c·log(1 + λα̂/((1-λ)p_C)) + |D|·log(1-λ). The document is not smoothed,
    its length not normalised. SD gives no estimate of the two classes from a query alone; these are those of (5.11) and
    (5.10). `DCrossEntropy` is the classifier's rule (2.11), which only decides between classes for one document.
    """

    lam: float = 0.5

    def __post_init__(self) -> None:
        bounded("lam", open_fraction("lam", self.lam), EDGE, 1.0 - EDGE)

    def plan(self, terms: Sequence[QueryTerm], collection: Collection) -> Plan:
        total = math.fsum(term.weight for term in terms)
        odds = self.lam / (1.0 - self.lam)
        weight = [math.log1p(odds * (term.weight / total) / (term.cf / collection.n_tokens)) for term in terms]
        return Plan.ordered(COUNT, terms, weight, strength=weight)

    def document_base(self, documents: Documents) -> Floats:
        """|D|·log(1-λ), which is the document's own whatever the query."""
        return documents.length.astype(np.float64) * math.log1p(-self.lam)
