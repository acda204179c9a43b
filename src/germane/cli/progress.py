"""Progress bars belong to whoever owns the loop: the command line wraps the iterable, the library never prints."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from germane.cli.streams import neutral, terminal
from germane.lazy import on_first_use

with on_first_use(__name__):
    from rich import progress as rich_progress

if TYPE_CHECKING:
    from rich.progress import Progress

Item = TypeVar("Item")


def watched(items: Iterable[Item], label: str, *, total: int | None = None, always: bool = False) -> Iterator[Item]:
    """The items, with a bar on stderr if that is a terminal, or `always`."""
    if not (always or sys.stderr.isatty()):
        yield from items
        return
    with _bar(total, always) as progress:
        yield from progress.track(items, total=total, description=label)


@contextmanager
def steps(
    label: str, *, total: int | None = None, always: bool = False, otherwise: Callable[[str], None]
) -> Iterator[Callable[[str], None]]:
    """A function to be called after each step with what it came to, which the bar shows.

    Where there is no bar, the words go to `otherwise`.
    """
    if not (always or sys.stderr.isatty()):
        yield otherwise
        return
    with _bar(total, always) as progress:
        task = progress.add_task(label, total=total)

        def step(words: str) -> None:
            progress.update(task, advance=1, description=f"{label} ({neutral(words)})")

        yield step


def _bar(total: int | None, always: bool) -> "Progress":
    counts = rich_progress.MofNCompleteColumn() if total is not None else rich_progress.TextColumn("{task.completed:,}")
    columns = (
        rich_progress.TextColumn("{task.description}", markup=False),
        rich_progress.BarColumn(),
        counts,
        rich_progress.TimeElapsedColumn(),
    )
    return rich_progress.Progress(*columns, console=terminal(stderr=True), transient=not always)
