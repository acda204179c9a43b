"""Balanced logistic regression on the marks alone: the supervised baseline."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from germane.arrays import Labels
from germane.lm.parameters import positive
from germane.refine.linear import fit_quietly, needing_scikit_learn, refined_by
from germane.refine.refined import Refined, RefineMethod
from germane.refine.weighting import ResultList, Weighting, checked_weighting
from germane.types import Mark


@dataclass(frozen=True, kw_only=True)
class Logistic(RefineMethod):
    """scikit-learn's logistic regression with an L2 penalty (inverse strength `C`) on unit vectors.

    Classes are balanced: the few relevant marks weigh as much as the many rejected ones.
    """

    name: ClassVar[str] = "logistic"
    C: float = 1.0
    weights: Weighting = "tfidf"

    def __post_init__(self) -> None:
        positive("C", self.C)
        checked_weighting(self.weights)

    def _refine(self, results: ResultList, labels: Labels) -> Refined:
        with needing_scikit_learn("Refining by logistic regression"):
            from sklearn.linear_model import LogisticRegression
        unit = results.unit_weighted(self.weights)
        marked = np.flatnonzero(labels != Mark.UNMARKED)
        rows = unit[marked]
        words = np.unique(rows.indices)  # of the others β is 0 at the optimum, and most words are others
        words = words if words.size else np.array([0])
        model = fit_quietly(LogisticRegression(C=self.C, class_weight="balanced"), rows[:, words], labels[marked])
        beta = np.zeros(results.n_words)
        beta[words] = model.coef_[0]
        return refined_by(beta, model.intercept_[0], results, self.weights)
