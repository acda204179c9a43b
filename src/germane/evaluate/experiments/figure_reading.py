"""Reading the parts of a figure experiment's file."""

from typing import Any

from germane.evaluate.experiments.figure_runner import check_drawing
from germane.evaluate.experiments.figure_spec import Drawing, FigureExperiment


def figure_experiment(content: dict[str, Any], **common: Any) -> FigureExperiment:
    """The experiment; `common` is what all kinds have."""
    experiment = FigureExperiment(
        datasets=content.pop("datasets", ()),
        measures=content.pop("measures", ()),
        systems=(),
        drawings=[Drawing(**drawing) for drawing in content.pop("figure")],
        **common,
        **content,
    )
    names = [drawing.name for drawing in experiment.drawings]
    if len({*names}) < len(names):
        raise ValueError("two figures have one name")
    for drawing in experiment.drawings:
        try:
            check_drawing(drawing)
        except (TypeError, ValueError) as error:
            raise ValueError(f"figure '{drawing.name}': {error}") from None
    return experiment
