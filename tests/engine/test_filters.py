"""Filters as values: what passes, in every search, and that no value is ever read as anything but itself."""

import asyncio
import datetime
import json
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from germane import AsyncEngine, Engine, Field, Filter
from germane.engine import RankingRequest, SearchRequest
from germane.errors import ParameterError, QueryError
from germane.types import Topic

BOOKS: list[dict[str, Any]] = [
    {
        "id": "1",
        "text": "heart attack",
        "tenant": "a",
        "year": 2001,
        "open": True,
        "tags": ["x", "y"],
        "day": "2001-05-02",
    },
    {"id": "2", "text": "heart surgery", "tenant": "b", "year": 2020, "open": False, "tags": ["y"], "day": "2020"},
    {"id": "3", "text": "heart and knee", "tenant": "A", "year": 2021, "tags": [], "day": "2021-01-31"},
    {"id": "4", "text": "the heart", "year": 2022.5},
    {"id": "5", "text": "knee", "tenant": "a", "day": "in press"},
]
PASSING: list[tuple[Any, Any, str]] = [
    ({"tenant": "a"}, Field("tenant") == "a", "1 5"),
    ({"tenant": ["a", "b"]}, Field("tenant") == ["a", "b"], "1 2 5"),
    ({"tenant": []}, Field("tenant") == [], ""),
    ({"tenant": {"!=": "a"}}, Field("tenant") != "a", "2 3 4"),
    ({"tenant": {"!=": ["a", "b"]}}, ~(Field("tenant") == ["b", "a"]), "3 4"),
    ({"year": 2020}, Field("year") == np.int64(2020), "2"),
    ({"year": "2020"}, Field("year") == "2020", "2"),
    ({"year": "2020.0"}, Field("year") == "2020.0", ""),
    ({"year": 2022.5}, Field("year") == 2022.5, "4"),
    ({"year": {">=": 2020}}, Field("year") >= 2020, "2 3 4"),
    ({"year": {">": 2020}}, Field("year") > 2020.0, "3 4"),
    ({"year": {">=": 2001, "<": 2021}}, (Field("year") >= 2001) & (Field("year") < 2021), "1 2"),
    ({"year": {">=": 2001, "<=": 2020}}, Field("year").between(2001, 2020), "1 2"),
    ({"open": True}, Field("open") == np.True_, "1"),
    ({"open": [True, False]}, Field("open") == (True, False), "1 2"),
    ({"open": "true"}, Field("open") == "true", ""),
    ({"tags": "y"}, Field("tags") == "y", "1 2"),
    ({"tags": {"==": "y", "!=": "x"}}, (Field("tags") == "y") & (Field("tags") != "x"), "2"),
    ({"tags": {">=": "y", "<=": "y"}}, Field("tags").between("y", "y"), "1 2"),
    ({"tenant": {">=": "a", "<=": "a"}}, Field("tenant").between("a", "a"), "1 5"),
    ({"day": {"<=": "2020"}}, Field("day") <= "2020", "1 2"),
    ({"day": {">": datetime.date(2020, 12, 31)}}, Field("day") > datetime.date(2020, 12, 31), "3"),
    ({"day": "in press"}, Field("day") == "in press", "5"),
    ({"tenant": "a", "year": 2001}, (Field("tenant") == "a") & {"year": 2001}, "1"),
    ({"$or": [{"tenant": "b"}, {"year": {">": 2021}}]}, (Field("tenant") == "b") | (Field("year") > 2021), "2 4"),
    (
        {"$not": {"$or": [{"tenant": "b"}, {"year": 2021}]}},
        ~((Field("tenant") == "b") | (Field("year") == 2021)),
        "1 4 5",
    ),
    ({"$and": [{"tenant": "a"}, {"$not": {"year": 2001}}]}, (Field("tenant") == "a") & ~(Field("year") == 2001), "5"),
    ({}, Filter.of({}), "1 2 3 4 5"),
]


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("books") / "index"
    with Engine.create(folder, vectors={"v": 2}) as engine:
        engine.add([{**book, "vectors": {"v": [1.0, int(book["id"])]}} for book in BOOKS[:3]], threads=1)
        engine.add(BOOKS[3:], threads=1)
        yield engine


