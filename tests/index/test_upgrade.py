"""An index of an older version is refused with the command that makes it anew, and that loses nothing."""

import zlib
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from germane import Document, Engine
from germane.errors import IndexFormatError
from germane.index import manifest
from germane.index.check import check_index
from germane.index.ciff import export_ciff, import_ciff
from germane.index.container import Container, ContainerWriter
from germane.index.repair import repair_index


def content_of(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = orjson.loads((folder / manifest.NAME).read_bytes().partition(b"\n")[2])
    return content


def rewrite(folder: Path, format: int, **others: Any) -> None:
    """Say that the index is of another format: what is read of a segment is the same in all."""
    body = orjson.dumps(content_of(folder) | {"format": format, **others})
    (folder / manifest.NAME).write_bytes(b"%08x\n" % zlib.crc32(body) + body)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    folder = tmp_path / "old"
    with Engine.create(folder, fields=("text", "note")) as engine:
        engine.add([Document(f"d{i}", {"text": f"copper in the liver {i}", "year": 1900 + i}) for i in range(20)])
        engine.add(
            [Document("d3", {"note": "zinc", "year": 1950}), Document("ä b", {"text": ["one", "two"]})],
            on_duplicate="replace",
        )
        engine.delete(["d4", "d5"])
    rewrite(folder, 1)
    return folder


def test_an_old_index_is_refused_with_the_command(old: Path) -> None:
    with pytest.raises(IndexFormatError, match=r"older version of germane \(format 1\): Engine.upgrade\(.*, new\)"):
        Engine.open(old)


def test_the_new_index_holds_the_same_documents(old: Path, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in old.iterdir()}
    with Engine.upgrade(old, tmp_path / "new") as new:
        documents = {document.id: dict(document.fields) for document in new.documents()}
        assert len(documents) == 19
        assert documents["d3"] == {"note": "zinc", "year": 1950}
        assert documents["ä b"] == {"text": ["one", "two"]}
        assert {"d4", "d5"}.isdisjoint(documents)
        assert new.search("zinc").ids == ["d3"]
        assert new.search("copper year:1901").ids == ["d1"]
    assert check_index(tmp_path / "new").problems == []
    assert {path.name: path.read_bytes() for path in old.iterdir()} == before


def test_an_index_without_its_text_is_refused(old: Path, tmp_path: Path) -> None:
    """As an import from CIFF makes: words, but nothing stored to find them in."""
    with Engine.create(tmp_path / "source", fields=("text",)) as source:
        source.add([Document("a", {"text": "copper"})])
    export_ciff(tmp_path / "source", tmp_path / "x.ciff")
    import_ciff(tmp_path / "x.ciff", tmp_path / "ciff")
    rewrite(tmp_path / "ciff", 1)
    with pytest.raises(IndexFormatError, match="was made without its text: import that collection again"):
        Engine.upgrade(tmp_path / "ciff", tmp_path / "new")
    assert len(Engine.open(tmp_path / "new")) == 0


def test_an_index_of_today_is_not_upgraded(tmp_path: Path) -> None:
    Engine.create(tmp_path / "new").close()
    with pytest.raises(IndexFormatError, match="nothing to upgrade"):
        Engine.upgrade(tmp_path / "new", tmp_path / "newer")
    assert not (tmp_path / "newer").exists()


def with_bounds(segment: Path) -> None:
    """Write a segment as earlier programs did: with lengths that bound each block of postings."""
    old = Container(segment)
    segment.unlink()
    with ContainerWriter(segment) as new:
        for name in old:
            new.section(name, old[name])
            if name == "blk_max_tf":
                for count in (1, 2, 4):
                    new.section(f"blk_length_{count}", np.zeros(len(old[name]), np.uint8))
        new.finish(old.meta)


@pytest.mark.parametrize("format", manifest.BOUNDED)
def test_an_index_whose_blocks_tell_more_is_read_and_gets_the_new_number(tmp_path: Path, format: int) -> None:
    folder = tmp_path / "index"
    with Engine.create(folder) as engine:
        engine.add([Document("1", {"text": "copper"})])
    [segment] = folder.glob("segment-*")
    with_bounds(segment)
    entries = [entry | {"size": segment.stat().st_size} for entry in content_of(folder)["segments"]]
    rewrite(folder, format, segments=entries)
    with Engine.open(folder) as engine:
        assert engine.search("copper").ids == ["1"]
        assert content_of(folder)["format"] == format
        engine.add([Document("2", {"text": "zinc"})])
        assert engine.search("copper OR zinc").ids == ["1", "2"]
    assert content_of(folder)["format"] == manifest.FORMAT
    assert not check_index(folder).problems
    (folder / manifest.NAME).unlink()
    repair_index(folder)
    with Engine.open(folder) as engine:
        assert engine.search("copper OR zinc").ids == ["1", "2"]
