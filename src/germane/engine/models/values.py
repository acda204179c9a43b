"""What is kept and told of a learnt model: its data, its settings, how it fared at the gate, and drift."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from germane.schema import ABSENT, HIDDEN, MaybeNaN, Response

CLICKED, JUDGED = "held-out clicks", "judged queries"
"""The sets of queries at the gate: what people typed, and topics that somebody made."""


@dataclass(frozen=True, slots=True)
class TrainingData:
    """What a model was learnt from. `fingerprint` is the SHA-256 of its pairs, `dropped` the pairs left out by reason.

    `held_out`: "query" or "time"; so many queries were kept for the gate, and so many pairs learnt from.
    `last_day_seen` is the last day whose clicks the model or its gate has seen. `people` is the SHA-256 of the list of
    those who typed the queries (`people.py`); None in the record of an earlier release.
    """

    fingerprint: str
    first_day: str
    last_day: str
    searches: int
    clicks: int
    pairs: int
    queries: int
    held_out: str
    held_out_queries: int
    dropped: Mapping[str, int]
    last_day_seen: Annotated[str | None, ABSENT] = None
    people: Annotated[str | None, ABSENT] = None

    def has_seen(self, day: str) -> bool:
        """Whether clicks of this day may be in the model or in the report of its gate.

        A record that does not tell its last day is one of an earlier release, whose gate saw later days than the model
        if days were held out.
        """
        last = self.last_day_seen or (self.last_day if self.held_out == "query" else None)
        return self.first_day <= day and (last is None or day <= last)


@dataclass(frozen=True, slots=True)
class Loss:
    """A query that the candidate ranks worse: both values of the measure, and how many people typed it, where clicks
    tell."""

    query: str
    candidate: float
    baseline: float
    users: Annotated[int | None, ABSENT] = None


class Withheld(NamedTuple):
    """Losses whose queries are nobody else's business: how many, and both means of the measure."""

    queries: int
    candidate: float
    baseline: float


@dataclass(frozen=True, slots=True)
class GateSet:
    """One set of queries: means of the measure, the one-sided p-values of paired tests (candidate above baseline), wins
    and losses, the worst losses, and the interval that holds the mean difference with 95 %.

    `withheld`: what a server does not show of the worst losses.
    """

    name: str
    measure: str
    queries: int
    candidate: float
    baseline: float
    p_t: MaybeNaN
    p_randomisation: float
    wins: int
    losses: int
    ties: int
    worst: tuple[Loss, ...]
    low: MaybeNaN = math.nan
    high: MaybeNaN = math.nan
    withheld: Annotated[Withheld | None, ABSENT] = None


@dataclass(frozen=True, slots=True)
class GateReport(Response):
    """Whether a candidate passed, against what, and why or why not."""

    against: str
    passed: bool
    reason: str
    sets: tuple[GateSet, ...]


@dataclass(frozen=True, slots=True)
class Distribution:
    """How searches fall on queries and clicks on positions, as shares of bins; what drift is measured against.

    `heads` are digests of the most frequent queries, which have a bin each; the others share bins by their digests.
    """

    heads: tuple[str, ...]
    queries: tuple[float, ...]
    searches: int
    positions: tuple[float, ...]
    clicks: int


@dataclass(frozen=True, slots=True)
class ModelVersion(Response):
    """One version of a model of an index: what was learnt, from what, when, and how it fared.

    `mixing` are the weights of the mixture. `file` is the SHA-256 of the model's file. `serving`: whether it is used
    by searches that name the model and, if no other model was promoted later, by those that name no ranking.
    """

    name: str
    version: int
    model: str
    parameters: Mapping[str, Any]
    mixing: Mapping[str, float]
    trained_at: str
    data: TrainingData
    gate: GateReport | None
    file: str
    serving: bool
    distribution: Annotated[Distribution, HIDDEN]

    @property
    def minute(self) -> str:
        """When it was trained, for people: date and time in UTC."""
        return self.trained_at[:16].replace("T", " ")


@dataclass(frozen=True, slots=True)
class LearnReport(Response):
    """A candidate and what became of it: `promoted`, or kept beside the serving model."""

    candidate: ModelVersion
    gate: GateReport
    promoted: bool
    forced: bool
