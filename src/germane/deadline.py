"""Until when a piece of work is worth its time: looked at between segments, conditions, facets and documents.

Whoever has set a limit (the server, for each request) says how to look; the work looks now and then. Nothing else knows
of clocks here, and no kernel looks.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
_looks: ContextVar[Callable[[], None] | None] = ContextVar("looks", default=None)


def look() -> None:
    """Raise a `DeadlineError` if nobody waits for this work any more; nothing where no limit was set."""
    check = _looks.get()
    if check is not None:
        check()


@contextmanager
def limited(check: Callable[[], None]) -> Iterator[None]:
    """Within, `check` is called at each look, in this thread and in those that it hands work to with its context."""
    token = _looks.set(check)
    try:
        yield
    finally:
        _looks.reset(token)


def looking(items: Iterable[Item]) -> Iterator[Item]:
    """The items, with a look before each."""
    for item in items:
        look()
        yield item
