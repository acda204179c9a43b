"""Filters as values: what a program asks of the fields of documents, without writing a query.

    {"tenant": "a", "year": {">=": 2020}}                         as plain data
    (Field("tenant") == "a") & (Field("year") >= 2020)            the same as an expression

| written | documents that pass |
|---|---|
| `{"tenant": "a"}`, `Field("tenant") == "a"` | with this very value: letters in upper and lower case differ |
| `{"tenant": ["a", "b"]}`, `Field("tenant") == ["a", "b"]` | with one of these values; of an empty list none |
| `{"year": {">=": 2000, "<": 2010}}`, `Field("year") >= 2000` | with one value in the range (`FieldFilter`) |
| `{"tenant": {"!=": "a"}}`, `Field("tenant") != "a"` | without the value, those without the field too |
| `{"a": 1, "b": 2}`, `{"$and": [...]}`, `f & g` | that pass all |
| `{"$or": [...]}`, `f \\| g` | that pass one at least |
| `{"$not": {...}}`, `~f` | that do not pass |

A value is compared whole and never read as a query: quotation marks, brackets, `*`, `-` and `\\` in it mean themselves.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeAlias

import numpy as np

from germane.errors import ParameterError, QueryError
from germane.index.columns import MAX_KEYWORD, keyword_text
from germane.rank.query.conditions import And, Condition, Not, Or, both, either
from germane.rank.query.filters import FieldFilter, HasValue, iso_date
from germane.rank.query.resolve import Searchable

FilterScalar: TypeAlias = str | int | float | bool | date
FilterValue: TypeAlias = Mapping[str, Any]
"""A filter as plain data, as above."""
DEEPEST = 32
"""Filters within filters in plain data."""
MOST_TESTS = 100
"""Comparisons of a field in one filter: each looks at every document."""
MOST_VALUES = 10_000
"""Values in the lists of one filter."""
_LOW, _HIGH = {">=": False, ">": True}, {"<=": False, "<": True}
"""The operators of a range, and whether each leaves its bound out."""
_OPERATORS = ("==", "!=", *_LOW, *_HIGH)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which documents pass, as a value: made by `Field` or `Filter.of`, joined by `&`, `|` and `~`.

    >>> Filter.of({"tenant": "a", "year": {">=": 2020}}) == (Field("tenant") == "a") & (Field("year") >= 2020)
    True
    >>> (~(Field("tenant") == ["a", "b"])).to_dict()
    {'$not': {'tenant': ['a', 'b']}}
    """

    condition: Condition

    @classmethod
    def of(cls, value: "FilterValue | Filter") -> "Filter":
        """The filter that plain data describes; `ParameterError` says what is wrong with it."""
        return (value if isinstance(value, Filter) else cls(_read(value, 0))).checked()

    def checked(self) -> "Filter":
        """Itself, if it asks for no more than `MOST_TESTS` comparisons and `MOST_VALUES` values."""
        tests = list(self._tests())
        values = sum(len(part.values) for part in tests if isinstance(part, HasValue))
        for n, most, what in ((len(tests), MOST_TESTS, "comparisons"), (values, MOST_VALUES, "values")):
            if n > most:
                raise ParameterError(f"a filter of {n:,} {what}, where {most:,} can be asked")
        return self

    def to_dict(self) -> dict[str, Any]:
        """The filter as plain data, which JSON holds and `of` reads."""
        return _plain(self.condition)

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields it looks at."""
        return tuple(dict.fromkeys(part.field for part in self._tests()))

    @property
    def tests(self) -> tuple[FieldFilter | HasValue, ...]:
        """Its comparisons."""
        return tuple(self._tests())

    def _tests(self) -> Iterator[FieldFilter | HasValue]:
        waiting = [self.condition]
        while waiting:
            match waiting.pop():
                case And(parts) | Or(parts):
                    waiting += reversed(parts)
                case Not(part):
                    waiting.append(part)
                case FieldFilter() | HasValue() as test:
                    yield test

    def __and__(self, other: "Filter | FilterValue") -> "Filter":
        return Filter(both((self.condition, Filter.of(other).condition)))

    def __or__(self, other: "Filter | FilterValue") -> "Filter":
        return Filter(either((self.condition, Filter.of(other).condition)))

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> "Filter":
        return Filter(self.condition.part if isinstance(self.condition, Not) else Not(self.condition))

    def __bool__(self) -> bool:
        raise TypeError(
            "filters are joined by &, | and ~, not by and, or and not; a range has two ends: (f >= a) & (f < b)"
        )


class Field:
    """A field of the documents, to be compared: `Field("year") >= 2020` is a `Filter`.

    >>> (Field("year") >= 2020).to_dict()
    {'year': {'>=': '2020'}}
    """

    __slots__ = ("name",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str) -> None:
        self.name = _name(name)

    def __repr__(self) -> str:
        return f"Field({self.name!r})"

    def __eq__(self, value: object) -> Filter:  # type: ignore[override]
        return Filter(_compared(self.name, {"==": value})).checked()

    def __ne__(self, value: object) -> Filter:  # type: ignore[override]
        return Filter(_compared(self.name, {"!=": value})).checked()

    def __ge__(self, value: FilterScalar) -> Filter:
        return Filter(_compared(self.name, {">=": value}))

    def __gt__(self, value: FilterScalar) -> Filter:
        return Filter(_compared(self.name, {">": value}))

    def __le__(self, value: FilterScalar) -> Filter:
        return Filter(_compared(self.name, {"<=": value}))

    def __lt__(self, value: FilterScalar) -> Filter:
        return Filter(_compared(self.name, {"<": value}))

    def between(self, low: FilterScalar, high: FilterScalar) -> Filter:
        """Documents with a value from `low` to `high`, both among them."""
        return Filter(_compared(self.name, {">=": low, "<=": high}))


def _read(value: object, depth: int) -> Condition:
    if not isinstance(value, Mapping):
        raise ParameterError(
            f"a filter is a mapping like {{'tenant': 'a', 'year': {{'>=': 2020}}}}, or made of Field(...), "
            f"not {value!r:.60}"
        )
    if depth > DEEPEST:
        raise ParameterError(f"a filter nested deeper than {DEEPEST}")
    return both(_entry(name, test, depth) for name, test in value.items())


def _entry(name: object, test: object, depth: int) -> Condition:
    """One member of plain data: an operator with filters, or a field with what is asked of it."""
    if name in ("$and", "$or"):
        if not isinstance(test, list | tuple):
            raise ParameterError(f"'{name}' takes a list of filters, not {test!r:.60}")
        parts = [Filter.of(part).condition if isinstance(part, Filter) else _read(part, depth + 1) for part in test]
        return both(parts) if name == "$and" else either(parts)
    if name == "$not":
        return (~Filter(test.condition if isinstance(test, Filter) else _read(test, depth + 1))).condition
    return _compared(_name(name), test if isinstance(test, Mapping) else {"==": test})


def _name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise ParameterError(f"a field's name is a text, not {name!r:.60}")
    if name.startswith("$"):
        raise ParameterError(f"'{name[:60]}' is no operator of filters: they are $and, $or and $not")
    return name


def _compared(field: str, asked: Mapping[Any, Any]) -> Condition:
    """What is asked of one field, by operator: all of it, a range of one value."""
    unknown = [operator for operator in asked if operator not in _OPERATORS]
    if unknown or not asked:
        found = f"not {unknown[0]!r:.60}" if unknown else "and there is none"
        raise ParameterError(f"'{field}': a field is compared by {', '.join(_OPERATORS)}, {found}")
    parts: list[Condition] = []
    if "==" in asked:
        parts.append(_any_of(field, asked["=="]))
    if "!=" in asked:
        parts.append(Not(_any_of(field, asked["!="])))
    low, low_strict = _bound(field, asked, _LOW)
    high, high_strict = _bound(field, asked, _HIGH)
    if low is not None and low == high and not (low_strict or high_strict) and _is_word(low):
        parts.append(HasValue(field, (low,)))
    elif low is not None or high is not None:
        parts.append(FieldFilter(field, low, high, low_strict, high_strict))
    return both(parts)


def _bound(field: str, asked: Mapping[Any, Any], operators: Mapping[str, bool]) -> tuple[str | None, bool]:
    """The bound at one end, and whether it is left out."""
    given = [operator for operator in operators if operator in asked]
    if len(given) > 1:
        raise ParameterError(f"'{field}': {given[0]} and {given[1]} are two bounds of one end: give one")
    if not given:
        return None, False
    if isinstance(asked[given[0]], bool | np.bool_):
        raise ParameterError(f"'{field}': true and false have no order: compare by == or !=")
    return _text(field, asked[given[0]]), operators[given[0]]


def _any_of(field: str, value: object) -> HasValue:
    given = list(value) if isinstance(value, list | tuple | set | frozenset | np.ndarray) else [value]
    flags = [bool(item) for item in given if isinstance(item, bool | np.bool_)]
    texts = [_text(field, item) for item in given if not isinstance(item, bool | np.bool_)]
    if isinstance(value, set | frozenset):
        texts.sort()
    return HasValue(field, tuple(dict.fromkeys(texts)), tuple(dict.fromkeys(flags)))


def _text(field: str, value: object) -> str:
    """A value or a bound as a column of words has it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return keyword_text(value)
    if not isinstance(value, str):
        raise ParameterError(
            f"'{field}' is compared with a text, a number, a date, or a list of them, not {value!r:.60}"
        )
    if len(value.encode("utf-8", "surrogatepass")) > MAX_KEYWORD:
        raise ParameterError(
            f"'{field}' is compared with a text of more than {MAX_KEYWORD} bytes: longer ones are not kept"
        )
    return str(value)


