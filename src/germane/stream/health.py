"""How does a topic fare? Its words, its health, what it may have missed, and how it would have scored all it saw."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from germane.arrays import Floats
from germane.lm.parameters import open_fraction
from germane.stream.arrivals import title_of
from germane.stream.packing import bag_of
from germane.stream.values import FollowedTopic
from germane.stream.watch import StreamState, Watch, following_of
from germane.text.bulk import BulkAnalyzer
from germane.track import Follower, Reference, TopicSet
from germane.track.missed import N_LAYERS, Layer, Missed, estimate_missed, layers_of, lot_of, to_judge
from germane.track.novelty import NEW, RecentTexts
from germane.types import RESULT_FIELDS, text_of

WINDOW = 10_000
"""Documents before that a new one is compared with."""
RECENT = 1_000
"""Documents that the latest scores are of."""
FEWEST = 100
"""Of fewer documents no distribution is told."""
WRITTEN_BY = 50
"""The latest hits of a topic, which say how its words are written."""
FORMS_TEXT = 200_000
"""Characters of these and of its seeds, all together, that are looked at for that."""
BINS = 10
MOST_WORDS = 1 << 20
"""Different words of the latest documents, all together, that are looked at: of very long ones fewer are."""
MOST_CHARACTERS = 20_000_000
"""Characters of the latest hits, all together, that are read."""
A_WORD = 8
"""Bytes of a word in a bag that is kept."""


class TopicWord(NamedTuple):
    """A word of a topic, and its weight."""

    word: str
    weight: float


class NearMiss(NamedTuple):
    """A document that was not delivered, and its score."""

    document: str
    score: float
    title: str
    date: str | None


class NewStory(NamedTuple):
    """A document that none before was like, and how like the likest was."""

    document: str
    similarity: float
    title: str
    url: str
    date: str | None


class Replayed(NamedTuple):
    """A document of the stream and the score it would have got when it came."""

    document: str
    score: float


@dataclass(frozen=True, slots=True)
class Health:
    """One topic at a glance. `drift`: the population stability index of the latest scores against those of background
    text. `missed`: the share of on-topic documents kept back, estimated. Both are None of too few documents."""

    topic: str
    status: str
    seen: int
    last_seen: str | None
    hits: int
    last_hit: str | None
    learnt: int
    judged_on: int
    judged_off: int
    decision: float
    adaptation: float
    drift: float | None
    missed: Missed | None


def health_of(watch: Watch, name: str) -> Health:
    """How the topic fares now."""
    return watch.cached("health", name, lambda: _health_of(watch, name))


def _health_of(watch: Watch, name: str) -> Health:
    memory = watch.memory()
    with watch.workspace.database.read() as connection:
        topic = watch.store.topic(connection, name)
        hits, learnt = watch.store.count_sightings(connection, topic)
        seen, last_seen = watch.store.count_arrivals(connection), watch.store.last_seen(connection)
        last_hit = watch.store.last_hit(connection, topic)
    judged = [*_verdicts(watch, name).values()]
    follower = memory.followers[name]
    recent = watch.cached("recent", str(topic.since), lambda: _recent(watch, topic.since))
    return Health(
        name, topic.status, seen, last_seen, hits, last_hit, learnt, sum(judged), len(judged) - sum(judged),
        follower.thresholds.decision, follower.thresholds.adaptation, _drift(follower, memory, recent),
        missed_by(watch, name),
    )  # fmt: skip


def _recent(watch: Watch, since: int) -> Reference:
    """The latest documents behind one, as the scores of background text are made."""
    with watch.workspace.database.read() as connection:
        rows = watch.store.latest_bags(connection, RECENT, since, A_WORD * MOST_WORDS)
    return Reference([bag_of(bytes(row.bag)) for row in rows], watch.memory().background)


def timeline_of(watch: Watch, name: str) -> list[tuple[str, int]]:
    """The days on which a topic delivered something, and how much."""
    with watch.workspace.database.read() as connection:
        topic = watch.store.topic(connection, name)
        return watch.store.count_by_day(connection, topic).get(topic.id, [])


class Counted(NamedTuple):
    """A topic as a list tells of it: its counts, and how much it delivered by day."""

    topic: FollowedTopic
    health: Health
    days: list[tuple[str, int]]


def counted_topics(watch: Watch) -> list[Counted]:
    """Every topic with its counts, read in a few questions for all: nothing is estimated."""
    return watch.cached("counts", "", lambda: _counted_topics(watch))


def _counted_topics(watch: Watch) -> list[Counted]:
    followers = watch.memory().followers
    with watch.workspace.database.read() as connection:
        topics, counts = watch.store.topics(connection), watch.store.count_all(connection)
        days, verdicts = watch.store.count_by_day(connection), watch.store.verdicts(connection)
        seen, last_seen = watch.store.count_arrivals(connection), watch.store.last_seen(connection)
    listed = []
    for topic in topics:
        hits, learnt, last_hit = counts.get(topic.id, (0, 0, None))
        judged, follower = [*verdicts.get(topic.id, {}).values()], followers[topic.name]
        health = Health(
            topic.name, topic.status, seen, last_seen, hits, last_hit, learnt, sum(judged), len(judged) - sum(judged),
            follower.thresholds.decision, follower.thresholds.adaptation, None, None,
        )  # fmt: skip
        listed.append(Counted(topic, health, days.get(topic.id, [])))
    return listed


def missed_by(watch: Watch, name: str) -> Missed | None:
    """What the topic misses, estimated from the scores of all documents and what was judged; None of too few."""
    delivered, below, _ = layers_now(watch, name)
    if delivered.documents + sum(layer.documents for layer in below) < FEWEST:
        return None
    return estimate_missed(delivered, below)


def stability(expected: Floats, found: Floats) -> float:
    """Population stability index: Σ (a_i - e_i)·log(a_i/e_i) over ten bins that divide `expected` evenly, each share
    with half a document more. Below 0.1 nothing has moved, above 0.25 much has."""
    edges = np.unique(np.quantile(expected, np.linspace(0.0, 1.0, BINS + 1)[1:-1]))
    shares = []
    for scores in (expected, found):
        counts = np.bincount(np.searchsorted(edges, scores, side="right"), minlength=len(edges) + 1) + 0.5
        shares.append(counts / counts.sum())
    e, a = shares
    return float(((a - e) * np.log(a / e)).sum())


def _drift(follower: Follower, memory: StreamState, recent: Reference) -> float | None:
    if len(recent.bags) < FEWEST or len(memory.reference.bags) < FEWEST:
        return None
    weights, reading = follower.tracker.weights, follower.tracker.representation
    expected = memory.reference.scores(weights, reading)
    return stability(expected, recent.scores(weights, reading))


def topic_words(watch: Watch, name: str, n: int = 20) -> list[TopicWord]:
    """The words that weigh most for the topic now, the heaviest first, as its documents write them."""
    return watch.cached("words", f"{n} {name}", lambda: _topic_words(watch, name, n))


def _topic_words(watch: Watch, name: str, n: int) -> list[TopicWord]:
    memory = watch.memory()
    watch.topic(name)
    return _words(memory.followers[name], memory, n, _forms(watch, name))


def _words(follower: Follower, memory: StreamState, n: int, forms: Mapping[str, str]) -> list[TopicWord]:
    weights = follower.tracker.weights
    heaviest = [i for i in np.argsort(-weights.values, kind="stable")[:n] if weights.values[i] > 0.0]
    terms = [memory.maker.vocabulary.terms[weights.terms[i]] for i in heaviest]
    return [TopicWord(forms.get(term, term), float(weights.values[i])) for term, i in zip(terms, heaviest, strict=True)]


def _forms(watch: Watch, name: str) -> dict[str, str]:
    """How the seeds and the latest hits of a topic write each term most often: a topic knows terms alone."""
    return watch.cached("forms", name, lambda: _forms_of(watch, name))


def _forms_of(watch: Watch, name: str) -> dict[str, str]:
    hits = [text_of(hit.fields, RESULT_FIELDS) for hit in watch.hits(name, last=WRITTEN_BY, most=MOST_CHARACTERS)]
    texts = [*watch.topic(name).seeds, *hits]
    bulk = BulkAnalyzer(watch.memory().maker.analyzer)
    bulk.analyze([text[: FORMS_TEXT // len(texts)] for text in texts])
    return dict(zip(bulk.terms, bulk.surfaces()[0], strict=True))


class Moment(NamedTuple):
    """A topic as it was after so many documents had been learnt from, at the latest of them, and its words then."""

    learnt: int
    at: str
    words: tuple[TopicWord, ...]


def words_over_time(watch: Watch, name: str, moments: int = 6, n: int = 12) -> list[Moment]:
    """The heaviest words of a topic at its beginning and as it learnt: the same steps as it took, under the background
    of now, looked at `moments` times at most, the last time now."""
    return watch.cached("moments", f"{moments} {n} {name}", lambda: _words_over_time(watch, name, moments, n))


def _words_over_time(watch: Watch, name: str, moments: int, n: int) -> list[Moment]:
    memory = watch.memory()
    with watch.workspace.database.read() as connection:
        topic = watch.store.topic(connection, name)
        events = watch.learnt(connection, topic)
        at = watch.store.dates(connection, [event.arrival for event in events])
    follower = Follower.start(
        following_of(topic.settings), [memory.maker.bag(seed) for seed in topic.seeds], memory.reference
    )
    looked = {0, *np.unique(np.linspace(0, len(events), moments).astype(int)).tolist()}
    forms = _forms(watch, name)
    found = [Moment(0, topic.at, tuple(_words(follower, memory, n, forms)))]
    for place, event in enumerate(events, start=1):
        event.teach(follower)
        if place in looked:
            found.append(Moment(place, at[event.arrival], tuple(_words(follower, memory, n, forms))))
    return found


def layers_now(watch: Watch, name: str) -> tuple[Layer, list[Layer], list[Any]]:
    """What was delivered, the layers below the threshold, and the rows of what was sampled and not judged yet, by lot.

    Of the layers only documents count as judged that were sampled: those chosen by lot.
    """
    memory = watch.memory()
    with watch.workspace.database.read() as connection:
        topic = watch.store.topic(connection, name)
        rows = watch.store.scores(connection, topic)
    counts = memory.tally[topic.id]
    known = TopicSet({name: memory.followers[name]}, counts if len(counts) else None)
    delivered, sizes = known.layer_sizes(name)
    verdicts = _verdicts(watch, name)
    judged, waiting = [[0, 0] for _ in range(N_LAYERS + 1)], []
    layers = layers_of(np.array([row.score for row in rows]), memory.followers[name].thresholds.decision)
    for row, layer in zip(rows, layers.tolist(), strict=True):
        if not row.sampled and (layer >= 0 or not row.delivered):  # learnt from, or delivered under another threshold
            continue
        if row.document in verdicts:
            judged[layer + 1][0] += 1
            judged[layer + 1][1] += verdicts[row.document]
        elif row.sampled:
            waiting.append((layer, lot_of(row.document), row))
    below = [Layer(size, *judged[layer + 1]) for layer, size in enumerate(sizes)]
    return Layer(delivered, *judged[0]), below, sorted(waiting, key=lambda each: each[:2])


def _verdicts(watch: Watch, name: str) -> dict[str, bool]:
    """The verdicts that hold, by document."""
    return watch.cached("verdicts", name, lambda: {each.document: each.on_topic for each in watch.judged(name)})


def known_words(watch: Watch, texts: Iterable[str]) -> int:
    """How many of the texts' words the background has."""
    memory = watch.memory()
    terms = np.unique(np.concatenate([memory.maker.bag(text).terms for text in texts]))
    return int(
        np.count_nonzero(memory.background.idf(terms) < memory.background.idf(np.array([np.iinfo(np.int64).max])))
    )


