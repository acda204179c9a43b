"""Several indexes opened as one answer like one index of all their documents, to the last bit."""

import pickle
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from germane import Engine
from germane.engine import SearchResult
from germane.errors import ParameterError, UnknownDocumentError
from germane.feedback import FEEDBACK_NAMES
from germane.rank import MODEL_NAMES
from germane.rank.scoring.priors import FieldPrior, LengthPrior

PARTS = 4
QUERIES = (
    "w1 w2",
    "+w3 w1^2 -w9",
    '"w1 w2" OR "w4 w5"~3',
    "w1* kind:b",
    "title:w2 year:2001..2003",
    "NOT w1",
    "w0 w1 w2 w3",
)


def documents(n: int) -> list[dict[str, object]]:
    rng = random.Random(7)
    made = []
    for i in range(n):
        text = " ".join(f"w{int(12 * rng.random() ** 2)}" for _ in range(rng.randrange(1, 30)))
        own: dict[str, object] = {
            "id": f"d{i:03}",
            "title": f"w{i % 5} Title{i % 3}",
            "text": text,
            "kind": "ab"[i % 2],
        }
        if i % 4:
            own["year"] = 2000 + i % 6
        made.append({**own, "vectors": {"v": [rng.random() - 0.5 for _ in range(8)]}})
    return made


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("one") / "index"
    with Engine.create(folder, vectors={"v": 8}) as engine:
        engine.add(documents(120))
        engine.delete([f"d{i:03}" for i in range(0, 120, 11)])
        yield engine


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The last part has a second segment."""
    home, made = tmp_path_factory.mktemp("parts"), []
    for part in range(PARTS):
        own = documents(120)[part::PARTS]
        with Engine.create(home / str(part), vectors={"v": 8}) as engine:
            engine.add(own[:20])
            engine.add(own[20:])
            engine.delete([each["id"] for each in own if int(str(each["id"])[1:]) % 11 == 0])
        made.append(home / str(part))
    return made


@pytest.fixture(scope="module")
def several(folders: list[Path]) -> Engine:
    return Engine.open(folders)


def told(result: SearchResult) -> object:
    """All that a result says, floats to the last bit."""
    rows = [(hit.id, hit.score.hex(), hit.fields, hit.snippet) for hit in result]
    facets = [result.facet(name) for name in ("kind", "year")]
    return rows, result.total, result.total_is_exact, facets, result.query.notes


@pytest.mark.parametrize("model", MODEL_NAMES)
def test_every_model(one: Engine, several: Engine, model: str) -> None:
    for query in QUERIES:
        found = one.search(query, 50, model=model)
        assert told(several.search(query, 50, model=model)) == told(found)
        for doc_id in found.ids[:2]:
            if found.query.weights:
                assert several.explain(query, doc_id, model=model) == one.explain(query, doc_id, model=model)


@pytest.mark.parametrize("method", FEEDBACK_NAMES)
def test_every_feedback(one: Engine, several: Engine, method: str) -> None:
    for marks in (None, {"d003": True, "d005": False}):
        found, expected = (each.search("w1 w2", 30, feedback=method, marks=marks) for each in (several, one))
        assert told(found) == told(expected)
        assert found.feedback is not None
        assert expected.feedback is not None
        assert found.feedback.words == expected.feedback.words
        assert found.feedback.moves == expected.feedback.moves
        assert found.feedback.documents == expected.feedback.documents


def test_orders_and_priors(one: Engine, several: Engine) -> None:
    asked = [
        {"sort": "year"}, {"sort": "-kind", "offset": 5}, {"group_by": "year"}, {"min_score": 0.4},
        {"priors": [LengthPrior(0.3), FieldPrior("year")]}, {"rerank": "dirichlet", "depth": 7},
        {"filter": {"kind": "a", "year": {">=": 2002}}},
    ]  # fmt: skip
    for options in asked:
        assert told(several.search("w1 w3", 20, **options)) == told(one.search("w1 w3", 20, **options))
    topic = {"w1": 0.5, "w2": 0.25, "w4": 0.1}
    assert told(several.search(topic, 20)) == told(one.search(topic, 20))


def test_vectors_words_and_groups(one: Engine, several: Engine) -> None:
    vector = [0.1 * i for i in range(8)]
    assert told(several.vector_search(vector, 20)) == told(one.vector_search(vector, 20))
    assert several.hybrid_search("w1", vector, 20).ids == one.hybrid_search("w1", vector, 20).ids
    assert several.search("w1 w2", 60).groups(4) == one.search("w1 w2", 60).groups(4)
    assert several.suggest("titel0 w1") == one.suggest("titel0 w1")
    assert several.learn_mu().value == one.learn_mu().value


def test_looking_up_and_describing(one: Engine, several: Engine) -> None:
    assert several.document("d007") == one.document("d007")
    assert "d000" not in several
    assert len(several) == len(one)
    assert several.stats().terms == one.stats().terms
    assert sorted(each.id for each in several.documents()) == sorted(each.id for each in one.documents())
    with pytest.raises(UnknownDocumentError, match="no document with id 'd000'"):
        several.document("d000")


def test_it_is_searched_only(several: Engine) -> None:
    for change in (lambda: several.add([{"id": "x"}]), lambda: several.delete(["d007"]), several.merge):
        with pytest.raises(ParameterError, match="searched only; open the one that is to be changed"):
            change()
    with pytest.raises(ParameterError, match="a list of their folders"):
        Engine.open([])


def test_it_is_carried_and_refreshed(folders: list[Path], tmp_path: Path) -> None:
    with Engine.create(tmp_path / "more") as more:
        more.add([{"id": "x1", "text": "w1"}])
        both = Engine.open([folders[0], tmp_path / "more"])
        assert len(pickle.loads(pickle.dumps(both))) == len(both)
        more.add([{"id": "x2", "text": "w1"}])
        before = len(both)
        both.refresh()
        assert len(both) == before + 1
