"""Running a retrieval experiment: every system on every data set."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from germane.errors import ParameterError
from germane.evaluate.experiments.collections import Collection
from germane.evaluate.experiments.feedback_systems import ranking_of
from germane.evaluate.experiments.held_out import held_out_run
from germane.evaluate.experiments.results import OnStep, Result
from germane.evaluate.experiments.spec import LITERAL, RankingSystem, RetrievalExperiment, written
from germane.evaluate.measures import Evaluation, evaluate
from germane.evaluate.rankings import Run


def run_retrieval(experiment: RetrievalExperiment, result: Result, cache: Path | None, on_step: OnStep) -> None:
    """Rank, evaluate and note every system on every data set."""
    for dataset in experiment.datasets:
        collection = Collection.open(dataset, cache=cache)
        result.conventions[dataset] = "; ".join(filter(None, [collection.convention, experiment.notes.get(dataset)]))
        for system in experiment.systems:
            on_step(dataset, system.name)
            for name, point, run in _runs(collection, system, experiment, result):
                found = evaluate(run, collection.qrels, experiment.measures)
                result.note(dataset, name, found)
                if len(point) == 1:
                    _note_curve(result, dataset, system.name, *next(iter(point.items())), found)
                if experiment.plots and not system.sweep:
                    result.runs.setdefault(dataset, {})[name] = run
                    result.qrels[dataset] = collection.qrels


def run_of(collection: Collection, system: RankingSystem, parameters: Mapping[str, float], k: int) -> Run:
    """The run of a system with these parameters on top of its own."""
    given = {**system.parameters, **parameters}
    if system.model == LITERAL:
        return collection.literal.run(collection.topics, k, **given)
    model, feedback = ranking_of(system.model, system.feedback, given)
    return collection.run(model, k, feedback=feedback)


def _runs(
    collection: Collection, system: RankingSystem, experiment: RetrievalExperiment, result: Result
) -> Iterator[tuple[str, Mapping[str, float], Run]]:
    """Each row of a system: its name, the swept parameters, the run. Chosen parameters are noted in the result."""
    k = experiment.k
    if system.tune:
        run, chosen = held_out_run(
            lambda parameters: run_of(collection, system, parameters, k),
            collection.qrels, system.tune, experiment.tuning,
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


def _note_curve(result: Result, dataset: str, system: str, parameter: str, value: float, found: Evaluation) -> None:
    for measure in result.experiment.measures:
        curve = result.curves.setdefault((system, parameter, measure), {})
        curve.setdefault(dataset, []).append((value, found[measure]))
