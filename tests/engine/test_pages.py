"""Pages of results: totals, offsets, orders by field, groups, facets and snippets, against a look at every document."""

from collections import Counter

import numpy as np
import pytest

from germane import Document, Engine
from germane.engine import SearchResult
from germane.errors import ParameterError, QueryError

COLOURS = ["red", "green", "blue", "grey", "pink", "teal"]


def documents() -> list[Document]:
    random = np.random.default_rng(5)
    made = []
    for i in range(300):
        words = ["apple"] * int(random.integers(0, 3)) + ["pear"] * int(random.integers(0, 3)) + ["plum"] * (i % 7 == 0)
        fields: dict[str, object] = {"title": f"Title {i}", "text": " ".join([*words, "fruit basket of the day"])}
        if i % 5:
            fields["year"] = 1990 + int(random.integers(0, 25))
        if i % 3:
            fields["colour"] = [COLOURS[int(j)] for j in random.choice(6, int(random.integers(1, 3)), replace=False)]
        fields["weight"] = i / 7
        made.append(Document(f"d{i:03}", fields))
    return made


@pytest.fixture(scope="module", params=[1, 3])
def engine(request, tmp_path_factory) -> Engine:
    made = documents()
    engine = Engine.create(tmp_path_factory.mktemp("pages") / "index", fields=("title", "text"))
    for part in range(request.param):
        engine.add(made[part :: request.param])
    engine.delete(["d007", "d100", "d101"])
    return engine


def expected(engine: Engine, *words: str) -> list[Document]:
    """The live documents that hold one of the words."""
    return [doc for doc in engine.documents() if any(word in str(doc.fields["text"]).split() for word in words)]


def test_totals_and_offsets(engine: Engine) -> None:
    found = expected(engine, "apple", "plum")
    whole = engine.search("apple plum", k=1000)
    assert len(whole) == whole.total == len(found)
    assert whole.total_is_exact
    pages = [engine.search("apple plum", k=40, offset=at) for at in range(0, len(found), 40)]
    assert [doc_id for page in pages for doc_id in page.ids] == whole.ids
    assert [hit.rank for page in pages for hit in page] == list(range(1, len(found) + 1))
    assert {page.total for page in pages} == {len(found)}
    beyond = engine.search("apple", offset=5000)
    assert list(beyond) == []
    assert beyond.total == len(expected(engine, "apple"))
    assert not engine.search("apple", feedback="rm3").total_is_exact


@pytest.mark.parametrize("sort", ["year", "-year"])
def test_sorted_by_numbers(engine: Engine, sort: str) -> None:
    found = expected(engine, "pear")
    sign = -1 if sort.startswith("-") else 1
    with_year = sorted((doc for doc in found if "year" in doc.fields), key=lambda d: (sign * d.fields["year"], d.id))
    without = sorted(doc.id for doc in found if "year" not in doc.fields)
    hits = engine.search("pear", k=1000, sort=sort)
    assert hits.ids == [*(doc.id for doc in with_year), *without]
    assert engine.search("pear", k=5, offset=3, sort=sort).ids == hits.ids[3:8]


def test_sorted_by_words(engine: Engine) -> None:
    found = expected(engine, "plum")
    with_colour = sorted((doc.fields["colour"][0], doc.id) for doc in found if "colour" in doc.fields)
    hits = engine.search("plum", k=1000, sort="colour")
    assert hits.ids[: len(with_colour)] == [doc_id for _, doc_id in with_colour]


def test_one_of_each_group(engine: Engine) -> None:
    whole = engine.search("apple pear", k=1000)
    seen, ids = set[float](), []
    for hit in whole:
        year = hit.fields.get("year")
        if year is None or year not in seen:
            ids.append(hit.id)
        seen |= {year} - {None}
    for k in (3, 12, 1000):
        assert engine.search("apple pear", k=k, group_by="year").ids == ids[:k]


def test_least_scores(engine: Engine) -> None:
    whole = engine.search("apple", k=1000)
    least = float(whole.scores[10])
    assert engine.search("apple", k=1000, min_score=least).ids == [hit.id for hit in whole if hit.score >= least]


def test_facets(engine: Engine) -> None:
    found, result = expected(engine, "apple"), engine.search("apple", k=1)
    counts = Counter(colour for doc in found for colour in doc.fields.get("colour", ()))
    facet = result.facet("colour", size=4)
    assert [(value.value, value.count) for value in facet.values] == sorted(
        counts.items(), key=lambda c: (-c[1], c[0])
    )[:4]
    shown = {value.value for value in facet.values}
    assert facet.missing == sum("colour" not in doc.fields for doc in found)
    assert facet.other == sum("colour" in doc.fields and not shown & set(doc.fields["colour"]) for doc in found)
    years = [doc.fields["year"] for doc in found if "year" in doc.fields]
    classes = result.facet("year", size=5)
    assert sum(value.count for value in classes.values) == len(years)
    assert classes.missing == len(found) - len(years)
    assert 1 < len(classes.values) <= 5
    for value in classes.values:
        assert value.value == int(value.value)
        assert value.count == sum(value.value <= year <= value.high for year in years)
    assert len({value.high - value.value for value in classes.values[:-1]}) == 1, "classes of as many years"
    weights = result.facet("weight", size=5)
    for value in weights.values[:-1]:
        assert value.count == sum(value.value <= doc.fields.get("weight", -1.0) < value.high for doc in found)
    every = result.facet("year", size=100)
    assert {value.value: value.count for value in every.values} == Counter(years)


def test_a_result_is_a_sequence(engine: Engine) -> None:
    result = engine.search("apple", k=5)
    assert result[0].id == result.ids[0]
    assert result[-1].rank == 5
    assert [hit.id for hit in result[1:3]] == result.ids[1:3]
    with pytest.raises(IndexError):
        _ = result[5]
    assert str(result).count("\n") == 4
    assert str(engine.search("nothing")) == "(no results)"
    assert [hit["id"] for hit in result.to_dict()["hits"]] == result.ids


def test_a_data_frame(engine: Engine) -> None:
    pytest.importorskip("pandas")
    result = engine.search("apple", k=5)
    frame = result.to_dataframe()
    assert frame["id"].tolist() == result.ids
    assert frame.columns[:3].tolist() == ["rank", "id", "score"]


def test_snippets(engine: Engine) -> None:
    result = engine.search("basket", k=3)
    piece = result.snippet(0)
    assert [piece.text[start:end] for start, end in piece.marks] == ["basket"]


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"offset": -1}, ParameterError, "offset"),
        ({"sort": "yaer"}, QueryError, "there is no field 'yaer'"),
        ({"sort": "year", "feedback": "rm3"}, ParameterError, "sort"),
        ({"sort": "year", "min_score": 1.0}, ParameterError, "min_score"),
        ({"min_score": float("nan")}, ParameterError, "min_score"),
    ],
)
def test_pages_that_make_no_sense(engine: Engine, options: dict, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        engine.search("apple", **options)


def test_fields_of_two_kinds(tmp_path) -> None:
    with Engine.create(tmp_path / "index") as engine:
        engine.add([Document("1", {"text": "apple", "size": 3})])
        engine.add([Document("2", {"text": "apple", "size": "large"})])
        found: SearchResult = engine.search("apple")
        assert [(value.value, value.count) for value in found.facet("size").values] == [(3, 1)]
        assert found.facet("size").missing == 1
        assert engine.search("apple", sort="size").ids == ["1", "2"]
        assert engine.unreadable() == {"size": 1}
