"""An index of an older version is refused with the command that makes it anew, and that loses nothing."""

import zlib
from pathlib import Path

import orjson
import pytest

from germane import Document, Engine
from germane.errors import IndexFormatError
from germane.index import manifest
from germane.index.check import check_index
from germane.index.ciff import export_ciff, import_ciff


def make_old(folder: Path) -> None:
    """Say that the index is of the first format: what the upgrade reads of a segment is the same in both."""
    body = (folder / manifest.NAME).read_bytes().partition(b"\n")[2]
    body = orjson.dumps(orjson.loads(body) | {"format": 1})
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
    make_old(folder)
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
    make_old(tmp_path / "ciff")
    with pytest.raises(IndexFormatError, match="was made without its text: import that collection again"):
        Engine.upgrade(tmp_path / "ciff", tmp_path / "new")
    assert len(Engine.open(tmp_path / "new")) == 0


def test_an_index_of_today_is_not_upgraded(tmp_path: Path) -> None:
    Engine.create(tmp_path / "new").close()
    with pytest.raises(IndexFormatError, match="has format 2"):
        Engine.upgrade(tmp_path / "new", tmp_path / "newer")
    assert not (tmp_path / "newer").exists()
