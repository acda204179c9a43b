"""All documents that a query finds, whatever their order: to be counted, sorted by a field, or read for a facet."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.deadline import look
from germane.errors import QueryError
from germane.index.columns import KeywordColumn
from germane.index.sequences import count_with_any, documents_with_any
from germane.rank.query.resolve import ParsedQuery
from germane.rank.scoring.hits import Hits
from germane.rank.scoring.searcher import Searcher

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


def require_field(field: str, known: frozenset[str]) -> None:
    """Raise an error where no document has the field."""
    if field not in known:
        names = ", ".join(sorted(known)) or "none"
        raise QueryError(f"there is no field '{field}' to count or sort by (fields: {names})", field=field)


# -- an order by a field -----------------------------------------------------------------------------------------------


def sorted_by(
    searcher: Searcher,
    found: MatchedDocs,
    field: str,
    *,
    descending: bool,
    most: int | None = None,
    numeric: bool | None = None,
) -> Hits:
    """The documents found, or the first `most`, by a field's value, then by id; those without it last. Of several
    values the first counts. `numeric`: whether the field is one of numbers; None: as the index has it.

    Scores are 0: the order is not the model's.
    """
    if numeric is None:
        require_field(field, searcher.snapshot.filterable)
        numeric = field in searcher.snapshot.numeric
    keys = numbers_of(searcher, found, field) if numeric else _places(words_of(searcher, field), found)
    segments = np.repeat(np.arange(len(found)), [len(docs) for docs in found])
    docs = np.concatenate([np.empty(0, np.int64), *found])
    keys, lacking = _ascending(keys, descending)
    if most is not None and most < len(keys):
        last = np.partition(keys, most - 1)[most - 1]
        near = np.flatnonzero(keys <= last)  # with all that are as good as the last one: ids decide
        segments, docs, keys, lacking = segments[near], docs[near], keys[near], lacking[near]
    look()
    hits = Hits(np.zeros(len(docs)), segments, docs)
    order = np.lexsort((_id_order(searcher, hits), lacking, keys))[:most]
    return Hits(hits.scores[order], segments[order], docs[order])


def merged_order(
    values: Sequence[str | float | None], ids: Sequence[str], *, descending: bool, most: int | None
) -> Integers:
    """The order of documents of several parts by their values (None: without one) and ids, as `sorted_by` has it."""
    texts = sorted({value for value in values if isinstance(value, str)})
    place = dict(zip(texts, range(len(texts)), strict=True))
    numbers = [np.nan if value is None else place[value] if isinstance(value, str) else value for value in values]
    keys, lacking = _ascending(np.array(numbers, np.float64), descending)
    return np.lexsort((_order_of(ids), lacking, keys))[:most]


def _ascending(keys: Floats, descending: bool) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Keys that ascend along the order, and which documents lack one."""
    lacking = np.isnan(keys)
    return np.where(lacking, np.inf, -keys if descending else keys), lacking


def _places(columns: list[KeywordColumn | None], found: MatchedDocs) -> Floats:
    """For each document the place of its first value among all values in use, ascending; NaN where it has none."""
    firsts = [_first_codes(column, own) for column, own in zip(columns, found, strict=True)]
    if len(columns) == 1:
        return np.where(firsts[0] < 0, np.nan, firsts[0])
    used = [np.unique(codes[codes >= 0]) for codes in firsts]
    texts = [
        [] if column is None else [column.values[code] for code in codes.tolist()]
        for column, codes in zip(columns, used, strict=True)
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
    return _order_of(searcher.ids(hits))


def _order_of(ids: Sequence[str]) -> Integers:
    order = np.empty(len(ids), np.int64)
    order[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    return order


# -- the values of a field ---------------------------------------------------------------------------------------------


def values_at(searcher: Searcher, hits: Hits, field: str, *, numeric: bool | None = None) -> list[str | float | None]:
    """The first value of a field in each document of a ranking, None where it has none; `numeric`: see `sorted_by`."""
    found: list[str | float | None] = []
    if numeric is None:
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


def numbers_of(searcher: Searcher, found: MatchedDocs, field: str) -> Floats:
    """The numbers of all documents found, NaN where there is none."""
    segments = [live.segment for live in searcher.snapshot.segments]
    numbers = [segment.numbers(field)[docs] for segment, docs in zip(segments, found, strict=True)]
    return np.concatenate([np.empty(0), *numbers])


def words_of(searcher: Searcher, field: str) -> list[KeywordColumn | None]:
    """The column of a field of words in each segment."""
    return [live.segment.words(field) for live in searcher.snapshot.segments]


def _first_codes(column: KeywordColumn | None, docs: Integers) -> Integers:
    """The number of the first value of each document, -1 where it has none."""
    if column is None or not len(column.codes):
        return np.full(len(docs), -1, np.int64)
    begins = column.starts[docs]
    codes = column.codes[np.minimum(begins, len(column.codes) - 1)].astype(np.int64)
    return np.where(begins < column.starts[docs + 1], codes, -1)
