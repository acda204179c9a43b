"""EM with several components for the non-relevant class (MMEM), Refine (10), started by clustering (§IV)."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from germane.arrays import Floats, Integers, Labels
from germane.errors import ParameterError
from germane.lm.parameters import fraction, whole
from germane.refine.calibration import Calibration
from germane.refine.clustering import MOST_COMPONENTS, Hierarchy, best_cut, farthest_neighbour, information_bottleneck
from germane.refine.method import TOP_WORDS, Component, Contributions, Estimate, RefineMethod, row_of
from germane.refine.mixture import Mixture, fit_mixture
from germane.refine.weighting import ResultList, Weighting, checked_weighting
from germane.types import Mark

FEWEST_CLUSTERED = 4
"""With fewer rejected results there is one component for them: plain EM."""

MOST_CLUSTERED = 200
"""Of more rejected results the first are clustered (in cubic time); the others join a component in the first E step."""


@dataclass(frozen=True, kw_only=True)
class MultiMixture(RefineMethod):
    """log Σ_{c∈G_1} p(c|d) - log Σ_{c∈G_0} p(c|d), Refine (10): one relevant component, several non-relevant ones.

    `components` fixes their number; None chooses it by the Davies-Bouldin index, at most `most_components`. The other
    parameters are `EM`'s. Contributions are the slope of (10) at the result, an approximation: log p(w|relevant) minus
    the mean of log p(w|c) over the non-relevant components, weighted by p(c|d).
    """

    contributions_add_up: ClassVar[bool] = False
    components: int | None = None
    most_components: int = MOST_COMPONENTS
    iterations: int = 10
    unlabelled_weight: float = 0.1
    weights: Weighting = "tfidf"

    def __post_init__(self) -> None:
        if self.components is not None:
            whole("components", self.components, least=1)
        whole("most_components", self.most_components, least=2)
        whole("iterations", self.iterations, least=0)
        fraction("unlabelled_weight", self.unlabelled_weight)
        checked_weighting(self.weights)

    def fit(self, results: ResultList, labels: Labels) -> Mixture:
        """The non-relevant components, then the relevant one."""
        return fit_mixture(
            results.weighted(self.weights),
            labels,
            *self.start(results, labels),
            temperatures=(1.0,) * self.iterations,
            unlabelled_weight=self.unlabelled_weight,
        )

    def start(self, results: ResultList, labels: Labels) -> tuple[Integers, Integers]:
        """The component in which each result starts (-1: none), and the class of each component, the relevant last."""
        rejected = np.flatnonzero(labels == Mark.NOT_RELEVANT)[:MOST_CLUSTERED]
        cluster = self._clusters(results.weighted(self.weights)[rejected])
        K = int(cluster.max()) + 1
        start = np.full(len(labels), -1)
        start[rejected], start[labels == Mark.RELEVANT] = cluster, K
        return start, np.array([Mark.NOT_RELEVANT] * K + [Mark.RELEVANT])

    @abstractmethod
    def _clusters(self, rejected: Any) -> Integers:
        """The component, from 0, in which each of these rows starts."""

    def _cut(self, clustering: Callable[[Any], Hierarchy], rejected: Any) -> Integers:
        """The clusters of a hierarchy, as many as asked for or as the Davies-Bouldin index finds."""
        n = rejected.shape[0]
        if self.components is not None:
            return clustering(rejected).cut(min(self.components, n))
        if n < FEWEST_CLUSTERED:
            return np.zeros(n, np.int64)
        return best_cut(clustering(rejected), self.most_components)

    def _refine(self, results: ResultList, labels: Labels) -> Estimate:
        mixture = self.fit(results, labels)
        weights = results.weighted(self.weights)

        def contributions(i: int) -> Contributions:
            words, values = row_of(weights, i)
            return Contributions(words, values * mixture.word_log_odds(i)[words])

        def decide(texts: ResultList) -> Floats:
            return mixture.log_odds_of(texts.weighted(self.weights))

        return Estimate(mixture.log_odds, topics(mixture), contributions=contributions, decide=decide)


@dataclass(frozen=True, kw_only=True)
class MultiMixtureKL(MultiMixture):
    """MMEM(KL): farthest-neighbour clustering under symmetric KL, Refine algorithm 1."""

    name: ClassVar[str] = "mmem-kl"
    calibration: ClassVar[Calibration] = Calibration(-1.363, 0.439, 0.231)

    def _clusters(self, rejected: Any) -> Integers:
        return self._cut(farthest_neighbour, rejected)


@dataclass(frozen=True, kw_only=True)
class MultiMixtureAIB(MultiMixture):
    """MMEM(AIB): agglomerative information bottleneck, Refine §IV.A."""

    name: ClassVar[str] = "mmem-aib"
    calibration: ClassVar[Calibration] = Calibration(-1.371, 0.474, 0.232)

    def _clusters(self, rejected: Any) -> Integers:
        return self._cut(information_bottleneck, rejected)


@dataclass(frozen=True, kw_only=True)
class MultiMixtureRandom(MultiMixture):
    """MMEM of Nigam et al.: the rejected dealt out at random to `components` of equal size, as in Refine figure 1."""

    name: ClassVar[str] = "mmem-random"
    components: int | None = 2
    random_state: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.components is None:
            raise ParameterError("random components need their number")
        whole("random_state", self.random_state, least=0)

    def _clusters(self, rejected: Any) -> Integers:
        n = rejected.shape[0]
        dealt = np.arange(n) % min(self.components or 1, n)
        return np.random.default_rng(self.random_state).permutation(dealt)


def topics(mixture: Mixture) -> tuple[Component, ...]:
    """The non-relevant components, with the results most likely theirs."""
    theta = np.exp(mixture.log_theta)
    log_p = np.log(theta @ np.exp(mixture.log_prior))
    of = mixture.responsibilities.argmax(axis=1)
    found = []
    for j in np.flatnonzero(mixture.classes == Mark.NOT_RELEVANT):
        members = np.flatnonzero(of == j)
        members = members[np.argsort(-mixture.responsibilities[members, j], kind="stable")]
        telling = theta[:, j] * (mixture.log_theta[:, j] - log_p)
        words = np.argsort(-telling, kind="stable")[:TOP_WORDS]
        found.append(Component(members, words, telling[words]))
    return tuple(found)