def near_misses(watch: Watch, name: str, n: int = 10) -> list[NearMiss]:
    """Documents that were not delivered, chosen by lot so that judging them narrows the estimate of what is missed."""
    return watch.cached("near", f"{n} {name}", lambda: _near_misses(watch, name, n))


def _near_misses(watch: Watch, name: str, n: int) -> list[NearMiss]:
    delivered, below, waiting = layers_now(watch, name)
    wanted = to_judge(delivered, below, n)
    rows: list[Any] = []
    for layer, count in enumerate(wanted):
        rows += [row for at, _, row in waiting if at == layer][:count]
    with watch.workspace.database.read() as connection:
        kept = watch.store.kept(connection, [row.arrival_id for row in rows])
    return [
        NearMiss(row.document, row.score, title_of(kept[row.arrival_id].fields), kept[row.arrival_id].date)
        for row in rows
    ]


def new_stories(
    watch: Watch, n: int = 1_000, *, since: str | None = None, below: float = NEW, window: int = WINDOW
) -> list[NewStory]:
    """Which of the last n documents of the stream, or of those seen since a moment, began a story: no document of the
    `window` before was as like it as `below`, by cosine of tf-idf vectors, SD (6.3). Documents without words are none.
    """
    open_fraction("below", below)
    background = watch.memory().background
    with watch.workspace.database.read() as connection:
        rows = watch.store.latest(connection, n + window)
    first = max(len(rows) - n, 0)
    if since is not None:
        first = max(first, next((place for place, row in enumerate(rows) if row.at >= since), len(rows)))
    memory, found = RecentTexts(background, window), []
    for place, row in enumerate(rows):
        bag = bag_of(bytes(row.bag))
        if place < first:
            memory.remember(bag)
        elif (nearest := memory.see(bag).similarity) < below and len(bag.terms):
            url = str(row.fields.get("url") or row.fields.get("link") or "")
            found.append(NewStory(row.document, nearest, title_of(row.fields), url, row.date))
    return found


