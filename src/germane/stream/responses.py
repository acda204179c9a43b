"""What the command line says of streams."""

from dataclasses import dataclass
from typing import NamedTuple

from germane.schema import MaybeNaN, Response
from germane.stream.health import Health, TopicWord
from germane.stream.values import FollowedTopic, Sighting
from germane.track.missed import Interval


@dataclass(frozen=True, slots=True)
class HitResponse(Response):
    """A document that a topic delivered. `number` grows with time and is never given twice."""

    number: int
    topic: str
    id: str
    score: float
    learnt: bool
    title: str
    url: str
    date: str | None
    source: str
    seen: str

    @classmethod
    def of(cls, hit: Sighting) -> "HitResponse":
        """The hit, in short."""
        return cls(hit.number, hit.topic, hit.document, hit.score, hit.learnt, hit.title, hit.url, hit.date, hit.source,
                   hit.at)  # fmt: skip


@dataclass(frozen=True, slots=True)
class NewStoryResponse(Response):
    """A document that begins a story. `similarity`: the cosine with the likest document before it."""

    id: str
    similarity: float
    title: str
    url: str
    date: str | None


@dataclass(frozen=True, slots=True)
class TopicResponse(Response):
    """A topic and how it fares. `drift`: how far the latest scores are from those of background text; `p_miss`: the
    share of on-topic documents kept back, estimated, with the interval that holds it with 90 %. The server's list of
    topics leaves estimates out."""

    name: str
    status: str
    method: str
    since: str
    decision: float
    adaptation: float
    hits: int
    last_hit: str | None
    last_seen: str | None
    learnt: int
    judged_on: int
    judged_off: int
    drift: float | None
    p_miss: Interval | None
    p_false_alarm: Interval | None

    @classmethod
    def of(cls, topic: FollowedTopic, health: Health) -> "TopicResponse":
        """The topic, in short."""
        missed = health.missed
        return cls(topic.name, topic.status, topic.settings["method"], topic.at, health.decision, health.adaptation,
                   health.hits, health.last_hit, health.last_seen, health.learnt, health.judged_on, health.judged_off,
                   health.drift, missed and missed.p_miss, missed and missed.p_fa)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TopicDetail(Response):
    """A topic with the words that weigh most in it now, and its latest hits."""

    topic: TopicResponse
    words: tuple[TopicWord, ...]
    hits: tuple[HitResponse, ...]


class Day(NamedTuple):
    """A day, and how many documents were delivered."""

    day: str
    hits: int


class DetectionResponse(NamedTuple):
    """Misses and false alarms: as delivered, and at the threshold that would have cost least."""

    judged_by: str
    on_topic: int
    off_topic: int
    p_miss: float
    p_false_alarm: float
    cost: float
    min_cost: float
    best_threshold: MaybeNaN


@dataclass(frozen=True, slots=True)
class TrackReportResponse(Response):
    """A topic's record: hits by day, and misses against false alarms where somebody judged."""

    topic: TopicResponse
    timeline: tuple[Day, ...]
    detection: DetectionResponse | None
