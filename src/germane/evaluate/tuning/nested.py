"""Cross-validation by query: tune on the training queries of each fold, measure on the others."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from germane.evaluate.tuning.folds import folds_by_query
from germane.evaluate.tuning.search import Grid, OnTrial, Parameters, Tuned, tuner

PerQuery: TypeAlias = Callable[[Parameters], Mapping[str, float]]
"""The measure's value for each query under some parameters."""


@dataclass(frozen=True)
class Fold:
    """One fold: what was tuned on `train`, and its values on `test`."""

    train: tuple[str, ...]
    test: tuple[str, ...]
    tuned: Tuned
    test_values: Mapping[str, float]


@dataclass(frozen=True)
class CrossValidation:
    """All folds; `values` has each query once, measured with parameters that never saw it."""

    folds: tuple[Fold, ...]
    values: Mapping[str, float]

    @property
    def mean(self) -> float:
        """The mean over all queries."""
        return float(np.mean(list(self.values.values())))


def cross_validate(
    per_query: PerQuery,
    grid: Grid,
    query_ids: Sequence[str],
    *,
    k: int = 2,
    method: str = "grid",
    random_state: int = 0,
    on_trial: OnTrial | None = None,
) -> CrossValidation:
    """k-fold cross-validation. The objective of a fold is the mean over its training queries and nothing else."""
    parts = folds_by_query(query_ids, k, random_state=random_state)
    known: dict[tuple[tuple[str, float], ...], Mapping[str, float]] = {}

    def values_of(parameters: Parameters) -> Mapping[str, float]:
        key = tuple(sorted(parameters.items()))
        if key not in known:
            known[key] = per_query(parameters)
            if on_trial is not None:
                on_trial(parameters, float(np.mean(list(known[key].values()))))
        return known[key]

    folds = []
    for test in parts:
        train = tuple(query for part in parts if part is not test for query in part)

        def objective(parameters: Parameters, train: tuple[str, ...] = train) -> float:
            values = values_of(parameters)
            return float(np.mean([values[query] for query in train]))

        tuned = tuner(method)(objective, grid)
        values = values_of(tuned.parameters)
        folds.append(Fold(train, test, tuned, {query: values[query] for query in test}))
    merged = {query: value for fold in folds for query, value in fold.test_values.items()}
    return CrossValidation(tuple(folds), {query: merged[query] for query in query_ids})
