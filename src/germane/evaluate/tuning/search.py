"""Grid search and coordinate hill-climbing. Both only see the objective: parameters -> value, higher is better."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from germane.errors import ParameterError

Parameters: TypeAlias = Mapping[str, float]
Grid: TypeAlias = Mapping[str, Sequence[float]]
Objective: TypeAlias = Callable[[Parameters], float]
OnTrial: TypeAlias = Callable[[Parameters, float], None]


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
