"""The kinds of experiments: files of any kind read and checked before any work is done, and run."""

import tomllib
from collections.abc import Callable, Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from germane.errors import InputError
from germane.experiments.classification import read_classification, run_classification
from germane.experiments.experiment import AtLeast, Compare, Experiment, MeanRatio
from germane.experiments.figures import read_figures, run_figures
from germane.experiments.latent import read_latent, run_latent
from germane.experiments.marked_rankings import read_marks, run_marks
from germane.experiments.refinement import read_refinement, run_refinement
from germane.experiments.results import OnProgress, Result
from germane.experiments.retrieval import read_retrieval, run_retrieval
from germane.experiments.tracking import read_tracking, run_tracking
from germane.experiments.verdicts import check_bars, check_ratios, compare_systems


class Kind(NamedTuple):
    """How a kind's files are read (the content, then what all kinds have), and how its experiments are run."""

    read: Callable[..., Experiment]
    run: Callable[[Any, Result, OnProgress], None]


KINDS = {
    "retrieval": Kind(read_retrieval, run_retrieval),
    "classification": Kind(read_classification, run_classification),
    "refine": Kind(read_refinement, run_refinement),
    "figure": Kind(read_figures, run_figures),
    "tracking": Kind(read_tracking, run_tracking),
    "marks": Kind(read_marks, run_marks),
    "latent": Kind(read_latent, run_latent),
}


def published_experiments() -> Path:
    """The folder of the experiments that come with the package: tables and figures of the papers."""
    return Path(str(files("germane.experiments") / "reproduce"))


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
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid TOML: {error}", source=source) from None
    try:
        experiment = _experiment(path.stem, content)
        _check(experiment)
    except (TypeError, KeyError, ValueError) as error:
        what = f"'{error.args[0]}' is missing" if isinstance(error, KeyError) else str(error)
        what = what.replace("__init__() got an unexpected keyword argument", "does not know")
        raise InputError(what, source=source) from None
    return experiment


def _experiment(name: str, content: dict[str, Any]) -> Experiment:
    kind = content.pop("kind", "retrieval")
    if kind not in KINDS:
        raise ValueError(f"there is no kind '{kind}' of experiments; there are: {', '.join(KINDS)}")
    reference = dict(content.pop("reference", {}))
    source = reference.pop("source", "")
    every = content.get("datasets", [])
    return KINDS[kind].read(
        content,
        name=name,
        kind=kind,
        bars=[AtLeast(**bar) for bar in content.pop("at_least", [])],
        ratios=[MeanRatio(**{"datasets": every, **ratio}) for ratio in content.pop("mean_ratio", [])],
        comparisons=[Compare(**pair) for pair in content.pop("compare", [])],
        reference=reference,
        reference_source=source,
    )


def _check(experiment: Experiment) -> None:
    names = [system.name for system in experiment.systems]
    if len({*names}) < len(names):
        raise ValueError("two systems have one name")
    for bar in experiment.bars:
        _check_names(experiment, f"the bar of '{bar.system}'", [bar.system], bar.measure, bar.datasets)
        if bar.other:
            _check_names(experiment, f"the bar of '{bar.system}'", [bar.other], bar.measure, bar.datasets)
        elif bar.significant:
            raise ValueError(f"the bar of '{bar.system}' is significant against no other system")
    for ratio in experiment.ratios:
        what = f"the ratio of '{ratio.system}'"
        _check_names(experiment, what, [ratio.system], ratio.measure, ratio.datasets)
        if not experiment.rows_of(ratio.against):
            raise ValueError(f"{what} names a system that is not run: '{ratio.against}'")
        if ratio.before:
            _check_names(experiment, what, [ratio.before], ratio.measure, ratio.datasets)
        elif ratio.hurt is not None:
            raise ValueError(f"{what} has a bar for queries hurt, and no 'before'")
        if not ratio.datasets:
            raise ValueError(f"{what} names no data set")
    for pair in experiment.comparisons:
        _check_names(experiment, f"the comparison of '{pair.a}' and '{pair.b}'", [pair.a, pair.b], pair.measure, ())


def _check_names(
    experiment: Experiment, what: str, systems: Iterable[str], measure: str, datasets: Iterable[str]
) -> None:
    if measure not in experiment.measures or not {*datasets} <= {*experiment.datasets}:
        raise ValueError(f"{what} names a measure or data set that is not run")
    unknown = [system for system in systems if system not in experiment.rows]
    if unknown:
        rows = ", ".join(f"'{row}'" for row in experiment.rows)
        raise ValueError(f"{what} names a system that is not run: '{unknown[0]}'; there are {rows}")


def run_experiment(experiment: Experiment, *, on_progress: OnProgress | None = None) -> Result:
    """Run it, and hold its figures against the expected ones and the bars. `on_progress` hears of each system."""
    result = Result(experiment)
    KINDS[experiment.kind].run(experiment, result, on_progress or (lambda dataset, system: None))
    check_bars(result)
    check_ratios(result)
    compare_systems(result)
    return result
