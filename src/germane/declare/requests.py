"""A request as its fields: a frozen dataclass whose annotations hold a `Field`, and dataclasses of such as groups."""

import types
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from germane.declare.fields import CLI, PYTHON, Field
from germane.declare.reading import check
from germane.errors import RequestError
from germane.wording import Name

_KINDS = {str: "string", int: "integer", float: "number", bool: "boolean"}


class Rule(NamedTuple):
    """A rule between fields, with the sentence that a request breaks it by: {0} is the field, {1} the next named.

    It holds for each of `fields` that is given: together with one of `beside`, if there are any; and without one of
    `needs`, if there are any.

    >>> Rule(("sort",), "{0} and {1} do not go together", beside=("min_score",)).check({"sort", "min_score"})
    Traceback (most recent call last):
    germane.errors.RequestError: 'sort' and 'min_score' do not go together
    """

    fields: tuple[str, ...]
    sentence: str
    beside: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    def check(self, names: Collection[str]) -> None:
        """Raise a `RequestError` where the fields that are given break the rule."""
        field = next((name for name in self.fields if name in names), None)
        beside = [name for name in self.beside if name in names]
        if field is None or (self.beside and not beside) or any(name in names for name in self.needs):
            return
        named = (field, *(self.needs or beside))
        parts: list[str] = []
        for number, piece in enumerate(self.sentence.split("{")):
            at, _, rest = piece.partition("}") if number else ("", "", piece)
            parts += [Name(named[int(at)]), rest] if number else [rest]
        raise RequestError(*parts)


@cache
def fields_of(kind: Hashable) -> tuple[Field, ...]:
    """Return the fields of a request, those of its groups and of its mappings among them, in their order."""
    return tuple(_fields_of(kind, ()))


def _fields_of(kind: Any, path: tuple[str, ...]) -> Iterator[Field]:
    for each in fields(kind):
        declared: Any = each.type
        if isinstance(declared, type) and is_dataclass(declared):
            yield from _fields_of(declared, (*path, each.name))
        elif get_origin(declared) is Annotated:
            annotation, stated = get_args(declared)[0], declared.__metadata__[0]
            has_none = each.default is MISSING and each.default_factory is MISSING
            default = None if each.default is MISSING else each.default
            where = (*path, each.name)
            yield stated._replace(
                kind=stated.kind if stated.kind != "string" else _kind(annotation),
                many=get_origin(annotation) is tuple,
                default=default,
                required=has_none,
                path=where,
            )
            yield from (member._replace(path=(*where, member.name)) for member in stated.members)


def _kind(annotation: Any) -> str:
    """Return the kind of value that an annotation stands for: of a union the first, of a tuple that of its items."""
    while get_origin(annotation) in (Union, types.UnionType, tuple):
        annotation = get_args(annotation)[0]
    return _KINDS.get(annotation, "string")


@cache
def spellings(kind: type, door: str) -> dict[str, str]:
    """Return how messages at a door write each field of a request."""
    quote = "{}" if door == CLI else "'{}'"
    return {field.name: quote.format(field.spelling(door) or field.name) for field in fields_of(kind)}


@cache
def offered(kind: Hashable, door: str) -> tuple[Field, ...]:
    """Return the fields that a served door offers, as it has them."""
    return tuple(field.at(door) for field in fields_of(kind) if field.spelling(door))


def made(kind: type, values: Mapping[str, Any], door: str = PYTHON) -> Any:
    """Return the request with these values by the names of a door, checked; what is not given has its default."""
    nested: dict[str, Any] = {}
    for field in fields_of(kind):
        value = values.get(field.spelling(door), field.default)
        if value is field.default or (value is None and len(field.path) > 1):
            if field.required:
                check(field, None)
            continue
        place = nested
        for name in field.path[:-1]:
            place = place.setdefault(name, {})
        place[field.path[-1]] = check(field, value)
    request = _built(kind, nested)
    check_request(request)
    return request


def _built(kind: type, values: Mapping[str, Any]) -> Any:
    groups = {each.name: each.type for each in fields(kind) if isinstance(each.type, type) and is_dataclass(each.type)}
    return kind(**{name: _built(groups[name], value) if name in groups else value for name, value in values.items()})


@cache
def _values_of(kind: Hashable) -> tuple[tuple[Field, ...], Callable[[Any], tuple[Any, ...]]]:
    """Return the fields that are no member of a mapping, and what takes their values from a request at once."""
    members = {member.name for field in fields_of(kind) for member in field.members}
    plain = tuple(field for field in fields_of(kind) if field.name not in members)
    return plain, attrgetter(*(".".join(field.path) for field in plain))


def check_request(request: Any) -> set[str]:
    """Return the names of the fields that ask for something other than nothing or their default.

    Raise a `RequestError` where a value is none of its field, or two fields do not go together.
    """
    kind: Any = type(request)
    plain, values = _values_of(kind)
    names: set[str] = set()
    for field, value in zip(plain, values(request), strict=True):
        if value is field.default or value == {}:
            continue
        for each, entry in ((field, value), *((member, value.get(member.name)) for member in field.members)):
            if not each.members:
                check(each, entry)
            if entry not in (None, (), each.default) and entry is not False:
                names.add(each.name)
    for rule in kind.RULES:
        rule.check(names)
    return names


def value_of(request: Any, field: Field) -> Any:
    """Return the value of a field in a request."""
    *groups, last = field.path
    for name in groups:
        request = getattr(request, name)
    return request.get(last) if hasattr(request, "get") else getattr(request, last)
