"""The only place where the index opens, makes and removes files, and the writers' lock.

Every file is written under a temporary name, flushed to the disk (fsync) and renamed; then the folder is flushed. A
process killed at any point therefore leaves either the old file or the new one, and perhaps a temporary one that nobody
reads. Temporary names are random and made exclusively, so that no file or link that lies there already is written to
(but for the lock's: commits are counted in it, if it holds nothing else and has no other name); what is read must be a
regular file (`data.owned`), so that no link leads out of the index and no pipe keeps a reader waiting.

A new index is for its owner alone. Who opens its folder to others (`chmod -R g+rX FOLDER`) opens what is written there
from then on: files get the permissions of the folder that they lie in.
"""

import contextlib
import errno
import fcntl
import os
import re
import secrets
import sys
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NoReturn

from germane.data import owned
from germane.data.owned import PRIVATE_FILE, PRIVATE_FOLDER, fsync_folder, open_regular
from germane.errors import IndexLockedError, StorageError

LOCK_NAME = "LOCK"
COUNT_BYTES = 8
"""Of the number of commits in that file."""
TEMPORARY = re.compile(r"(new|part)-[0-9a-f]{32}\.tmp")
"""Names of files being made: `new` ones get their own name when they are whole, `part`s are joined to one file."""
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)

_unfinished: set[Path] = set()
"""Temporary files that this process is writing now."""


@contextlib.contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turn the operating system's refusals into sentences."""
    with owned.storage_errors(path, then="; what was committed before is untouched"):
        yield


Identity = tuple[int, int, int, int]
"""Of a file: its device, its inode, its size and when it was written last."""


def identity_of(found: os.stat_result) -> Identity:
    """Which file this is: another one by the same name has another identity."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def mode_in(folder: Path) -> int:
    """The permissions of files in a folder: as private as it is (`make_folder`), or as open as somebody made it."""
    return PRIVATE_FILE | (folder.stat().st_mode & 0o066)


def make_folder(folder: Path, within: Path | None = None) -> None:
    """Make a folder and those above it, durable on return: each name is flushed with the folder that holds it.

    It is for its owner alone; those `within` an index are as open as that is.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(0o777 if within is None and path != folder else PRIVATE_FOLDER, exist_ok=True)
        if within is not None:
            path.chmod(within.stat().st_mode & 0o777)
    for path in missing:
        fsync_folder(path.parent)


def new_temporary(folder: Path) -> tuple[BinaryIO, Path]:
    """A new file that `keep` or `discard` will end, open for writing."""
    path = folder / f"new-{secrets.token_hex(16)}.tmp"
    _unfinished.add(path)
    try:
        return open_new(path), path
    except BaseException:
        _unfinished.discard(path)
        raise


def open_new(path: Path) -> BinaryIO:
    """A file that is not there yet, with the permissions of its folder."""
    file = open(path, "xb")  # noqa: SIM115 - `keep` or `discard` closes it
    with contextlib.suppress(PermissionError):  # a file system without permissions
        os.fchmod(file.fileno(), mode_in(path.parent))
    return file


def keep(file: BinaryIO, temporary: Path, path: Path, *, replacing: bool = False) -> None:
    """Flush a temporary file to the disk and give it its name; one that has that name already is left alone."""
    file.flush()
    os.fsync(file.fileno())
    file.close()
    if replacing:
        os.replace(temporary, path)
    else:
        _name_exclusively(temporary, path)
    _unfinished.discard(temporary)
    fsync_folder(path.parent)


def _name_exclusively(temporary: Path, path: Path) -> None:
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise _taken(path) from None
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
            raise
        if os.path.lexists(path):  # a file system without links: look first
            raise _taken(path) from None
        os.replace(temporary, path)
    else:
        os.unlink(temporary)


def _taken(path: Path) -> IndexLockedError:
    return IndexLockedError(
        f"{path.parent} was changed by somebody else since it was opened ({path.name} is there already): nothing was "
        "written; open the index again"
    )


def discard(file: BinaryIO, temporary: Path) -> None:
    """Forget a temporary file; after `keep` this does nothing."""
    if temporary in _unfinished:
        with contextlib.suppress(OSError):  # closing writes what is left in the buffer: a full disk refuses again
            file.close()
        remove_quietly(temporary)
        _unfinished.discard(temporary)


def is_unfinished(path: Path) -> bool:
    """Whether this process is writing the temporary file at this moment."""
    return path in _unfinished


def write_atomic(path: Path, content: bytes, *, later: bool = False) -> Identity:
    """Replace `path` by `content`, all or nothing, durable on return; which file it is now.

    `later`: the file's time is later than that of the one it replaces, so that nobody takes it for that one. Those that
    a system gives may be the same for some milliseconds, and a new file may get the inode of one that is gone.
    """
    with storage_errors(path):
        file, temporary = new_temporary(path.parent)
        try:
            file.write(content)
            file.flush()
            if later:
                _set_later(file.fileno(), os.lstat(path).st_mtime_ns if os.path.lexists(path) else 0)
            identity = identity_of(os.fstat(file.fileno()))
            keep(file, temporary, path, replacing=True)
            return identity
        finally:
            discard(file, temporary)


