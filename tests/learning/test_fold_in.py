"""Vectors that a learnt model makes: with the documents, of one version alone, and the same bits whenever they come."""

import numpy as np
import pytest

from germane import Document, Engine
from germane.clicks import ClickRules
from germane.engine.models.fold_in import FieldSource
from germane.engine.models.model_store import ModelStore
from germane.engine.models.stage import LatentStage
from germane.errors import InputError, ParameterError
from germane.index.check import check_index
from germane.index.durable import WriterLock
from germane.latent import Pairs, latent_named
from germane.latent.pairs import FoldedDocuments
from germane.learning.loop import health
from germane.text import Analyzer
from germane.types import title_of
from learning.test_model_store import record

KINDS = {
    "opca": {"n_dimensions": 10},
    "bltm-pr": {"n_topics": 12, "n_iterations": 5},
    "combination": {"parts": "wtm,bltm,opca", "n_topics": 7, "n_iterations": 3, "n_dimensions": 9},
}


@pytest.fixture(scope="module")
def pairs(world):
    by_id = {document.id: document for document in world.documents}
    texts = {topic.id: topic.text for topic in world.topics}
    return Pairs.build([(texts[q], str(by_id[d].fields["title"]), 1.0) for q, d, _ in world.judgements], Analyzer())


@pytest.fixture(scope="module")
def models(pairs):
    return {name: latent_named(name, **parameters).fit(pairs) for name, parameters in KINDS.items()}


def serving(engine: Engine, model, kind: str = "opca") -> Engine:
    version = engine.models.add("clicks", model, record(model=kind))
    engine.promote(f"clicks@{version.version}")
    return engine


def rows_of(engine: Engine) -> dict[str, list[float]]:
    return {document.id: engine.vector(document.id, "clicks").tolist() for document in engine.documents()}


@pytest.mark.parametrize("kind", KINDS)
def test_later_or_at_once_the_bits_are_the_same(world, models, kind, tmp_path):
    model = models[kind]
    documents = [
        *world.documents,
        Document("bare", {"text": "titleav unheard words zeta alpha"}),
        Document("empty", {}),
    ]
    with Engine.create(tmp_path / "once") as once, Engine.create(tmp_path / "later") as later:
        once.add(documents)
        serving(once, model, kind)
        serving(later, model, kind)
        assert later.vector_fields["clicks"].dimension == model.width
        for begin in (0, 3, 50, 51):
            end = {0: 3, 3: 50, 50: 51, 51: None}[begin]
            later.add(documents[begin:end])
        assert rows_of(later) == rows_of(once)
        titles = [title_of(document.fields, once.text_fields) for document in documents]
        expected = model.fold_in(titles).vectors
        assert rows_of(once) == {document.id: row.tolist() for document, row in zip(documents, expected, strict=True)}
        later.merge()
        assert rows_of(later) == rows_of(once)
        # a replaced title is another vector; a deleted document has none
        for engine in (once, later):
            engine.update([{"id": "d0-0", "title": "titlebv titlebw"}])
            engine.delete(["d1-1"])
        assert rows_of(later) == rows_of(once)
        assert "d1-1" not in rows_of(once)
        assert rows_of(once)["d0-0"] == model.encode(["titlebv titlebw"])[0].tolist()
        assert check_index(tmp_path / "later").ok
        # the second stage ranks as one that folds in for itself
        for query in (world.topics[3].text, "querybx titlebv filler unheard"):
            told = [(r.ids, r.scores.tolist()) for r in (
                later.search(query, 40, syntax=False, rerank="clicks"),
                later.search(query, 40, syntax=False, rerank=LatentStage(model, 0.3)),
            )]  # fmt: skip
            assert told[0] == told[1]


def test_the_second_stage_reads_what_is_stored(world, models, tmp_path, monkeypatch):
    engine = serving(world.index(tmp_path / "index"), models["opca"])
    assert "clicks" not in engine.vector_fields  # that engine was closed
    with Engine.open(tmp_path / "index") as engine:
        assert engine.fold_in() == len(world.documents)
        query = world.topics[0].text
        expected = engine.search(query, 5, syntax=False, rerank=models["opca"]).ids
        projected, own = [], type(models["opca"]).project

        def project(self, texts):
            projected.append(len(texts))
            return own(self, texts)

        monkeypatch.setattr(type(models["opca"]), "project", project)
        assert engine.search(query, 5, syntax=False, rerank="clicks").ids == expected
        assert set(projected) == {1}  # the query alone
        by_text = engine.vector_search(query, 5, field="clicks")  # the field's own model makes a vector of it
        by_vector = engine.vector_search(models["opca"].encode_query(query), 5, field="clicks")
        assert (by_text.ids, by_text.scores.tolist()) == (by_vector.ids, by_vector.scores.tolist())
        assert len(engine.hybrid_search(query, k=5, syntax=False)) == 5
        (told,) = engine.stats().vectors
        assert (told.name, told.model, told.documents) == ("clicks", "clicks@1", len(world.documents))


