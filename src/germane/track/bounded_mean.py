"""The method of Germane's own: the mean direction of what is known, what it brings to mind, and a bound on guesses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.lm.parameters import positive
from germane.track.background import Background
from germane.track.bags import Bag, Batch
from germane.track.method import Tracker, TrackMethod, Weights
from germane.track.representation import PivotedLogRatios
from germane.track.sums import SparseSum

RARITY = 0.3
"""The power of a word's idf in a direction: rare words weigh a little more than their counts say."""
EVENNESS = 0.8
"""The power of a topic's weights: below 1, words that it has seldom met count for more."""
ECHO_WORDS = 50
"""Words of the echo that are kept, so that a document meets many topics quickly."""


@dataclass(frozen=True)
class BoundedMean(TrackMethod):
    """score(D) = Σ_{w∈D} t_w·log(1 + L·θ̂_w/(μ·θ^GE_w)), with L the background's mean |D|, and a topic t of length 1.

    A document is a direction u = v/‖v‖, v_w = f_w·idf_w^`RARITY`. With K = Σ u over the n seeds and documents judged on
    topic, T = Σ u over the m documents that were only taken to be on topic, and an echo E,

        t ∝ (K + g·T + `echo`·E)^`EVENNESS`,  g = min(1, share·n/m).

    However many are taken, together they weigh no more than `share` of what is known. The echo is what else is said
    where the seeds' words are: E_w = max(0, ū_w - ū^C_w), the mean of u over the `neighbours` documents of background
    text that score highest by the seeds, less the mean over all of it; the `ECHO_WORDS` greatest are kept. Length 1,
    not sum 1 as for the relevance model, makes scores of long and short seeds comparable; general English is not taken
    away, since its part depends on the document alone. With c documents judged off topic, Σ u of those over
    (c + `rejection`) is taken away from t.
    """

    mu: float = 5000.0
    share: float = 0.5
    echo: float = 3.0
    neighbours: int = 20
    rejection: float = 5.0
    name: ClassVar[str] = "germane"

    def __post_init__(self) -> None:
        positive("mu", self.mu)
        positive("rejection", self.rejection)
        for name in ("share", "echo", "neighbours"):
            if not getattr(self, name) >= 0:
                raise ParameterError(f"{name} must be 0 or more, not {getattr(self, name):g}")

    @property
    def representation(self) -> PivotedLogRatios:
        return PivotedLogRatios(self.mu)

    def mean_of(self, bags: Sequence[Bag], background: Background) -> Floats:
        batch = Batch(bags)
        mean: Floats = np.bincount(batch.terms, _directions(batch, background)) / max(len(bags), 1)
        return mean

    def _tracker(self, background: Background) -> "BoundedMeanTracker":
        return BoundedMeanTracker(self, background)


class BoundedMeanTracker(Tracker):
    """Keeps Σ u over what is known to be on topic, over what was taken to be, and over what is not; and the echo."""

    def __init__(self, method: BoundedMean, background: Background) -> None:
        super().__init__(method.representation, background)
        self.method = method
        self._known, self._taken, self._off, self._echo = SparseSum(), SparseSum(), SparseSum(), SparseSum()
        self._n_known, self._n_taken, self._n_off = 0, 0, 0

    def seed(self, seeds: Sequence[Bag]) -> None:
        for seed in seeds:
            self._learn(seed, True)

    def recall(self, near: Sequence[Bag], general: Floats) -> None:
        mean = self.method.mean_of(near, self.background)
        excess = mean - general[: len(mean)]
        said = np.flatnonzero(excess > 0.0)  # a few of very many words
        terms = np.sort(said[np.argsort(-excess[said], kind="stable")[:ECHO_WORDS]])
        self._echo = SparseSum(terms, excess[terms])
        self._weights = None

    def _learn(self, bag: Bag, judgement: bool | None) -> None:
        direction = _directions(Batch([bag]), self.background)
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
        if len(self._echo.terms):
            topic.add(self._echo.terms, self.method.echo * self._echo.values)
        topic.values = topic.values**EVENNESS
        topic.scale(1.0 / float(np.linalg.norm(topic.values)))
        if self._n_off:
            topic.add(self._off.terms, -self._off.values / (self._n_off + self.method.rejection))
        return Weights(topic.terms, topic.values, 0.0)

    def state(self) -> dict[str, Any]:
        return {
            "known_terms": self._known.terms, "known_values": self._known.values, "n_known": self._n_known,
            "taken_terms": self._taken.terms, "taken_values": self._taken.values, "n_taken": self._n_taken,
            "off_terms": self._off.terms, "off_values": self._off.values, "n_off": self._n_off,
            "echo_terms": self._echo.terms, "echo_values": self._echo.values,
        }  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        self._known = SparseSum(state["known_terms"], state["known_values"])
        self._taken = SparseSum(state["taken_terms"], state["taken_values"])
        self._off = SparseSum(state["off_terms"], state["off_values"])
        self._echo = SparseSum(state["echo_terms"], state["echo_values"])
        self._n_known, self._n_taken = int(state["n_known"]), int(state["n_taken"])
        self._n_off = int(state["n_off"])


def _directions(batch: Batch, background: Background) -> Floats:
    """u of every document, one after another."""
    values = batch.counts * background.idf(batch.terms) ** RARITY
    directions: Floats = values / np.sqrt(batch.sums(values * values))[batch.owners]
    return directions
