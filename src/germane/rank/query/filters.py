"""Filters: conditions on the values of fields that are not texts, and how they are written."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from germane.data.fields import NUMBER, number_of
from germane.errors import QueryError
from germane.index.columns import KeywordColumn, NumericColumn, keyword_text
from germane.index.segment import Segment

_OPERATORS = (">=", "<=", ">", "<", "=")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
EXACT = 2.0**53
"""Whole numbers from here on are not told apart by a column of numbers."""
_DATE = re.compile(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2})(T\S*)?)?)?|(\d{4}) ([A-Za-z]{3})(?: (\d{1,2}))?")


class Readings:
    """What texts are as numbers and as dates, for those that are one: `at` their places, NaN and "" for what is none.

    `LONGEST` characters of a date count: a day and a time.
    """

    LONGEST = 40

    def __init__(self, values: Sequence[str]) -> None:
        begins = [i for i, value in enumerate(values) if value[:1].isdecimal() or value.startswith(("+", "-", "."))]
        own = [values[i] for i in begins]
        self.at = np.array(begins, np.int64)
        self.numbers = np.array([number_of(text) for text in own], np.float64)
        self.days = np.array([(iso_date(text) or "")[: self.LONGEST] for text in own], np.str_)


@lru_cache(maxsize=32)
def _readings_of(column: KeywordColumn) -> Readings:
    """The same of a column, found out once."""
    return Readings(column.values)


@dataclass(frozen=True, slots=True)
class FieldFilter:
    """Documents with a value v of `field` such that low <= v <= high (or < where strict).

    Values are compared as numbers where they and the bounds are numbers, as dates where they and the bounds are dates,
    and as text otherwise; equal texts may differ in case. A bound that is a year or a month stands for all its days:
    `2019..2020` holds the last day of 2020. A value that is only a year is in a range that begins or ends in it. One
    that is neither number nor date never passes bounds that are. A document with several values passes if one of them
    does, a document without the field never.
    """

    field: str
    low: str | None
    high: str | None
    low_strict: bool = False
    high_strict: bool = False

    @property
    def is_value(self) -> bool:
        """Whether one value is asked for, not a range."""
        return self.low is not None and self.low == self.high and not (self.low_strict or self.high_strict)

    def passes(self, segment: Segment) -> npt.NDArray[np.bool_]:
        """True for each document of the segment with such a value."""
        column = segment.column(self.field)
        if isinstance(column, NumericColumn) and self.wrong_number() is None:
            return self._numbers(column.values)
        return _with_value(segment, segment.words(self.field), self._accepted)

    def wrong_number(self) -> str | None:
        """The bound that no field of numbers can be compared with, if there is one."""
        return next((bound for bound in self._bounds if _number(bound) is None), None)

    @property
    def _bounds(self) -> list[str]:
        return [bound for bound in (self.low, self.high) if bound is not None]

    def _numbers(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        passed = ~np.isnan(values)
        if self.low is not None and (low := _number(self.low)) is not None:
            passed &= values > low if self.low_strict else values >= low
        if self.high is not None and (high := _number(self.high)) is not None:
            passed &= values < high if self.high_strict else values <= high
        return passed

    def _accepted(self, values: Sequence[str], read: Readings) -> npt.NDArray[np.bool_]:
        """Which of some texts, ascending, pass."""
        bounds = self._bounds
        numbers = all(NUMBER.fullmatch(bound) for bound in bounds)
        dates = [iso_date(bound) for bound in bounds]
        passed = np.zeros(len(values), np.bool_)
        if None not in dates:
            passed[read.at] = self._days(read.days)
        if numbers:
            known = ~np.isnan(read.numbers)
            passed[read.at[known]] = self._numbers(read.numbers[known])
        if numbers or None not in dates:
            return passed
        if self.is_value:
            folded = bounds[0].casefold()
            return np.array([value.casefold() == folded for value in values], np.bool_)
        begin, end = 0, len(values)
        if self.low is not None:
            begin = (bisect_right if self.low_strict else bisect_left)(values, self.low)
        if self.high is not None:
            end = (bisect_left if self.high_strict else bisect_right)(values, self.high)
        passed[begin:end] = True
        return passed

    def _days(self, days: npt.NDArray[np.str_]) -> npt.NDArray[np.bool_]:
        """Which dates lie between the bounds, each as precise as the bound wants it; where a range is asked for, the
        bound as precise as the date."""
        low, high = iso_date(self.low or ""), iso_date(self.high or "")
        lengths = np.char.str_len(days)
        passed = lengths > 0
        for length in np.unique(lengths[passed]).tolist():
            chosen = np.flatnonzero(lengths == length)
            own, fits = days[chosen], np.ones(len(chosen), np.bool_)
            if low is not None:
                bound = low if self.is_value else low[:length]
                at = own.astype(f"U{len(bound)}")
                fits &= at > bound if self.low_strict else at >= bound
            if high is not None:
                bound = high if self.is_value else high[:length]
                at = own.astype(f"U{len(bound)}")
                fits &= at < bound if self.high_strict else at <= bound
            passed[chosen] = fits
        return passed


@dataclass(frozen=True, slots=True)
class StartsWith:
    """Documents with a value of `field` that begins with the prefix, whatever the case of its letters."""

    field: str
    prefix: str

    def passes(self, segment: Segment) -> npt.NDArray[np.bool_]:
        """True for each document of the segment with such a value."""
        prefix = self.prefix.casefold()

        def accepted(values: Sequence[str], read: Readings) -> npt.NDArray[np.bool_]:
            return np.array([value.casefold().startswith(prefix) for value in values], np.bool_)

        return _with_value(segment, segment.words(self.field), accepted)


@dataclass(frozen=True, slots=True)
class HasValue:
    """Documents with a value of `field` that is one of these, letter for letter.

    Values are compared as `keyword_text` writes them: 5, 5.0 and "5" are one value, "5" and "05" two, "a" and "A" two.
    Nothing in a value has a meaning. `flags`: true and false, which a field of numbers holds as 1 and 0.
    """

    field: str
    values: tuple[str, ...]
    flags: tuple[bool, ...] = ()

    def passes(self, segment: Segment) -> npt.NDArray[np.bool_]:
        """True for each document of the segment with such a value."""
        column = segment.column(self.field)
        if isinstance(column, NumericColumn):
            return self._among_numbers(column, segment)
        passed = np.zeros(segment.n_docs, np.bool_)
        if column is not None:
            texts = {*self.values, *map(keyword_text, self.flags)}
            places = {text: bisect_left(column.values, text) for text in texts}
            codes = [at for text, at in places.items() if at < len(column.values) and column.values[at] == text]
            passed[_documents_of(column)[np.isin(column.codes, codes)]] = True
        return passed

    def _among_numbers(self, column: NumericColumn, segment: Segment) -> npt.NDArray[np.bool_]:
        """True for each document whose number is written so; those too large for the column are read as added."""
        numbers = {text: float(text) for text in self.values if NUMBER.fullmatch(text)}
        exact = [x for text, x in numbers.items() if abs(x) < EXACT and keyword_text(x) == text]
        passed: npt.NDArray[np.bool_] = np.isin(column.values, np.array([*exact, *self.flags], np.float64))
        large = [x for x in numbers.values() if abs(x) >= EXACT]
        for doc in np.flatnonzero(np.isin(column.values, large)).tolist() if large else ():
            passed[doc] = keyword_text(segment.stored.fields(doc)[self.field]) in numbers
        return passed


def _documents_of(column: KeywordColumn) -> npt.NDArray[np.int64]:
    """The document of each of the column's codes."""
    return np.repeat(np.arange(len(column.starts) - 1), np.diff(column.starts))


