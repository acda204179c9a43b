"""Write a file so that it is there whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from germane.errors import ParameterError, StorageError


@contextmanager
def open_for_writing(target: str | Path | TextIO, *, encoding: str = "utf-8") -> Iterator[TextIO]:
    """The open text file itself, or a new one that takes the path's place once everything is on disk.

    A link is followed, the permissions of a file that is replaced are kept, and what is no file (a pipe, a terminal) is
    written to directly.
    """
    if not isinstance(target, str | Path):
        yield target
        return
    try:
        with _replacing(target, "", encoding=encoding, newline="\n") as file:
            yield file
    except UnicodeEncodeError as error:
        sign = error.object[error.start]
        raise ParameterError(f"{target}: {encoding} has no '{sign}' (U+{ord(sign):04X}); write UTF-8 instead") from None


def write_bytes(target: str | Path, content: bytes) -> None:
    """Replace the file by `content`, as `open_for_writing` does."""
    with _replacing(target, "b") as file:
        file.write(content)


@contextmanager
def _replacing(target: str | Path, kind: str, **settings: Any) -> Iterator[Any]:
    path = Path(os.path.realpath(target))
    try:
        if path.exists() and not path.is_file():
            with open(path, f"w{kind}", **settings) as file:
                yield file
            return
        temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
        try:
            with open(temporary, f"x{kind}", **settings) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileNotFoundError):
                os.chmod(temporary, path.stat().st_mode & 0o777)
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise StorageError(f"{target} cannot be written: {error.strerror or error}") from error
