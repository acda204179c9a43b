"""What a search would look into is told before it is done; facets and orders by a field are what counting gives."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from germane import Document
from germane.deadline import limited, look, looking
from germane.engine import Engine
from germane.errors import DeadlineError
from germane.rank.models.base import RankingModel
from germane.rank.query.work import looks
from germane.rank.registry import model_named
from germane.rank.scoring.field_values import facet
from germane.rank.scoring.matching import matching, sorted_by, values_at

VALUES = ["b", "B", "a", "2020", "2020-03-01", "1999", "ä", "zz", "5"]
ROWS: dict[str, dict[str, Any]] = {
    f"d{i * 37 % 100:02}": {
        "text": "heart attack" if i % 3 else "heart of an attack",
        **({"year": 1990 + i % 7} if i % 5 else {}),
        **({"kind": list({VALUES[i % 9]: 1, VALUES[i % 4]: 1}) if i % 2 else VALUES[i % 9]} if i % 11 else {}),
    }
    for i in range(100)
}


@pytest.fixture(scope="module", params=[1, 3], ids=lambda n: f"{n} segments")
def engine(build: Callable[..., Engine], request: pytest.FixtureRequest) -> Engine:
    documents = [Document(name, fields) for name, fields in ROWS.items()]
    return build(*(documents[i :: request.param] for i in range(request.param)))


def first(name: str, field: str) -> Any:
    value = ROWS[name].get(field)
    return value[0] if isinstance(value, list) else value


@pytest.mark.parametrize("field", ["year", "kind"])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("most", [None, 1, 7, 99, 1_000])
def test_the_first_of_an_order_are_the_order_cut(
    engine: Engine, field: str, descending: bool, most: int | None
) -> None:
    found = engine.search("heart", 1)
    searcher = engine.retriever._searcher
    hits = sorted_by(searcher, matching(searcher, found.query), field, descending=descending, most=most)
    known = sorted(name for name in ROWS if first(name, field) is not None)
    known.sort(key=lambda name: first(name, field), reverse=descending)
    expected = [*known, *sorted(name for name in ROWS if first(name, field) is None)]
    assert searcher.ids(hits) == expected[:most]
    told = values_at(searcher, hits, field)
    assert [value if value is None else str(value).removesuffix(".0") for value in told] == [
        None if first(name, field) is None else str(first(name, field)) for name in expected[:most]
    ]


@pytest.mark.parametrize("size", [1, 3, 50])
def test_facets_are_what_counting_gives(engine: Engine, size: int) -> None:
    found = engine.search("heart", 1)
    searcher = engine.retriever._searcher
    told = facet(searcher, matching(searcher, found.query), "kind", size)
    held = {name: set(kind if isinstance(kind := row.get("kind"), list) else [kind]) for name, row in ROWS.items()}
    counts = Counter(value for values in held.values() for value in values if value is not None)
    best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:size]
    assert [(each.value, each.count) for each in told.values] == best
    shown = {value for value, _ in best}
    assert told.missing == sum(values == {None} for values in held.values())
    assert told.other == sum(values != {None} and not values & shown for values in held.values())


def test_the_commonest_words_with_a_beginning_are_chosen_among_many() -> None:
    with Engine.create(":memory:") as engine:
        engine.add({"id": str(i), "text": " ".join(f"pre{j:04}" for j in range(i, 700))} for i in range(40))
        found = engine.search("pre*", 1)
        assert len(found.query.weights) == 500
        assert "pre0000" not in found.query.weights
        assert set(found.query.weights) >= {f"pre{j:04}" for j in range(39, 500)}
        assert found.query.notes is not None
        assert "700 words" in found.query.notes[0]


def looked(engine: Engine, query: str, model: RankingModel | None = None) -> int:
    result = engine.search(query, 1)
    return looks(result.query, result.located[1], model)


def test_looks_grow_with_the_documents_that_must_be_opened(engine: Engine) -> None:
    assert looked(engine, "heart attack") < looked(engine, '"heart attack"') < looked(engine, '"heart attack"~3')
    assert looked(engine, "heart") < looked(engine, "text:heart")
    assert looked(engine, "heart attack", model_named("sdm")) == 3 * 200
    assert looked(engine, '-"heart attack" heart') == looked(engine, "heart") + 100
    one, two = (looked(engine, f"heart year:{years}") for years in ("1991..1993", "1991..1993 kind:a..c"))
    assert one < two


def test_long_documents_are_looked_into_longer() -> None:
    """A document of 150,000 words counted as one of a hundred: an explanation took 10 seconds of a processor."""
    told = []
    for times in (1, 100):
        with Engine.create(":memory:") as engine:
            engine.add({"id": str(i), "text": "heart attack of a king " * 50 * times} for i in range(4))
            sdm, dcm = model_named("sdm"), model_named("dcm")
            asked = (("heart attack", sdm), ('"heart attack"', None), ("text:heart", None), ("heart attack", dcm))
            told.append([looked(engine, query, model) for query, model in asked])
    short, long = told
    assert all(b > 50 * a for a, b in zip(short[:3], long[:3], strict=True))
    assert long[3] == short[3]  # it reads counts alone


@pytest.mark.parametrize("name", ["sdm", "bigram"])
def test_a_model_of_pairs_ends_at_a_look(engine: Engine, name: str) -> None:
    query = "heart attack heart attack"
    model = model_named(name)
    with pytest.raises(DeadlineError), limited(counted(1)):
        engine.explain(query, "d00", model=model)
    assert engine.explain(query, "d00", model=model).score == pytest.approx(
        engine.search(query, 100, model=model).scores.tolist()[engine.search(query, 100, model=model).ids.index("d00")]
    )


def counted(times: int) -> Callable[[], None]:
    left = iter(range(times))

    def check() -> None:
        if next(left, None) is None:
            raise DeadlineError("too late")

    return check


@pytest.mark.parametrize("query", ["heart attack", '"heart attack"', "heart kind:a..c", "hea* attac~1"])
def test_a_search_ends_at_a_look_and_leaves_nothing_behind(engine: Engine, query: str) -> None:
    expected = engine.search(query, 10).ids
    with pytest.raises(DeadlineError), limited(counted(0)):
        engine.search(query, 10)
    assert engine.search(query, 10).ids == expected
    look()  # nobody set a limit


def test_items_are_looked_at_one_by_one() -> None:
    seen: list[int] = []

    def items() -> Iterator[int]:
        for i in range(10):
            seen.append(i)
            yield i

    with pytest.raises(DeadlineError), limited(counted(3)):
        list(looking(items()))
    assert seen == [0, 1, 2, 3]
