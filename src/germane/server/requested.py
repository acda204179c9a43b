"""The request under way: who asks, until when, and whether anybody still waits for the answer."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from germane.engine.announcing import compiling_seconds
from germane.errors import DeadlineError

Receive = Callable[[], Awaitable[Any]]


class Requested:
    """A request of `caller`, worth `seconds` of work and waiting from the first look on, when it has come whole; time
    in which kernels are compiled does not count.

    `receive` gives the messages of its connection, of which the last says that the client has gone; None where a body
    is still to be read.
    """

    def __init__(
        self, caller: str, seconds: float, receive: Receive | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.caller, self._seconds, self._receive, self._clock = caller, seconds, receive, clock
        self._began: float | None = None
        self._compiled = 0.0
        self.gone = False

    def look(self) -> None:
        """A `DeadlineError` where the answer is not worth more work."""
        if self.gone:
            raise DeadlineError("nobody waits for the answer any more")
        if self._began is None:
            self._began, self._compiled = self._clock(), compiling_seconds()
        if self.left() < 0.0:
            raise DeadlineError(
                f"the answer would take longer than {self._seconds:g} seconds, which is what a request is given: ask "
                "for less, or try again when the server has less to do"
            )

    def begin_again(self) -> None:
        """Give the next piece of a stream the whole time again: a stream lasts as long as what it follows."""
        self._began = None

    def left(self) -> float:
        """The seconds of work that the answer is still worth."""
        if self._began is None:
            return self._seconds
        return self._seconds - (self._clock() - self._began - (compiling_seconds() - self._compiled))

    @contextmanager
    def watched(self, leave: Callable[[], None]) -> Iterator[None]:
        """Within, notice that the client has gone, and call `leave` then."""
        if self._receive is None:
            yield
            return
        watching = asyncio.ensure_future(self._noticed(self._receive, leave))
        try:
            yield
        finally:
            watching.cancel()

    async def _noticed(self, receive: Receive, leave: Callable[[], None]) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.gone = True
        leave()


NOBODY = "nobody"
"""The caller of work that no request asked for."""
requested: ContextVar[Requested | None] = ContextVar("requested", default=None)
"""The request in whose task this is called."""
