"""The vector space with Rocchio adaptation, SD (6.2)-(6.4)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from germane.arrays import Floats
from germane.track.background import Background
from germane.track.bags import Bag
from germane.track.method import TrackMethod, Weights
from germane.track.representation import UnitTfIdf
from germane.track.sums import TwoMeans


@dataclass(frozen=True)
class VectorSpace(TrackMethod):
    """Cosine of tf-idf vectors; the topic is the mean vector, v_t = (t·v_{t-1} + v(D_t))/(t+1), SD (6.4).

    A document judged off topic is taken away with the weight `gamma`, as Rocchio does; there is no such step in SD.
    """

    gamma: float = 0.25
    name: ClassVar[str] = "vsm"

    @property
    def representation(self) -> UnitTfIdf:
        return UnitTfIdf()

    def _tracker(self, background: Background) -> "VectorSpaceTracker":
        return VectorSpaceTracker(self, background)


class VectorSpaceTracker(TwoMeans):
    """Keeps Σ f over the documents on topic, and off it: idf is the same for all, and applied on reading."""

    def __init__(self, method: VectorSpace, background: Background) -> None:
        super().__init__(method.representation, background)
        self._gamma = method.gamma

    def _vector(self, bag: Bag) -> Floats:
        return bag.counts

    def _read(self) -> Weights:
        mean = self._difference(self._gamma)
        vector = mean.values * self.background.idf(mean.terms)
        norm = float(np.linalg.norm(vector))
        return Weights(mean.terms, vector / norm if norm > 0.0 else vector, 0.0)
