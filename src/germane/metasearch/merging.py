"""Many lists become one: records of the same work are joined, every source's word about it is kept, lists are fused."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, overload

from germane.data.bibliographic import own_id
from germane.data.duplicates import find_duplicates
from germane.data.title_pairs import TitlePairs
from germane.data.works import Work
from germane.errors import InputError, ParameterError
from germane.lazy import on_first_use
from germane.metasearch.answers import Failure, SourceAnswer
from germane.rank.fusion import FUSIONS, Ranking, fusion_named
from germane.tables import figure, html, text
from germane.text import Analyzer
from germane.types import RESULT_FIELDS, Document, FieldValue, text_of, title_of
from germane.wording import counted

with on_first_use(__name__):
    from germane.metasearch import union
    from germane.refine import refiner

if TYPE_CHECKING:
    from germane.metasearch.union import Counts, Reference
    from germane.refine.refinement import Refinement
    from germane.refine.refiner import AnyMarks

LANGUAGE_MODEL = "lm"
"""The union ranked by a language model: ours, beside the fusions of ranks and scores."""
RANKINGS = (*FUSIONS, LANGUAGE_MODEL)
DEFAULT_RANKING = "rrf"

SHOWN, WIDTH = 20, 80
"""Number of results shown in a shell and in notebooks, and length of their titles."""

_KEPT_APART = {"record_format", "record_tags"}
"""Fields that mean something in the record they are of only."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """One source's record of a result: its id there, its rank there (of all pages), its page, its score."""

    source: str
    id: str
    rank: int
    link: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """One result: a work, what all records of it say together, and where it was found, best rank first.

    `score` is the fusion's.
    """

    rank: int
    id: str
    score: float
    fields: Mapping[str, FieldValue]
    provenance: tuple[Provenance, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of those that found it, each once."""
        return tuple(dict.fromkeys(one.source for one in self.provenance))

    @property
    def link(self) -> str:
        """A page about it, of the source that ranked it best; its DOI's where no source gave one."""
        given = next((one.link for one in self.provenance if one.link), "")
        doi = self.fields.get("doi")
        return given or (f"https://doi.org/{doi}" if doi else "")


@dataclass(frozen=True, repr=False)
class FoundList(Sequence[Found]):
    """The merged list, best first, and the answers it was made of, whole: `failures` says what is missing, and why."""

    query: str
    ranking: str
    results: tuple[Found, ...]
    answers: tuple[SourceAnswer, ...] = field(repr=False)
    weights: Mapping[str, float] = field(default_factory=dict, repr=False)
    """Of the sources, where they are not 1."""

    @property
    def ids(self) -> list[str]:
        """The results' ids."""
        return [found.id for found in self.results]

    @property
    def failures(self) -> dict[str, Failure]:
        """Failures by source."""
        return {answer.source: answer.failure for answer in self.answers if answer.failure is not None}

    @property
    def duplicates(self) -> int:
        """Records that were joined with another."""
        return sum(len(answer.records) for answer in self.answers) - len(self.results)

    def documents(self) -> Iterator[Document]:
        """The results as documents, to be written or indexed; `found_by` names the sources with their ranks."""
        for found in self.results:
            by: list[Any] = [f"{one.source} {one.rank} {one.id}" for one in found.provenance]
            yield Document(found.id, {**found.fields, "found_by": by, **({"url": found.link} if found.link else {})})

    def refine(self, marks: "AnyMarks", method: str = "auto", **options: Any) -> "Refinement":
        """The list in the order that a few marks ask for (`germane.refine.Refiner`): ids to True or False."""
        if not self.results:
            raise InputError("there are no results to refine")
        return refiner.Refiner(method, **options).fit(self.texts(), marks).rank()

    def texts(self) -> list[tuple[str, str]]:
        """Ids and texts, as refinement takes them."""
        return [(found.id, text_of(found.fields, RESULT_FIELDS)) for found in self.results]

    @overload
    def __getitem__(self, place: int) -> Found: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Found, ...]: ...

    def __getitem__(self, place: int | slice) -> Found | tuple[Found, ...]:
        return self.results[place]

    def __len__(self) -> int:
        return len(self.results)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._summary()}>\n{text(self._HEADER, self._rows())}"

    def _repr_html_(self) -> str:
        """The first results as a table, for notebooks."""
        return f"<p>{escape(self._summary())}</p>{html(self._HEADER, self._rows())}"

    def _summary(self) -> str:
        told = (
            f"{answer.source} {len(answer.records)}" + (f" ({answer.failure.kind})" if answer.failure else "")
            for answer in self.answers
        )
        return f"{counted(len(self), 'result')} of {', '.join(told) or 'no source'}"

    def _rows(self) -> list[list[str]]:
        return [
            [str(one.rank), figure(one.score), one.id, title_of(one.fields)[:WIDTH], ", ".join(one.sources)]
            for one in self.results[:SHOWN]
        ]

    _HEADER: ClassVar = ("", "score", "id", "title", "found by")


