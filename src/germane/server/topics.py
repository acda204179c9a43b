"""Tracked topics as the page shows them: made of marked results, fed with documents, judged by a person."""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from germane.errors import ParameterError, UnknownDocumentError
from germane.lazy import on_first_use
from germane.server.operations import PREFIX
from germane.server.safety import feed_key
from germane.stream import Watch
from germane.stream.atom import ENTRIES, atom_feed
from germane.stream.digest import Digest, digest_of
from germane.stream.health import (
    MOST_CHARACTERS,
    Moment,
    NearMiss,
    TopicWord,
    counted_topics,
    health_of,
    near_misses,
    topic_words,
    words_over_time,
)
from germane.stream.responses import Day, TopicResponse
from germane.stream.shares import FEWEST, missed_told, share_told
from germane.stream.values import Judged, Sighting
from germane.stream.watch import MAIN
from germane.track.missed import BIN
from germane.track.thresholds import Costs, costs_at, thresholds
from germane.types import RESULT_FIELDS, Document, text_of

with on_first_use(__name__):
    from germane.evaluate import detection
    from germane.stream import reports

if TYPE_CHECKING:
    from germane.engine import Engine
    from germane.server.library import Library
    from germane.stream.reports import TrackReport

BACKGROUND = 5_000
"""Documents of a collection that a new stream learns general language from."""
MOST_AT_ONCE = 2_000
"""Documents that are shown to topics while somebody waits, and that a curve is drawn of, the latest; more are shown by
a job."""
MOST_WORDS_AT_ONCE = 1_000_000
"""Words of the documents that are shown to topics while somebody waits."""
SEEDS_TEXT = 200_000
"""Characters of the documents that a topic begins with, all together, that it learns from."""
BACKGROUND_TEXT, BACKGROUND_ALL, BACKGROUND_READ = 20_000, 3_000_000, 40_000_000
"""Characters that general language is learnt from: of one document, of all, and of the documents that are read for
it."""
HITS = 50
IN_DIGEST = 1_000
"""Hits of a digest, the latest."""
KNOWN_WORDS = 200
"""Words of a topic whose weights over time are looked up."""
DEAREST, CHEAPEST = 200.0, 0.5
"""Largest and smallest cost of a miss, in false alarms."""


class WordRow(NamedTuple):
    """A word of a topic, and its weight at each moment, as shares of the heaviest."""

    word: str
    shares: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TopicView:
    """A topic: how it fares, hits by day, its words, the latest hits, what was said of them, and near misses."""

    topic: TopicResponse
    timeline: tuple[Day, ...]
    words: tuple[TopicWord, ...]
    hits: tuple[Sighting, ...]
    judged: dict[str, Judged]
    near: tuple[NearMiss, ...]
    history: tuple[WordRow, ...]
    moments: tuple[Moment, ...]
    dial: "Dial"

    @property
    def missed(self) -> str:
        """Estimated share of missed documents in words; empty where too few were judged."""
        return missed_told(self.topic)

    @property
    def needed(self) -> int:
        """Number of further judgements that an estimate needs."""
        return max(FEWEST - self.topic.judged_on - self.topic.judged_off, 1)


@dataclass(frozen=True, slots=True)
class Dial:
    """Where the threshold stands, or would after a shift by some bins: the cost of a miss in false alarms, how many
    of the hits so far lie above it, and, where somebody judged, misses, false alarms and the curve they lie on."""

    shift: int
    lowest: int
    highest: int
    decision: float
    miss: float
    above: int
    hits: int
    curve: tuple[tuple[float, float], ...]
    point: tuple[float, float] | None
    best: tuple[float, float] | None
    judged: tuple[int, int]

    @property
    def missed(self) -> str:
        """Share of the relevant documents that lie below the threshold, in words."""
        return share_told(self.point[0] if self.point else 0.0, self.judged[0])

    @property
    def alarms(self) -> str:
        """Share of the documents judged not relevant that lie above it, in words."""
        return share_told(self.point[1] if self.point else 0.0, self.judged[1])


def topics_of(library: "Library") -> list[tuple[TopicResponse, tuple[Day, ...]]]:
    """Every topic with its counts and its hits by day; nothing is estimated."""
    if not Watch.is_in(library.workspace):
        return []
    with library.tracking:
        counted = counted_topics(_opened(library))
    return [(TopicResponse.of(each.topic, each.health), tuple(Day(*day) for day in each.days)) for each in counted]


