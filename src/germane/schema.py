"""JSON serialisation and JSON Schema of responses, derived from the annotations of dataclasses.

`Response.to_dict()` serialises a response, `schema_of` returns its JSON Schema, and `value_of` parses what
`dataclasses.asdict` returned.

A response is a frozen dataclass. Its fields become the members of a JSON object, in the same order; nested dataclasses
and named tuples become objects too. `Annotated` adds what a type alone does not express:

    title: Annotated[str | None, ABSENT] = None       omitted while it is None
    result: Annotated[SearchResult, HIDDEN]           never serialised
    in_favour: Annotated[list[str], Name("for")]      serialised under another name
    d_z: MaybeNaN                                     null where it is not a finite number
"""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin, get_type_hints

ABSENT = "left out while it is None"
HIDDEN = "not a member of the JSON object"
NULL_IF_NAN = "null where it is not a finite number"
MaybeNaN: TypeAlias = Annotated[float, NULL_IF_NAN]
"""A number that may be nan or infinite; JSON has neither, and null stands for both."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN = frozenset({str, int, bool, NoneType})
"""Types that serialise as they are. Most values have one of them, so they are tested first."""
_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


class Name(str):
    """The name of a field in JSON, where it differs from the name in Python."""

    __slots__ = ()


class Response:
    """Base class of responses: frozen dataclasses that serialise to JSON."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the response as dictionaries, lists, strings, finite numbers, booleans and None."""
        content: dict[str, Any] = json_value(self)
        return content


def json_value(value: Any) -> Any:
    """Return a value as JSON types; nan and infinity become None. Raise `TypeError` for a value without a JSON form."""
    kind: Any = type(value)
    return _writer(kind)(value)


@cache
def _writer(kind: Any) -> Callable[[Any], Any]:
    """Return what writes the values of a class; it is chosen once for each class."""
    if issubclass(kind, float):
        return _number
    if issubclass(kind, str | int | NoneType):
        return _as_it_is
    if _is_object(kind):
        return partial(_written, tuple((member.field, member.key, member.optional) for member in _members(kind)))
    if issubclass(kind, Mapping):
        return _mapping
    if issubclass(kind, Sequence):
        return _list
    if hasattr(kind, "item"):  # a number or truth value of NumPy, which need not be imported for that
        return _scalar
    raise TypeError(f"{kind.__name__} has no form in JSON")


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _as_it_is(value: Any) -> Any:
    return value


def _scalar(value: Any) -> Any:
    return json_value(value.item())


def _written(members: tuple[tuple[str, str, bool], ...], value: Any) -> dict[str, Any]:
    content = {}
    for field, key, optional in members:
        item = getattr(value, field)
        if type(item) in _PLAIN:
            if item is not None or not optional:
                content[key] = item
        else:
            content[key] = json_value(item)
    return content


def _mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key): item if type(item) in _PLAIN else json_value(item) for key, item in value.items()}


def _list(value: Sequence[Any]) -> list[Any]:
    return [item if type(item) in _PLAIN else json_value(item) for item in value]


def value_of(shape: Any, content: Any) -> Any:
    """Parse JSON types into a dataclass, or into any annotation made of dataclasses; the inverse of `asdict`.

    Raise `ValueError` where the content has another shape.

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
    """Return the JSON Schema (2020-12) of a dataclass, or of an annotation made of them: `list[HitResponse]`."""
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
    """Return a list of types where each part is a plain type; else `anyOf`."""
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
    """A member of a JSON object: the field of the dataclass, the key in JSON, the type, and whether it is optional."""

    field: str
    key: str
    shape: Any
    optional: bool


def _is_object(shape: Any) -> bool:
    """Return whether a type is a dataclass or a named tuple."""
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
    annotations = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    key = next((str(annotation) for annotation in annotations if isinstance(annotation, Name)), name)
    if ABSENT not in annotations:
        return _Member(name, key, hint, False)
    kinds = tuple(kind for kind in get_args(get_args(hint)[0]) if kind is not NoneType)
    return _Member(name, key, Union[kinds], True)  # noqa: UP007 - of a tuple made here
