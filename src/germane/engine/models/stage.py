"""A latent model as a second stage: it scores candidates again, and finds documents that share no word with the query.

    score(q, d) = model(q, d) + w · first(q, d)

The model mixes with the words of the title by its own weights (λ1, λ2, or the literal weight of a projection); with w
(`first_weight`) the score of a ranking model over the whole text (BM25) counts too. Both depend on query and document
alone, so that a score can be explained (`explained`).

What a learnt model of the index keeps of documents lies in a vector field beside them (`fold_in.py`), and is read from
there. Of other models titles are folded in segment by segment, once for each model and segment, and kept in memory: 4
bytes for each topic or dimension of a document. Either way some bytes are kept for each word of a title.
"""

import itertools
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from germane.arrays import Floats, Integers
from germane.engine.candidates import Candidates
from germane.errors import ParameterError
from germane.index.durable import Identity
from germane.index.snapshot import DocumentPlace, LiveSegment, Snapshot
from germane.index.vector_fields import Vectors
from germane.latent.ensemble import EnsembleModel, PartModel
from germane.latent.explaining import explained
from germane.latent.pairs import FoldedDocuments
from germane.latent.parts import LatentExplanation
from germane.latent.projection import ProjectionModel
from germane.latent.saving import LatentModel
from germane.lm.parameters import number
from germane.rank.hits import Hits
from germane.rank.models import RankingModel
from germane.rank.query import ParsedQuery
from germane.rank.registry import model_named
from germane.rank.searcher import Searcher
from germane.text import Analyzer
from germane.types import title_of

FIRST = "bm25"
"""The ranking model whose score may be mixed in."""
EXPANSION_WORDS = 20
"""Title words that a query is expanded by."""


@dataclass(frozen=True, eq=False)
class LatentStage:
    """A latent model with the weight of the first stage."""

    model: LatentModel
    first_weight: float = 0.0
    name: str = "latent"
    source: str = ""
    """Of a learnt model of the index: what its vector field is called by (`source.FieldSource`)."""
    _folded: "_Folded" = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if number("first_weight", self.first_weight) < 0:
            raise ParameterError(f"first_weight must be 0 or more, not {self.first_weight}")
        object.__setattr__(self, "_folded", _Folded(self.model, self.source))

    @property
    def first(self) -> RankingModel:
        """The ranking model that is mixed in."""
        return model_named(FIRST)

    def rerank(self, query: ParsedQuery, candidates: Candidates) -> Floats:
        """The mixed scores."""
        scores = self.parts(query, candidates)
        if self.first_weight > 0:
            scores = scores + self.first_weight * candidates.scores_by(self.first.of_query(query.runs))
        return scores

    def parts(self, query: ParsedQuery, candidates: Candidates) -> Floats:
        """What the model alone says of the candidates."""
        hits, searcher = candidates.located
        scores = np.zeros(len(hits.docs))
        for rows, documents in self.documents(hits, searcher.snapshot):
            scores[rows] = self.model.score(query.weights, documents)
        return scores

    def documents(self, hits: Hits, snapshot: Snapshot) -> Iterator[tuple[Integers, FoldedDocuments]]:
        """Segment by segment the places of its hits, and these folded in."""
        self.require_same_words(snapshot.manifest.analyzer)
        for i in sorted(set(hits.segments.tolist())):
            rows = np.flatnonzero(hits.segments == i)
            yield rows, self._folded.of(snapshot, i).take(hits.docs[rows])

    def more(self, query: ParsedQuery, candidates: Candidates, n: int) -> Hits:
        """The documents nearest to the query in the projected space, or those that hold the title words that it most
        probably asks for; of a combination some of each part."""
        _, searcher = candidates.located
        self.require_same_words(searcher.snapshot.manifest.analyzer)
        if not isinstance(self.model, EnsembleModel):
            return self._more_by(self.model, slice(None), query, searcher, n)
        parts = list(self.model.columns())
        share = -(-n // len(parts))
        return _distinct([self._more_by(part, columns, query, searcher, share) for part, columns in parts], n)

    def _more_by(self, model: PartModel, columns: slice, query: ParsedQuery, searcher: Searcher, n: int) -> Hits:
        """What one model finds; of the numbers that are kept of documents the `columns` are its own."""
        if isinstance(model, ProjectionModel):
            return self._nearest(model, columns, query, searcher, n)
        wanted = model.expansion(query.weights, EXPANSION_WORDS)
        if not wanted or searcher.snapshot.n_docs == 0:
            return _NO_HITS
        return searcher.search(wanted, self.first, n, filters=query.demands)

    def _nearest(self, model: ProjectionModel, columns: slice, query: ParsedQuery, searcher: Searcher, n: int) -> Hits:
        snapshot = searcher.snapshot
        asked = model.project(model.vocabulary.query(query.weights))[0]
        if not asked.any():
            return _NO_HITS
        parts = []
        for i in range(len(snapshot.segments)):
            cosines = np.asarray(self._folded.of(snapshot, i).vectors[:, columns] @ asked, np.float64)
            mask = searcher.mask(i, query.demands)
            docs = np.flatnonzero(mask) if len(mask) else np.arange(len(cosines))
            docs = docs[cosines[docs] > 0]
            best = docs[np.argsort(-cosines[docs], kind="stable")[:n]]
            parts.append(Hits(cosines[best], np.full(len(best), i), best))
        joined = Hits(*(np.concatenate(each) for each in zip(*parts, strict=True))) if parts else _NO_HITS
        order = np.argsort(-joined.scores, kind="stable")[:n]
        return Hits(joined.scores[order], joined.segments[order], joined.docs[order])

    def explained(self, query: ParsedQuery, snapshot: Snapshot, place: DocumentPlace) -> LatentExplanation:
        """The parts of what the model says of one document, in words as the index's documents write them."""
        self.require_same_words(snapshot.manifest.analyzer)
        document = self._folded.of(snapshot, place.segment).take([place.doc])
        return explained(self.model, query.weights, document, snapshot.surface)

    def require_same_words(self, analyzer: Analyzer) -> None:
        """Raise where the model makes other words of a text than the index does."""
        if self.model.vocabulary.analyzer.fingerprint != analyzer.fingerprint:
            raise ParameterError(
                f"the model '{self.name}' was learnt with another analyzer than the index has: learn it from pairs "
                "made with the index's (Pairs.build(pairs, engine.analyzer)), or by germane learn"
            )


_NO_HITS = Hits(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))


