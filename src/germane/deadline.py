"""Until when a piece of work is worth its time: looked at between segments, conditions, facets and documents.

Whoever has set a limit (the server, for each request) says how to look; the work looks now and then. Nothing else knows
of clocks here, and no kernel looks. To another machine a limit goes as the seconds that are left.
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
    """Raise a `DeadlineError` if nobody waits for this work any more; nothing where no limit was set."""
    limit = _limit.get()
    if limit is not None:
        limit.look()


def seconds_left() -> float | None:
    """How long somebody waits for this work; None where no limit was set, or it is no time."""
    limit = _limit.get()
    return None if limit is None or limit.left is None else limit.left()


@contextmanager
def limited(check: Callable[[], None], left: Callable[[], float] | None = None) -> Iterator[None]:
    """Within, `check` is called at each look, in this thread and in those that it hands work to with its context.

    `left`: the seconds that are left.
    """
    token = _limit.set(_Limit(check, left))
    try:
        yield
    finally:
        _limit.reset(token)


@contextmanager
def limited_to(seconds: float | None, clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """Within, so many seconds are left; a limit that was set here before stays the only one."""
    if seconds is None or _limit.get() is not None:
        yield
        return
    end = clock() + seconds

    def check() -> None:
        if clock() > end:
            raise DeadlineError("the answer would come too late: whoever asked waits no longer")

    with limited(check, lambda: end - clock()):
        yield


def looking(items: Iterable[Item]) -> Iterator[Item]:
    """The items, with a look before each."""
    for item in items:
        look()
        yield item