def test_vectors_of_two_versions_never_mix(world, models, pairs, tmp_path):
    other = latent_named("opca", n_dimensions=10, ridge=1.0).fit(pairs)
    path = tmp_path / "index"
    with Engine.create(path) as engine:
        engine.add(world.documents)
        serving(engine, models["opca"])
        before = rows_of(engine)
        serving(engine, other)
        assert rows_of(engine) != before
        assert FieldSource.read(engine.vector_fields["clicks"]).reference == "clicks@2"
        engine.rollback()
        assert rows_of(engine) == before
        # Another process writes while a version is promoted: the field stays behind, is not used, and is told.
        with Engine.open(path) as second:
            second.promote("clicks@2")
        engine.models.version("clicks")
        assert FieldSource.read(engine.vector_fields["clicks"]).reference == "clicks@1"
        query = world.topics[0].text
        found = engine.search(query, 5, syntax=False, rerank="clicks")
        alone = engine.search(query, 5, syntax=False, rerank=LatentStage(other, 0.3))
        assert (found.ids, found.scores.tolist()) == (alone.ids, alone.scores.tolist())
        assert "has vectors of clicks@1, which the next change" in health(engine, "clicks", None, ClickRules()).line
        engine.add([{"id": "new", "title": "titleav titleaw"}])
        assert FieldSource.read(engine.vector_fields["clicks"]).reference == "clicks@2"
        titles = [title_of(document.fields, engine.text_fields) for document in engine.documents()]
        assert [*rows_of(engine).values()] == other.encode(titles).tolist()
        assert "has vectors of" not in health(engine, "clicks", None, ClickRules()).line
        # A model without vectors has no field, nor has one that no longer serves.
        serving(engine, latent_named("wtm").fit(pairs), "wtm")
        assert engine.vector_fields == {}
        with pytest.raises(ParameterError, match=r"clicks@3 \(wtm\) keeps no vectors"):
            engine.fold_in()
        engine.rollback()
        assert FieldSource.read(engine.vector_fields["clicks"]).reference == "clicks@2"
        engine.rollback()
        assert engine.rollback() is None
        assert engine.vector_fields == {}
        engine.add([{"id": "newer", "title": "titleav"}])


def test_fields_of_ones_own_are_left_alone(world, models, tmp_path):
    with Engine.create(tmp_path / "index", vectors={"own": 2}) as engine:
        engine.add([{"id": "1", "title": "titleav", "vectors": {"own": [1, 2]}}])
        serving(engine, models["opca"])
        engine.add([{"id": "2", "title": "titleaw", "vectors": {"own": [2, 1]}}])
        assert engine.vector("2", "own").tolist() == pytest.approx((np.array([2, 1]) / np.sqrt(5)).tolist())
        with pytest.raises(InputError, match="document '3': the vectors 'clicks' are made by the model"):
            engine.add([{"id": "3", "title": "titleax", "vectors": {"clicks": [0.5] * 10}}])
        with pytest.raises(InputError, match="vectors are a mapping"):
            engine.add([Document("3", {"title": "titleax"}, [1, 2])])
        with pytest.raises(ParameterError, match="made by the model clicks@1"):
            engine.set_vectors("clicks", ["1"], [[0.5] * 10])
        assert len(engine) == 2
        engine.set_vectors("clicks", ["1"], [[0.5, 0.5]], replace=True)  # taken over
        with pytest.raises(ParameterError, match="a vector field of your own"):
            engine.fold_in()
        serving(engine, models["opca"])
        assert engine.vector_fields["clicks"].dimension == 2
        engine.add([{"id": "3", "title": "titleax"}])
        assert engine.vector("3", "clicks") is None
        assert len(engine.search("queryav", 3, rerank="clicks")) == 3


def test_a_query_is_not_made_of_topics(world, models, tmp_path):
    with Engine.create(tmp_path / "index") as engine:
        engine.add(world.documents)
        serving(engine, models["bltm-pr"], "bltm-pr")
        with pytest.raises(ParameterError, match="makes none of queries"):
            engine.vector_search("queryav", field="clicks")
        assert len(engine.search("queryav", 3, rerank="clicks")) == 3


