"""germane track list and show: how topics fare."""

from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli import options
from germane.cli.commands.track.parts import MAIN, WORKSPACE, StreamName, TopicName, WorkspaceFile, moment_of, opened
from germane.cli.streams import put_json, put_row, say
from germane.cli.tables import put_rows
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane.stream import health, responses, shares

if TYPE_CHECKING:
    from germane.stream.responses import TopicResponse


_COLUMNS = ("topic", "status", "method", "hits", "learnt", "judged", "last hit", "last document", "drift", "missed")


def list_(
    workspace: WorkspaceFile = WORKSPACE,
    stream: StreamName = MAIN,
    json: options.Json = False,
    tsv: options.TabSeparated = False,
) -> None:
    """List the topics, a line each: hits, the last document, what is missed, and how far scores have drifted.

    Example: germane track list
    """
    wanted = options.one_of(json=json, tsv=tsv)

    with opened(workspace, stream) as watch:
        found = [responses.TopicResponse.of(topic, health.health_of(watch, topic.name)) for topic in watch.topics()]
    if wanted == "json":
        put_json(found)
        return
    if wanted == "tsv":
        put_rows(_COLUMNS, [_row(each) for each in found])
        return
    for each in found:
        say(f"{each.name} ({each.status}, {each.method}): {health_line(each)}")


def show(
    name: TopicName,
    k: Annotated[int, typer.Option("-k", metavar="K", help="How many words, and how many hits.", min=1)] = 10,
    workspace: WorkspaceFile = WORKSPACE,
    stream: StreamName = MAIN,
    json: options.Json = False,
) -> None:
    """Show a topic: its words now, its thresholds, its health, and the latest hits.

    Example: germane track show quakes -k 5
    """
    with opened(workspace, stream) as watch:
        topic = responses.TopicResponse.of(watch.topic(name), health.health_of(watch, name))
        words = tuple(health.topic_words(watch, name, k))
        hits = tuple(responses.HitResponse.of(hit) for hit in watch.hits(name, last=k))
    if json:
        put_json(responses.TopicDetail(topic, words, hits))
        return
    say(f"{topic.name}: {topic.status}, {topic.method}, since {_shown(topic.since)}")
    say(health_line(topic))
    say(f"delivers from a score of {topic.decision:.2f}, learns unasked from {topic.adaptation:.2f}")
    say("words: " + ", ".join(f"{word.word} {word.weight:.3g}" for word in words))
    say("latest hits:" if hits else "no hits yet")
    for hit in reversed(hits):  # a line each, whole: ids are copied from here
        say(f"  {hit.score:.2f}  {hit.id}  {hit.date or 'no date'}  {hit.title}")


def stories(
    n: Annotated[
        int, typer.Option("-n", metavar="N", help="How many of the latest documents to look at.", min=1)
    ] = 1000,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="DATE", help="Only what was seen from then on (UTC).", show_default=False),
    ] = None,
    below: Annotated[
        float, typer.Option("--below", metavar="COSINE", help="A story is new below this likeness to any before.")
    ] = 0.2,
    workspace: WorkspaceFile = WORKSPACE,
    stream: StreamName = MAIN,
    json: options.Json = False,
) -> None:
    """List the documents that began a story, of a topic or of none: nothing before was like them.

    Each is compared with the 10,000 documents before it. Printed are the likeness (cosine) to the likest of them, id,
    date and title, with tabs between them, the oldest first.

    Example: germane track stories --since 2026-01-31
    """
    with opened(workspace, stream) as watch:
        found = health.new_stories(watch, n, since=moment_of(since), below=below)
    if json:
        put_json([responses.NewStoryResponse(*story) for story in found])
        return
    for story in found:
        put_row([f"{story.similarity:.2f}", story.document, story.date or "", story.title])


def health_line(topic: "TopicResponse") -> str:
    """One line on how a topic fares."""
    drift = "too few documents to tell of drift" if topic.drift is None else f"drift {topic.drift:.3f}"
    told = shares.missed_told(topic)
    missed = f"estimated to miss {told}" if told else "too few judgements to tell what is missed"
    judged = f"{topic.judged_on} judged on topic, {topic.judged_off} off"
    hits = counted(topic.hits, "hit") + (f", the last {_shown(topic.last_hit)}" if topic.last_hit else "")
    seen = f"last document {_shown(topic.last_seen)}" if topic.last_seen else "no document yet"
    return f"{hits}; {seen}; {topic.learnt} learnt from unasked; {judged}; {missed}; {drift}"


def _shown(moment: str) -> str:
    """To the minute."""
    return moment[:16].replace("T", " ")


def _row(topic: "TopicResponse") -> list[object]:
    known = (topic.last_hit, topic.last_seen, topic.drift, None if topic.p_miss is None else topic.p_miss.estimate)
    judged = topic.judged_on + topic.judged_off
    return [topic.name, topic.status, topic.method, topic.hits, topic.learnt, judged,
            *("" if value is None else value for value in known)]  # fmt: skip
