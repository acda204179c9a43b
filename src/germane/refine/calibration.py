"""From scores to probabilities, and from probabilities to a predicted set."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from germane.arrays import Floats, Labels, Mask
from germane.errors import ParameterError
from germane.lazy import on_first_use
from germane.lm.parameters import fraction
from germane.types import Mark

with on_first_use(__name__):
    from scipy import special

NO_REJECTED = -0.8
"""Stands for the marks' own log-odds where nothing is marked as not relevant."""


LIKENESS = (-3.5, -2.4)
"""Bounds of the logarithm of the mean cosine of the unmarked results: most fitted lists lie within."""


class Calibration(NamedTuple):
    """logit P = base + (slope + slope_marks·ln n₊)·s + rate·ln((n₊+½)/(n₋+½)) + skew·γ + alike·h.

    s is the standardised score, n₊ and n₋ the marks, γ the skewness of s over the unmarked results, held in [-1, 4]: a
    list with a long upper tail has few relevant results. h = ln c, held in [-3.5, -2.4], c the mean cosine of the
    unmarked results with one another (`likeness`): a list of one subject has more relevant results than a list of many.
    Monotone in s, so the order is the score's.

    Each method has its own, fitted over lists of about 200 results from the collections of `reproduce/refine*.toml`,
    with all marks and with those down to the second relevant one; that of `auto` by `benchmarks/calibration.py`, which
    tells the error with a collection left out. Recalibrate before trusting them for thousands.
    """

    base: float
    slope: float
    rate: float
    slope_marks: float = 0.0
    skew: float = 0.0
    alike: float = 0.0

    def line(self, standard: Floats, labels: Labels, mean_cosine: float = 0.0) -> tuple[float, float]:
        """(intercept, slope) of the logit in s for one list, c being `mean_cosine`."""
        n_relevant, n_rejected = int((labels == Mark.RELEVANT).sum()), int((labels == Mark.NOT_RELEVANT).sum())
        rate = np.log((n_relevant + 0.5) / (n_rejected + 0.5)) if n_rejected else NO_REJECTED
        gamma = skewness(standard[judged_by(labels)])
        slope = self.slope + self.slope_marks * np.log(max(n_relevant, 1))
        h = np.clip(np.log(max(mean_cosine, 1e-9)), *LIKENESS) if self.alike else 0.0
        return float(self.base + self.rate * rate + self.skew * gamma + self.alike * h), float(slope)

    def probabilities(self, log_odds: Floats, labels: Labels) -> Floats:
        """P(relevant) from log-odds standardised over the unmarked results."""
        standard = standardised(log_odds, labels)
        intercept, slope = self.line(standard, labels)

        return np.asarray(special.expit(intercept + slope * standard))


def f1_threshold(probability: Floats) -> float:
    """The p_k at which the set {i: p_i ≥ p_k} has the highest expected F1; 1 where there is no result.

    F1 of the k most likely ≈ 2·Σ_{i≤k} p_i / (k + Σ_i p_i), the ratio of expectations.
    """
    if not len(probability):
        return 1.0
    falling = np.sort(probability)[::-1]
    expected = 2.0 * np.cumsum(falling) / (np.arange(1, len(falling) + 1) + falling.sum())
    return float(falling[np.argmax(expected)])


def predicted_set(probability: Floats, labels: npt.ArrayLike | None = None, threshold: float | None = None) -> Mask:
    """Which results are predicted relevant: P ≥ `threshold`, or ≥ the expected-F1 optimum over the unmarked results.

    A mark decides for its own result.
    """
    marks = np.full(len(probability), Mark.UNMARKED) if labels is None else np.asarray(labels)
    if marks.shape != probability.shape:
        raise ParameterError(f"{len(probability)} probabilities need as many labels, not {len(marks)}")
    unmarked = marks == Mark.UNMARKED
    cut = f1_threshold(probability[unmarked]) if threshold is None else fraction("threshold", threshold)
    return np.asarray((marks == Mark.RELEVANT) | (unmarked & (probability >= cut)))


def judged_by(labels: Labels) -> Mask:
    """The results over which scores are standardised: the unmarked, or all where fewer than two are unmarked."""
    unmarked = np.asarray(labels == Mark.UNMARKED)
    return unmarked if unmarked.sum() > 1 else np.ones(len(labels), bool)


def standardised(scores: Floats, labels: Labels) -> Floats:
    """Scores with mean 0 and deviation 1 over `judged_by`; all 0 where they do not differ."""
    return standardised_at(scores, location(scores, labels))


def standardised_at(scores: Floats, at: tuple[float, float]) -> Floats:
    """(x - mean)/deviation of each score for a given `location`; all 0 where the deviation is."""
    mean, deviation = at
    return (scores - mean) / deviation if deviation else np.zeros_like(scores)


def location(scores: Floats, labels: Labels) -> tuple[float, float]:
    """Mean and deviation over `judged_by`; a deviation within rounding of 0 is 0."""
    part = scores[judged_by(labels)]
    if not len(part):
        return 0.0, 0.0
    mean, deviation = float(part.mean()), float(part.std())
    return mean, deviation if deviation > 1e-12 * max(1.0, abs(mean)) else 0.0


def spread(scores: Floats, labels: Labels) -> float:
    """The deviation over `judged_by`; 1 where they do not differ."""
    return location(scores, labels)[1] or 1.0


def likeness(rows: sparse.csr_array, labels: Labels) -> float:
    """The mean cosine of two results of `judged_by`, rows of length 1: (|Σ a|² - Σ |a|²)/(n(n - 1)); 0 for one."""
    part = rows[np.flatnonzero(judged_by(labels))]
    n = part.shape[0]
    total = np.asarray(part.sum(axis=0), np.float64).ravel()
    of_pairs = float(part.multiply(part).sum())
    return float((total @ total - of_pairs) / (n * (n - 1))) if n > 1 else 0.0


def skewness(scores: Floats) -> float:
    """Third standardised moment, held within [-1, 4]; 0 for a constant."""
    deviation = scores.std() if len(scores) else 0.0
    if deviation <= 1e-12:
        return 0.0
    return float(np.clip(((scores - scores.mean()) ** 3).mean() / deviation**3, -1.0, 4.0))
