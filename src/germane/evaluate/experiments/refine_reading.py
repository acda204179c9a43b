"""Reading the parts of a refinement experiment's file."""

from typing import Any, get_args, get_type_hints

from germane.evaluate.experiments.refine_spec import (
    ALL,
    MEANS,
    MEASURES,
    ORIGINAL,
    Initialisations,
    RefineExperiment,
    RefineSystem,
    Timing,
)
from germane.evaluate.refine_lists import ListRules
from germane.evaluate.refine_sources import ListSource
from germane.refine.registry import method_named

DECISIONS = get_args(get_type_hints(RefineSystem)["decision"])


def refine_experiment(content: dict[str, Any], **common: Any) -> RefineExperiment:
    """The experiment; `common` is what all kinds have."""
    sources = [ListSource(**source) for source in content.pop("collection")]
    names = [source.name for source in sources]
    if len({*names, ALL, MEANS}) < len(names) + 2:
        raise ValueError(f"collections need names of their own, other than '{ALL}' and '{MEANS}'")
    timing, initialisations = content.pop("timing", None), content.pop("initialisations", None)
    experiment = RefineExperiment(
        datasets=[*names, ALL, MEANS],
        systems=[RefineSystem(**system) for system in content.pop("system")],
        collections=sources,
        rules=ListRules(**content.pop("lists", {})),
        timing=None if timing is None else Timing(**timing),
        initialisations=None if initialisations is None else Initialisations(**initialisations),
        **common,
        **content,
    )
    unknown = [name for name in experiment.measures if name not in MEASURES]
    if unknown or not experiment.measures:
        raise ValueError(f"measures of a refinement are {' and '.join(MEASURES)}, not {unknown or 'none'}")
    for system in experiment.systems:
        _check_system(system)
    _check_original(experiment)
    if experiment.timing and experiment.timing.against not in experiment.rows:
        raise ValueError(f"times are compared with a system that is not run: '{experiment.timing.against}'")
    _check_initialisations(experiment.initialisations)
    return experiment


def _check_system(system: RefineSystem) -> None:
    if system.tune:
        raise ValueError(f"system '{system.name}': methods of refinement are not tuned here")
    if system.decision not in DECISIONS:
        raise ValueError(f"system '{system.name}' decides by one of {', '.join(DECISIONS)}, not '{system.decision}'")
    if system.method == ORIGINAL:
        if system.parameters:
            raise ValueError(f"system '{system.name}': the original order has no parameters")
        return
    try:
        method_named(system.method, **system.parameters)
    except ValueError as error:
        raise ValueError(f"system '{system.name}': {error}") from None


def _check_original(experiment: RefineExperiment) -> None:
    """The search's order predicts no set, so no F1 of it can be asked for."""
    unset = {system.name for system in experiment.systems if "F1" not in system.measures}
    asked = [(bar.measure, name) for bar in experiment.bars for name in (bar.system, bar.other)]
    asked += [(pair.measure, name) for pair in experiment.comparisons for name in (pair.a, pair.b)]
    for measure, name in asked:
        if measure == "F1" and name in unset:
            raise ValueError(f"'{name}' predicts no set, so it has no F1")


def _check_initialisations(asked: Initialisations | None) -> None:
    if asked and (not asked.components or min(asked.components) < 1 or asked.runs < 1 or asked.lists < 1):
        raise ValueError("initialisations need numbers of components, runs and lists of at least 1")
