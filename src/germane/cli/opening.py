"""Open an index, or make one that vanishes again if filling it fails."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from germane import Analyzer, Engine
    from germane.index.vector_fields import VectorField


def open_engine(folder: Path) -> "Engine":
    """The index in the folder."""
    from germane.engine import Engine

    return Engine.open(folder)


def must_be_index(folder: Path) -> None:
    """Raise unless the folder holds an index, whole or damaged: a manifest, or at least a segment."""
    from germane.index.manifest import NAME, read_manifest

    if not (folder / NAME).exists() and not any(folder.glob("*.germane")):
        read_manifest(folder)  # says what the folder is instead


@contextmanager
def new_engine(
    folder: Path,
    analyzer: "Analyzer",
    fields: Sequence[str],
    *,
    positions: bool = True,
    vectors: "Mapping[str, VectorField] | None" = None,
) -> Iterator["Engine"]:
    """A new index to fill, all or nothing."""
    from germane.engine import Engine
    from germane.engine.announcing import announce_compiling
    from germane.engine.open_index import OpenIndex
    from germane.index.writer import new_index

    announce_compiling()
    with new_index(folder, analyzer, fields, positions=positions, vector_fields=vectors) as writer:
        yield Engine(OpenIndex.of_writer(folder, writer))
