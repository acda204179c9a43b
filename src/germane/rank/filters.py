"""Conditions on documents: plain values, evaluated over a whole segment at once by `mask_of`."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from germane.errors import QueryError
from germane.index.columns import KeywordColumn, NumericColumn
from germane.index.segment import Segment

_NUMBER = re.compile(r"[+-]?(\d++(\.\d*+)?|\.\d++)([eE][+-]?\d++)?")
_OPERATORS = (">=", "<=", ">", "<", "=")


@dataclass(frozen=True, slots=True)
class FieldFilter:
    """Documents with a value v of `field` such that low <= v <= high (or < where strict); `negated` turns it round.

    Values are compared as numbers where they and the bounds are numbers, as text otherwise; text bounds work for ISO
    dates. A bound that is no number is an error for a field that holds nothing else. A document with several values
    passes if one of them does. A document without the field never passes, but always passes the negated filter.
    """

    field: str
    low: str | None
    high: str | None
    low_strict: bool = False
    high_strict: bool = False
    negated: bool = False

    def passes(self, segment: Segment) -> npt.NDArray[np.bool_]:
        """True for each document of the segment with such a value, whether negated or not."""
        column = segment.column(self.field)
        if column is None:
            return np.zeros(segment.n_docs, np.bool_)
        return self._numbers(column) if isinstance(column, NumericColumn) else self._keywords(column)

    def _numbers(self, column: NumericColumn) -> npt.NDArray[np.bool_]:
        low, high = self._number(self.low), self._number(self.high)
        passed = ~np.isnan(column.values)
        if low is not None:
            passed &= column.values > low if self.low_strict else column.values >= low
        if high is not None:
            passed &= column.values < high if self.high_strict else column.values <= high
        return passed

    def _number(self, bound: str | None) -> float | None:
        if bound is None:
            return None
        if bound in ("true", "false"):
            return float(bound == "true")
        try:
            return float(bound)
        except ValueError:
            raise QueryError(f"the field holds numbers, '{bound}' is none", field=self.field) from None

    def _keywords(self, column: KeywordColumn) -> npt.NDArray[np.bool_]:
        good = np.array([self._accepts(value) for value in column.values], np.bool_)
        docs = np.repeat(np.arange(len(column.starts) - 1), np.diff(column.starts))
        passed = np.zeros(len(column.starts) - 1, np.bool_)
        passed[docs[good[column.codes]]] = True
        return passed

    def _accepts(self, value: str) -> bool:
        bounds = [bound for bound in (self.low, self.high) if bound is not None]
        if all(_NUMBER.fullmatch(text) for text in (value, *bounds)):
            number = np.array([float(value)])
            return bool(self._numbers(NumericColumn(number))[0])
        if self.low is not None and self.low == self.high:
            return value.casefold() == self.low.casefold()
        above = self.low is None or value > self.low or (value == self.low and not self.low_strict)
        below = self.high is None or value < self.high or (value == self.high and not self.high_strict)
        return above and below


@dataclass(frozen=True, slots=True)
class HoldsTerm:
    """Documents that hold an index term; `negated` turns it round."""

    term: str
    negated: bool = False

    def passes(self, segment: Segment) -> npt.NDArray[np.bool_]:
        """True for each document of the segment that holds the term, whether negated or not."""
        passed = np.zeros(segment.n_docs, np.bool_)
        number = int(segment.find_terms([self.term])[0])
        if number >= 0:
            docs, _ = segment.postings(number)
            passed[docs] = True
        return passed


Filter: TypeAlias = FieldFilter | HoldsTerm


def mask_of(condition: Filter, segment: Segment) -> npt.NDArray[np.bool_]:
    """True for each document of the segment that satisfies the condition."""
    passed = condition.passes(segment)
    return ~passed if condition.negated else passed


def filter_to_dict(condition: Filter) -> dict[str, Any]:
    """As JSON has it: what `filter_from_dict` reads."""
    return asdict(condition)


def filter_from_dict(content: Mapping[str, Any]) -> Filter:
    """What `filter_to_dict` gave."""
    return HoldsTerm(**content) if "term" in content else FieldFilter(**content)


def parse_filter(field: str, test: str, *, negated: bool = False) -> FieldFilter:
    """Read what stands behind `field:` - a value, `low..high`, or an operator and a value."""
    for operator in _OPERATORS:
        if test.startswith(operator):
            bound = test[len(operator) :]
            if not bound:
                raise QueryError(f"'{field}:{test}' lacks a value", field=field)
            if operator == "=":
                return FieldFilter(field, bound, bound, negated=negated)
            if operator.startswith(">"):
                return FieldFilter(field, bound, None, low_strict=operator == ">", negated=negated)
            return FieldFilter(field, None, bound, high_strict=operator == "<", negated=negated)
    if ".." in test:
        low, _, high = test.partition("..")
        if not low and not high:
            raise QueryError(f"'{field}:{test}' needs at least one end of the range", field=field)
        return FieldFilter(field, low or None, high or None, negated=negated)
    return FieldFilter(field, test, test, negated=negated)
