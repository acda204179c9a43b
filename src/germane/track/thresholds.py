"""When is a score high enough? Scores made comparable between topics and over time, and a threshold from costs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from germane.arrays import Floats
from germane.lm.parameters import open_fraction, positive
from germane.track.background import Background
from germane.track.bags import Bag, Batch
from germane.track.method import TrackMethod, Weights
from germane.track.percolator import Reading
from germane.track.representation import Representation

TAILS = (0.1, 0.01)
"""The shares of background text that fix the scale: it is true where thresholds lie."""
SEEDS = 64
"""Documents of the sample that stand for topics."""
LEVEL, SLOPE = 1.33, 0.27
"""T_d = LEVEL + SLOPE·log r: of the cost dials 1/2 to 5 on two streams, fitted to where the cost was least."""
UNASKED = 1.0
"""T_a lies so far above T_d."""

ROUNDING = 1e-9
"""Scores that differ by less, as a share of the largest, do not differ."""


@dataclass(frozen=True)
class Costs:
    """What a miss and a false alarm cost, and how many documents of a stream are expected on topic, SD (6.1)."""

    miss: float = 10.0
    false_alarm: float = 1.0
    p_target: float = 0.02

    def __post_init__(self) -> None:
        positive("miss", self.miss)
        positive("false_alarm", self.false_alarm)
        open_fraction("p_target", self.p_target)

    @property
    def ratio(self) -> float:
        """What P_FA weighs against P_Miss: (1 - P_target)·C_FA/(P_target·C_Miss)."""
        return (1.0 - self.p_target) * self.false_alarm / (self.p_target * self.miss)


class Thresholds(NamedTuple):
    """On the normalised scale: deliver from `decision` on, learn without a judgement from `adaptation` on."""

    decision: float
    adaptation: float


class Scale(NamedTuple):
    """The normalised score is (score - centre)/spread, a normal deviate: Φ(-z) of background text scores z or more."""

    centre: float
    spread: float

    def normalised(self, score: float) -> float:
        """The score in spreads above the centre."""
        return (score - self.centre) / self.spread


class Reference:
    """A sample of background text that scores are held against."""

    def __init__(self, bags: Sequence[Bag], background: Background) -> None:
        self.bags, self.background = tuple(bags), background
        self._batch = Batch(self.bags)
        self._readings: dict[Representation, tuple[int, Reading]] = {}
        self._scales: dict[TrackMethod, tuple[int, Scale]] = {}

    def scores(self, weights: Weights, representation: Representation) -> Floats:
        """The topic's score of every document of the sample."""
        found = self._readings.get(representation)
        if found is None or found[0] != self.background.version:
            reading = Reading(self.bags, self._batch, representation.read(self._batch, self.background))
            found = self._readings[representation] = self.background.version, reading
        return found[1].scores(weights)

    def scale(self, method: TrackMethod) -> Scale:
        """Where a method's scores of background text lie, made once for each state of the background.

        Up to `SEEDS` documents of the sample each start a topic, and all others are scored by it. The scale is the line
        through the two `TAILS` of these scores and the normal deviates of the same tails. One scale serves all topics
        of a method: their scores are comparable as they are (MinCost is higher where each topic has a scale of its
        own), but their level depends on the stream, on its background and on how long its documents are.
        """
        found = self._scales.get(method)
        if found is None or found[0] != self.background.version:
            found = self._scales[method] = self.background.version, self._scale(method)
        return found[1]

    def _scale(self, method: TrackMethod) -> Scale:
        told = np.flatnonzero(self._batch.sizes).tolist()
        if len(told) < 2:
            return Scale(0.0, 1.0)
        places = np.unique(np.linspace(0, len(told) - 1, min(SEEDS, len(told))).astype(int))
        found = []
        for seed in (told[place] for place in places):
            weights = method.start([self.bags[seed]], self.background).weights
            found.append(np.delete(self.scores(weights, method.representation), seed))
        pooled = np.concatenate(found)
        low, high = np.quantile(pooled, [1.0 - tail for tail in TAILS]).tolist()
        from scipy.special import ndtri  # takes a third of a second to load

        below, above = (-ndtri(tail) for tail in TAILS)
        spread = float((high - low) / (above - below))
        noise = ROUNDING * float(np.abs(pooled).max())
        if spread <= noise:  # hardly any document shares a word with another, or all share the same
            deviation = float(pooled.std())
            return Scale(float(pooled.mean()), deviation if deviation > noise else 1.0)
        return Scale(float(low - below * spread), spread)


def thresholds(costs: Costs) -> Thresholds:
    """T_d = LEVEL + SLOPE·log r with r = (1-P_target)·C_FA/(P_target·C_Miss), and T_a = T_d + UNASKED.

    P_Miss(T) + r·P_FA(T) is least where dP_Miss/dT = -r·dP_FA/dT. Where misses grow evenly with T and false alarms fall
    by an even share, that is a T linear in log r.
    """
    decision = LEVEL + SLOPE * math.log(costs.ratio)
    return Thresholds(decision, decision + UNASKED)
