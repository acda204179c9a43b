"""What the engine answers, as every door prints it: frozen values with `to_dict()`; `germane.schema` describes them."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from germane.engine.feedback_report import EvidenceDocument, ExpansionWord, Fallen, FeedbackReport, Move
from germane.engine.reranked import RerankedExplanation
from germane.engine.result_groups import ResultGroup
from germane.engine.results import Hit, SearchResult
from germane.feedback import Drift
from germane.index.writer import AddReport
from germane.latent.parts import LatentPart
from germane.rank.plan import Collection
from germane.rank.registry import DEFAULT_MODEL, model_defaults, model_named
from germane.rank.retriever import FieldVectors, Retriever
from germane.rank.scoring.explain import Explanation, TermPart, WordProbability
from germane.rank.scoring.facets import Facet
from germane.rank.snippets import Snippet
from germane.schema import ABSENT, HIDDEN, Response
from germane.types import FieldValue, JSONScalar

RANKINGS = ("first", "second", "final")
"""Parameters of a feedback method that say how it ranks when no model is named."""


@dataclass(frozen=True, slots=True)
class SnippetResponse(Response):
    """A piece of a document, and the places [start, end) of the query's words in it."""

    text: str
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class HitResponse(Response):
    """One result, with the fields of the document as they were added. Without a title, `title` is left out.

    `snippet` is told where it was asked for, `score` unless a field orders the results.
    """

    rank: int
    id: str
    score: Annotated[float | None, ABSENT]
    title: Annotated[FieldValue, ABSENT] = None
    fields: Mapping[str, FieldValue] = dataclasses.field(default_factory=dict)
    snippet: Annotated[SnippetResponse | None, ABSENT] = None

    @classmethod
    def of(cls, hit: Hit, piece: Snippet | None = None, *, scored: bool = True) -> "HitResponse":
        """The hit, its title told apart."""
        told = None if piece is None else SnippetResponse(piece.text, tuple(piece.marks))
        return cls(hit.rank, hit.id, hit.score if scored else None, hit.fields.get("title"), hit.fields, told)


@dataclass(frozen=True, slots=True)
class FeedbackResponse(Response):
    """What feedback did: its words, strongest first, the documents they are from, and what moved.

    `drift` is what the guard saw, null without one. `parameters` lacks the rankings that a named model replaced.
    """

    method: str
    parameters: Mapping[str, JSONScalar]
    drift: Drift | None
    words: tuple[ExpansionWord, ...]
    documents: tuple[EvidenceDocument, ...]
    moves: tuple[Move, ...]
    fallen: tuple[Fallen, ...]

    @classmethod
    def of(cls, name: str, report: FeedbackReport) -> "FeedbackResponse":
        """All of the report, under the method's name."""
        return cls(
            name,
            _parameters(report),
            report.drift,
            tuple(report.words),
            tuple(report.documents),
            tuple(report.moves),
            tuple(report.fallen),
        )


def _parameters(report: FeedbackReport) -> dict[str, JSONScalar]:
    """Numbers as they are, smoothings as they are written in Python; without rankings that a named model replaced."""
    replaced = () if report.own_rankings else RANKINGS
    names = [field.name for field in dataclasses.fields(report.method) if field.name not in replaced]
    values = {name: getattr(report.method, name) for name in names}
    return {
        name: value if value is None or isinstance(value, bool | int | float | str) else str(value)
        for name, value in values.items()
    }


@dataclass(frozen=True, slots=True)
class SearchResponse(Response):
    """The best documents for a query. `model` names the model of the last ranking.

    `suggestion` is the query with its unknown words corrected, null where there is nothing to correct. `reason` says
    why there are no hits, `notes` how the query was read where that may surprise. `learnt` are the parameters that were
    "auto". `feedback` is told where it was asked for.
    `total`: documents that the query finds, at least so many if not `total_is_exact`. `facets`: counts by value, of the
    fields asked for. `groups`: the first results in groups of alike ones, the largest first, where they were asked for.
    `reranked_by`: the learnt model that was promoted and scored the first results again, or `not_reranked`: why it
    could not; left out where none was promoted, or the request names its ranking.
    """

    query: str
    model: str
    k: int
    hits: tuple[HitResponse, ...]
    suggestion: str | None
    feedback: Annotated[FeedbackResponse | None, ABSENT] = None
    reason: Annotated[str | None, ABSENT] = None
    learnt: Annotated[Mapping[str, float] | None, ABSENT] = None
    notes: Annotated[tuple[str, ...] | None, ABSENT] = None
    result: Annotated[SearchResult | None, HIDDEN] = None
    offset: int = 0
    total: int = 0
    total_is_exact: bool = True
    facets: Annotated[tuple[Facet, ...] | None, ABSENT] = None
    groups: Annotated[tuple[ResultGroup, ...] | None, ABSENT] = None
    reranked_by: Annotated[str | None, ABSENT] = None
    not_reranked: Annotated[str | None, ABSENT] = None

    @classmethod
    def of(cls, result: SearchResult, query: str, model: str, k: int) -> "SearchResponse":
        """The response of a search by vectors: it finds as many documents as are asked for."""
        hits = tuple(HitResponse.of(hit, None, scored=True) for hit in result)
        return cls(query, model, k, hits, None, result=result, total=len(hits), total_is_exact=False)


