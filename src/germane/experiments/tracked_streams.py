"""Streams with known topics, for experiments with tracking: documents in order of time, and a background that grows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from germane.arrays import Floats, Integers, Mask
from germane.data import data_root, read_documents
from germane.errors import InputError
from germane.text import Analyzer
from germane.track import Background, Bag, BagMaker, Follower, Following, Reference, Tracker, TrackMethod, WordNumbers
from germane.track.bags import Batch
from germane.track.representation import Representation
from germane.types import text_of

SAMPLE = 2_000
"""Documents of the background that scores are held against."""


@dataclass(frozen=True)
class StreamSource:
    """Where a stream is, and how it is used.

    `documents`: a file below GERMANE_DATA; `where`: fields that a document must have; `date`: the field to order by, at
    equal dates the order of the file; `topics`: the field with a document's topics, `unsure` that with those it may
    have. `background`: the share of the stream, from its start, that is not followed but learnt from; the rest is taken
    in later, at `refreshes` even steps. A topic is used if it has `min_stories` after its first story in what is left;
    at most `max_topics`, drawn by lot.
    """

    name: str
    documents: str
    text: Sequence[str] = ("title", "text")
    where: Mapping[str, Any] = field(default_factory=dict)
    date: str = "date"
    topics: str = "topics"
    unsure: str = ""
    background: float = 0.25
    refreshes: int = 40
    min_stories: int = 20
    max_topics: int | None = None
    first: int | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.background < 1.0:
            raise ValueError(f"the background of '{self.name}' must be a share strictly between 0 and 1")
        if self.refreshes < 0 or self.min_stories < 1:
            raise ValueError(f"'{self.name}' needs refreshes of 0 or more and min_stories of 1 or more")


class TrackedTopic(NamedTuple):
    """A topic: its first story, and of every document behind that whether it is on topic, and whether it counts."""

    name: str
    seed: int
    target: Mask
    counted: Mask


class TrackedStream:
    """The documents of a stream in order of time, read under the background of their time."""

    def __init__(self, bags: Sequence[Bag], topics: Sequence[TrackedTopic], first: int, refreshes: int) -> None:
        self.bags, self.topics = bags, topics
        self.starts = np.unique(np.linspace(first, len(bags), refreshes + 2).astype(int)[:-1]).tolist()
        self._ends = [*self.starts[1:], len(bags)]
        self._n_words = 1 + max((int(bag.terms.max(initial=0)) for bag in bags), default=0)
        self.backgrounds = [Background.of(bags[:first])]
        for start, end in zip(self.starts[:-1], self._ends[:-1], strict=True):
            grown = Background.restored(self.backgrounds[-1].state())
            grown.add(bags[start:end])
            grown.refresh()
            self.backgrounds.append(grown)
        told = [bag for bag in bags[:first] if len(bag.terms)]
        sample = [told[place] for place in np.unique(np.linspace(0, len(told) - 1, SAMPLE).astype(int))]
        self.references = [Reference(sample, background) for background in self.backgrounds]
        self._features: dict[Representation, list[tuple[Any, Floats]]] = {}

    def pieces(self, start: int, cuts: Sequence[int]) -> list[tuple[int, int, int]]:
        """The stream from a document on, cut where the background changes and behind each of `cuts`: step, from, to."""
        found = []
        borders = sorted({*(cut + 1 for cut in cuts), *self._ends})
        low = start
        for high in borders:
            if high > low:
                found.append((int(np.searchsorted(self.starts, low, side="right")) - 1, low, high))
                low = high
        return found

    def scores(self, tracker: Tracker, step: int, low: int, high: int) -> Floats:
        """The tracker's scores of documents that share one background."""
        X, common = self._read(tracker.representation)[step]
        at, size = low - self.starts[step], high - low
        topic = np.zeros(self._n_words)
        topic[tracker.weights.terms] = tracker.weights.values
        scores: Floats = (X if size == X.shape[0] else X[at : at + size]) @ topic
        return scores + tracker.weights.common * common[at : at + size]

    def _read(self, representation: Representation) -> list[tuple[Any, Floats]]:
        """Each step's documents: x as a sparse matrix, b."""
        if representation not in self._features:
            self._features[representation] = [
                self._matrix(representation, self.bags[start:end], background)
                for start, end, background in zip(self.starts, self._ends, self.backgrounds, strict=True)
            ]
        return self._features[representation]

    def _matrix(
        self, representation: Representation, bags: Sequence[Bag], background: Background
    ) -> tuple[Any, Floats]:
        batch = Batch(bags)
        values, common = representation.read(batch, background)
        ends = np.cumsum([0, *(len(bag.terms) for bag in bags)])
        return sparse.csr_array((values, batch.terms, ends), shape=(len(bags), self._n_words)), common

    def forget(self) -> None:
        """Free the matrices."""
        self._features.clear()


