"""All topics of a stream together: batches of documents in, what each topic delivers out, as if one by one."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from germane.arrays import Floats, Integers, Mask
from germane.lazy import LazyModule, compiler_is_loaded
from germane.track.bags import Bag
from germane.track.follower import Follower
from germane.track.method import TrackMethod
from germane.track.missed import BIN, BINS_A_LAYER, N_LAYERS, depths_of, layers_of
from germane.track.percolator import Percolator, Reading
from germane.track.representation import Representation

if TYPE_CHECKING:
    from germane.track import percolator_kernels as kernels
else:
    kernels = LazyModule("germane.track.percolator_kernels")

CHUNK = 256
"""Documents that are scored together; what comes out does not depend on it."""
REACH = 60
"""The tally has so many bins below and above the decision threshold; the outermost take what is beyond."""
SAMPLE = 8
"""Documents kept by lot from each layer of what is not delivered, to be judged."""


class Hits(NamedTuple):
    """What topics do with documents: each that is delivered, learnt from or sampled, by document and then by topic.

    `document`: its place in the batch; `topic`: its place among the names; `score`: the normalised one; `sampled`: not
    delivered, but kept by lot to be judged, so that it is known what is missed (`missed.py`).
    """

    document: Integers
    topic: Integers
    score: Floats
    delivered: Mask
    learnt: Mask
    sampled: Mask


class TopicSet:
    """Topics by name, followed through one stream, with one reference.

    `process` gives for a batch what `Follower.see` gives document by document. It keeps a tally of all normalised
    scores: `tally[t]` counts those of the topic `names[t]`, in bins of `missed.BIN`, with an edge at T_d. And it
    chooses documents to be judged: of every layer below T_d the `SAMPLE` with the smallest lots so far.
    """

    def __init__(self, followers: Mapping[str, Follower], tally: Integers | None = None) -> None:
        self.names = tuple(followers)
        self.followers = tuple(followers.values())
        self._percolator = Percolator([follower.tracker for follower in self.followers])
        self._decision = np.array([follower.thresholds.decision for follower in self.followers])
        self._learns_from = np.array([follower.learns_from for follower in self.followers])
        methods: dict[TrackMethod, int] = {}
        self._method = np.array(
            [methods.setdefault(each.following.method, len(methods)) for each in self.followers], np.int64
        )
        self._examples = [self.followers[place] for place in np.unique(self._method, return_index=True)[1]]
        shape = len(self.names), 2 * REACH
        self.tally: Integers = np.zeros(shape, np.int64) if tally is None else np.array(tally, np.int64).reshape(shape)
        self._lots = np.full((len(self.names), N_LAYERS, SAMPLE), np.inf)

    def process(self, bags: Sequence[Bag], lots: Sequence[float] | None = None) -> Hits:
        """Let every topic see the documents, in their order. `lots`: that of each document (`missed.lot_of`); without,
        nothing is sampled.
        """
        drawn = np.full(len(bags), np.inf) if lots is None else np.array(lots, np.float64)
        chunks = [
            self._chunk(bags[start : start + CHUNK], drawn[start : start + CHUNK], start)
            for start in range(0, max(len(bags), 1), CHUNK)
        ]
        return Hits(*map(np.concatenate, zip(*chunks, strict=True)))

    def layer_sizes(self, topic: str) -> tuple[int, list[int]]:
        """How many documents were delivered to a topic, and how many lie in each layer below its threshold."""
        counts = self.tally[self.names.index(topic)]
        below = counts[:REACH][::-1]
        near = below[: (N_LAYERS - 1) * BINS_A_LAYER].reshape(-1, BINS_A_LAYER).sum(axis=1).tolist()
        return int(counts[REACH:].sum()), [*near, int(below.sum()) - sum(near)]

    def resample(self, topic: str, score: float, lot: float) -> None:
        """A document was sampled in a former life of this set: those to come must have smaller lots."""
        number = self.names.index(topic)
        layer = int(layers_of(np.array([score]), self.followers[number].thresholds.decision)[0])
        if layer >= 0:
            self._keep(number, layer, lot)

    def scores(self, bags: Sequence[Bag]) -> tuple[Floats, Mask]:
        """The normalised score of each document (rows) by each topic (columns) as it was when the document came, and
        which the topics learnt from. Counts nothing: `process` is for streams.
        """
        if not self.names:
            return np.zeros((len(bags), 0)), np.zeros((len(bags), 0), bool)
        readings = self._percolator.read(bags)
        scales = np.array([example.scale for example in self._examples]).reshape(-1, 2)[self._method]
        scores: Floats = self._percolator.scores(readings)
        scores -= scales[:, 0]
        scores /= scales[:, 1]
        learnt = np.zeros(scores.shape, bool)
        above = scores >= self._learns_from
        for topic in np.flatnonzero(above.any(axis=0)).tolist():
            self._follow(topic, readings, scores[:, topic], learnt[:, topic])
        return scores, learnt

    def _chunk(self, bags: Sequence[Bag], lots: Floats, start: int) -> Hits:
        scores, learnt = self.scores(bags)
        delivered = scores >= self._decision
        self._count(scores)
        sampled = self._sampled(scores, lots)
        at = np.nonzero(delivered | learnt | sampled)
        return Hits(at[0] + start, at[1], scores[at], delivered[at], learnt[at], sampled[at])

    def _follow(self, topic: int, readings: dict[Representation, Reading], scores: Floats, learnt: Mask) -> None:
        """From one document that the topic learns from to the next: the scores of those behind it change each time."""
        follower = self.followers[topic]
        reading = readings[follower.tracker.representation]
        at = 0
        while len(above := np.flatnonzero(scores[at:] >= follower.learns_from)):
            at += int(above[0])
            follower.learn(reading.bags[at])
            learnt[at] = True
            at += 1
            scale = follower.scale
            scores[at:] = (reading.scores(follower.tracker.weights)[at:] - scale.centre) / scale.spread
        self._learns_from[topic] = follower.learns_from

    def _count(self, scores: Floats) -> None:
        if compiler_is_loaded():
            kernels.count_scores(scores, self._decision, BIN, REACH, self.tally)
            return
        bins = np.clip(REACH - 1 - depths_of(scores, self._decision), 0, 2 * REACH - 1)
        bins += np.arange(len(self.names)) * 2 * REACH
        self.tally += np.bincount(bins.ravel(), minlength=self.tally.size).reshape(self.tally.shape)

    def _sampled(self, scores: Floats, lots: Floats) -> Mask:
        """Which documents have one of the smallest lots of their layer so far."""
        sampled = np.zeros(scores.shape, bool)
        if not np.isfinite(lots).any():
            return sampled
        layers = layers_of(scores, self._decision)
        largest = self._lots[:, :, -1]
        possible = (layers >= 0) & (lots[:, None] < largest[np.arange(len(self.names)), layers])
        for d, t in np.argwhere(possible).tolist():
            sampled[d, t] = self._keep(t, int(layers[d, t]), float(lots[d]))
        return sampled

    def _keep(self, topic: int, layer: int, lot: float) -> bool:
        """Keep a lot among the smallest of its layer, if it is one of them."""
        smallest = self._lots[topic, layer]
        if lot >= smallest[-1]:
            return False
        smallest[-1] = lot
        smallest.sort()
        return True


def moved_tally(tally: Integers, bins: int) -> Integers:
    """A topic's tally around a threshold that lies so many bins higher. The outermost bins take what is beyond, and
    keep it: where in there it lay is not known."""
    if not len(tally):
        return tally
    last = len(tally) - 1
    moved: Integers = np.zeros_like(tally)
    np.add.at(moved, np.clip(np.arange(1, last) - bins, 0, last), tally[1:last])
    moved[[0, last]] += tally[[0, last]]
    return moved
