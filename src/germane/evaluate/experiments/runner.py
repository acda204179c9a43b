"""Running an experiment: every system on every data set, each figure held against what is expected."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from germane.errors import ParameterError
from germane.evaluate.experiments.collections import Collection
from germane.evaluate.experiments.feedback_systems import ranking_of
from germane.evaluate.experiments.held_out import held_out_run
from germane.evaluate.experiments.results import Figure, Result
from germane.evaluate.experiments.spec import LITERAL, Experiment, System, written
from germane.evaluate.experiments.verdicts import check_bars, check_ratios, compare_systems
from germane.evaluate.measures import Evaluation, evaluate
from germane.evaluate.rankings import Run

OnStep = Callable[[str, str], None]


def run_experiment(experiment: Experiment, *, cache: Path | None = None, on_step: OnStep | None = None) -> Result:
    """Run it. `on_step(dataset, system)` is called before each system."""
    result = Result(experiment)
    for dataset in experiment.datasets:
        collection = Collection.open(dataset, cache=cache)
        result.conventions[dataset] = "; ".join(filter(None, [collection.convention, experiment.notes.get(dataset)]))
        for system in experiment.systems:
            if on_step is not None:
                on_step(dataset, system.name)
            for name, point, run in _runs(collection, system, result):
                found = evaluate(run, collection.qrels, experiment.measures)
                _note(result, dataset, name, found)
                if len(point) == 1:
                    _note_curve(result, dataset, system.name, *next(iter(point.items())), found)
                if experiment.plots and not system.sweep:
                    result.runs.setdefault(dataset, {})[name] = run
                    result.qrels[dataset] = collection.qrels
    check_bars(result)
    check_ratios(result)
    compare_systems(result)
    return result


def run_of(collection: Collection, system: System, parameters: Mapping[str, float], k: int) -> Run:
    """The run of a system with these parameters on top of its own."""
    given = {**system.parameters, **parameters}
    if system.model == LITERAL:
        return collection.literal.run(collection.topics, k, **given)
    model, feedback = ranking_of(system.model, system.feedback, given)
    return collection.run(model, k, feedback=feedback)


def _runs(collection: Collection, system: System, result: Result) -> Iterator[tuple[str, Mapping[str, float], Run]]:
    """Each row of a system: its name, the swept parameters, the run. Chosen parameters are noted in the result."""
    k = result.experiment.k
    if system.tune:
        run, chosen = held_out_run(
            lambda parameters: run_of(collection, system, parameters, k),
            collection.qrels, system.tune, result.experiment.tuning,
        )  # fmt: skip
        result.parameters.setdefault(collection.name, {})[system.name] = " / ".join(map(written, chosen))
        yield system.name, {}, run
        return
    learnt = _learnt(collection, system.learn)
    if learnt:
        result.parameters.setdefault(collection.name, {})[system.name] = written(learnt)
    for name, point in system.settings.items():
        yield name, point, run_of(collection, system, {**point, **learnt}, k)


def _learnt(collection: Collection, name: str) -> dict[str, float]:
    if not name:
        return {}
    learner = {"mu": collection.engine.learn_mu, "lam": collection.engine.learn_lam}.get(name)
    if learner is None:
        raise ParameterError(f"'{name}' cannot be learnt; mu and lam can")
    return {name: learner().value}


def _note(result: Result, dataset: str, system: str, found: Evaluation) -> None:
    experiment = result.experiment
    result.evaluations.setdefault(dataset, {})[system] = found
    for measure in experiment.measures:
        expected = experiment.expected.get(dataset, {}).get(system, {}).get(measure)
        reference = experiment.reference.get(dataset, {}).get(system, {}).get(measure)
        result.figures.append(
            Figure(dataset, system, measure, found[measure], expected, reference, experiment.tolerance)
        )


def _note_curve(result: Result, dataset: str, system: str, parameter: str, value: float, found: Evaluation) -> None:
    for measure in result.experiment.measures:
        curve = result.curves.setdefault((system, parameter, measure), {})
        curve.setdefault(dataset, []).append((value, found[measure]))
