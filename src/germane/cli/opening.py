"""Open an index, or make one that vanishes again if filling it fails."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from germane.lazy import on_first_use

with on_first_use(__name__):
    from germane import engine
    from germane.engine import announcing, open_index
    from germane.index import manifest
    from germane.index import writer as index_writer

if TYPE_CHECKING:
    from germane import Analyzer, Engine
    from germane.index.vector_fields import VectorField


def open_engine(folder: Path) -> "Engine":
    """The index in the folder."""
    return engine.Engine.open(folder)


def must_be_index(folder: Path) -> None:
    """Raise unless the folder holds an index, whole or damaged: a manifest, or at least a segment."""
    if not (folder / manifest.NAME).exists() and not any(folder.glob("*.germane")):
        manifest.read_manifest(folder)  # says what the folder is instead


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
    announcing.announce_compiling()
    with index_writer.new_index(folder, analyzer, fields, positions=positions, vector_fields=vectors) as writer:
        yield engine.Engine(open_index.OpenIndex.of_writer(folder, writer))
