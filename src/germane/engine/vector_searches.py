"""Searches of an engine by vectors, and by words and vectors together."""

from typing import TYPE_CHECKING

import numpy.typing as npt

from germane.engine.filtering import AnyFilter
from germane.engine.results import SearchResult
from germane.engine.searching import Searching, ranking_named
from germane.lazy import load
from germane.rank.models.base import RankingModel

if TYPE_CHECKING:
    from germane.engine.pipelines import Pipeline
    from germane.engine.vectors import Encoder


class VectorSearches:
    """The methods of an `Engine` that search vectors."""

    _searching: Searching

    def vector_search(
        self,
        query: "str | npt.ArrayLike",
        k: int = 10,
        *,
        field: str | None = None,
        filter: AnyFilter | None = None,
        encoder: "Encoder | None" = None,
        threads: int | None = None,
        approximate: bool = False,
    ) -> SearchResult:
        """The k documents whose vectors are nearest to the query's: exactly, by cosine or inner product.

        `query`: a vector, or a text that `encoder` makes one of; where a learnt model made the field's, it makes the
        query's too. `field`: its name, if there are several. `filter`: as in `search`; documents that do not pass are
        left out. `approximate`: by the graphs that `build_graphs` made, where they are: much faster on large
        collections, and some of the best may be missed.
        """
        search = load("germane.engine.vectors.result_by_vector")
        found: SearchResult = search(self._searching, query, field, k, filter, encoder, threads, approximate)
        return found

    def vector_batch(
        self,
        queries: npt.ArrayLike,
        k: int = 10,
        *,
        field: str | None = None,
        filter: AnyFilter | None = None,
        threads: int | None = None,
        approximate: bool = False,
    ) -> list[SearchResult]:
        """Search for many vectors, one a row, faster than one by one."""
        search = load("germane.engine.vectors.results_by_vectors")
        found: list[SearchResult] = search(self._searching, field, queries, k, filter, threads, approximate)
        return found

    def vector_pipeline(
        self,
        field: str | None = None,
        *,
        vector: "npt.ArrayLike | None" = None,
        encoder: "Encoder | None" = None,
        approximate: bool = False,
    ) -> "Pipeline":
        """A search of a vector field to be composed: `fuse(engine.pipeline(), engine.vector_pipeline(encoder=m))`."""
        begin = load("germane.engine.vectors.retrieval")
        made: Pipeline = begin(self._searching, field, vector, encoder, approximate)
        return made

    def hybrid_search(
        self,
        query: str,
        vector: "npt.ArrayLike | None" = None,
        k: int = 10,
        *,
        field: str | None = None,
        encoder: "Encoder | None" = None,
        mix: float | str = "rrf",
        model: str | RankingModel | None = None,
        syntax: bool = True,
        filter: AnyFilter | None = None,
        approximate: bool = False,
    ) -> SearchResult:
        """The best k documents by words and by vectors together.

        `vector`: the query's; else `encoder` makes it. `mix`: "rrf" joins the two rankings by reciprocal ranks; a
        number from 0 to 1 is the weight of the vectors in the sum of scores, each ranking's moved to 0..1. `filter`: as
        in `search`.
        """
        vectors = self.vector_pipeline(field, vector=vector, encoder=encoder, approximate=approximate)
        words = load("germane.engine.pipelines.Retrieval")(self._searching, ranking_named(model, None, {}))
        both: Pipeline = load("germane.engine.vectors.mixed")(words, vectors, mix)
        return both.search(query, k, syntax=syntax, filter=filter)
