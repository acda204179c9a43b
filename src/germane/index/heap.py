"""Memory that is free goes back to the system.

glibc keeps freed arrays of up to 32 MB for later, in pieces between others that are still in use; building an index
frees many, and would take half as much again as it needs.
"""

import ctypes
import sys
from functools import cache


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
