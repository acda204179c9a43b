"""Carried evidence, the method behind `auto`: what the marks say directly, and what their words' company says."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Labels
from germane.lazy import on_first_use
from germane.lm.parameters import number
from germane.refine.calibration import Calibration, likeness, location, standardised, standardised_at
from germane.refine.method import Contributions, Estimate, RefineMethod, row_of
from germane.refine.weighting import ResultList
from germane.types import Mark

with on_first_use(__name__):
    from scipy import special

FIRST_RANKS = 10.0
"""Number of ranks before the prior of the retrieval order falls quickly."""


@dataclass(frozen=True, kw_only=True)
class CarriedEvidence(RefineMethod):
    """Cosines with the marks, a prior of the retrieval order, and one step of label propagation over all results.

    A = `ResultList.carried_unit`; z(.) standardises over the unmarked results.
    1. direct: d = A·(Aᵀw) - w, w = 1/n₊ on the relevant, -`against`/n₋ on the rejected: a mark says nothing of itself;
    2. prior: s = z(d) + `rank_weight`·z(-ln(10 + rank)), rank from 0;
    3. carried: e = (A·(Aᵀv) - v) / (A·(Aᵀ1) - 1), v = s with `keep` at the relevant and -`reject` at the rejected: each
       word takes the mean v of the results that hold it, each result the mean of its words, its own part left out;
    4. score = s + `carried_weight`·z(e), and log-odds by `calibration`, whose order is the score's.

    Ours, not the paper's. Two sparse products: the graph of all pairs is never formed.
    """

    name: ClassVar[str] = "auto"
    calibration: ClassVar[Calibration] = Calibration(3.456, 0.320, 0.282, slope_marks=0.078, skew=-0.201, alike=1.661)
    needs_rejected: ClassVar[bool] = False
    against: float = 0.2
    rank_weight: float = 0.3
    carried_weight: float = 1.0
    keep: float = 2.0
    reject: float = 1.0

    def __post_init__(self) -> None:
        for name in ("against", "rank_weight", "carried_weight", "keep", "reject"):
            number(name, getattr(self, name))

    @classmethod
    def probabilities(cls, log_odds: npt.ArrayLike, labels: npt.ArrayLike) -> Floats:
        """P = 1/(1 + e^-x): these log-odds are calibrated already."""
        return np.asarray(special.expit(np.asarray(log_odds, np.float64)))

    def score(self, results: ResultList, labels: Labels) -> Floats:
        """Step 4's score of each result."""
        return self._parts(results, labels).score

    def _refine(self, results: ResultList, labels: Labels) -> Estimate:
        parts = self._parts(results, labels)
        intercept, slope = self.calibration.line(parts.score, labels, likeness(results.carried_unit, labels))

        def contributions(i: int) -> Contributions:
            words, amounts = parts.words(results, i, self.carried_weight)
            return Contributions(words, slope * amounts)

        def decide(texts: ResultList) -> Floats:
            return intercept + slope * parts.score_of(texts, self.carried_weight)

        return Estimate(intercept + slope * parts.score, contributions=contributions, decide=decide)

    def _parts(self, results: ResultList, labels: Labels) -> "_Parts":
        A = results.carried_unit
        relevant, rejected = labels == Mark.RELEVANT, labels == Mark.NOT_RELEVANT
        filled = np.asarray(A.multiply(A).sum(axis=1)).ravel() > 0
        w = relevant / max(relevant.sum(), 1) - self.against * rejected / max(rejected.sum(), 1)
        direct_words = A.T @ w
        direct = A @ direct_words - w * filled
        prior = standardised(-np.log(FIRST_RANKS + np.arange(len(results))), labels)
        s = standardised(direct, labels) + self.rank_weight * prior
        v = np.where(relevant, self.keep, np.where(rejected, -self.reject, s))
        carried_words = A.T @ np.column_stack([v, np.ones(len(v))])
        sums = A @ carried_words
        # 1e-9: to a result that shares no word with another nothing is carried, and rounding must not say otherwise.
        company = np.maximum(sums[:, 1] - filled, 1e-9)
        carried = (sums[:, 0] - v * filled) / company
        score = s + self.carried_weight * standardised(carried, labels)
        return _Parts(
            score, w, v, direct_words, carried_words, company, location(direct, labels), location(carried, labels)
        )


class _Parts(NamedTuple):
    """The score and what its words need."""

    score: Floats
    w: Floats
    v: Floats
    direct_words: Floats
    carried_words: Floats
    company: Floats
    direct_at: tuple[float, float]
    carried_at: tuple[float, float]

    def score_of(self, texts: ResultList, carried_weight: float) -> Floats:
        """The score of texts outside the list, which have no rank: the prior's mean, 0."""
        sums = texts.carried_unit @ np.column_stack([self.direct_words, self.carried_words])
        direct = standardised_at(sums[:, 0], self.direct_at)
        return direct + carried_weight * standardised_at(sums[:, 1] / np.maximum(sums[:, 2], 1e-9), self.carried_at)

    def words(self, results: ResultList, i: int, carried_weight: float) -> tuple[np.ndarray, Floats]:
        """Shares of the score of result i: exact but for the prior and the mean of the direct part.

        z(d) takes a_iw·((Aᵀw)_w - a_iw·w_i)/σ from word w; z(e) takes a_iw·(V_w - ē·C_w)/(σ·company_i), V and C being
        Aᵀv and Aᵀ1 without the result's own part: words whose results score above the mean ē speak for it.
        """
        words, a = row_of(results.carried_unit, i)
        amounts = np.zeros(len(words))
        _, deviation = self.direct_at
        if deviation:
            amounts += a * (self.direct_words[words] - a * self.w[i]) / deviation
        mean, deviation = self.carried_at
        if deviation:
            values = self.carried_words[words, 0] - a * self.v[i]
            others = self.carried_words[words, 1] - a
            amounts += carried_weight * a * (values - mean * others) / (self.company[i] * deviation)
        return words, amounts


def demoted(results: ResultList, labels: Labels) -> Estimate:
    """Scores (no odds) from rejected marks alone: z(-ln(10 + rank)) - max(z(d), 0), rank from 0.

    d is the mean cosine with the rejected results, a mark saying nothing of itself, over `ResultList.carried_unit`; z
    standardises over the unmarked results. A result that is no more like the rejected ones than the mean result keeps
    its place among its like. Ours, not the paper's, whose methods all need a relevant mark.
    """
    A = results.carried_unit
    rejected = labels == Mark.NOT_RELEVANT
    w = rejected / max(rejected.sum(), 1)
    filled = np.diff(A.indptr) > 0
    words_of_rejected = A.T @ w
    likeness = A @ words_of_rejected - w * filled
    standard = standardised(likeness, labels)
    mean, deviation = location(likeness, labels)
    prior = standardised(-np.log(FIRST_RANKS + np.arange(len(results))), labels)

    def contributions(i: int) -> Contributions:
        words, a = row_of(A, i)
        sinks = deviation > 0 and standard[i] > 0
        amounts = -a * (words_of_rejected[words] - a * w[i]) / deviation if sinks else np.zeros(len(words))
        return Contributions(words, amounts)

    def decide(texts: ResultList) -> Floats:
        if not deviation:
            return np.zeros(len(texts))
        return np.asarray(-np.maximum((texts.carried_unit @ words_of_rejected - mean) / deviation, 0.0))

    return Estimate(prior - np.maximum(standard, 0.0), contributions=contributions, decide=decide)
