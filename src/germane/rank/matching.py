"""All documents that a query finds, whatever their order: to be counted, counted by value, or sorted by a field."""

import heapq
from bisect import bisect_left

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.deadline import look
from germane.errors import QueryError
from germane.index.columns import KeywordColumn
from germane.index.sequences import count_with_any, documents_with_any
from germane.rank.facets import Facet, FacetValue
from germane.rank.hits import Hits
from germane.rank.query import ParsedQuery
from germane.rank.searcher import Searcher

MOST_WHOLE = 2.0**53
"""Whole numbers that lie no farther apart are put into classes of whole numbers."""
CROWDED = 0.9
"""A class of numbers is divided further where it holds as large a share of them."""
FEWEST_CLASSES = 4
"""Of fewer none is divided."""

MatchedDocs = list[npt.NDArray[np.int64]]
"""For each segment the documents found, ascending."""


def matching(searcher: Searcher, query: ParsedQuery) -> MatchedDocs:
    """The documents for which the query's structure holds, and that hold one of its words unless it does without."""
    terms, found = [term for term, weight in query.weights.items() if weight > 0.0], []
    for i, live in enumerate(searcher.snapshot.segments):
        look()
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


def facet(searcher: Searcher, found: MatchedDocs, field: str, size: int = 10) -> Facet:
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
        look()
        if column is None:
            without += len(docs)
            continue
        lengths = column.starts[own + 1] - column.starts[own]
        without += int((lengths == 0).sum())
        codes = column.codes[_ranges(column.starts[own], lengths)].astype(np.int64)
        held = np.bincount(codes, minlength=len(column.values))
        told.append((np.repeat(own, lengths), codes, column.values))
        shown = _largest(held, size) if len(found) == 1 else np.flatnonzero(held)  # of several the sums decide
        for code, count in zip(shown.tolist(), held[shown].tolist(), strict=True):
            counts[column.values[code]] = counts.get(column.values[code], 0) + count
    least = heapq.nlargest(size, counts.values())[-1] if counts else 0
    best = sorted(((value, n) for value, n in counts.items() if n >= least), key=lambda item: (-item[1], item[0]))[
        :size
    ]
    values_shown = [value for value, _ in best]
    covered = 0
    for own, codes, values in told:  # a document may hold several of the values shown
        among = np.zeros(len(values), np.bool_)
        among[
            [at for value in values_shown if (at := bisect_left(values, value)) < len(values) and values[at] == value]
        ] = True
        covered += _count_distinct(own[among[codes]])
    return Facet(field, tuple(FacetValue(value, n) for value, n in best), total - without - covered, without)


def _largest(counts: Integers, size: int) -> Integers:
    """Where the largest counts stand, of equal ones the first; none of 0."""
    order = np.argsort(-counts, kind="stable")[:size]
    return order[counts[order] > 0]


def _count_distinct(ascending: Integers) -> int:
    return int(np.count_nonzero(np.diff(ascending))) + 1 if len(ascending) else 0


def _ranges(starts: Integers, lengths: Integers) -> Integers:
    """starts[0], starts[0] + 1, ... (lengths[0] of them), starts[1], ..."""
    ends = np.cumsum(lengths)
    found: Integers = np.arange(int(lengths.sum())) + np.repeat(starts - (ends - lengths), lengths)
    return found


def _number(value: float) -> float:
    """A whole number as such: the year 2001, not 2001.0."""
    return int(value) if value.is_integer() and abs(value) < MOST_WHOLE else value


def _classes(known: Floats, size: int) -> tuple[FacetValue, ...]:
    """Equally wide classes; where nearly all values are in one of them, that one is divided, and the others are joined.

    So a few mistyped values, a year 20199, leave the rest as they are.
    """
    classes = _equal_classes(known, size)
    fullest = max(classes, key=lambda each: each.count, default=None)
    if fullest is None or fullest.high is None or size < FEWEST_CLASSES:
        return classes
    if not CROWDED * len(known) <= fullest.count < len(known):
        return classes
    begin = sum(each.count for each in classes[: classes.index(fullest)])
    below, near, above = np.split(np.sort(known), (begin, begin + fullest.count))
    lower, upper = _one_class(below), _one_class(above)
    return *lower, *_classes(near, size - len(lower) - len(upper)), *upper


