"""What a search returns: scores at once, ids and stored fields when they are asked for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from germane.engine.feedback_report import FeedbackReport
from germane.engine.snippets import WIDTH, Snippet, snippet
from germane.errors import GermaneError
from germane.lm.parameters import whole
from germane.rank.hits import Hits
from germane.rank.matching import Facet, Found, count, facet, matching
from germane.rank.query import ParsedQuery
from germane.rank.searcher import Searcher
from germane.types import FieldValue


@dataclass(frozen=True, slots=True)
class Hit:
    """One result."""

    rank: int
    id: str
    score: float
    fields: dict[str, FieldValue]


GROUPED = 200
"""As many results at least are put in groups where a request asks for them, and as many begin in a cluster."""


@dataclass(frozen=True, slots=True)
class ResultGroup:
    """Results that are alike, best first, by `ids` and by `ranks` in the list; `words` set them apart from the others.

    The words are those with the largest p(w|group)·log(p(w|group)/p(w|list)), p the mean over documents. Words of the
    query are left out: all results have them.
    """

    words: tuple[str, ...]
    ids: tuple[str, ...]
    ranks: tuple[int, ...]


@dataclass(frozen=True, init=False)
class SearchResult(Sequence[Hit]):
    """The best documents of one query, best first: a sequence of `Hit`s with their stored fields, read when needed."""

    query: ParsedQuery
    _hits: Hits = field(repr=False)
    _searcher: Searcher = field(repr=False)
    feedback: FeedbackReport | None = field(default=None, repr=False)
    """What feedback made of the query, and why the ranking changed; None without feedback."""
    offset: int = 0
    """Results that were left out before the first."""
    widened: bool = False
    """Whether a second stage brought documents of its own."""

    def __init__(
        self,
        query: ParsedQuery,
        _hits: Hits,
        _searcher: Searcher,
        feedback: FeedbackReport | None = None,
        offset: int = 0,
        widened: bool = False,
    ) -> None:
        # All at once: one after the other takes longer, where all are frozen.
        vars(self).update(
            query=query, _hits=_hits, _searcher=_searcher, feedback=feedback, offset=offset, widened=widened
        )

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """The scores, descending."""
        return self._hits.scores

    @property
    def ids(self) -> list[str]:
        """The documents' ids."""
        found: list[str] | None = vars(self).get("_ids")  # without the lock of `cached_property`, which takes longer
        if found is None:
            found = vars(self)["_ids"] = self._searcher.ids(self._hits)
        return found

    @property
    def located(self) -> tuple[Hits, Searcher]:
        """Where the documents lie, and in what."""
        return self._hits, self._searcher

    @cached_property
    def _found(self) -> Found:
        return matching(self._searcher, self.query)

    @property
    def total(self) -> int:
        """How many documents the query finds, counted when it is asked for; see `total_is_exact`."""
        found = sum(map(len, self._found)) if "_found" in self.__dict__ else count(self._searcher, self.query)
        return max(found, self.offset + len(self) if len(self) else 0)

    @property
    def total_is_exact(self) -> bool:
        """False with feedback or a learnt model: documents that hold none of the query's words are found too, and not
        counted in `total`."""
        return self.feedback is None and not self.widened

    def facet(self, name: str, size: int = 10) -> Facet:
        """The values of a field among all documents that the query finds, and how many hold each."""
        return facet(self._searcher, self._found, name, whole("size", size, least=1))

    def groups(self, n: int) -> tuple[ResultGroup, ...]:
        """These results in at most `n` groups of alike ones, the largest first (`engine.grouping`)."""
        from germane.engine.grouping import grouped

        return grouped(self._hits, self._searcher, whole("n", n, least=1), self.query.weights.keys(), self.offset)

    def snippet(self, i: int, width: int = WIDTH) -> Snippet:
        """The piece of result number i (from 0) that shows best why it was found, and where the query's words are."""
        return self.snippet_of(self.fields(i), width)

    def snippet_of(self, stored: Mapping[str, FieldValue], width: int = WIDTH) -> Snippet:
        """The same of a result whose fields are at hand."""
        manifest = self._searcher.snapshot.manifest
        names = [name for name in manifest.text_fields if name != "title"] or manifest.text_fields
        text = "\n".join(str(stored[name]) for name in names if stored.get(name) is not None)
        return snippet(text, self.query.weights.keys(), manifest.analyzer, whole("width", width, least=20))

    def __len__(self) -> int:
        return len(self._hits.scores)

    @overload
    def __getitem__(self, i: int) -> Hit: ...

    @overload
    def __getitem__(self, i: slice) -> list[Hit]: ...

    def __getitem__(self, i: int | slice) -> Hit | list[Hit]:
        """Result number i, from 0; negative numbers count from the end."""
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        at = range(len(self))[i]
        return Hit(self.offset + at + 1, self.ids[at], float(self.scores[at]), self.fields(at))

    def __iter__(self) -> Iterator[Hit]:
        return (self[i] for i in range(len(self)))

    def __str__(self) -> str:
        """A line for each result: rank, score, id, title."""
        rows = [(f"{hit.rank}", f"{hit.score:.4f}", hit.id, _one_line(hit.fields.get("title"))) for hit in self]
        widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
        lines = [f"{a:>{widths[0]}}  {b:>{widths[1]}}  {c:<{widths[2]}}  {d}".rstrip() for a, b, c, d in rows]
        return "\n".join(lines) if lines else "(no results)"

    def to_dict(self) -> dict[str, Any]:
        """The results as JSON has them."""
        hits = [{"rank": hit.rank, "id": hit.id, "score": hit.score, "fields": hit.fields} for hit in self]
        return {"offset": self.offset, "hits": hits}

    def to_dataframe(self) -> Any:
        """A pandas DataFrame: rank, id, score, and a column for each stored field. Needs pandas."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise GermaneError("a DataFrame needs the package pandas: pip install pandas") from None
        rows = [{**hit.fields, "rank": hit.rank, "id": hit.id, "score": hit.score} for hit in self]
        frame = pandas.DataFrame(rows)
        first = ["rank", "id", "score"]
        return frame[[*first, *(name for name in frame.columns if name not in first)]] if rows else frame

    def fields(self, i: int) -> dict[str, FieldValue]:
        """The stored fields of result number i (from 0)."""
        segment = self._searcher.snapshot.segments[int(self._hits.segments[i])].segment
        return segment.stored.fields(int(self._hits.docs[i]))


def _one_line(value: object, longest: int = 80) -> str:
    text = " ".join(str("" if value is None else value).split())
    return text if len(text) <= longest else text[: longest - 1] + "…"
