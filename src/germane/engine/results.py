"""What a search returns: scores at once, ids and stored fields when they are asked for."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from germane.engine.feedback_report import FeedbackReport
from germane.rank.query import ParsedQuery
from germane.rank.searcher import Hits, Searcher


@dataclass(frozen=True, slots=True)
class Hit:
    """One result."""

    rank: int
    id: str
    score: float
    fields: dict[str, Any]


@dataclass(frozen=True)
class SearchResult:
    """The best documents of one query, best first. Iterating yields `Hit`s with their stored fields."""

    query: ParsedQuery
    _hits: Hits = field(repr=False)
    _searcher: Searcher = field(repr=False)
    feedback: FeedbackReport | None = field(default=None, repr=False)
    """What feedback made of the query, and why the ranking changed; None without feedback."""

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """The scores, descending."""
        return self._hits.scores

    @cached_property
    def ids(self) -> list[str]:
        """The documents' ids."""
        return self._searcher.ids(self._hits)

    def __len__(self) -> int:
        return len(self._hits.scores)

    def __iter__(self) -> Iterator[Hit]:
        for i, (doc_id, score) in enumerate(zip(self.ids, self.scores.tolist(), strict=True)):
            yield Hit(i + 1, doc_id, score, self.fields(i))

    def fields(self, i: int) -> dict[str, Any]:
        """The stored fields of result number i (from 0)."""
        segment = self._searcher.snapshot.segments[int(self._hits.segments[i])].segment
        return segment.stored.fields(int(self._hits.docs[i]))
