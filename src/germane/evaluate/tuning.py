"""Find parameters on some queries, and measure them on others.

Grid search and coordinate hill-climbing see nothing but the objective: parameters -> value, higher is better.
Cross-validation splits by query: tuned on the training queries of each fold, measured on the others.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from germane.errors import ParameterError

Parameters: TypeAlias = Mapping[str, float]
Grid: TypeAlias = Mapping[str, Sequence[float]]
Objective: TypeAlias = Callable[[Parameters], float]
OnTrial: TypeAlias = Callable[[Parameters, float], None]
PerQuery: TypeAlias = Callable[[Parameters], Mapping[str, float]]
"""The measure's value for each query under some parameters."""


@dataclass(frozen=True)
class Tuned:
    """The best parameters, their value, and every trial in order."""

    parameters: dict[str, float]
    value: float
    trials: tuple[tuple[dict[str, float], float], ...]


class _Trials:
    """Tries each setting once, and keeps the best; of equal values the first tried wins."""

    def __init__(self, objective: Objective, on_trial: OnTrial | None) -> None:
        self._objective, self._on_trial = objective, on_trial
        self._known: dict[tuple[tuple[str, float], ...], float] = {}
        self.rows: list[tuple[dict[str, float], float]] = []

    def value(self, parameters: Parameters) -> float:
        key = tuple(sorted(parameters.items()))
        if key not in self._known:
            value = self._objective(dict(parameters))
            if math.isnan(value):
                raise ParameterError(f"the objective of {dict(parameters)} is not a number")
            self._known[key] = value
            self.rows.append((dict(parameters), value))
            if self._on_trial is not None:
                self._on_trial(dict(parameters), value)
        return self._known[key]

    def best(self) -> Tuned:
        parameters, value = max(self.rows, key=lambda row: row[1])
        return Tuned(parameters, value, tuple(self.rows))


def _checked(grid: Grid) -> dict[str, list[float]]:
    for name, values in grid.items():
        if not values:
            raise ParameterError(f"the grid has no value for '{name}'")
    return {name: list(dict.fromkeys(values)) for name, values in grid.items()}


def grid_search(objective: Objective, grid: Grid, *, on_trial: OnTrial | None = None) -> Tuned:
    """Try every combination."""
    axes = _checked(grid)
    trials = _Trials(objective, on_trial)
    for values in itertools.product(*axes.values()):
        trials.value(dict(zip(axes, values, strict=True)))
    return trials.best()


def coordinate_ascent(
    objective: Objective,
    grid: Grid,
    *,
    start: Parameters | None = None,
    max_rounds: int = 20,
    on_trial: OnTrial | None = None,
) -> Tuned:
    """Hill-climbing: along one parameter at a time take the best value of its axis, until a round changes nothing.

    `start` defaults to the middle of each axis. The value never falls, so it ends; it may end at a local maximum.
    """
    axes = _checked(grid)
    here = {name: values[len(values) // 2] for name, values in axes.items()}
    if start is not None:
        if start.keys() != axes.keys():
            raise ParameterError(f"the start must give {', '.join(axes)}")
        here = dict(start)
    trials = _Trials(objective, on_trial)
    value = trials.value(here)
    for _ in range(max_rounds):
        before = value
        for name, values in axes.items():
            for candidate in values:
                there = {**here, name: candidate}
                if trials.value(there) > value:
                    here, value = there, trials.value(there)
        if value == before:
            break
    return trials.best()


_METHODS: dict[str, Callable[..., Tuned]] = {"grid": grid_search, "coordinate": coordinate_ascent}


def tuner(method: str) -> Callable[..., Tuned]:
    """The search of that name."""
    if method not in _METHODS:
        raise ParameterError(f"there is no way to tune called '{method}'; choose one of {', '.join(_METHODS)}")
    return _METHODS[method]


def folds_by_query(query_ids: Sequence[str], k: int = 2, *, random_state: int = 0) -> list[tuple[str, ...]]:
    """k disjoint parts of the queries, as even as can be, drawn with a seed (2-fold as in Clicks 5.1).

    The split depends on the ids and the seed alone, not on the order of the ids.
    """
    unique = sorted(set(query_ids))
    if not 2 <= k <= len(unique):
        raise ParameterError(f"{len(unique)} queries cannot be split in {k} parts; 2 to {len(unique)} would do")
    order = np.random.default_rng(random_state).permutation(len(unique))
    return [tuple(sorted(unique[i] for i in order[part::k].tolist())) for part in range(k)]


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
