"""What every feedback method shares: the steps from evidence to a topic model, and what it tells of them."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.feedback.evidence import Evidence
from germane.feedback.weights import weigh_negatives
from germane.lm import LanguageModel, Smoothing
from germane.lm.parameters import fraction, number, whole
from germane.types import Mark

MOST_DISAGREEMENT = 0.75
LEAST_COVERAGE = 1.0 / 3.0
"""Chosen on seven collections; how many queries they save and cost is in docs/feedback.md."""
ONE_DOCUMENT = 1e-6
"""Entropy of weights below which one document has all of it, and there is nobody to disagree with."""


@dataclass(frozen=True, slots=True)
class Drift:
    """How far the documents disagree (0: all alike, 1: no word in common), and how much of the query they hold."""

    disagreement: float
    coverage: float
    fell_back: bool


def drift_of(evidence: Evidence, weights: Floats) -> Drift:
    """What speaks for drift, and whether it is enough to fall back to the query.

    disagreement = [H(Σ_D W(D)·θ̂^D) - Σ_D W(D)·H(θ̂^D)] / H(W), the weighted Jensen-Shannon divergence of the documents
    over the most it can be. coverage = mean over the query's words of Σ_{D∋w} W(D). A document marked relevant is no
    guess, so with one there is no falling back.
    """
    if not weights.any() or not evidence.query:
        return Drift(0.0, 1.0, False)
    theta = evidence.counts / evidence.lengths[evidence.document_of]
    entropies = evidence.per_document(-theta * np.log(theta))
    mean = evidence.per_word(weights[evidence.document_of] * theta)
    of_weights = _entropy(weights)
    apart = (_entropy(mean) - float(weights @ entropies)) / of_weights if of_weights > ONE_DOCUMENT else 0.0
    held = evidence.per_word(weights[evidence.document_of])
    coverage = float(np.mean(held[list(evidence.query)]))
    marked = evidence.n_marked(Mark.RELEVANT)
    return Drift(apart, coverage, marked == 0 and apart > MOST_DISAGREEMENT and coverage < LEAST_COVERAGE)


def _entropy(distribution: Floats) -> float:
    seen = distribution[distribution > 0]
    return float(-(seen * np.log(seen)).sum())


RankingChoice = Smoothing | Literal["adaptive", "bm25", "tfidf"]
"""How documents are ranked: T-cross-entropy under a smoothing, or by one of these models."""


@dataclass(frozen=True, eq=False)
class Expansion:
    """What feedback made of a query.

    The documents are to be ranked by -H(topic, θ_D) + against_weight·H(against, θ_D). `weights`: how much each
    document of the evidence counted, summing to 1, negative for the documents of `against`. `dropped`: the share of
    the topic's excess that truncation gave to the stronger words (see `truncation_bound`). `learnt`: whether
    the documents have a part in the topic. `drift`: what the guard saw, if it was asked.
    """

    topic: LanguageModel
    against: LanguageModel | None
    against_weight: float
    weights: Floats
    dropped: float
    learnt: bool
    drift: Drift | None = None


@dataclass(frozen=True, kw_only=True)
class FeedbackMethod(ABC):
    """The parameters of every method.

    `n_docs`: documents of the first ranking taken for relevant. `n_terms`: words kept of the estimate, None for all.
    `query_weight`: λ of the final topic λ·θ̂^Q + (1-λ)·θ^R; 0 is the estimate alone, 1 the query. `first`, `final`:
    the two rankings. `unmarked`: how many marked documents all unmarked ones together count as, once something is
    marked relevant. `trust`: how much a mark takes from the query's share (`query_share`). `negative_weight`: how
    strongly documents marked not relevant repel. `keep_background`: rank with the background share of the estimate too,
    as the formulas have it; otherwise with its excess alone, divided by its sum, as is usual. `guard`: fall back to the
    query where the documents disagree (`Drift`).
    """

    n_docs: int
    n_terms: int | None
    query_weight: float
    first: RankingChoice
    final: RankingChoice
    unmarked: float = 1.0
    trust: float = 3.0
    negative_weight: float
    keep_background: bool = False
    guard: bool = False

    def __post_init__(self) -> None:
        whole("n_docs", self.n_docs, least=0)
        if self.n_terms is not None:
            whole("n_terms", self.n_terms, least=1)
        fraction("query_weight", self.query_weight)
        for name in ("weighting", "smoothing"):
            if hasattr(self, name) and not isinstance(getattr(self, name), Smoothing):
                raise ParameterError(f"{name} must be a smoothing of germane.lm, not {getattr(self, name)!r}")
        for name in ("unmarked", "trust", "negative_weight", "tempering"):
            if number(name, getattr(self, name, 0.0)) < 0:
                raise ParameterError(f"{name} must not be negative, not {getattr(self, name)!r}")

    @property
    def first_rankings(self) -> tuple[RankingChoice, ...]:
        """The rankings whose best documents are taken for relevant."""
        return (self.first,)

    @property
    def first_background(self) -> float:
        """What the collection model p_C counts in the first ranking, for each unit of the query's weight; 0 is none."""
        return 0.0

    @abstractmethod
    def document_weights(self, evidence: Evidence) -> Floats:
        """How much each document counts; sums to 1, 0 for those marked not relevant; all 0 if there is none."""

    @abstractmethod
    def estimate(self, evidence: Evidence, weights: Floats) -> LanguageModel:
        """The model of documents with these weights, before truncation and interpolation."""

    def expand(self, evidence: Evidence) -> Expansion:
        """The topic model of the evidence. Limit case: without a document to learn from it is the query's own.

        So it is when the documents say nothing (empty ones, or λ = 0) and their background is not to count.
        """
        weights, repelled = self.document_weights(evidence), weigh_negatives(evidence)
        drift = drift_of(evidence, weights) if self.guard else None
        topic, dropped, share = self.query_topic(evidence), 0.0, self.query_share(evidence)
        trusted = share < 1.0 and not (drift is not None and drift.fell_back)
        learnt = self._learn(evidence, weights) if trusted else None
        if learnt is not None:
            estimate, dropped = learnt
            topic, dropped = topic.interpolate(estimate, own_weight=share), dropped * (1.0 - share)
        against = self.against(evidence, repelled)
        against_weight = self.negative_weight if repelled.any() else 1.0
        return Expansion(topic, against, against_weight, weights - repelled, dropped, learnt is not None, drift)

    def query_topic(self, evidence: Evidence) -> LanguageModel:
        """The query's own part of the topic: θ̂^Q."""
        return evidence.query_model

    def query_share(self, evidence: Evidence) -> float:
        """The weight of that part: λ/(λ + (1-λ)·(1 + trust·m)), m being the documents marked relevant.

        λ without a mark; every mark divides the odds of the query further, since it is no guess. 0 where no word of the
        query is known.
        """
        if not evidence.query:
            return 0.0
        share = self.unmarked_share(evidence)
        return share / (share + (1.0 - share) * (1.0 + self.trust * evidence.n_marked(Mark.RELEVANT)))

    def unmarked_share(self, evidence: Evidence) -> float:
        """λ: the weight of the query's own part where nothing is marked."""
        return self.query_weight

    def against(self, evidence: Evidence, repelled: Floats) -> LanguageModel | None:
        """The model of what is not wanted, from the documents marked so; None where none is."""
        learnt = self._learn(evidence, repelled)
        return learnt[0] if learnt is not None else None

    def _learn(self, evidence: Evidence, weights: Floats) -> tuple[LanguageModel, float] | None:
        """The estimate cut to its strongest words, and without its background, unless that is wanted; the share cut.

        None where there is nothing to learn: no document has a weight, or nothing is left without the background.
        """
        if not weights.any():
            return None
        model = self.estimate(evidence, weights)
        if not model.excess.sum() > 0:
            return (model, 0.0) if self.keep_background else None
        if not self.keep_background:
            model = model.without_background()
        return model.truncate(self.n_terms) if self.n_terms is not None else (model, 0.0)


def truncation_bound(dropped: float, largest_log_ratio: float) -> float:
    """How far truncation can move any document's score -H(θ^R, θ_D), but for a constant that all share: δ·U.

    With δ the `dropped` share of excess and U ≥ log(1 + e_D(w)/(a_D·p_C(w))) for all words of the estimate and all
    documents. Truncation scales the kept words by s/(s-δ), s being the whole excess, so that a score changes by
    δ·(mean log-ratio of the kept words - mean log-ratio of the dropped ones), and both means lie between 0 and U; the
    constant is δ·(mean log p_C of the kept - of the dropped). Two documents whose scores differ by more than 2·δ·U
    therefore keep their order.
    """
    return dropped * largest_log_ratio
