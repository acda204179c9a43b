"""Columns of field values, for filters and priors: every stored field that is not searched as text.

A field whose values are all numbers becomes one float64 for each document (NaN where absent). Any other field becomes a
keyword column: the sorted distinct values, and for each document the numbers of its values. Where some of these are
numbers, and most documents have a value that can be read as one, the field is one of numbers all the same
(`data.fields.is_of_numbers`), and `numbers_in` reads them: a value that is none costs its own document the number, and
can still be filtered on. Whole numbers are exact up to 2^53. Strings longer than MAX_KEYWORD bytes are stored with the
document but cannot be filtered on.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from germane.data.fields import number_of
from germane.index.container import Container, ContainerWriter
from germane.index.strings import pack_strings, string_at
from germane.types import FieldValue

MAX_KEYWORD = 256


@dataclass(frozen=True, slots=True)
class NumericColumn:
    """values[d], NaN where document d has none."""

    values: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class KeywordColumn:
    """Document d holds the values numbered `codes[starts[d]:starts[d + 1]]`, of the sorted list `values`."""

    values: list[str]
    starts: npt.NDArray[np.int64]
    codes: npt.NDArray[np.uint32]


Column = NumericColumn | KeywordColumn


def _items(value: FieldValue) -> Iterable[Any]:
    return value if isinstance(value, list) else (value,)


@dataclass(slots=True)
class ColumnsWriter:
    """Collects the values of the fields not named in `text_fields`."""

    text_fields: frozenset[str]
    _docs: dict[str, list[int]] = field(default_factory=dict)
    _values: dict[str, list[Any]] = field(default_factory=dict)
    _textual: set[str] = field(default_factory=set)
    _numbers: set[str] = field(default_factory=set)
    """Fields that hold something else than a number somewhere, and those that hold one."""
    count: int = 0

    def add(self, fields: Mapping[str, FieldValue]) -> None:
        """Note the values of the next document."""
        if not fields.keys() <= self.text_fields:
            for name, value in fields.items():
                if name not in self.text_fields:
                    self._note(name, value)
        self.count += 1

    def add_all(self, documents: Sequence[Mapping[str, FieldValue]]) -> None:
        """Note the values of the next documents."""
        if self.text_fields.issuperset(chain.from_iterable(documents)):
            self.count += len(documents)
            return
        for fields in documents:
            self.add(fields)

    def _note(self, name: str, value: FieldValue) -> None:
        for item in _items(value):
            if item is None:
                continue
            if not isinstance(item, (int, float)) or isinstance(value, list):
                self._textual.add(name)
                if len(str(item).encode()) > MAX_KEYWORD:
                    continue
            else:
                self._numbers.add(name)
            self._docs.setdefault(name, []).append(self.count)
            self._values.setdefault(name, []).append(item)

    def mixed(self) -> list[str]:
        """The fields of keyword columns that hold a number somewhere."""
        return sorted(self._textual & self._numbers)

    def write(self, container: ContainerWriter) -> dict[str, str]:
        """Write the columns; return field -> kind for the segment's meta data."""
        kinds: dict[str, str] = {}
        for name in sorted(self._values):
            section = _section(name)
            docs = np.array(self._docs[name], np.int64)
            if name in self._textual:
                kinds[name] = "keyword"
                self._write_keywords(container, section, docs, self._values[name])
            else:
                kinds[name] = "numeric"
                values = np.full(self.count, np.nan)
                values[docs] = np.array([float(value) for value in self._values[name]])
                container.section(section, values)
        return kinds

    def _write_keywords(
        self, container: ContainerWriter, section: str, docs: npt.NDArray[np.int64], values: list[Any]
    ) -> None:
        texts = [keyword_text(value) for value in values]
        distinct = sorted(set(texts))
        number = {text: i for i, text in enumerate(distinct)}
        starts = np.zeros(self.count + 1, np.int64)
        np.cumsum(np.bincount(docs, minlength=self.count), out=starts[1:])
        data, offsets = pack_strings(text.encode() for text in distinct)
        container.section(section, np.array([number[text] for text in texts], np.uint32))
        container.section(f"{section}/starts", starts)
        container.section(f"{section}/bytes", data)
        container.section(f"{section}/offsets", offsets)


def numbers_in(column: KeywordColumn) -> npt.NDArray[np.float64]:
    """For each document the first of its values that is a number, NaN where none is."""
    numbers = np.array([number_of(value) for value in column.values], np.float64)
    found = np.full(len(column.starts) - 1, np.nan)
    docs = np.repeat(np.arange(len(found)), np.diff(column.starts))
    values = numbers[column.codes]
    readable = np.flatnonzero(~np.isnan(values))[::-1]  # the first of a document comes last, and stays
    found[docs[readable]] = values[readable]
    return found


def as_words(column: NumericColumn) -> KeywordColumn:
    """The column as one of texts."""
    has = ~np.isnan(column.values)
    texts = [keyword_text(value) for value in column.values[has].tolist()]
    distinct = sorted(set(texts))
    number = {text: i for i, text in enumerate(distinct)}
    starts = np.concatenate([[0], np.cumsum(has)]).astype(np.int64)
    return KeywordColumn(distinct, starts, np.array([number[text] for text in texts], np.uint32))


def _section(name: str) -> str:
    """The section of a field: a slash in its name is written ~1 and a tilde ~0, as in JSON pointers."""
    return "column/" + name.replace("~", "~0").replace("/", "~1")


def keyword_text(value: Any) -> str:
    """A value as a filter writes it: true and false in JSON's spelling, whole numbers without a point."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


def read_column(container: Container, name: str, kind: str) -> Column:
    """Read the column of field `name`."""
    section = _section(name)
    if kind == "numeric":
        return NumericColumn(container[section])
    data, offsets = container[f"{section}/bytes"], container[f"{section}/offsets"]
    try:
        values = [string_at(data, offsets, i).decode() for i in range(len(offsets) - 1)]
    except UnicodeDecodeError:
        raise container.damage(f"the column of field '{name}' is damaged") from None
    return KeywordColumn(values, container[f"{section}/starts"], container[section])
