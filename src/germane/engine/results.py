"""Results of a search: scores at once, ids and stored fields on first access."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from germane.data.fields import squeeze
from germane.engine.feedback_report import FeedbackReport
from germane.engine.result_groups import ResultGroup
from germane.lazy import load, on_first_use
from germane.lm.parameters import whole
from germane.rank.query.resolve import ParsedQuery
from germane.rank.retriever import Hits, Match, Retriever
from germane.rank.scoring.facets import Facet
from germane.rank.snippets import LONGEST, WIDTH, Snippet, snippet, snippet_text
from germane.tables import Markup, figure, html
from germane.types import RESULT_FIELDS, FieldValue, text_of, title_of

with on_first_use(__name__):
    from germane.engine import grouping
    from germane.evaluate import frames

if TYPE_CHECKING:
    from germane.text import Analyzer


class _Shown:
    """Source of the snippet of a hit: its result, or the values carried with it. No field of its values."""

    __slots__ = ("_source",)
    _source: "Snippet | SearchResult"


@dataclass(frozen=True, slots=True, repr=False)
class Hit(_Shown):
    """One result: its rank, the document's id, its score, and the fields as they were added.

    >>> from germane import Engine
    >>> with Engine.create(":memory:") as engine:
    ...     added = engine.add([{"id": 1, "title": "Heart attack", "text": "A heart attack needs help at once."}])
    ...     hit = engine.search("attack")[0]
    >>> hit.title, hit.snippet.text[hit.snippet.marks[0][0] : hit.snippet.marks[0][1]]
    ('Heart attack', 'attack')
    """

    rank: int
    id: str
    score: float
    fields: dict[str, FieldValue]

    @property
    def title(self) -> str:
        """The title on one line; of a document without one the first words of its text."""
        return title_of(self.fields, RESULT_FIELDS[1:])

    @property
    def snippet(self) -> Snippet:
        """The piece that shows why the document was found: `text`, and where the words of the query are, `marks`."""
        source = getattr(self, "_source", None)
        if isinstance(source, SearchResult):
            return source.snippet_of(self.fields)
        return source or Snippet("", [])

    def __repr__(self) -> str:
        return f"Hit(rank={self.rank}, id={self.id!r}, score={figure(self.score)}, title={one_line(self.title)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _hit, (self.rank, self.id, self.score, self.fields, self.snippet)


def _hit(rank: int, doc_id: str, score: float, fields: dict[str, FieldValue], source: "Snippet | SearchResult") -> Hit:
    """The result, and where its snippet comes from."""
    made = Hit(rank, doc_id, score, fields)
    object.__setattr__(made, "_source", source)
    return made


SHOWN = 20
"""Results that `repr` and notebooks show."""


@dataclass(frozen=True, init=False, repr=False)
class SearchResult(Sequence[Hit]):
    """The best documents of one query, best first: a sequence of `Hit`s with their stored fields, read when needed."""

    query: ParsedQuery
    _hits: Hits = field(repr=False)
    _retriever: Retriever = field(repr=False)
    feedback: FeedbackReport | None = field(default=None, repr=False)
    """Report of feedback: the words of the query, and why the ranking changed; None without feedback."""
    offset: int = 0
    """Results that were left out before the first."""
    widened: bool = False
    """Whether a second stage brought documents of its own."""
    reranked_by: str | None = None
    """The promoted model that scored the first results again, as `clicks@3`; None where another ranking was named."""
    not_reranked: str | None = None
    """Why the model that is promoted could not."""

    def __init__(
        self,
        query: ParsedQuery,
        _hits: Hits,
        _retriever: Retriever,
        feedback: FeedbackReport | None = None,
        offset: int = 0,
        widened: bool = False,
        reranked_by: str | None = None,
        not_reranked: str | None = None,
    ) -> None:
        # All at once: one after the other takes longer, where all are frozen.
        vars(self).update(
            query=query,
            _hits=_hits,
            _retriever=_retriever,
            feedback=feedback,
            offset=offset,
            widened=widened,
            reranked_by=reranked_by,
            not_reranked=not_reranked,
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
            found = vars(self)["_ids"] = self._retriever.ids(self._hits.refs)
        return found

    @property
    def located(self) -> tuple[Hits, Retriever]:
        """References to the documents, and the collection that they are in."""
        return self._hits, self._retriever

    @cached_property
    def _match(self) -> Match:
        return match_of(self.query)

    @property
    def total(self) -> int:
        """Number of documents that the query finds, counted on first access; see `total_is_exact`."""
        return max(self._retriever.count(self._match), self.offset + len(self) if len(self) else 0)

    @property
    def total_is_exact(self) -> bool:
        """False with feedback or a learnt model: documents that hold none of the query's words are found too, and not
        counted in `total`."""
        return self.feedback is None and not self.widened

    def facet(self, name: str, size: int = 10) -> Facet:
        """The values of a field among all documents that the query finds, and how many hold each.

        At most `size` values, the most frequent first; more different numbers than that come in classes, ascending. All
        documents that the query finds are counted, not only those of this page.

        >>> from germane import Engine
        >>> with Engine.create(":memory:") as engine:
        ...     added = engine.add([{"id": n, "text": "heart", "tags": [*t]} for n, t in enumerate(["a", "ab", ""])])
        ...     found = engine.search("heart", 1).facet("tags")
        >>> [(value.value, value.count) for value in found.values], found.missing
        ([('a', 2), ('b', 1)], 1)
        """
        return self._retriever.facet(self._match, name, whole("size", size, least=1))

    def groups(self, n: int) -> tuple[ResultGroup, ...]:
        """These results in at most `n` groups of alike ones, the largest first (`engine.grouping`)."""
        return grouping.grouped(
            self._hits.refs, self._retriever, whole("n", n, least=1), self.query.weights.keys(), self.offset
        )

    def snippet(self, i: int, width: int = WIDTH) -> Snippet:
        """The piece of result number i (from 0) that shows best why it was found, and where the query's words are.

        `width`: so many characters about, 20 at least.

        >>> from germane import Engine
        >>> with Engine.create(":memory:") as engine:
        ...     added = engine.add([{"id": 1, "title": "On hearts", "text": "Two hearts beat."}])
        ...     piece = engine.search("heart").snippet(0)
        >>> piece.text, [piece.text[start:end] for start, end in piece.marks]
        ('Two hearts beat.', ['hearts'])
        """
        return self.snippet_of(self.fields(i), width)

    def snippet_of(self, stored: Mapping[str, FieldValue], width: int = WIDTH, longest: int = LONGEST) -> Snippet:
        """Return the snippet of a result whose fields are known; at most `longest` characters of its text are read."""
        fields, analyzer = self.texts
        text = snippet_text(stored, fields)
        return snippet(text, self.query.weights.keys(), analyzer, whole("width", width, least=20), longest)

    @property
    def texts(self) -> "tuple[tuple[str, ...], Analyzer]":
        """The fields that are searched as text, and how they are analysed."""
        schema = self._retriever.schema()
        return schema.text_fields, schema.analyzer

    def __reduce__(self) -> tuple[Any, ...]:
        reduced: tuple[Any, ...] = load("germane.engine.carrying.reduced")(self)
        return reduced

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
        return _hit(self.offset + at + 1, self.ids[at], float(self.scores[at]), self.fields(at), self)

    def __iter__(self) -> Iterator[Hit]:
        return (self[i] for i in range(len(self)))

    def __str__(self) -> str:
        """A line for each result: rank, score, id, title."""
        return _lines(list(self)) or "(no results)"

    def __repr__(self) -> str:
        shown = _lines(self[:SHOWN])
        return f"<{type(self).__name__}: {self._summary()}>" + (f"\n{shown}" if shown else "")

    def _summary(self) -> str:
        if not len(self):
            return "no results"
        total = f"{'' if self.total_is_exact else 'at least '}{self.total:,}"
        by = "" if self.reranked_by is None else f", ranked by {self.reranked_by}"
        return f"{self.offset + 1}-{self.offset + len(self)} of {total}{by}"

    def _repr_html_(self) -> str:
        """A table for notebooks: rank, score, id, title, and the snippet with the query's words marked."""
        rows = [
            [hit.rank, figure(hit.score), hit.id, one_line(hit.title), Markup(hit.snippet._repr_html_())]
            for hit in self[:SHOWN]
        ]
        return f"<p>{self._summary()}</p>" + html(["", "score", "id", "title", "snippet"], rows)

    def to_dict(self) -> dict[str, Any]:
        """The results as JSON has them."""
        hits = [{"rank": hit.rank, "id": hit.id, "score": hit.score, "fields": hit.fields} for hit in self]
        return {"offset": self.offset, "hits": hits}

    def to_dataframe(self) -> Any:
        """A pandas DataFrame: rank, id, score, and a column for each stored field. Needs pandas."""
        columns: dict[str, Any] = dict.fromkeys(("rank", "id", "score"))
        rows = [columns | hit.fields | {"rank": hit.rank, "id": hit.id, "score": hit.score} for hit in self]
        return frames.dataframe(rows)

    def fields(self, i: int) -> dict[str, FieldValue]:
        """The stored fields of result number i (from 0)."""
        at = range(len(self))[i]
        return self._retriever.documents(self._hits.refs[at : at + 1])[0]


def match_of(query: ParsedQuery) -> Match:
    """All documents that a query finds."""
    return Match(
        tuple(term for term, weight in query.weights.items() if weight > 0.0), query.conditions, query.wordless
    )


def _lines(hits: Sequence[Hit]) -> str:
    rows = [(f"{hit.rank}", figure(hit.score), hit.id, one_line(text_of(hit.fields, ("title",)))) for hit in hits]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    lines = [f"{a:>{widths[0]}}  {b:>{widths[1]}}  {c:<{widths[2]}}  {d}".rstrip() for a, b, c, d in rows]
    return "\n".join(lines)


def one_line(value: str, longest: int = 80) -> str:
    """The text on one line, cut where it is longer."""
    text = squeeze(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"