class Merger:
    """Takes answers as they come, and makes the list when it is asked for.

    What can be done for one answer alone (reading titles, counting words) is done when it comes, so that only little is
    left when the last one has. The list depends on the answers and on the order of the sources, not on when they came.

    `ranking`: rrf, isr, combsum, combmnz, or lm. `weights`: of the sources by name, 1 if left out.
    """

    def __init__(
        self,
        query: str,
        sources: Sequence[str],
        *,
        ranking: str = DEFAULT_RANKING,
        weights: Mapping[str, float] | None = None,
        analyzer: Analyzer | None = None,
        reference: "Reference | None" = None,
    ) -> None:
        if ranking not in RANKINGS:
            raise ParameterError(f"there is no ranking '{ranking}'; choose one of {', '.join(RANKINGS)}")
        if len(set(sources)) < len(sources):
            raise ParameterError(f"two sources have one name: {', '.join(sources)}")
        self._query, self._sources, self._ranking = query, list(sources), ranking
        self._weights = {name: weight for name, weight in (weights or {}).items() if weight != 1.0}
        self._reference = reference
        self._counts: Counts | None = None
        if ranking == LANGUAGE_MODEL:
            known = reference.analyzer if reference is not None else Analyzer()
            self._counts = union.Counts(analyzer or known)
        self._answers: dict[str, SourceAnswer] = {}
        self._documents: dict[str, list[Document]] = {}
        self._works: dict[str, list[Work]] = {}
        self._pairs = TitlePairs()
        self._first: dict[str, int] = {}

    def add(self, answer: SourceAnswer) -> None:
        """Take the answer of one source."""
        with _uncollected():
            self._add(answer)

    def merged(self) -> FoundList:
        """The list of all answers so far."""
        with _uncollected():
            return self._merged()

    def _add(self, answer: SourceAnswer) -> None:
        if answer.source not in self._sources:
            raise ParameterError(f"no source is called '{answer.source}'")
        if answer.source in self._answers:
            raise ParameterError(f"'{answer.source}' has answered already")
        self._answers[answer.source] = answer
        documents = [Document(record.id, record.fields) for record in answer.records]
        works = [Work.of(document) for document in documents]
        self._documents[answer.source], self._works[answer.source] = documents, works
        if len(self._answers) < len(self._sources):
            for work in works:
                _ = work.opening_words, work.author  # now, while others are waited for
        self._pairs.add(self._sources.index(answer.source), works)
        if self._counts is not None:
            self._first[answer.source] = sum(map(len, self._works.values())) - len(works)
            self._counts.add([text_of(record.fields, RESULT_FIELDS) for record in answer.records])

    def _merged(self) -> FoundList:
        answers = [self._answers[name] for name in self._sources if name in self._answers]
        rows = [
            (answer, rank, record)
            for answer in answers
            for rank, record in enumerate(answer.records, start=answer.offset + 1)
        ]
        documents = [document for answer in answers for document in self._documents[answer.source]]
        works = [work for answer in answers for work in self._works[answer.source]]
        starts: dict[int, int] = {}
        start = 0
        for answer in answers:
            starts[self._sources.index(answer.source)] = start
            start += len(answer.records)
        kept = list(range(len(rows)))
        for duplicate in find_duplicates(documents, works=works, agreeing=self._pairs.pairs(starts)):
            kept[duplicate.place] = duplicate.kept
        members: dict[int, list[int]] = {}
        for place, head in enumerate(kept):
            members.setdefault(head, []).append(place)
        fields = {
            head: _joined([documents[head], *(documents[p] for p in members[head] if p != head)]) for head in members
        }
        names = _names({head: (fields[head], rows[head][0].source, rows[head][2].id) for head in members})
        rankings: list[Ranking] = []
        place = 0
        for answer in answers:
            heads = [names[kept[place + i]] for i in range(len(answer.records))]
            rankings.append(_ranking(answer, heads))
            place += len(heads)
        results = []
        of = {name: head for head, name in names.items()}
        for rank, (name, score) in enumerate(self._scored(rankings, answers, of, kept), start=1):
            head = of[name]
            provenance = [
                Provenance(rows[p][0].source, rows[p][2].id, rows[p][1], rows[p][2].link, rows[p][2].score)
                for p in members[head]
            ]
            provenance.sort(key=lambda one: one.rank)
            results.append(Found(rank, name, score, fields[head], tuple(provenance)))
        return FoundList(self._query, self._ranking, tuple(results), tuple(answers), self._weights)

    def _scored(
        self, rankings: list[Ranking], answers: list[SourceAnswer], of: Mapping[str, int], kept: Sequence[int]
    ) -> list[tuple[str, float]]:
        if not of:
            return []
        if self._counts is None:
            weights = [self._weights.get(answer.source, 1.0) for answer in answers]
            fused = fusion_named(self._ranking)(rankings, weights=weights)
            told = {name for name, _ in fused}  # a source of weight 0 adds records and no order
            return [*fused, *((name, 0.0) for name in of if name not in told)]
        # The counts are in the order of coming: the place of a record there follows from its source's first.
        places: dict[int, int] = {}
        place = 0
        for answer in answers:
            for i in range(len(answer.records)):
                places[place] = self._first[answer.source] + i
                place += 1
        heads = list(of.values())
        scores = self._counts.likelihood(self._query, [places[head] for head in heads], self._reference)
        first = {name: order for order, (name, _) in enumerate(fusion_named(DEFAULT_RANKING)(rankings))}
        scored = zip(of, scores.tolist(), strict=True)
        return sorted(scored, key=lambda row: (-row[1], first[row[0]]))


