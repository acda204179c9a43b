"""Whose turn it is: callers share the workers fairly, and costly requests hold at most some of them.

Of the callers that wait the one goes next that has the fewest requests under way, and of equal ones the one that was
served longest ago; a caller's own requests go in their order. So whoever sends many waits for them alone. A costly
request that may not begin yet holds up no other. Not safe for threads: an event loop asks.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

from germane.server.problems import ProblemError

Turn = asyncio.Future[None]
"""Done when the turn has come; cancelled, or given an error, it has left the queue."""


@dataclass(slots=True, eq=False)
class _Caller:
    plain: deque[Turn] = field(default_factory=deque)
    costly: deque[Turn] = field(default_factory=deque)
    running: int = 0
    served: int = 0

    def waiting(self) -> int:
        return len(self.plain) + len(self.costly)


class Turns:
    """The turns of `workers` at once, at most `costly` of them for costly requests, and `most` waiting of a caller."""

    def __init__(self, workers: int, costly: int, most: int) -> None:
        self._free, self._free_costly, self._most = workers, costly, most
        self._callers: dict[str, _Caller] = {}
        self._served = 0

    @asynccontextmanager
    async def held(self, turn: Turn, name: str, *, costly: bool = False) -> AsyncIterator[None]:
        """Wait for a turn that was asked for, and hold it within."""
        try:
            await turn
        except BaseException:
            if not turn.cancelled() and turn.exception() is None:
                self.give_back(name, costly=costly)  # it came as the caller went
            raise
        try:
            yield
        finally:
            self.give_back(name, costly=costly)

    def turn(self, name: str, *, costly: bool = False) -> AbstractAsyncContextManager[None]:
        """Wait for a turn and hold it; a `ProblemError` where too many requests of this caller wait already."""
        return self.held(self.ask(name, costly=costly), name, costly=costly)

    def ask(self, name: str, *, costly: bool = False) -> Turn:
        """Stand in the queue."""
        caller = self._callers.setdefault(name, _Caller())
        _leave(caller)
        if caller.waiting() >= self._most:
            raise ProblemError(
                429, f"{self._most} requests of yours wait already: wait for their answers first", retry_after="2"
            )
        turn: Turn = asyncio.get_running_loop().create_future()
        (caller.costly if costly else caller.plain).append(turn)
        self._go_on()
        return turn

    def give_back(self, name: str, *, costly: bool) -> None:
        """A turn has ended."""
        self._free += 1
        self._free_costly += costly
        self._callers[name].running -= 1
        self._go_on()

    def _go_on(self) -> None:
        """Give free workers to whoever is next."""
        while self._free:
            able = []
            for name, caller in [*self._callers.items()]:
                _leave(caller)
                if caller.plain or (caller.costly and self._free_costly):
                    able.append((caller.running, caller.served, name))
                elif not caller.running and not caller.costly:
                    del self._callers[name]
            if not able:
                return
            caller = self._callers[min(able)[2]]
            costly = not caller.plain
            (caller.costly if costly else caller.plain).popleft().set_result(None)
            self._served += 1
            caller.running, caller.served = caller.running + 1, self._served
            self._free, self._free_costly = self._free - 1, self._free_costly - costly


def _leave(caller: _Caller) -> None:
    """Take those out of a caller's queues who wait no more."""
    for queue in (caller.plain, caller.costly):
        if any(turn.done() for turn in queue):
            waiting = [turn for turn in queue if not turn.done()]
            queue.clear()
            queue.extend(waiting)
