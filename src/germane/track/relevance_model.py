"""The Relevance Model as a moving average, SD (6.11), (6.12)."""

from dataclasses import dataclass
from typing import ClassVar

from germane.arrays import Floats
from germane.lm.parameters import open_fraction
from germane.track.background import Background
from germane.track.bags import Bag
from germane.track.method import TrackMethod, Weights
from germane.track.representation import LogRatios
from germane.track.sums import TwoMeans


@dataclass(frozen=True)
class RelevanceModel(TrackMethod):
    """θ^R_t = (t·θ^R_{t-1} + θ^t)/(t+1), SD (6.11), with θ^t = λ_M·θ̂^t + (1-λ_M)·θ^GE.

    The score is Σ_{w∈D} (θ^R_w - θ^GE_w)·log(1 + λ_E·θ̂_w/((1-λ_E)·θ^GE_w)): (6.12) without the parts that depend on
    the topic alone, which one threshold for all topics must not see, and against general English. Documents judged
    off topic have a mean of their own, which is taken away with the weight `gamma`; SD has no such step.
    """

    lam_m: float = 0.5
    lam_e: float = 0.01
    gamma: float = 0.25
    name: ClassVar[str] = "rm"

    def __post_init__(self) -> None:
        open_fraction("lam_m", self.lam_m)

    @property
    def representation(self) -> LogRatios:
        return LogRatios(self.lam_e)

    def _tracker(self, background: Background) -> "RelevanceModelTracker":
        return RelevanceModelTracker(self, background)


class RelevanceModelTracker(TwoMeans):
    """Keeps Σ θ̂ over the documents on topic, and off it."""

    def __init__(self, method: RelevanceModel, background: Background) -> None:
        super().__init__(method.representation, background)
        self._lam, self._gamma = method.lam_m, method.gamma

    def _vector(self, bag: Bag) -> Floats:
        return bag.counts / bag.length

    def _read(self) -> Weights:
        mean = self._difference(self._gamma)
        # θ^R - θ^GE = λ·(mean θ̂ - θ^GE), likewise for documents off topic.
        common = -self._lam * (1.0 - self._gamma if self._n_off else 1.0)
        return Weights(mean.terms, self._lam * mean.values, common)
