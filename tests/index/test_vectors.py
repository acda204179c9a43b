"""Vectors are kept as documents are: added, deleted, merged, committed, checked and repaired with them."""

import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from germane.engine import Engine
from germane.errors import GermaneError, IndexFormatError, StorageError
from germane.index.check import check_index
from germane.index.container import Container, ContainerWriter
from germane.index.manifest import read_manifest
from germane.index.repair import repair_index
from germane.index.vector_fields import TYPES, VectorField
from germane.types import Document

DIMENSION = 6


def matrix(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, DIMENSION))


def documents(n: int, seed: int = 0, prefix: str = "d") -> list[Document]:
    """Every third without a vector."""
    rows = matrix(n, seed)
    return [
        Document(f"{prefix}{i}", {"text": f"w{i} word"}, {"a": rows[i], "b": rows[i][:2]} if i % 3 else {})
        for i in range(n)
    ]


def kept(index: Path | Engine) -> dict[str, Any]:
    """All vectors of an index: field -> id -> numbers."""
    engine = Engine.open(index) if isinstance(index, Path) else index
    found: dict[str, Any] = {}
    for name in engine.vector_fields:
        vectors = {doc.id: engine.vector(doc.id, name) for doc in engine.documents()}
        found[name] = {doc_id: vector.tolist() for doc_id, vector in vectors.items() if vector is not None}
    return found


