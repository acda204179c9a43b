"""Documents that change some fields and keep the others; ids that are whole numbers."""

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from germane import AsyncEngine, Document, Engine
from germane.engine import ExplainRequest, FeedbackRequest, SearchRequest
from germane.errors import ParameterError, UnknownDocumentError
from germane.types import Marks

VECTORS = {"v": 3, "w": "2:int8"}


def filled(folder: Path) -> Engine:
    engine = Engine.create(folder, vectors=VECTORS)
    vectors = {"v": [0.5, 0.25, 1.0], "w": [0.3, 0.7]}
    engine.add(
        [{"id": n, "title": f"Copper {n}", "text": "wire", "year": 2000 + n, "vectors": vectors} for n in range(5)]
    )
    return engine


def vectors_of(engine: Engine, doc_id: str) -> list[Any]:
    """Those of int8 to so many digits as they keep."""
    found = [engine.vector(doc_id, name) for name in VECTORS]
    return [None if each is None else [round(x, 4) for x in each.tolist()] for each in found]


def test_some_fields_change_and_the_others_stay(tmp_path: Path) -> None:
    with filled(tmp_path / "index") as engine:
        before, vectors = engine.document("3"), vectors_of(engine, "3")
        report = engine.update("3", {"year": 1990, "tags": ["a"], "text": None})
        assert (report.added, report.replaced, len(engine)) == (1, 1, 5)
        assert engine.document("3").fields == {"title": "Copper 3", "year": 1990, "tags": ["a"]}
        assert engine.update(np.int64(3), {"year": 1990}).replaced == 1
        assert engine.search("copper year:..1999").ids == ["3"]
        assert engine.search("wire AND title:3").ids == []
        engine.update("3", {"text": "wire", "tags": None, "year": 2003})
        assert engine.document("3") == before
        for _ in range(3):
            engine.update("3", {})
        assert vectors_of(engine, "3") == vectors
    with Engine.open(tmp_path / "index") as engine:
        assert engine.document("3") == before
        assert vectors_of(engine, "3") == vectors


def test_vectors_change_alone(tmp_path: Path) -> None:
    with filled(tmp_path / "index") as engine:
        w = vectors_of(engine, "1")[1]
        engine.update("1", {"vectors": {"v": [1.0, 0.0, 0.0]}})
        assert vectors_of(engine, "1") == [[1.0, 0.0, 0.0], w]
        engine.update("1", {"vectors": {"v": None}})
        assert vectors_of(engine, "1") == [None, w]
        assert engine.document("1").fields == {"title": "Copper 1", "text": "wire", "year": 2001}


def test_many_change_in_one_commit(tmp_path: Path) -> None:
    with filled(tmp_path / "index") as engine:
        generation = engine.stats().generation
        changes = [
            {"id": "0", "year": 1},
            {"id": "new", "year": 2},
            {"id": "0", "title": "Tin"},
            Document("1", {"year": None}),
        ]
        engine.add(changes, on_duplicate="merge")
        assert engine.stats().generation == generation + 1
        assert engine.document("0").fields == {"title": "Tin", "text": "wire", "year": 1}
        assert engine.document("1").fields == {"title": "Copper 1", "text": "wire"}
        assert engine.document("new").fields == {"year": 2}
        engine.update([{"id": "0", "title": "Whole"}])  # as before
        assert engine.document("0").fields == {"title": "Whole"}


def test_what_cannot_be_changed(tmp_path: Path) -> None:
    with filled(tmp_path / "index") as engine:
        generation = engine.stats().generation
        with pytest.raises(UnknownDocumentError, match="'9'"):
            engine.update("9", {"year": 1})
        with pytest.raises(ParameterError, match="an id cannot be changed"):
            engine.update("1", {"id": "2"})
        with pytest.raises(ParameterError, match="takes the fields to change"):
            engine.update("1")  # type: ignore[call-overload]
        with pytest.raises(ParameterError, match="an id and the fields"):
            engine.update([{"id": "1"}], {"year": 1})  # type: ignore[call-overload]
        assert engine.stats().generation == generation


def test_whole_numbers_find_their_documents(tmp_path: Path) -> None:
    with filled(tmp_path / "index") as engine:
        engine.add([Document(7, {"title": "Seven"})])  # type: ignore[arg-type]
        for seven in (7, np.int64(7)):
            assert engine.document(seven) == Document("7", {"title": "Seven"})
            assert seven in engine
        assert 8 not in engine
        assert True not in engine
        assert None not in engine
        assert engine.vector(3, "v") is not None
        assert engine.explain("copper", 3).doc_id == "3"
        assert engine.answer(ExplainRequest("copper", 3)).doc_id == "3"  # type: ignore[arg-type]
        assert (
            engine.search("copper", marks={3: True, 2: False}).ids
            == engine.search("copper", marks={"3": True, "2": False}).ids
        )
        marked = engine.answer(SearchRequest("copper", feedback=FeedbackRequest(relevant=(3,))))  # type: ignore[arg-type]
        assert marked.hits
        assert Marks([1, "2"], [3]) == Marks(["1", "2"], ["3"])
        engine.update(3, {"year": 1})
        assert engine.document("3").fields["year"] == 1
        assert engine.set_vectors("v", [1, "2"], [[0, 0, 1], [0, 1, 0]]) == 2
        assert engine.delete([7, "3"]) == 2
        for wrong in (True, 1.0, None):
            with pytest.raises(ParameterError, match="an id is a text"):
                engine.document(wrong)  # type: ignore[arg-type]


def test_the_asynchronous_engine_changes_fields(tmp_path: Path) -> None:
    async def changed() -> None:
        engine = AsyncEngine(filled(tmp_path / "index"))
        await engine.update(1, {"year": 1})
        await engine.update([{"id": 2, "title": "Whole"}])
        assert (await engine.document(1)).fields == {"title": "Copper 1", "text": "wire", "year": 1}
        assert (await engine.document("2")).fields == {"title": "Whole"}
        await engine.close()

    asyncio.run(changed())
