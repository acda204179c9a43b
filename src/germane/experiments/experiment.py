"""What an experiment file may say, whatever its kind; `retrieval.py`, `classification.py`, `refinement.py`,
`figures.py`, `tracking.py`, `marked_rankings.py` and `latent.py` say what each kind adds.

kind = "retrieval"                  or "classification", "refine", "figure", "tracking", "marks", "latent" (optional)
title = "..."                       one line for the report
about = "..."                       a paragraph for the report (optional)
datasets = ["cranfield", "cisi"]    names below GERMANE_DATA, or irds:NAME
measures = ["AP", "nDCG@10"]
tolerance = 0.002                   how far a figure may be from the expected one
[notes]                             cranfield = "all pairs count as relevant"

[[system]]                          one or more
name = "dirichlet"                  unique
parameters = { mu = 400 }           fixed
tune = { mu = [100, 400, 1600] }    chosen by the experiment

[[at_least]]                        a bar: system >= other (or a number) - slack, on the data sets named
system = "dirichlet"
other = "literal-bm25"              or: value = 0.67
measure = "nDCG@10"
datasets = ["cisi"]
slack = 0.0
significant = false                 true: better than the other by the paired t-test and the sign test, at 95%
                                    (of refinements by Wilcoxon's test, of latent models by the t-test)

[[mean_ratio]]                      a bar on figure / the best figure of a swept system, data set by data set
system = "rm3"
measure = "AP"
datasets = ["cranfield", "cisi"]
against = "dirichlet"               of its sweep, the best value on each data set counts
at_least = 1.05                     for the mean of the ratios, every family of data sets counting the same (optional)
worst = 0.97                        for the least of them (optional)
before = "bm25"                     a row: tell how many queries lose more than a fifth of their value there (optional)
hurt = 0.12                         for the mean share of these: at most (optional)

[[compare]]                         paired t, Wilcoxon and sign test on each data set, and over all queries together
a = "rm3"                           tuned systems: each query as it was held out
b = "dirichlet mu=400"              a swept system is named with its setting, as in the table
measure = "AP"

[expected.cranfield.dirichlet]      AP = 0.41
[reference]                         source = "SD table 5.3"
[reference.cranfield.dirichlet]     AP = 0.409
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

Figures = Mapping[str, Mapping[str, Mapping[str, float]]]
"""data set -> system -> measure -> value"""


@dataclass(frozen=True)
class System:
    """A row of the table: something with parameters, some of them fixed, some perhaps tuned."""

    name: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    tune: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, dict[str, float]]:
        """The system's rows in the table, and the swept parameters of each."""
        return {self.name: {}}


def written(parameters: Mapping[str, float]) -> str:
    """Parameters as the table writes them: mu=400 lam=0.1."""
    return " ".join(f"{name}={value:g}" for name, value in parameters.items())


@dataclass(frozen=True)
class AtLeast:
    """A bar: the system reaches the other system, or the value."""

    system: str
    measure: str
    datasets: Sequence[str]
    other: str = ""
    value: float = 0.0
    slack: float = 0.0
    significant: bool = False


@dataclass(frozen=True)
class MeanRatio:
    """A bar: the system's figures over the best ones of a swept system, on average and at worst; queries hurt."""

    system: str
    measure: str
    datasets: Sequence[str]
    against: str
    at_least: float | None = None
    worst: float | None = None
    before: str = ""
    hurt: float | None = None


@dataclass(frozen=True)
class Compare:
    """Two systems whose difference is to be tested."""

    a: str
    b: str
    measure: str


@dataclass(frozen=True)
class Experiment:
    """An experiment file, read: what all kinds of experiments have."""

    name: str
    title: str
    datasets: Sequence[str]
    measures: Sequence[str]
    systems: Sequence[System]
    about: str = ""
    tolerance: float = 0.002
    notes: Mapping[str, str] = field(default_factory=dict)
    bars: Sequence[AtLeast] = ()
    ratios: Sequence[MeanRatio] = ()
    comparisons: Sequence[Compare] = ()
    expected: Figures = field(default_factory=dict)
    reference: Figures = field(default_factory=dict)
    reference_source: str = ""
    kind: str = "retrieval"
    unit: ClassVar[str] = "queries"
    """What a measure is averaged over, and tests are paired by."""
    conventions: ClassVar[str] = "Judgements"
    """The report's heading over what is said of each data set."""
    tuned_by: ClassVar[str] = "Tuned ones: one setting a fold."
    compared_by: ClassVar[str] = "Tuned systems: each query as it was held out."
    significant_by: ClassVar[tuple[str, ...]] = ("t", "sign")
    """The tests that must agree where a bar asks for significance: those of SD §4.3."""
    pooled: ClassVar[bool] = True
    """Whether comparisons are also made over the queries of all data sets together."""
    datasets_down: ClassVar[bool] = False
    """Whether tables have a row for each data set, and systems across."""
    lower_is_better: ClassVar[bool] = False
    """Whether measures are costs: then bars are upper bounds."""

    @property
    def compared_on(self) -> Sequence[str]:
        """The data sets on which systems are compared, and then over the queries of all of them."""
        return self.datasets

    @property
    def families(self) -> Mapping[str, str]:
        """Data sets that are made of others, and whose documents they have; means of ratios are over families."""
        return {}

    @property
    def inputs(self) -> list[str]:
        """What has to be there below GERMANE_DATA."""
        return [*self.datasets]

    @property
    def rows(self) -> list[str]:
        """Every system's rows in the table."""
        return [row for system in self.systems for row in system.settings]

    def rows_of(self, name: str) -> list[str]:
        """The rows of a system, or the one row of that name."""
        found = [[*system.settings] for system in self.systems if system.name == name]
        return found[0] if found else [row for row in self.rows if row == name]
