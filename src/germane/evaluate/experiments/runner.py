"""Running an experiment of any kind: each figure is held against what is expected, each bar against the figures."""

from pathlib import Path

from germane.evaluate.experiments.classification_runner import run_classification
from germane.evaluate.experiments.classification_spec import ClassificationExperiment
from germane.evaluate.experiments.figure_runner import run_figures
from germane.evaluate.experiments.figure_spec import FigureExperiment
from germane.evaluate.experiments.refine_runner import run_refinements
from germane.evaluate.experiments.refine_spec import RefineExperiment
from germane.evaluate.experiments.results import OnStep, Result
from germane.evaluate.experiments.retrieval_runner import run_retrieval
from germane.evaluate.experiments.spec import Experiment, RetrievalExperiment
from germane.evaluate.experiments.verdicts import check_bars, check_ratios, compare_systems


def run_experiment(experiment: Experiment, *, cache: Path | None = None, on_step: OnStep | None = None) -> Result:
    """Run it. `on_step(dataset, system)` is called before each system."""
    result = Result(experiment)
    step = on_step or (lambda dataset, system: None)
    match experiment:
        case RetrievalExperiment():
            run_retrieval(experiment, result, cache, step)
        case ClassificationExperiment():
            run_classification(experiment, result, step)
        case RefineExperiment():
            run_refinements(experiment, result, step)
        case FigureExperiment():
            run_figures(experiment, result, step)
    check_bars(result)
    check_ratios(result)
    compare_systems(result)
    return result
