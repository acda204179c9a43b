"""The weights of a second stage's mixture, chosen on queries that the model did not learn from.

λ1 and λ2 of a generative model, the literal weight of a projection, and w of the first stage: every point of a small
grid, by the mean NDCG@10 of clicks. The scores of candidates by the model are computed once; the points only mix it.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from germane.arrays import Floats
from germane.engine.candidates import Candidates
from germane.engine.models.stage import LatentStage
from germane.evaluate.tied import tied_ndcg
from germane.latent.ensemble import PartModel
from germane.latent.generative import GenerativeModel, QueryProbabilities
from germane.latent.projection import Cosines
from germane.learning.gate import CUT_OFF, GateQuery
from germane.rank.query.resolve import plain
from germane.rank.retriever import SignedTopic

if TYPE_CHECKING:
    from germane.engine.engine import Engine

GRIDS: dict[bool, dict[str, tuple[float, ...]]] = {
    True: {"lambda1": (0.1, 0.3, 0.5), "lambda2": (0.1, 0.3, 0.5, 0.7, 0.9), "first_weight": (0.0, 0.1, 0.3, 1.0, 3.0)},
    False: {"literal_weight": (0.1, 0.3, 0.5, 0.7, 0.9), "first_weight": (0.0, 0.01, 0.03, 0.1, 0.3)},
}
"""Of generative models, whose scores are logarithms, and of projections, whose scores are cosines."""
UNTUNED = {True: {"first_weight": 0.3}, False: {"first_weight": 0.03}}
LEAST_QUERIES = 5
"""With fewer queries nothing is tuned."""
MOST_QUERIES = 300


def mixed(model: PartModel, mixing: Mapping[str, float]) -> PartModel:
    """The model with its own weights of the mixture; that of the first stage is the stage's."""
    weights = {name: value for name, value in mixing.items() if name != "first_weight"}
    if isinstance(model, GenerativeModel):
        return model.mixed(**{"lambda1": model.lambda1, "lambda2": model.lambda2, **weights})
    return model.mixed(**{"literal_weight": model.literal_weight, **weights})


def default_mixing(model: PartModel, fixed: Mapping[str, float]) -> dict[str, float]:
    """The weights that are used where nothing can be tuned."""
    generative = isinstance(model, GenerativeModel)
    names = [name for name in GRIDS[generative] if name != "first_weight"]
    return {**{name: getattr(model, name) for name in names}, **UNTUNED[generative], **fixed}


def tuned_mixing(
    engine: "Engine", model: PartModel, queries: Sequence[GateQuery], depth: int, fixed: Mapping[str, float]
) -> dict[str, float]:
    """The best point of the grid; `fixed` weights are left as they are. The first of several that are alike."""
    if len(queries) < LEAST_QUERIES:
        return default_mixing(model, fixed)
    grid = {name: (fixed[name],) if name in fixed else values
            for name, values in GRIDS[isinstance(model, GenerativeModel)].items()}  # fmt: skip
    points = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    totals = np.zeros(len(points))
    stage = LatentStage(model)
    for query in queries[:MOST_QUERIES]:
        candidates = _Mixtures(model, Looked(engine, stage, query, depth))
        totals += [candidates.ndcg(point) for point in points]
    return points[int(np.argmax(totals))]


class Looked:
    """The candidates of one query: `documents`, as the model folded them in; `first`, their scores in the first stage;
    `gains`, and behind them those of documents that were not found."""

    def __init__(self, engine: "Engine", stage: LatentStage, query: GateQuery, depth: int) -> None:
        parsed = plain(query.text, engine.analyzer)
        result = engine.search(query.text, depth, syntax=False, rerank=stage, depth=depth)
        hits, retriever = result.located
        ids = result.ids
        self.weights = parsed.weights
        self.documents = stage.documents(hits.refs, retriever)
        topic = SignedTopic(parsed.weights)
        self.first = Candidates(topic, hits, retriever).scores_by(stage.first.of_query(parsed.runs))
        missing = [gain for name, gain in query.gains.items() if name not in set(ids)]
        self.gains = np.array([*(query.gains.get(name, 0.0) for name in ids), *missing])


class _Mixtures:
    """All that a mixture needs of the candidates of one query."""

    def __init__(self, model: PartModel, looked: Looked) -> None:
        self._looked = looked
        self._part = _part(model, looked.weights, looked.documents)

    def ndcg(self, point: Mapping[str, float]) -> float:
        looked = self._looked
        scores = np.full(len(looked.gains), -np.inf)
        scores[: len(looked.first)] = _score(self._part, point)
        scores[: len(looked.first)] += point["first_weight"] * looked.first
        return tied_ndcg(scores, looked.gains, CUT_OFF)


def _part(model: PartModel, weights: Mapping[str, float], documents: Any) -> QueryProbabilities | Cosines:
    return model.probabilities(weights, documents) if isinstance(model, GenerativeModel) else model.cosines(
        weights, documents
    )  # fmt: skip


def _score(part: QueryProbabilities | Cosines, point: Mapping[str, float]) -> Floats:
    if isinstance(part, QueryProbabilities):
        return part.score(point["lambda1"], point["lambda2"])
    return part.score(point["literal_weight"])
