"""What the API answers beyond the responses of the packages below."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from germane.engine.models.values import ModelVersion
from germane.engine.responses import AddResponse, IndexStats
from germane.refine.responses import RefinementResponse, WordAmount
from germane.schema import ABSENT, Response
from germane.stream.health import TopicWord
from germane.stream.responses import Day, HitResponse, TopicResponse
from germane.types import FieldValue


@dataclass(frozen=True, slots=True)
class HealthResponse(Response):
    """Whether the server can answer (`ok`; until it is ready `starting`, with 503), its version, and the collections
    with their documents."""

    status: str
    version: str
    collections: Mapping[str, int]


class CollectionEntry(NamedTuple):
    """A collection, how many documents it has, and the fields that searches are narrowed by."""

    name: str
    documents: int
    facets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CollectionsResponse(Response):
    """The collections, the one that is searched by default first."""

    collections: tuple[CollectionEntry, ...]


@dataclass(frozen=True, slots=True)
class CollectionResponse(Response):
    """A collection, and numbers about its index."""

    name: str
    stats: IndexStats


@dataclass(frozen=True, slots=True)
class DocumentAnswer(Response):
    """A document as it was added."""

    id: str
    fields: Mapping[str, FieldValue]


class BadRecord(NamedTuple):
    """A record that was not taken: its line or place, and why."""

    line: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class BulkResponse(Response):
    """What became of documents that were sent; `bad` has the first of those that were not taken."""

    report: AddResponse
    bad: tuple[BadRecord, ...]


@dataclass(frozen=True, slots=True)
class CountResponse(Response):
    """How many."""

    count: int


@dataclass(frozen=True, slots=True)
class SavedSearch(Response):
    """A search that is kept: its number, words and collection, how many results, and the marks that hold."""

    search: int
    query: str
    collection: str
    at: str
    results: int
    relevant: tuple[str, ...]
    not_relevant: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SavedSearchList(Response):
    """The searches that are kept, the latest first."""

    searches: tuple[SavedSearch, ...]


@dataclass(frozen=True, slots=True)
class InterestResponse(Response):
    """What is wanted and what is not, as words with their mean amounts; words that were dropped or added."""

    wanted: tuple[WordAmount, ...]
    unwanted: tuple[WordAmount, ...]
    dropped: tuple[str, ...]
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RefinedResponse(Response):
    """A saved search in its new order, the interest behind it, and whether there is something to undo and redo."""

    search: int
    query: str
    can_undo: bool
    can_redo: bool
    interest: InterestResponse
    refinement: RefinementResponse
    fields: Annotated[Mapping[str, Mapping[str, FieldValue]] | None, ABSENT] = None


class Group(NamedTuple):
    """A topic among what is not wanted: its words, and the results that belong to it."""

    words: tuple[str, ...]
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GroupsResponse(Response):
    """The groups found in the rest; none without a relevant mark."""

    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class SourcesResponse(Response):
    """The sources that meta-search may ask."""

    sources: tuple[str, ...]


class FieldCount(NamedTuple):
    """A field, and how many records have it."""

    field: str
    records: int


@dataclass(frozen=True, slots=True)
class PreviewResponse(Response):
    """What was understood of a file. Nothing is stored until it is taken in under its `key`.

    `skipped` records cannot be used, `odd` says of the first of them why, and which
    fields of numbers hold something else; `repeated` have an id that came before;
    `decided` come with somebody's decision. `cut_short`: the line of a last record in whose middle the file ends; it is
    left out unless `incomplete` is said when the file is taken in.
    """

    key: str
    name: str
    format: str
    records: int
    fields: tuple[FieldCount, ...]
    first: tuple[DocumentAnswer, ...]
    skipped: int
    odd: tuple[str, ...]
    repeated: int
    decided: int
    cut_short: int | None


@dataclass(frozen=True, slots=True)
class TopicsResponse(Response):
    """The topics that are followed."""

    topics: tuple[TopicResponse, ...]


@dataclass(frozen=True, slots=True)
class TopicAnswer(Response):
    """A topic, its hits by day, its words, and its latest hits."""

    topic: TopicResponse
    timeline: tuple[Day, ...]
    words: tuple[TopicWord, ...]
    hits: tuple[HitResponse, ...]


@dataclass(frozen=True, slots=True)
class FeedResponse(Response):
    """What became of documents shown to the topics: new, seen before, delivered."""

    new: int
    repeated: int
    delivered: int


class ProjectEntry(NamedTuple):
    """A screening project: its records, whether it is blind, and what each reviewer decided."""

    name: str
    records: int
    blind: bool
    reviewers: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ProjectsResponse(Response):
    """The screening projects."""

    projects: tuple[ProjectEntry, ...]


@dataclass(frozen=True, slots=True)
class ScreenResponse(Response):
    """Where a reviewer stands: the record to read, how much was read and found, what remains, whether to stop."""

    project: str
    reviewer: str
    record: DocumentAnswer | None
    probability: float | None
    words: tuple[str, ...]
    read: int
    total: int
    found: int
    expected: float | None
    at_most: int
    stop: bool
    recommendation: str


@dataclass(frozen=True, slots=True)
class JobResponse(Response):
    """Work in the background: waiting, running, stopping, done, failed or stopped; how far it is, what came of it.

    `done` of `total` where that is known. `attempts`: how often it was begun, since a job that was interrupted goes on.
    `message` says why it failed or stopped.
    """

    job: int
    kind: str
    state: str
    settings: Mapping[str, Any]
    at: str
    started: str | None
    ended: str | None
    step: str
    done: int
    total: int | None
    attempts: int
    message: str
    result: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class JobsResponse(Response):
    """Jobs, the latest first."""

    jobs: tuple[JobResponse, ...]


@dataclass(frozen=True, slots=True)
class ModelsResponse(Response):
    """The versions of a collection's learnt models, the oldest first, and a line of health for each that serves."""

    models: tuple[ModelVersion, ...]
    health: Mapping[str, str]
