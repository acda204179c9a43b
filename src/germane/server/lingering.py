"""The transport of a connection as the protocol uses it: how much was taken of what was written, and a gentle end.

Where the system is told to close a connection while more of a request is on its way, it answers what still comes with
a reset, and the other side may lose the answer that it has not read yet. So the end is said first, then what still
comes is read and thrown away until the other side has closed too, for a while. An answer that is given before its
request has come whole says so (`connection: close`): the application asks `is_whole`.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

ARRIVING = "germane.arriving"
"""The extension of a request's scope that says whether it has come whole."""

LINGER = 2.0
"""Seconds without a byte after which the other side is not waited for any more."""
LONGEST = 10.0
"""Seconds that it is waited for at most."""


def is_whole(scope: Mapping[str, Any]) -> bool:
    """Whether a request has come whole; where its server does not tell, it is taken for so."""
    return bool(scope.get("extensions", {}).get(ARRIVING, {}).get("whole", True))


class Lingering:
    """A transport that closes gently."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._written, self._ending, self._until = 0, False, 0.0
        self._timer: asyncio.TimerHandle | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    @property
    def waiting(self) -> int:
        """Bytes that were written and are still here."""
        return self._transport.get_write_buffer_size()

    @property
    def taken(self) -> int:
        """Bytes that were written and are gone."""
        return self._written - self.waiting

    def write(self, data: bytes) -> None:
        """Write."""
        self._written += len(data)
        self._transport.write(data)

    def is_closing(self) -> bool:
        """Whether the end was said."""
        return self._ending or self._transport.is_closing()

    def close(self) -> None:
        """Say the end, and wait for that of the other side."""
        if self.is_closing():
            return
        self._ending = True
        self._until = self._loop.time() + LONGEST
        self._transport.write_eof()
        self._transport.resume_reading()
        self._wait()

    def close_now(self) -> None:
        """Close once all is taken that was written, and read no more."""
        self.forget()
        self._transport.close()

    def discard(self) -> None:
        """Something came after the end: the other side is still there."""
        self.forget()
        self._wait()

    def forget(self) -> None:
        """Wait no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self) -> None:
        left = min(LINGER, self._until - self._loop.time())
        if left <= 0:
            self._transport.close()
        else:
            self._timer = self._loop.call_later(left, self._transport.close)
