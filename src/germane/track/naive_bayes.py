"""Naive Bayes with online EM, SD (6.13)-(6.18)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from germane.lm.parameters import open_fraction, positive
from germane.track.background import Background
from germane.track.bags import Bag
from germane.track.method import Tracker, TrackMethod, Weights
from germane.track.representation import Counts
from germane.track.sums import SparseSum


@dataclass(frozen=True)
class NaiveBayes(TrackMethod):
    """θ̂^R_t = (θ̂^R_{t-1}·σ_{t-1} + P(R|D_t)·f^t)/(σ_{t-1} + P(R|D_t)·|D_t|), SD (6.17), smoothed by (6.16).

    The score is Σ_w f_w·log(θ^R_w/θ^GE_w), SD (6.14) without the prior; `mean` divides it by |D|. P(R|D) of the
    E-step has the prior and is never divided. A document judged on topic counts with P = 1, one judged off it with 0.
    """

    lam: float = 0.02
    prior_odds: float = 1e-3
    mean: bool = False
    name: ClassVar[str] = "nb"

    def __post_init__(self) -> None:
        open_fraction("lam", self.lam)
        positive("prior_odds", self.prior_odds)

    @property
    def representation(self) -> Counts:
        return Counts(self.mean)

    def _tracker(self, background: Background) -> "NaiveBayesTracker":
        return NaiveBayesTracker(self, background)


class NaiveBayesTracker(Tracker):
    """Keeps Σ P(R|D)·f and σ = Σ P(R|D)·|D|."""

    def __init__(self, method: NaiveBayes, background: Background) -> None:
        super().__init__(method.representation, background)
        self.method = method
        self._sum, self._sigma = SparseSum(), 0.0

    def seed(self, seeds: Sequence[Bag]) -> None:
        for seed in seeds:
            self._learn(seed, True)

    def posterior(self, bag: Bag) -> float:
        """P(R|D) = L/(1+L), SD (6.13), (6.14)."""
        score = self.score(bag) * (bag.length if self.method.mean else 1.0)
        return 1.0 / (1.0 + math.exp(-min(max(math.log(self.method.prior_odds) + score, -700.0), 700.0)))

    def _learn(self, bag: Bag, judgement: bool | None) -> None:
        weight = self.posterior(bag) if judgement is None else float(judgement)
        if weight > 0.0:
            self._sum.add(bag.terms, weight * bag.counts)
            self._sigma += weight * bag.length

    def _read(self) -> Weights:
        lam = self.method.lam
        ratio = lam / (1.0 - lam) * self._sum.values / self._sigma / self.background.probability(self._sum.terms)
        return Weights(self._sum.terms, np.log1p(ratio), math.log1p(-lam))

    def state(self) -> dict[str, Any]:
        return {"terms": self._sum.terms, "values": self._sum.values, "sigma": self._sigma}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._sum, self._sigma = SparseSum(state["terms"], state["values"]), float(state["sigma"])
