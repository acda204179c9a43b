"""All documents that a query finds, whatever their order: to be counted, counted by value, or sorted by a field."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.errors import QueryError
from germane.index.columns import Column, KeywordColumn, NumericColumn, as_words
from germane.index.sequences import count_with_any, documents_with_any
from germane.rank.hits import Hits
from germane.rank.query import ParsedQuery
from germane.rank.searcher import Searcher

MOST_WHOLE = 2.0**53
"""Whole numbers that lie no farther apart are put into classes of whole numbers."""

Found = list[npt.NDArray[np.int64]]
"""For each segment the documents found, ascending."""


def matching(searcher: Searcher, query: ParsedQuery) -> Found:
    """The documents for which the query's structure holds, and that hold one of its words unless it does without."""
    terms, found = [term for term, weight in query.weights.items() if weight > 0.0], []
    for i, live in enumerate(searcher.snapshot.segments):
        segment, mask = live.segment, searcher.mask(i, query.conditions)
        if query.wordless:
            docs = np.arange(segment.n_docs)
        else:
            numbers = segment.find_terms(terms)
            docs = documents_with_any(segment, numbers[numbers >= 0].tolist()).astype(np.int64)
        found.append(docs[mask[docs] > 0] if len(mask) else docs)
    return found


def count(searcher: Searcher, query: ParsedQuery) -> int:
    """How many documents `matching` finds: where no condition narrows them, without telling which."""
    segments = searcher.snapshot.segments
    if query.wordless or query.conditions or any(len(searcher.mask(i, ())) for i in range(len(segments))):
        return sum(map(len, matching(searcher, query)))
    terms = [term for term, weight in query.weights.items() if weight > 0.0]
    total = 0
    for live in segments:
        numbers = live.segment.find_terms(terms)
        total += count_with_any(live.segment, numbers[numbers >= 0].tolist())
    return total


@dataclass(frozen=True, slots=True)
class FacetValue:
    """How many documents hold a value; `high` ends a class of numbers, which begins at `value`.

    A class of whole numbers holds its end; of others the last one alone does.
    """

    value: str | float
    count: int
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Facet:
    """The values of a field among documents, most frequent first, or classes of numbers, ascending.

    `other`: documents that hold none of the values told; `missing`: documents without the field, or, of a field of
    numbers, without a number. A document with
    several values counts for each of them.
    """

    field: str
    values: tuple[FacetValue, ...]
    other: int
    missing: int


def facet(searcher: Searcher, found: Found, field: str, size: int = 10) -> Facet:
    """Count documents by value: at most `size` values; numbers that have more fall into so many equal classes."""
    numbers, keywords = _values(searcher, found, field)
    total = sum(map(len, found))
    if numbers is not None:
        known, endless = numbers[np.isfinite(numbers)], int(np.isinf(numbers).sum())
        return Facet(field, _classes(known, size), endless, total - len(known) - endless)
    counts: dict[str, int] = {}
    without = 0
    told: list[tuple[Integers, Integers, list[str]]] = []
    for docs, (column, own) in zip(found, keywords, strict=True):
        if column is None:
            without += len(docs)
            continue
        lengths = column.starts[own + 1] - column.starts[own]
        without += int((lengths == 0).sum())
        codes = column.codes[_ranges(column.starts[own], lengths)].astype(np.int64)
        distinct, n = np.unique(codes, return_counts=True)
        told.append((np.repeat(own, lengths), codes, column.values))
        for code, count in zip(distinct.tolist(), n.tolist(), strict=True):
            counts[column.values[code]] = counts.get(column.values[code], 0) + count
    best = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:size]
    shown = {value for value, _ in best}
    covered = 0
    for own, codes, values in told:  # a document may hold several of the values shown
        among = np.array([values[code] in shown for code in range(len(values))], np.bool_)
        covered += len(np.unique(own[among[codes]]))
    return Facet(field, tuple(FacetValue(value, n) for value, n in best), total - without - covered, without)


def _ranges(starts: Integers, lengths: Integers) -> Integers:
    """starts[0], starts[0] + 1, ... (lengths[0] of them), starts[1], ..."""
    ends = np.cumsum(lengths)
    found: Integers = np.arange(int(lengths.sum())) + np.repeat(starts - (ends - lengths), lengths)
    return found


def _number(value: float) -> float:
    """A whole number as such: the year 2001, not 2001.0."""
    return int(value) if value.is_integer() and abs(value) < MOST_WHOLE else value


