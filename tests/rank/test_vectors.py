"""The search of vectors finds what scoring every document finds, whatever the numbers, the segments and the threads."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.index.vector_fields import STEP, TYPES, VectorField
from germane.index.writer import IndexWriter
from germane.rank import vector_kernels, vectors
from germane.rank.query.filters import FieldFilter
from germane.rank.scoring.searcher import Searcher
from germane.rank.vectors import search_vectors
from germane.text import Analyzer
from germane.types import Document

NONE = np.empty(0, np.float32)


@pytest.fixture
def always_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "is_few", lambda n: False)


@pytest.fixture
def searcher_of(tmp_path: Path) -> Callable[..., Searcher]:
    """An index of three segments: documents "0", "1", ..., every seventh without a vector, every fifth deleted."""
    made = 0

    def make(matrix: np.ndarray, field: VectorField, *, merged: bool = False) -> Searcher:
        nonlocal made
        made += 1
        folder = tmp_path / f"index-{made}"
        with IndexWriter.create(folder, Analyzer(), ("text",), vector_fields={"v": field}) as writer:
            for part in np.array_split(np.arange(len(matrix)), 3):
                writer.add(
                    (
                        Document(str(i), {"text": "a", "odd": int(i % 2)}, {"v": matrix[i]} if i % 7 else {})
                        for i in part
                    ),
                    threads=1,
                )
            writer.delete([str(i) for i in range(0, len(matrix), 5)])
            if merged:
                writer.merges.merge_all()
            return Searcher(writer.snapshot)

    return make


def truth(
    matrix: np.ndarray, field: VectorField, query: np.ndarray, k: int, odd: bool = False
) -> list[tuple[str, float]]:
    """Every document scored by a loop over its stored numbers."""
    checked = field.checked(matrix, "v", str)
    stored = field.stored(checked)
    numbers, (asked,) = field.numbers(stored), field.checked(query[None], "v", str)
    rows = []
    for i in range(len(matrix)):
        if i % 7 and i % 5 and (not odd or i % 2):
            score = 0.0
            for a, b in zip(numbers[i].tolist(), asked.tolist(), strict=True):
                score += a * b
            rows.append((str(i), score * float(stored.scales[i]) if len(stored.scales) else score))
    return sorted(rows, key=lambda row: (-row[1], row[0]))[:k]


def found(searcher: Searcher, queries: np.ndarray, k: int, **options: object) -> list[list[tuple[str, float]]]:
    hits = search_vectors(searcher, "v", queries, k, **options)
    return [list(zip(searcher.ids(own), own.scores.tolist(), strict=True)) for own in hits]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("similarity", "merged"), [("cosine", False), ("dot", True)])
def test_every_document_scored(
    searcher_of: Callable[..., Searcher], always_kernels: None, dtype: str, similarity: str, merged: bool
) -> None:
    """To the last bit: one query, many, in threads, without kernels; ties (equal vectors) by id; filters."""
    rng = np.random.default_rng(3)
    field = VectorField(21, dtype, similarity)
    matrix = rng.standard_normal((600, 21))
    matrix[100:140] = matrix[50]
    queries = np.concatenate([rng.standard_normal((9, 21)), matrix[50:51]])
    searcher = searcher_of(matrix, field, merged=merged)
    expected = [truth(matrix, field, query, 20) for query in queries]
    assert found(searcher, queries, 20) == expected
    assert [found(searcher, query[None], 20)[0] for query in queries] == expected
    odd = [searcher.mask(i, [FieldFilter("odd", "1", "1")]) for i in range(len(searcher.snapshot.segments))]
    assert found(searcher, queries, 9, masks=odd) == [truth(matrix, field, query, 9, odd=True) for query in queries]
    assert found(searcher, queries[:1], 600)[0] == truth(matrix, field, queries[0], 600)


def test_without_kernels(searcher_of: Callable[..., Searcher], monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.random.default_rng(4).standard_normal((100, 5))
    field = VectorField(5, "int8")
    monkeypatch.setattr(vectors, "is_few", lambda n: True)
    assert found(searcher_of(matrix, field), matrix[:2], 7) == [truth(matrix, field, query, 7) for query in matrix[:2]]


def test_in_threads(
    searcher_of: Callable[..., Searcher], always_kernels: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "NUMBERS_A_THREAD", 64)
    matrix = np.random.default_rng(5).standard_normal((500, 16))
    searcher = searcher_of(matrix, VectorField(16, "int8"))
    assert found(searcher, matrix[1:2], 9, threads=1) == found(searcher, matrix[1:2], 9, threads=3)


@pytest.mark.parametrize("n_queries", [1, 8])
def test_the_table_grows(
    searcher_of: Callable[..., Searcher], always_kernels: None, monkeypatch: pytest.MonkeyPatch, n_queries: int
) -> None:
    """Many equal vectors are all in the running: none is lost."""
    monkeypatch.setattr(vectors, "ROOM", 8)
    matrix = np.ones((400, 3))
    field = VectorField(3)
    queries = np.ones((n_queries, 3))
    assert found(searcher_of(matrix, field), queries, 2) == [truth(matrix, field, queries[0], 2)] * n_queries


@pytest.mark.parametrize("scale", [1e-20, 1e-3, 1e12])
def test_tiny_and_huge_numbers(searcher_of: Callable[..., Searcher], always_kernels: None, scale: float) -> None:
    matrix = np.random.default_rng(6).standard_normal((200, 17)) * scale
    for dtype in ("float32", "int8"):
        field = VectorField(17, dtype, "dot")
        searcher = searcher_of(matrix, field)
        assert found(searcher, matrix[:1], 5)[0] == truth(matrix, field, matrix[0], 5)
        assert found(searcher, matrix[:9], 5)[0] == truth(matrix, field, matrix[0], 5)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.sampled_from(["f4", "f2", "i1"]))
def test_the_kernel_multiplies_as_numpy(seed: int, steps: int, dtype: str) -> None:
    """Of int8 exactly, at the ends of their range too; of the others as near as float32 can be."""
    rng = np.random.default_rng(seed)
    n, rows = steps * STEP, 7
    scales, query = NONE, rng.standard_normal(n).astype(np.float32)
    if dtype == "i1":
        scales, query = np.ones(rows, np.float32), rng.integers(-32767, 32767, n, endpoint=True).astype(np.int16)
        values = rng.choice([-127, -1, 0, 1, 126, 127], (rows, n)).astype(np.int8)
    else:
        values = (rng.standard_normal((rows, n)) * 10.0 ** rng.integers(-6, 4, (rows, 1))).astype(dtype)
    exact = values.astype(np.float64) @ query.astype(np.float64)
    lower, upper, places = np.empty(16), np.empty(16), np.empty(16, np.int64)
    flat = values.reshape(-1).view(np.uint16) if dtype == "f2" else values.reshape(-1)
    held, _, last = vector_kernels.scan(
        flat, scales, query, np.arange(rows, dtype=np.uint32), np.empty(0, np.uint8), 0, rows, rows, (0.0, 0.0),
        (lower, upper, places), 0, -np.inf,
    )  # fmt: skip
    assert held == last == rows
    assert places[:rows].tolist() == list(range(rows))
    if dtype == "i1":
        assert lower[:rows].tolist() == exact.astype(np.float32).tolist()
    else:
        sizes = np.abs(values.astype(np.float64)) @ np.abs(query.astype(np.float64))
        assert (np.abs(lower[:rows] - exact) <= (n + STEP) * 2.0**-24 * sizes + 1e-40).all()


def test_the_largest_int8_sum_fits() -> None:
    field = VectorField(16384, "int8", "dot")
    query = np.ones(16384, np.float32)
    rounded, _ = vectors._rounded(field, query)
    assert int(rounded.astype(np.int64).sum()) * 127 < 2**31
    assert rounded.min() > 1000


def test_half_precision_by_bits() -> None:
    """All finite float16 numbers, subnormal ones included, are read as NumPy reads them."""
    halves = np.arange(2**16, dtype=np.uint16)
    numbers = halves.view(np.float16)
    finite = np.flatnonzero(np.isfinite(numbers))
    rows = np.zeros((len(finite), STEP), np.uint16)
    rows[:, 3] = halves[finite]
    query = np.zeros(STEP, np.float32)
    query[3] = 1.0
    table = np.empty(len(finite)), np.empty(len(finite)), np.empty(len(finite), np.int64)
    docs = np.arange(len(finite), dtype=np.uint32)
    vector_kernels.scan(
        rows.reshape(-1), NONE, query, docs, np.empty(0, np.uint8), 0, len(finite), 1, (0.0, 0.0), table, 0, -np.inf
    )
    assert np.array_equal(table[0], numbers[finite].astype(np.float64))
