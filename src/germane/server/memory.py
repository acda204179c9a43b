"""Memory that was given to answers, and goes back to the system.

The C library keeps what was freed, for the next who asks; after a crowd of readers has left that is a lot, and nobody
asks. glibc can be told to give it back; other libraries do so by themselves, or cannot.
"""

import asyncio
import ctypes
from contextlib import suppress

SOON = 1.0
"""Seconds until memory is given back: many connections may end at once."""
_PLANNED: set[asyncio.AbstractEventLoop] = set()


def give_back_soon(loop: asyncio.AbstractEventLoop) -> None:
    """Give back what is free, a little later and once for all who ask meanwhile."""
    if loop not in _PLANNED:
        _PLANNED.add(loop)
        loop.call_later(SOON, _begin, loop)


def _begin(loop: asyncio.AbstractEventLoop) -> None:
    _PLANNED.discard(loop)
    loop.run_in_executor(None, _give_back)


def _give_back() -> None:
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
