"""From a ranking to the page that was asked for: an order by a field, one result a group, a least score, an offset."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from germane.errors import ParameterError
from germane.lm.parameters import number, whole
from germane.rank.hits import Hits
from germane.rank.matching import matching, sorted_by, values_at
from germane.rank.query import ParsedQuery
from germane.rank.searcher import Searcher


@dataclass(frozen=True, slots=True)
class Paging:
    """`sort`: a field, with - before it for a descending order, instead of the score. `group_by`: of documents with the
    same value of a field the best alone. `min_score`: none below. `offset`: results left out at the beginning.
    """

    offset: int = 0
    sort: str | None = None
    group_by: str | None = None
    min_score: float | None = None

    def __post_init__(self) -> None:
        whole("offset", self.offset, least=0)
        if self.min_score is not None:
            number("min_score", self.min_score)
            if self.sort is not None:
                raise ParameterError("'min_score' and 'sort' do not go together: a field's order has no scores")

    def page(self, ranked: Callable[[int], Hits], k: int, query: ParsedQuery, searcher: Searcher) -> Hits:
        """The k results from `offset` on; `ranked` gives the best n of the ranking."""
        if self.sort is not None:
            whole("k", k, least=1)
            field = self.sort.removeprefix("-")
            found = matching(searcher, query)
            most = None if self.group_by is not None else self.offset + k
            hits = sorted_by(searcher, found, field, descending=self.sort.startswith("-"), most=most)
            if self.group_by is not None:
                hits = _first_of_each(searcher, hits, self.group_by)
        elif self.group_by is not None:
            hits = self._grouped(ranked, k, searcher, self.group_by)
        else:
            hits = ranked(self.offset + k)
        if self.min_score is not None:
            hits = _chosen(hits, hits.scores >= self.min_score)
        page = slice(self.offset, self.offset + k)
        return Hits(hits.scores[page], hits.segments[page], hits.docs[page])

    def _grouped(self, ranked: Callable[[int], Hits], k: int, searcher: Searcher, field: str) -> Hits:
        """One document of each group: as many of the ranking are looked at as that takes."""
        n = 4 * (self.offset + k)
        while True:
            hits = ranked(n)
            groups = _first_of_each(searcher, hits, field)
            if len(groups.docs) >= self.offset + k or len(hits.docs) < n:
                return groups
            n *= 4


def _chosen(hits: Hits, which: npt.NDArray[np.bool_]) -> Hits:
    return Hits(hits.scores[which], hits.segments[which], hits.docs[which])


def _first_of_each(searcher: Searcher, hits: Hits, field: str) -> Hits:
    """The first document with each value; a document without a value stands for itself."""
    seen, first = set[str | float](), np.zeros(len(hits.docs), np.bool_)
    for i, value in enumerate(values_at(searcher, hits, field)):
        first[i] = value is None or value not in seen
        if value is not None:
            seen.add(value)
    return _chosen(hits, first)
