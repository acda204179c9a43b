"""Append lines to a log of ours: each is on disk when the call returns, or the file is as it was before."""

import fcntl
import os
from pathlib import Path

from germane.data.owned import fsync_folder, open_owned, storage_errors


def append_lines(path: Path, content: bytes) -> None:
    """Append whole lines."""
    descriptor, _ = append_open(path, content)
    os.close(descriptor)


def append_open(path: Path, content: bytes) -> tuple[int, int]:
    """Append as `append_lines` does; the descriptor, still open, and where the lines begin."""
    new = not path.exists()
    descriptor = open_owned(path, os.O_RDWR | os.O_CREAT)
    try:
        with storage_errors(path, then="; nothing of it was written"):
            at = _appended(descriptor, content)
            if new:
                fsync_folder(path.parent)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, at


def _appended(descriptor: int, content: bytes) -> int:
    """Where the lines begin. Who appends holds the file's lock, and takes back what did not get on the disk whole."""
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        size = os.fstat(descriptor).st_size
        # What was cut off by a crash was never acknowledged; it must not take the next line with it.
        begun = b"" if size == 0 or os.pread(descriptor, 1, size - 1) == b"\n" else b"\n"
        try:
            left, at = memoryview(begun + content), size
            while left:
                written = os.pwrite(descriptor, left, at)
                left, at = left[written:], at + written
            os.fsync(descriptor)
        except BaseException:
            os.ftruncate(descriptor, size)
            raise
        return size + len(begun)
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
