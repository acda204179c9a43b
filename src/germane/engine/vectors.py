"""Vector fields through the engine: who makes vectors of texts, how a search by vectors joins one by words."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from germane.engine.filtering import AnyFilter
from germane.engine.pipelines import Asked, Pipeline, Ranked, fuse
from germane.engine.results import SearchResult
from germane.engine.searching import Searching
from germane.errors import ParameterError
from germane.index.vector_fields import VectorField, field_named
from germane.lazy import load
from germane.lm.parameters import fraction
from germane.rank.models.base import RankingModel
from germane.rank.query.conditions import Condition
from germane.rank.query.resolve import ParsedQuery
from germane.rank.retriever import NO_HITS, Hits, NearestRequest, Retriever, SignedTopic

RRF = "rrf"
"""The mixture of two rankings by their ranks."""


@runtime_checkable
class Encoder(Protocol):
    """Makes vectors of texts: a projection of `germane.latent`, or a wrapper of any embedding model."""

    def encode(self, texts: Sequence[str]) -> npt.ArrayLike:
        """A vector for each text of a document, one a row."""

    def encode_query(self, text: str) -> npt.ArrayLike:
        """The vector of a query."""


def own_encoder(searching: Searching, name: str | None) -> Encoder | None:
    """The learnt model that makes the vectors of a field, if it is one that makes vectors of queries too."""
    name, field = field_named(searching.retriever.schema().vector_fields, name)
    if not field.source:
        return None
    found = load("germane.engine.models.fold_in.encoder_of")(searching.models, name, field)
    if not isinstance(found, Encoder):
        raise ParameterError(
            f"the model of the vectors '{name}' makes none of queries: it ranks as a second stage, rerank=\"{name}\""
        )
    return found


def query_vector(query: "str | npt.ArrayLike", encoder: Encoder | None) -> npt.NDArray[np.generic]:
    """The vector that a search is given, or the one that the encoder makes of its text."""
    if isinstance(query, str):
        if encoder is None:
            raise ParameterError("a text needs an encoder to be searched by its vector: give one (encoder=...)")
        if not isinstance(encoder, Encoder):
            raise ParameterError(f"an encoder has the methods encode and encode_query; {encoder!r} has not")
        return np.asarray(encoder.encode_query(query))
    if encoder is not None:
        raise ParameterError("the query is a vector already: an encoder is for texts")
    return np.asarray(query)


def best_by_vectors(
    retriever: Retriever,
    name: str | None,
    vector: npt.NDArray[np.generic],
    k: int,
    conditions: tuple[Condition, ...] | None,
    *,
    encoded: bool,
    threads: int | None = None,
    approximate: bool = False,
) -> Hits:
    """The best k documents; none for a text of which the encoder knows no word and gives zeros."""
    if vector.ndim != 1:
        raise ParameterError(f"a query is one vector, not an array of shape {vector.shape}")
    if encoded and not vector.any():
        field_named(retriever.schema().vector_fields, name)
        return NO_HITS
    return retriever.nearest(NearestRequest(name, vector[None], k, conditions, approximate, _all_cores(threads)))[0]


def _all_cores(threads: int | None) -> int:
    """Return the number of threads asked for, or of cores."""
    return os.cpu_count() or 1 if threads is None else threads


def _passing(searching: Searching, retriever: Retriever, filter: AnyFilter | None) -> ParsedQuery:
    """The documents that pass a filter, as a query without words."""
    return ParsedQuery({}) if filter is None else searching.read(retriever, "", True, filter)


def results_by_vectors(
    searching: Searching,
    name: str | None,
    queries: npt.ArrayLike,
    k: int,
    filter: AnyFilter | None,
    threads: int | None,
    approximate: bool,
) -> list[SearchResult]:
    """A result for each query, all of one generation."""
    retriever = searching.retriever
    parsed = _passing(searching, retriever, filter)
    conditions = None if filter is None else parsed.conditions
    request = NearestRequest(name, np.asarray(queries), k, conditions, approximate, _all_cores(threads))
    return [SearchResult(parsed, hits, retriever) for hits in retriever.nearest(request)]


def result_by_vector(
    searching: Searching,
    query: "str | npt.ArrayLike",
    name: str | None,
    k: int,
    filter: AnyFilter | None,
    encoder: Encoder | None,
    threads: int | None,
    approximate: bool,
) -> SearchResult:
    """The result of one query, a vector or a text."""
    if isinstance(query, str) and encoder is None:
        encoder = own_encoder(searching, name)
    retriever, vector = searching.retriever, query_vector(query, encoder)
    parsed = _passing(searching, retriever, filter)
    conditions = None if filter is None else parsed.conditions
    hits = best_by_vectors(
        retriever, name, vector, k, conditions, encoded=encoder is not None, threads=threads, approximate=approximate
    )
    return SearchResult(parsed, hits, retriever)


@dataclass(frozen=True, eq=False)
class VectorRetrieval(Pipeline):
    """A search of a vector field, to be composed: by the vector given, or by the one an encoder makes of the query.

    The conditions of the query hold for it too; its words say nothing beside the vector.
    """

    searching: Searching = field(repr=False)
    name: str | None
    vector: npt.NDArray[np.generic] | None = field(default=None, repr=False)
    encoder: Encoder | None = field(default=None, repr=False)
    approximate: bool = False

    def __post_init__(self) -> None:
        if (self.vector is None) == (self.encoder is None):
            raise ParameterError("a search by vectors needs a vector or an encoder, one of the two")
        field_named(self.searching.retriever.schema().vector_fields, self.name)

    @property
    def model(self) -> RankingModel | None:
        return None

    @property
    def home(self) -> Searching:
        return self.searching

    def best(self, asked: Asked, n: int) -> Ranked:
        retriever = self.searching.retriever
        parsed = self.searching.read(retriever, asked.query, asked.syntax, asked.filter)
        if self.vector is None and not isinstance(asked.query, str):
            raise ParameterError("an encoder makes vectors of texts: the query is a topic model")
        vector = query_vector(str(asked.query), self.encoder) if self.vector is None else self.vector
        hits = best_by_vectors(
            retriever,
            self.name,
            vector,
            n,
            parsed.demands,
            encoded=self.vector is None,
            approximate=self.approximate,
        )
        return Ranked(parsed, SignedTopic(parsed.weights), hits, retriever, (), None)


def retrieval(
    searching: Searching,
    name: str | None,
    vector: npt.ArrayLike | None,
    encoder: Encoder | None,
    approximate: bool,
) -> VectorRetrieval:
    """A search of a vector field to be composed; without a vector, by the encoder or the model that made the field."""
    if vector is None and encoder is None:
        encoder = own_encoder(searching, name)
    given = None if vector is None else np.asarray(vector)
    return VectorRetrieval(searching, name, given, encoder, approximate)


def mixed(words: Pipeline, vectors: Pipeline, mix: float | str) -> Pipeline:
    """Both rankings as one: by their ranks ("rrf"), or (1 - mix) · s̃_words + mix · s̃_vectors, s̃ from 0 to 1.

    The scores of each ranking's first results are moved to that range (`rank.fusion.min_max`).
    """
    if isinstance(mix, str):
        if mix != RRF:
            raise ParameterError(f"mix is a weight of the vectors from 0 to 1, or '{RRF}', not '{mix}'")
        return fuse(words, vectors, method=RRF)
    share = fraction("mix", mix)
    return fuse(words, vectors, method="combsum", weights=(1.0 - share, share))


def field_for(
    known: VectorField | None, matrix: npt.NDArray[np.generic], dtype: str | None, similarity: str | None, replace: bool
) -> VectorField:
    """The field that a matrix of vectors belongs to: the one that is there, or a new one."""
    if matrix.ndim != 2:
        raise ParameterError(f"vectors come as a matrix, a row for each id, not as an array of shape {matrix.shape}")
    if known is None or replace:
        return VectorField(int(matrix.shape[1]), dtype or "float32", similarity or "cosine")
    return VectorField(known.dimension, dtype or known.dtype, similarity or known.similarity)
