"""Tracked topics as the page shows them: made of marked results, fed with documents, judged by a person."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from germane.errors import ParameterError
from germane.stream import Watch
from germane.stream.looking import NearMiss, TopicWord, health_of, near_misses, topic_words
from germane.stream.responses import Day, TopicResponse
from germane.stream.values import Judged, Sighting
from germane.types import RESULT_FIELDS, Document, text_of

if TYPE_CHECKING:
    from germane.engine import Engine
    from germane.server.library import Library

BACKGROUND = 5_000
"""Documents of a collection that a new stream learns general language from."""
HITS = 50


@dataclass(frozen=True, slots=True)
class TopicView:
    """A topic: how it fares, hits by day, its words, the latest hits, what was said of them, and near misses."""

    topic: TopicResponse
    timeline: tuple[Day, ...]
    words: tuple[TopicWord, ...]
    hits: tuple[Sighting, ...]
    judged: dict[str, Judged]
    near: tuple[NearMiss, ...]


def topics_of(library: "Library") -> list[tuple[TopicResponse, tuple[Day, ...]]]:
    """Every topic with its hits by day."""
    from germane.stream.reports import report_of  # loads the statistics of SciPy, which starting need not wait for

    if not Watch.is_in(library.workspace):
        return []
    with library.tracking:
        watch = Watch.open(library.workspace)
        reports = [report_of(watch, topic.name) for topic in watch.topics()]
    return [(report.response.topic, report.response.timeline) for report in reports]


def topic_view(library: "Library", name: str) -> TopicView:
    """One topic."""
    from germane.stream.reports import report_of

    with library.tracking:
        watch = _opened(library)
        watch.topic(name)
        report = report_of(watch, name)
        hits = [hit for hit in watch.hits(name, last=HITS) if hit.delivered]
        return TopicView(
            TopicResponse.of(watch.topic(name), health_of(watch, name)),
            report.timeline,
            tuple(_written(topic_words(watch, name, 16), watch, [*watch.topic(name).seeds, *map(_text, hits)])),
            tuple(reversed(hits)),
            {each.document: each for each in watch.judged(name)},
            tuple(near_misses(watch, name, 5)),
        )


def follow(library: "Library", name: str, seeds: Sequence[Document], engine: "Engine") -> None:
    """Follow a topic that begins with these documents; the stream's background is the collection, once."""
    texts = [text for document in seeds if (text := text_of(document.fields, RESULT_FIELDS).strip())]
    if not texts:
        raise ParameterError("a topic begins with at least one document that has a text: mark a result relevant first")
    with library.tracking:
        if Watch.is_in(library.workspace):
            watch = Watch.open(library.workspace)
        else:
            watch = Watch.begin(library.workspace, islice(engine.documents(), BACKGROUND), described="the collection")
        watch.follow(name, texts)


def feed(library: "Library", documents: Iterable[Document]) -> tuple[int, int, int]:
    """Show documents to all topics; how many were new, known already, and delivered."""
    with library.tracking:
        done = _opened(library).process(documents)
    return done.new, done.repeated, len(done.hits)


def judge(library: "Library", name: str, document: str, on_topic: bool) -> None:
    """Say of a document that it is on the topic, or not."""
    with library.tracking:
        _opened(library).judge(name, document, on_topic)


def undo_judgement(library: "Library", name: str) -> str | None:
    """Take the latest judgement back; the document's id."""
    with library.tracking:
        return _opened(library).undo(name)


def set_following(library: "Library", name: str, action: str) -> None:
    """Pause, resume or remove a topic."""
    actions = {"pause": Watch.pause, "resume": Watch.resume, "remove": Watch.remove}
    if action not in actions:
        raise ParameterError(f"a topic can be told to {', '.join(actions)}, not '{action}'")
    with library.tracking:
        actions[action](_opened(library), name)


def _opened(library: "Library") -> Watch:
    if not Watch.is_in(library.workspace):
        raise ParameterError("there is no topic yet: mark a result relevant, and save the search as a topic")
    return Watch.open(library.workspace)


def _text(hit: Sighting) -> str:
    return text_of(hit.fields, RESULT_FIELDS)


def _written(words: Sequence[TopicWord], watch: Watch, texts: Sequence[str]) -> list[TopicWord]:
    """The words as these texts write them: topics know stems alone."""
    analyzer = watch.memory().maker.analyzer
    counts = Counter(word for text in texts for word in re.findall(r"\w+", text.lower()))
    forms: dict[str, str] = {}
    for word, _ in counts.most_common():
        for term in analyzer.terms(word):
            forms.setdefault(term, word)
    return [TopicWord(forms.get(each.word, each.word), each.weight) for each in words]