def _with_value(
    segment: Segment, column: KeywordColumn | None, accepted: Callable[[Sequence[str], Readings], npt.NDArray[np.bool_]]
) -> npt.NDArray[np.bool_]:
    """True for each document that has a value which is accepted, as text; each distinct value is asked for once."""
    passed = np.zeros(segment.n_docs, np.bool_)
    if column is None:
        return passed
    good = accepted(column.values, _readings_of(column))
    passed[_documents_of(column)[good[column.codes]]] = True
    return passed


def iso_date(text: str) -> str | None:
    """The date as YYYY, YYYY-MM or YYYY-MM-DD, a time behind it kept; None for what is none.

    >>> iso_date("2020/3/1"), iso_date("2020 Mar"), iso_date("in press")
    ('2020-03-01', '2020-03', None)
    """
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    year, month, day, time, medline_year, name, medline_day = found.groups()
    if medline_year is not None:
        if name.lower() not in _MONTHS:
            return None
        year, month, day = medline_year, str(_MONTHS.index(name.lower()) + 1), medline_day
    parts = [year, *(f"{int(part):02}" for part in (month, day) if part is not None)]
    return "-".join(parts) + (time or "")


def _number(bound: str) -> float | None:
    if bound in ("true", "false"):
        return float(bound == "true")
    try:
        return float(bound)
    except ValueError:
        return None


def parse_filter(field: str, test: str) -> FieldFilter:
    """Read what stands behind `field:` - a value, `low..high`, or an operator and a value."""
    for operator in _OPERATORS:
        if test.startswith(operator):
            bound = test[len(operator) :]
            if not bound:
                raise QueryError(f"'{field}:{test}' lacks a value", field=field)
            if operator == "=":
                return FieldFilter(field, bound, bound)
            if operator.startswith(">"):
                return FieldFilter(field, bound, None, low_strict=operator == ">")
            return FieldFilter(field, None, bound, high_strict=operator == "<")
    if ".." in test:
        low, _, high = test.partition("..")
        if not low and not high:
            raise QueryError(f"'{field}:{test}' needs at least one end of the range", field=field)
        return FieldFilter(field, low or None, high or None)
    return FieldFilter(field, test, test)
