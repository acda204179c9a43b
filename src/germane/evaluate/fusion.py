"""Runs fused query by query, and weights for that learnt from judgements. The formulas are in `germane.rank.fusion`."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.evaluate.frames import AnyQrels, AnyRun, RunTable, as_qrels, as_run
from germane.evaluate.measures import evaluate, parse_measure
from germane.evaluate.rankings import Run
from germane.evaluate.tuning import CrossValidation, OnTrial, Parameters, coordinate_ascent, cross_validate
from germane.rank.fusion import COUNTING, Fusion, Ranking, fusion_named

STEPS = tuple(step / 10 for step in range(11))
"""The weights that are tried for each run."""


def fuse_runs(
    runs: Sequence[AnyRun],
    method: str = "rrf",
    *,
    k: float | None = None,
    normalise: str | None = None,
    weights: Sequence[float] | None = None,
    depth: int | None = None,
) -> RunTable:
    """One run of several: each query's rankings fused; a query that a run lacks has an empty ranking there.

    `method`: "rrf", "isr", "combsum" or "combmnz"; `k` is rrf's; `normalise` is "min-max", "z-score", "sum" or "none".
    `depth`: how many documents are kept of each query; all if None.
    """
    if not runs:
        raise ParameterError("there is no run to fuse")
    if depth is not None and depth < 1:
        raise ParameterError(f"depth must be at least 1, not {depth}")
    fusion = fusion_named(method, k=k, normalise=normalise)
    fusion([[] for _ in runs], weights=weights)  # complain before the work
    by_query = _rankings([as_run(run) for run in runs])
    return RunTable({query: dict(fusion(lists, weights=weights)[:depth]) for query, lists in by_query.items()})


@dataclass(frozen=True)
class LearntFusion:
    """Weights for runs, learnt.

    `weights` were chosen on all judged queries and have the mean `value` there, which flatters them. `validation` is
    cross-validation: its `mean` is over queries that had no say in their weights. `run` is made the same way: each
    judged query fused by weights of the other folds, the others by `weights`.
    """

    weights: tuple[float, ...]
    value: float
    validation: CrossValidation
    run: RunTable


def learn_weights(
    runs: Sequence[AnyRun],
    qrels: AnyQrels,
    measure: str = "AP",
    *,
    method: str = "combsum",
    k: float | None = None,
    normalise: str | None = None,
    folds: int = 2,
    random_state: int = 0,
    on_trial: OnTrial | None = None,
) -> LearntFusion:
    """Weights of a fusion that do best by a measure, by coordinate ascent over 0, 0.1, ..., 1 from equal weights.

    Hill-climbing on the measure itself, as in Metzler & Croft 2007. Cross-validated: the judged queries are split in
    `folds` parts at random (`random_state`), and each part is measured with weights chosen on the others.
    """
    parse_measure(measure)
    if len(runs) < 2:
        raise ParameterError("weights are learnt for two runs at least")
    fusion = fusion_named(method, k=k, normalise=normalise)
    judged = as_qrels(qrels)
    by_query = _rankings([as_run(run) for run in runs])
    parts = {
        query: _Parts.of(fusion, lists, counting=method in COUNTING)
        for query, lists in by_query.items()
        if query in judged
    }
    names = [f"run {i + 1}" for i in range(len(runs))]
    known: dict[tuple[float, ...], Mapping[str, float]] = {}

    def per_query(parameters: Parameters) -> Mapping[str, float]:
        weights = tuple(parameters[name] for name in names)
        if not any(weights):
            return dict.fromkeys(judged, -np.inf)  # no run at all: never chosen
        if weights not in known:
            fused = {query: part.scores(np.array(weights)) for query, part in parts.items()}
            known[weights] = evaluate(fused, judged, [measure]).per_query(measure)
        return known[weights]

    grid = dict.fromkeys(names, STEPS)
    tuned = coordinate_ascent(lambda found: float(np.mean(list(per_query(found).values()))), grid)
    validation = cross_validate(
        per_query, grid, tuple(judged), k=folds, method="coordinate", random_state=random_state, on_trial=on_trial
    )
    chosen = tuple(tuned.parameters[name] for name in names)
    of_query = {
        query: tuple(fold.tuned.parameters[name] for name in names) for fold in validation.folds for query in fold.test
    }
    held_out = {query: _fused(fusion, by_query, query, of_query.get(query, chosen)) for query in by_query}
    return LearntFusion(chosen, tuned.value, validation, RunTable(held_out))


class _Parts(NamedTuple):
    """What each ranking adds to each document of a query at weight 1, so that other weights cost one product."""

    ids: list[str]
    values: Floats
    held: Floats
    counting: bool

    @classmethod
    def of(cls, fusion: Fusion, rankings: Sequence[Ranking], *, counting: bool) -> "_Parts":
        """Each ranking fused by itself."""
        alone = [dict(fusion([ranking])) for ranking in rankings]
        ids = list(dict.fromkeys(doc for values in alone for doc in values))
        values = np.array([[found.get(doc, 0.0) for found in alone] for doc in ids]).reshape(len(ids), len(alone))
        held = np.array([[float(doc in found) for found in alone] for doc in ids]).reshape(len(ids), len(alone))
        return cls(ids, values, held, counting)

    def scores(self, weights: Floats) -> dict[str, float]:
        """The fused scores, in no order; documents of rankings without weight alone are left out."""
        n = self.held @ (weights > 0.0)
        scores = self.values @ weights * (n if self.counting else 1.0)
        return dict(itertools.compress(zip(self.ids, scores.tolist(), strict=True), n.tolist()))


def _rankings(runs: Sequence[Run]) -> dict[str, list[Ranking]]:
    """The rankings of each query, in the order of the runs: by score, then by id."""
    queries = dict.fromkeys(query for run in runs for query in run)
    return {
        query: [sorted(run.get(query, {}).items(), key=lambda row: (-row[1], row[0])) for run in runs]
        for query in queries
    }


def _fused(
    fusion: Fusion, by_query: Mapping[str, Sequence[Ranking]], query: str, weights: Sequence[float]
) -> dict[str, float]:
    return dict(fusion(by_query[query], weights=weights))
