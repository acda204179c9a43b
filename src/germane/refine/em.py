"""Naive Bayes from the marks, and semi-supervised EM with one component a class, plain and annealed: Refine (7)-(9),
§III and §V. EM is that of Nigam et al. (2000)."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np

from germane.arrays import Labels
from germane.errors import ParameterError
from germane.lm.parameters import fraction, number, whole
from germane.refine.calibration import Calibration
from germane.refine.method import Estimate, RefineMethod, linear_estimate
from germane.refine.mixture import Mixture, fit_mixture
from germane.refine.weighting import ResultList, Weighting, checked_weighting

ONE_PER_CLASS = np.array([0, 1])
"""Component 0 for the rejected, component 1 for the relevant: a mark is then its own component."""


@dataclass(frozen=True, kw_only=True)
class NaiveBayes(RefineMethod):
    """log p(c_1|d) - log p(c_0|d), Refine (9), with θ of (7) and (8) from the marked results.

    `weights`: "tfidf" as in the paper, where |V| of (7) is the whole list's vocabulary; "seen", words of marked texts
    alone (`method.over_seen_words`), the better one on lists that were held out; or "counts".
    """

    name: ClassVar[str] = "nb"
    calibration: ClassVar[Calibration] = Calibration(-1.326, 0.242, 0.227)
    weights: Weighting = "seen"

    def __post_init__(self) -> None:
        checked_weighting(self.weights)

    def fit(self, results: ResultList, labels: Labels) -> Mixture:
        """The two class models."""
        return fit_mixture(results.weighted(self.weights), labels, labels.astype(np.int64), ONE_PER_CLASS)

    def _refine(self, results: ResultList, labels: Labels) -> Estimate:
        return two_class_estimate(results, self.weights, self.fit(results, labels))


def two_class_estimate(results: ResultList, weights: Weighting, mixture: Mixture) -> Estimate:
    """Of one component a class: linear in the words, Σ_w x_w (log θ_{w|1} - log θ_{w|0}) + log θ_1 - log θ_0."""
    word_log_odds = mixture.log_theta[:, 1] - mixture.log_theta[:, 0]
    prior_log_odds = float(mixture.log_prior[1] - mixture.log_prior[0])
    return linear_estimate(results, lambda texts: texts.weighted(weights), word_log_odds, prior_log_odds)


Cooling: TypeAlias = Literal["linear", "geometric", "logarithmic"]
COOLINGS: tuple[str, ...] = get_args(Cooling)


def temperatures(cooling: Cooling, T0: float, iterations: int) -> tuple[float, ...]:
    """T_1 = T0, ..., T_n = 1 over n iterations (a single one is at 1); with u = t/(n-1), t = 0...n-1:

    linear       T = T0 + (1 - T0)·u, Refine §VI
    geometric    T = T0^(1-u)
    logarithmic  T ∝ 1/log(t + 2), Geman & Geman 1984, scaled to end at 1: T = 1 + (T0 - 1)·(g_t - g_n)/(g_1 - g_n)
    """
    if cooling not in COOLINGS:
        raise ParameterError(f"cooling is one of {', '.join(COOLINGS)}, not {cooling!r}")
    if iterations < 2:
        return (1.0,) * iterations
    u = np.linspace(0.0, 1.0, iterations)
    if cooling == "linear":
        schedule = T0 + (1.0 - T0) * u
    elif cooling == "geometric":
        schedule = T0 ** (1.0 - u)
    else:
        g = 1.0 / np.log(np.arange(iterations) + 2.0)
        schedule = 1.0 + (T0 - 1.0) * (g - g[-1]) / (g[0] - g[-1])
    return tuple(schedule.tolist())


@dataclass(frozen=True, kw_only=True)
class EM(RefineMethod):
    """Naive Bayes on the marks, then E (9) and M (7), (8) steps over all results.

    `unlabelled_weight` is Nigam's λ, the weight of an unmarked result in the M step. Departure: the paper has λ = 1;
    0.1 never ranked worse on the benchmark, and makes EM at least as good as naive Bayes there. `weights`: as
    `NaiveBayes` has them; the paper's are "tfidf".
    """

    name: ClassVar[str] = "em"
    calibration: ClassVar[Calibration] = Calibration(-1.320, 0.171, 0.225)
    iterations: int = 10
    unlabelled_weight: float = 0.1
    weights: Weighting = "seen"

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

    def _refine(self, results: ResultList, labels: Labels) -> Estimate:
        return two_class_estimate(results, self.weights, self.fit(results, labels))


@dataclass(frozen=True, kw_only=True)
class SAEM(EM):
    """EM with the annealed E step, Refine (15): T falls from `T0` to 1 over the iterations, by `cooling`."""

    name: ClassVar[str] = "saem"
    calibration: ClassVar[Calibration] = Calibration(-1.319, 0.169, 0.225)
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
