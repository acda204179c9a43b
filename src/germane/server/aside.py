"""Work aside from the event loop: in threads, one turn after the other, as long as somebody waits for it."""

import os
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import anyio.to_thread

from germane.deadline import limited
from germane.errors import DeadlineError
from germane.server.budget import COSTLY
from germane.server.requested import NOBODY, Requested, requested
from germane.server.turns import Turns

CHANGES = 4
"""Changes at the same time: they wait for one another, and must not keep searches waiting."""
STREAMS = 8
"""Meta-searches that are streamed at the same time."""
MOST_WAITING = 64
"""Requests of one caller that may wait."""


def most_costly(workers: int, cores: int) -> int:
    """Costly requests at the same time: at most half of the workers, and of the cores, so that one is left for others.

    >>> most_costly(8, 2), most_costly(8, 16), most_costly(1, 1)
    (1, 4, 1)
    """
    return max(1, min(workers // 2, cores // 2, 4))


class Aside:
    """Calls functions in at most `workers` threads, and changes in others. A search ends at its request's deadline, and
    leaves the queue when its client goes; a change that has begun is done."""

    def __init__(self, workers: int) -> None:
        self.searches = Turns(workers, most_costly(workers, os.cpu_count() or 1), MOST_WAITING)
        self.changes = Turns(CHANGES, CHANGES, MOST_WAITING)
        self.streams = Turns(STREAMS, STREAMS, MOST_WAITING)
        self._threads = anyio.CapacityLimiter(workers + CHANGES)

    async def __call__(self, work: Callable[[], Any], *, changing: bool = False, cost: float = 0.0) -> Any:
        """What `work` gives."""
        asked = requested.get()
        name = NOBODY if asked is None else asked.caller
        if changing:
            async with self.changes.turn(name):
                return await anyio.to_thread.run_sync(work, limiter=self._threads)
        if asked is None:
            async with self.searches.turn(name, costly=cost > COSTLY):
                return await anyio.to_thread.run_sync(work, limiter=self._threads)
        turn = self.searches.ask(name, costly=cost > COSTLY)

        def leave() -> None:
            if not turn.done():
                turn.set_exception(DeadlineError("nobody waits for the answer any more"))

        with asked.watched(leave):
            async with self.searches.held(turn, name, costly=cost > COSTLY):
                asked.look()
                return await anyio.to_thread.run_sync(lambda: _limited(asked, work), limiter=self._threads)

    async def streamed(self, events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Events that sources send, some streams at a time."""
        asked = requested.get()
        async with self.streams.turn(NOBODY if asked is None else asked.caller):
            async for event in events:
                yield event


def _limited(asked: Requested, work: Callable[[], Any]) -> Any:
    with limited(asked.look):
        return work()
