"""What an experiment file may say.

title = "..."                       one line for the report
about = "..."                       a paragraph for the report (optional)
datasets = ["cranfield", "cisi"]    names below GERMANE_DATA, or irds:NAME
measures = ["AP", "nDCG@10"]
k = 1000                            documents ranked per query
tolerance = 0.002                   how far a figure may be from the expected one
plots = ["precision-recall"]        beside the sensitivity of swept parameters
[notes]                             cranfield = "all pairs count as relevant"

[[system]]                          one or more
name = "dirichlet"                  unique
model = "dirichlet"                 a ranking model, or "literal-bm25"
parameters = { mu = 400 }           fixed
sweep = { mu = [100, 400, 1600] }   every value on all queries: one row each
tune = { mu = [100, 400, 1600] }    chosen by cross-validation over queries (`tuning`)
learn = "mu"                        learnt from the documents alone

[tuning]                            folds = 2, method = "grid", measure = "AP", seed = 0

[[at_least]]                        a bar: system >= other (or a number) - slack, on the data sets named
system = "dirichlet"
other = "literal-bm25"              or: value = 0.67
measure = "nDCG@10"
datasets = ["cisi"]
slack = 0.0

[expected.cranfield.dirichlet]      AP = 0.41
[reference]                         source = "SD table 5.3"
[reference.cranfield.dirichlet]     AP = 0.409
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from germane.errors import InputError

PLOTS = ("precision-recall",)
Figures = Mapping[str, Mapping[str, Mapping[str, float]]]
"""data set -> system -> measure -> value"""


@dataclass(frozen=True)
class System:
    """A ranking model with fixed, swept, tuned or learnt parameters."""

    name: str
    model: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    sweep: Mapping[str, Sequence[float]] = field(default_factory=dict)
    tune: Mapping[str, Sequence[float]] = field(default_factory=dict)
    learn: str = ""


@dataclass(frozen=True)
class Tuning:
    """How tuned systems are tuned."""

    folds: int = 2
    method: str = "grid"
    measure: str = "AP"
    seed: int = 0


@dataclass(frozen=True)
class AtLeast:
    """A bar: the system reaches the other system, or the value."""

    system: str
    measure: str
    datasets: Sequence[str]
    other: str = ""
    value: float = 0.0
    slack: float = 0.0


@dataclass(frozen=True)
class Experiment:
    """An experiment file, read."""

    name: str
    title: str
    datasets: Sequence[str]
    measures: Sequence[str]
    systems: Sequence[System]
    about: str = ""
    k: int = 1000
    tolerance: float = 0.002
    plots: Sequence[str] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    tuning: Tuning = field(default_factory=Tuning)
    bars: Sequence[AtLeast] = ()
    expected: Figures = field(default_factory=dict)
    reference: Figures = field(default_factory=dict)
    reference_source: str = ""


def experiment_files(folder: Path) -> dict[str, Path]:
    """The experiments of a folder, by name."""
    if not folder.is_dir():
        raise InputError("this is no folder of experiments", source=str(folder))
    found = {path.stem: path for path in sorted(folder.glob("*.toml"))}
    if not found:
        raise InputError("the folder holds no experiment (*.toml)", source=str(folder))
    return found


def read_experiment(path: Path) -> Experiment:
    """Read and check a file; what it should not say is named."""
    source = str(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=source) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"not valid TOML: {error}", source=source) from None
    try:
        return _experiment(path.stem, content)
    except (TypeError, KeyError, ValueError) as error:
        what = f"'{error.args[0]}' is missing" if isinstance(error, KeyError) else str(error)
        what = what.replace("__init__() got an unexpected keyword argument", "does not know")
        raise InputError(what, source=source) from None


def _experiment(name: str, content: dict[str, Any]) -> Experiment:
    reference = dict(content.pop("reference", {}))
    source = reference.pop("source", "")
    experiment = Experiment(
        name=name,
        systems=[System(**system) for system in content.pop("system")],
        tuning=Tuning(**content.pop("tuning", {})),
        bars=[AtLeast(**bar) for bar in content.pop("at_least", [])],
        reference=reference,
        reference_source=source,
        **{key: content[key] for key in content},
    )
    names = [system.name for system in experiment.systems]
    if len({*names}) < len(names):
        raise ValueError("two systems have one name")
    for system in experiment.systems:
        if sum(map(bool, (system.sweep, system.tune, system.learn))) > 1:
            raise ValueError(f"system '{system.name}' may have one of sweep, tune and learn")
    for bar in experiment.bars:
        if bar.measure not in experiment.measures or not {*bar.datasets} <= {*experiment.datasets}:
            raise ValueError(f"the bar of '{bar.system}' names a measure or data set that is not run")
    unknown = sorted({*experiment.plots} - {*PLOTS})
    if unknown:
        raise ValueError(f"there is no plot '{unknown[0]}'; there are: {', '.join(PLOTS)}")
    return experiment
