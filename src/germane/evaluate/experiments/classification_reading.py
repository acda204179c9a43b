"""Reading the parts of a classification experiment's file."""

from typing import Any

from germane.evaluate.experiments.classification_models import check_classifier
from germane.evaluate.experiments.classification_spec import (
    MEASURES,
    ClassificationExperiment,
    ClassifierSystem,
    ValidationTuning,
)
from germane.evaluate.tuning import tuner


def classification_experiment(content: dict[str, Any], **common: Any) -> ClassificationExperiment:
    """The experiment; `common` is what all kinds have."""
    experiment = ClassificationExperiment(
        systems=[ClassifierSystem(**system) for system in content.pop("system")],
        tuning=ValidationTuning(**content.pop("tuning", {})),
        **common,
        **content,
    )
    unknown = [name for name in (*experiment.measures, experiment.tuning.measure) if name and name not in MEASURES]
    if unknown:
        raise ValueError(f"there is no measure '{unknown[0]}' of classifiers; there are: {', '.join(MEASURES)}")
    if not experiment.measures:
        raise ValueError("the experiment names no measure")
    for name, share in (("test_share", experiment.test_share), ("share of [tuning]", experiment.tuning.share)):
        if not 0.0 < share < 1.0:
            raise ValueError(f"{name} must lie strictly between 0 and 1, not {share:g}")
    tuner(experiment.tuning.method)
    for system in experiment.systems:
        _check_system(system, experiment.splits)
    return experiment


def _check_system(system: ClassifierSystem, splits: int) -> None:
    empty = [name for name, values in system.tune.items() if not values]
    if empty:
        raise ValueError(f"system '{system.name}' has no value for '{empty[0]}'")
    both = sorted({*system.tune} & {*system.parameters})
    if both:
        raise ValueError(f"system '{system.name}' both fixes and tunes '{both[0]}'")
    if not 1 <= (splits if system.splits is None else system.splits) <= splits:
        raise ValueError(f"system '{system.name}' can be measured on 1 to {splits} splits")
    try:
        check_classifier(system.model, {**system.parameters, **system.tune})
    except ValueError as error:
        raise ValueError(f"system '{system.name}': {error}") from None
