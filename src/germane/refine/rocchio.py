"""Rocchio: how much nearer to the mean of the relevant than to the mean of the rejected (Rocchio 1971)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from germane.arrays import Floats, Labels
from germane.lm.parameters import number
from germane.refine.linear import refined_by
from germane.refine.refined import Refined, RefineMethod
from germane.refine.weighting import ResultList, Weighting, checked_weighting
from germane.types import Mark


@dataclass(frozen=True, kw_only=True)
class Rocchio(RefineMethod):
    """x·(β·mean(relevant) - γ·mean(rejected)) over unit vectors; the mean of none is 0."""

    name: ClassVar[str] = "rocchio"
    needs_rejected: ClassVar[bool] = False
    beta: float = 1.0
    gamma: float = 1.0
    weights: Weighting = "tfidf"

    def __post_init__(self) -> None:
        number("beta", self.beta), number("gamma", self.gamma)
        checked_weighting(self.weights)

    def _refine(self, results: ResultList, labels: Labels) -> Refined:
        unit = results.unit_weighted(self.weights)
        query = self.beta * _mean(unit, labels == Mark.RELEVANT) - self.gamma * _mean(unit, labels == Mark.NOT_RELEVANT)
        return refined_by(query, 0.0, results, self.weights)


def _mean(unit: Any, chosen: np.ndarray) -> Floats:
    return np.asarray(unit.T @ chosen.astype(np.float64)) / max(int(chosen.sum()), 1)
