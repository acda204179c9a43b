"""Facets: the values of a field among the documents that a query finds, and how many documents hold each.

Each part of a collection counts its own values (`field_values`), the counts are merged (`merged_counts`), and
`facet_of` chooses what is shown of them. Of words, the documents that hold one of the values shown are counted in a
second round, where there are others.
"""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from germane.arrays import Floats, Integers

MOST_WHOLE = 2.0**53
"""Whole numbers that lie no farther apart are put into classes of whole numbers."""
CROWDED = 0.9
"""A class of numbers is divided further where it holds as large a share of them."""
FEWEST_CLASSES = 4
"""Of fewer none is divided."""


@dataclass(frozen=True, slots=True)
class FacetValue:
    """How many documents hold a value; `high` ends a class of numbers, which begins at `value`.

    A class of whole numbers holds its end, and so does one of values that lie far from the others; of other numbers the
    last class alone does.
    """

    value: str | float
    count: int
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Facet:
    """The values of a field among documents, most frequent first, or classes of numbers, ascending.

    `other`: documents that hold none of the values told; `missing`: documents without the field, or, of a field of
    numbers, without a number. A document with several values counts for each of them.
    """

    field: str
    values: tuple[FacetValue, ...]
    other: int
    missing: int


class WordCounts(NamedTuple):
    """The texts of a field among some documents, in any order, and how many documents hold each; `missing`: none."""

    texts: Sequence[str]
    counts: Integers
    missing: int
    documents: int


class NumberCounts(NamedTuple):
    """The finite numbers of a field among some documents, ascending; `endless`: documents with an infinite one."""

    numbers: Floats
    counts: Integers
    endless: int
    missing: int


ValueCounts: TypeAlias = WordCounts | NumberCounts
Counts = TypeVar("Counts", bound=ValueCounts)
NO_WORDS = WordCounts((), np.empty(0, np.int64), 0, 0)


def merged_counts(parts: Sequence[Counts]) -> Counts:
    """The counts of several parts, all of words or all of numbers, together."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], WordCounts):
        return _merged_words(parts)  # type: ignore[arg-type, return-value]
    return _merged_numbers(parts)  # type: ignore[arg-type, return-value]


def _merged_words(parts: Sequence[WordCounts]) -> WordCounts:
    total: dict[str, int] = {}
    for part in parts:
        for text, count in zip(part.texts, part.counts.tolist(), strict=True):
            total[text] = total.get(text, 0) + count
    counts = np.array([*total.values()], np.int64)
    return WordCounts([*total], counts, sum(part.missing for part in parts), sum(part.documents for part in parts))


def _merged_numbers(parts: Sequence[NumberCounts]) -> NumberCounts:
    distinct, places = np.unique(np.concatenate([part.numbers for part in parts]), return_inverse=True)
    counts = np.zeros(len(distinct), np.int64)
    np.add.at(counts, places, np.concatenate([part.counts for part in parts]))
    return NumberCounts(distinct, counts, sum(part.endless for part in parts), sum(part.missing for part in parts))


def facet_of(field: str, counts: ValueCounts, size: int, holding: Callable[[Sequence[str]], int]) -> Facet:
    """At most `size` values, the most frequent first; numbers that have more fall into so many equal classes.

    `holding`: how many of the documents hold one of some texts.
    """
    if isinstance(counts, NumberCounts):
        return Facet(field, _classes(counts.numbers, counts.counts, size), counts.endless, counts.missing)
    shown = _most_frequent(counts, size)
    held = counts.documents - counts.missing
    covered = held if len(shown) == len(counts.texts) else holding([text for text, _ in shown])
    return Facet(field, tuple(FacetValue(text, n) for text, n in shown), held - covered, counts.missing)


def _most_frequent(counts: WordCounts, size: int) -> list[tuple[str, int]]:
    known = counts.counts.tolist()
    least = min(heapq.nlargest(size, known), default=0)
    near = [(text, n) for text, n in zip(counts.texts, known, strict=True) if n >= least]
    return sorted(near, key=lambda item: (-item[1], item[0]))[:size]


def _number(value: float) -> float:
    """A whole number as such: the year 2001, not 2001.0."""
    return int(value) if value.is_integer() and abs(value) < MOST_WHOLE else value


def _classes(distinct: Floats, counts: Integers, size: int) -> tuple[FacetValue, ...]:
    """Make equally wide classes; where one of them has nearly all values, divide it and join the others.

    So a few mistyped values, a year 20199, leave the rest as they are.
    """
    classes = _equal_classes(distinct, counts, size)
    fullest, total = max(classes, key=lambda each: each.count, default=None), int(counts.sum())
    if fullest is None or fullest.high is None or size < FEWEST_CLASSES:
        return classes
    if not CROWDED * total <= fullest.count < total:
        return classes
    before = sum(each.count for each in classes[: classes.index(fullest)])
    begin, end = np.searchsorted(np.cumsum(counts), (before, before + fullest.count), side="right").tolist()
    lower, upper = _one_class(distinct[:begin], counts[:begin]), _one_class(distinct[end:], counts[end:])
    near = _classes(distinct[begin:end], counts[begin:end], size - len(lower) - len(upper))
    return *lower, *near, *upper


def _one_class(distinct: Floats, counts: Integers) -> tuple[FacetValue, ...]:
    """Put all values, which ascend, in one class; none where there are none."""
    if not len(distinct):
        return ()
    low, high = _number(float(distinct[0])), _number(float(distinct[-1]))
    return (FacetValue(low, int(counts.sum()), None if low == high else high),)


def _equal_classes(distinct: Floats, counts: Integers, size: int) -> tuple[FacetValue, ...]:
    if len(distinct) <= size:
        return tuple(FacetValue(_number(value), n) for value, n in zip(distinct.tolist(), counts.tolist(), strict=True))
    if (distinct == np.floor(distinct)).all() and distinct[-1] - distinct[0] < MOST_WHOLE:  # years, say
        low, width = distinct[0], -(-(distinct[-1] - distinct[0] + 1.0) // size)
        lows = low + width * np.arange(-(-(distinct[-1] - low + 1.0) // width))
        held = np.bincount(((distinct - low) // width).astype(np.int64), counts, len(lows)).astype(np.int64)
        ends = np.minimum(lows + width - 1.0, distinct[-1])
        return tuple(
            FacetValue(_number(low), n, _number(end))
            for low, n, end in zip(lows.tolist(), held.tolist(), ends.tolist(), strict=True)
        )
    steps = np.linspace(0.0, 1.0, size + 1)
    edges = distinct[0] * (1.0 - steps) + distinct[-1] * steps  # whose difference may be larger than any number
    held = np.diff(np.append(0, np.cumsum(counts))[np.searchsorted(distinct, [*edges[:-1], np.inf])])
    return tuple(
        FacetValue(low, n, high)
        for low, high, n in zip(edges[:-1].tolist(), edges[1:].tolist(), held.tolist(), strict=True)
    )
