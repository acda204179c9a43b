"""Open an index, or make one that vanishes again if filling it fails."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from germane.errors import InputError

if TYPE_CHECKING:
    from germane import Analyzer, Engine


def open_engine(folder: Path) -> "Engine":
    """The index in the folder."""
    from germane.cli.compiling import announce_compiling
    from germane.engine import Engine

    announce_compiling()
    return Engine.open(folder)


def must_be_index(folder: Path) -> None:
    """Raise unless the folder holds an index, whole or damaged: a manifest, or at least a segment."""
    from germane.index.manifest import NAME, read_manifest

    if not (folder / NAME).exists() and not any(folder.glob("*.germane")):
        read_manifest(folder)  # says what the folder is instead


@contextmanager
def new_engine(folder: Path, analyzer: "Analyzer", fields: Sequence[str]) -> Iterator["Engine"]:
    """A new index to fill. If that fails, the files and folders made here are removed again."""
    from germane.cli.compiling import announce_compiling
    from germane.engine import Engine

    announce_compiling()
    with vanishing(folder), Engine.create(folder, analyzer=analyzer, fields=fields) as engine:
        try:
            yield engine
        except BaseException:  # the lock is ours, so is every file
            for path in folder.iterdir():
                path.unlink()
            raise


@contextmanager
def vanishing(folder: Path) -> Iterator[None]:
    """On failure, remove the folder and those above it that were not there before, as far as they are empty."""
    if folder.exists() and not folder.is_dir():
        raise InputError("an index is a folder, and this is a file", source=str(folder))
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        yield
    except BaseException:
        for path in made:
            with suppress(OSError):
                path.rmdir()
        raise
