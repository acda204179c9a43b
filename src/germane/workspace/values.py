"""What the workspace hands out: plain frozen values, whatever the database."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from germane.refine.screening.annotations import NO_ANNOTATION, Annotation
from germane.refine.screening.verdicts import Verdict
from germane.types import FieldValue, Mark


@dataclass(frozen=True, slots=True)
class Collection:
    """A named list of records."""

    id: int
    name: str
    description: str
    at: str


class AddReport(NamedTuple):
    """What became of records that were added: taken in, there already and the same, or another under the same id."""

    added: int
    present: int
    clashing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """A result as it was fetched; `provenance` says which sources had it, at which rank, under which id and link."""

    document: str
    fields: Mapping[str, FieldValue]
    score: float | None = None
    provenance: Any = None


@dataclass(frozen=True, slots=True)
class Search:
    """A search that was made; its results are asked for by themselves."""

    id: int
    query: str
    source: str
    settings: Mapping[str, Any]
    at: str


@dataclass(frozen=True, slots=True)
class MarkEntry:
    """One line of the history of marks; `undoes` is the number of the mark it takes back, if it does."""

    id: int
    document: str
    mark: Mark
    by: str
    at: str
    undoes: int | None


@dataclass(frozen=True, slots=True)
class Interest:
    """A saved interest: a query, what was marked, and the words learnt from it."""

    name: str
    version: int
    query: str
    method: str
    relevant: tuple[str, ...]
    not_relevant: tuple[str, ...]
    model: Mapping[str, float]
    at: str


@dataclass(frozen=True, slots=True)
class Project:
    """A screening project. While it is blind, no reviewer is told what another decided."""

    id: int
    name: str
    collection_id: int | None
    blind: bool
    at: str
    revealed: str | None


@dataclass(frozen=True, slots=True)
class Decision:
    """One line of a reviewer's history, with all that was said of a record: included, excluded, or neither (None).

    `maybe`: it waits for a decision. An entry that says nothing takes back what was said before.
    """

    id: int
    reviewer: str
    document: str
    included: bool | None
    reason: str
    at: str
    undoes: int | None
    maybe: bool = False
    note: str = ""

    @property
    def annotation(self) -> Annotation | None:
        """What was said beside yes and no; None of nothing."""
        said = Annotation(self.reason, self.note, self.maybe)
        return None if said == NO_ANNOTATION else said

    @property
    def verdict(self) -> Verdict | None:
        """All that was said; None of nothing."""
        if self.included is None and self.annotation is None:
            return None
        return Verdict(self.included, self.annotation or NO_ANNOTATION, self.reviewer, self.at)


class Conflict(NamedTuple):
    """A record that some included and others excluded; `resolved` once somebody (`by`) settled it, and why."""

    document: str
    included_by: tuple[str, ...]
    excluded_by: tuple[str, ...]
    resolved: bool | None
    by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A note on a document."""

    id: int
    document: str
    text: str
    by: str
    at: str


@dataclass(frozen=True, slots=True)
class TrackedTopic:
    """A version of a tracked topic: its model and settings."""

    name: str
    version: int
    model: Mapping[str, Any]
    settings: Mapping[str, Any]
    at: str


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A version of a model that was learnt; its content is asked for by itself."""

    name: str
    version: int
    kind: str
    settings: Mapping[str, Any]
    sha256: str
    at: str


@dataclass(frozen=True, slots=True)
class Click:
    """Something done with a result of a search: opened, saved, ..."""

    id: int
    search_id: int
    document: str
    rank: int
    kind: str
    by: str
    at: str


@dataclass(frozen=True, slots=True)
class Job:
    """Work that is waiting, running, done, failed, or told to stop and stopped."""

    id: int
    kind: str
    settings: Mapping[str, Any]
    state: str
    outcome: Any
    at: str
    started: str | None
    ended: str | None
