"""Cooperative deadlines: long work checks between segments, conditions, facets and documents whether to stop.

The caller that sets a limit (the server, for each request) passes the check, which raises `DeadlineError`. Work calls
`look()` at convenient points. Only the check reads a clock, and kernels never call it. A request to another process
carries the seconds that are left.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, TypeVar

from germane.errors import DeadlineError

Item = TypeVar("Item")


class _Limit(NamedTuple):
    look: Callable[[], None]
    left: Callable[[], float] | None


_limit: ContextVar[_Limit | None] = ContextVar("limit", default=None)


def look() -> None:
    """Raise `DeadlineError` if the result is no longer wanted; do nothing where no limit is set."""
    limit = _limit.get()
    if limit is not None:
        limit.look()


def seconds_left() -> float | None:
    """Return the seconds until the limit; None without a limit, or where it is not one of time."""
    limit = _limit.get()
    return None if limit is None or limit.left is None else limit.left()


@contextmanager
def limited(check: Callable[[], None], left: Callable[[], float] | None = None) -> Iterator[None]:
    """Call `check` at each `look()` within the block, in this thread and in threads that run with its context.

    `left` returns the seconds that are left.
    """
    token = _limit.set(_Limit(check, left))
    try:
        yield
    finally:
        _limit.reset(token)


@contextmanager
def limited_to(seconds: float | None, clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """Limit the work inside to this many seconds; a limit that was set here before stays the only one."""
    if seconds is None or _limit.get() is not None:
        yield
        return
    end = clock() + seconds

    def check() -> None:
        if clock() > end:
            raise DeadlineError("the answer would come too late: its client waits no longer")

    with limited(check, lambda: end - clock()):
        yield


def looking(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items, calling `look()` before each."""
    for item in items:
        look()
        yield item
