"""`Watch`: topics followed through a stream, everything in a workspace, nothing lost and nothing scored twice.

A change is one transaction, and is on disk when its method returns. What the stream knows (words, background, trackers)
is held in memory too; the stream's `revision` says whether another process has changed it since, and then it is read
again. Scores are the same to the last bit however the documents are cut into batches, and whether or not the program
was ended in between.
"""

import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from germane.arrays import Integers
from germane.errors import ParameterError
from germane.stream.arrivals import Arrival, title_of
from germane.stream.packing import bag_bytes, bag_of, packed, packed_bags, refusing_damage, unpacked, unpacked_bags
from germane.stream.store import Store
from germane.stream.values import FOLLOWING, PAUSED, REMOVED, FollowedTopic, Judged, Processed, Sighting
from germane.text import Analyzer
from germane.track import (
    Background,
    Bag,
    BagMaker,
    Costs,
    Follower,
    Following,
    Hits,
    Reference,
    TrackMethod,
    WordNumbers,
)
from germane.track.missed import BIN, lot_of
from germane.track.registry import method_named
from germane.track.thresholds import costs_at, thresholds
from germane.track.topics import TopicSet, moved_tally
from germane.types import RESULT_FIELDS, Document
from germane.workspace import Workspace
from germane.workspace.database import refusing
from germane.workspace.names import check_name

if TYPE_CHECKING:
    from sqlalchemy import Connection

MAIN = "main"
"""The stream of a workspace unless another is named."""
SAMPLE = 2_000
"""Documents of background text that scores are held against."""
REFRESH, REFRESH_SHARE = 1_000, 0.05
"""So many documents wait, or this share of the background, until the background takes them in."""
LOOKED_AT = 1_000
"""Documents of the past that are looked at together."""
SAMPLED_TOPICS = 1_000
"""Of more topics no documents are sampled to be judged: there would be more of them than of anything else."""
MOST_CACHED = 1_000
"""Values about topics (health, words, ...) that are held until the stream changes."""
Made = TypeVar("Made")


Whole = Callable[[str], Document | Mapping[str, Any] | None]
"""A document by its id, or None."""


@dataclass(slots=True)
class StreamState:
    """What a stream knows, as it was at a revision.

    `tally`: by tracker, how many documents had which score. `samples`: topic, score and lot of what was kept to be
    judged. `n_words`: how many words of the vocabulary are on disk.
    """

    maker: BagMaker
    background: Background
    reference: Reference
    topics: dict[str, FollowedTopic]
    followers: dict[str, Follower]
    tally: dict[int, Integers]
    samples: list[tuple[str, float, float]]
    n_words: int


class Lesson(NamedTuple):
    """A document that a topic learnt from: when (the latest document then, and the judgement), which, its words, and
    what somebody said of it, if anybody did."""

    seen: int
    judgement: int
    arrival: int
    bag: bytes
    on_topic: bool | None

    def teach(self, follower: Follower) -> None:
        """Let the topic learn it."""
        if self.on_topic is None:
            follower.learn(bag_of(self.bag))
        else:
            follower.judge(bag_of(self.bag), self.on_topic)