@pytest.mark.parametrize(("value", "expression", "ids"), PASSING)
def test_what_passes(books: Engine, value: Any, expression: Filter, ids: str) -> None:
    for given_ in (value, expression):
        assert sorted(books.search("", 10, filter=given_).ids) == ids.split()
        assert books.count(filter=given_) == len(ids.split())


@pytest.mark.parametrize(("value", "expression", "ids"), PASSING)
def test_it_is_plain_data(value: Any, expression: Filter, ids: str) -> None:
    for made in (Filter.of(value), expression):
        assert Filter.of(json.loads(json.dumps(made.to_dict()))) == made
        assert hash(made) == hash(replace(made))
        assert (
            eval(repr(made), vars(__import__("germane.rank.query.conditions", fromlist=[""])) | {"Filter": Filter})
            == made
        )
        with pytest.raises(FrozenInstanceError):
            made.condition = made.condition  # type: ignore[misc]
    assert set(Filter.of(value).fields) <= {name for book in BOOKS for name in book}


def test_every_search_takes_it(books: Engine) -> None:
    wanted = {"tenant": ["a", "b"], "year": {">=": 2010}}
    assert books.search("heart", filter=wanted).ids == ["2"]
    assert books.search("heart", filter=wanted).total == 1
    assert books.search("heart OR knee", filter=Field("tenant") == "a").ids == ["5", "1"]
    assert books.search({"heart": 1.0}, filter=wanted).ids == ["2"]
    assert books.search("heart", filter="tenant:b").ids == ["2"]
    assert books.search("heart", filter="surgery knee").ids == ["2", "3"]
    assert books.search("heart", filter="-surgery tenant:b").ids == []
    assert set(books.search("heart", feedback="rm3", filter={"tenant": ["a"]}).ids) == {"1"}
    assert set(books.search("heart", marks={"5": True}, filter={"tenant": "a"}).ids) == {"1", "5"}
    assert books.search("heart", sort="-year", filter={"year": {"<": 2021}}).ids == ["2", "1"]
    assert books.search("heart", rerank="jm", filter=wanted).ids == ["2"]
    assert books.count("heart", filter=wanted) == 1
    assert books.count("knee") == 2
    assert books.count() == 5
    assert [(v.value, v.count) for v in books.facet("tags", "heart", filter={"tenant": "a"}).values] == [
        ("x", 1),
        ("y", 1),
    ]
    assert [(v.value, v.count) for v in books.facet("tenant").values] == [("a", 2), ("A", 1), ("b", 1)]
    assert books.vector_search([1, 3], filter=wanted).ids == ["2"]
    assert [r.ids for r in books.vector_batch([[1, 3], [1, 1]], filter={"tenant": ["A", "a"]})] == [
        ["3", "1"],
        ["1", "3"],
    ]
    assert books.hybrid_search("heart", [1, 3], filter=wanted).ids == ["2"]
    assert [r.ids for _, r in books.batch([Topic("q", "heart")], filter=wanted)] == [["2"]]
    assert books.pipeline("bm25").search("heart", filter=wanted).ids == ["2"]
    assert list((books.pipeline() % 5).run({"q": "heart"}, filter=wanted)["q"]) == ["2"]


def test_requests_carry_it(books: Engine) -> None:
    request = SearchRequest("heart", filter={"tenant": "b"}, facets=("year",))
    assert request.filter == Filter.of({"tenant": "b"})
    assert [hit.id for hit in books.answer(request).hits] == ["2"]
    assert books.answer(SearchRequest("", filter={"tenant": "b"})).total == 1
    nothing = books.answer(SearchRequest("heart", filter={"tenant": "z"}))
    assert nothing.reason == "nothing found: no document that holds the words meets the query's conditions"
    assert (
        books.answer(SearchRequest("", filter={"tenant": "z"})).reason
        == "nothing found: no document meets the query's conditions"
    )
    assert RankingRequest() == replace(request, filter=None).ranking


