"""A latent model as a second stage: it scores candidates again, and finds documents that share no word with the query.

    score(q, d) = model(q, d) + w · first(q, d)

The model mixes with the words of the title by its own weights (λ1, λ2, or the literal weight of a projection); with w
(`first_weight`) the score of a ranking model over the whole text (BM25) counts too. Both depend on query and document
alone, so that a score can be explained (`explained`).

Titles are folded in segment by segment, once for each model and segment, and kept in memory: 4 bytes for each topic or
dimension of a document, and some for each word of its title.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from germane.arrays import Floats, Integers
from germane.engine.candidates import Candidates
from germane.errors import ParameterError
from germane.index.container import Identity
from germane.index.snapshot import DocumentPlace, Snapshot
from germane.latent.explaining import explained
from germane.latent.pairs import Documents
from germane.latent.parts import LatentExplanation
from germane.latent.projection import ProjectionModel
from germane.latent.saving import LatentModel
from germane.lm.parameters import number
from germane.rank.models import RankingModel
from germane.rank.query import ParsedQuery
from germane.rank.registry import model_named
from germane.rank.searcher import Hits, Searcher
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
    _folded: "_Folded" = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if number("first_weight", self.first_weight) < 0:
            raise ParameterError(f"first_weight must be 0 or more, not {self.first_weight}")
        object.__setattr__(self, "_folded", _Folded(self.model))

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

    def documents(self, hits: Hits, snapshot: Snapshot) -> Iterator[tuple[Integers, Documents]]:
        """Segment by segment the places of its hits, and these folded in."""
        self.require_same_words(snapshot)
        for i in sorted(set(hits.segments.tolist())):
            rows = np.flatnonzero(hits.segments == i)
            yield rows, self._folded.of(snapshot, i).take(hits.docs[rows])

    def more(self, query: ParsedQuery, candidates: Candidates, n: int) -> Hits:
        """The documents nearest to the query in the projected space, or those that hold the title words that it most
        probably asks for."""
        _, searcher = candidates.located
        if isinstance(self.model, ProjectionModel):
            return self._nearest(query, searcher, n)
        self.require_same_words(searcher.snapshot)
        wanted = self.model.expansion(query.weights, EXPANSION_WORDS)
        if not wanted or searcher.snapshot.n_docs == 0:
            return _NO_HITS
        return searcher.search(wanted, self.first, n, filters=query.conditions)

    def _nearest(self, query: ParsedQuery, searcher: Searcher, n: int) -> Hits:
        model, snapshot = self.model, searcher.snapshot
        assert isinstance(model, ProjectionModel)
        self.require_same_words(snapshot)
        asked = model.project(model.vocabulary.query(query.weights))[0]
        if not asked.any():
            return _NO_HITS
        parts = []
        for i in range(len(snapshot.segments)):
            cosines = np.asarray(self._folded.of(snapshot, i).vectors @ asked, np.float64)
            mask = searcher.mask(i, query.conditions)
            docs = np.flatnonzero(mask) if len(mask) else np.arange(len(cosines))
            docs = docs[cosines[docs] > 0]
            best = docs[np.argsort(-cosines[docs], kind="stable")[:n]]
            parts.append(Hits(cosines[best], np.full(len(best), i), best))
        joined = Hits(*(np.concatenate(each) for each in zip(*parts, strict=True))) if parts else _NO_HITS
        order = np.argsort(-joined.scores, kind="stable")[:n]
        return Hits(joined.scores[order], joined.segments[order], joined.docs[order])

    def explained(self, query: ParsedQuery, snapshot: Snapshot, place: DocumentPlace) -> LatentExplanation:
        """The parts of what the model says of one document."""
        self.require_same_words(snapshot)
        document = self._folded.of(snapshot, place.segment).take([place.doc])
        return explained(self.model, query.weights, document)

    def require_same_words(self, snapshot: Snapshot) -> None:
        """Raise where the model makes other words of a text than the index does."""
        if self.model.vocabulary.analyzer.fingerprint != snapshot.manifest.analyzer.fingerprint:
            raise ParameterError(
                f"the model '{self.name}' was learnt with another analyzer than the index has: learn it from pairs "
                "made with the index's (Pairs.build(pairs, engine.analyzer)), or by germane learn"
            )


_NO_HITS = Hits(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))


class _Folded:
    """The folded-in titles of segments, made when they are first needed; of the last snapshot asked for."""

    def __init__(self, model: LatentModel) -> None:
        self._model = model
        self._made: dict[Identity, Documents] = {}
        self._making = threading.Lock()

    def of(self, snapshot: Snapshot, i: int) -> Documents:
        """All documents of segment i, deleted ones too."""
        segment = snapshot.segments[i].segment
        found = self._made.get(segment.identity)
        if found is not None:
            return found
        with self._making:
            if segment.identity not in self._made:
                names = snapshot.manifest.text_fields
                titles = [title_of(fields, names) for fields in segment.stored.all_fields()]
                there = {live.segment.identity for live in snapshot.segments}
                kept = {key: made for key, made in self._made.items() if key in there}
                self._made = {**kept, segment.identity: self._model.fold_in(titles)}
            return self._made[segment.identity]
