"""What a stream tells: topics, what was delivered for them, what came of a batch. Plain frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from germane.stream.arrivals import title_of
from germane.types import FieldValue

FOLLOWING, PAUSED, REMOVED = "following", "paused", "removed"
STATUSES = (FOLLOWING, PAUSED, REMOVED)


@dataclass(frozen=True, slots=True)
class FollowedTopic:
    """A topic of a stream: how it is followed (`settings`), what it began with, and whether it goes on."""

    id: int
    name: str
    version: int
    status: str
    seeds: tuple[str, ...]
    settings: Mapping[str, Any]
    since: int
    at: str


class Sighting(NamedTuple):
    """A document that a topic delivered, learnt from, or both. `number` grows with time and is never given twice."""

    number: int
    topic: str
    document: str
    score: float
    delivered: bool
    learnt: bool
    date: str | None
    source: str
    at: str
    fields: Mapping[str, FieldValue]

    @property
    def title(self) -> str:
        """Its title on one line, else how its text begins."""
        return title_of(self.fields)

    @property
    def url(self) -> str:
        """Where it can be read; empty where nobody said."""
        return str(self.fields.get("url") or self.fields.get("link") or "")


@dataclass(frozen=True, slots=True)
class Judged:
    """What a person said of a document, and how it had scored; None where that was not kept."""

    document: str
    on_topic: bool
    score: float | None
    at: str


class Processed(NamedTuple):
    """What came of a batch: what was delivered, and how many documents were new, had been seen, or had been seen with
    another text."""

    hits: tuple[Sighting, ...]
    new: int
    repeated: int
    changed: int
