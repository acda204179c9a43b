"""From a record's values to a document's id and fields: field values, ids, and the mapping of names."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Generic, TypeVar

import orjson

from germane.errors import InputError, ParameterError
from germane.types import FieldValue, JSONScalar

ID_NAMES = ("id", "_id", "docno", "doc_id", "docid")
"""Where an id is looked for, in this order, when the mapping does not say."""

VECTORS = "vectors"
"""Where a record has its vectors: an object from names of vector fields to lists of numbers."""

EXACT = frozenset({str, int, bool, type(None)})
"""Types that come out of JSON as they were written; a float may be a whole number that was too long."""
SCALARS = EXACT | {float}

NUMBER = re.compile(r"[+-]?(\d++(\.\d*+)?|\.\d++)([eE][+-]?\d++)?", re.ASCII)
_YEAR = re.compile(r"(?<!\d)(1[4-9]\d\d|20\d\d)(?!\d)")

Value = TypeVar("Value")


def field_value(value: object) -> FieldValue:
    """Scalars and lists of scalars as they are; whatever is nested deeper as compact JSON text.

    >>> field_value([1, {"name": "Salton"}])
    [1, '{"name":"Salton"}']
    """
    if isinstance(value, list):
        return [_scalar(item) for item in value]
    return _scalar(value)


def _scalar(value: object) -> JSONScalar:
    if value is None or isinstance(value, str | int | float):
        return value
    return orjson.dumps(value).decode()


def document_id(value: object) -> str | None:
    """The value as a document id, or None where it cannot be one: ids are non-empty strings, or whole numbers."""
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(int(value))
    return None


def year_of(text: str) -> int | None:
    """The first four-digit year in a date.

    >>> year_of("1998 Mar-Apr")
    1998
    """
    found = _YEAR.search(text)
    return int(found[0]) if found else None


def number_of(text: str) -> float:
    """The number that a text is, true and false being 1 and 0; NaN for any other text.

    >>> number_of("2001"), number_of("true"), number_of("in press")
    (2001.0, 1.0, nan)
    """
    if text in ("true", "false"):
        return float(text == "true")
    number = float(text) if NUMBER.fullmatch(text) else math.nan
    return number if abs(number) < math.inf else math.nan


def is_of_numbers(readable: int, others: int) -> bool:
    """Whether a field that holds a number somewhere is one of numbers: of the documents that have it, `readable` hold a
    number or a text that is one, `others` do not.

    Texts that are numbers count as such, since a column does not tell them apart: else a merge would change the answer.
    """
    return readable > 0 and readable >= others


class NumberFields:
    """Which fields of documents are numbers, and in how many documents they hold something else."""

    def __init__(self) -> None:
        self._numbers: set[str] = set()
        self._readable: Counter[str] = Counter()
        self._others: Counter[str] = Counter()

    def see(self, fields: Mapping[str, FieldValue]) -> None:
        """Count the values of a document."""
        for name, value in fields.items():
            if isinstance(value, int | float):
                self._numbers.add(name)
                self._readable[name] += 1
                continue
            items = [item for item in (value if isinstance(value, list) else [value]) if item is not None]
            if items:
                found = any(not isinstance(item, str) or not math.isnan(number_of(item)) for item in items)
                (self._readable if found else self._others)[name] += 1

    def unreadable(self) -> dict[str, int]:
        """The fields of numbers that hold something else, with the number of documents that do."""
        return {name: n for name, n in self._others.items()
                if name in self._numbers and is_of_numbers(self._readable[name], n)}  # fmt: skip


def squeeze(text: str) -> str:
    """The text on one line, with single spaces."""
    return " ".join(text.split())


class FieldMap(Generic[Value]):
    """Renames a record's columns: `mapping` is from our field to their column.

    Columns that are not mapped keep their names. One whose name is also the name of a mapped field gives way to it. A
    column that turns up in no record at all is an error, since it is almost certainly a misspelling.
    """

    def __init__(self, mapping: Mapping[str, str]) -> None:
        for ours, theirs in mapping.items():
            if not ours or not theirs:
                raise ParameterError(f"the field mapping has an empty name: '{ours}' = '{theirs}'")
        self._mapping = dict(mapping)
        self._columns = frozenset(mapping.values())
        self._unseen = dict(mapping)
        self._example: list[str] | None = None

    def apply(self, record: Mapping[str, Value]) -> dict[str, Value]:
        """The record under our names, mapped fields first."""
        if self._unseen:
            self._example = self._example or list(record)
            self._unseen = {ours: theirs for ours, theirs in self._unseen.items() if theirs not in record}
        renamed = {ours: record[theirs] for ours, theirs in self._mapping.items() if theirs in record}
        for name, value in record.items():
            if name not in self._columns and name not in self._mapping:
                renamed[name] = value
        return renamed

    def check(self, source: str) -> None:
        """At the end of the input: raise where a mapped column was in none of the records."""
        if self._unseen and self._example is not None:
            ours, theirs = next(iter(self._unseen.items()))
            raise missing_column(ours, theirs, self._example, source, None)


def missing_column(ours: str, theirs: str, found: Iterable[str], source: str, line: int | None) -> InputError:
    """The error for a mapped column that is not there."""
    listed = ", ".join(f"'{name}'" for name in found) or "none"
    return InputError(f"no column '{theirs}' for the field '{ours}'; found: {listed}", source=source, line=line)
