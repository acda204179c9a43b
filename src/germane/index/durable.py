"""The only place where the index writes bytes: durable atomic files and the writers' lock.

Every file is written under a temporary name, flushed to the disk (fsync) and renamed; then the folder is flushed. A
process killed at any point therefore leaves either the old file or the new one, and perhaps a `*.tmp` nobody reads.
"""

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from germane.errors import IndexLockedError, StorageError

LOCK_NAME = "LOCK"


@contextlib.contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turn the operating system's refusals into sentences."""
    try:
        yield
    except OSError as error:
        reasons = {
            errno.ENOSPC: "no space left on the disk",
            errno.EDQUOT: "the disk quota is used up",
            errno.EROFS: "the disk is read-only",
            errno.EACCES: "permission denied",
            errno.EPERM: "permission denied",
            errno.EFBIG: "the file would exceed the size limit",
        }
        reason = reasons.get(error.errno or 0) or error.strerror or str(error)
        raise StorageError(f"cannot write {path}: {reason}; what was committed before is untouched") from error


def fsync_folder(folder: Path) -> None:
    """Make renames in `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_atomic(path: Path, content: bytes) -> None:
    """Replace `path` by `content`, all or nothing, durable on return."""
    temporary = path.with_name(path.name + ".tmp")
    with storage_errors(path):
        try:
            with open(temporary, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except OSError:
            remove_quietly(temporary)
            raise
        fsync_folder(path.parent)


def remove_quietly(path: Path) -> None:
    """Remove a file nobody needs; where that fails, the next writer tries again."""
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


class WriterLock:
    """An advisory lock that the operating system releases when the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        path = folder / LOCK_NAME
        while True:
            with storage_errors(path):
                self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                with storage_errors(path):
                    try:
                        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    except BlockingIOError:
                        raise IndexLockedError(
                            f"another process is writing to {folder}; wait until it has finished (readers need not "
                            "wait)"
                        ) from None
                    if self._holds(path):
                        return
            except BaseException:
                self.release()
                raise
            self.release()

    def _holds(self, path: Path) -> bool:
        """Whether the file locked is still the one of that name: who gave up making an index has removed it."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(path))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Let the next writer in; calling it twice is harmless."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
