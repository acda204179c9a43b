"""Semi-supervised EM with one component a class (Nigam et al. 2000), plain and annealed, Refine §III and §V."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from germane.arrays import Labels
from germane.errors import ParameterError
from germane.lm.parameters import fraction, number, whole
from germane.refine.cooling import Cooling, temperatures
from germane.refine.mixture import Mixture, fit_mixture
from germane.refine.naive_bayes import ONE_PER_CLASS, two_class_refined
from germane.refine.refined import Refined, RefineMethod
from germane.refine.weighting import ResultList, Weighting, checked_weighting


@dataclass(frozen=True, kw_only=True)
class EM(RefineMethod):
    """Naive Bayes on the marks, then E (9) and M (7), (8) steps over all results.

    `unlabelled_weight` is Nigam's λ, the weight of an unmarked result in the M step. Departure: the paper has λ = 1;
    0.1 never ranked worse on the benchmark, and makes EM at least as good as naive Bayes there.
    """

    name: ClassVar[str] = "em"
    iterations: int = 10
    unlabelled_weight: float = 0.1
    weights: Weighting = "tfidf"

    def __post_init__(self) -> None:
        whole("iterations", self.iterations, least=0)
        fraction("unlabelled_weight", self.unlabelled_weight)
        checked_weighting(self.weights)

    def temperatures(self) -> tuple[float, ...]:
        """Of each iteration: 1."""
        return (1.0,) * self.iterations

    def fit(self, results: ResultList, labels: Labels) -> Mixture:
        """The two class models."""
        return fit_mixture(
            results.weighted(self.weights),
            labels,
            labels.astype(np.int64),
            ONE_PER_CLASS,
            temperatures=self.temperatures(),
            unlabelled_weight=self.unlabelled_weight,
        )

    def _refine(self, results: ResultList, labels: Labels) -> Refined:
        return two_class_refined(results, self.weights, self.fit(results, labels))


@dataclass(frozen=True, kw_only=True)
class SAEM(EM):
    """EM with the annealed E step, Refine (15): T falls from `T0` to 1 over the iterations, by `cooling`."""

    name: ClassVar[str] = "saem"
    T0: float = 5.0
    cooling: Cooling = "linear"

    def __post_init__(self) -> None:
        super().__post_init__()
        if number("T0", self.T0) < 1:
            raise ParameterError(f"T0 must be at least 1, not {self.T0!r}")
        self.temperatures()

    def temperatures(self) -> tuple[float, ...]:
        """Of each iteration, from `T0` down to 1."""
        return temperatures(self.cooling, self.T0, self.iterations)
