"""The Smoothed Dirichlet with online EM, kept in log space, SD (6.19)-(6.23)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.lm.parameters import open_fraction, positive
from germane.track.background import Background
from germane.track.bags import Bag
from germane.track.method import Tracker, TrackMethod, Weights
from germane.track.representation import LogRatios
from germane.track.sums import SparseSum


@dataclass(frozen=True)
class SmoothedDirichlet(TrackMethod):
    """α^R = the normalised geometric mean of document models, each with its weight W, SD (6.21).

    θ^i = λ_M·θ̂^i + (1-λ_M)·θ^GE, so log θ^i_w = log((1-λ_M)·θ^GE_w) + x^i_w with x^i sparse (`LogRatios`), and the mean
    is θ^GE_w·exp(Σ_i W_i·x^i_w/Σ_i W_i)/Z: only the sparse part is kept. W(D) = exp(S·score(D)), SD (5.27), under the
    topic as it was when D came; the seeds weigh W_0·max_i W(D_i), SD (6.19). All weights are scaled by the greatest,
    which cancels. The score is Σ_{w∈D} (α^R_w - α^N_w)·log(1 + λ_E·θ̂_w/((1-λ_E)·θ^GE_w)), SD (4.31), with α of sum 1.

    A document judged on topic weighs as a seed. Those judged off it have a geometric mean of their own, in which
    θ^GE counts for `rejection` documents; it takes the place of α^N = θ^GE.
    """

    lam_m: float = 0.01
    lam_e: float = 0.01
    precision: float = 5.0
    seed_weight: float = 2.0
    rejection: float = 5.0
    name: ClassVar[str] = "sd"

    def __post_init__(self) -> None:
        open_fraction("lam_m", self.lam_m)
        positive("precision", self.precision)
        positive("rejection", self.rejection)
        if self.seed_weight < 1.0:
            raise ParameterError(f"seed_weight must be 1 or more, not {self.seed_weight:g}")

    @property
    def representation(self) -> LogRatios:
        return LogRatios(self.lam_e)

    def _tracker(self, background: Background) -> "SmoothedDirichletTracker":
        return SmoothedDirichletTracker(self, background)


class SmoothedDirichletTracker(Tracker):
    """Keeps Σ x over what is known to be on topic, Σ W·x over what was taken to be, and Σ x over what is not."""

    def __init__(self, method: SmoothedDirichlet, background: Background) -> None:
        super().__init__(method.representation, background)
        self.method = method
        self._known, self._taken, self._off = SparseSum(), SparseSum(), SparseSum()
        self._n_known, self._n_off = 0, 0
        self._sum_w, self._log_max = 0.0, -math.inf  # Σ W/max W, log max W

    def seed(self, seeds: Sequence[Bag]) -> None:
        for seed in seeds:
            self._learn(seed, True)

    def _learn(self, bag: Bag, judgement: bool | None) -> None:
        log_ratios = LogRatios(self.method.lam_m).features(bag, self.background).values
        if judgement is True:
            self._known.add(bag.terms, log_ratios)
            self._n_known += 1
        elif judgement is False:
            self._off.add(bag.terms, log_ratios)
            self._n_off += 1
        else:
            self._take(bag, log_ratios, self.method.precision * self.score(bag))

    def _take(self, bag: Bag, log_ratios: Floats, log_weight: float) -> None:
        """Add W·x, everything in units of the greatest W so far."""
        if log_weight > self._log_max:
            shrink = math.exp(self._log_max - log_weight)
            self._taken.scale(shrink)
            self._sum_w *= shrink
            self._log_max = log_weight
        weight = math.exp(log_weight - self._log_max)
        self._taken.add(bag.terms, weight * log_ratios)
        self._sum_w += weight

    def _read(self) -> Weights:
        known = self.method.seed_weight * self._n_known  # in units of max W
        on = SparseSum(self._known.terms, self.method.seed_weight * self._known.values)
        on.add(self._taken.terms, self._taken.values)
        on.scale(1.0 / (known + self._sum_w))
        weights = self._excess(on)
        if not self._n_off:
            return Weights(*weights[:2], weights.common - 1.0)
        off = SparseSum(self._off.terms, self._off.values / (self._n_off + self.method.rejection))
        minus = self._excess(off)
        both = SparseSum(weights.terms, weights.values)
        both.add(minus.terms, -minus.values)
        return Weights(both.terms, both.values, weights.common - minus.common)

    def _excess(self, mean: SparseSum) -> Weights:
        """α_w = θ^GE_w·exp(m_w)/Z as what it has beyond θ^GE_w/Z, and 1/Z for the background.

        Z = Σ_w θ^GE_w·exp(m_w) = 1 + Σ_w θ^GE_w·(exp(m_w) - 1), a sum over the words with m_w other than 0.
        """
        excess = self.background.probability(mean.terms) * np.expm1(mean.values)
        z = 1.0 + float(excess.sum())
        return Weights(mean.terms, excess / z, 1.0 / z)

    def state(self) -> dict[str, Any]:
        return {
            "known_terms": self._known.terms, "known_values": self._known.values, "n_known": self._n_known,
            "taken_terms": self._taken.terms, "taken_values": self._taken.values,
            "sum_w": self._sum_w, "log_max": self._log_max,
            "off_terms": self._off.terms, "off_values": self._off.values, "n_off": self._n_off,
        }  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        self._known = SparseSum(state["known_terms"], state["known_values"])
        self._taken = SparseSum(state["taken_terms"], state["taken_values"])
        self._off = SparseSum(state["off_terms"], state["off_values"])
        self._n_known, self._n_off = int(state["n_known"]), int(state["n_off"])
        self._sum_w, self._log_max = float(state["sum_w"]), float(state["log_max"])
