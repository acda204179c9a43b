"""The method of Germane's own: the mean direction of what is known, bounded against what is merely taken for it."""

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
class BoundedMean(TrackMethod):
    """score(D) = Σ_{w∈D} t_w·log(1 + λ·θ̂_w/((1-λ)·θ^GE_w)): documents as SD (4.31) reads them, and a topic of length 1.

    Each document on topic is a direction u = θ̂/‖θ̂‖. With K = Σ u over the n seeds and documents judged on topic, and
    T = Σ u over the m documents that were only taken to be on topic,

        t = (K + g·T)/‖K + g·T‖,  g = min(1, share·n/m):

    however many are taken, together they weigh no more than `share` of what is known. Length 1, not sum 1 as for the
    relevance model, makes the scores of long and short seeds comparable; general English is not taken away, since its
    part depends on the document alone. With c documents judged off topic, Σ u of those over (c + `rejection`) is taken
    away from t.
    """

    lam: float = 0.01
    share: float = 0.5
    rejection: float = 5.0
    name: ClassVar[str] = "germane"

    def __post_init__(self) -> None:
        open_fraction("lam", self.lam)
        positive("rejection", self.rejection)
        if not self.share >= 0.0:
            raise ParameterError(f"share must be 0 or more, not {self.share:g}")

    @property
    def representation(self) -> LogRatios:
        return LogRatios(self.lam)

    def _tracker(self, background: Background) -> "BoundedMeanTracker":
        return BoundedMeanTracker(self, background)


class BoundedMeanTracker(Tracker):
    """Keeps Σ u over what is known to be on topic, over what was taken to be, and over what is not."""

    def __init__(self, method: BoundedMean, background: Background) -> None:
        super().__init__(method.representation, background)
        self.method = method
        self._known, self._taken, self._off = SparseSum(), SparseSum(), SparseSum()
        self._n_known, self._n_taken, self._n_off = 0, 0, 0

    def seed(self, seeds: Sequence[Bag]) -> None:
        for seed in seeds:
            self._learn(seed, True)

    def _learn(self, bag: Bag, judgement: bool | None) -> None:
        direction: Floats = bag.counts / np.linalg.norm(bag.counts)
        if judgement is True:
            self._known.add(bag.terms, direction)
            self._n_known += 1
        elif judgement is False:
            self._off.add(bag.terms, direction)
            self._n_off += 1
        else:
            self._taken.add(bag.terms, direction)
            self._n_taken += 1

    def _read(self) -> Weights:
        topic = SparseSum(self._known.terms, self._known.values)
        if self._n_taken:
            bound = min(1.0, self.method.share * self._n_known / self._n_taken)
            topic.add(self._taken.terms, bound * self._taken.values)
        topic.scale(1.0 / float(np.linalg.norm(topic.values)))
        if self._n_off:
            topic.add(self._off.terms, -self._off.values / (self._n_off + self.method.rejection))
        return Weights(topic.terms, topic.values, 0.0)

    def state(self) -> dict[str, Any]:
        return {
            "known_terms": self._known.terms, "known_values": self._known.values, "n_known": self._n_known,
            "taken_terms": self._taken.terms, "taken_values": self._taken.values, "n_taken": self._n_taken,
            "off_terms": self._off.terms, "off_values": self._off.values, "n_off": self._n_off,
        }  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        self._known = SparseSum(state["known_terms"], state["known_values"])
        self._taken = SparseSum(state["taken_terms"], state["taken_values"])
        self._off = SparseSum(state["off_terms"], state["off_values"])
        self._n_known, self._n_taken = int(state["n_known"]), int(state["n_taken"])
        self._n_off = int(state["n_off"])
