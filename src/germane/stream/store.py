"""The rows of one stream in a workspace: what the statements are, and nothing of what they mean."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, Table, bindparam, case, func, or_, select, update

from germane.errors import ParameterError
from germane.stream.arrivals import Arrival
from germane.stream.values import REMOVED, FollowedTopic, Judged, Sighting
from germane.types import FieldValue, n_characters
from germane.workspace.columns import checked_text, json_text
from germane.workspace.database import Database
from germane.workspace.history import last_standing
from germane.workspace.tables import (
    arrivals,
    judgements,
    outbox,
    polls,
    sightings,
    stream_parts,
    streams,
    topics,
    trackers,
    words,
)

_AT_ONCE = 500
"""Ids in one question to the database."""
_FEW_AT_ONCE = 10
"""Of those whose documents may be long."""
_ARRIVAL = ("stream_id", "document", "digest", "source", "date", "fields", "bag", "at")
_SIGHTING = ("tracker_id", "arrival_id", "score", "delivered", "learnt", "sampled")
"""The columns that are written for very many rows at once."""


class Store:
    """The statements of one stream. A method that is handed a connection is part of its transaction."""

    def __init__(self, database: Database, stream: int) -> None:
        self.database, self.stream = database, stream

    # -- the stream itself -----------------------------------------------------------------------------------------

    @classmethod
    def create(cls, database: Database, connection: Connection, name: str, settings: Mapping[str, Any]) -> "Store":
        """A stream of that name, empty."""
        row = {"name": name, "settings": dict(settings), "revision": 0, "told": 0, "at": database.clock()}
        return cls(database, database.add(connection, streams, **row))

    @classmethod
    def find(cls, database: Database, name: str) -> "Store | None":
        """The stream of that name."""
        with database.read() as connection:
            found = connection.execute(select(streams.c.id).where(streams.c.name == name)).scalar()
        return None if found is None else cls(database, int(found))

    def row(self, connection: Connection, *, lock: bool = False) -> Any:
        """Settings, revision, and what was told; with `lock`, nobody else changes the stream until the transaction
        ends."""
        query = select(streams).where(streams.c.id == self.stream)
        return connection.execute(query.with_for_update() if lock else query).one()

    def set(self, connection: Connection, **values: Any) -> None:
        """Change columns of the stream's row."""
        connection.execute(update(streams).where(streams.c.id == self.stream).values(**values))

    def parts(self, connection: Connection) -> dict[str, bytes]:
        """What is kept under a name."""
        query = select(stream_parts.c.name, stream_parts.c.content).where(stream_parts.c.stream_id == self.stream)
        return {row.name: bytes(row.content) for row in connection.execute(query)}

    def put_part(self, connection: Connection, name: str, content: bytes) -> None:
        """Keep bytes under a name, in the place of those before."""
        where = (stream_parts.c.stream_id == self.stream, stream_parts.c.name == name)
        if not connection.execute(update(stream_parts).where(*where).values(content=content)).rowcount:
            self.database.add(connection, stream_parts, stream_id=self.stream, name=name, content=content)

    def words(self, connection: Connection) -> Iterator[str]:
        """The vocabulary, in its order."""
        for row in connection.execute(
            select(words.c.content).where(words.c.stream_id == self.stream).order_by(words.c.id)
        ):
            yield from row.content

    def add_words(self, connection: Connection, new: Sequence[str]) -> None:
        """The words that came after the last."""
        if new:
            self.database.add(connection, words, stream_id=self.stream, content=list(new))

    # -- documents -------------------------------------------------------------------------------------------------

    def digests(self, connection: Connection, ids: Collection[str]) -> dict[str, str]:
        """The digests of those documents that have been seen."""
        listed, found = list(ids), {}
        for start in range(0, len(listed), _AT_ONCE):
            some = arrivals.c.document.in_(listed[start : start + _AT_ONCE])
            query = select(arrivals.c.document, arrivals.c.digest).where(arrivals.c.stream_id == self.stream, some)
            found.update({row.document: row.digest for row in connection.execute(query)})
        return found

    def add_arrivals(
        self, connection: Connection, at: str, documents: Iterable[tuple[Arrival, Mapping[str, FieldValue], bytes]]
    ) -> list[int]:
        """Documents in their order, each with the fields that are kept of it and its bag; returns their numbers, which
        ascend."""
        rows = [
            (self.stream, checked_text(each.id), each.digest, checked_text(each.source), each.date, json_text(fields),
             bag, at)
            for each, fields, bag in documents
        ]  # fmt: skip
        before, numbers = self._added(connection, arrivals, _ARRIVAL, rows)
        if numbers is None:
            query = select(arrivals.c.id).where(self._on_the_way, arrivals.c.id > before).order_by(arrivals.c.id)
            numbers = [*connection.scalars(query)]
        return [*numbers]

    def _added(
        self, connection: Connection, table: Table, names: Sequence[str], rows: Sequence[tuple[Any, ...]]
    ) -> tuple[int, Sequence[int] | None]:
        """Add rows; returns the highest number before, and theirs in their order: those that follow it, if no more
        than they came after it. None where others were numbered meanwhile."""
        highest = select(func.max(table.c.id))
        before = int(connection.execute(highest).scalar() or 0)
        self.database.add_many(connection, table, names, rows)
        after = int(connection.execute(highest).scalar() or 0)
        return before, range(before + 1, after + 1) if after - before == len(rows) else None

    def last_arrival(self, connection: Connection) -> int:
        """The number of the latest document; 0 where there is none."""
        query = select(arrivals.c.id).where(self._on_the_way).order_by(arrivals.c.id.desc()).limit(1)
        return int(connection.execute(query).scalar() or 0)

    def count_arrivals(self, connection: Connection) -> int:
        """How many documents have been seen."""
        return int(connection.execute(select(func.count()).select_from(arrivals).where(self._here)).scalar() or 0)

    def bags_after(self, connection: Connection, number: int) -> Iterator[tuple[int, bytes]]:
        """Numbers and bags of the documents after that number, in their order."""
        query = select(arrivals.c.id, arrivals.c.bag).where(self._on_the_way, arrivals.c.id > number)
        for row in connection.execute(query.order_by(arrivals.c.id)):
            yield row.id, bytes(row.bag)

    def between(self, connection: Connection, after: int, upto: int, n: int) -> "list[Row[Any]]":
        """The rows of the first n documents after one number and up to another, in their order."""
        query = select(arrivals).where(self._on_the_way, arrivals.c.id > after, arrivals.c.id <= upto)
        return [*connection.execute(query.order_by(arrivals.c.id).limit(n))]

    def set_fields(self, connection: Connection, fields: Mapping[int, Mapping[str, FieldValue]]) -> None:
        """What is kept of documents that a topic wants after all, by their numbers."""
        if fields:
            query = update(arrivals).where(arrivals.c.id == bindparam("number")).values(fields=bindparam("content"))
            connection.execute(query, [{"number": number, "content": content} for number, content in fields.items()])

    def latest(self, connection: Connection, n: int, after: int = 0) -> list[Any]:
        """The rows of the last n documents beyond a number, the oldest first."""
        query = select(arrivals).where(self._on_the_way, arrivals.c.id > after)
        return [*reversed(connection.execute(query.order_by(arrivals.c.id.desc()).limit(n)).all())]

    def latest_bags(self, connection: Connection, n: int, after: int, most: int) -> list[Any]:
        """Numbers, ids and bags of the last n documents beyond a number, the oldest first: of long ones only as
        many as have `most` bytes together, and the latest in any case."""
        query = select(arrivals.c.id, arrivals.c.document, arrivals.c.bag)
        query = query.where(self._on_the_way, arrivals.c.id > after).order_by(arrivals.c.id.desc()).limit(n)
        latest: list[Any] = []
        for row in connection.execute(query):
            most -= len(row.bag)
            if latest and most < 0:
                break
            latest.append(row)
        return latest[::-1]

    def last_seen(self, connection: Connection) -> str | None:
        """When the latest document came."""
        query = select(arrivals.c.at).where(self._on_the_way).order_by(arrivals.c.id.desc()).limit(1)
        return connection.execute(query).scalar()

    def kept(self, connection: Connection, numbers: Sequence[int]) -> dict[int, Any]:
        """The dates and fields of documents, by their numbers."""
        query = select(arrivals.c.id, arrivals.c.date, arrivals.c.fields).where(arrivals.c.id.in_(numbers))
        return {row.id: row for row in connection.execute(query)}

    def dates(self, connection: Connection, numbers: Sequence[int]) -> dict[int, str]:
        """The dates of documents by their numbers; of those without one, when they came."""
        found: dict[int, str] = {}
        for start in range(0, len(numbers), _AT_ONCE):
            some = arrivals.c.id.in_(numbers[start : start + _AT_ONCE])
            query = select(arrivals.c.id, arrivals.c.date, arrivals.c.at).where(some)
            found.update({row.id: row.date or row.at for row in connection.execute(query)})
        return found

    def arrival(self, connection: Connection, document: str) -> Any:
        """The row of a document; `ParameterError` where it was never seen."""
        row = connection.execute(select(arrivals).where(self._here, arrivals.c.document == document)).first()
        if row is None:
            raise ParameterError(f"no document '{document}' was seen in this stream")
        return row

    @property
    def _here(self) -> "ColumnElement[bool]":
        return arrivals.c.stream_id == self.stream

    @property
    def _on_the_way(self) -> "ColumnElement[bool]":
        """As `_here`, for going through documents by their numbers: no index may be used that would have them all
        sorted first."""
        return arrivals.c.stream_id + 0 == self.stream

    # -- topics ----------------------------------------------------------------------------------------------------

    def add_topic(
        self, connection: Connection, name: str, model: Mapping[str, Any], settings: Mapping[str, Any], status: str,
        state: bytes,
    ) -> FollowedTopic:  # fmt: skip
        """A topic, as a new version of its name."""
        version = self._next_version(connection, name)
        at, since = self.database.clock(), self.last_arrival(connection)
        row = {"name": name, "version": version, "model": dict(model), "settings": dict(settings), "at": at}
        topic = self.database.add(connection, topics, **row)
        given = {
            "stream_id": self.stream,
            "topic_id": topic,
            "status": status,
            "since": since,
            "state": state,
            "at": at,
        }
        number = self.database.add(connection, trackers, **given)
        return FollowedTopic(number, name, version, status, tuple(model["seeds"]), settings, since, at)

    def revise_topic(self, connection: Connection, topic: FollowedTopic, settings: Mapping[str, Any]) -> None:
        """Other settings for a topic that is followed: a new version, which its tracker follows from now on."""
        row = {
            "name": topic.name, "version": self._next_version(connection, topic.name),
            "model": {"seeds": list(topic.seeds)}, "settings": dict(settings), "at": self.database.clock(),
        }  # fmt: skip
        number = self.database.add(connection, topics, **row)
        connection.execute(update(trackers).where(trackers.c.id == topic.id).values(topic_id=number))

    def _next_version(self, connection: Connection, name: str) -> int:
        """The version that a topic of that name has next, in whichever stream."""
        latest = connection.execute(select(func.max(topics.c.version)).where(topics.c.name == name)).scalar()
        return int(latest or 0) + 1

    def topics(self, connection: Connection, name: str | None = None) -> list[FollowedTopic]:
        """The topics that were not removed, or the one of that name, in the order in which they began."""
        chosen = select(trackers.c.id, topics.c.name, topics.c.version, trackers.c.status, topics.c.model,
                        topics.c.settings, trackers.c.since, trackers.c.at)  # fmt: skip
        query = chosen.join_from(trackers, topics).where(
            trackers.c.stream_id == self.stream, trackers.c.status != REMOVED
        )
        query = query if name is None else query.where(topics.c.name == name)
        return [
            FollowedTopic(
                row.id, row.name, row.version, row.status, tuple(row.model["seeds"]), row.settings, row.since, row.at
            )
            for row in connection.execute(query.order_by(trackers.c.id))
        ]

    def topic(self, connection: Connection, name: str) -> FollowedTopic:
        """The topic of that name; `ParameterError` where there is none."""
        found = self.topics(connection, name)
        if not found:
            known = ", ".join(f"'{topic.name}'" for topic in self.topics(connection)) or "none"
            raise ParameterError(f"no topic '{name}' is followed; there are: {known}")
        return found[0]

    def removed(self, connection: Connection, name: str) -> int:
        """The tracker of the topic of that name that was removed last; `ParameterError` where there is none."""
        query = select(trackers.c.id).join_from(trackers, topics).where(
            trackers.c.stream_id == self.stream, trackers.c.status == REMOVED, topics.c.name == name
        )  # fmt: skip
        found = connection.execute(query.order_by(trackers.c.id.desc()).limit(1)).scalar()
        if found is None:
            raise ParameterError(f"no topic '{name}' was removed")
        return int(found)

    def states(self, connection: Connection) -> dict[int, bytes]:
        """What each tracker knows."""
        query = select(trackers.c.id, trackers.c.state).where(trackers.c.stream_id == self.stream)
        return {row.id: bytes(row.state) for row in connection.execute(query.where(trackers.c.status != REMOVED))}

    def set_status(self, connection: Connection, tracker: int, status: str) -> None:
        """Whether a topic is followed."""
        connection.execute(update(trackers).where(trackers.c.id == tracker).values(status=status))

    def set_since(self, connection: Connection, tracker: int, since: int) -> None:
        """Behind which document the topic began to look."""
        connection.execute(update(trackers).where(trackers.c.id == tracker).values(since=since))

    def set_states(self, connection: Connection, states: Mapping[int, bytes]) -> None:
        """What trackers know, by their numbers."""
        if states:
            query = update(trackers).where(trackers.c.id == bindparam("number")).values(state=bindparam("content"))
            connection.execute(query, [{"number": number, "content": content} for number, content in states.items()])

    # -- what became of documents ----------------------------------------------------------------------------------

    def add_sightings(
        self, connection: Connection, rows: Sequence[tuple[int, int, float, bool, bool, bool]]
    ) -> list[int]:
        """What was delivered, learnt from or sampled: tracker, document, score, and which of the three. Returns the
        numbers of what was delivered, in the order of the rows."""
        before, numbers = self._added(connection, sightings, _SIGHTING, rows)
        if numbers is None:
            return self.numbers(connection, after=before)
        return [number for number, (*_, delivered, _, _) in zip(numbers, rows, strict=True) if delivered]

    def sightings(
        self, connection: Connection, topic: FollowedTopic | None = None, *, after: int = 0, since: str | None = None,
        last: int | None = None, most: int | None = None,
    ) -> list[Sighting]:  # fmt: skip
        """What was delivered, the oldest first: of one topic or all, after a number or a moment, the last n alone; of
        long documents only as many as have `most` characters together, and the latest in any case."""
        query = select(sightings.c.id).join_from(sightings, arrivals)
        query = query.join(trackers, sightings.c.tracker_id == trackers.c.id).where(
            trackers.c.stream_id == self.stream, sightings.c.delivered.is_(True), sightings.c.id > after
        )  # fmt: skip
        if topic is not None:
            query = query.where(sightings.c.tracker_id == topic.id)
        if since is not None:
            query = query.where(arrivals.c.at >= since)
        numbers = connection.scalars(query.order_by(sightings.c.id.desc()).limit(last)).all()
        found: list[Sighting] = []
        step = _AT_ONCE if most is None else _FEW_AT_ONCE  # what is not shown is not read
        for start in range(0, len(numbers), step):
            some = self._joined().where(sightings.c.id.in_(numbers[start : start + step]))
            for row in connection.execute(some.order_by(sightings.c.id.desc())):
                if most is not None:
                    most -= n_characters(row.fields)
                    if found and most < 0:
                        return found[::-1]
                found.append(_sighting(row))
        return found[::-1]

    def numbers(self, connection: Connection, *, after: int, n: int | None = None) -> list[int]:
        """The numbers of the next n hits, or of all."""
        query = self._hits(select(sightings.c.id), after).order_by(sightings.c.id).limit(n)
        return [*connection.scalars(query)]

    def count_numbers(self, connection: Connection, *, after: int, upto: int) -> int:
        """How many hits have numbers beyond one and up to another."""
        query = self._hits(select(func.count(sightings.c.id)), after).where(sightings.c.id <= upto)
        return int(connection.execute(query).scalar() or 0)

    def _hits(self, query: "Select[Any]", after: int) -> "Select[Any]":
        """The hits of the stream behind a number; by their numbers, not by the index of each tracker in turn."""
        ours = select(trackers.c.id).where(trackers.c.stream_id == self.stream)
        return query.where(
            sightings.c.id > after, sightings.c.delivered.is_(True), (sightings.c.tracker_id + 0).in_(ours)
        )

    def count_sightings(self, connection: Connection, topic: FollowedTopic) -> tuple[int, int]:
        """How many documents a topic has delivered, and learnt from without a judgement."""
        whose = sightings.c.tracker_id == topic.id
        counts = (
            connection.execute(select(func.count()).select_from(sightings).where(whose, column.is_(True))).scalar() or 0
            for column in (sightings.c.delivered, sightings.c.learnt)
        )
        return int(next(counts)), int(next(counts))

    def last_hit(self, connection: Connection, topic: FollowedTopic) -> str | None:
        """When the document came that a topic delivered last."""
        query = select(arrivals.c.at).join_from(sightings, arrivals)
        query = query.where(sightings.c.tracker_id == topic.id, sightings.c.delivered.is_(True))
        return connection.execute(query.order_by(sightings.c.id.desc()).limit(1)).scalar()

    def count_all(self, connection: Connection) -> dict[int, tuple[int, int, str | None]]:
        """By tracker, how many documents it delivered, how many it learnt from without a judgement, and when the one
        came that it delivered last."""
        hits = func.sum(case((sightings.c.delivered.is_(True), 1), else_=0))
        learnt = func.sum(case((sightings.c.learnt.is_(True), 1), else_=0))
        last = func.max(case((sightings.c.delivered.is_(True), sightings.c.id)))
        each = select(sightings.c.tracker_id, hits.label("hits"), learnt.label("learnt"), last.label("last"))
        counts = each.where(self._followed).group_by(sightings.c.tracker_id).subquery()
        query = select(counts, arrivals.c.at).outerjoin(sightings, sightings.c.id == counts.c.last)
        query = query.outerjoin(arrivals, arrivals.c.id == sightings.c.arrival_id)
        return {row.tracker_id: (int(row.hits), int(row.learnt), row.at) for row in connection.execute(query)}

    def count_by_day(
        self, connection: Connection, topic: FollowedTopic | None = None
    ) -> dict[int, list[tuple[str, int]]]:
        """By tracker, or of one topic alone, the days of what was delivered (its date, else when it came), and how much
        it was on each."""
        day = func.substr(func.coalesce(func.nullif(arrivals.c.date, ""), arrivals.c.at), 1, 10)
        query = select(sightings.c.tracker_id, day.label("day")).join_from(sightings, arrivals)
        query = query.where(self._followed if topic is None else sightings.c.tracker_id == topic.id)
        hits = query.where(sightings.c.delivered.is_(True)).subquery()
        grouped = select(hits.c.tracker_id, hits.c.day, func.count()).group_by(hits.c.tracker_id, hits.c.day)
        days: dict[int, list[tuple[str, int]]] = {}
        for tracker, date, count in connection.execute(grouped.order_by(hits.c.day)):
            days.setdefault(tracker, []).append((str(date), int(count)))
        return days

    @property
    def _followed(self) -> "ColumnElement[bool]":
        """Sightings of the topics that were not removed."""
        ours = select(trackers.c.id).where(trackers.c.stream_id == self.stream, trackers.c.status != REMOVED)
        return sightings.c.tracker_id.in_(ours)

    def count_from(self, connection: Connection, topic: FollowedTopic, score: float) -> int:
        """Number of documents that a topic delivered with at least this score."""
        query = select(func.count()).select_from(sightings).where(
            sightings.c.tracker_id == topic.id, sightings.c.delivered.is_(True), sightings.c.score >= score
        )  # fmt: skip
        return int(connection.execute(query).scalar() or 0)

    def learnt(self, connection: Connection, topic: FollowedTopic) -> list[tuple[int, bytes]]:
        """Numbers and bags of the documents that were learnt from without a judgement, in their order."""
        query = select(arrivals.c.id, arrivals.c.bag).join_from(sightings, arrivals).order_by(arrivals.c.id)
        found = connection.execute(query.where(sightings.c.tracker_id == topic.id, sightings.c.learnt.is_(True)))
        return [(row.id, bytes(row.bag)) for row in found]

    def scores(self, connection: Connection, topic: FollowedTopic) -> "list[Row[Any]]":
        """Each document that a topic sampled, and each that it met and somebody judged, with its score."""
        query = select(sightings, arrivals.c.document).join_from(sightings, arrivals)
        query = query.where(sightings.c.tracker_id == topic.id)
        query = query.where(or_(sightings.c.sampled.is_(True), sightings.c.arrival_id.in_(self._judged(topic))))
        return [*connection.execute(query.order_by(sightings.c.id))]

    def _judged(self, topic: FollowedTopic) -> "Select[Any]":
        """The documents that somebody judged for a topic."""
        return select(judgements.c.arrival_id).where(judgements.c.tracker_id == topic.id)

    def samples(self, connection: Connection) -> "list[Row[Any]]":
        """Topic, document and score of all that was sampled to be judged."""
        query = select(topics.c.name, arrivals.c.document, sightings.c.score).join_from(sightings, arrivals)
        query = query.join(trackers, sightings.c.tracker_id == trackers.c.id).join(topics)
        query = query.where(trackers.c.stream_id == self.stream, trackers.c.status != REMOVED)
        return [*connection.execute(query.where(sightings.c.sampled.is_(True)).order_by(sightings.c.id))]

    def bags_of(self, connection: Connection, numbers: Sequence[int]) -> list[bytes]:
        """The bags of the documents of sightings, in the order of these numbers."""
        found: dict[int, bytes] = {}
        for start in range(0, len(numbers), _AT_ONCE):
            query = select(sightings.c.id, arrivals.c.bag).join_from(sightings, arrivals)
            some = sightings.c.id.in_(numbers[start : start + _AT_ONCE])
            found.update({row.id: bytes(row.bag) for row in connection.execute(query.where(some))})
        return [found[number] for number in numbers]

    def _joined(self) -> "Select[Any]":
        return (
            select(sightings, topics.c.name, arrivals.c.document, arrivals.c.date, arrivals.c.source, arrivals.c.at,
                   arrivals.c.fields)
            .join_from(sightings, arrivals).join(trackers, sightings.c.tracker_id == trackers.c.id).join(topics)
            .where(trackers.c.stream_id == self.stream)
        )  # fmt: skip

    # -- judgements ------------------------------------------------------------------------------------------------

    def add_judgement(
        self, connection: Connection, topic: FollowedTopic, arrival: int, on_topic: bool | None, by: str,
        undoes: int | None = None,
    ) -> None:  # fmt: skip
        """What somebody said, or took back."""
        row = {"tracker_id": topic.id, "arrival_id": arrival, "on_topic": on_topic, "by": by, "undoes": undoes}
        seen, at = self.last_arrival(connection), self.database.clock()
        self.database.add(connection, judgements, **row, seen=seen, at=at)

    def judgements(self, connection: Connection, topic: FollowedTopic) -> "list[Row[Any]]":
        """Every judgement in its order, with the document and its bag."""
        query = select(judgements, arrivals.c.document, arrivals.c.bag).join_from(judgements, arrivals)
        return [*connection.execute(query.where(judgements.c.tracker_id == topic.id).order_by(judgements.c.id))]

    def verdicts(self, connection: Connection) -> dict[int, dict[int, bool]]:
        """By tracker, the verdicts that hold, by the numbers of their documents."""
        ours = select(trackers.c.id).where(trackers.c.stream_id == self.stream, trackers.c.status != REMOVED)
        columns = judgements.c
        query = select(columns.id, columns.tracker_id, columns.arrival_id, columns.on_topic, columns.undoes)
        rows = connection.execute(query.where(columns.tracker_id.in_(ours)).order_by(columns.id)).all()
        undone = {row.undoes for row in rows}
        verdicts: dict[int, dict[int, bool]] = {}
        for row in rows:
            if row.undoes is None and row.id not in undone:
                verdicts.setdefault(row.tracker_id, {})[row.arrival_id] = row.on_topic
        return verdicts

    def last_judgement(self, connection: Connection, topic: FollowedTopic) -> Any:
        """The latest that was not taken back."""
        return last_standing(connection, judgements, judgements.c.tracker_id == topic.id)

    def document_of(self, connection: Connection, arrival: int) -> str:
        """The id of the document of that number."""
        return str(connection.execute(select(arrivals.c.document).where(arrivals.c.id == arrival)).scalar_one())

    def judged(self, connection: Connection, topic: FollowedTopic, standing: Iterable[Any]) -> list[Judged]:
        """Judgements that hold, with the scores under which the documents were delivered."""
        met = select(sightings.c.arrival_id, sightings.c.score).where(
            sightings.c.tracker_id == topic.id, sightings.c.arrival_id.in_(self._judged(topic))
        )
        scores = {row.arrival_id: row.score for row in connection.execute(met)}
        return [Judged(row.document, bool(row.on_topic), scores.get(row.arrival_id), row.at) for row in standing]

    # -- what was asked, what is to be sent ------------------------------------------------------------------------

    def polls(self) -> dict[str, Any]:
        """What is known of each source that was asked."""
        with self.database.read() as connection:
            found = connection.execute(select(polls).where(polls.c.stream_id == self.stream))
            return {row.source: row for row in found}

    def put_poll(self, source: str, **values: Any) -> None:
        """Remember how a source answered."""
        where = (polls.c.stream_id == self.stream, polls.c.source == source)
        row = {"at": self.database.clock(), **values}
        with self.database.write() as connection:
            if not connection.execute(update(polls).where(*where).values(**row)).rowcount:
                self.database.add(connection, polls, stream_id=self.stream, source=source, **row)

    def post(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Messages to be delivered."""
        given = {"stream_id": self.stream, "attempts": 0, "not_before": 0.0, "trouble": "", "delivered": None}
        self.database.add_all(connection, outbox, [{**given, **row, "at": self.database.clock()} for row in rows])

    def outbox(self, limit: int, *, after: int = 0, passing: Iterable[str] = ()) -> "list[Row[Any]]":
        """Messages that wait, the oldest first: so many after a number, to other addresses than these."""
        waiting = (self._posted, outbox.c.delivered.is_(None), outbox.c.id > after, outbox.c.url.not_in([*passing]))
        with self.database.read() as connection:
            return [*connection.execute(select(outbox).where(*waiting).order_by(outbox.c.id).limit(limit))]

    def count_messages(self, delivered: str | None = None) -> int:
        """How many messages wait, or are said to be so."""
        query = (
            select(func.count())
            .select_from(outbox)
            .where(self._posted, outbox.c.delivered.is_not_distinct_from(delivered))
        )
        with self.database.read() as connection:
            return int(connection.execute(query).scalar() or 0)

    def next_message(self) -> float | None:
        """When a message is to be sent again; None where none waits for that."""
        query = select(func.min(outbox.c.not_before)).where(
            self._posted, outbox.c.delivered.is_(None), outbox.c.not_before > 0
        )
        with self.database.read() as connection:
            return connection.execute(query).scalar()

    @property
    def _posted(self) -> "ColumnElement[bool]":
        return outbox.c.stream_id == self.stream

    def set_message(self, number: int, **values: Any) -> None:
        """What came of a message."""
        with self.database.write() as connection:
            connection.execute(update(outbox).where(outbox.c.id == number).values(**values))


def _sighting(row: Any) -> Sighting:
    return Sighting(row.id, row.name, row.document, row.score, row.delivered, row.learnt, row.date, row.source, row.at,
                    row.fields)  # fmt: skip
