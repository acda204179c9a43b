"""Methods whose log-odds are linear in unit vectors: Rocchio and balanced logistic regression, and what they share with
the transductive SVM."""

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from germane.arrays import AnyArray, Floats, Labels
from germane.lazy import on_first_use, optional
from germane.lm.parameters import number, positive
from germane.refine.calibration import Calibration
from germane.refine.method import Estimate, RefineMethod, linear_estimate
from germane.refine.weighting import ResultList, Weighting, checked_weighting
from germane.types import Mark

with on_first_use(__name__):
    from sklearn import exceptions


def fit_quietly(model: Any, rows: Any, labels: AnyArray, weight: Floats | None = None) -> Any:
    """`model` fitted; that it stopped at its limit of iterations is meant, not a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exceptions.ConvergenceWarning)
        return model.fit(rows, labels, sample_weight=weight)


def unit_vector_estimate(beta: Floats, intercept: float, results: ResultList, weights: Weighting) -> Estimate:
    """x·β + b, x the unit vectors."""
    return linear_estimate(results, lambda texts: texts.unit_weighted(weights), beta, float(intercept))


@dataclass(frozen=True, kw_only=True)
class Logistic(RefineMethod):
    """scikit-learn's logistic regression with an L2 penalty (inverse strength `C`) on unit vectors.

    Classes are balanced: the few relevant marks weigh as much as the many rejected ones.
    """

    name: ClassVar[str] = "logistic"
    calibration: ClassVar[Calibration] = Calibration(-1.367, 0.488, 0.234)
    C: float = 1.0
    weights: Weighting = "tfidf"

    def __post_init__(self) -> None:
        positive("C", self.C)
        checked_weighting(self.weights)

    def _refine(self, results: ResultList, labels: Labels) -> Estimate:
        linear_model = optional("sklearn.linear_model", "Refining by logistic regression")
        unit = results.unit_weighted(self.weights)
        marked = np.flatnonzero(labels != Mark.UNMARKED)
        rows = unit[marked]
        words = np.unique(rows.indices)  # of the others β is 0 at the optimum, and most words are others
        words = words if words.size else np.array([0])
        model = fit_quietly(
            linear_model.LogisticRegression(C=self.C, class_weight="balanced"), rows[:, words], labels[marked]
        )
        beta = np.zeros(results.n_words)
        beta[words] = model.coef_[0]
        return unit_vector_estimate(beta, model.intercept_[0], results, self.weights)


@dataclass(frozen=True, kw_only=True)
class Rocchio(RefineMethod):
    """x·(β·mean(relevant) - γ·mean(rejected)) over unit vectors; the mean of none is 0."""

    name: ClassVar[str] = "rocchio"
    calibration: ClassVar[Calibration] = Calibration(-1.376, 0.551, 0.235)
    needs_rejected: ClassVar[bool] = False
    beta: float = 1.0
    gamma: float = 1.0
    weights: Weighting = "tfidf"

    def __post_init__(self) -> None:
        number("beta", self.beta), number("gamma", self.gamma)
        checked_weighting(self.weights)

    def _refine(self, results: ResultList, labels: Labels) -> Estimate:
        unit = results.unit_weighted(self.weights)
        query = self.beta * _mean(unit, labels == Mark.RELEVANT) - self.gamma * _mean(unit, labels == Mark.NOT_RELEVANT)
        return unit_vector_estimate(query, 0.0, results, self.weights)


def _mean(unit: Any, chosen: np.ndarray) -> Floats:
    return np.asarray(unit.T @ chosen.astype(np.float64)) / max(int(chosen.sum()), 1)