def content(index: Path | Engine) -> tuple[Any, ...]:
    engine = Engine.open(index) if isinstance(index, Path) else index
    return sorted(doc.id for doc in engine.documents()), kept(engine), engine.vector_fields


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two segments with deletions and two fields, one of them int8."""
    folder = tmp_path_factory.mktemp("vectors") / "index"
    with Engine.create(folder, vectors={"a": f"{DIMENSION}:int8", "b": 2}) as engine:
        engine.add(documents(40))
        engine.add(documents(40, 1, "e"))
        engine.delete(["d1", "d2", "e4"])
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    shutil.copytree(original, tmp_path / "index")
    return tmp_path / "index"


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_what_is_stored_is_near_what_was_given(tmp_path: Path, dtype: str, similarity: str) -> None:
    given = matrix(20) * 3
    ids = [f"d{i}" for i in range(20)]
    with Engine.create(tmp_path / "index", vectors={"a": f"{DIMENSION}:{dtype}:{similarity}"}) as engine:
        engine.add(Document(doc_id, {"text": "a"}, {"a": row}) for doc_id, row in zip(ids, given, strict=True))
        found = np.array([engine.vector(doc_id) for doc_id in ids])
        engine.merge()
        assert np.array_equal(found, [engine.vector(doc_id) for doc_id in ids])
    if similarity == "cosine":
        given = given / np.linalg.norm(given, axis=1, keepdims=True)
    precision = {"float32": 2.0**-24, "float16": 2.0**-11, "int8": 0.51 / 127 / 254}[dtype]
    assert (np.abs(found - given) <= precision * np.abs(given).max(axis=1, keepdims=True)).all()


def test_one_by_one_is_all_at_once(tmp_path: Path) -> None:
    """Merges copy vectors as they are."""
    fields = {"a": f"{DIMENSION}:int8", "b": 2}
    with (
        Engine.create(tmp_path / "one", vectors=fields) as one,
        Engine.create(tmp_path / "all", vectors=fields) as all_,
    ):
        all_.add(documents(40))
        for document in documents(40):
            one.add([document])
        assert one.stats().segments == 5
        assert kept(one) == kept(all_)
        one.merge()
        assert kept(one) == kept(all_)
    assert check_index(tmp_path / "one").ok


def test_a_newer_document_has_its_own_vectors(folder: Path) -> None:
    with Engine.open(folder) as engine:
        row = np.arange(1.0, DIMENSION + 1)
        engine.update([Document("d4", {"text": "x"}, {"a": row}), Document("d5", {"text": "x"})])
        engine.update([Document("d7", {}, {"a": row}), Document("d7", {}, {"a": -row})])  # twice in one input
        assert engine.vector("d5", "a") is None
        assert engine.vector("d4", "b") is None
        assert np.allclose(engine.vector("d4", "a"), row / np.linalg.norm(row), atol=1e-4)
        assert np.allclose(engine.vector("d7", "a"), -row / np.linalg.norm(row), atol=1e-4)
    assert check_index(folder).ok


def test_set_replace_and_drop(folder: Path) -> None:
    before = kept(folder)
    files = {path.name for path in folder.glob("segment-*")}
    with Engine.open(folder) as engine:
        assert engine.set_vectors("c", ["d0", "e1"], [[1, 0, 0], [0, 2, 0]], dtype="float16") == 2
        assert kept(engine) == before | {"c": {"d0": [1, 0, 0], "e1": [0, 1, 0]}}
        engine.set_vectors("c", ["d3", "e1"], [[0, 0, 1], [1, 0, 0]])
        assert kept(engine)["c"] == {"d0": [1, 0, 0], "d3": [0, 0, 1], "e1": [1, 0, 0]}
        engine.set_vectors("c", ["d9"], [[3.0, 4.0]], replace=True, similarity="dot")
        assert kept(engine)["c"] == {"d9": [3, 4]}
        assert engine.vector_fields["c"] == VectorField(2, "float32", "dot")
        engine.drop_vectors("c")
        assert kept(engine) == before
    assert {path.name for path in folder.glob("segment-*")} == files  # no segment was written again
    assert {path.name for path in folder.glob("*.germane")} == read_manifest(folder).files() - {"MANIFEST"}
    assert check_index(folder).ok


def test_an_index_without_vectors_is_as_before(tmp_path: Path) -> None:
    """Programs that know nothing of vectors read it; they must refuse one that has them."""
    with Engine.create(tmp_path / "index") as engine:
        engine.add([Document("1", {"text": "a"})])
        manifest = orjson.loads((tmp_path / "index" / "MANIFEST").read_bytes().partition(b"\n")[2])
        assert manifest["format"] == 5
        assert "vector_fields" not in manifest
        assert set(manifest["segments"][0]) == {"name", "size", "deletions"}
        engine.set_vectors("a", ["1"], [[1.0]])
        assert orjson.loads((tmp_path / "index" / "MANIFEST").read_bytes().partition(b"\n")[2])["format"] == 6
        engine.drop_vectors("a")
    assert read_manifest(tmp_path / "index").vector_fields == {}


# -- damage ------------------------------------------------------------------------------------------------------------


def vector_files(folder: Path) -> dict[tuple[int, str], Path]:
    entries = enumerate(read_manifest(folder).segments)
    return {(i, name): folder / file for i, entry in entries for name, file in entry.vectors}


def test_every_flipped_bit_is_found(folder: Path) -> None:
    """One in each kilobyte, and in every section."""
    for path in vector_files(folder).values():
        whole = path.read_bytes()
        container = Container(path)
        places = {*range(5, len(whole), 997), *(container.place_of(name)[0] for name in container)}
        for at in sorted(places):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
            report = check_index(folder)
            assert not report.ok, at
            assert path.name in report.problems[0]
        path.write_bytes(whole)
    assert check_index(folder).ok


def test_damaged_vectors_are_dropped_and_said(folder: Path) -> None:
    before = content(folder)
    path = vector_files(folder)[0, "a"]
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(IndexFormatError, match="truncated"):
        Engine.open(folder)
    report = repair_index(folder)
    assert len(report.lost) == 1
    assert "vectors 'a'" in report.lost[0]
    assert check_index(folder).ok
    ids, found, fields = content(folder)
    assert (ids, fields) == (before[0], before[2])
    assert found["b"] == before[1]["b"]
    assert found["a"] == {doc_id: row for doc_id, row in before[1]["a"].items() if doc_id.startswith("e")}
    assert any(path.name in aside.name for aside in folder.glob("damaged-*/*"))


def test_vectors_outlive_a_damaged_segment(folder: Path) -> None:
    """Its documents are indexed again, and keep their vectors."""
    before = content(folder)
    path = folder / read_manifest(folder).segments[0].name
    raw, at = bytearray(path.read_bytes()), Container(path).place_of("fwd_words")[0]
    raw[at] ^= 1
    path.write_bytes(raw)
    assert repair_index(folder).lost == []
    assert content(folder) == before
    assert check_index(folder).ok


def test_vectors_outlive_a_lost_manifest(folder: Path) -> None:
    before = content(folder)
    (folder / "MANIFEST").unlink()
    assert repair_index(folder).lost == []
    assert content(folder) == before
    assert check_index(folder).ok


@pytest.mark.parametrize(
    ("section", "change", "sentence"),
    [
        ("docs", lambda a: a[::-1].copy(), "do not ascend"),
        ("docs", lambda a: a + np.uint32(1000), "do not ascend"),
        ("values", lambda a: a[:-16], "wrong size: values"),
        ("values", lambda a: np.where(np.arange(len(a)) % 16 == 15, 1, a).astype(a.dtype), "padding"),
        ("scales", lambda a: a * 100, "longer than the longest"),
        ("scales", lambda a: a[:-1], "wrong size: scales"),
        ("scales", lambda a: a * np.float32(np.nan), "not a finite number"),
        ("rest", lambda a: a[:-16], "wrong size: rest"),
    ],
)
def test_a_file_that_somebody_made(folder: Path, section: str, change: Callable[..., Any], sentence: str) -> None:
    """Right checksums, wrong content: found by check, and no reader leaves an array."""
    path = vector_files(folder)[0, "a"]
    old = Container(path)
    arrays, meta = {name: old[name].copy() for name in old}, old.meta
    del old
    path.unlink()
    with ContainerWriter(path) as made:
        for name, array in arrays.items():
            made.section(name, change(array) if name == section else array)
        made.finish(meta)
    report = check_index(folder)
    assert not report.ok
    assert sentence in report.problems[0]
    with contextlib.suppress(GermaneError):
        Engine.open(folder).vector_search(np.ones(DIMENSION), field="a")


def test_vectors_of_another_segment_are_refused(folder: Path) -> None:
    files = vector_files(folder)
    shutil.copy(files[1, "a"], files[0, "a"])
    assert "not the vectors 'a'" in check_index(folder).problems[0]
    with pytest.raises(IndexFormatError, match="not the vectors 'a'"):
        Engine.open(folder)


def test_a_disk_that_fails_at_any_point(folder: Path, tmp_path: Path, make_faults: Any) -> None:
    """The old state or the new one, and never a file too many."""
    work: list[Callable[[Engine], Any]] = [
        lambda engine: engine.update(documents(3, 5, "d")),
        lambda engine: engine.set_vectors("c", ["d0", "e1"], [[1.0, 0], [0, 2.0]]),
        lambda engine: engine.merge(),
        lambda engine: engine.drop_vectors("b"),
    ]
    for number, operation in enumerate(work):
        shutil.copytree(folder, tmp_path / f"counted-{number}")
        counter, states = make_faults(), [content(folder)]
        with Engine.open(tmp_path / f"counted-{number}") as engine, counter.installed():
            operation(engine)
        states.append(content(tmp_path / f"counted-{number}"))
        for at in range(1, counter.count + 1, 1 if number in (1, 3) else 3):
            copy = tmp_path / f"failed-{number}-{at}"
            shutil.copytree(folder, copy)
            faults = make_faults()
            faults.at, faults.lasting = at, True
            engine = Engine.open(copy)
            with faults.installed(), contextlib.suppress(StorageError):
                operation(engine)
            engine.refresh()
            seen = content(engine)
            engine.close()
            assert content(copy) == seen, (number, at)
            assert seen in states
            assert check_index(copy).ok
            shutil.rmtree(copy)


def test_an_upgraded_index_keeps_its_vectors(tmp_path: Path) -> None:
    with Engine.create(tmp_path / "old", positions=False, vectors={"a": f"{DIMENSION}:float16", "b": 2}) as engine:
        engine.add(documents(30))
        engine.delete(["d1"])
    with Engine.upgrade(tmp_path / "old", tmp_path / "new") as engine:
        assert kept(engine)["a"].keys() == kept(tmp_path / "old")["a"].keys()
        for doc_id, row in kept(tmp_path / "old")["a"].items():
            assert np.allclose(engine.vector(doc_id, "a"), row, atol=1e-3)