def topic_view(library: "Library", name: str, shift: int = 0) -> TopicView:
    """One topic, with its threshold as it is, or as it would be after a shift."""
    with library.tracking:
        watch = _opened(library)
        watch.topic(name)
        report = _report(watch, name)
        hits = [hit for hit in watch.hits(name, last=HITS, most=MOST_CHARACTERS) if hit.delivered]
        moments = words_over_time(watch, name, n=KNOWN_WORDS)
        return TopicView(
            TopicResponse.of(watch.topic(name), health_of(watch, name)),
            report.timeline,
            tuple(topic_words(watch, name, 16)),
            tuple(reversed(hits)),
            {each.document: each for each in watch.judged(name)},
            tuple(near_misses(watch, name, 5)),
            _rows(moments),
            tuple(moments),
            _dial(watch, name, report, shift),
        )


def dial_view(library: "Library", name: str, shift: int) -> Dial:
    """The threshold after a shift; nothing is changed."""
    with library.tracking:
        watch = _opened(library)
        return _dial(watch, name, _report(watch, name), shift)


def shift_threshold(library: "Library", name: str, shift: int) -> None:
    """Move the threshold of a topic."""
    with library.tracking:
        watch = _opened(library)
        low, high = _reach(watch, name)
        if not low <= shift <= high:
            raise ParameterError(f"the threshold can be moved by {low} to {high} steps, not by {shift}")
        if shift:
            watch.shift(name, shift)


def digest_view(library: "Library", name: str, since: str | None) -> Digest:
    """Return the deliveries of a topic, copies of a story together."""
    with library.tracking:
        return digest_of(_opened(library), name, since=since, last=IN_DIGEST, most=MOST_CHARACTERS)


def feed_of(library: "Library", name: str) -> bytes:
    """Return the last deliveries of a topic as an Atom feed."""
    with library.tracking:
        watch = _opened(library)
        at = watch.topic(name).at
        hits = watch.hits(name, last=ENTRIES, most=MOST_CHARACTERS)
        return atom_feed(name, hits, updated=at, origin=f"{MAIN} {at}")


def feed_address(library: "Library", name: str) -> str:
    """Return the address of a topic's feed. Where the server asks for a token, the address has a key for this feed
    alone: feed readers send no headers, and an address is no place for the token itself."""
    path = f"{PREFIX}/topics/{quote(name, safe='')}/feed"
    tokens = library.settings.all_tokens
    return f"{path}?key={feed_key(tokens[0].value, name)}" if tokens else path


def _reach(watch: Watch, name: str) -> tuple[int, int]:
    """Return the range of the threshold in bins: until a miss costs `DEAREST` or `CHEAPEST` false alarms."""
    costs = Costs(**watch.topic(name).settings["costs"])
    now = thresholds(costs).decision
    ends = [thresholds(Costs(miss * costs.false_alarm, costs.false_alarm, costs.p_target)).decision
            for miss in (DEAREST, CHEAPEST)]  # fmt: skip
    return min(math.floor((ends[0] - now) / BIN), 0), max(math.ceil((ends[1] - now) / BIN), 0)


def _report(watch: Watch, name: str) -> "TrackReport":
    """The report on a topic, over the latest documents."""
    return watch.cached("report", name, lambda: reports.report_of(watch, name, most=MOST_AT_ONCE))


def _dial(watch: Watch, name: str, report: "TrackReport", shift: int) -> Dial:
    costs = Costs(**watch.topic(name).settings["costs"])
    lowest, highest = _reach(watch, name)
    shift = min(max(shift, lowest), highest)
    moved = costs_at(thresholds(costs).decision + BIN * shift, costs)
    decision = thresholds(moved).decision
    with watch.workspace.database.read() as connection:
        above = watch.store.count_from(connection, watch.store.topic(connection, name), decision)
    curve: tuple[tuple[float, float], ...] = ()
    point: tuple[float, float] | None = None
    best: tuple[float, float] | None = None
    judged = 0, 0
    if report.response.detection is not None:
        found = report.curve
        judged = report.response.detection.on_topic, report.response.detection.off_topic
        curve = tuple(zip(found.p_miss.tolist(), found.p_fa.tolist(), strict=True))
        place = int((found.thresholds >= decision).sum()) - 1  # they descend, and what has this score is accepted
        point = curve[max(place, 0)]
        least = detection.min_cost(found, p_target=moved.p_target, cost_miss=moved.miss, cost_fa=moved.false_alarm)
        best = least.p_miss, least.p_fa
    return Dial(
        shift, lowest, highest, decision, moved.miss / moved.false_alarm, above,
        report.response.topic.hits, curve, point, best, judged,
    )  # fmt: skip