def _distinct(found: Sequence[Hits], n: int) -> Hits:
    """The first n of several rankings that take turns, none twice."""
    places: dict[tuple[int, int], float] = {}
    rows = (zip(hits.segments.tolist(), hits.docs.tolist(), hits.scores.tolist(), strict=True) for hits in found)
    for turn in itertools.zip_longest(*rows):
        for row in turn:
            if row is not None:
                places.setdefault((row[0], row[1]), row[2])
    chosen = list(places.items())[:n]
    if not chosen:
        return _NO_HITS
    segments, docs = zip(*(place for place, _ in chosen), strict=True)
    return Hits(np.array([score for _, score in chosen]), np.array(segments), np.array(docs))


class _Folded:
    """The folded-in titles of segments, made when they are first needed; of the last snapshot asked for."""

    def __init__(self, model: LatentModel, source: str) -> None:
        self._model, self._source = model, source
        self._made: dict[Identity, FoldedDocuments] = {}
        self._making = threading.Lock()

    def of(self, snapshot: Snapshot, i: int) -> FoldedDocuments:
        """All documents of segment i, deleted ones too."""
        live = snapshot.segments[i]
        segment = live.segment
        found = self._made.get(segment.identity)
        if found is not None:
            return found
        with self._making:
            if segment.identity not in self._made:
                documents = self._model.fold_in(titles_of(snapshot, live), stored_vectors(live, self._source))
                there = {live.segment.identity for live in snapshot.segments}
                kept = {key: made for key, made in self._made.items() if key in there}
                self._made = {**kept, segment.identity: documents}
            return self._made[segment.identity]


def titles_of(snapshot: Snapshot, live: LiveSegment, docs: Integers | None = None) -> list[str]:
    """The titles of a segment's documents, or of some, ascending."""
    titles = [title_of(fields, snapshot.manifest.text_fields) for fields in live.segment.stored.all_fields()]
    return titles if docs is None else [titles[doc] for doc in docs.tolist()]


def stored_vectors(live: LiveSegment, source: str) -> Vectors | None:
    """The vectors that a version made of all documents of a segment, a row each; None where one is missing.

    Rows of deleted documents may be zeros.
    """
    file = next((file for file in live.vectors.values() if file.field.source == source), None) if source else None
    if file is None:
        return None
    values: Vectors = file.values[:, : file.field.dimension]
    if len(file) == live.segment.n_docs:
        return values
    there = live.deletions.deleted.copy()
    there[file.docs] = True
    if not there.all():
        return None
    rows = np.zeros((live.segment.n_docs, file.field.dimension), np.float32)
    rows[file.docs] = values
    return rows
