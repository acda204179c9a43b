"""The container: round trips, and every way in which a file can be wrong."""

import os
import zlib
from pathlib import Path

import numpy as np
import orjson
import pytest

from germane.errors import IndexFormatError
from germane.index import container as container_module
from germane.index.container import _TRAILER, ALIGNMENT, MAGIC, Container, ContainerWriter

ARRAYS = {
    "bytes": np.frombuffer(b"hello", np.uint8),
    "empty": np.empty(0, np.uint32),
    "numbers": np.arange(7, dtype=np.int64),
    "floats": np.array([0.5, np.nan, -np.inf]),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file.germane"
    with ContainerWriter(path) as container:
        for name, array in ARRAYS.items():
            container.section(name, array)
        assert container.types == {name: array.dtype.str for name, array in ARRAYS.items()}
        container.finish({"answer": 42})
    return path


def same(container: Container) -> bool:
    return (
        list(container) == list(ARRAYS)
        and container.meta == {"answer": 42}
        and all(
            container[name].dtype == array.dtype and container[name].tobytes() == array.tobytes()
            for name, array in ARRAYS.items()
        )
    )


@pytest.mark.parametrize("in_memory", [container_module.IN_MEMORY, 0])
def test_round_trip(path: Path, in_memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container_module, "IN_MEMORY", in_memory)
    container = Container(path)
    assert same(container)
    container.release()
    assert same(container)
    with pytest.raises(ValueError, match="read-only"):
        container["numbers"][0] = 1
    assert container.problems() == []
    assert "numbers" in container
    assert "letters" not in container
    assert container.bytes_of("numbers", "bytes", "letters") == 7 * 8 + 5
    assert container["numbers"].ctypes.data % ALIGNMENT == 0


def test_pieces_make_one_section(tmp_path: Path) -> None:
    with ContainerWriter(tmp_path / "x") as container:
        container.append("a", np.empty(0, np.uint16))
        for begin in range(0, 10, 3):
            container.append("a", np.arange(begin, min(begin + 3, 10), dtype=np.uint16))
        container.section("b", np.arange(6).reshape(2, 3)[:, ::2])  # not contiguous
        container.finish({})
    assert Container(tmp_path / "x")["a"].tolist() == list(range(10))
    assert Container(tmp_path / "x")["b"].tolist() == [0, 2, 3, 5]


def test_nothing_remains_of_an_aborted_file(tmp_path: Path) -> None:
    def stop() -> None:
        with ContainerWriter(tmp_path / "x") as container:
            container.section("a", np.arange(3))
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        stop()
    assert list(tmp_path.iterdir()) == []


def test_a_section_is_written_once(tmp_path: Path) -> None:
    with ContainerWriter(tmp_path / "x") as container:
        container.section("a", np.arange(3))
        container.section("b", np.arange(3))
        with pytest.raises(AssertionError, match="section a"):
            container.section("a", np.arange(3))


def test_missing_section_and_missing_file(path: Path) -> None:
    with pytest.raises(IndexFormatError, match="'letters' is missing"):
        Container(path)["letters"]
    with pytest.raises(IndexFormatError, match="is missing"):
        Container(path.with_name("nothing"))
    with pytest.raises(IndexFormatError, match="cannot be read"):
        Container(path.parent)


def test_every_truncation_is_noticed(path: Path) -> None:
    content = path.read_bytes()
    for size in reversed(range(len(content))):
        os.truncate(path, size)
        with pytest.raises(IndexFormatError):
            Container(path)
    path.write_bytes(content + b"\0")
    with pytest.raises(IndexFormatError, match="truncated or its trailer"):
        Container(path)


def test_newer_version(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(MAGIC)] = 2
    path.write_bytes(content)
    with pytest.raises(IndexFormatError, match="has format version 2, this program reads 1: upgrade germane"):
        Container(path)


def test_not_an_index(tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(b"\xff\xd8\xff" * 100)
    with pytest.raises(IndexFormatError, match="not a Germane index file"):
        Container(path)


def test_every_flipped_bit_is_noticed(path: Path) -> None:
    content = path.read_bytes()
    with open(path, "r+b", buffering=0) as file:
        for at in range(len(content)):
            for bit in range(8):
                os.pwrite(file.fileno(), bytes([content[at] ^ 1 << bit]), at)
                try:
                    assert Container(path).problems(), (at, bit)
                except IndexFormatError:
                    continue
            os.pwrite(file.fileno(), content[at : at + 1], at)
    assert same(Container(path))


def test_contents_that_lie(path: Path) -> None:
    """A table of contents with the right checksum and sections that are not there: nothing is read outside."""
    content = path.read_bytes()
    offset, length, _, magic = _TRAILER.unpack(content[-_TRAILER.size :])
    parsed = orjson.loads(content[offset : offset + length])
    lies: list[object] = [[], {}, {"meta": {}, "sections": [1]}]
    for key, value in (
        ("offset", 10**12),
        ("offset", -64),
        ("bytes", 10**12),
        ("bytes", -8),
        ("dtype", "<q9"),
        ("bytes", 7),
    ):
        section = dict(parsed["sections"]["numbers"]) | {key: value}
        lies.append({**parsed, "sections": {**parsed["sections"], "numbers": section}})
    for lie in lies:
        body = orjson.dumps(lie)
        path.write_bytes(content[:offset] + body + _TRAILER.pack(offset, len(body), zlib.crc32(body), magic))
        with pytest.raises(IndexFormatError, match="table of contents"):
            Container(path)["numbers"]
        with pytest.raises(IndexFormatError, match="table of contents"):
            Container(path).problems()
