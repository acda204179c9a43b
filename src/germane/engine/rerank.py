"""A second stage: the best documents of the first ranking are scored again, by whatever is too dear for all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from germane.arrays import Floats
from germane.engine.candidates import Candidates
from germane.engine.registry import RERANKER_NAMES, RERANKERS, is_reranker
from germane.errors import ParameterError
from germane.lazy import load, on_first_use
from germane.rank.models.base import RankingModel
from germane.rank.query.resolve import ParsedQuery
from germane.rank.registry import MODELS, model_named
from germane.rank.retriever import Hits

with on_first_use(__name__):
    from germane.engine.models import stage
    from germane.latent import saving

DEFAULT_DEPTH = 1000
"""Default number of results that are scored again: the size of a TREC run."""


@runtime_checkable
class Reranker(Protocol):
    """Scores candidates again."""

    def rerank(self, query: ParsedQuery, candidates: Candidates) -> Floats:
        """A score for each candidate, higher is better; -inf is allowed, NaN is not."""


@runtime_checkable
class Widening(Protocol):
    """A re-ranker that brings documents of its own, which need share no word with the query."""

    def more(self, query: ParsedQuery, candidates: Candidates, n: int) -> Hits:
        """At most n documents that satisfy the query's conditions; some may be among the candidates already."""


@dataclass(frozen=True)
class ByModel:
    """Scores exactly by another ranking model, priors included; after feedback by the query that feedback learnt."""

    model: RankingModel

    def rerank(self, query: ParsedQuery, candidates: Candidates) -> Floats:
        return candidates.scores_by(self.model.of_query(query.runs))


def reranker_named(name: str) -> Reranker:
    """The re-ranker of that name, with its defaults."""
    if name in RERANKERS:
        made: Reranker = load(RERANKERS[name])()
        return made
    if name not in MODELS:
        raise ParameterError(f"there is no re-ranker '{name}'; choose one of {', '.join((*RERANKERS, *MODELS))}")
    return ByModel(model_named(name))


class FoldsIn(Protocol):
    """Protocol of a latent model (`latent`), so that none is loaded."""

    def fold_in(self, titles: Sequence[str]) -> Any:
        """Return the folded documents."""


AnyReranker: TypeAlias = str | Reranker | FoldsIn
"""A name, a re-ranker, or a latent model, which makes one."""


def reranker_of(rerank: AnyReranker) -> Reranker:
    """The re-ranker of that name; the file of a saved latent model, or such a model, as one."""
    if isinstance(rerank, str) and not is_reranker(rerank) and Path(rerank).is_file():
        rerank = saving.load(rerank)
    if isinstance(rerank, str):
        return reranker_named(rerank)
    if isinstance(rerank, Reranker):
        return rerank

    if saving.is_latent_model(rerank):
        return stage.LatentStage(rerank)
    raise ParameterError(f"a re-ranker has a method rerank(query, candidates); {rerank!r} has none")


def _is_known(name: str) -> bool:
    return is_reranker(name) or Path(name).is_file()


@dataclass(frozen=True)
class ByName:
    """A learnt model of an index, before it is known which index: a pipeline asks its engine."""

    name: str

    def rerank(self, query: ParsedQuery, candidates: Candidates) -> Floats:
        raise ParameterError(f"'{self.name}' names a learnt model of an index: it can follow a pipeline of an engine")


@dataclass(frozen=True)
class SecondStage:
    """A re-ranker and how many results it is given."""

    reranker: Reranker
    depth: int

    @classmethod
    def of(cls, rerank: "AnyReranker | None", depth: int | None) -> "SecondStage | None":
        """Return the re-ranker of a search, or None. A name that is not known here may be that of a learnt model."""
        if rerank is None:
            if depth is not None:
                raise ParameterError(
                    f"depth ({depth}) says how many results are re-ranked: name a re-ranker too (rerank=...), one of "
                    + ", ".join(RERANKER_NAMES)
                )
            return None
        reranker = ByName(rerank) if isinstance(rerank, str) and not _is_known(rerank) else reranker_of(rerank)
        if depth is not None and depth < 1:
            raise ParameterError(f"depth must be at least 1, not {depth}")
        return cls(reranker, DEFAULT_DEPTH if depth is None else depth)

    def apply(self, hits: Hits, k: int, query: ParsedQuery, candidates: Callable[[Hits], Candidates]) -> Hits:
        """The best k: the first `depth` hits in the re-ranker's order (then by id), the others below in their own.

        As many documents again may come from the re-ranker itself (`Widening`). The scores of the others are lowered by
        one number, so that scores still fall and a run is read in this order.
        """
        n = self.depth
        chosen = candidates(hits.part(0, n))
        if isinstance(self.reranker, Widening):
            hits, n = _joined(hits, self.reranker.more(query, chosen, n), n)
            chosen = candidates(hits.part(0, n))
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
        places = np.concatenate([np.array(order, np.int64), np.arange(len(order), len(hits.refs))])[:k]
        return Hits(np.concatenate([scores[order], below])[:k], hits.refs[places])


def _joined(hits: Hits, more: Hits, n: int) -> tuple[Hits, int]:
    """The hits with others put behind the first n, none twice; and how many are in front now."""
    first, rest = hits.refs[:n], hits.refs[n:]
    added = more.refs[~np.isin(more.refs, first)]
    if not len(added):
        return hits, n
    others = ~np.isin(rest, added)
    scores = [hits.scores[:n], np.full(len(added), -np.inf), hits.scores[n:][others]]
    return Hits(np.concatenate(scores), np.concatenate([first, added, rest[others]])), len(first) + len(added)