@contextmanager
def _uncollected() -> Iterator[None]:
    """Thousands of small objects are made, none of them garbage: looking for it would take longer than all the rest."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def merge(query: str, answers: Sequence[SourceAnswer], **options: Any) -> FoundList:
    """The list of these answers, in the order of the sources; options are those of `Merger`."""
    merger = Merger(query, [answer.source for answer in answers], **options)
    for answer in answers:
        merger.add(answer)
    return merger.merged()


def _joined(documents: Sequence[Document]) -> dict[str, FieldValue]:
    """Join the fields of the first record with those that only the others have."""
    fields = dict(documents[0].fields)
    for document in documents[1:]:
        for name, value in document.fields.items():
            if name not in _KEPT_APART and value not in (None, "", []) and fields.get(name) in (None, "", []):
                fields[name] = value
    return fields


def _names(records: Mapping[int, tuple[Mapping[str, FieldValue], str, str]]) -> dict[int, str]:
    """An id for each result: its PMID or DOI, or the source's own with the source before it; no two alike."""
    names: dict[int, str] = {}
    taken: set[str] = set()
    for head, (fields, source, identifier) in records.items():
        given = own_id({name: fields[name] for name in ("pmid", "doi") if name in fields})
        name = given if given and given not in taken else f"{source}:{identifier}"
        while name in taken:
            name += "'"
        taken.add(name)
        names[head] = name
    return names


def _ranking(answer: SourceAnswer, names: Sequence[str]) -> Ranking:
    """A source's own order with its own scores, or with falling numbers where it does not tell all; each work once."""
    scores = [record.score for record in answer.records]
    told = all(score is not None for score in scores) and sorted(scores, reverse=True) == scores  # type: ignore[type-var]
    best: dict[str, float] = {}
    for place, name in enumerate(names):
        best.setdefault(name, float(scores[place] or 0.0) if told else float(-place))
    return list(best.items())
