"""Open the files of Germane's own stores: regular files of people who may have made them, no links, for their owner.

Workspaces, logs, click stores, model shelves, uploads, exports and locks lie in folders that others may be able to
write to. A link there would lead to any file, a pipe would keep a process waiting, a file of somebody else would give
away what is written to it. Every store opens its files here, or looks with `check_owned` before a library opens them by
name. Files that a person names as input are none of these: they may be links and pipes.

What is made here is private (0600, folders 0700), and what is opened for writing is made private where it was not.
"""

import errno
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from germane.errors import DiskFullError, StorageError

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
_OTHERS = 0o077
_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FULL = (errno.ENOSPC, errno.EDQUOT)
_REASONS = {
    errno.ENOSPC: "no space left on the disk",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the disk is read-only",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EFBIG: "the file would exceed the size limit",
    errno.ENOENT: "its folder must be there",
    errno.ELOOP: "it is a link, which is not followed here; put the file itself there",
    errno.ENXIO: "it is not a regular file; remove it",
}


def storage_error(path: Path, error: OSError, done: str = "written", then: str = "") -> StorageError:
    """What the operating system's refusal means, in a sentence; `DiskFullError` where there is no room."""
    reason = _REASONS.get(error.errno or 0) or error.strerror or str(error)
    return (DiskFullError if error.errno in _FULL else StorageError)(f"{path} cannot be {done}: {reason}{then}")


@contextmanager
def storage_errors(path: Path, done: str = "written", then: str = "") -> Iterator[None]:
    """Turn the operating system's refusals into sentences."""
    try:
        yield
    except OSError as error:
        raise storage_error(path, error, done, then) from error


def open_regular(path: Path, flags: int = os.O_RDONLY, mode: int = PRIVATE_FILE, *, follow: bool = False) -> int:
    """A descriptor of a regular file. A pipe or a device by that name is an OSError, and never waited for; so is a
    link, unless it is one that a person may name (`follow`)."""
    descriptor = os.open(path, flags | (_FLAGS & ~os.O_NOFOLLOW if follow else _FLAGS), mode)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.ENXIO, "not a regular file", str(path))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_whole(descriptor: int, path: Path, limit: int) -> bytes:
    """What an open file of at most `limit` bytes holds; `path`: its name."""
    content, step = b"", os.fstat(descriptor).st_size + 1
    while piece := os.read(descriptor, min(step, limit + 1 - len(content))):
        content += piece
        if len(content) > limit:
            raise OSError(errno.EFBIG, f"larger than {limit} bytes", str(path))
    return content


def read_regular(path: Path, limit: int) -> bytes:
    """The content of a regular file of at most `limit` bytes."""
    descriptor = open_regular(path)
    try:
        return read_whole(descriptor, path, limit)
    finally:
        os.close(descriptor)


def open_owned(path: Path, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a file of ours; `StorageError` for what cannot be, `FileNotFoundError` where there is none.

    It belongs to this user, to root or to the owner of its folder, who could have put any other there.
    """
    try:
        descriptor = open_regular(path, flags)
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not flags & os.O_CREAT:
            raise
        raise storage_error(path, error, "opened") from error
    try:
        _claim(path, descriptor, os.fstat(descriptor), narrow=bool(flags & (os.O_WRONLY | os.O_RDWR)))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_owned(path: Path, limit: int) -> bytes:
    """The content of a file of ours of at most `limit` bytes."""
    descriptor = open_owned(path)
    try:
        with storage_errors(path, "read"):
            return read_whole(descriptor, path, limit)
    finally:
        os.close(descriptor)


def check_owned(path: Path, *, narrow: bool = False) -> bool:
    """Whether there is such a file, and it may be ours: for what a library opens by its name. To open it here would be
    wrong for SQLite, whose locks end when any descriptor of the file is closed. `narrow`: make it private."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise storage_error(path, error, "opened") from error
    if not stat.S_ISREG(found.st_mode):
        raise storage_error(path, OSError(errno.ELOOP if stat.S_ISLNK(found.st_mode) else errno.ENXIO, ""), "opened")
    _claim(path, path, found, narrow=narrow)
    return True


_SQLITE = ("", "-wal", "-shm", "-journal")
_making = threading.Lock()


def claim_database(path: Path, *, create: bool) -> None:
    """Look at the files of an SQLite database before it is opened by its name, and make them private; a database that
    is not there is begun as an empty private file, if it is to be made."""
    with _making:  # nobody in this process opens a file that is closed here
        for ending in _SQLITE:
            there = check_owned(path.with_name(path.name + ending), narrow=True)
            if create and not there and not ending:
                with storage_errors(path, "made"), suppress(FileExistsError):
                    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, PRIVATE_FILE))


def make_private_folder(path: Path) -> None:
    """A folder for its owner alone, and those above it; one that is there must be one of ours, and is made private."""
    with storage_errors(path, "made"):
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.mkdir(path, PRIVATE_FOLDER)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            _claim(path, descriptor, os.fstat(descriptor), narrow=True)
        finally:
            os.close(descriptor)


def _claim(path: Path, opened: Path | int, found: os.stat_result, *, narrow: bool) -> None:
    """Refuse what is somebody else's; make what is ours private, if it is to be.

    What is to be written to has one name: through a second (a hard link) a writer would change a file of another
    purpose, and what is erased here would stay readable there.
    """
    if found.st_uid not in (os.geteuid(), 0) and found.st_uid != os.stat(path.parent).st_uid:
        raise StorageError(
            f"{path} belongs to another user (number {found.st_uid}), who could read what is written to it: remove it, "
            "or make it yours with chown"
        )
    if narrow and stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
        raise StorageError(
            f"{path} cannot be opened: it has {found.st_nlink} names (hard links), and what is written here would "
            "change all of them; put a copy in its place"
        )
    if narrow and found.st_mode & _OTHERS and found.st_uid == os.geteuid():
        with suppress(PermissionError):  # a file system without permissions
            os.chmod(opened, stat.S_IMODE(found.st_mode) & ~_OTHERS)


def fsync_folder(folder: Path) -> None:
    """Make what was renamed or made in `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