def test_a_lost_model_keeps_no_documents_out(world, models, tmp_path):
    with Engine.create(tmp_path / "index") as engine:
        engine.add(world.documents[:20])
        serving(engine, models["opca"])
    file = tmp_path / "index" / "models" / "clicks" / "000001.model"
    whole = file.read_bytes()
    assert ModelStore(tmp_path / "index").problems() == []
    for damaged in (None, whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:]):
        file.unlink() if damaged is None else file.write_bytes(damaged)
        with Engine.open(tmp_path / "index") as engine:
            n = len(engine)
            with pytest.warns(UserWarning, match=r"added without vectors 'clicks': .*000001\.model"):
                engine.add(world.documents[n : n + 30])
            assert len(engine) == n + 30
            (problem,) = engine.models.problems()
            assert problem.startswith(str(file))
            assert "germane models rollback" in problem
            with pytest.raises(InputError, match="germane models rollback"):
                engine.search("queryav", 3, rerank="clicks")
    file.write_bytes(whole)
    with Engine.open(tmp_path / "index") as engine:
        assert engine.vector("d9-7", "clicks") is None
        assert engine.fold_in() == len(world.documents)
        assert engine.vector("d9-7", "clicks") is not None


def test_missing_vectors_are_folded_in(world, models, tmp_path):
    """Where a file of vectors was lost, the second stage does not take its documents for ones without words."""
    with Engine.create(tmp_path / "index") as engine:
        engine.add(world.documents)
        serving(engine, models["opca"])
    (tmp_path / "index").joinpath(next(iter((tmp_path / "index").glob("vectors-*"))).name).write_bytes(b"")
    from germane.index.repair import repair_index

    repair_index(tmp_path / "index")
    with Engine.open(tmp_path / "index") as engine:
        query = world.topics[0].text
        found = engine.search(query, 5, syntax=False, rerank="clicks")
        alone = engine.search(query, 5, syntax=False, rerank=LatentStage(models["opca"], 0.3))
        assert (found.ids, found.scores.tolist()) == (alone.ids, alone.scores.tolist())


def test_upgrading_leaves_the_model_behind(world, models, tmp_path):
    with Engine.create(tmp_path / "old", positions=False, vectors={"own": 2}) as engine:
        engine.add(world.documents[:5])
        engine.set_vectors("own", ["d0-0"], [[1, 0]])
        serving(engine, models["opca"])
    with Engine.upgrade(tmp_path / "old", tmp_path / "new") as engine:
        assert set(engine.vector_fields) == {"own"}


def test_a_query_costs_no_vocabulary(models):
    """Of a query, words and a few rows of the matrix are looked at; the vectors are those of a text."""
    model = models["opca"]
    calls = []
    own = type(model.vocabulary).extended
    try:
        type(model.vocabulary).extended = lambda self, texts: (calls.append(texts), own(self, texts))[1]
        for text in ("queryav titlebv", "unheard zeta alpha queryav unheard", "", "nothing"):
            assert model.encode_query(text).tolist() == model.encode([text])[0].tolist()
    finally:
        type(model.vocabulary).extended = own
    assert calls == []


def test_rows_do_not_depend_on_their_neighbours(models):
    titles = ["zeta titleav alpha titleav beta", "titlebv gamma zeta", "alpha beta gamma", "", "titleav titlebw zeta"]
    for model in models.values():
        together: FoldedDocuments = model.fold_in(titles)
        for i, title in enumerate(titles):
            assert model.fold_in([title]).vectors[0].tolist() == together.vectors[i].tolist()


def test_promotion_beside_a_writer(world, models, tmp_path):
    engine = world.index(tmp_path / "index")
    engine.models.add("clicks", models["opca"], record(model="opca"))
    lock = WriterLock(tmp_path / "index")
    try:
        with Engine.open(tmp_path / "index") as other:
            assert other.promote("clicks@1").serving
            assert other.vector_fields == {}
    finally:
        lock.release()
    with Engine.open(tmp_path / "index") as other:
        assert other.fold_in() == len(world.documents)


def test_a_removed_version_takes_its_vectors_away(world, models, pairs, tmp_path):
    path = tmp_path / "index"
    other = latent_named("opca", n_dimensions=10, ridge=1.0).fit(pairs)
    with Engine.create(path) as engine:
        engine.add(world.documents)
        serving(engine, models["opca"])
        before = rows_of(engine)
        serving(engine, other)
        serving(engine, other)
        assert engine.remove_models(["clicks@2"]) == []  # the field is not its
        assert FieldSource.read(engine.vector_fields["clicks"]).reference == "clicks@3"
        with pytest.raises(ParameterError, match="clicks@3 serves"):
            engine.remove_models(["clicks@3"])
        assert engine.remove_models(["clicks@3"], force=True) == []
        assert rows_of(engine) == before
        with Engine.open(path) as second:  # while another writes
            assert second.remove_models(["clicks@1"], force=True) == ["clicks"]
        assert engine.fold_in() == 0
        assert engine.vector_fields == {}
        assert not list(path.glob("vectors-*"))