class Watch:
    """Topics followed through a stream. `process` what comes in, `judge` what it delivered.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Workspace.open(f"{folder}/news.workspace") as workspace:
    ...     general = [f"Page {n} tells of {n % 5} ships, {n % 7} ports and {n % 3} storms at sea" for n in range(50)]
    ...     watch = Watch.begin(workspace, [{"id": str(n), "text": text} for n, text in enumerate(general)])
    ...     topic = watch.follow("quakes", ["An earthquake shook the coast of Chile"])
    ...     [hit.document for hit in watch.process([{"id": "a", "text": "Another earthquake on the coast"}]).hits]
    ['a']
    """

    def __init__(self, workspace: Workspace, store: Store) -> None:
        self.workspace, self.store = workspace, store
        self._revision = -1
        self._cache: tuple[int, OrderedDict[tuple[str, str], Any]] = -1, OrderedDict()
        self._told: set[int] = set()  # numbers of hits, beyond those that all programs have told
        self._memory: StreamState | None = None
        self._set: TopicSet | None = None

    # -- opening ---------------------------------------------------------------------------------------------------

    @classmethod
    def begin(
        cls,
        workspace: Workspace,
        background: Iterable[Document | Mapping[str, Any]],
        *,
        name: str = MAIN,
        analyzer: Analyzer | None = None,
        fields: Sequence[str] = RESULT_FIELDS,
        beta: float = 0.5,
        described: str = "",
    ) -> "Watch":
        """A new stream. `background`: text of the kind that is not of any topic, the more the better; a sample of it
        is what scores are held against. `described` is what people are told of it."""
        there_is_one = f"the workspace has a stream '{name}' already, with a background of its own"
        if Store.find(workspace.database, name) is not None:
            raise ParameterError(there_is_one)
        maker = BagMaker(analyzer or Analyzer(), WordNumbers())
        names = tuple(fields)
        texts = [Arrival.of(document).text(names) for document in background]
        bags = [bag for bag in maker.bags(texts) if len(bag.terms)]
        if not bags:
            raise ParameterError("a background needs documents with words in them")
        general = Background.of(bags, beta)
        sample = [bags[i] for i in np.unique(np.linspace(0, len(bags) - 1, min(SAMPLE, len(bags))).astype(int))]
        settings = {"analyzer": maker.analyzer.to_dict(), "fields": list(names), "background": described}
        with refusing(there_is_one), workspace.database.write() as connection:
            store = Store.create(workspace.database, connection, name, settings)
            store.put_part(connection, "background", packed({**general.state(), "through": 0}))
            store.put_part(connection, "reference", packed_bags(sample))
            store.put_part(connection, "tally", _packed_tally({}))
            store.add_words(connection, maker.vocabulary.terms)
        return cls(workspace, store)

    @classmethod
    def open(cls, workspace: Workspace, name: str = MAIN) -> "Watch":
        """A stream that was begun; `ParameterError` where there is none of that name."""
        store = Store.find(workspace.database, name)
        if store is None:
            raise ParameterError(f"the workspace has no stream '{name}': begin one with 'germane track new'")
        return cls(workspace, store)

    @classmethod
    def is_in(cls, workspace: Workspace, name: str = MAIN) -> bool:
        """Whether the workspace has a stream of that name."""
        return Store.find(workspace.database, name) is not None

    # -- topics ----------------------------------------------------------------------------------------------------

    def follow(
        self, name: str, seeds: Sequence[str], *, method: str | TrackMethod = "germane", costs: Costs | None = None,
        unjudged: int | None = None,
    ) -> FollowedTopic:  # fmt: skip
        """Follow a topic from now on, beginning with the texts of one or more documents on it."""
        return self.follow_all({name: seeds}, method=method, costs=costs, unjudged=unjudged)[0]

    def follow_all(
        self, topics: Mapping[str, Sequence[str]], *, method: str | TrackMethod = "germane", costs: Costs | None = None,
        unjudged: int | None = None,
    ) -> list[FollowedTopic]:  # fmt: skip
        """Follow many topics from now on, all or none: seeds by name."""
        chosen = method_named(method) if isinstance(method, str) else method
        following = Following(chosen, costs or Costs(), *([] if unjudged is None else [unjudged]))
        found = []
        with self._changing() as (connection, memory):
            for name, seeds in topics.items():
                check_name(name, "a topic")
                if name in memory.topics:
                    raise ParameterError(f"there is a topic '{name}' already")
                follower = Follower.start(following, [memory.maker.bag(seed) for seed in seeds], memory.reference)
                model, settings = {"seeds": list(seeds)}, _settings_of(following)
                state = packed(follower.state())
                topic = self.store.add_topic(connection, name, model, settings, FOLLOWING, state)
                memory.topics[name], memory.followers[name] = topic, follower
                memory.tally[topic.id] = np.zeros(0, np.int64)
                found.append(topic)
            self._set = None
        return found

    def topics(self) -> list[FollowedTopic]:
        """The topics that were not removed, in the order in which they began."""
        with self.workspace.database.read() as connection:
            return self.store.topics(connection)

    def topic(self, name: str) -> FollowedTopic:
        """The topic of that name; `ParameterError` where there is none."""
        with self.workspace.database.read() as connection:
            return self.store.topic(connection, name)

    def pause(self, name: str) -> None:
        """Show the topic no document until `resume`; what comes meanwhile it never sees."""
        self._set_status(name, PAUSED)

    def resume(self, name: str) -> None:
        """Show the topic documents again."""
        self._set_status(name, FOLLOWING)

    def remove(self, name: str) -> None:
        """Follow the topic no more. What it delivered stays in the workspace; the name is free. `restore` undoes it."""
        self._set_status(name, REMOVED)

    def restore(self, name: str) -> None:
        """Follow a topic again that was removed: the latest of that name. What came meanwhile it never sees."""
        with self._changing() as (connection, memory):
            if name in memory.topics:
                raise ParameterError(f"there is a topic '{name}' already: remove it first, or leave the other removed")
            self.store.set_status(connection, self.store.removed(connection, name), FOLLOWING)
            self._forget()

    def shift(self, name: str, bins: int) -> Costs:
        """Move the topic's thresholds by so many bins of `missed.BIN`, up to deliver less; returns the costs that this
        says of misses and false alarms. What was delivered stays so.

        Whole bins, since what was seen is counted in them: the tally moves along, and no score is counted twice.
        """
        with self._changing() as (connection, memory):
            topic = self.store.topic(connection, name)
            costs = Costs(**topic.settings["costs"])
            moved = costs_at(thresholds(costs).decision + BIN * bins, costs)
            self.store.revise_topic(connection, topic, {**topic.settings, "costs": asdict(moved)})
            memory.tally[topic.id] = moved_tally(memory.tally[topic.id], bins)
            self.store.put_part(connection, "tally", _packed_tally(memory.tally))
            self._forget()
        return moved

    def _set_status(self, name: str, status: str) -> None:
        with self._changing() as (connection, _):
            self.store.set_status(connection, self.store.topic(connection, name).id, status)
            self._forget()

    # -- documents -------------------------------------------------------------------------------------------------

    def process(
        self, documents: Iterable[Arrival | Document | Mapping[str, Any]], *, posts: Sequence[Mapping[str, str]] = ()
    ) -> Processed:
        """Documents in their order, in one transaction. Those whose id has been seen are passed over.

        `posts`: the addresses (`url`, `secret`) for which a message is put into the outbox for every hit.
        """
        listed = [each if isinstance(each, Arrival) else Arrival.of(each) for each in documents]
        with self._changing() as (connection, memory):
            known = self.store.digests(connection, {each.id for each in listed})
            fresh: dict[str, Arrival] = {}
            repeated = changed = 0
            for each in listed:
                before = fresh[each.id].digest if each.id in fresh else known.get(each.id)
                if before is None:
                    fresh[each.id] = each
                else:
                    repeated, changed = repeated + 1, changed + (before != each.digest)
            new = [*fresh.values()]
            names = tuple(self._settings(connection)["fields"])
            bags = memory.maker.bags([each.text(names) for each in new])
            sample = memory.reference
            lots = [lot_of(each.id) for each in new]
            found, refreshed = self._scored(memory, bags, lots)
            at = self.workspace.database.clock()
            numbers = self._keep(connection, at, new, bags, {*found.document.tolist()})
            if refreshed is not None:
                state = memory.background.state()
                self.store.put_part(connection, "background", packed({**state, "through": numbers[refreshed]}))
                if memory.reference is not sample:
                    self.store.put_part(connection, "reference", packed_bags(memory.reference.bags))
            hits = self._sighted(connection, memory, self._topic_set(memory).names, at, new, numbers, lots, found)
            self.store.put_part(connection, "tally", _packed_tally(memory.tally))
            self.store.post(connection, [{**post, "message": message_of(hit)} for hit in hits for post in posts])
        return Processed(hits, len(new), repeated, changed)

    def look_back(self, name: str, whole: Whole | None = None) -> int:
        """Show a topic the documents that came before it began, in their order and once: from then on it counts as
        followed from the first document on. Returns how many were delivered.

        `whole` gives a document by its id, if it is at hand: of what no topic wanted when it came only the title is
        kept.
        """
        delivered = 0
        with self._changing() as (connection, memory):
            topic = self.store.topic(connection, name)
            if topic.status != FOLLOWING or not topic.since:
                return 0
            alone, few = _set_of(memory, (name,)), len(memory.followers) <= SAMPLED_TOPICS
            at, last = self.workspace.database.clock(), 0
            while rows := self.store.between(connection, last, topic.since, LOOKED_AT):
                last = rows[-1].id
                numbers, lots = [row.id for row in rows], [lot_of(row.document) for row in rows]
                found = alone.process([bag_of(bytes(row.bag)) for row in rows], lots if few else None)
                seen = [Arrival(row.document, row.fields, row.source, row.date) for row in rows]
                fields = {}
                for place in np.unique(found.document).tolist():
                    given = None if whole is None else whole(rows[place].document)
                    if given is not None and (there := Arrival.of(given)).digest == rows[place].digest:
                        seen[place], fields[numbers[place]] = there, there.fields
                self.store.set_fields(connection, fields)
                delivered += len(self._sighted(connection, memory, alone.names, at, seen, numbers, lots, found))
            memory.tally[topic.id] = alone.tally[0]
            self.store.put_part(connection, "tally", _packed_tally(memory.tally))
            self.store.set_since(connection, topic.id, 0)
            self._forget()
        return delivered

    def _scored(self, memory: StreamState, bags: Sequence[Bag], lots: Sequence[float]) -> tuple[Hits, int | None]:
        """What the topics deliver and learn from; and the last document that the background took in, if it did. It is
        refreshed by counts alone, within a batch too."""
        current = self._topic_set(memory)
        few = 0 < len(current.names) <= SAMPLED_TOPICS
        found = [current.process([])]
        refreshed, start = None, 0
        while start < len(bags):
            room = refresh_at(memory.background) - memory.background.n_waiting
            piece = bags[start : start + room]
            hits = current.process(piece, lots[start : start + room] if few else None)
            found.append(hits._replace(document=hits.document + start))
            memory.background.add(piece)
            start += len(piece)
            if memory.background.n_waiting >= refresh_at(memory.background):
                self._refresh(memory)
                refreshed = start - 1
        for name, counts in zip(current.names, current.tally, strict=True):
            memory.tally[memory.topics[name].id] = counts
        return Hits(*map(np.concatenate, zip(*found, strict=True))), refreshed

    def _sighted(
        self, connection: "Connection", memory: StreamState, names: Sequence[str], at: str, new: Sequence[Arrival],
        numbers: Sequence[int], lots: Sequence[float], found: Hits,
    ) -> tuple[Sighting, ...]:  # fmt: skip
        """What became of the documents as rows, and what the topics of these names learnt; returns what was
        delivered."""
        ids = np.array([memory.topics[name].id for name in names], np.int64)
        places, topics, scores, delivered, learnt, sampled = (values.tolist() for values in found)
        trackers, documents = ids[found.topic].tolist(), np.array(numbers, np.int64)[found.document].tolist()
        rows = [*zip(trackers, documents, scores, delivered, learnt, sampled, strict=True)]
        given = iter(self.store.add_sightings(connection, rows))
        hits = tuple(
            Sighting(next(given), names[topic], new[place].id, score, True, taught, new[place].date, new[place].source,
                     at, new[place].fields)
            for place, topic, score, told, taught in zip(places, topics, scores, delivered, learnt, strict=True) if told
        )  # fmt: skip
        for row in np.flatnonzero(found.sampled).tolist():
            memory.samples.append((names[topics[row]], scores[row], lots[places[row]]))
        taught = [names[topic] for topic in np.unique(found.topic[found.learnt]).tolist()]
        states = {memory.topics[name].id: packed(memory.followers[name].state()) for name in taught}
        self.store.set_states(connection, states)
        return hits

    def _refresh(self, memory: StreamState) -> None:
        """The background takes in what waits; a sample that is short of `SAMPLE` does so too."""
        waiting = [bag for bag in memory.background.waiting if len(bag.terms)]
        memory.background.refresh()
        bags, room = memory.reference.bags, SAMPLE - len(memory.reference.bags)
        if room > 0 and waiting:
            places = np.unique(np.linspace(0, len(waiting) - 1, min(room, len(waiting))).astype(int))
            memory.reference = Reference((*bags, *(waiting[place] for place in places)), memory.background)
            for follower in memory.followers.values():
                follower.reference = memory.reference

    def _keep(
        self, connection: "Connection", at: str, new: Sequence[Arrival], bags: Sequence[Bag], wanted: set[int]
    ) -> list[int]:
        """The documents as rows; those that some topic delivered or learnt from are kept whole."""
        kept = [each.fields if place in wanted else _short(each) for place, each in enumerate(new)]
        return self.store.add_arrivals(connection, at, zip(new, kept, bag_bytes(bags), strict=True))

    def _topic_set(self, memory: StreamState) -> TopicSet:
        if self._set is None:
            self._set = _set_of(memory, [name for name, topic in memory.topics.items() if topic.status == FOLLOWING])
        return self._set

    # -- judgements ------------------------------------------------------------------------------------------------

    def judge(self, name: str, document: str, on_topic: bool, *, by: str = "") -> bool:
        """Learn what a person says of a document of the stream, delivered or not; False where that was known.

        A document that was learnt from already (as taken to be on topic, or otherwise judged) counts as judged now,
        and only so: the topic learns anew from all that it learnt from.
        """
        with self._changing() as (connection, memory):
            topic = self.store.topic(connection, name)
            row = self.store.arrival(connection, document)
            before = {each.arrival_id: each.on_topic for each in self._standing(connection, topic)}
            if before.get(row.id) is on_topic:
                return False
            self.store.add_judgement(connection, topic, row.id, on_topic, by)
            learnt = {number for number, _ in self.store.learnt(connection, topic)}
            if row.id in before or row.id in learnt:
                self._learn_anew(connection, memory, topic)
            else:
                memory.followers[name].judge(bag_of(bytes(row.bag)), on_topic)
            self.store.set_states(connection, {topic.id: packed(memory.followers[name].state())})
        return True

    def undo(self, name: str, *, by: str = "") -> str | None:
        """Take the latest judgement back and learn anew without it; returns its document, None where none is left."""
        with self._changing() as (connection, memory):
            topic = self.store.topic(connection, name)
            last = self.store.last_judgement(connection, topic)
            if last is None:
                return None
            self.store.add_judgement(connection, topic, last.arrival_id, None, by, last.id)
            self._learn_anew(connection, memory, topic)
            self.store.set_states(connection, {topic.id: packed(memory.followers[name].state())})
            return self.store.document_of(connection, last.arrival_id)

    def judged(self, name: str) -> list[Judged]:
        """The judgements that hold."""
        with self.workspace.database.read() as connection:
            topic = self.store.topic(connection, name)
            return self.store.judged(connection, topic, self._standing(connection, topic))

    def _standing(self, connection: "Connection", topic: FollowedTopic) -> list[Any]:
        """The judgements that hold: of each document the last that was not taken back."""
        rows = self.store.judgements(connection, topic)
        undone = {row.undoes for row in rows}
        held = {row.arrival_id: row for row in rows if row.undoes is None and row.id not in undone}
        return sorted(held.values(), key=lambda row: row.id)

    def _learn_anew(self, connection: "Connection", memory: StreamState, topic: FollowedTopic) -> None:
        """The topic from its seeds: what it took to be on topic and what was judged, in the order in which they came,
        under the background of now. What was judged since counts as judged alone."""
        follower = Follower.start(following_of(topic.settings), [memory.maker.bag(seed) for seed in topic.seeds],
                                  memory.reference)  # fmt: skip
        for lesson in self.learnt(connection, topic):
            lesson.teach(follower)
        memory.followers[topic.name] = follower
        self._set = None

    def learnt(self, connection: "Connection", topic: FollowedTopic) -> list[Lesson]:
        """What a topic learnt from beyond its seeds, in the order in which it came; what was judged counts as that."""
        standing = self._standing(connection, topic)
        judged = {row.arrival_id for row in standing}
        lessons = [
            Lesson(number, 0, number, bag, None)
            for number, bag in self.store.learnt(connection, topic)
            if number not in judged
        ]
        lessons += [Lesson(row.seen, row.id, row.arrival_id, bytes(row.bag), row.on_topic) for row in standing]
        return sorted(lessons, key=lambda lesson: lesson[:2])

    # -- reading ---------------------------------------------------------------------------------------------------

    def hits(
        self, name: str | None = None, *, since: str | None = None, last: int | None = None, most: int | None = None
    ) -> list[Sighting]:
        """What was delivered, the oldest first: for one topic or all, since a moment, the last n alone; of long
        documents only as many as have `most` characters together."""
        with self.workspace.database.read() as connection:
            topic = None if name is None else self.store.topic(connection, name)
            return self.store.sightings(connection, topic, since=since, last=last, most=most)

    def untold(self) -> list[Sighting]:
        """Hits that were kept and, as far as is known, never told: the program was ended before it could."""
        with self.workspace.database.read() as connection:
            return self.store.sightings(connection, after=self.store.row(connection).told)

    def tell(self, hits: Iterable[Sighting]) -> None:
        """These have been told: they are not `untold` any more, if all before them were told too.

        Where another program has hits that it has not told, none behind them counts as told: it may have been ended,
        and a hit that is told twice is better than one that is not.
        """
        self._told |= {hit.number for hit in hits}
        if not self._told:
            return
        with self.workspace.database.write() as connection:
            before = told = self.store.row(connection, lock=True).told
            behind = {number for number in self._told if number > told}
            if behind and self.store.count_numbers(connection, after=told, upto=max(behind)) == len(behind):
                told = max(behind)  # none of another program lies between
            else:
                for number in self.store.numbers(connection, after=told, n=len(behind)):
                    if number not in behind:
                        break
                    told = number
            self._told = {number for number in self._told if number > told}
            if told > before:
                self.store.set(connection, told=told)

    def memory(self) -> StreamState:
        """What the stream knows now: for reading."""
        with self.workspace.database.read() as connection:
            return self._fresh(connection, self.store.row(connection).revision)

    def cached(self, what: str, of: str, make: "Callable[[], Made]") -> "Made":
        """Return the value of `make`, made once for as long as no process changes the stream."""
        with self.workspace.database.read() as connection:
            revision = self.store.row(connection).revision
        if self._cache[0] != revision:
            self._cache = revision, OrderedDict()
        known = self._cache[1]
        if (what, of) not in known:
            known[what, of] = make()
            while len(known) > MOST_CACHED:
                known.popitem(last=False)
        known.move_to_end((what, of))
        made: Made = known[what, of]
        return made

    # -- memory and disk -------------------------------------------------------------------------------------------

    @contextmanager
    def _changing(self) -> "Iterator[tuple[Connection, StreamState]]":
        """A transaction over the stream as it is now; what is in memory is forgotten where it fails."""
        try:
            with self.workspace.database.write() as connection:
                row = self.store.row(connection, lock=True)
                memory = self._fresh(connection, row.revision)
                yield connection, memory
                self.store.add_words(connection, memory.maker.vocabulary.terms[memory.n_words :])
                self.store.set(connection, revision=row.revision + 1)
        except BaseException:
            self._forget()
            raise
        if self._memory is not None:
            self._revision = row.revision + 1
            memory.n_words = len(memory.maker.vocabulary)

    def _forget(self) -> None:
        self._memory, self._set, self._revision = None, None, -1

    def _fresh(self, connection: "Connection", revision: int) -> StreamState:
        if self._memory is None or self._revision != revision:
            self._memory, self._set, self._revision = self._read(connection), None, revision
        return self._memory

    def _settings(self, connection: "Connection") -> Mapping[str, Any]:
        settings: Mapping[str, Any] = self.store.row(connection).settings
        return settings

    def _read(self, connection: "Connection") -> StreamState:
        with refusing_damage():
            return self._restored(connection)

    def _restored(self, connection: "Connection") -> StreamState:
        analyzer = Analyzer.from_dict(self._settings(connection)["analyzer"])
        maker = BagMaker(analyzer, WordNumbers(self.store.words(connection)))
        parts = self.store.parts(connection)
        state = unpacked(parts["background"])
        background = Background.restored(state)
        background.add(bag_of(bag) for _, bag in self.store.bags_after(connection, int(state["through"])))
        reference = Reference(unpacked_bags(parts["reference"]), background)
        topics = {topic.name: topic for topic in self.store.topics(connection)}
        states = self.store.states(connection)
        followers = {
            name: Follower.resumed(following_of(topic.settings), unpacked(states[topic.id]), reference)
            for name, topic in topics.items()
        }
        kept = _unpacked_tally(parts["tally"])
        tally = {topic.id: np.zeros(0, np.int64) for topic in topics.values()} | kept  # of removed ones too
        samples = [(row.name, row.score, lot_of(row.document)) for row in self.store.samples(connection)]
        return StreamState(maker, background, reference, topics, followers, tally, samples, len(maker.vocabulary))


