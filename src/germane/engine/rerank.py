"""A second stage: the best documents of the first ranking are scored again, by whatever is too dear for all of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from germane.arrays import Floats
from germane.engine.candidates import Candidates
from germane.engine.registry import RERANKER_NAMES, reranker_named
from germane.errors import ParameterError
from germane.rank.models import RankingModel
from germane.rank.query import ParsedQuery
from germane.rank.searcher import Hits

DEFAULT_DEPTH = 1000
"""How many results are scored again when nothing is said: as many as a TREC run holds."""


@runtime_checkable
class Reranker(Protocol):
    """Scores candidates again."""

    def rerank(self, query: ParsedQuery, candidates: Candidates) -> Floats:
        """A score for each candidate, higher is better; -inf is allowed, NaN is not."""


@dataclass(frozen=True)
class ByModel:
    """Scores exactly by another ranking model, priors included; after feedback by the query that feedback learnt."""

    model: RankingModel

    def rerank(self, query: ParsedQuery, candidates: Candidates) -> Floats:
        return candidates.scores_by(self.model.of_query(query.runs))


@dataclass(frozen=True)
class SecondStage:
    """A re-ranker and how many results it is given."""

    reranker: Reranker
    depth: int

    @classmethod
    def of(cls, rerank: str | Reranker | None, depth: int | None) -> "SecondStage | None":
        """What a search asked for; None if nothing."""
        if rerank is None:
            if depth is not None:
                raise ParameterError(
                    f"depth ({depth}) says how many results are re-ranked: name a re-ranker too (rerank=...), one of "
                    + ", ".join(RERANKER_NAMES)
                )
            return None
        reranker = reranker_named(rerank) if isinstance(rerank, str) else rerank
        if not isinstance(reranker, Reranker):
            raise ParameterError(f"a re-ranker has a method rerank(query, candidates); {reranker!r} has none")
        if depth is not None and depth < 1:
            raise ParameterError(f"depth must be at least 1, not {depth}")
        return cls(reranker, DEFAULT_DEPTH if depth is None else depth)

    def apply(self, hits: Hits, k: int, query: ParsedQuery, candidates: Callable[[Hits], Candidates]) -> Hits:
        """The best k: the first `depth` hits in the re-ranker's order (then by id), the others below in their own.

        The scores of the others are lowered by one number, so that scores still fall and a run is read in this order.
        """
        n = self.depth
        chosen = candidates(Hits(hits.scores[:n], hits.segments[:n], hits.docs[:n]))
        if not len(chosen):
            return hits
        scores = np.asarray(self.reranker.rerank(query, chosen), np.float64)
        if scores.shape != (len(chosen),) or np.isnan(scores).any():
            raise ParameterError(
                f"{type(self.reranker).__name__} must give a number for each of {len(chosen)} candidates, not an array "
                f"of shape {scores.shape} with {int(np.isnan(scores).sum())} NaN"
            )
        order = [i for _, _, i in sorted(zip((-scores).tolist(), chosen.ids, range(len(chosen)), strict=True))]
        rest = hits.scores[n:]
        below = np.nextafter(scores[order[-1]], -np.inf) - (rest[:1] - rest) if len(rest) else rest
        places = np.concatenate([np.array(order, np.int64), np.arange(len(order), len(hits.docs))])[:k]
        return Hits(np.concatenate([scores[order], below])[:k], hits.segments[places], hits.docs[places])