def test_the_asynchronous_engine_takes_it(books: Engine) -> None:
    async def searched() -> None:
        engine = AsyncEngine(books)
        assert (await engine.search("heart", filter={"tenant": "b"})).ids == ["2"]
        assert await engine.count("heart", filter={"tenant": "b"}) == 1
        assert (await engine.facet("year", filter={"tenant": "b"})).values[0].value == 2020
        assert [r.ids async for _, r in engine.batch([Topic("q", "heart")], filter={"tenant": "b"})] == [["2"]]
        assert (await engine.hybrid_search("heart", [1, 3], filter={"tenant": "b"})).ids == ["2"]

    asyncio.run(searched())


BAD: list[tuple[Any, str]] = [
    (7, "a filter is a mapping"),
    (Field("year"), "a filter is a mapping"),
    ({"year": {}}, "compared by"),
    ({"year": {"=>": 1}}, "not '=>'"),
    ({"year": {">": 1, ">=": 1}}, "two bounds of one end"),
    ({"year": None}, "not None"),
    ({"year": float("nan")}, "not nan"),
    ({"year": {">": True}}, "no order"),
    ({"year": [[1]]}, r"not \[1\]"),
    ({"$nor": []}, r"'\$nor' is no operator"),
    ({"$or": {"year": 1}}, "takes a list"),
    ({"$not": [1]}, "a filter is a mapping"),
    ({5: 1}, "a field's name is a text"),
    ({"tenant": "x" * 257}, "more than 256 bytes"),
    ({"tenant": list(range(10_001))}, "10,001 values"),
    ({"$or": [{"year": n} for n in range(101)]}, "101 comparisons"),
]


@pytest.mark.parametrize(("wrong", "said"), BAD)
def test_what_is_no_filter(books: Engine, wrong: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        books.search("heart", filter=wrong)


def test_fields_that_cannot_be_filtered_on(books: Engine, tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="the field 'tenent' is in no document"):
        books.search("heart", filter={"$not": {"tenent": "a"}})
    with pytest.raises(QueryError, match="'text' is searched as text"):
        books.search("heart", filter={"text": "heart"})
    with pytest.raises(QueryError, match="holds numbers, 'new' is none"):
        books.search("heart", filter=Field("year") > "new")
    with Engine.create(tmp_path / "empty") as empty:
        assert empty.search("heart", filter={"tenant": "a"}).ids == []


def test_a_filter_is_not_true_or_false() -> None:
    with pytest.raises(TypeError, match="joined by"):
        bool(Field("year") >= 2000 and Field("year") <= 2010)
    with pytest.raises(TypeError, match="two ends"):
        2000 <= Field("year") <= 2010  # noqa: B015
    deep: dict[str, Any] = {"year": 1}
    for _ in range(40):
        deep = {"$not": deep}
    with pytest.raises(ParameterError, match="deeper than 32"):
        Filter.of(deep)


def test_large_whole_numbers_are_told_apart(tmp_path: Path) -> None:
    large = 2**53
    with Engine.create(tmp_path / "index") as engine:
        engine.add([{"id": n, "text": "heart", "tenant": large + n} for n in range(4)])
        for n in range(4):
            assert engine.search("heart", filter={"tenant": large + n}).ids == [str(n)]
            assert engine.search("heart", filter={"tenant": str(large + n)}).ids == [str(n)]
        assert engine.search("heart", filter={"tenant": large + 9}).ids == []


NAMES = ['a"b', "a", "A", 'a" OR tenant:b', "a*", "-a", "(a", "[a]", "a\\", "\\a", "é", "e\u0301", "a..b", ">a", "=a",
         "2020", "02020", "2020-01", "true", "*", "a b", " a", "a ", "\u200ba", "𝒶", "$or", "AND", "\0"]  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20), unique=True, max_size=12))
@example(NAMES)
def test_no_tenant_opens_anothers_documents(names: list[str]) -> None:
    tenants = list(dict.fromkeys([*names, *NAMES[:6]]))
    with Engine.create(":memory:") as engine:
        engine.add([{"id": n, "text": "heart", "tenant": name} for n, name in enumerate(tenants)], threads=1)
        for n, name in enumerate(tenants):
            for wanted in ({"tenant": name}, Field("tenant") == name, {"tenant": {"==": [name]}}):
                assert engine.search("heart", 100, filter=wanted).ids == [str(n)]
            assert engine.count("heart", filter=Field("tenant") != name) == len(tenants) - 1
        assert engine.count(filter=Field("tenant") == tenants) == len(tenants)
