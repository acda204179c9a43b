"""What an experiment gives: figures beside the expected ones, bars, ratios, comparisons, curves and runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from germane.errors import ParameterError
from germane.evaluate.compare import Comparison
from germane.evaluate.experiments.spec import Compare, Experiment, MeanRatio
from germane.evaluate.measures import Evaluation
from germane.evaluate.rankings import Qrels, Run


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

    @property
    def mean(self) -> float:
        """The mean over data sets."""
        return sum(self.values.values()) / len(self.values)

    @property
    def worst(self) -> float:
        """The least ratio."""
        return min(self.values.values())


@dataclass(frozen=True)
class Compared:
    """Two systems, tested on each data set; `pooled` over the queries of all, where there is more than one."""

    asked: Compare
    by_dataset: Mapping[str, Comparison]
    pooled: Comparison | None

    @property
    def rows(self) -> dict[str, Comparison]:
        """All of them by name, the pooled one last."""
        return {**self.by_dataset, **({"all queries": self.pooled} if self.pooled is not None else {})}


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

    @property
    def ok(self) -> bool:
        """All figures within tolerance and all bars reached."""
        return all(figure.ok for figure in self.figures) and all(bar.reached for bar in self.bars)

    def value(self, dataset: str, system: str, measure: str) -> float:
        """One figure."""
        found = self.evaluations.get(dataset, {}).get(system)
        if found is None or measure not in found.values:
            raise ParameterError(f"the experiment has no figure for '{system}' on '{dataset}' ({measure})")
        return found[measure]
