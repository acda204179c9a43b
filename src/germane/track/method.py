"""What every method of tracking has: start from seeds, score a document, learn from it. Online, in constant memory."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from germane.arrays import Floats, Integers
from germane.errors import ParameterError
from germane.track.background import Background
from germane.track.bags import Bag
from germane.track.representation import Features, Representation


class Weights(NamedTuple):
    """A topic as a linear function of what a document shows: words ascending, their α, and the background's α_0."""

    terms: Integers
    values: Floats
    common: float


class TrackMethod(ABC):
    """A method with its parameters: a frozen dataclass."""

    name: ClassVar[str]

    @property
    def neighbours(self) -> int:
        """How many documents of background text, those most like the seeds, a topic is told of when it begins."""
        return 0

    @property
    @abstractmethod
    def representation(self) -> Representation:
        """How it reads documents."""

    def start(self, seeds: Sequence[Bag], background: Background) -> "Tracker":
        """A tracker of the topic that the seeds tell of. `ParameterError` where they have no word."""
        told = [seed for seed in seeds if len(seed.terms)]
        if not told:
            raise ParameterError("a topic needs a seed with at least one word that is not a stop word")
        tracker = self._tracker(background)
        tracker.seed(told)
        return tracker

    def resume(self, state: Mapping[str, Any], background: Background) -> "Tracker":
        """The tracker whose `state()` this is: it scores and learns on, bit by bit."""
        tracker = self._tracker(background)
        tracker.restore(state)
        return tracker

    def mean_of(self, bags: Sequence[Bag], background: Background) -> Floats:
        """The mean of what a topic keeps of documents, for every word up to the last; of methods with `neighbours`."""
        raise NotImplementedError

    @abstractmethod
    def _tracker(self, background: Background) -> "Tracker":
        """An empty tracker of this method."""


class Tracker(ABC):
    """One topic: `score` documents, `update` with those it should learn from."""

    def __init__(self, representation: Representation, background: Background) -> None:
        self.representation, self.background = representation, background
        self._weights: tuple[int, Weights] | None = None

    @property
    def weights(self) -> Weights:
        """The topic now, under the background of now; made when it is first asked for after a change."""
        if self._weights is None or self._weights[0] != self.background.version:
            self._weights = self.background.version, self._read()
        return self._weights[1]

    def features(self, bag: Bag) -> Features:
        """How this topic's method reads the document."""
        return self.representation.features(bag, self.background)

    def score(self, bag: Bag) -> float:
        """Σ_{w∈D} α_w·x_w(D) + α_0·b(D): how much the document is of the topic. 0 for one without words."""
        return linear_score(self.weights, bag, self.features(bag))

    def update(self, bag: Bag, judgement: bool | None = None) -> None:
        """Learn from a document: judged on topic or not by a person, or (None) only taken to be on topic."""
        if len(bag.terms):
            self._learn(bag, judgement)
            self._weights = None

    @abstractmethod
    def seed(self, seeds: Sequence[Bag]) -> None:
        """Begin with the seeds, each with words."""

    def recall(self, near: Sequence[Bag], general: Floats) -> None:
        """Be told of the background text most like the seeds, and of `TrackMethod.mean_of` over all such text."""
        raise NotImplementedError

    @abstractmethod
    def _learn(self, bag: Bag, judgement: bool | None) -> None: ...

    @abstractmethod
    def _read(self) -> Weights: ...

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """All it knows, as arrays and numbers."""

    @abstractmethod
    def restore(self, state: Mapping[str, Any]) -> None:
        """Know what `state` told."""


def linear_score(weights: Weights, bag: Bag, features: Features) -> float:
    """Σ_{w∈D} α_w·x_w + α_0·b, added word by word in ascending order, the background last: as the percolator adds."""
    places = np.searchsorted(weights.terms, bag.terms)
    places[places == len(weights.terms)] = 0
    shared = weights.terms[places] == bag.terms if len(weights.terms) else np.zeros(len(bag.terms), bool)
    products = weights.values[places[shared]] * features.values[shared]
    total = float(np.add.accumulate(products)[-1]) if len(products) else 0.0
    return total + weights.common * features.common
