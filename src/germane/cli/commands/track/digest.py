"""germane track digest and feed: what was delivered, for people and for readers of feeds."""

from pathlib import Path
from typing import Annotated

import typer

from germane.cli.commands.track.parts import MAIN, WORKSPACE, StreamName, TopicName, WorkspaceFile, moment_of, opened
from germane.cli.streams import put_bytes, say, tell
from germane.wording import counted

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
    from germane.stream.digest import as_html, as_text, digest_of

    moment = moment_of(since)
    with opened(workspace, stream) as watch:
        topics = [watch.topic(name).name for name in names] if names else [topic.name for topic in watch.topics()]
        found = [digest_of(watch, topic, since=moment) for topic in topics]
    content = (as_html if html else as_text)(found)
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
    from germane.stream.atom import atom_feed

    with opened(workspace, stream) as watch:
        topic = watch.topic(name)
        hits = watch.hits(name, last=n)
        content = atom_feed(name, hits, updated=topic.at, origin=f"{stream} {topic.at}")
    if to is None:
        put_bytes(content)
    else:
        _write(to, content)
        tell(f"{counted(len(hits), 'entry').replace('entrys', 'entries')} written to {to}")


def _write(path: Path, content: bytes) -> None:
    from germane.data.atomic import write_bytes

    write_bytes(path, content)
