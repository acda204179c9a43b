"""Whose turn it is: callers share the workers fairly, and costly requests hold at most some of them.

Of the callers that wait the one goes next that has the fewest requests under way, and of equal ones the one that has
used least of late; a caller's own requests go in their order. So who sends many waits for them alone. Where there
are `SEVERAL` workers, one is kept for callers that have used at most half of what callers use on average: they find it
free. A costly request that may not begin yet holds up no other. Not safe for threads: an event loop asks.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

from germane.server.problems import ProblemError

SEVERAL = 3
FADES = 0.99
"""What remains of what was used, with each turn that ends."""
FORGOTTEN, MOST_CALLERS = 1e-3, 1_000
"""Seconds of which nothing is remembered, and callers of whom something is."""
Turn = asyncio.Future[None]
"""Done when the turn has come; cancelled, or given an error, it has left the queue."""


@dataclass(slots=True)
class Spent:
    """Seconds of a processor that a turn has used."""

    seconds: float = 0.0


@dataclass(slots=True, eq=False)
class _Caller:
    plain: deque[Turn] = field(default_factory=deque)
    costly: deque[Turn] = field(default_factory=deque)
    running: int = 0
    used: float = 0.0
    last: int = 0

    def waiting(self) -> int:
        return len(self.plain) + len(self.costly)


class Turns:
    """The turns of `workers` at once, at most `costly` of them for costly requests, and `most` waiting of a caller."""

    def __init__(self, workers: int, costly: int, most: int) -> None:
        self._free, self._free_costly, self._most = workers, costly, most
        self._kept = 1 if workers >= SEVERAL else 0
        self._callers: dict[str, _Caller] = {}
        self._served = 0

    @asynccontextmanager
    async def held(self, turn: Turn, name: str, *, costly: bool = False) -> AsyncIterator[Spent]:
        """Wait for a turn that was asked for, and hold it within; what is spent meanwhile is told it."""
        try:
            await turn
        except BaseException:
            if not turn.cancelled() and turn.exception() is None:
                self.give_back(name, costly=costly)  # it came as the caller went
            raise
        spent = Spent()
        try:
            yield spent
        finally:
            self.give_back(name, costly=costly, used=spent.seconds)

    def turn(self, name: str, *, costly: bool = False) -> AbstractAsyncContextManager[Spent]:
        """Wait for a turn and hold it; a `ProblemError` where too many requests of this caller wait already."""
        return self.held(self.ask(name, costly=costly), name, costly=costly)

    def ask(self, name: str, *, costly: bool = False) -> Turn:
        """Stand in the queue."""
        if len(self._callers) > MOST_CALLERS:
            idle = [whose for whose, each in self._callers.items() if not (each.running or each.plain or each.costly)]
            for whose in idle:
                del self._callers[whose]
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

    def give_back(self, name: str, *, costly: bool, used: float = 0.0) -> None:
        """End a turn, which used `used` seconds of a processor."""
        self._free += 1
        self._free_costly += costly
        for caller in self._callers.values():
            caller.used *= FADES
        self._callers[name].running -= 1
        self._callers[name].used += used
        self._go_on()

    def _go_on(self) -> None:
        """Give free workers to the next callers."""
        while self._free:
            able = []
            light = sum(caller.used for caller in self._callers.values()) / max(len(self._callers), 1) / 2
            for name, caller in [*self._callers.items()]:
                _leave(caller)
                if caller.plain or (caller.costly and self._free_costly):
                    if self._free > self._kept or (caller.plain and caller.used <= light):
                        able.append((caller.running, caller.used, caller.last, name))
                elif not caller.running and not caller.costly and caller.used < FORGOTTEN:
                    del self._callers[name]
            if not able:
                return
            caller = self._callers[min(able)[-1]]
            costly = not caller.plain
            (caller.costly if costly else caller.plain).popleft().set_result(None)
            self._served += 1
            caller.running, caller.last = caller.running + 1, self._served
            self._free, self._free_costly = self._free - 1, self._free_costly - costly


def _leave(caller: _Caller) -> None:
    """Take those out of a caller's queues who wait no more."""
    for queue in (caller.plain, caller.costly):
        if any(turn.done() for turn in queue):
            waiting = [turn for turn in queue if not turn.done()]
            queue.clear()
            queue.extend(waiting)
