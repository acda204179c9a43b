"""germane track digest and feed: what was delivered, for people and for readers of feeds."""

from pathlib import Path
from typing import Annotated

import typer

from germane.cli.commands.track.parts import MAIN, WORKSPACE, StreamName, TopicName, WorkspaceFile, moment_of, opened
from germane.cli.streams import put_bytes, say, tell
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane.data import atomic
    from germane.stream import atom
    from germane.stream import digest as stream_digest

To = Annotated[
    Path | None, typer.Option("--to", metavar="FILE", help="Write it there, whole or not at all.", show_default=False)
]


def digest(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME...]", help="Topics.", show_default="all of them")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="DATE", help="Only what was seen from then on (UTC).", show_default=False),
    ] = None,
    html: Annotated[bool, typer.Option("--html", help="A page of HTML instead of text.")] = False,
    to: To = None,
    workspace: WorkspaceFile = WORKSPACE,
    stream: StreamName = MAIN,
) -> None:
    """What the topics delivered, the best first, copies of one story together.

    Example: germane track digest --since 2026-01-31

    Example: germane track digest quakes --html --to quakes.html
    """
    moment = moment_of(since)
    with opened(workspace, stream) as watch:
        topics = [watch.topic(name).name for name in names] if names else [topic.name for topic in watch.topics()]
        found = [stream_digest.digest_of(watch, topic, since=moment) for topic in topics]
    content = (stream_digest.as_html if html else stream_digest.as_text)(found)
    if to is None:
        say(content.rstrip("\n"))
    else:
        _write(to, content.encode())
        tell(f"{counted(sum(each.documents for each in found), 'hit')} written to {to}")


def feed(
    name: TopicName,
    to: To = None,
    n: Annotated[int, typer.Option("-n", metavar="N", help="Entries: the latest.", min=1)] = 100,
    workspace: WorkspaceFile = WORKSPACE,
    stream: StreamName = MAIN,
) -> None:
    """What a topic delivered, as an Atom feed.

    Example: germane track feed quakes --to quakes.xml
    """
    with opened(workspace, stream) as watch:
        topic = watch.topic(name)
        hits = watch.hits(name, last=n)
        content = atom.atom_feed(name, hits, updated=topic.at, origin=f"{stream} {topic.at}")
    if to is None:
        put_bytes(content)
    else:
        _write(to, content)
        tell(f"{counted(len(hits), 'entry').replace('entrys', 'entries')} written to {to}")


def _write(path: Path, content: bytes) -> None:
    atomic.write_bytes(path, content)