@dataclass(frozen=True, slots=True)
class SecondStageResponse(Response):
    """What a latent model gave to a score: constant + Σ impacts, and first_weight times the first stage's score.

    `parts` are those of the query's words: `literal` because the title holds the word, `latent` because of `sources`,
    which are words of the title or topics.
    """

    model: str
    first_weight: float
    first_score: float
    constant: float
    parts: tuple[LatentPart, ...]


@dataclass(frozen=True, slots=True)
class ExplainResponse(Response):
    """The parts of a score: score = norm · Σ impacts + (constant + document + prior), added in this order.

    With `second`, that is the first stage's part, and score = second.constant + Σ second's impacts + first_weight times
    it.

    `probabilities`, where asked for: p_d = P(w|d), p_C = P(w|C), theta_D the smoothed θ_D(w), and α·log θ_D(w).
    """

    query: str
    model: str
    score: float
    doc_id: str
    parts: tuple[TermPart, ...]
    norm: float
    constant: float
    document: float
    prior: float
    length: int
    learnt: Annotated[Mapping[str, float] | None, ABSENT] = None
    probabilities: Annotated[tuple[WordProbability, ...] | None, ABSENT] = None
    second: Annotated[SecondStageResponse | None, ABSENT] = None

    @classmethod
    def of(
        cls, query: str, model: str, found: Explanation, learnt: Mapping[str, float] | None = None
    ) -> "ExplainResponse":
        """The explanation, and what it explains."""
        return cls(
            query,
            model,
            found.score,
            found.doc_id,
            found.parts,
            found.norm,
            found.constant,
            found.document,
            found.prior,
            found.length,
            learnt or None,
            found.probabilities,
            _second(found),
        )


def _second(found: Explanation) -> SecondStageResponse | None:
    if not isinstance(found, RerankedExplanation) or found.latent is None:
        return None
    latent = found.latent
    return SecondStageResponse(found.stage, found.first_weight, found.first_score, latent.constant, latent.parts)


@dataclass(frozen=True, slots=True)
class VectorFieldStats(Response):
    """A vector field: what its vectors are, how many live documents have one, and the bytes of its files.

    `model`: the version of a learnt model that makes them; left out where they came with the documents.
    """

    name: str
    dimension: int
    dtype: str
    similarity: str
    documents: int
    bytes: int
    model: Annotated[str | None, ABSENT] = None

    @classmethod
    def of(cls, found: FieldVectors) -> "VectorFieldStats":
        """Those of a field as a collection tells of it."""
        own = found.field
        model = own.source.partition(" ")[0] or None
        return cls(found.name, own.dimension, own.dtype, own.similarity, found.documents, found.bytes, model)


@dataclass(frozen=True, slots=True)
class IndexStats(Response):
    """Numbers about an index, and its settings. `deleted` documents are gone but still on disk until a merge.

    `ranking`: the model that ranks when none is named, with its parameters as this collection makes them.
    `no_number`: fields of numbers, with how many documents have something else there.
    """

    documents: int
    deleted: int
    tokens: int
    terms: int
    postings: int
    segments: int
    generation: int
    bytes: int
    bytes_dictionary: int
    bytes_postings: int
    text_fields: tuple[str, ...]
    filterable: tuple[str, ...]
    analyzer: Mapping[str, Any]
    fingerprint: str
    ranking: Mapping[str, Any]
    vectors: tuple[VectorFieldStats, ...] = ()
    no_number: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AddResponse(Response):
    """What an add did: documents added, how many of them replaced older ones, how many were skipped as known already.

    `unreadable` records of the source were passed over; `documents` is what the index holds now, and `no_number` says
    in how many of them a field of numbers holds something else.
    """

    added: int
    replaced: int
    skipped: int
    unreadable: int
    documents: int
    no_number: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, report: AddReport, *, unreadable: int, documents: int, no_number: Mapping[str, int]) -> "AddResponse":
        """The writer's report, with what the reader passed over."""
        return cls(report.added, report.replaced, report.skipped, unreadable, documents, no_number)


def index_stats(retriever: Retriever) -> IndexStats:
    """Describe a collection: what it holds, and what it takes on disk."""
    schema, size = retriever.schema(), retriever.inspect()
    default = model_named(DEFAULT_MODEL)
    chosen = default.chosen(Collection(schema.n_docs, schema.n_tokens))
    return IndexStats(
        documents=schema.n_docs,
        deleted=size.deleted,
        tokens=schema.n_tokens,
        terms=size.terms,
        postings=size.postings,
        segments=size.segments,
        generation=max(schema.generations),
        bytes=size.bytes,
        bytes_dictionary=size.bytes_dictionary,
        bytes_postings=size.bytes_postings,
        text_fields=schema.text_fields,
        filterable=tuple(sorted(schema.filters)),
        no_number=dict(retriever.unreadable()),
        analyzer=schema.analyzer.to_dict(),
        fingerprint=schema.analyzer.fingerprint,
        ranking={"model": DEFAULT_MODEL, **model_defaults(DEFAULT_MODEL), **chosen},
        vectors=tuple(map(VectorFieldStats.of, size.vectors)),
    )
