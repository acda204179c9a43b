"""Naive Bayes from the marked results alone, Refine (7)-(9)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from germane.arrays import Labels
from germane.refine.mixture import Mixture, fit_mixture
from germane.refine.refined import Refined, RefineMethod, linear_refined
from germane.refine.weighting import ResultList, Weighting, checked_weighting

ONE_PER_CLASS = np.array([0, 1])
"""Component 0 for the rejected, component 1 for the relevant: a mark is then its own component."""


@dataclass(frozen=True, kw_only=True)
class NaiveBayes(RefineMethod):
    """log p(c_1|d) - log p(c_0|d), Refine (9), with θ of (7) and (8) from the marked results.

    The vocabulary |V| of (7) is the whole list's. `weights`: "tfidf" as in the paper, or "counts".
    """

    name: ClassVar[str] = "nb"
    weights: Weighting = "tfidf"

    def __post_init__(self) -> None:
        checked_weighting(self.weights)

    def fit(self, results: ResultList, labels: Labels) -> Mixture:
        """The two class models."""
        return fit_mixture(results.weighted(self.weights), labels, labels.astype(np.int64), ONE_PER_CLASS)

    def _refine(self, results: ResultList, labels: Labels) -> Refined:
        return two_class_refined(results, self.weights, self.fit(results, labels))


def two_class_refined(results: ResultList, weights: Weighting, mixture: Mixture) -> Refined:
    """Of one component a class: linear in the words, Σ_w x_w (log θ_{w|1} - log θ_{w|0}) + log θ_1 - log θ_0."""
    word_log_odds = mixture.log_theta[:, 1] - mixture.log_theta[:, 0]
    prior_log_odds = float(mixture.log_prior[1] - mixture.log_prior[0])
    return linear_refined(results, lambda texts: texts.weighted(weights), word_log_odds, prior_log_odds)
