"""Several collections that answer like one of all their documents, to the last bit.

What a ranking takes from the whole is counted in each part and merged (`Need`); each part ranks by it, and
the parts' answers, plain data, are joined by pure functions. What was counted is remembered: parts do not change.

A document's reference has the part in its high bits. The parts are taken for disjoint: an id that two of them hold
names two documents, both of which are found and counted; asked for by its id (`locate`), the first part's is meant.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.deadline import look
from germane.errors import ParameterError
from germane.index.snapshot import Readings
from germane.index.vector_fields import field_named
from germane.rank.query.expansion import Expanded
from germane.rank.retriever import (
    NO_HITS,
    Counts,
    FoldedRequest,
    Hits,
    Inspection,
    Match,
    NearestRequest,
    Refs,
    Retriever,
    Schema,
    Scoring,
    SortRequest,
    TermCounts,
    TopRequest,
)
from germane.rank.retrievers.joining import joined_counts, joined_hits, joined_inspections, joined_schema
from germane.rank.retrievers.local import sampled
from germane.rank.scoring.explain import Explanation
from germane.rank.scoring.facets import Facet, ValueCounts, facet_of, merged_counts
from germane.rank.scoring.matching import merged_order, require_field
from germane.rank.scoring.memory import remember
from germane.rank.scoring.statistics import CollectionStatistics, Counted, Need, Vocabulary
from germane.rank.snippets import Snippet
from germane.rank.spellings import PairSample
from germane.rank.suggest import corrections
from germane.types import Document, FieldValue

SHIFT = 48
"""Bits of a reference that name a document within its part."""
IN_PART = (1 << SHIFT) - 1
MOST_PARTS = 1 << 15
REMEMBERED = 1 << 16
"""Terms, pairs, priors and written forms whose statistics are remembered; then all are forgotten."""
NO_READINGS = Readings(False, 0, 0)
Answer = TypeVar("Answer")
Number = TypeVar("Number", bound=np.generic)


class Several:
    """Asks each part, and joins what they answer. Safe to use from many threads, as the parts are."""

    def __init__(self, parts: Sequence[Retriever]) -> None:
        if not 1 <= len(parts) <= MOST_PARTS:
            raise ParameterError(f"from 1 to {MOST_PARTS} collections can be searched as one, not {len(parts)}")
        self._parts = list(parts)
        self._schemas = self._each(lambda part: part.schema())
        if any(len(schema.generations) > 1 for schema in self._schemas):
            raise ParameterError("collections that are searched as one already are no parts: name all parts at once")
        self._schema = joined_schema(self._schemas)
        self._ends = np.cumsum([schema.n_docs for schema in self._schemas])
        self._counted = Counted()
        self._readings: dict[str, Readings] = {}

    # -- the collection --------------------------------------------------------------------------------------------

    def schema(self) -> Schema:
        """What all parts hold."""
        return self._schema

    def statistics(self, need: Need) -> CollectionStatistics:
        """Add up what the parts count; what was counted before is remembered."""
        for prior in need.priors:
            prior.check(self._schema.filters, self._is_numeric)
        counted = self._counted
        if len(counted) > REMEMBERED:
            counted = self._counted = Counted()
        missing = counted.missing(need)
        if missing != Need():
            counted.add(CollectionStatistics.merged(self._each(lambda part: part.statistics(missing))))
        vocabulary = self._vocabulary if need.vocabulary else None
        return counted.of(need, self._schema.n_docs, self._schema.n_tokens, vocabulary)

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        """That of all parts, which do not change."""
        found = self._each(lambda part: part.statistics(Need(vocabulary=True)))
        return Vocabulary.merged([own.vocabulary for own in found if own.vocabulary is not None])

    def expand(self, prefix: str, most: int | None, also: Sequence[str] = (), edits: int | None = None) -> Expanded:
        """Ask the parts for all terms, since the sums decide which are the most frequent."""
        return Expanded.merged(self._each(lambda part: part.expand(prefix, None, also, edits)), most)

    def surfaces(self, terms: Sequence[str]) -> list[Mapping[str, int]]:
        """Add up the counts of written forms."""
        found = self.statistics(Need(surfaces=tuple(terms))).surfaces
        return [found[term] for term in terms]

    def vocabulary(self) -> Iterator[TermCounts]:
        """All terms at once."""
        yield TermCounts(self._vocabulary.terms(), self._vocabulary.df, self._vocabulary.cf)

    def scan(self, *, vectors: bool = False) -> Iterator[Document]:
        """The documents of one part after those of the other."""
        return chain.from_iterable(part.scan(vectors=vectors) for part in self._parts)

    def sample(self, n: int, random_state: int | None = None) -> Refs:
        """Draw from all parts as one index draws."""
        return self.live(sampled(self._schema.n_docs, n, random_state))

    def live(self, places: Integers) -> Refs:
        """Count the documents of one part after those of the other."""
        homes = np.searchsorted(self._ends, places, side="right")
        refs = np.empty(len(places), np.int64)
        for i in np.unique(homes).tolist():
            own = homes == i
            refs[own] = i << SHIFT | self._parts[i].live(places[own] - (self._ends[i - 1] if i else 0))
        return refs

    def read(self, refs: Refs, *, vectors: bool = False) -> list[Document]:
        """Each document where it lies."""
        return self._listed(refs, lambda part, own: part.read(own, vectors=vectors))

    def readings(self, field: str) -> Readings:
        """Add up what the parts that have the field hold there."""
        found = self._readings.get(field)
        if found is None:
            having = [part for part, own in zip(self._parts, self._schemas, strict=True) if field in own.filters]
            found = Readings.merged([NO_READINGS, *(part.readings(field) for part in having)])
            remember(self._readings, field, found, REMEMBERED)
        return found

    def _is_numeric(self, field: str) -> bool:
        return self.readings(field).numeric

    def unreadable(self) -> Mapping[str, int]:
        """Add up values that do not fit their field."""
        others = {
            field: self.readings(field).others for field in sorted(self._schema.filters) if self._is_numeric(field)
        }
        return {field: count for field, count in others.items() if count}

    def inspect(self) -> Inspection:
        """Add up the sizes of the parts."""
        return joined_inspections(self._each(lambda part: part.inspect()), len(self._vocabulary))

    # -- ranking ---------------------------------------------------------------------------------------------------

    def top(self, request: TopRequest, statistics: CollectionStatistics | None = None) -> Hits:
        """The best of all parts; what the best k reach so far is the threshold of the next part."""
        scoring, k, conditions, wordless, likely, threshold, ids = request
        told = self.statistics(scoring.need()) if statistics is None else statistics
        found: list[Hits] = []
        best = NO_HITS.scores
        for i, part in enumerate(self._parts):
            look()
            own = None if likely is None else self._own(i, likely)
            hits = self._global(i, part.top(TopRequest(scoring, k, conditions, wordless, own, threshold, ids), told))
            found.append(hits)
            best = np.concatenate((best, hits.scores))
            if len(best) >= k:
                best = np.partition(best, len(best) - k)[len(best) - k :]
                threshold = max(threshold, best.item(0))
        return joined_hits(found, k, self.ids)

    def score(self, refs: Refs, scoring: Scoring, statistics: CollectionStatistics | None = None) -> Floats:
        """Each document where it lies."""
        told = self.statistics(scoring.need()) if statistics is None else statistics
        return self._array(refs, lambda part, own: part.score(own, scoring, told))

    def sort(self, request: SortRequest) -> Hits:
        """Merge the parts' orders by their values and ids."""
        require_field(request.field, self._schema.filters)
        numeric = self._is_numeric(request.field)
        found = self._each(lambda part: part.sort(request._replace(numeric=numeric, ids=True)))
        values = [
            value
            for part, hits in zip(self._parts, found, strict=True)
            for value in part.values(hits.refs, request.field, numeric)
        ]
        refs = np.concatenate([self._global(i, hits).refs for i, hits in enumerate(found)])
        ids = [doc_id for hits in found for doc_id in hits.ids or ()]
        order = merged_order(values, ids, descending=request.descending, most=request.k)
        chosen = Hits(np.zeros(len(refs)), refs, ids).chosen(order)
        return chosen if request.ids else chosen._replace(ids=None)

    def explain(
        self,
        ref: int,
        scoring: Scoring,
        *,
        probabilities: bool = False,
        statistics: CollectionStatistics | None = None,
    ) -> Explanation:
        """Ask the part that has the document."""
        need = scoring.need().joined(Need(surfaces=tuple(scoring.topic.weights)))
        told = self.statistics(need) if statistics is None else statistics
        part = self._parts[ref >> SHIFT]
        return part.explain(ref & IN_PART, scoring, probabilities=probabilities, statistics=told)

    def nearest(self, request: NearestRequest) -> list[Hits]:
        """Merge, for each vector, what is nearest in the parts that have the field."""
        name, _ = field_named(self._schema.vector_fields, request.field)
        asked = request._replace(field=name)
        found = [
            [self._global(i, hits) for hits in self._parts[i].nearest(asked)]
            for i, schema in enumerate(self._schemas)
            if name in schema.vector_fields
        ]
        return [joined_hits(of_one, request.k, self.ids) for of_one in zip(*found, strict=True)]

    # -- documents -------------------------------------------------------------------------------------------------

    def locate(self, ids: Sequence[str]) -> Refs:
        """Look in one part after the other."""
        refs = np.full(len(ids), -1, np.int64)
        for i, part in enumerate(self._parts):
            left = np.flatnonzero(refs < 0)
            if len(left):
                found = part.locate([ids[row] for row in left.tolist()])
                refs[left] = np.where(found < 0, -1, i << SHIFT | found)
        return refs

    def ids(self, refs: Refs) -> list[str]:
        """Each document where it lies."""
        return self._listed(refs, lambda part, own: part.ids(own))

    def gather(self, refs: Refs, terms: Sequence[str] = (), statistics: CollectionStatistics | None = None) -> Counts:
        """Number the terms of all parts anew, and look up their frequencies."""
        named = self.statistics(Need(tuple(terms))).terms
        parts = [(rows, self._parts[i].gather(own, terms)) for i, rows, own in self._homes(refs)]
        return joined_counts(parts, len(refs), [term for term in terms if named[term].df], self._frequencies)

    def _frequencies(self, terms: list[str]) -> tuple[Integers, Integers]:
        found = self.statistics(Need(tuple(terms))).term_stats(terms)
        return np.array([own.df for own in found], np.int64), np.array([own.cf for own in found], np.int64)

    def documents(self, refs: Refs) -> list[dict[str, FieldValue]]:
        """Each document where it lies."""
        return self._listed(refs, lambda part, own: part.documents(own))

    def snippets(self, refs: Refs, terms: Sequence[str], width: int, longest: int) -> list[Snippet]:
        """Each document where it lies."""
        return self._listed(refs, lambda part, own: part.snippets(own, terms, width, longest))

    def values(self, refs: Refs, field: str, numeric: bool | None = None) -> list[str | float | None]:
        """Each document where it lies."""
        as_numbers = self._is_numeric(field) if numeric is None else numeric
        return self._listed(refs, lambda part, own: part.values(own, field, as_numbers))

    def vectors(self, refs: Refs, field: str | None) -> list[npt.NDArray[np.float32] | None]:
        """Each document where it lies; none in a part that lacks the field."""
        name, _ = field_named(self._schema.vector_fields, field)
        rows: list[npt.NDArray[np.float32] | None] = [None] * len(refs)
        for i, at, own in self._homes(refs):
            if name in self._schemas[i].vector_fields:
                for row, vector in zip(at.tolist(), self._parts[i].vectors(own, name), strict=True):
                    rows[row] = vector
        return rows

    # -- all documents of a query ----------------------------------------------------------------------------------

    def count(self, match: Match) -> int:
        """Add up the parts' counts."""
        return sum(self._each(lambda part: part.count(match)))

    def facet(self, match: Match, field: str, size: int) -> Facet:
        """Add up the parts' counts of values, and ask again how many documents hold those shown."""
        require_field(field, self._schema.filters)
        counts = self.value_counts(match, field, numeric=self._is_numeric(field))
        return facet_of(field, counts, size, lambda texts: self.holding(match, field, texts))

    def value_counts(self, match: Match, field: str, *, numeric: bool) -> ValueCounts:
        """Add up the parts' counts."""
        return merged_counts(self._each(lambda part: part.value_counts(match, field, numeric=numeric)))

    def holding(self, match: Match, field: str, texts: Sequence[str]) -> int:
        """Add up the parts' counts."""
        return sum(self._each(lambda part: part.holding(match, field, texts)))

    # -- words -----------------------------------------------------------------------------------------------------

    def suggest(self, words: Sequence[str], runs: Sequence[Sequence[str]]) -> dict[str, str]:
        """Correct words by those of all parts."""
        return corrections(self, words, runs)

    def near_terms(self, words: Sequence[tuple[str, int]]) -> list[list[str]]:
        """The terms that some part finds."""
        found = self._each(lambda part: part.near_terms(words))
        return [sorted(set().union(*own)) for own in zip(*found, strict=True)]

    def sample_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[PairSample]:
        """Join the parts' samples."""
        found = self._each(lambda part: part.sample_pairs(pairs))
        return [PairSample.merged(own) for own in zip(*found, strict=True)]

    # -- learnt models ---------------------------------------------------------------------------------------------

    def apply(self, model: str, weights: Mapping[str, float], refs: Refs) -> Floats:
        """Each document where it lies."""
        return self._array(refs, lambda part, own: part.apply(model, weights, own))

    def folded(self, model: str, refs: Refs) -> npt.NDArray[np.float32]:
        """Each document where it lies."""
        return self._array(refs, lambda part, own: part.folded(model, own))

    def nearest_folded(self, request: FoldedRequest) -> Hits:
        """Merge what is nearest in the parts."""
        found = [part.nearest_folded(request) for part in self._parts]
        return joined_hits([self._global(i, hits) for i, hits in enumerate(found)], request.k, self.ids)

    # -- parts -----------------------------------------------------------------------------------------------------

    def _each(self, ask: Callable[[Retriever], Answer]) -> list[Answer]:
        """Ask every part."""
        answers = []
        for part in self._parts:
            look()
            answers.append(ask(part))
        return answers

    @staticmethod
    def _global(i: int, hits: Hits) -> Hits:
        """Documents of part i, by their references among those of all parts."""
        return Hits(hits.scores, i << SHIFT | hits.refs, hits.ids)

    @staticmethod
    def _own(i: int, hits: Hits) -> Hits:
        """Those of some documents that are of part i, by their references there."""
        own = hits.chosen(hits.refs >> SHIFT == i)
        return own._replace(refs=own.refs & IN_PART)

    @staticmethod
    def _homes(refs: Refs) -> Iterator[tuple[int, Integers, Refs]]:
        """The parts of documents: each with the places of its own among them, and their references there."""
        homes = refs >> SHIFT
        for i in np.unique(homes).tolist():
            rows = np.flatnonzero(homes == i)
            yield i, rows, refs[rows] & IN_PART

    def _listed(self, refs: Refs, ask: Callable[[Retriever, Refs], list[Answer]]) -> list[Answer]:
        """What the parts say of documents, in their order."""
        found: dict[int, Answer] = {}
        for i, rows, own in self._homes(refs):
            found.update(zip(rows.tolist(), ask(self._parts[i], own), strict=True))
        return [found[row] for row in range(len(refs))]

    def _array(self, refs: Refs, ask: Callable[[Retriever, Refs], npt.NDArray[Number]]) -> npt.NDArray[Number]:
        """The same of numbers, a row for each document."""
        answers = [(rows, ask(self._parts[i], own)) for i, rows, own in self._homes(refs)]
        if not answers:
            return ask(self._parts[0], refs)
        joined = np.empty((len(refs), *answers[0][1].shape[1:]), answers[0][1].dtype)
        for rows, own in answers:
            joined[rows] = own
        return joined
