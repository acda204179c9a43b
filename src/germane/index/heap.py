"""Memory: how much there is, and what is free goes back to the system.

glibc keeps freed arrays of up to 32 MB for later, in pieces between others that are still in use; building an index
frees many, and would take half as much again as it needs.
"""

import contextlib
import ctypes
import os
import sys
from functools import cache
from pathlib import Path

CONTAINER_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where Linux tells what a container may take ("max": as much as there is)."""


@cache
def _trim() -> "ctypes._NamedFuncPointer | None":
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)


def give_back() -> None:
    """Ask the allocator to return what is free; nothing where it has no such call."""
    trim = _trim()
    if trim is not None:
        trim(0)


def memory_limit() -> int:
    """Bytes that the machine has, or those that the container may take if these are fewer; 0 where nobody tells."""
    told = []
    with contextlib.suppress(AttributeError, OSError, ValueError):
        told.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for path in CONTAINER_LIMITS:
        with contextlib.suppress(OSError, ValueError):
            told.append(int(Path(path).read_text()))
    return min(told, default=0)
