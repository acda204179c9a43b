"""The options that the commands of tracking share."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from germane.errors import ParameterError

if TYPE_CHECKING:
    from germane.stream import Watch

WORKSPACE = "track.workspace"
MAIN = "main"

TopicName = Annotated[str, typer.Argument(metavar="NAME", help="The topic.", show_default=False)]
WorkspaceFile = Annotated[
    str, typer.Option("--workspace", "-w", metavar="FILE", help="Where all is kept: a file, or a postgresql:// URL.")
]
StreamName = Annotated[
    str, typer.Option("--stream", metavar="NAME", help="One of several streams in a workspace: ids are per stream.")
]


@contextmanager
def opened(workspace: str, stream: str) -> "Iterator[Watch]":
    """The stream, which must be there."""
    from germane.stream import Watch
    from germane.workspace import Workspace

    with Workspace.open(workspace, create=False) as found:
        yield Watch.open(found, stream)


def moment_of(since: str | None) -> str | None:
    """The moment that `--since` names."""
    if since is None:
        return None
    from germane.stream.arrivals import iso_date

    moment = iso_date(since)
    if moment is None:
        raise ParameterError(f"--since wants a date, as 2026-01-31 or 2026-01-31T08:00, not '{since}'")
    return moment
