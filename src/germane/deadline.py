"""Cooperative deadlines: long work checks between segments, conditions, facets and documents whether to stop.

The caller that sets a limit (the server, for each request) passes the check, which raises `DeadlineError`. Work calls
`look()` at convenient points. Only the check reads a clock, and kernels never call it.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
_looks: ContextVar[Callable[[], None] | None] = ContextVar("looks", default=None)


def look() -> None:
    """Raise `DeadlineError` if the result is no longer wanted; do nothing where no limit is set."""
    check = _looks.get()
    if check is not None:
        check()


@contextmanager
def limited(check: Callable[[], None]) -> Iterator[None]:
    """Call `check` at each `look()` within the block, in this thread and in threads that run with its context."""
    token = _looks.set(check)
    try:
        yield
    finally:
        _looks.reset(token)


def looking(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items, calling `look()` before each."""
    for item in items:
        look()
        yield item
