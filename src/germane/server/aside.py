"""Work aside from the event loop: in threads, one turn after the other, as long as somebody waits for it."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from germane.deadline import limited
from germane.errors import DeadlineError
from germane.server.budget import COSTLY
from germane.server.requested import NOBODY, Requested, requested
from germane.server.turns import Spent, Turns

CHANGES = 4
"""Changes at the same time: they wait for one another, and must not keep searches waiting."""
STREAMS = 8
"""Meta-searches that are streamed at the same time."""
LOOK_SECONDS = 1.0
"""How often a request that waits is looked at whether it is still worth its time."""
MOST_WAITING = 64
"""Requests of one caller that may wait."""


def most_costly(workers: int, cores: int) -> int:
    """Costly requests at the same time: at most half of the workers, and of the cores, so that one is left for others.

    >>> most_costly(8, 2), most_costly(8, 16), most_costly(1, 1)
    (1, 4, 1)
    """
    return max(1, min(workers // 2, cores // 2, 4))


def most_at_once(threads: int, cores: int) -> int:
    """Searches at the same time: more of them than this only wait for the interpreter and for one another.

    >>> most_at_once(8, 2), most_at_once(8, 16), most_at_once(1, 16)
    (4, 8, 1)
    """
    return min(threads, 2 * cores)


class Aside:
    """Calls functions in at most `threads` threads, and changes in others. A search ends at its request's deadline, and
    leaves the queue when its client goes; a change that has begun is done."""

    def __init__(self, threads: int) -> None:
        cores = os.cpu_count() or 1
        workers = most_at_once(threads, cores)
        self.searches = Turns(workers, most_costly(workers, cores), MOST_WAITING)
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
            async with self.searches.turn(name, costly=cost > COSTLY) as spent:
                return await anyio.to_thread.run_sync(lambda: _measured(work, spent), limiter=self._threads)
        turn = self.searches.ask(name, costly=cost > COSTLY)

        def wait_on() -> None:
            if not turn.done():
                try:
                    asked.look()
                except DeadlineError as error:
                    turn.set_exception(error)
                else:
                    asyncio.get_running_loop().call_later(LOOK_SECONDS, wait_on)

        wait_on()
        with asked.watched(wait_on):
            async with self.searches.held(turn, name, costly=cost > COSTLY) as spent:
                asked.look()
                limited_work = partial(_limited, asked, work)
                return await anyio.to_thread.run_sync(lambda: _measured(limited_work, spent), limiter=self._threads)

    async def streamed(self, events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Events that sources send, some streams at a time."""
        asked = requested.get()
        async with self.streams.turn(NOBODY if asked is None else asked.caller):
            async for event in events:
                yield event


def _measured(work: Callable[[], Any], spent: Spent) -> Any:
    began = time.thread_time()
    try:
        return work()
    finally:
        spent.seconds = time.thread_time() - began


def _limited(asked: Requested, work: Callable[[], Any]) -> Any:
    with limited(asked.look, asked.left):
        return work()
