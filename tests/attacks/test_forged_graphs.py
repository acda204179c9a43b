"""Graphs of neighbours and vectors with right checksums over wrong content: not used, or refused; nothing is read
beyond their end, nothing waits, nothing takes much memory.

The library of graphs believes what it reads; a graph that is not looked through first ends the process.
"""

import random
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzz.harness import Verdict, fuzz
from fuzz.index_cases import forge_container
from germane import Engine
from germane.errors import GermaneError
from germane.index import graphs
from germane.index.check import check_index
from germane.index.graphs import SECTION, graph_of, graph_path
from germane.index.vectors import VectorFile
from germane.types import Document

pytest.importorskip("usearch")

N, DIMENSION = 400, 8
CASES = 150


def vector_file(folder: Path) -> VectorFile:
    with_vectors = [file for live in Engine.open(folder).retriever.snapshot.segments for file in live.vectors.values()]
    (found,) = with_vectors
    return found


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with a graph."""
    folder = tmp_path_factory.mktemp("graphs") / "index"
    rng = np.random.default_rng(0)
    with Engine.create(folder, vectors={"v": DIMENSION}) as engine:
        rows = rng.normal(size=(N, DIMENSION)).tolist()
        engine.add([Document(f"d{i}", {"text": "x"}, vectors={"v": row}) for i, row in enumerate(rows)])
    file = vector_file(folder)
    graphs.write_graph(file, graphs.built_graph(file))
    assert graph_of(vector_file(folder)) is not None
    return folder


def replaced(folder: Path, content: Any) -> VectorFile:
    """The vectors of an index whose graph has this content, and right checksums."""
    file = vector_file(folder)
    graph_path(file.path).unlink(missing_ok=True)
    graphs.write_graph(file, np.frombuffer(bytes(content), np.uint8))
    return vector_file(folder)


def content_of(folder: Path) -> bytearray:
    graph = graph_of(vector_file(folder))
    assert graph is not None
    return bytearray(bytes(graph._container[SECTION]))


HEAD = 8 + N * DIMENSION * 2
SIZES = HEAD + 64
LEVELS = SIZES + 40
NODES = LEVELS + 2 * N


def put(kind: str, at: int, *values: int) -> Callable[[bytearray], None]:
    return lambda content: struct.pack_into(kind, content, at, *values)


FORGERIES: dict[str, Callable[[bytearray], Any]] = {
    "rows": put("<I", 0, 2**32 - 1),
    "columns": put("<I", 4, 2**31),
    "fewer rows": put("<I", 0, 1),
    "magic": put("<7s", HEAD, b"another"),
    "version": put("<H", HEAD + 7, 9),  # type: ignore[arg-type]
    "kind of numbers": put("<B", HEAD + 14, 11),
    "kind of key": put("<B", HEAD + 15, 1),
    "count": put("<Q", HEAD + 17, 2**60),
    "deleted": put("<Q", HEAD + 25, 5),
    "dimension": put("<Q", HEAD + 33, 2**40),
    "size": put("<Q", SIZES, 2**62),
    "connectivity": put("<Q", SIZES + 8, 2**50),
    "at the bottom": put("<Q", SIZES + 16, 2**50),
    "highest level": put("<Q", SIZES + 24, 1000),
    "entry": put("<Q", SIZES + 32, N),
    "far entry": put("<Q", SIZES + 32, 2**63),
    "level": put("<h", LEVELS, 32767),
    "negative level": put("<h", LEVELS, -1),
    "key": put("<Q", NODES, 2**63),
    "key twice": put("<Q", NODES, 1),
    "level of a node": put("<h", NODES + 8, 3),
    "neighbours": put("<I", NODES + 10, 33),
    "many neighbours": put("<I", NODES + 10, 2**32 - 1),
    "neighbour": put("<I", NODES + 14, N),
    "far": put("<I", NODES + 14, 2**32 - 1),
    "cut": lambda content: content.__delitem__(slice(len(content) // 2, None)),
    "longer": lambda content: content.extend(bytes(100)),
    "empty": lambda content: content.clear(),
    "few bytes": lambda content: content.__delitem__(slice(50, None)),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_graph_is_not_used(good: Path, tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(good, tmp_path / "index"))
    content = content_of(folder)
    before = bytes(content)
    FORGERIES[name](content)
    assert content != before
    assert graph_of(replaced(folder, content)) is None


def test_the_graph_as_it_was_is_used(good: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(good, tmp_path / "index"))
    graph = graph_of(replaced(folder, content_of(folder)))
    assert graph is not None
    assert len(graph.nearest(vector_file(folder).floats(np.arange(1))[0], 10)) == 10


def test_files_forged_at_random(good: Path, tmp_path: Path) -> None:
    """Whatever a graph or a file of vectors says, a search answers or refuses; in a child with bounds of memory."""
    vectors = vector_file(good)
    query = vectors.floats(np.arange(1))[0]
    files = [vectors.path, graph_path(vectors.path)]

    def judge(case: int) -> Verdict:
        rng = random.Random(f"graphs {case}")
        folder = tmp_path / "case"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(good, folder)
        which = rng.choice(files)
        content = forge_container(which.read_bytes(), rng)
        assert content is not None
        (folder / which.name).write_bytes(content)
        refused = ""
        try:
            file = vector_file(folder)
            graph = graph_of(file)
            if graph is not None:
                rows = graph.nearest(query, 10)
                assert len(rows) <= 10
                file.floats(rows)
            engine = Engine.open(folder)
            for search in (
                lambda: engine.vector_search(query.tolist(), 10, approximate=True),
                lambda: engine.search("x", 10, model="bm25"),
            ):
                search()
        except GermaneError as error:
            refused = str(error)
        check_index(folder)
        return Verdict("refused" if refused else "same", refused)

    report = fuzz(judge, range(CASES))
    assert not report.findings, str(report)
    assert report.counts["refused"] > CASES // 8
