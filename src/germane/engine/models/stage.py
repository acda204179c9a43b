"""A latent model as a second stage: it scores candidates again, and finds documents that share no word with the query.

    score(q, d) = model(q, d) + w · first(q, d)

The model mixes with the words of the title by its own weights (λ1, λ2, or the literal weight of a projection); with w
(`first_weight`) the score of a ranking model over the whole text (BM25) counts too. Both depend on query and document
alone, so that a score can be explained (`explained`).

What a learnt model of the index keeps of documents lies in a vector field beside them (`fold_in.py`); titles of other
models are folded in where the documents lie (`rank.retrievers.learnt`).
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from germane.arrays import Floats
from germane.engine.candidates import Candidates
from germane.errors import ParameterError
from germane.latent.ensemble import EnsembleModel, PartModel
from germane.latent.explaining import explained
from germane.latent.pairs import FoldedDocuments
from germane.latent.parts import LatentExplanation
from germane.latent.projection import ProjectionModel
from germane.latent.saving import LatentModel
from germane.lm.parameters import number
from germane.rank.models.base import RankingModel
from germane.rank.query.resolve import ParsedQuery
from germane.rank.registry import model_named
from germane.rank.retriever import (
    NO_HITS,
    FoldedRequest,
    Hits,
    Refs,
    Retriever,
    Scoring,
    SignedTopic,
    TopRequest,
)
from germane.rank.retrievers.learnt import register
from germane.rank.retrievers.surfaces import written
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
    key: str = field(init=False, repr=False)
    """The name by which collections know the model."""

    def __post_init__(self) -> None:
        if number("first_weight", self.first_weight) < 0:
            raise ParameterError(f"first_weight must be 0 or more, not {self.first_weight}")
        object.__setattr__(self, "key", register(self.model, self.source))

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
        """Return the scores of the model alone for the candidates."""
        self.require_same_words(candidates.retriever.schema().analyzer)
        return candidates.retriever.apply(self.key, query.weights, candidates.refs)

    def documents(self, refs: Refs, retriever: Retriever) -> FoldedDocuments:
        """Documents as the model has folded them in."""
        schema = retriever.schema()
        self.require_same_words(schema.analyzer)
        titles = [title_of(fields, schema.text_fields) for fields in retriever.documents(refs)]
        return self.model.fold_in(titles, retriever.folded(self.key, refs))

    def more(self, query: ParsedQuery, candidates: Candidates, n: int) -> Hits:
        """The documents nearest to the query in the projected space, or those that hold the title words that it most
        probably asks for; of a combination some of each part."""
        retriever = candidates.retriever
        self.require_same_words(retriever.schema().analyzer)
        if not isinstance(self.model, EnsembleModel):
            return self._more_by(self.model, slice(0, self.model.width), query, retriever, n)
        parts = list(self.model.columns())
        share = -(-n // len(parts))
        return _distinct([self._more_by(part, columns, query, retriever, share) for part, columns in parts], n)

    def _more_by(self, model: PartModel, columns: slice, query: ParsedQuery, retriever: Retriever, n: int) -> Hits:
        """Return the n best documents of one model; `columns` are its own among the stored numbers of documents."""
        if isinstance(model, ProjectionModel):
            asked = model.project(model.vocabulary.query(query.weights))[0]
            if not asked.any():
                return NO_HITS
            return retriever.nearest_folded(
                FoldedRequest(self.key, asked, columns.start, columns.stop, n, query.demands)
            )
        wanted = model.expansion(query.weights, EXPANSION_WORDS)
        if not wanted or retriever.schema().n_docs == 0:
            return NO_HITS
        return retriever.top(TopRequest(Scoring(SignedTopic(wanted), self.first), n, query.demands))

    def explained(self, query: ParsedQuery, retriever: Retriever, ref: int) -> LatentExplanation:
        """The parts of what the model says of one document, in words as the index's documents write them."""
        document = self.documents(np.array([ref], np.int64), retriever)
        return explained(self.model, query.weights, document, lambda term: written(retriever, [term])[0])

    def require_same_words(self, analyzer: Analyzer) -> None:
        """Raise where the model makes other words of a text than the index does."""
        if self.model.vocabulary.analyzer.fingerprint != analyzer.fingerprint:
            raise ParameterError(
                f"the model '{self.name}' was learnt with another analyzer than the index has: learn it from pairs "
                "made with the index's (Pairs.build(pairs, engine.analyzer)), or by germane learn"
            )


def _distinct(found: Sequence[Hits], n: int) -> Hits:
    """The first n of several rankings that take turns, none twice."""
    scores: dict[int, float] = {}
    rows = (zip(hits.refs.tolist(), hits.scores.tolist(), strict=True) for hits in found)
    for turn in itertools.zip_longest(*rows):
        for row in turn:
            if row is not None:
                scores.setdefault(*row)
    chosen = list(scores.items())[:n]
    return Hits(np.array([score for _, score in chosen], np.float64), np.array([ref for ref, _ in chosen], np.int64))
