"""k nearest neighbours among the marked results, the paper's choice where nothing is rejected (Refine §VII)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from germane.arrays import Floats, Labels
from germane.lm.parameters import whole
from germane.refine.calibration import Calibration
from germane.refine.method import Contributions, Estimate, RefineMethod, row_of
from germane.refine.weighting import ResultList, Weighting, checked_weighting
from germane.types import Mark


@dataclass(frozen=True, kw_only=True)
class Neighbours(RefineMethod):
    """Mean cosine of the `k` nearest relevant marks minus that of the k nearest rejected ones (0 without any).

    With k = 1 it is above 0 where the nearest mark is relevant: the paper's KNN. Zero means neither.
    """

    name: ClassVar[str] = "knn"
    calibration: ClassVar[Calibration] = Calibration(-1.354, 0.450, 0.232)
    needs_rejected: ClassVar[bool] = False
    k: int = 1
    weights: Weighting = "tfidf"

    def __post_init__(self) -> None:
        whole("k", self.k, least=1)
        checked_weighting(self.weights)

    def _refine(self, results: ResultList, labels: Labels) -> Estimate:
        unit = results.unit_weighted(self.weights)
        relevant, rejected = np.flatnonzero(labels == Mark.RELEVANT), np.flatnonzero(labels == Mark.NOT_RELEVANT)
        near, far = _cosines(unit, unit[relevant]), _cosines(unit, unit[rejected])

        def decide(texts: ResultList) -> Floats:
            rows = texts.unit_weighted(self.weights)
            return _mean_of_largest(_cosines(rows, unit[relevant]), self.k) - _mean_of_largest(
                _cosines(rows, unit[rejected]), self.k
            )

        def contributions(i: int) -> Contributions:
            words, values = row_of(unit, i)
            pull = _mean_row(unit, relevant[_nearest(near[i], self.k)]) - _mean_row(
                unit, rejected[_nearest(far[i], self.k)]
            )
            return Contributions(words, values * pull[words])

        return Estimate(
            _mean_of_largest(near, self.k) - _mean_of_largest(far, self.k), contributions=contributions, decide=decide
        )


def _cosines(unit: Any, marked: Any) -> Floats:
    return np.asarray((unit @ marked.T).toarray())


def _mean_of_largest(cosines: Floats, k: int) -> Floats:
    if not cosines.shape[1]:
        return np.zeros(len(cosines))
    return np.asarray(np.sort(cosines, axis=1)[:, -k:].mean(axis=1))


def _nearest(cosines: Floats, k: int) -> np.ndarray:
    return np.argsort(-cosines, kind="stable")[:k]


def _mean_row(unit: Any, rows: np.ndarray) -> Floats:
    return np.asarray(unit[rows].sum(axis=0)).ravel() / max(len(rows), 1)
