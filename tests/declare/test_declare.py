"""Fields read what they say: texts and JSON alike, and as their JSON Schema has it."""

import json
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane.declare import CLI, HTTP, Field, Rule, check, check_request, fields_of, made, read, schema, spellings
from germane.errors import RequestError

FIELDS = (
    Field("k", "How many.", "integer", least=1, most=50),
    Field("offset", "Left out.", "integer", least=0, most=10**12),
    Field("weight", "A share.", "number", least=0, most=1),
    Field("score", "Any number.", "number", least=-1e12, most=1e12),
    Field("flag", "A switch.", "boolean"),
    Field("name", "A name.", least=1, most=5),
    Field("colour", "A colour.", choices=("red", "blue"), noun="colour"),
    Field("names", "Several.", many=True, most=5, items=3),
)
VALUES = st.one_of(
    st.booleans(), st.integers(-3, 60), st.integers(), st.floats(allow_nan=False), st.text(max_size=7),
    st.sampled_from(["red", "many", "true", "12", "-1"]), st.lists(st.text(max_size=6), max_size=5, unique=True),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)  # fmt: skip


def accepts(declared: Field, value: Any) -> bool:
    try:
        check(declared, value)
    except RequestError:
        return False
    return True


@pytest.mark.parametrize("declared", FIELDS, ids=lambda each: each.name)
@given(VALUES)
def test_a_value_fits_where_the_schema_says_so(declared: Field, value: Any) -> None:
    fits = jsonschema.Draft202012Validator(schema(declared)).is_valid(value)
    if declared.kind == "integer" and isinstance(value, float):
        fits = False  # 2.0 is an integer for JSON Schema; nobody counts so
    assert accepts(declared, value) == fits


@pytest.mark.parametrize("declared", FIELDS[:5], ids=lambda each: each.name)
@given(st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False)))
def test_a_text_is_read_as_the_value_that_it_writes(declared: Field, value: Any) -> None:
    try:
        found: Any = read(declared, json.dumps(value))
    except RequestError:
        assert not accepts(declared, value)
    else:
        assert (found, type(found)) == (check(declared, value), type(check(declared, value)))


@pytest.mark.parametrize("text", ["", "-", "--3", "1_0", "٣", "0x1", "nan", "9" * 5_000, "a\0b", "Infinity"])
@pytest.mark.parametrize("number", FIELDS[:4], ids=lambda each: each.name)
def test_what_is_no_number_is_refused(number: Field, text: str) -> None:
    with pytest.raises(RequestError) as raised:
        read(number, text)
    assert len(str(raised.value)) < 150


@dataclass(frozen=True)
class Ranking:
    model: Annotated[str | None, Field("model", "The model.", choices=("a", "b"), noun="model")] = None
    parameters: Annotated[dict[str, float], Field(
        "parameters", "All.", "pairs", spelled={CLI: "--set", HTTP: ""}, members=(Field("mu", "A number.", "setting"),),
    )] = field(default_factory=dict)  # fmt: skip


@dataclass(frozen=True)
class Request:
    RULES: ClassVar = (
        Rule(("sort",), "{0} and {1} do not go together", beside=("least_score",)),
        Rule(("mu",), "{0} belongs to a model: name it with {1}", needs=("model",)),
    )
    query: Annotated[str, Field("query", "The words.", spelled={HTTP: "q"})]
    ranking: Ranking = Ranking()
    sort: Annotated[str | None, Field("sort", "A field.")] = None
    least_score: Annotated[float | None, Field("least_score", "The least score.")] = None
    facets: Annotated[tuple[str, ...], Field("facets", "Fields.", spelled={HTTP: "facet"})] = ()


def test_a_request_is_made_of_groups_and_mappings() -> None:
    values = {"q": "x", "model": "a", "mu": 3.0, "facet": ["year"]}
    request = made(Request, values, HTTP)
    assert request == Request("x", Ranking("a", {"mu": 3.0}), facets=("year",))
    assert check_request(request) == {"query", "model", "parameters", "mu", "facets"}
    kinds = {each.name: (each.kind, each.many, each.required) for each in fields_of(Request)}
    assert kinds["query"] == ("string", False, True)
    assert kinds["least_score"] == ("number", False, False)
    assert kinds["facets"] == ("string", True, False)


@pytest.mark.parametrize(
    ("values", "typed", "asked"),
    [
        ({}, "--query is needed: The words.", "'q' is needed: The words."),
        ({"sort": "year", "least_score": 1.0}, "--sort and --least-score do", "'sort' and 'least_score' do not go"),
        ({"mu": 1.0}, "--mu belongs to a model: name it with --model", "'mu' belongs to a model: name it with 'model'"),
        ({"facets": "year"}, "--facets must be a list, not 'year'", "'facet' must be a list"),
        ({"model": "c"}, "there is no model 'c'; choose one of a, b", "there is no model 'c'"),
    ],
)
def test_each_door_names_its_own_spelling(values: dict[str, Any], typed: str, asked: str) -> None:
    if values:
        values = {"query": "x", **values}
    with pytest.raises(RequestError) as raised:
        made(Request, values)
    assert raised.value.spelled(spellings(Request, CLI)).startswith(typed)
    assert raised.value.spelled(spellings(Request, HTTP)).startswith(asked)


def test_texts_of_a_list_have_their_bounds_where_a_function_reads_them() -> None:
    reader = "germane.engine.filtering.weights_typed"
    weights = Field("weights", "How much fields count.", many=True, most=12, items=2, reader=reader)
    assert read(weights, ["title=3", "text=1"]) == {"title": 3.0, "text": 1.0}
    for texts, message in ((["a=1", "b=1", "c=1"], "given 3 times"), (["x" * 20 + "=1"], "at most 12 characters")):
        with pytest.raises(RequestError, match=message):
            read(weights, texts)
