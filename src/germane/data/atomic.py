"""Write a file so that it is there whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from germane.data.owned import PRIVATE_FILE, check_owned, fsync_folder, storage_error
from germane.errors import ParameterError


@contextmanager
def open_for_writing(target: str | Path | TextIO, *, encoding: str = "utf-8", owned: bool = False) -> Iterator[TextIO]:
    """The open text file itself, or a new one that takes the path's place once everything is on disk.

    A link is followed, the permissions of a file that is replaced are kept, and what is no file (a pipe, a terminal) is
    written to directly. A file of a store of ours (`owned`) is private instead, and takes the place of one alone
    (`data.owned`).
    """
    if not isinstance(target, str | Path):
        yield target
        return
    try:
        with _replacing(target, "", owned, encoding=encoding, newline="\n") as file:
            yield file
    except UnicodeEncodeError as error:
        sign = error.object[error.start]
        raise ParameterError(f"{target}: {encoding} has no '{sign}' (U+{ord(sign):04X}); write UTF-8 instead") from None


def write_bytes(target: str | Path, content: bytes, *, owned: bool = False, private: bool = False) -> None:
    """Replace the file by `content`, as `open_for_writing` does; `private`: nobody else may read it if it is new."""
    with _replacing(target, "b", owned, private=private) as file:
        file.write(content)


@contextmanager
def _replacing(target: str | Path, kind: str, owned: bool, *, private: bool = False, **settings: Any) -> Iterator[Any]:
    path = Path(target) if owned else Path(os.path.realpath(target))
    try:
        if owned:
            check_owned(path)
        elif path.exists() and not path.is_file():
            with open(path, f"w{kind}", **settings) as file:
                yield file
            return
        temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
        try:
            opener = _opened_privately if owned or private else None
            with open(temporary, f"x{kind}", opener=opener, **settings) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if not owned:
                with suppress(FileNotFoundError):
                    os.chmod(temporary, path.stat().st_mode & 0o777)
            os.replace(temporary, path)
            fsync_folder(path.parent)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise storage_error(path if owned else Path(target), error) from error


def _opened_privately(path: str, flags: int) -> int:
    return os.open(path, flags, PRIVATE_FILE)
