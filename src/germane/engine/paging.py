"""From a ranking to the page that was asked for: an order by a field, one result a group, a least score, an offset."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from germane.engine.results import match_of
from germane.lm.parameters import number, whole
from germane.rank.query.resolve import ParsedQuery
from germane.rank.retriever import Hits, Retriever, SortRequest


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

    def page(self, ranked: Callable[[int], Hits], k: int, query: ParsedQuery, retriever: Retriever) -> Hits:
        """The k results from `offset` on; `ranked` gives the best n of the ranking."""
        if self.sort is not None:
            whole("k", k, least=1)
            most = None if self.group_by is not None else self.offset + k
            field, descending = self.sort.removeprefix("-"), self.sort.startswith("-")
            hits = retriever.sort(SortRequest(match_of(query), field, descending, most))
            if self.group_by is not None:
                hits = _first_of_each(retriever, hits, self.group_by)
        elif self.group_by is not None:
            hits = self._grouped(ranked, k, retriever, self.group_by)
        else:
            hits = ranked(self.offset + k)
        if self.min_score is not None:
            hits = hits.chosen(hits.scores >= self.min_score)
        return hits.part(self.offset, self.offset + k)

    def _grouped(self, ranked: Callable[[int], Hits], k: int, retriever: Retriever, field: str) -> Hits:
        """One document of each group: as many of the ranking are looked at as that takes."""
        n = 4 * (self.offset + k)
        while True:
            hits = ranked(n)
            groups = _first_of_each(retriever, hits, field)
            if len(groups.refs) >= self.offset + k or len(hits.refs) < n:
                return groups
            n *= 4


def _first_of_each(retriever: Retriever, hits: Hits, field: str) -> Hits:
    """The first document with each value; a document without a value stands for itself."""
    seen, first = set[str | float](), np.zeros(len(hits.refs), np.bool_)
    for i, value in enumerate(retriever.values(hits.refs, field)):
        first[i] = value is None or value not in seen
        if value is not None:
            seen.add(value)
    return hits.chosen(first)
