"""When is a score high enough? Scores made comparable between topics and over time, and a threshold from costs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from germane.arrays import Floats
from germane.lazy import on_first_use
from germane.lm.parameters import open_fraction, positive
from germane.track.background import Background
from germane.track.bags import Bag, Batch
from germane.track.method import Tracker, TrackMethod, Weights
from germane.track.percolator import Reading
from germane.track.representation import Representation

with on_first_use(__name__):
    from scipy import special

TAILS = (0.1, 0.01)
"""The shares of background text that fix the scale of a typical topic: it is true where thresholds lie."""
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
    """Costs of a miss and of a false alarm, and the expected share of documents on topic, SD (6.1)."""

    miss: float = 10.0
    false_alarm: float = 1.0
    p_target: float = 0.02

    def __post_init__(self) -> None:
        positive("miss", self.miss)
        positive("false_alarm", self.false_alarm)
        open_fraction("p_target", self.p_target)

    @property
    def ratio(self) -> float:
        """Weight of P_FA against P_Miss: (1 - P_target)·C_FA/(P_target·C_Miss)."""
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
        self._means: dict[TrackMethod, tuple[int, Floats]] = {}

    def start(self, method: TrackMethod, seeds: Sequence[Bag]) -> Tracker:
        """A tracker of the seeds' topic that is told of its neighbours in the sample, where its method wants that.

        Copies of a seed are none: they tell nothing new.
        """
        tracker = method.start(seeds, self.background)
        if method.neighbours and self.bags:
            scores = self.scores(tracker.weights, method.representation)
            ordered = (self.bags[place] for place in np.argsort(-scores, kind="stable").tolist())
            others = (bag for bag in ordered if not any(_same(bag, seed) for seed in seeds))
            near = list(islice(others, method.neighbours))
            tracker.recall(near, self._mean(method))
        return tracker

    def _mean(self, method: TrackMethod) -> Floats:
        found = self._means.get(method)
        if found is None or found[0] != self.background.version:
            mean = method.mean_of(self.bags, self.background)
            found = self._means[method] = self.background.version, mean
        return found[1]

    def scores(self, weights: Weights, representation: Representation) -> Floats:
        """The topic's score of every document of the sample."""
        found = self._readings.get(representation)
        if found is None or found[0] != self.background.version:
            reading = Reading(self.bags, self._batch, representation.read(self._batch, self.background))
            found = self._readings[representation] = self.background.version, reading
        return found[1].scores(weights)

    def scale(self, method: TrackMethod) -> Scale:
        """Return the scores of background text of a method, made once for each state of the background.

        Up to `SEEDS` documents of one half of the sample each start a topic, with their neighbours in that half, and
        those of the other half are scored: no topic has seen what it scores. The scale is the line through the two
        `TAILS` of a topic's scores, at the median over topics, and the normal deviates of the same tails. The median,
        and not the tails of all scores together: a topic that is half of the stream must not count for all. One scale
        serves all topics of a method: their scores are comparable as they are (MinCost is higher where each topic has
        a scale of its own), but their level depends on the stream, on its background and on how long documents are.
        """
        found = self._scales.get(method)
        if found is None or found[0] != self.background.version:
            found = self._scales[method] = self.background.version, self._scale(method)
        return found[1]

    def _scale(self, method: TrackMethod) -> Scale:
        told = [bag for bag in self.bags if len(bag.terms)]
        if len(told) < 2:
            return Scale(0.0, 1.0)
        known, unseen = (Reference(half, self.background) for half in (told[::2], told[1::2]))
        places = np.unique(np.linspace(0, len(known.bags) - 1, min(SEEDS, len(known.bags))).astype(int))
        topics = [known.start(method, [known.bags[place]]).weights for place in places]
        found = np.array([unseen.scores(topic, method.representation) for topic in topics])
        tails = np.quantile(found, [1.0 - tail for tail in TAILS], axis=1)
        low, high = np.median(tails, axis=1).tolist()

        below, above = (-special.ndtri(tail) for tail in TAILS)
        spread = float((high - low) / (above - below))
        noise = ROUNDING * float(np.abs(found).max())
        if spread <= noise:  # hardly any document shares a word with another, or all share the same
            deviation = float(found.std())
            return Scale(float(found.mean()), deviation if deviation > noise else 1.0)
        return Scale(float(low - below * spread), spread)


def _same(a: Bag, b: Bag) -> bool:
    return np.array_equal(a.terms, b.terms) and np.array_equal(a.counts, b.counts)


def thresholds(costs: Costs) -> Thresholds:
    """T_d = LEVEL + SLOPE·log r with r = (1-P_target)·C_FA/(P_target·C_Miss), and T_a = T_d + UNASKED.

    P_Miss(T) + r·P_FA(T) is least where dP_Miss/dT = -r·dP_FA/dT. Where misses grow evenly with T and false alarms fall
    by an even share, that is a T linear in log r.
    """
    decision = LEVEL + SLOPE * math.log(costs.ratio)
    return Thresholds(decision, decision + UNASKED)


def costs_at(decision: float, costs: Costs) -> Costs:
    """The costs under which T_d is `decision`: of those given, with another C_Miss. The inverse of `thresholds`.

    >>> round(costs_at(thresholds(Costs(miss=25.0)).decision, Costs()).miss, 6)
    25.0
    """
    ratio = math.exp((decision - LEVEL) / SLOPE)
    miss = (1.0 - costs.p_target) * costs.false_alarm / (costs.p_target * ratio)
    return Costs(miss, costs.false_alarm, costs.p_target)