def _set_of(memory: StreamState, names: Sequence[str]) -> TopicSet:
    """These topics together, each with what was counted and kept of it."""
    found = TopicSet({name: memory.followers[name] for name in names})
    for row, name in enumerate(names):
        before = memory.tally[memory.topics[name].id]
        found.tally[row, : len(before)] = before
    for name, score, lot in memory.samples:
        if name in found.names:
            found.resample(name, score, lot)
    return found


def refresh_at(background: Background) -> int:
    """How many documents wait at most: then the background takes them in."""
    return max(REFRESH, int(REFRESH_SHARE * background.n_documents))


def following_of(settings: Mapping[str, Any]) -> Following:
    """How a topic is followed, from what is kept of it."""
    with refusing_damage():
        method = method_named(settings["method"], **settings["parameters"])
        return Following(method, Costs(**settings["costs"]), settings["unjudged"])


def message_of(hit: Sighting) -> dict[str, Any]:
    """What programs are told of a hit, by JSON Lines and by webhook alike."""
    return {
        "number": hit.number, "topic": hit.topic, "id": hit.document, "score": hit.score, "learnt": hit.learnt,
        "title": hit.title, "url": hit.url, "date": hit.date, "source": hit.source, "seen": hit.at,
    }  # fmt: skip


def _settings_of(following: Following) -> dict[str, Any]:
    method: Any = following.method
    return {"method": method.name, "parameters": asdict(method), "costs": asdict(following.costs),
            "unjudged": following.unjudged}  # fmt: skip


def _short(arrival: Arrival) -> dict[str, Any]:
    """What is kept of a document that no topic wanted, beside its words' counts."""
    return {"title": title_of(arrival.fields), **({"url": url} if (url := arrival.fields.get("url")) else {})}


def _packed_tally(tally: Mapping[int, Integers]) -> bytes:
    known = {tracker: counts for tracker, counts in tally.items() if len(counts)}
    counts = np.stack([*known.values()]) if known else np.zeros((0, 0), np.int64)
    narrow = counts.astype(np.min_scalar_type(int(counts.max(initial=0))))  # there are many, and most are small
    packer = zlib.compressobj(1, strategy=zlib.Z_RLE)
    return packer.compress(packed({"ids": np.array([*known], np.int64), "counts": narrow})) + packer.flush()


def _unpacked_tally(content: bytes) -> dict[int, Integers]:
    state = unpacked(zlib.decompress(content))
    return dict(zip(state["ids"].tolist(), state["counts"].astype(np.int64), strict=True))
