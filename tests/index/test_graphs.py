"""Graphs of neighbours: near the truth, exact in their scores, and as if not there where anything is wrong."""

from pathlib import Path

import numpy as np
import pytest

from germane import Engine
from germane.errors import MissingExtraError
from germane.index import graphs
from germane.index.check import check_index

pytest.importorskip("usearch")
N, DIMENSION = 600, 8


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(graphs, "LEAST", 100)
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((N, DIMENSION)).astype(np.float32)
    with Engine.create(tmp_path / "index") as engine:
        engine.add(
            {"id": f"{i:04}", "title": "even" if i % 2 == 0 else "odd rare" * (i == 3) or "odd"} for i in range(N)
        )
        engine.set_vectors("v", [f"{i:04}" for i in range(N)], matrix)
    return tmp_path / "index"


def graph_files(index: Path) -> list[Path]:
    return sorted(index.glob("graph-*"))


def test_near_and_exact(index: Path) -> None:
    queries = np.random.default_rng(1).standard_normal((40, DIMENSION)).astype(np.float32)
    with Engine.open(index) as engine:
        truth = engine.vector_batch(queries, 10)
        assert [r.ids for r in engine.vector_batch(queries, 10, approximate=True)] == [r.ids for r in truth]  # no graph
        assert engine.build_graphs() == N
        found = engine.vector_batch(queries, 10, approximate=True)
        recall = np.mean([len({*a.ids} & {*b.ids}) / 10 for a, b in zip(found, truth, strict=True)])
        assert recall >= 0.98
        scores = {hit.id: hit.score for hit in engine.vector_search(queries[0], N)}
        assert all(scores[hit.id] == hit.score for hit in found[0])
        # conditions and deletions hold; what few documents satisfy is searched exactly
        even = engine.vector_search(queries[0], 10, filter="title:even", approximate=True)
        assert {hit.fields["title"] for hit in even} == {"even"}
        assert engine.vector_search(queries[0], 10, filter="rare", approximate=True).ids == ["0003"]
        engine.delete(found[0].ids[:3])
        assert engine.vector_search(queries[0], 10, approximate=True).ids == engine.vector_search(queries[0], 10).ids
        assert len(engine.vector_search(queries[0], N, approximate=True)) == N - 3
        mixed = engine.hybrid_search("even", queries[0], 5, field="v", approximate=True)
        assert mixed.ids == engine.hybrid_search("even", queries[0], 5, field="v").ids
        assert check_index(index).ok


def test_the_same_graph_each_time(index: Path) -> None:
    with Engine.open(index) as engine:
        engine.build_graphs("v")
        (path,) = graph_files(index)
        first = path.read_bytes()
        assert engine.build_graphs("v") == N
        path.unlink()
    with Engine.open(index) as engine:
        engine.build_graphs("v")
        assert path.read_bytes() == first


def test_graphs_come_and_go_with_their_vectors(index: Path) -> None:
    query = np.ones(DIMENSION)
    with Engine.open(index) as engine:
        engine.build_graphs("v")
        (path,) = graph_files(index)
        engine.add({"id": f"new{i}", "title": "new", "vectors": {"v": [1.0 + i / 100] * DIMENSION}} for i in range(150))
        assert graph_files(index) == [path]
        assert (
            engine.vector_search(query, 3, approximate=True).ids == engine.vector_search(query, 3).ids
        )  # the new ones
        engine.merge()
        assert graph_files(index) == []
        assert engine.vector_search(query, 3, approximate=True).ids == engine.vector_search(query, 3).ids
        assert engine.build_graphs("v") == N + 150
        assert len(graph_files(index)) == 1
        engine.drop_vectors("v")
        assert graph_files(index) == []


@pytest.mark.parametrize("damage", ["cut", "flipped", "other", "empty", "garbage"])
def test_what_is_stale_or_damaged_is_not_used(index: Path, damage: str) -> None:
    query = np.ones(DIMENSION)
    with Engine.open(index) as engine:
        engine.build_graphs("v")
        (path,) = graph_files(index)
        exact = engine.vector_search(query, 5)
        if damage == "other":  # of vectors that were here before
            engine.set_vectors("v", ["0000"], [[1.0] * DIMENSION])
            (vectors,) = index.glob("vectors-*")
            content = path.read_bytes() if path.exists() else None
            assert content is None  # it went with them
            engine.build_graphs("v")
            (path,) = graph_files(index)
            file = next(iter(engine.retriever.snapshot.segments[0].vectors.values()))
            file.container.checksum += 1
            graphs.write_graph(file, np.zeros(10, np.uint8))
            exact = engine.vector_search(query, 5)
            assert graphs.graph_path(vectors) == path
    content = path.read_bytes()
    if damage == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "flipped":
        path.write_bytes(content[:5000] + bytes([content[5000] ^ 1]) + content[5001:])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "garbage":  # whole, and not what usearch writes
        with Engine.open(index) as engine:
            file = next(iter(engine.retriever.snapshot.segments[0].vectors.values()))
            graphs.write_graph(file, np.arange(200, dtype=np.uint8))
    with Engine.open(index) as engine:
        found = engine.vector_search(query, 5, approximate=True)
        assert (found.ids, found.scores.tolist()) == (exact.ids, exact.scores.tolist())
        assert graphs.graph_of(next(iter(engine.retriever.snapshot.segments[0].vectors.values()))) is None
        assert engine.build_graphs("v") == N  # made anew
        assert len(engine.vector_search(query, 5, approximate=True)) == 5


def test_without_the_library(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Engine.open(index) as engine:
        engine.build_graphs("v")
    monkeypatch.setitem(__import__("sys").modules, "usearch.index", None)
    with Engine.open(index) as engine:
        assert len(engine.vector_search(np.ones(DIMENSION), 5, approximate=True)) == 5
        graph_files(index)[0].unlink()
        with pytest.raises(MissingExtraError, match=r"germane\[ann\]"):
            engine.build_graphs("v")


def test_small_segments_have_none(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "LEAST", N + 1)
    with Engine.open(index) as engine:
        assert engine.build_graphs("v") == 0
    assert graph_files(index) == []
