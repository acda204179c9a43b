"""How an answer looks as JSON: `Response.to_dict()` writes it, `schema_of` describes it, `value_of` reads what
`dataclasses.asdict` has written; all from the annotations.

A response is a frozen dataclass. Its fields are the members of the JSON object, in their order; named tuples and other
dataclasses within it become objects too. `Annotated` says what is not plain from a type:

    title: Annotated[str | None, ABSENT] = None       left out while it is None
    result: Annotated[SearchResult, HIDDEN]           for the program only
    in_favour: Annotated[list[str], Name("for")]      known to JSON by another name
    d_z: MaybeNaN                                     null where it is not a finite number
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin, get_type_hints

ABSENT = "left out while it is None"
HIDDEN = "not a member of the JSON object"
NULL_IF_NAN = "null where it is not a finite number"
MaybeNaN: TypeAlias = Annotated[float, NULL_IF_NAN]
"""A number that may be undefined or infinite; JSON knows neither."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN = frozenset({str, int, bool, NoneType})
"""What JSON has as it is; most values are, and are not looked at further."""
_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


class Name(str):
    """What JSON calls a field."""

    __slots__ = ()


class Response:
    """What a frozen dataclass inherits to be an answer."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON has it: dictionaries, lists, strings, finite numbers, booleans and None."""
        content: dict[str, Any] = json_value(self)
        return content


def json_value(value: Any) -> Any:
    """A value as JSON has it; what is not a finite number becomes None."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    shape: Any = type(value)
    if _is_object(shape):
        found = ((member, getattr(value, member.field)) for member in _members(shape))
        return {
            member.key: item if type(item) in _PLAIN else json_value(item)
            for member, item in found
            if not (member.optional and item is None)
        }
    if isinstance(value, Mapping):
        return {str(key): item if type(item) in _PLAIN else json_value(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [item if type(item) in _PLAIN else json_value(item) for item in value]
    if hasattr(value, "item"):  # a number or truth value of NumPy, which need not be imported for that
        return json_value(value.item())
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def value_of(shape: Any, content: Any) -> Any:
    """The value of a dataclass, or of any annotation made of those, that was written as JSON; `ValueError` where it has
    another shape.

    >>> value_of(tuple[int, ...], [1, 2])
    (1, 2)
    """
    if shape is Any:
        return content
    if shape is float and type(content) is int:
        return float(content)
    if shape in _SCALARS:
        return _if(type(content) is shape, content)
    origin, arguments = get_origin(shape), get_args(shape)
    if origin is Annotated:
        return math.nan if NULL_IF_NAN in arguments and content is None else value_of(arguments[0], content)
    if origin is Literal:
        return _if(content in arguments, content)
    if origin in (Union, UnionType):
        return value_of(next(kind for kind in arguments if (kind is NoneType) is (content is None)), content)
    if _is_object(shape):
        hints = get_type_hints(shape, include_extras=True)
        if isinstance(content, list) and hasattr(shape, "_fields"):  # a named tuple
            content = dict(zip(shape._fields, content, strict=True))
        _if(isinstance(content, dict) and content.keys() <= hints.keys(), content)
        try:
            return shape(**{name: value_of(hints[name], item) for name, item in content.items()})
        except TypeError as error:  # one without a default is missing
            raise ValueError(str(error)) from None
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {key: value_of(arguments[1], item) for key, item in _if(isinstance(content, dict), content).items()}
    kind = tuple if origin is tuple else list
    return kind(value_of(arguments[0], item) for item in _if(isinstance(content, list), content))


def _if(right: bool, content: Any) -> Any:
    if not right:
        raise ValueError(f"{content!r} has another shape")
    return content


def schema_of(shape: Any) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a dataclass, or of any annotation made of those, such as `list[HitResponse]`."""
    return {"$schema": DIALECT, **_schema(shape)}


def _schema(shape: Any) -> dict[str, Any]:
    if shape is Any:
        return {}
    if shape in _SCALARS:
        return {"type": _SCALARS[shape]}
    origin, arguments = get_origin(shape), get_args(shape)
    if origin is Annotated:
        return {"type": ["number", "null"]} if NULL_IF_NAN in arguments[1:] else _schema(arguments[0])
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, UnionType):
        return _union([_schema(argument) for argument in arguments])
    if _is_object(shape):
        return _object(shape)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(arguments[1])}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return {"type": "array", "items": _schema(arguments[0])}
    raise TypeError(f"{shape} has no JSON Schema")


def _union(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """One list of types where each part is no more than a type."""
    if all(part.keys() == {"type"} for part in parts):
        kinds = [part["type"] if isinstance(part["type"], list) else [part["type"]] for part in parts]
        return {"type": list(dict.fromkeys(kind for some in kinds for kind in some))}
    return {"anyOf": parts}


def _object(shape: Any) -> dict[str, Any]:
    members = _members(shape)
    return {
        "type": "object",
        "title": shape.__name__,
        "description": " ".join((shape.__doc__ or "").split("\n\n")[0].split()),
        "properties": {member.key: _schema(member.shape) for member in members},
        "required": [member.key for member in members if not member.optional],
        "additionalProperties": False,
    }


class _Member(NamedTuple):
    """A member of a JSON object: the field it is from, its name there, its type, and whether it may be left out."""

    field: str
    key: str
    shape: Any
    optional: bool


def _is_object(shape: Any) -> bool:
    """Whether it is a dataclass or a named tuple."""
    return isinstance(shape, type) and (dataclasses.is_dataclass(shape) or hasattr(shape, "_fields"))


@cache
def _members(shape: Any) -> tuple[_Member, ...]:
    hints = get_type_hints(shape, include_extras=True)
    if dataclasses.is_dataclass(shape):
        names = [field.name for field in dataclasses.fields(shape)]
    else:
        names = list(shape._fields)
    return tuple(_member(name, hints[name]) for name in names if HIDDEN not in get_args(hints[name])[1:])


def _member(name: str, hint: Any) -> _Member:
    told = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    key = next((str(word) for word in told if isinstance(word, Name)), name)
    if ABSENT not in told:
        return _Member(name, key, hint, False)
    kinds = tuple(kind for kind in get_args(get_args(hint)[0]) if kind is not NoneType)
    return _Member(name, key, Union[kinds], True)  # noqa: UP007 - of a tuple made here
