"""The options that the commands of tracking share."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from germane.errors import ParameterError
from germane.lazy import on_first_use

with on_first_use(__name__):
    from germane import stream as streaming
    from germane import workspace as workspaces
    from germane.stream import arrivals

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
    with workspaces.Workspace.open(workspace, create=False) as store:
        yield streaming.Watch.open(store, stream)


def moment_of(since: str | None) -> str | None:
    """The moment that `--since` names."""
    if since is None:
        return None

    moment = arrivals.iso_date(since)
    if moment is None:
        raise ParameterError(f"--since wants a date, as 2026-01-31 or 2026-01-31T08:00, not '{since}'")
    return moment
