"""Graphs of neighbours for approximate search of vectors: HNSW (Malkov & Yashunin 2020), by the library usearch.

`graph-N.germane` belongs to `vectors-N.germane`: a container with what usearch writes, and in its meta data the
checksum of the vectors that it was made of. It is a cache. No manifest names it; it is removed with its vectors; and
one that is missing, damaged, of other vectors or of another version of the library is as if it were not there.

A graph finds rows, which are then scored exactly (`rank.vectors`). It is built by one thread unless more are allowed:
by several it depends on their timing.
"""

import re
import threading
from pathlib import Path
from typing import Any

import numpy as np

from germane.arrays import AnyArray, Integers
from germane.errors import IndexFormatError, MissingExtraError
from germane.index.container import Container, ContainerWriter
from germane.index.durable import remove_quietly
from germane.index.graph_layout import problem
from germane.index.snapshot import Snapshot
from germane.index.vector_fields import VectorField, Vectors, field_named
from germane.index.vectors import BLOCK, VectorFile
from germane.lazy import optional

LEAST = 100_000
"""Vectors of a segment from which on a graph is made: fewer are searched exactly in as little time."""
CONNECTIVITY = 16
EXPANSION = 128
"""Neighbours of a vector (M), and candidates looked at for them (efConstruction)."""
SECTION = "graph"
_VECTORS = re.compile(r"vectors-(.*)")


def files_for_graphs(snapshot: Snapshot, name: str | None) -> list[VectorFile]:
    """Return the files of a vector field that are large enough for a graph."""
    name, _ = field_named(snapshot.manifest.vector_fields, name)
    files = (live.vectors.get(name) for live in snapshot.segments)
    return [file for file in files if file is not None and len(file) >= LEAST]


def graph_path(vectors: Path) -> Path:
    """Where the graph of a file of vectors lies."""
    return vectors.with_name(_VECTORS.sub(r"graph-\1", vectors.name))


def built_graph(file: VectorFile, *, threads: int = 1) -> AnyArray:
    """The graph of all vectors of a file, as bytes."""
    graph = _empty(file.field)
    for begin in range(0, len(file), BLOCK):
        rows = np.arange(begin, min(begin + BLOCK, len(file)))
        graph.add(rows.astype(np.uint64), file.floats(rows), threads=threads)
    return np.frombuffer(graph.save(), np.uint8)


def write_graph(file: VectorFile, content: AnyArray) -> None:
    """Put a graph beside its vectors, in the place of one that could not be used; whole or not at all."""
    remove_quietly(graph_path(file.path))
    with ContainerWriter(graph_path(file.path)) as container:
        container.section(SECTION, content)
        container.finish({"vectors": file.path.name, "checksum": file.container.checksum})


class Graph:
    """The graph of a file of vectors, opened."""

    def __init__(self, index: Any, container: Container) -> None:
        self._index, self._container = index, container  # whose bytes the index looks at
        self._searching = threading.Lock()

    def nearest(self, query: Vectors, n: int) -> Integers:
        """About the n rows of the largest inner products, ascending."""
        with self._searching:
            self._index.expansion_search = n
            found = self._index.search(query, n, threads=1)
        return np.sort(found.keys.astype(np.int64))


def graph_of(file: VectorFile) -> Graph | None:
    """The graph of a file of vectors, None where there is none to be used; kept with the file."""
    if file.graph is None and graph_path(file.path).exists():
        file.graph = _opened(file)
    return file.graph if isinstance(file.graph, Graph) else None


def _opened(file: VectorFile) -> "Graph | str":
    """The graph, or why it is not used."""
    try:
        container = Container(graph_path(file.path))
        told = container.meta.get("vectors"), container.meta.get("checksum")
        if told != (file.path.name, file.container.checksum):
            return "of other vectors"
        index = _empty(file.field)
        content = container[SECTION]
        wrong = problem(content, bytes(index.save()), len(file))
        if wrong is not None:
            return f"damaged: {wrong}"
        index.view(content.data)
    except (IndexFormatError, KeyError, MissingExtraError, RuntimeError, TypeError, ValueError) as error:
        return str(error)
    return Graph(index, container) if len(index) == len(file) else "of other vectors"


def _empty(field: VectorField) -> Any:
    """Vectors of length 1 are kept as float16: they are only looked for by it."""
    usearch = optional("usearch.index", "approximate search of vectors")
    kept = "f16" if field.similarity == "cosine" else "f32"
    return usearch.Index(
        ndim=field.dimension, metric="ip", dtype=kept, connectivity=CONNECTIVITY, expansion_add=EXPANSION
    )