EVERYTHING = 10**9
"""Documents that no stream has."""


def replayed(watch: Watch, name: str, most: int = EVERYTHING) -> list[Replayed]:
    """The stream once more, from the topic's seeds: each document's score before anything was learnt from it.

    Judgements come in where they were made; the background is that of now. Of more than `most` documents the latest,
    of long ones fewer (`MOST_WORDS`); what was judged before them is learnt from first.
    """
    memory = watch.memory()
    with watch.workspace.database.read() as connection:
        topic: FollowedTopic = watch.store.topic(connection, name)
        said: dict[int, list[Any]] = {}
        for row in watch.store.judgements(connection, topic):
            said.setdefault(row.seen, []).append(row)
        words = MOST_WORDS if most < EVERYTHING else EVERYTHING
        documents = watch.store.latest_bags(connection, most, topic.since, A_WORD * words)
    undone = {row.undoes for rows in said.values() for row in rows}
    seeds = [memory.maker.bag(seed) for seed in topic.seeds]
    follower = Follower.start(following_of(topic.settings), seeds, memory.reference)

    def learn(rows: Iterable[Any]) -> None:
        for row in rows:
            if row.undoes is None and row.id not in undone:
                follower.judge(bag_of(bytes(row.bag)), row.on_topic)

    first = documents[0].id if documents else 0
    learn(row for seen in sorted(said) if topic.since < seen < first for row in said[seen])
    found = []
    for document in documents:
        found.append(Replayed(document.document, follower.see(bag_of(bytes(document.bag))).score))
        learn(said.get(document.id, ()))
    return found