def _is_word(bound: str) -> bool:
    """Whether a bound is neither number nor date."""
    return FieldFilter("", bound, None).wrong_number() is not None and iso_date(bound) is None


def _plain(condition: Condition) -> dict[str, Any]:
    match condition:
        case And(parts):
            return {"$and": [_plain(part) for part in parts]}
        case Or(parts):
            return {"$or": [_plain(part) for part in parts]}
        case Not(part):
            return {"$not": _plain(part)}
        case HasValue(field, values, flags):
            listed = [*values, *flags]
            return {field: listed[0] if len(listed) == 1 else listed}
        case FieldFilter(field, low, high, low_strict, high_strict):
            ends = {">" if low_strict else ">=": low, "<" if high_strict else "<=": high}
            return {field: {operator: bound for operator, bound in ends.items() if bound is not None}}
        case _:
            raise ParameterError(f"a {type(condition).__name__} of words is no filter as plain data")


def check_fields(wanted: Filter, there: Searchable) -> None:
    """Refuse a field that no document has as a value, and a bound that a field of numbers cannot be compared with."""
    for test in wanted._tests():
        if test.field not in there.filters:
            known = ", ".join(sorted(there.filters)) or "none"
            how = (
                "is searched as text: ask for its words in the query"
                if test.field in there.texts
                else "is in no document"
            )
            raise QueryError(f"the field '{test.field}' {how} (fields to filter on: {known})", field=test.field)
        if isinstance(test, FieldFilter) and test.field in there.numeric and (wrong := test.wrong_number()) is not None:
            raise QueryError(f"the field '{test.field}' holds numbers, '{wrong}' is none", field=test.field)
