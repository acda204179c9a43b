"""Locks of files, which the system lets go however a process ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from germane.data.owned import open_owned


@contextmanager
def lock_file(path: Path) -> Iterator[int]:
    """The file, open to be locked; what was locked is free again afterwards."""
    descriptor = open_owned(path, os.O_RDWR | os.O_CREAT)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def locked(descriptor: int) -> bool:
    """Whether the lock was free, and is now taken."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
