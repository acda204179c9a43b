"""The weights of a combination: of its parts, within its parts, and of the first stage.

Each part is tuned by itself (`tuning.py`). Then the weights of the parts and of BM25, none below 0, are those under
which ListNet's likelihood of the clicks is largest (`latent/combination.py`), over the candidates of queries that the
parts did not learn from.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from germane.arrays import Floats
from germane.engine.models.stage import LatentStage
from germane.latent.combination import Combination
from germane.latent.ensemble import EnsembleModel
from germane.latent.generative import GenerativeModel
from germane.learning.gate import GateQuery
from germane.learning.tuning import GRIDS, LEAST_QUERIES, MOST_QUERIES, Looked, mixed, tuned_mixing

if TYPE_CHECKING:
    from germane.engine.engine import Engine

FIRST = "first_weight"
UNTUNED_FIRST = 0.1
"""The weight of BM25 where nothing can be tuned."""


def tuned_weights(
    engine: "Engine", model: EnsembleModel, queries: Sequence[GateQuery], depth: int, fixed: Mapping[str, float]
) -> dict[str, float]:
    """By the name of a part its weight, as "wtm.lambda1" the weights within it, and that of the first stage."""
    within: dict[str, float] = {}
    for name, part in zip(model.names, model.parts, strict=True):
        known = {each: value for each, value in fixed.items() if each in GRIDS[isinstance(part, GenerativeModel)]}
        found = tuned_mixing(engine, part, queries, depth, known)
        within |= {f"{name}.{each}": value for each, value in found.items() if each != FIRST}
    tuned = with_weights(model, within)
    scores, gains = _scored(engine, tuned, queries, depth)
    weights, first = model.weights.tolist(), fixed.get(FIRST, UNTUNED_FIRST)
    if len(scores) >= LEAST_QUERIES and FIRST in fixed:
        weights = Combination().fit_weights([rows[:-1] for rows in scores], gains, positive=True).tolist()
    elif len(scores) >= LEAST_QUERIES:
        *weights, first = Combination().fit_weights(scores, gains, positive=True).tolist()
    return {**dict(zip(model.names, weights, strict=True)), **within, FIRST: first}


def _scored(
    engine: "Engine", model: EnsembleModel, queries: Sequence[GateQuery], depth: int
) -> tuple[list[Floats], list[Floats]]:
    """Of each query the scores of the parts and of the first stage, a row each, and the gains of the candidates.

    Queries of which nothing that was clicked is among the candidates are left out.
    """
    stage = LatentStage(model)
    scores, gains = [], []
    for query in queries[:MOST_QUERIES]:
        looked = Looked(engine, stage, query, depth)
        gain = looked.gains[: len(looked.first)]
        if not gain.any():
            continue
        scores.append(np.vstack([model.part_scores(looked.weights, looked.documents), looked.first]))
        gains.append(gain)
    return scores, gains


def with_weights(model: EnsembleModel, mixing: Mapping[str, float]) -> EnsembleModel:
    """The combination with these weights, and its parts with theirs; what is not named stays."""
    parts = []
    for name, part in zip(model.names, model.parts, strict=True):
        chosen = {key.removeprefix(f"{name}."): value for key, value in mixing.items() if key.startswith(f"{name}.")}
        parts.append(mixed(part, chosen))
    weights = [mixing.get(name, weight) for name, weight in zip(model.names, model.weights.tolist(), strict=True)]
    return model.mixed(weights, parts)