def _classes(known: Floats, size: int) -> tuple[FacetValue, ...]:
    distinct, counts = np.unique(known, return_counts=True)
    if len(distinct) <= size:
        return tuple(FacetValue(_number(value), n) for value, n in zip(distinct.tolist(), counts.tolist(), strict=True))
    if (distinct == np.floor(distinct)).all() and distinct[-1] - distinct[0] < MOST_WHOLE:  # years, say
        low, width = distinct[0], -(-(distinct[-1] - distinct[0] + 1.0) // size)
        lows = low + width * np.arange(-(-(distinct[-1] - low + 1.0) // width))
        held = np.bincount(((known - low) // width).astype(np.int64), minlength=len(lows))
        ends = np.minimum(lows + width - 1.0, distinct[-1])
        return tuple(
            FacetValue(_number(low), n, _number(end))
            for low, n, end in zip(lows.tolist(), held.tolist(), ends.tolist(), strict=True)
        )
    steps = np.linspace(0.0, 1.0, size + 1)
    edges = distinct[0] * (1.0 - steps) + distinct[-1] * steps  # whose difference may be larger than any number
    held, _ = np.histogram(known, edges)
    return tuple(
        FacetValue(low, n, high)
        for low, high, n in zip(edges[:-1].tolist(), edges[1:].tolist(), held.tolist(), strict=True)
    )


def sorted_by(searcher: Searcher, found: Found, field: str, *, descending: bool) -> Hits:
    """The documents found, by a field's value, then by id; those without it last. Of several values the first counts.

    Scores are 0: the order is not the model's.
    """
    numbers, keywords = _values(searcher, found, field)
    segments = np.repeat(np.arange(len(found)), [len(docs) for docs in found])
    docs = np.concatenate([np.empty(0, np.int64), *found])
    keys: list[Any]
    if numbers is not None:
        keys = [None if np.isnan(value) else value for value in numbers.tolist()]
    else:
        keys = [value for column, own in keywords for value in _first_values(column, own)]
    hits = Hits(np.zeros(len(docs)), segments, docs)
    rows = sorted(zip(searcher.ids(hits), range(len(docs)), strict=True))
    with_value = [at for _, at in rows if keys[at] is not None]
    with_value.sort(key=lambda at: keys[at], reverse=descending)
    order = np.array([*with_value, *(at for _, at in rows if keys[at] is None)], np.int64)
    return Hits(hits.scores, segments[order], docs[order])


def values_at(searcher: Searcher, hits: Hits, field: str) -> list[str | float | None]:
    """The first value of a field in each document of a ranking, None where it has none."""
    found: list[str | float | None] = []
    numeric = field in searcher.snapshot.numeric
    for i, doc in zip(hits.segments.tolist(), hits.docs.tolist(), strict=True):
        segment = searcher.snapshot.segments[i].segment
        if numeric:
            value = float(segment.numbers(field)[doc])
            found.append(None if np.isnan(value) else value)
        else:
            found.append(_first_values(_words(segment.column(field)), np.array([doc]))[0])
    return found


def _first_values(column: KeywordColumn | None, docs: Integers) -> list[str | None]:
    if column is None:
        return [None] * len(docs)
    begins, ends = column.starts[docs].tolist(), column.starts[docs + 1].tolist()
    return [column.values[column.codes[at]] if at < end else None for at, end in zip(begins, ends, strict=True)]


def _values(
    searcher: Searcher, found: Found, field: str
) -> tuple[Floats | None, list[tuple[KeywordColumn | None, Integers]]]:
    """The numbers of all documents found, NaN where there is none; or, for a field of words, its columns and the
    documents."""
    known = searcher.snapshot.filterable
    if field not in known:
        names = ", ".join(sorted(known)) or "none"
        raise QueryError(f"there is no field '{field}' to count or sort by (fields: {names})", field=field)
    segments = [live.segment for live in searcher.snapshot.segments]
    if field in searcher.snapshot.numeric:
        numbers = [segment.numbers(field)[docs] for segment, docs in zip(segments, found, strict=True)]
        return np.concatenate([np.empty(0), *numbers]), []
    return None, [(_words(segment.column(field)), docs) for segment, docs in zip(segments, found, strict=True)]


def _words(column: Column | None) -> KeywordColumn | None:
    return as_words(column) if isinstance(column, NumericColumn) else column