def _rows(moments: Sequence[Moment]) -> tuple[WordRow, ...]:
    """The words that were ever among the first, those of now first."""
    latest = dict.fromkeys(word.word for moment in reversed(moments) for word in moment.words[:8])
    weights = [dict(moment.words) for moment in moments]
    most = max((weight for each in weights for weight in each.values()), default=1.0) or 1.0
    return tuple(WordRow(word, tuple(each.get(word, 0.0) / most for each in weights)) for word in latest)[:14]


def follow(library: "Library", name: str, seeds: Sequence[Document], engine: "Engine") -> None:
    """Follow a topic that begins with these documents, of long ones with their first words; the stream's background is
    the collection, once."""
    looked_at = SEEDS_TEXT // max(len(seeds), 1)
    texts = [text for each in seeds if (text := text_of(each.fields, RESULT_FIELDS)[:looked_at].strip())]
    if not texts:
        raise ParameterError("a topic begins with at least one document that has a text: mark a result relevant first")
    with library.tracking:
        if Watch.is_in(library.workspace):
            watch = _opened(library)
        else:
            watch = Watch.begin(library.workspace, _background(engine.documents()), described="the collection")
        watch.follow(name, texts)


def _background(documents: Iterable[Document]) -> Iterator[Document]:
    """The documents that general language is learnt from, of long ones the first words."""
    known = read = 0
    for document in islice(documents, BACKGROUND):
        text = text_of(document.fields, RESULT_FIELDS)
        yield Document(document.id, {"text": text[:BACKGROUND_TEXT]})
        known, read = known + min(len(text), BACKGROUND_TEXT), read + len(text)
        if known >= BACKGROUND_ALL or read >= BACKGROUND_READ:
            return


def is_shown_at_once(engine: "Engine") -> bool:
    """Whether a collection is shown to topics while somebody waits: it is small, and so are its documents."""
    return len(engine) <= MOST_AT_ONCE and engine.stats().tokens <= MOST_WORDS_AT_ONCE


def feed(library: "Library", documents: Iterable[Document]) -> tuple[int, int, int]:
    """Show documents to all topics, and to each what came before it began; how many were new, known already, and
    delivered."""

    def whole(name: str) -> Document | None:
        for engine in library.engines.values():
            with suppress(UnknownDocumentError):
                return engine.document(name)
        return None

    with library.tracking:
        watch = _opened(library)
        done = watch.process(documents)
        earlier = sum(watch.look_back(topic.name, whole) for topic in watch.topics())
    return done.new, done.repeated, len(done.hits) + earlier


def judge(library: "Library", name: str, document: str, on_topic: bool) -> None:
    """Say of a document that it is on the topic, or not."""
    with library.tracking:
        _opened(library).judge(name, document, on_topic)


def undo_judgement(library: "Library", name: str) -> str | None:
    """Take the latest judgement back; the document's id."""
    with library.tracking:
        return _opened(library).undo(name)


def set_following(library: "Library", name: str, action: str) -> None:
    """Pause, resume or remove a topic, or restore one that was removed."""
    actions = {"pause": Watch.pause, "resume": Watch.resume, "remove": Watch.remove, "restore": Watch.restore}
    if action not in actions:
        raise ParameterError(f"a topic can be told to {', '.join(actions)}, not '{action}'")
    with library.tracking:
        actions[action](_opened(library), name)


def _opened(library: "Library") -> Watch:
    if not Watch.is_in(library.workspace):
        raise ParameterError("there is no topic yet: mark a result relevant, and save the search as a topic")
    if library.watch is None:
        library.watch = Watch.open(library.workspace)
    return library.watch
