"""Engines that are closed, made in memory, opened or made, and filled from mappings."""

import datetime
import gc
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from germane import Analyzer, Document, Engine
from germane.errors import EngineClosedError, IndexFormatError, ParameterError


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """The system's folder for temporary files, for this test alone."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_a_closed_engine_changes_nothing(tmp_path):
    engine = Engine.create(tmp_path / "index")
    engine.add([Document("1", {"text": "heart"})])
    engine.close()
    for change in (
        lambda: engine.add([Document("2", {"text": "heart"})]),
        lambda: engine.update([Document("1", {"text": "hearts"})]),
        lambda: engine.delete(["1"]),
        engine.merge,
    ):
        with pytest.raises(EngineClosedError, match=r"closed, and changes nothing any more: Engine\.open\("):
            change()
    assert engine.search("heart").ids == ["1"]
    with Engine.open(tmp_path / "index") as other:  # the lock is free
        other.add([Document("2", {"text": "heart"})])
    engine.close()
    assert len(other) == 2


def test_in_memory(scratch, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Engine.create(":memory:", fields=["text"]) as engine:
        engine.add([{"id": "1", "text": "heart"}])
        assert len(list(scratch.iterdir())) == 1
        assert engine.search("heart").ids == ["1"]
        engine.refresh()
    assert not list(scratch.iterdir())
    assert not Path(":memory:").exists()
    assert next(iter(engine.search("heart"))).fields == {"text": "heart"}
    with pytest.raises(EngineClosedError, match="gone"):
        engine.add([{"id": "2"}])
    with pytest.raises(ParameterError, match="in memory"):
        Engine.open(":memory:")
    with pytest.raises(ParameterError):
        Engine.create(":memory:", fields=[])
    forgotten = Engine.open_or_create(":memory:")
    assert list(scratch.iterdir())
    del forgotten
    gc.collect()
    assert not list(scratch.iterdir())


def test_in_memory_nothing_is_left_at_the_end(tmp_path):
    code = "from germane import Engine; engine = Engine.create(':memory:'); engine.add([{'id': '1', 'text': 'heart'}])"
    environment = {"TMPDIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=3000)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("germane-")]


def test_open_or_create(tmp_path):
    with Engine.open_or_create(tmp_path / "index", fields=["text", "note"]) as engine:
        engine.add([{"id": "1", "text": "heart"}])
    with Engine.open_or_create(tmp_path / "index") as again:
        assert len(again) == 1
    assert len(Engine.open_or_create(tmp_path / "index", analyzer=Analyzer(), fields=["note", "text"])) == 1
    with pytest.raises(ParameterError, match="another analyzer"):
        Engine.open_or_create(tmp_path / "index", analyzer=Analyzer("none"))
    with pytest.raises(ParameterError, match="other text fields: text, note"):
        Engine.open_or_create(tmp_path / "index", fields=["text"])
    (tmp_path / "file").write_text("x")
    with pytest.raises(IndexFormatError):
        Engine.open_or_create(tmp_path / "file")


def test_mappings_are_documents():
    with Engine.create(":memory:") as engine:
        engine.add(
            [
                {"id": 7, "title": "Copper", "day": datetime.date(2020, 2, 3), "tags": ("a", "b"), "more": {"x": 1}},
                Document("8", {"title": "Zinc"}),
            ]
        )
        engine.update([{"title": "Iron", "id": "8"}])
        assert engine.document("7").fields == {
            "title": "Copper", "day": "2020-02-03", "tags": ["a", "b"], "more": '{"x":1}',
        }  # fmt: skip
        assert engine.search("iron").ids == ["8"]
        for wrong, message in (
            ({"id": "9"}, "in a list"),
            ("text", "in a list"),
            ([{"title": "no id"}], r"documents\[0\] has no usable 'id'.* it has 'title'"),
            ([{"id": "9"}, {"id": ""}], r"documents\[1\] has no usable 'id'"),
            (["text"], r"documents\[0\] is a str: a document is a Document, or a mapping"),
            ([{"id": "9", "x": object()}], r"documents\[0\]: the field 'x' cannot be stored"),
        ):
            with pytest.raises(ParameterError, match=message):
                engine.add(wrong)
        assert len(engine) == 2