def _set_later(descriptor: int, before: int) -> None:
    """Set a file's time to now, or a little later than `before`: by as much as the file system keeps."""
    now = time.time_ns()
    for step in (1, 10**9, 2 * 10**9):  # times may be whole seconds, or every other one
        with contextlib.suppress(OSError):  # a file system without times of its own
            os.utime(descriptor, ns=(now, max(now, before + step)))
        if os.fstat(descriptor).st_mtime_ns > before:
            break


def remove_quietly(path: Path) -> bool:
    """Remove a file nobody needs; whether it is gone: if not, the next writer tries again."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return False
    return True


def _close(descriptor: int) -> None:
    with contextlib.suppress(OSError):
        os.close(descriptor)


class CommitCount:
    """How often an index was changed: its writer counts in the file of its lock (`WriterLock.count_commit`), where
    readers look before each search. To read a few bytes of an open file takes a fraction of the time that it takes to
    look up a name; to map them would take less, but kill those who read while somebody truncates the file."""

    def __init__(self, folder: Path) -> None:
        self._descriptor = open_regular(folder / LOCK_NAME)
        weakref.finalize(self, _close, self._descriptor)  # as the process ends, `__del__` might find no modules
        self._stat = os.fstat(self._descriptor)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a file that is open cannot be copied")

    @classmethod
    def of(cls, folder: Path, before: "CommitCount | None") -> "CommitCount | None":
        """That of an index, `before` if it is the same; None if there is no such file to read, or nobody counts in it
        because it has other names too."""
        with contextlib.suppress(OSError):
            found = os.lstat(folder / LOCK_NAME)
            if found.st_nlink == 1:
                return before if before is not None and os.path.samestat(before._stat, found) else cls(folder)
        return None

    def now(self) -> bytes:
        """The number, as it is written; nothing if nobody has counted, or there is something else."""
        with contextlib.suppress(OSError):
            number = os.pread(self._descriptor, COUNT_BYTES + 1, 0)
            if len(number) == COUNT_BYTES:
                return number
        return b""


_locks: "weakref.WeakSet[WriterLock]" = weakref.WeakSet()


PATIENCE = 3.0
"""Seconds for which a lock that another has is waited for: who has nothing to write any more gives it back in less."""


class WriterLock:
    """An advisory lock that the operating system releases when the process ends, however it ends.

    It belongs to the process that took it: a forked child has a closed copy, and `require` refuses there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process = os.getpid()
        self._descriptor = -1
        path = folder / LOCK_NAME
        until = time.monotonic() + PATIENCE
        while True:
            with storage_errors(path):
                self._descriptor = open_regular(path, os.O_RDWR | os.O_CREAT, mode_in(folder))
            try:
                with storage_errors(path):
                    try:
                        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    except BlockingIOError:
                        if time.monotonic() >= until:
                            raise IndexLockedError(
                                f"another process is writing to {folder}: try again when it has finished (readers need "
                                "not wait)"
                            ) from None
                        self.release()
                        time.sleep(0.02)
                        continue
                    except OSError as error:
                        if error.errno not in _NO_LOCKS:
                            raise
                        raise StorageError(
                            f"{folder} lies on a file system without locks, where two writers could undo each other's "
                            "work: make the index on another disk, and copy it"
                        ) from None
                    if self._holds(path):
                        _locks.add(self)
                        self._commits = int.from_bytes(os.pread(self._descriptor, COUNT_BYTES, 0), sys.byteorder)
                        return
            except BaseException:
                self.release()
                raise
            self.release()

    def _holds(self, path: Path) -> bool:
        """Whether the file locked is still the one of that name: who gave up making an index has removed it."""
        try:
            return self.is_of(os.lstat(path))
        except FileNotFoundError:
            return False

    def is_of(self, found: os.stat_result) -> bool:
        """Whether this is the file that is locked."""
        return os.path.samestat(os.fstat(self._descriptor), found)

    @property
    def own(self) -> bool:
        """Whether this process holds the lock."""
        return self._descriptor >= 0 and self._process == os.getpid()

    def require(self) -> None:
        """Raise unless this process holds the lock."""
        if not self.own:
            raise IndexLockedError(
                f"this process does not hold the writer's lock of {self._folder}: it was closed, or taken before a "
                "fork; open the index again to write to it"
            )

    def count_commit(self) -> None:
        """Count a commit (`CommitCount`). Where that is refused, readers look what the manifest's name means.

        The file is left as it is if it holds anything else, or has another name: then it may be somebody else's, too.
        """
        self._commits = (self._commits + 1) % (1 << 8 * COUNT_BYTES)
        with contextlib.suppress(OSError):
            found = os.fstat(self._descriptor)
            if found.st_nlink != 1 or found.st_size not in (0, COUNT_BYTES):
                return
            os.pwrite(self._descriptor, self._commits.to_bytes(COUNT_BYTES, sys.byteorder), 0)

    def release(self) -> None:
        """Let the next writer in; calling it twice is harmless."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        self.release()


def _leave_locks_to_the_parent() -> None:
    """A descriptor that a child shares would keep the lock when the parent has gone."""
    for lock in list(_locks):
        lock.release()


os.register_at_fork(after_in_child=_leave_locks_to_the_parent)
