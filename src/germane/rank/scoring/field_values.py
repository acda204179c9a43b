"""Count the values of a field among documents of one index: its part of a facet (`rank.scoring.facets`)."""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from germane.arrays import Integers
from germane.deadline import look
from germane.index.columns import KeywordColumn
from germane.rank.scoring.facets import NO_WORDS, Facet, NumberCounts, ValueCounts, WordCounts, facet_of, merged_counts
from germane.rank.scoring.matching import MatchedDocs, numbers_of, require_field, words_of
from germane.rank.scoring.searcher import Searcher


class FieldValues:
    """The values of a field in the documents that a query finds in one index. `numeric`: whether they are numbers."""

    def __init__(self, searcher: Searcher, found: MatchedDocs, field: str, *, numeric: bool) -> None:
        self._n_docs = sum(map(len, found))
        self._numbers = numbers_of(searcher, found, field) if numeric else None
        self._codes: list[tuple[Integers, Integers, list[str]]] = []
        """For each segment with the field the documents and the values that they hold, by number, and these."""
        self._missing = 0
        for docs, column in [] if numeric else zip(found, words_of(searcher, field), strict=True):
            look()
            self._read(docs, column)

    def _read(self, docs: Integers, column: KeywordColumn | None) -> None:
        if column is None:
            self._missing += len(docs)
            return
        lengths = column.starts[docs + 1] - column.starts[docs]
        self._missing += int((lengths == 0).sum())
        codes = column.codes[_ranges(column.starts[docs], lengths)].astype(np.int64)
        self._codes.append((np.repeat(docs, lengths), codes, column.values))

    def count(self, most: int | None = None) -> ValueCounts:
        """Count the documents by value. `most`: where there are no other parts, no more are asked for."""
        if self._numbers is not None:
            known, endless = self._numbers[np.isfinite(self._numbers)], int(np.isinf(self._numbers).sum())
            distinct, counts = np.unique(known, return_counts=True)
            return NumberCounts(distinct, counts, endless, len(self._numbers) - len(known) - endless)
        parts: list[WordCounts] = []
        for _, codes, values in self._codes:
            held = np.bincount(codes, minlength=len(values))
            alone = most is not None and len(self._codes) == 1  # else the sums decide
            shown = _largest(held, most + 1) if most is not None and alone else np.flatnonzero(held)
            parts.append(WordCounts([values[code] for code in shown.tolist()], held[shown], 0, 0))
        texts, counts, *_ = merged_counts(parts) if parts else NO_WORDS
        return WordCounts(texts, counts, self._missing, self._n_docs)

    def holding(self, texts: Sequence[str]) -> int:
        """How many of the documents hold one of these texts."""
        total = 0
        for docs, codes, values in self._codes:  # a document may hold several of them
            among = np.zeros(len(values), np.bool_)
            places = [(text, bisect_left(values, text)) for text in texts]
            among[[at for text, at in places if at < len(values) and values[at] == text]] = True
            total += _count_distinct(docs[among[codes]])
        return total


def facet(searcher: Searcher, found: MatchedDocs, field: str, size: int = 10) -> Facet:
    """The facet of a field among documents of one index."""
    require_field(field, searcher.snapshot.filterable)
    values = FieldValues(searcher, found, field, numeric=field in searcher.snapshot.numeric)
    return facet_of(field, merged_counts([values.count(size)]), size, values.holding)


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
