"""Many topics at once: a document meets those topics only that share a word with it. Exact."""

from collections.abc import Sequence

import numpy as np

from germane.arrays import Floats
from germane.track.bags import Bag, Batch
from germane.track.inverted import InvertedVectors
from germane.track.method import Tracker, Weights
from germane.track.representation import BatchFeatures, Representation

PLAIN = 500
"""So many scores or fewer are made topic by topic: a compiler is not worth waiting for."""
STALE = 0.02
"""The share of topics that may have changed since their words were last turned round."""


class Reading:
    """Documents as one representation reads them, ready to be scored by any topic."""

    def __init__(self, bags: Sequence[Bag], batch: Batch, features: BatchFeatures) -> None:
        self.bags, self.batch = bags, batch
        self.values, self.common = features
        self._inverted: InvertedVectors | None = None

    def scores(self, weights: Weights) -> Floats:
        """The topic's score of each document."""
        if self._inverted is None:
            self._inverted = InvertedVectors(self.batch.terms, self.values, self.batch.sizes)
        scores: Floats = self._inverted.dots(weights.terms, weights.values) + weights.common * self.common
        return scores


class _Group:
    """The topics that read documents alike."""

    def __init__(self, representation: Representation, trackers: Sequence[Tracker], columns: Sequence[int]) -> None:
        self.representation, self.trackers = representation, trackers
        self.columns = np.array(columns, np.int64)
        self._turned: list[Weights] = []
        self._inverted = InvertedVectors.of([])
        self._common = np.zeros(0)

    def scores(self, reading: Reading) -> Floats:
        """The scores of all documents (rows) by all topics (columns)."""
        now = [tracker.weights for tracker in self.trackers]
        if len(reading.bags) * len(now) <= PLAIN:
            return np.stack([reading.scores(topic) for topic in now], axis=1)
        stale = [t for t, (old, new) in enumerate(zip(self._turned, now, strict=False)) if old is not new]
        if not self._turned or len(stale) > STALE * len(now):
            self._turned, stale = now, []
            self._inverted = InvertedVectors.of([(topic.terms, topic.values) for topic in now])
            self._common = np.array([topic.common for topic in now])
        scores = self._inverted.matrix(reading.batch.terms, reading.values, reading.batch.sizes)
        scores += self._common * reading.common[:, None]
        for t in stale:
            scores[:, t] = reading.scores(now[t])
        return scores


class Percolator:
    """Scores documents by all of some topics, as each `Tracker.score` would, to the last bit.

    The words of all topics are turned round once: for a word, the topics that hold it. A topic that has learnt since is
    scored apart, until many have.
    """

    def __init__(self, trackers: Sequence[Tracker]) -> None:
        self.trackers = tuple(trackers)
        by_reading: dict[Representation, list[int]] = {}
        for column, tracker in enumerate(self.trackers):
            by_reading.setdefault(tracker.representation, []).append(column)
        self._groups = [
            _Group(representation, [self.trackers[column] for column in columns], columns)
            for representation, columns in by_reading.items()
        ]

    def read(self, bags: Sequence[Bag]) -> dict[Representation, Reading]:
        """The documents as each of the topics' representations reads them."""
        batch = Batch(bags)
        return {
            group.representation: Reading(bags, batch, group.representation.read(batch, group.trackers[0].background))
            for group in self._groups
        }

    def scores(self, readings: dict[Representation, Reading]) -> Floats:
        """The scores of all documents that were `read` (rows) by all topics (columns)."""
        n_bags = len(next(iter(readings.values())).bags) if readings else 0
        scores = np.zeros((n_bags, len(self.trackers)))
        for group in self._groups if n_bags else ():
            scores[:, group.columns] = group.scores(readings[group.representation])
        return scores
