"""Vectors through the engine: searching, mixing with words, encoders, and what is said of bad input."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from germane import Document, Engine
from germane.data.documents import read_documents
from germane.data.writing import write_documents
from germane.engine.pipelines import fuse
from germane.errors import GermaneError, InputError, ParameterError, UnknownDocumentError
from germane.latent import CLLSA, LSA, OPCA, Pairs, S2Net
from germane.rank.fusion import comb_sum, reciprocal_rank

WORDS = ["heart attack", "cardiac arrest", "knee surgery", "heart surgery", "diet"]
VECTORS = [[1.0, 0.0, 0.1], [0.9, 0.1, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0], None]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """Four documents with vectors and one without, in two segments."""
    with Engine.create(tmp_path / "index", vectors={"v": 3}) as made:
        documents = [
            {"id": str(i), "text": text, "year": 2000 + i, "vectors": {"v": vector}}
            for i, (text, vector) in enumerate(zip(WORDS, VECTORS, strict=True))
        ]
        made.add(documents[:2], threads=1)
        made.add(documents[2:], threads=1)
        yield made


def test_the_nearest(engine: Engine) -> None:
    result = engine.vector_search([2.0, 0.0, 0.0])
    assert result.ids == ["0", "1", "3", "2"]  # never the one without a vector
    cosines = [np.dot(row, [1, 0, 0]) / np.linalg.norm(row) for row in (VECTORS[int(i)] for i in result.ids)]
    assert np.allclose(result.scores, cosines, atol=1e-7)
    assert result[0].fields["text"] == "heart attack"
    assert engine.vector_search([1, 0, 0], filter="year:2001.. -cardiac").ids == ["3", "2"]
    assert engine.vector_search([1, 0, 0], 1, field="v", filter="surgery").ids == ["3"]
    both = engine.vector_batch([[1, 0, 0], [0, 1, 0]], 2)
    assert [found.ids for found in both] == [["0", "1"], ["2", "3"]]
    engine.delete(["0"])
    assert engine.vector_search([1, 0, 0], 1).ids == ["1"]


def test_words_and_vectors_together(engine: Engine) -> None:
    vector = [0.0, 1.0, 0.0]
    words = [(hit.id, hit.score) for hit in engine.search("heart attack", 1000)]
    nearest = [(hit.id, hit.score) for hit in engine.vector_search(vector, 1000)]
    rrf = engine.hybrid_search("heart attack", vector)
    assert list(zip(rrf.ids, rrf.scores, strict=True)) == reciprocal_rank([words, nearest])
    mixed = engine.hybrid_search("heart attack", vector, mix=0.3)
    expected = comb_sum([words, nearest], weights=[0.7, 0.3])
    assert list(zip(mixed.ids, mixed.scores, strict=True)) == expected
    assert engine.hybrid_search("heart attack year:2003", vector).ids == ["3"]  # conditions hold for both
    for required, holds in (("+heart", "heart"), ("+heart attack", "heart")):
        found = engine.hybrid_search(required, vector)  # what a word is required for holds it, found as it may be
        assert found.ids
        assert {*found.ids} <= {*engine.search(holds, 100).ids}
    assert len(engine.hybrid_search("heart", vector)) > len(engine.search("heart", 100))
    composed = fuse(engine.pipeline("bm25"), engine.vector_pipeline("v", vector=vector)).search("heart attack")
    assert composed.ids == rrf.ids


@pytest.mark.parametrize(
    "estimator", [LSA(3), CLLSA(3), OPCA(3), S2Net(n_dimensions=3, n_epochs=2)], ids=lambda each: type(each).__name__
)
def test_projections_are_encoders(tmp_path: Path, estimator: Any) -> None:
    """Titles folded in as documents are added; a query that shares no word with what it finds."""
    pairs = [
        ("cheap car", "Used vehicles for sale"),
        ("used car", "Second-hand vehicles"),
        ("car parts", "Vehicle parts"),
    ]
    pairs += [
        ("cat food", "Dry food for felines"),
        ("kitten meal", "Food for young felines"),
        ("cat toy", "Feline toys"),
    ]
    model = estimator.fit(Pairs.build([(*pair, 1.0) for pair in pairs] * 3))
    titles = {"a": "Vehicles near you", "b": "Felines near you", "c": "Unheard words"}
    matrix = model.encode(list(titles.values()))
    with Engine.create(tmp_path / "index", vectors={"latent": "3:float32:dot"}) as engine:
        engine.add(
            Document(doc_id, {"title": title}, {"latent": row} if row.any() else {})
            for (doc_id, title), row in zip(titles.items(), matrix, strict=True)
        )
        result = engine.vector_search("car", encoder=model)
        latent = model.cosines("car", model.fold_in(list(titles.values()))).latent
        assert result.ids == [["a", "b"][i] for i in np.argsort(-latent[:2])]
        assert np.allclose(result.scores, np.sort(latent[:2])[::-1], atol=1e-6)
        if isinstance(estimator, CLLSA | OPCA):  # which know of the pairs
            assert result.ids[0] == "a"
        assert engine.vector_search("unheard", encoder=model).ids == []
        assert engine.hybrid_search("unheard", encoder=model).ids == ["c"]
        assert engine.vector_pipeline(encoder=model).search("car").ids == result.ids


def test_records_with_vectors_are_read_and_written(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_text('{"id": "1", "text": "a", "vectors": {"v": [1, 2.5]}}\n{"id": "2", "vectors": [1, 2]}\n')
    first, second = read_documents(path)
    assert first.fields == {"text": "a"}
    assert first.vectors == {"v": [1, 2.5]}
    assert (second.fields, second.vectors) == ({"vectors": [1, 2]}, {})  # a field like any other
    write_documents(tmp_path / "copy.jsonl", [first, Document("3", {}, {"v": np.float32([0.5])})])
    copy = list(read_documents(tmp_path / "copy.jsonl"))
    assert [dict(document.vectors) for document in copy] == [{"v": [1, 2.5]}, {"v": [0.5]}]


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("vectors", "sentence"),
    [
        ({"v": [1.0, 2.0]}, "document 'new': the vector has 2 numbers, those of the field have 3"),
        ({"v": [1.0, NAN, 2.0]}, "document 'new': the vector holds nan"),
        ({"v": [1.0, -INF, 2.0]}, "document 'new': the vector holds -inf"),
        ({"v": [1.0, 1e20, 2.0]}, "document 'new': the vector holds 1e+20"),
        ({"v": [0.0, 0.0, 0.0]}, "document 'new': a vector of zeros has no direction"),
        ({"w": [1.0, 2.0, 3.0]}, "document 'new': the index has no vector field 'w': it has v"),
        ({"v": "abc"}, "document 'new': a vector is a list of numbers"),
        ({"v": [[1.0], [2.0, 3.0]]}, "document 'new': a vector is a list of numbers"),
        ({"v": [True, False, True]}, "document 'new': a vector is a list of numbers"),
        ({"v": [1j, 2, 3]}, "document 'new': a vector is a list of numbers"),
        ({"v": 5}, "document 'new': a vector is a list of numbers"),
    ],
)
def test_bad_vectors_of_documents(engine: Engine, vectors: Any, sentence: str) -> None:
    """Nothing is added, and nothing of what was there is lost."""
    before = {doc_id: engine.vector(doc_id) for doc_id in "0123"}
    with pytest.raises(InputError) as raised:
        engine.add([Document("good", {}, {"v": [1, 2, 3]}), Document("new", {}, vectors)])
    assert sentence in str(raised.value)
    assert len(engine) == 5
    assert all(np.array_equal(engine.vector(doc_id), row) for doc_id, row in before.items())
    assert not list(engine.folder.glob("*.tmp"))


@pytest.mark.parametrize(
    ("ids", "matrix", "options", "kind", "sentence"),
    [
        (["0", "0"], [[1, 2, 3]] * 2, {}, ParameterError, "the id '0' is given twice"),
        (["0", "x"], [[1, 2, 3]] * 2, {}, UnknownDocumentError, "no document with id 'x'"),
        (["0"], [[1, 2, 3]] * 2, {}, ParameterError, "1 ids and 2 vectors"),
        (["0"], [[1, 2]], {}, InputError, "document '0': the vector has 2 numbers"),
        (["0", "1"], [[1, 2, 3], [1, NAN, 3]], {}, InputError, "document '1': the vector holds nan"),
        (["0", "1"], [[1, 2, 3], [0, 0, 0]], {}, InputError, "document '1': a vector of zeros"),
        (["0"], [["a", "b", "c"]], {}, InputError, "document '0': a vector is a list of numbers"),
        (["0"], [1, 2, 3], {}, ParameterError, "a row for each id"),
        (["0"], [[1, 2, 3]], {"dtype": "int8"}, ParameterError, "replace=True begins it anew"),
        (["0"], [[1, 2, 3]], {"dtype": "int4", "replace": True}, ParameterError, "not 'int4'"),
        (["0"], [[1, 2, 3]], {"similarity": "l2", "replace": True}, ParameterError, "not by 'l2'"),
        (["0"], [[]], {"replace": True}, ParameterError, "from 1 to 16384"),
    ],
)
def test_bad_matrices(
    engine: Engine, ids: list[str], matrix: Any, options: Any, kind: type[GermaneError], sentence: str
) -> None:
    before = {doc_id: engine.vector(doc_id) for doc_id in "0123"}
    with pytest.raises(kind) as raised:
        engine.set_vectors("v", ids, matrix, **options)
    assert sentence in str(raised.value)
    assert all(np.array_equal(engine.vector(doc_id), row) for doc_id, row in before.items())


def test_bad_queries(engine: Engine) -> None:
    engine.set_vectors("w", ["0"], [[1.0]])
    for sentence, ask in {
        "the query: the vector has 2 numbers": lambda: engine.vector_search([1, 2], field="v"),
        "the query: the vector holds nan": lambda: engine.vector_search([1, 2, NAN], field="v"),
        "the query: a vector of zeros": lambda: engine.vector_search([0, 0, 0], field="v"),
        "query 2: a vector of zeros": lambda: engine.vector_batch([[1, 0, 0], [0, 0, 0]], field="v"),
        "no vector field 'x': it has v, w": lambda: engine.vector_search([1, 2, 3], field="x"),
        "name a vector field: it has v, w": lambda: engine.vector_search([1, 2, 3]),
        "needs an encoder": lambda: engine.vector_search("heart", field="v"),
        "encode and encode_query": lambda: engine.vector_search("heart", field="v", encoder=object()),
        "is a vector already": lambda: engine.vector_search([1, 2, 3], field="v", encoder=LSA()),
        "one vector, not an array of shape (1, 3)": lambda: engine.vector_search([[1, 2, 3]], field="v"),
        "k must be": lambda: engine.vector_search([1, 2, 3], 0, field="v"),
        "mix must lie between 0 and 1": lambda: engine.hybrid_search("heart", [1, 2, 3], field="v", mix=2),
        "or 'rrf', not 'sum'": lambda: engine.hybrid_search("heart", [1, 2, 3], field="v", mix="sum"),
        "a vector or an encoder": lambda: engine.vector_pipeline("v"),
        "no vector field 'y'": lambda: engine.drop_vectors("y"),
        "not the name of a vector field": lambda: engine.set_vectors(" ", ["0"], [[1.0]]),
        "is not a vector field": lambda: Engine.create(":memory:", vectors={"v": "many"}),
    }.items():
        with pytest.raises(GermaneError) as raised:
            ask()
        assert sentence in str(raised.value)
    with Engine.create(":memory:") as empty, pytest.raises(ParameterError, match="the index has no vector field"):
        empty.vector_search([1.0])


def test_stats_tell_of_vectors(engine: Engine) -> None:
    engine.delete(["1"])
    (told,) = engine.stats().vectors
    assert (told.name, told.dimension, told.dtype, told.similarity, told.documents) == ("v", 3, "float32", "cosine", 3)
    assert told.bytes == sum(path.stat().st_size for path in engine.folder.glob("vectors-*"))
