"""From a response to JSON, and to the schema that describes it; jsonschema judges the two together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

import jsonschema
import numpy as np
import pytest

from germane.schema import ABSENT, HIDDEN, MaybeNaN, Name, Response, json_value, schema_of


class Pair(NamedTuple):
    """Two values."""

    word: str
    amount: float


@dataclass(frozen=True)
class Inner:
    """Something within."""

    n: int


@dataclass(frozen=True, slots=True)
class Answer(Response):
    """An answer
    of two lines.

    And more, which the schema does not tell.
    """

    text: str
    kind: Literal["a", "b"]
    maybe: int | None
    share: MaybeNaN
    pairs: tuple[Pair, ...]
    inner: Inner | None
    counts: Mapping[str, int]
    values: list[str | float | list[bool] | None] = field(default_factory=list)
    in_favour: Annotated[list[str], Name("for")] = field(default_factory=list)
    title: Annotated[str | None, ABSENT] = None
    more: Annotated[Inner | tuple[int, ...] | None, ABSENT] = None
    secret: Annotated[object, HIDDEN] = None


def answer(**changes: Any) -> Answer:
    given: dict[str, Any] = {
        "text": "x", "kind": "a", "maybe": None, "share": 0.5, "pairs": (Pair("w", 1.0),), "inner": Inner(3),
        "counts": {"y": 2},
    }  # fmt: skip
    return Answer(**{**given, **changes})


def test_to_dict() -> None:
    found = answer(values=["v", 1.5, [True], None], in_favour=["z"], secret=object()).to_dict()
    assert list(found.items()) == [
        ("text", "x"),
        ("kind", "a"),
        ("maybe", None),
        ("share", 0.5),
        ("pairs", [{"word": "w", "amount": 1.0}]),
        ("inner", {"n": 3}),
        ("counts", {"y": 2}),
        ("values", ["v", 1.5, [True], None]),
        ("for", ["z"]),
    ]
    assert answer(title="t", more=(1, 2)).to_dict()["more"] == [1, 2]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_is_null(value: float) -> None:
    assert answer(share=value).to_dict()["share"] is None
    assert json_value({"a": [value, 1.0]}) == {"a": [None, 1.0]}


def test_numbers_of_numpy_are_numbers() -> None:
    found = json_value([np.float64(0.5), np.float32(0.5), np.int64(3), np.bool_(True), np.float32("nan")])
    assert [(type(value), value) for value in found[:-1]] == [(float, 0.5), (float, 0.5), (int, 3), (bool, True)]
    assert found[-1] is None


def test_what_has_no_form_in_json_is_refused() -> None:
    with pytest.raises(TypeError, match="set has no form"):
        json_value({"a": {1, 2}})
    with pytest.raises(TypeError, match="no JSON Schema"):
        schema_of(set[int])


def test_the_schema() -> None:
    schema = schema_of(Answer)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert (schema["title"], schema["description"]) == ("Answer", "An answer of two lines.")
    assert schema["required"] == ["text", "kind", "maybe", "share", "pairs", "inner", "counts", "values", "for"]
    assert schema["properties"]["maybe"] == {"type": ["integer", "null"]}
    assert schema["properties"]["share"] == {"type": ["number", "null"]}
    assert schema["properties"]["title"] == {"type": "string"}
    assert schema["properties"]["kind"] == {"enum": ["a", "b"]}
    assert schema_of(list[str])["items"] == {"type": "string"}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"maybe": 3, "share": float("nan"), "inner": None, "values": ["s", 1.0, [True, False], None]},
        {"title": "t", "more": Inner(1)},
        {"more": (1, 2)},
    ],
)
def test_answers_fit_their_schema(changes: dict[str, Any]) -> None:
    jsonschema.validate(answer(**changes).to_dict(), schema_of(Answer))


@pytest.mark.parametrize(
    "changes",
    [
        {"text": 3},
        {"kind": "c"},
        {"maybe": "x"},
        {"title": None},
        {"pairs": [{"word": "w"}]},
        {"pairs": [{"word": "w", "amount": 1.0, "other": 2}]},
        {"counts": {"a": "b"}},
        {"inner": {"n": 1.5}},
        {"values": [[1]]},
        {"unknown": 1},
    ],
)
def test_what_does_not_fit_is_noticed(changes: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(answer().to_dict() | changes, schema_of(Answer))
