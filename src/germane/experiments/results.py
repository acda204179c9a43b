"""What an experiment gives: figures beside the expected ones, bars, ratios, comparisons, curves, runs and drawings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from germane.errors import ParameterError
from germane.evaluate.compare import Comparison
from germane.evaluate.measures import Evaluation
from germane.evaluate.rankings import Qrels, Run
from germane.experiments.experiment import Compare, Experiment, MeanRatio
from germane.experiments.left_out import Spread

OnProgress = Callable[[str, str], None]
"""called with the data set and the system before each step"""


@dataclass(frozen=True)
class Figure:
    """One number of the table, beside what was expected and what the source reports."""

    dataset: str
    system: str
    measure: str
    value: float
    expected: float | None
    reference: float | None
    tolerance: float
    deviation: float | None = None
    """the standard deviation over random splits, where there are several"""
    better_than: str | None = None
    """the systems it is significantly better than, as `verdicts.subscript` writes them; None: nothing was tested"""

    @property
    def ok(self) -> bool:
        """Within tolerance of the expected figure, or nothing is expected."""
        return self.expected is None or abs(self.value - self.expected) <= self.tolerance + 1e-12


@dataclass(frozen=True)
class Bar:
    """A bar of the experiment, and whether it was reached."""

    text: str
    reached: bool

    def __str__(self) -> str:
        return f"{'reached' if self.reached else 'MISSED'}: {self.text}"


@dataclass(frozen=True)
class Ratios:
    """A system's figures over the best ones of another, data set by data set."""

    asked: MeanRatio
    best: Mapping[str, tuple[str, float]]
    """data set -> the row of the other system that was best, and its value"""
    values: Mapping[str, float]
    spread: Spread
    """the mean over families of data sets, its interval, and the least ratio"""
    hurt: Mapping[str, float] = field(default_factory=dict)
    """data set -> the share of queries that lose more than a fifth, where it was asked for"""
    mean_hurt: float | None = None

    @property
    def mean(self) -> float:
        """The mean over families of data sets."""
        return self.spread.mean

    @property
    def worst(self) -> float:
        """The least ratio."""
        return self.spread.least


@dataclass(frozen=True)
class Compared:
    """Two systems, tested on each data set; `pooled` over the queries of all, where there is more than one."""

    asked: Compare
    by_dataset: Mapping[str, Comparison]
    pooled: Comparison | None
    unit: str = "queries"

    @property
    def rows(self) -> dict[str, Comparison]:
        """All of them by name, the pooled one last."""
        return {**self.by_dataset, **({f"all {self.unit}": self.pooled} if self.pooled is not None else {})}


@dataclass
class Result:
    """Everything an experiment gave."""

    experiment: Experiment
    figures: list[Figure] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    ratios: list[Ratios] = field(default_factory=list)
    comparisons: list[Compared] = field(default_factory=list)
    conventions: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, dict[str, str]] = field(default_factory=dict)
    curves: dict[tuple[str, str, str], dict[str, list[tuple[float, float]]]] = field(default_factory=dict)
    """(system, parameter, measure) -> data set -> points"""
    evaluations: dict[str, dict[str, Evaluation]] = field(default_factory=dict)
    """data set -> system -> values; tuned systems: each query as it was held out"""
    runs: dict[str, dict[str, Run]] = field(default_factory=dict)
    qrels: dict[str, Qrels] = field(default_factory=dict)
    tables: dict[str, list[list[str]]] = field(default_factory=dict)
    """heading -> rows, the head first: what is told beside the figures, and not held against expected ones"""
    drawings: dict[str, Callable[[], Any]] = field(default_factory=dict)
    """file name without ending -> what draws the figure"""

    @property
    def ok(self) -> bool:
        """All figures within tolerance and all bars reached."""
        return all(figure.ok for figure in self.figures) and all(bar.reached for bar in self.bars)

    def note(self, dataset: str, system: str, found: Evaluation) -> None:
        """Enter a system's values, beside what is expected and what the source reports."""
        experiment = self.experiment
        self.evaluations.setdefault(dataset, {})[system] = found
        for measure in found.measures:
            expected = experiment.expected.get(dataset, {}).get(system, {}).get(measure)
            reference = experiment.reference.get(dataset, {}).get(system, {}).get(measure)
            self.figures.append(
                Figure(dataset, system, measure, found[measure], expected, reference, experiment.tolerance)
            )

    def value(self, dataset: str, system: str, measure: str) -> float:
        """One figure."""
        found = self.evaluations.get(dataset, {}).get(system)
        if found is None or measure not in found.values:
            raise ParameterError(f"the experiment has no figure for '{system}' on '{dataset}' ({measure})")
        return found[measure]


def averaged(names: Sequence[str], values: Mapping[str, npt.NDArray[np.float64]]) -> Evaluation:
    """The values of each split, list or query, measure by measure, and their means."""
    means = {measure: float(column.mean()) for measure, column in values.items()}
    return Evaluation(tuple(values), tuple(names), values, means)
