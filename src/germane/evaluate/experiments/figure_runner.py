"""Running a figure experiment: what each figure shows is computed now, and drawn when the report is written."""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from germane.evaluate import figures
from germane.evaluate.count_distributions import CATEGORIES, CountDistributions, count_distributions
from germane.evaluate.experiments.figure_spec import Drawing, FigureExperiment
from germane.evaluate.experiments.results import OnStep, Result
from germane.evaluate.labelled import load_labelled
from germane.evaluate.measures import Evaluation
from germane.text import Analyzer

COUNTS = "count-distributions"
_DRAWN: dict[str, Callable[..., Any]] = {
    "smoothed-domains": figures.smoothed_domains,
    "normalisers": figures.normalisers,
    "dirichlet-densities": figures.dirichlet_densities,
}
"""Figures that need no data."""


def check_drawing(drawing: Drawing) -> None:
    """Complain of a figure that cannot be drawn, or of an argument that it does not take."""
    if drawing.draw == COUNTS:
        inspect.signature(count_distributions).bind(None, **drawing.parameters)
    elif drawing.draw in _DRAWN:
        inspect.signature(_DRAWN[drawing.draw]).bind(**drawing.parameters)
    else:
        raise ValueError(f"there is no drawing '{drawing.draw}'; there are: {', '.join([*_DRAWN, COUNTS])}")


def run_figures(experiment: FigureExperiment, result: Result, on_step: OnStep) -> None:
    """Prepare every figure; that of counts is drawn of each data set, and its divergences are noted."""
    for drawing in experiment.drawings:
        on_step("figure", drawing.name)
        if drawing.draw != COUNTS:
            result.drawings[drawing.name] = partial(_DRAWN[drawing.draw], **drawing.parameters)
            continue
        for dataset in experiment.datasets:
            data = load_labelled(dataset, Analyzer(stemmer="porter", stopwords="none"), unlabelled=True)  # as SD §3.4
            found = count_distributions(data.X, **drawing.parameters)
            result.conventions[dataset] = f"{data.X.shape[0]:,} documents, {data.X.shape[1]:,} stems, stop words kept"
            result.drawings[f"{drawing.name}-{dataset}"] = partial(figures.count_curves, found)
            _note(result, dataset, found)


def _note(result: Result, dataset: str, found: CountDistributions) -> None:
    """The divergence of the observed counts from those of each distribution, category by category."""
    measures = tuple(f"KL {category}" for category in CATEGORIES)
    for name in found.predicted:
        overall = dict(zip(measures, (found.divergence(name, category) for category in CATEGORIES), strict=True))
        result.note(dataset, name, Evaluation(measures, (), {}, overall))
