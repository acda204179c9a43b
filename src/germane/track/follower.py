"""One topic followed through a stream: a tracker, a scale for its scores, thresholds, and what was learnt from."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from germane.track.bags import Bag
from germane.track.method import Tracker, TrackMethod
from germane.track.thresholds import Costs, Reference, Scale, Thresholds, thresholds


class Seen(NamedTuple):
    """What became of a document: its normalised score, whether it is delivered, whether it was learnt from."""

    score: float
    delivered: bool
    learnt: bool


@dataclass(frozen=True)
class Following:
    """How a topic is followed. `unjudged`: the number of documents it may learn from without a judgement."""

    method: TrackMethod
    costs: Costs = field(default_factory=Costs)
    unjudged: int = 25


class Follower:
    """A topic in a stream. `see` every document in turn; `judge` any of those seen, whenever somebody does."""

    def __init__(self, following: Following, tracker: Tracker, reference: Reference, n_unjudged: int = 0) -> None:
        self.following, self.tracker, self.reference = following, tracker, reference
        self.thresholds: Thresholds = thresholds(following.costs)
        self.n_unjudged = n_unjudged

    @classmethod
    def start(cls, following: Following, seeds: Sequence[Bag], reference: Reference) -> "Follower":
        """Begin with the seeds."""
        return cls(following, reference.start(following.method, seeds), reference)

    @property
    def scale(self) -> Scale:
        """Where the method's scores of background text lie now."""
        return self.reference.scale(self.following.method)

    @property
    def learns_from(self) -> float:
        """The normalised score from which it learns without a judgement; infinite when it has learnt from enough."""
        return self.thresholds.adaptation if self.n_unjudged < self.following.unjudged else math.inf

    def see(self, bag: Bag) -> Seen:
        """Score a document, decide, and learn from it where it is above the adaptation threshold."""
        score = self.scale.normalised(self.tracker.score(bag))
        learnt = score >= self.learns_from
        if learnt:
            self.learn(bag)
        return Seen(score, score >= self.thresholds.decision, learnt)

    def learn(self, bag: Bag) -> None:
        """Learn from a document that nobody judged."""
        self.tracker.update(bag)
        self.n_unjudged += 1

    def judge(self, bag: Bag, on_topic: bool) -> None:
        """Learn from a person's word."""
        self.tracker.update(bag, on_topic)

    def state(self) -> dict[str, Any]:
        """All it knows, as arrays and numbers; `resumed` goes on bit by bit."""
        return {**self.tracker.state(), "n_unjudged": self.n_unjudged}

    @classmethod
    def resumed(cls, following: Following, state: Mapping[str, Any], reference: Reference) -> "Follower":
        """The follower that `state` told of."""
        tracker = following.method.resume(state, reference.background)
        return cls(following, tracker, reference, int(state["n_unjudged"]))