def load_stream(source: StreamSource, analyzer: Analyzer | None = None) -> TrackedStream:
    """The stream, analysed, and its topics."""
    documents = [
        document.fields
        for document in read_documents(data_root() / source.documents)
        if all(document.fields.get(name) == value for name, value in source.where.items())
    ]
    documents.sort(key=lambda fields: str(fields.get(source.date, "")))
    documents = documents[: source.first]
    first = int(source.background * len(documents))
    on, unsure = (_by_topic(documents, name, first) for name in (source.topics, source.unsure))
    names = [name for name, places in sorted(on.items()) if len(places) > source.min_stories]
    if source.max_topics is not None and len(names) > source.max_topics:
        drawn = np.random.default_rng(0).permutation(len(names))[: source.max_topics]
        names = [names[place] for place in np.sort(drawn)]
    if len(names) < 2:
        raise InputError(f"the stream has fewer than two topics with more than {source.min_stories} stories")
    bags = BagMaker(analyzer or Analyzer(), WordNumbers()).bags([text_of(each, source.text) for each in documents])
    topics = [_topic(name, on[name], unsure.get(name, []), bags) for name in names]
    return TrackedStream(bags, topics, first, source.refreshes)


def _by_topic(documents: Sequence[Mapping[str, Any]], name: str, first: int) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place in range(first, len(documents)) if name else ():
        for topic in documents[place].get(name) or ():
            found.setdefault(str(topic), []).append(place)
    return found


def _topic(name: str, on: Sequence[int], unsure: Sequence[int], bags: Sequence[Bag]) -> TrackedTopic:
    seed = next((place for place in on if len(bags[place].terms)), on[0])
    target, counted = np.zeros(len(bags), bool), np.ones(len(bags), bool)
    target[list(on)] = True
    counted[list(unsure)] = False
    counted |= target
    return TrackedTopic(name, seed, target[seed + 1 :], counted[seed + 1 :])


# -- following one topic through a stream ------------------------------------------------------------------------------


def follow(
    stream: TrackedStream,
    method: TrackMethod,
    topic: TrackedTopic,
    feedback: Sequence[int],
    *,
    normalised: bool = False,
) -> Floats:
    """The scores of all documents behind the seed; the tracker learns from those of `feedback`, unjudged, as they come.

    `normalised`: on the scale of the reference.
    """
    learnt, scores = {*feedback}, []
    pieces = stream.pieces(topic.seed + 1, feedback)
    tracker = stream.references[pieces[0][0]].start(method, [stream.bags[topic.seed]])
    for step, low, high in pieces:
        tracker.background = stream.backgrounds[step]
        found = stream.scores(tracker, step, low, high)
        if normalised:
            scale = stream.references[step].scale(method)
            found = (found - scale.centre) / scale.spread
        scores.append(found)
        if high - 1 in learnt:
            tracker.update(stream.bags[high - 1])
    return np.concatenate(scores)


def follow_live(
    stream: TrackedStream, following: Following, topic: TrackedTopic, *, judged: bool
) -> tuple[Floats, int]:
    """The normalised scores of a `Follower`, and how many documents it learnt from or was told about.

    `judged`: a person judges every document that is delivered, as soon as it is (those of which the truth is not known
    are left alone); otherwise it learns unjudged from what is above the adaptation threshold.
    """
    pieces = stream.pieces(topic.seed + 1, ())
    follower = Follower.start(following, [stream.bags[topic.seed]], stream.references[pieces[0][0]])
    scores, n = [], 0
    for step, low, high in pieces:
        follower.reference, follower.tracker.background = stream.references[step], stream.backgrounds[step]
        scale = follower.scale
        at = low
        while at < high:
            found = (stream.scores(follower.tracker, step, at, high) - scale.centre) / scale.spread
            place = _first(found >= (follower.thresholds.decision if judged else follower.learns_from))
            scores.append(found[: place + 1])
            at += place + 1
            if place < len(found):
                n += _told(follower, stream.bags[at - 1], topic, at - topic.seed - 2, judged)
    return np.concatenate(scores), n


def _told(follower: Follower, bag: Bag, topic: TrackedTopic, place: int, judged: bool) -> int:
    if not judged:
        follower.learn(bag)
    elif topic.counted[place]:
        follower.judge(bag, bool(topic.target[place]))
    else:
        return 0
    return 1


def _first(kind: Mask) -> int:
    places = np.flatnonzero(kind)
    return int(places[0]) if len(places) else len(kind)


def best_places(scores: Floats, topic: TrackedTopic, n: int) -> Integers:
    """The places in the stream of the n best documents, in order of time."""
    best: Integers = np.sort(np.argsort(-scores, kind="stable")[:n]) + topic.seed + 1
    return best
