"""Progress bars belong to whoever owns the loop: the command line wraps the iterable, the library never prints."""

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from germane.cli.streams import terminal

Item = TypeVar("Item")


def watched(items: Iterable[Item], label: str, *, total: int | None = None, always: bool = False) -> Iterator[Item]:
    """The items, with a bar on stderr if that is a terminal, or `always`."""
    if not (always or sys.stderr.isatty()):
        yield from items
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    counts = MofNCompleteColumn() if total is not None else TextColumn("{task.completed:,}")
    columns = (TextColumn("{task.description}"), BarColumn(), counts, TimeElapsedColumn())
    with Progress(*columns, console=terminal(stderr=True), transient=not always) as progress:
        yield from progress.track(items, total=total, description=label)