def _one_class(values: Floats) -> tuple[FacetValue, ...]:
    """All of the values, which ascend, in one class; none where there are none."""
    if not len(values):
        return ()
    low, high = _number(float(values[0])), _number(float(values[-1]))
    return (FacetValue(low, len(values), None if low == high else high),)


def _equal_classes(known: Floats, size: int) -> tuple[FacetValue, ...]:
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


def sorted_by(searcher: Searcher, found: MatchedDocs, field: str, *, descending: bool, most: int | None = None) -> Hits:
    """The documents found, or the first `most`, by a field's value, then by id; those without it last. Of several
    values the first counts.

    Scores are 0: the order is not the model's.
    """
    numbers, keywords = _values(searcher, found, field)
    segments = np.repeat(np.arange(len(found)), [len(docs) for docs in found])
    docs = np.concatenate([np.empty(0, np.int64), *found])
    keys = numbers if numbers is not None else _places(keywords)
    lacking = np.isnan(keys)
    keys = np.where(lacking, np.inf, -keys if descending else keys)
    if most is not None and most < len(keys):
        last = np.partition(keys, most - 1)[most - 1]
        near = np.flatnonzero(keys <= last)  # with all that are as good as the last one: ids decide
        segments, docs, keys, lacking = segments[near], docs[near], keys[near], lacking[near]
    look()
    hits = Hits(np.zeros(len(docs)), segments, docs)
    order = np.lexsort((_id_order(searcher, hits), lacking, keys))[:most]
    return Hits(hits.scores[order], segments[order], docs[order])


def _places(keywords: list[tuple[KeywordColumn | None, Integers]]) -> Floats:
    """For each document the place of its first value among all values in use, ascending; NaN where it has none."""
    firsts = [_first_codes(column, own) for column, own in keywords]
    if len(keywords) == 1:
        return np.where(firsts[0] < 0, np.nan, firsts[0])
    used = [np.unique(codes[codes >= 0]) for codes in firsts]
    texts = [
        [] if column is None else [column.values[code] for code in codes.tolist()]
        for (column, _), codes in zip(keywords, used, strict=True)
    ]
    place = {text: at for at, text in enumerate(sorted({text for own in texts for text in own}))}
    placed = []
    for codes, own, names in zip(firsts, used, texts, strict=True):
        places = np.array([*(place[name] for name in names), np.nan])
        placed.append(places[np.where(codes < 0, len(names), np.searchsorted(own, codes))])
    return np.concatenate([np.empty(0), *placed])


def _id_order(searcher: Searcher, hits: Hits) -> Integers:
    """For each document a number that ascends with its id."""
    if len(searcher.snapshot.segments) == 1:
        return searcher.snapshot.segments[0].segment.id_rank[hits.docs].astype(np.int64)
    ids = searcher.ids(hits)
    order = np.empty(len(ids), np.int64)
    order[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    return order


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
            column = segment.words(field)
            code = int(_first_codes(column, np.array([doc]))[0])
            found.append(column.values[code] if column is not None and code >= 0 else None)
    return found


def _first_codes(column: KeywordColumn | None, docs: Integers) -> Integers:
    """The number of the first value of each document, -1 where it has none."""
    if column is None or not len(column.codes):
        return np.full(len(docs), -1, np.int64)
    begins = column.starts[docs]
    codes = column.codes[np.minimum(begins, len(column.codes) - 1)].astype(np.int64)
    return np.where(begins < column.starts[docs + 1], codes, -1)


def _values(
    searcher: Searcher, found: MatchedDocs, field: str
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
    return None, [(segment.words(field), docs) for segment, docs in zip(segments, found, strict=True)]
