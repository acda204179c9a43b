"""Reading experiment files: what they should not say is named before any work is done."""

import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from germane.errors import InputError
from germane.evaluate.experiments.classification_reading import classification_experiment
from germane.evaluate.experiments.feedback_systems import ranking_of
from germane.evaluate.experiments.figure_reading import figure_experiment
from germane.evaluate.experiments.refine_reading import refine_experiment
from germane.evaluate.experiments.spec import (
    LITERAL,
    PLOTS,
    AtLeast,
    Compare,
    Experiment,
    MeanRatio,
    RankingSystem,
    RetrievalExperiment,
    Tuning,
)


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
        experiment = _experiment(path.stem, content)
        _check(experiment)
    except (TypeError, KeyError, ValueError) as error:
        what = f"'{error.args[0]}' is missing" if isinstance(error, KeyError) else str(error)
        what = what.replace("__init__() got an unexpected keyword argument", "does not know")
        raise InputError(what, source=source) from None
    return experiment


def _experiment(name: str, content: dict[str, Any]) -> Experiment:
    kind = content.pop("kind", "retrieval")
    if kind not in _KINDS:
        raise ValueError(f"there is no kind '{kind}' of experiments; there are: {', '.join(_KINDS)}")
    reference = dict(content.pop("reference", {}))
    source = reference.pop("source", "")
    return _KINDS[kind](
        content,
        name=name,
        bars=[AtLeast(**bar) for bar in content.pop("at_least", [])],
        ratios=[MeanRatio(**ratio) for ratio in content.pop("mean_ratio", [])],
        comparisons=[Compare(**pair) for pair in content.pop("compare", [])],
        reference=reference,
        reference_source=source,
    )


def _retrieval_experiment(content: dict[str, Any], **common: Any) -> RetrievalExperiment:
    experiment = RetrievalExperiment(
        systems=[RankingSystem(**system) for system in content.pop("system")],
        tuning=Tuning(**content.pop("tuning", {})),
        **common,
        **content,
    )
    for system in experiment.systems:
        _check_system(system)
    unknown = sorted({*experiment.plots} - {*PLOTS})
    if unknown:
        raise ValueError(f"there is no plot '{unknown[0]}'; there are: {', '.join(PLOTS)}")
    return experiment


_KINDS: dict[str, Callable[..., Experiment]] = {
    "retrieval": _retrieval_experiment,
    "classification": classification_experiment,
    "refine": refine_experiment,
    "figure": figure_experiment,
}


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
        if not ratio.datasets:
            raise ValueError(f"{what} names no data set")
    for pair in experiment.comparisons:
        _check_names(experiment, f"the comparison of '{pair.a}' and '{pair.b}'", [pair.a, pair.b], pair.measure, ())


def _check_system(system: RankingSystem) -> None:
    """One way to get parameters, and names that the model or the feedback method has."""
    if sum(map(bool, (system.sweep, system.tune, system.learn))) > 1:
        raise ValueError(f"system '{system.name}' may have one of sweep, tune and learn")
    if not system.model and not system.feedback:
        raise ValueError(f"system '{system.name}' needs a model or feedback")
    if system.model == LITERAL:
        if system.feedback:
            raise ValueError(f"system '{system.name}': {LITERAL} takes no feedback")
        return
    axes = {**system.sweep, **system.tune}
    empty = [name for name, values in axes.items() if not values]
    if empty:
        raise ValueError(f"system '{system.name}' has no value for '{empty[0]}'")
    try:
        ranking_of(system.model, system.feedback, {**system.parameters, **{name: axes[name][0] for name in axes}})
    except (TypeError, ValueError) as error:
        raise ValueError(f"system '{system.name}': {error}") from None


def _check_names(
    experiment: Experiment, what: str, systems: Iterable[str], measure: str, datasets: Iterable[str]
) -> None:
    if measure not in experiment.measures or not {*datasets} <= {*experiment.datasets}:
        raise ValueError(f"{what} names a measure or data set that is not run")
    unknown = [system for system in systems if system not in experiment.rows]
    if unknown:
        rows = ", ".join(f"'{row}'" for row in experiment.rows)
        raise ValueError(f"{what} names a system that is not run: '{unknown[0]}'; there are {rows}")
