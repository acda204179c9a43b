"""Running an experiment: every system on every data set, each figure held against what is expected."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from germane.errors import ParameterError
from germane.evaluate.experiments.collections import Collection
from germane.evaluate.experiments.spec import Experiment, System
from germane.evaluate.measures import Evaluation, evaluate
from germane.evaluate.rankings import Run
from germane.evaluate.tuning import cross_validate
from germane.rank.registry import model_named

LITERAL = "literal-bm25"
OnStep = Callable[[str, str], None]


@dataclass(frozen=True)
class Figure:
    """One number of the table, beside what was expected and what the source reports."""

    dataset: str
    system: str
    measure: str
    value: float
    expected: float | None
    reference: float | None
    tolerance: float

    @property
    def ok(self) -> bool:
        """Within tolerance of the expected figure, or nothing is expected."""
        return self.expected is None or abs(self.value - self.expected) <= self.tolerance + 1e-12


@dataclass(frozen=True)
class Bar:
    """A bar of the experiment, and whether it was reached."""

    text: str
    reached: bool

    def __str__(self) -> str:
        return f"{'reached' if self.reached else 'MISSED'}: {self.text}"


@dataclass
class Result:
    """Everything an experiment gave."""

    experiment: Experiment
    figures: list[Figure] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    conventions: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, dict[str, str]] = field(default_factory=dict)
    curves: dict[tuple[str, str, str], dict[str, list[tuple[float, float]]]] = field(default_factory=dict)
    """(system, parameter, measure) -> data set -> points"""
    runs: dict[str, dict[str, Run]] = field(default_factory=dict)
    qrels: dict[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """All figures within tolerance and all bars reached."""
        return all(figure.ok for figure in self.figures) and all(bar.reached for bar in self.bars)

    def value(self, dataset: str, system: str, measure: str) -> float:
        """One figure."""
        for figure in self.figures:
            if (figure.dataset, figure.system, figure.measure) == (dataset, system, measure):
                return figure.value
        raise ParameterError(f"the experiment has no figure for '{system}' on '{dataset}' ({measure})")


def run_experiment(experiment: Experiment, *, cache: Path | None = None, on_step: OnStep | None = None) -> Result:
    """Run it. `on_step(dataset, system)` is called before each system."""
    result = Result(experiment)
    for dataset in experiment.datasets:
        collection = Collection.open(dataset, cache=cache)
        result.conventions[dataset] = "; ".join(filter(None, [collection.convention, experiment.notes.get(dataset)]))
        for system in experiment.systems:
            if on_step is not None:
                on_step(dataset, system.name)
            for name, found, run in _evaluations(collection, system, experiment, result):
                _note(result, dataset, name, found)
                if run is not None and experiment.plots and not system.sweep:
                    result.runs.setdefault(dataset, {})[name] = run
                    result.qrels[dataset] = collection.qrels
    _check_bars(result)
    return result


def run_of(collection: Collection, system: System, parameters: Mapping[str, float], k: int) -> Run:
    """The run of a system with these parameters on top of its own."""
    given = {**system.parameters, **parameters}
    if system.model == LITERAL:
        return collection.literal.run(collection.topics, k, **given)
    return collection.run(model_named(system.model, **given), k)


def _evaluations(
    collection: Collection, system: System, experiment: Experiment, result: Result
) -> Iterator[tuple[str, Evaluation | Mapping[str, float], Run | None]]:
    def measured(parameters: Mapping[str, float]) -> tuple[Evaluation, Run]:
        run = run_of(collection, system, parameters, experiment.k)
        return evaluate(run, collection.qrels, experiment.measures), run

    if system.sweep:
        for values in itertools.product(*system.sweep.values()):
            point = dict(zip(system.sweep, values, strict=True))
            found, run = measured(point)
            if len(point) == 1:
                _note_curve(result, collection.name, system.name, *next(iter(point.items())), found)
            yield f"{system.name} {_written(point)}", found, run
    elif system.tune:
        yield system.name, _tuned(collection, system, experiment, result, lambda p: measured(p)[0]), None
    else:
        learnt: dict[str, float] = {}
        if system.learn:
            learner = {"mu": collection.engine.learn_mu, "lam": collection.engine.learn_lam}.get(system.learn)
            if learner is None:
                raise ParameterError(f"'{system.learn}' cannot be learnt; mu and lam can")
            learnt[system.learn] = learner().value
            result.parameters.setdefault(collection.name, {})[system.name] = _written(learnt)
        yield system.name, *measured(learnt)


def _tuned(
    collection: Collection,
    system: System,
    experiment: Experiment,
    result: Result,
    measured: Callable[[Mapping[str, float]], Evaluation],
) -> dict[str, float]:
    """Each measure's mean over all queries, each query under parameters that were tuned without it."""
    plan = experiment.tuning
    known: dict[tuple[tuple[str, float], ...], Evaluation] = {}

    def found(parameters: Mapping[str, float]) -> Evaluation:
        key = tuple(sorted(parameters.items()))
        if key not in known:
            known[key] = measured(parameters)
        return known[key]

    folds = cross_validate(
        lambda parameters: found(parameters).per_query(plan.measure),
        system.tune, tuple(collection.qrels), k=plan.folds, method=plan.method, random_state=plan.seed,
    ).folds  # fmt: skip
    chosen = " / ".join(_written(fold.tuned.parameters) for fold in folds)
    result.parameters.setdefault(collection.name, {})[system.name] = chosen
    totals = dict.fromkeys(experiment.measures, 0.0)
    for fold in folds:
        evaluation = found(fold.tuned.parameters)
        for measure in experiment.measures:
            values = evaluation.per_query(measure)
            totals[measure] += sum(values[query] for query in fold.test)
    return {measure: total / len(collection.qrels) for measure, total in totals.items()}


def _written(parameters: Mapping[str, float]) -> str:
    return " ".join(f"{name}={value:g}" for name, value in parameters.items())


def _note(result: Result, dataset: str, system: str, found: Evaluation | Mapping[str, float]) -> None:
    experiment = result.experiment
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


def _check_bars(result: Result) -> None:
    for bar in result.experiment.bars:
        for dataset in bar.datasets:
            ours = result.value(dataset, bar.system, bar.measure)
            bound = result.value(dataset, bar.other, bar.measure) if bar.other else bar.value
            against = f"{bar.other} {bound:.4f}" if bar.other else f"{bound:.4f}"
            text = f"{dataset}, {bar.measure}: {bar.system} {ours:.4f} >= {against}"
            text += f" - {bar.slack:g}" if bar.slack else ""
            result.bars.append(Bar(text, ours >= bound - bar.slack))
