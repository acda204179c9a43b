"""One snapshot as a `Retriever`: references become places in segments here, and nowhere above."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.index.segment import DICTIONARY_SECTIONS, POSTINGS_SECTIONS, Segment
from germane.index.snapshot import DocumentPlace, Readings, Snapshot
from germane.index.vector_fields import VectorField, field_named
from germane.rank.query.conditions import both
from germane.rank.query.expansion import Expanded, SnapshotVocabulary
from germane.rank.query.resolve import ParsedQuery
from germane.rank.retriever import (
    NO_HITS,
    Counts,
    FieldVectors,
    FoldedRequest,
    Hits,
    Inspection,
    Match,
    NearestRequest,
    Refs,
    Schema,
    Scoring,
    SortRequest,
    TermCounts,
    TopRequest,
)
from germane.rank.retrievers.gathering import gather
from germane.rank.retrievers.learnt import FoldedTitles, registered
from germane.rank.scoring.explain import Explanation, explain
from germane.rank.scoring.facets import Facet, ValueCounts
from germane.rank.scoring.field_values import FieldValues, facet
from germane.rank.scoring.hits import Hits as Located
from germane.rank.scoring.hits import distinct
from germane.rank.scoring.matching import MatchedDocs, count, matching, sorted_by, values_at
from germane.rank.scoring.probabilities import word_probabilities
from germane.rank.scoring.searcher import Searcher
from germane.rank.scoring.signed_topics import attracting
from germane.rank.scoring.statistics import CollectionStatistics, Need, Vocabulary
from germane.rank.snippets import Snippet, snippet, snippet_text
from germane.rank.spellings import PairSample, near_terms, sample_pairs
from germane.rank.suggest import corrections
from germane.rank.vectors import inner_products, search_vectors
from germane.types import Document, FieldValue

SHIFT = 32
"""Bits of a reference that name a document within its segment."""
IN_SEGMENT = (1 << SHIFT) - 1
TERMS = 1 << 16
"""Terms of one part of a vocabulary."""


class SnapshotRetriever:
    """Answers from one snapshot. `previous`: the retriever before it, whose caches are taken over where they hold."""

    def __init__(self, snapshot: Snapshot, previous: "SnapshotRetriever | None" = None) -> None:
        self._searcher: Searcher = Searcher(snapshot, None if previous is None else previous._searcher)
        self._folded: FoldedTitles = FoldedTitles(None if previous is None else previous._folded)
        self._latest_match: tuple[Match, MatchedDocs] | None = None
        segments = snapshot.segments
        self._only: Segment | None = segments[0].segment if len(segments) == 1 else None
        """The segment whose document numbers are the references, where it is the only one."""

    @classmethod
    def open(cls, folder: Path) -> "SnapshotRetriever":
        """Open the last commit of an index."""
        return cls(Snapshot.open(folder))

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot that is pinned; for those who write the index."""
        return self._searcher.snapshot

    # -- the collection --------------------------------------------------------------------------------------------

    def schema(self) -> Schema:
        """Describe the collection."""
        return self._schema

    @cached_property
    def _schema(self) -> Schema:
        snapshot, manifest = self.snapshot, self.snapshot.manifest
        kinds = (kind for live in snapshot.segments for kind in live.segment.column_kinds.items())
        others = {name for name, kind in kinds if kind != "numeric"}
        return Schema(
            str(snapshot.folder),
            manifest.analyzer,
            manifest.text_fields,
            snapshot.filterable,
            snapshot.filterable - others,
            dict(manifest.vector_fields),
            snapshot.n_docs,
            snapshot.n_tokens,
            all(live.segment.keeps_order for live in snapshot.segments),
            (manifest.generation,),
        )

    def expand(self, prefix: str, most: int | None, also: Sequence[str] = (), edits: int | None = None) -> Expanded:
        """Look terms up by their beginning, or by the edits that they are away."""
        vocabulary = SnapshotVocabulary(self.snapshot)
        return vocabulary.starting_with(prefix, most, also) if edits is None else vocabulary.within(prefix, edits, most)

    def statistics(self, need: Need) -> CollectionStatistics:
        """Count what is needed."""
        return self._searcher.count(need)

    def surfaces(self, terms: Sequence[str]) -> list[Mapping[str, int]]:
        """Return the written forms of terms with their counts."""
        return [self.snapshot.surfaces(term) for term in terms]

    def vocabulary(self) -> Iterator[TermCounts]:
        """Read the dictionaries of all segments."""
        snapshot = self.snapshot
        if len(snapshot.segments) == 1:
            segment = snapshot.segments[0].segment
            df, cf = snapshot.live_frequencies(0)
            numbers = np.flatnonzero(df)
            for part in np.array_split(numbers, max(len(numbers) // TERMS, 1)):
                yield TermCounts(segment.terms(part), df[part], cf[part])
            return
        found = Vocabulary.of(snapshot)
        yield TermCounts(found.terms(), found.df, found.cf)

    def scan(self, *, vectors: bool = False) -> Iterator[Document]:
        """Read the documents segment by segment."""
        return self.snapshot.documents(vectors=vectors)

    def sample(self, n: int, random_state: int | None = None) -> Refs:
        """Draw documents without putting them back, or take every so many-th."""
        return self.live(sampled(self.snapshot.n_docs, n, random_state))

    def live(self, places: Integers) -> Refs:
        """Count live documents segment by segment."""
        ends = np.cumsum([live.n_docs for live in self.snapshot.segments])
        homes = np.searchsorted(ends, places, side="right")
        refs = np.empty(len(places), np.int64)
        for i in distinct(homes):
            own = homes == i
            refs[own] = i << SHIFT | self.snapshot.live_docs(i)[places[own] - (ends[i - 1] if i else 0)]
        return refs

    def read(self, refs: Refs, *, vectors: bool = False) -> list[Document]:
        """Read documents, those of one segment together."""
        located = self._located(refs)
        found: dict[int, Document] = {}
        for i in distinct(located.segments):
            rows = np.flatnonzero(located.segments == i)
            documents = self.snapshot.documents_at(i, located.docs[rows].tolist(), vectors=vectors)
            found.update(zip(rows.tolist(), documents, strict=True))
        return [found[row] for row in range(len(refs))]

    def readings(self, field: str) -> Readings:
        """Count the numbers of a field, and what is none."""
        return self.snapshot.readings(field)

    def unreadable(self) -> Mapping[str, int]:
        """Count values that do not fit their field."""
        return self.snapshot.unreadable()

    def inspect(self) -> Inspection:
        """Add up the sizes of all files."""
        snapshot = self.snapshot
        containers = [live.segment.container for live in snapshot.segments]
        vectors = tuple(self._field_vectors(name, own) for name, own in sorted(snapshot.manifest.vector_fields.items()))
        return Inspection(
            deleted=sum(live.deletions.n_docs for live in snapshot.segments),
            terms=snapshot.n_terms(),
            postings=sum(live.segment.n_postings for live in snapshot.segments),
            segments=len(snapshot.segments),
            bytes=sum(container.size for container in containers) + sum(field.bytes for field in vectors),
            bytes_dictionary=sum(container.bytes_of(*DICTIONARY_SECTIONS) for container in containers),
            bytes_postings=sum(container.bytes_of(*POSTINGS_SECTIONS) for container in containers),
            vectors=vectors,
        )

    def _field_vectors(self, name: str, field: VectorField) -> FieldVectors:
        pairs = [(live, live.vectors[name]) for live in self.snapshot.segments if name in live.vectors]
        documents = sum(int((~live.deletions.deleted[file.docs]).sum()) for live, file in pairs)
        return FieldVectors(name, field, documents, sum(file.container.size for _, file in pairs))

    # -- ranking ---------------------------------------------------------------------------------------------------

    def top(self, request: TopRequest, statistics: CollectionStatistics | None = None) -> Hits:
        """Search every segment, the best so far being the threshold of the next."""
        scoring, k, conditions, wordless, likely, threshold, ids = request
        searcher = self._searcher.within(statistics)
        weights, priors = attracting(searcher, scoring)
        found = searcher.search(
            weights,
            scoring.model,
            k,
            filters=conditions,
            priors=priors,
            hint=None if likely is None else self._located(likely.refs, likely.scores),
            wordless=wordless,
            threshold=threshold,
        )
        return self._hits(found, ids=ids)

    def score(self, refs: Refs, scoring: Scoring, statistics: CollectionStatistics | None = None) -> Floats:
        """Score documents by their forward lists."""
        searcher = self._searcher.within(statistics)
        weights, priors = attracting(searcher, scoring)
        return searcher.scores_by(self._located(refs), weights, scoring.model, priors)

    def sort(self, request: SortRequest) -> Hits:
        """Order the documents of a match by their values."""
        found = self._matching(request.match)
        _, field, descending, k, numeric, ids = request
        located = sorted_by(self._searcher, found, field, descending=descending, most=k, numeric=numeric)
        return self._hits(located, ids=ids)

    def explain(
        self,
        ref: int,
        scoring: Scoring,
        *,
        probabilities: bool = False,
        statistics: CollectionStatistics | None = None,
    ) -> Explanation:
        """Add up the parts of a document's score as a search does."""
        searcher, place = self._searcher.within(statistics), self._place(ref)
        weights, priors = attracting(searcher, scoring)
        [doc_id] = self.ids(np.array([ref]))
        found = explain(searcher, dict(weights), scoring.model, doc_id, place, priors)
        if found is None:
            prior = 0.0 if priors is None else float(priors[place.segment][place.doc])
            length = int(searcher.snapshot.segments[place.segment].segment.doc_len[place.doc])
            return Explanation(doc_id, (), 1.0, 0.0, 0.0, prior, length)
        if not probabilities:
            return found
        return replace(found, probabilities=word_probabilities(searcher, scoring.model, place, found.parts))

    def nearest(self, request: NearestRequest) -> list[Hits]:
        """Search the vectors of every segment."""
        searcher, conditions = self._searcher, request.conditions
        masks = None if conditions is None else [searcher.mask(i, conditions) for i in self._segments]
        threads = 1 if request.threads is None else request.threads
        found = search_vectors(
            searcher, request.field, request.vectors, request.k, masks, threads=threads, approximate=request.approximate
        )
        return [self._hits(each) for each in found]

    # -- documents -------------------------------------------------------------------------------------------------

    def locate(self, ids: Sequence[str]) -> Refs:
        """Find documents by their ids."""
        places = map(self.snapshot.locate, ids)
        return np.array([-1 if place is None else place.segment << SHIFT | place.doc for place in places], np.int64)

    def ids(self, refs: Refs) -> list[str]:
        """Read the ids of documents."""
        if self._only is not None:
            return self._only.doc_ids(refs)
        return self._searcher.ids(self._located(refs))

    def gather(self, refs: Refs, terms: Sequence[str] = (), statistics: CollectionStatistics | None = None) -> Counts:
        """Read the forward lists of documents."""
        return gather(self._searcher.within(statistics), self._located(refs), terms)

    def documents(self, refs: Refs) -> list[dict[str, FieldValue]]:
        """Read the stored fields of documents."""
        located, segments = self._located(refs), self.snapshot.segments
        return [
            segments[i].segment.stored.fields(doc)
            for i, doc in zip(located.segments.tolist(), located.docs.tolist(), strict=True)
        ]

    def snippets(self, refs: Refs, terms: Sequence[str], width: int, longest: int) -> list[Snippet]:
        """Cut snippets out of the stored text."""
        schema = self.schema()
        return [
            snippet(snippet_text(fields, schema.text_fields), terms, schema.analyzer, width, longest)
            for fields in self.documents(refs)
        ]

    def values(self, refs: Refs, field: str, numeric: bool | None = None) -> list[str | float | None]:
        """Read the first value of a field."""
        return values_at(self._searcher, self._located(refs), field, numeric=numeric)

    def vectors(self, refs: Refs, field: str | None) -> list[npt.NDArray[np.float32] | None]:
        """Read vectors as they are stored."""
        name, _ = field_named(self.snapshot.manifest.vector_fields, field)
        rows = []
        for ref in refs.tolist():
            place = self._place(ref)
            file = self.snapshot.segments[place.segment].vectors.get(name)
            rows.append(None if file is None else file.of(place.doc))
        return rows

    # -- all documents of a query ----------------------------------------------------------------------------------

    def count(self, match: Match) -> int:
        """Count, without listing the documents where no condition narrows them."""
        latest = self._latest_match
        if match.conditions or (latest is not None and latest[0] == match):
            return sum(map(len, self._matching(match)))
        return count(self._searcher, _query(match))

    def facet(self, match: Match, field: str, size: int) -> Facet:
        """Count the values of a field."""
        return facet(self._searcher, self._matching(match), field, size)

    def value_counts(self, match: Match, field: str, *, numeric: bool) -> ValueCounts:
        """Count all values of a field."""
        return FieldValues(self._searcher, self._matching(match), field, numeric=numeric).count()

    def holding(self, match: Match, field: str, texts: Sequence[str]) -> int:
        """Count the documents with one of the texts."""
        return FieldValues(self._searcher, self._matching(match), field, numeric=False).holding(texts)

    def _matching(self, match: Match) -> MatchedDocs:
        """Find the documents of a match; the latest are remembered, for a total and facets ask for the same."""
        latest = self._latest_match
        if latest is None or latest[0] != match:
            latest = self._latest_match = match, matching(self._searcher, _query(match))
        return latest[1]

    # -- words -----------------------------------------------------------------------------------------------------

    def suggest(self, words: Sequence[str], runs: Sequence[Sequence[str]]) -> dict[str, str]:
        """Correct words by the collection's own."""
        return corrections(self, words, runs)

    def near_terms(self, words: Sequence[tuple[str, int]]) -> list[list[str]]:
        """Compare words with the written forms of all terms."""
        return near_terms(self._searcher, words)

    def sample_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[PairSample]:
        """Look for terms side by side."""
        return sample_pairs(self._searcher, pairs)

    # -- learnt models ---------------------------------------------------------------------------------------------

    def apply(self, model: str, weights: Mapping[str, float], refs: Refs) -> Floats:
        """Score documents by what the model keeps of them, segment by segment."""
        located, learnt = self._located(refs), registered(model)
        scores = np.zeros(len(refs))
        for i in distinct(located.segments):
            rows = np.flatnonzero(located.segments == i)
            folded = self._folded.of(model, self.snapshot, i)
            scores[rows] = learnt.score(weights, folded.take(located.docs[rows]))
        return scores

    def folded(self, model: str, refs: Refs) -> npt.NDArray[np.float32]:
        """Read what a model keeps of documents, a row each."""
        located = self._located(refs)
        rows = np.empty((len(refs), registered(model).width), np.float32)
        for i in distinct(located.segments):
            at = np.flatnonzero(located.segments == i)
            rows[at] = self._folded.of(model, self.snapshot, i).vectors[located.docs[at]]
        return rows

    def nearest_folded(self, request: FoldedRequest) -> Hits:
        """Find the documents of which a model keeps numbers with the largest inner products with a query's."""
        parts = []
        for i in self._segments:
            vectors = self._folded.of(request.model, self.snapshot, i).vectors
            mask = self._searcher.mask(i, request.conditions)
            docs = np.flatnonzero(mask) if len(mask) else np.arange(len(vectors))
            products, at = inner_products(vectors[docs, request.first : request.last], request.vector, request.k)
            parts.append((products[products > 0], docs[at[products > 0]]))
        return self._hits(self._searcher.joined(parts, request.k)) if parts else NO_HITS

    # -- references ------------------------------------------------------------------------------------------------

    @property
    def _segments(self) -> range:
        return range(len(self.snapshot.segments))

    def _hits(self, located: Located, *, ids: bool = False) -> Hits:
        scores, segments, docs = located
        refs = np.asarray(docs, np.int64) if self._only is not None else segments << SHIFT | docs
        return Hits(scores, refs, self._searcher.ids(located) if ids else None)

    def _located(self, refs: Refs, scores: Floats | None = None) -> Located:
        return Located(np.empty(0) if scores is None else scores, refs >> SHIFT, refs & IN_SEGMENT)

    def _place(self, ref: int) -> DocumentPlace:
        return DocumentPlace(ref >> SHIFT, ref & IN_SEGMENT)


def sampled(n_docs: int, n: int, random_state: int | None) -> Integers:
    """Places of at most n of so many documents: drawn without putting them back, or evenly spread without a seed."""
    if n_docs <= n:
        return np.arange(n_docs)
    if random_state is None:
        return np.unique(np.linspace(0, n_docs - 1, n).astype(np.int64))
    return np.sort(np.random.default_rng(random_state).choice(n_docs, n, replace=False))


def _query(match: Match) -> ParsedQuery:
    condition = both(match.conditions) if match.conditions else None
    return ParsedQuery(dict.fromkeys(match.terms, 1.0), condition, match.wordless)
