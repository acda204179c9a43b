"""What is written must not be what is read, nor be written twice: a file that somebody needs would be gone."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from germane.errors import InputError


def require_apart(outputs: Mapping[str, Path | None], inputs: Iterable[str | Path]) -> None:
    """Complain of an output, by the name of its option, that is one of the inputs or another output.

    Of an input that is a folder, an index for example, every file counts.
    """
    taken = {_place(file): f"it is read too ({file})" for given in inputs for file in _files(given)}
    for option, path in outputs.items():
        if path is None or not (path.is_file() or not path.exists()):
            continue  # a pipe or a device may be written twice
        place = _place(path)
        if place in taken:
            raise InputError(f"{option} {path} would be overwritten: {taken[place]}; name another file")
        taken[place] = f"{option} is written there too"


def _files(given: str | Path) -> Iterator[str | Path]:
    if os.path.isdir(given):
        yield from (file for file in Path(given).rglob("*") if file.is_file())
    elif os.path.isfile(given):
        yield given


def _place(path: str | Path) -> object:
    """The same for two names of one file."""
    try:
        status = os.stat(path)
        return status.st_dev, status.st_ino
    except OSError:
        return os.path.realpath(path)
