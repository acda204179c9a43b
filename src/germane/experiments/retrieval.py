"""Retrieval experiments: every ranking model and feedback method on every data set, judged query by query.

Beside what all kinds have (`experiment.py`), the file may say:

k = 1000                            documents ranked per query
plots = ["precision-recall"]        beside the sensitivity of swept parameters
describe = true                     tell how many documents, terms and queries the data sets have (SD table 5.2)

[[system]]
model = "dirichlet"                 a ranking model, or "literal-bm25"; optional with feedback
feedback = "rm3"                    a feedback method; without a model its own rankings are used
parameters = { mu = 400 }           fixed; a feedback method's numbers: `feedback.py`
sweep = { mu = [100, 400, 1600] }   every value on all queries: one row each
tune = { mu = [100, 400, 1600] }    chosen by cross-validation over queries (`tuning`)
learn = "mu"                        learnt from the documents alone
choose = { mu = [100, 400, 1600] }  chosen on the other data sets: the best mean of the tuning's measure there;
                                    values that go together: { "k1, b" = [[1.2, 0.75], [0.9, 0.4]] }

[[nested]]                          which of several systems with `choose`: chosen on the others, too
name = "best kind"
systems = ["bm25 chosen", "dirichlet chosen"]

[tuning]                            folds = 2, method = "grid", measure = "AP", seed = 0
yardstick = "QL swept"              settings are chosen by the measure over the best of this swept system (optional)

[queries]                           scifact = ["train"]: the queries of queries_train.tsv too, their ids with train_
[variants."cranfield, 12 words"]    of = ["cranfield"], words = 12: `variants.py`; left out with its family
[documents.nfcorpus]                path = "nfcorpus_titles/docs.tsv.gz", map = { text = "abstract" }: from elsewhere
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from germane.errors import ParameterError
from germane.evaluate.measures import Evaluation, evaluate
from germane.evaluate.rankings import Run
from germane.evaluate.tuning import cross_validate
from germane.experiments.collections import Collection, DocumentsFrom
from germane.experiments.experiment import Experiment, System, written
from germane.experiments.feedback import ranking_of
from germane.experiments.left_out import leave_one_out, nested
from germane.experiments.results import OnProgress, Result
from germane.experiments.variants import Variant, made_of

LITERAL = "literal-bm25"
PLOTS = ("precision-recall",)
COLLECTIONS = "Collections"
"""The heading of SD table 5.2."""


@dataclass(frozen=True)
class RankingSystem(System):
    """A ranking model, a feedback method or both, with fixed, swept, tuned or learnt parameters."""

    model: str = ""
    feedback: str = ""
    sweep: Mapping[str, Sequence[float]] = field(default_factory=dict)
    learn: str = ""
    choose: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, dict[str, float]]:
        """One row for each point of the sweep."""
        points = [dict(zip(self.sweep, values, strict=True)) for values in itertools.product(*self.sweep.values())]
        return {f"{self.name} {written(point)}".strip(): point for point in points}


@dataclass(frozen=True)
class Tuning:
    """How tuned systems are tuned."""

    folds: int = 2
    method: str = "grid"
    measure: str = "AP"
    seed: int = 0
    yardstick: str = ""


@dataclass(frozen=True)
class Nested:
    """Systems of which one is chosen, with its setting."""

    name: str
    systems: Sequence[str]


@dataclass(frozen=True)
class RetrievalExperiment(Experiment):
    """Rankings of documents, judged query by query."""

    systems: Sequence[RankingSystem]
    k: int = 1000
    plots: Sequence[str] = ()
    describe: bool = False
    tuning: Tuning = field(default_factory=Tuning)
    queries: Mapping[str, Sequence[str]] = field(default_factory=dict)
    documents: Mapping[str, DocumentsFrom] = field(default_factory=dict)
    variants: Mapping[str, Variant] = field(default_factory=dict)
    nested: Sequence[Nested] = ()

    @property
    def rows(self) -> list[str]:
        """Every system's rows, and those whose system is chosen too."""
        return [*super().rows, *(each.name for each in self.nested)]

    @property
    def families(self) -> Mapping[str, str]:
        """Data sets that share documents with others, and whose they are."""
        return {name: variant.left_out_with for name, variant in self.variants.items()}

    @property
    def inputs(self) -> list[str]:
        """What has to be there below GERMANE_DATA."""
        return made_of(self.datasets, self.variants)


def read_retrieval(content: dict[str, Any], **common: Any) -> RetrievalExperiment:
    """The experiment; `common` is what all kinds have."""
    experiment = RetrievalExperiment(
        systems=[RankingSystem(**system) for system in content.pop("system")],
        tuning=Tuning(**content.pop("tuning", {})),
        documents={name: DocumentsFrom(**told) for name, told in content.pop("documents", {}).items()},
        variants={name: Variant(**told) for name, told in content.pop("variants", {}).items()},
        nested=[Nested(**each) for each in content.pop("nested", [])],
        **common,
        **content,
    )
    for system in experiment.systems:
        _check_system(system)
    _check_nested(experiment)
    unknown = sorted({*experiment.plots} - {*PLOTS})
    if unknown:
        raise ValueError(f"there is no plot '{unknown[0]}'; there are: {', '.join(PLOTS)}")
    return experiment


def _check_nested(experiment: RetrievalExperiment) -> None:
    choosing = {system.name for system in experiment.systems if system.choose}
    for each in experiment.nested:
        strange = [name for name in each.systems if name not in choosing]
        if strange or not each.systems:
            raise ValueError(f"'{each.name}' is of systems with 'choose', and {strange or 'none'} is not one")
    yardstick = experiment.tuning.yardstick
    if yardstick and not any(system.name == yardstick and system.sweep for system in experiment.systems):
        raise ValueError(f"the yardstick '{yardstick}' is not a swept system")


def _check_system(system: RankingSystem) -> None:
    """One way to get parameters, and names that the model or the feedback method has."""
    if sum(map(bool, (system.sweep, system.tune, system.learn, system.choose))) > 1:
        raise ValueError(f"system '{system.name}' may have one of sweep, tune, learn and choose")
    if not system.model and not system.feedback:
        raise ValueError(f"system '{system.name}' needs a model or feedback")
    if system.model == LITERAL:
        if system.feedback:
            raise ValueError(f"system '{system.name}': {LITERAL} takes no feedback")
        return
    axes = {**system.sweep, **system.tune, **system.choose}
    empty = [name for name, values in axes.items() if not values]
    if empty:
        raise ValueError(f"system '{system.name}' has no value for '{empty[0]}'")
    first = {name: axes[name][0] for name in axes}
    try:
        ranking_of(system.model, system.feedback, {**system.parameters, **_apart(first)})
    except (TypeError, ValueError) as error:
        raise ValueError(f"system '{system.name}': {error}") from None


def run_retrieval(experiment: RetrievalExperiment, result: Result, on_progress: OnProgress) -> None:
    """Rank, evaluate and note every system on every data set; at last those whose settings others choose."""
    tried: dict[str, Tried] = {}
    for dataset in experiment.datasets:
        collection = _collection(experiment, dataset)
        result.conventions[dataset] = "; ".join(filter(None, [collection.convention, experiment.notes.get(dataset)]))
        if experiment.describe:
            facts = collection.described
            result.tables.setdefault(COLLECTIONS, [["", *facts]]).append([dataset, *facts.values()])
        for system in experiment.systems:
            on_progress(dataset, system.name)
            if system.choose:
                tried.setdefault(system.name, {})[dataset] = _tried(collection, system, experiment)
                continue
            for name, point, run in _runs(collection, system, experiment, result):
                found = evaluate(run, collection.qrels, experiment.measures)
                result.note(dataset, name, found)
                if len(point) == 1:
                    _note_curve(result, dataset, system.name, *next(iter(point.items())), found)
                if experiment.plots and not system.sweep:
                    result.runs.setdefault(dataset, {})[name] = run
                    result.qrels[dataset] = collection.qrels
    _note_left_out(experiment, result, tried)


def _collection(experiment: RetrievalExperiment, dataset: str) -> Collection:
    if dataset in experiment.variants:
        return Collection.of_variant(dataset, experiment.variants[dataset])
    return Collection.open(
        dataset, parts=experiment.queries.get(dataset, ()), documents=experiment.documents.get(dataset)
    )


Tried = dict[str, dict[str, Evaluation]]
"""data set -> setting, as it is written -> what it gave"""


def _tried(collection: Collection, system: RankingSystem, experiment: RetrievalExperiment) -> dict[str, Evaluation]:
    """Every setting that may be chosen, judged on this data set."""
    points = [dict(zip(system.choose, values, strict=True)) for values in itertools.product(*system.choose.values())]
    return {
        written(point): evaluate(run_of(collection, system, point, experiment.k), collection.qrels, experiment.measures)
        for point in map(_apart, points)
    }


def _apart(point: Mapping[str, Any]) -> dict[str, float]:
    """The parameters of a point, those that go together ("k1, b" = [1.2, 0.75]) one by one."""
    apart: dict[str, float] = {}
    for names, values in point.items():
        apart |= zip(names.split(", "), values, strict=True) if isinstance(values, list) else {names: values}
    return apart


def _note_left_out(experiment: RetrievalExperiment, result: Result, tried: Mapping[str, Tried]) -> None:
    """Systems with `choose`, and those of which one is chosen: on each data set as the other ones would have them."""
    measure, against = experiment.tuning.measure, experiment.tuning.yardstick
    rows = experiment.rows_of(against)
    yardstick = {d: max(result.value(d, row, measure) for row in rows) for d in experiment.datasets} if rows else None
    tables = {
        system: {dataset: {s: found.values[measure] for s, found in row.items()} for dataset, row in by_dataset.items()}
        for system, by_dataset in tried.items()
    }
    families = experiment.families
    for system, table in tables.items():
        for dataset, setting in leave_one_out(table, families=families, yardstick=yardstick).chosen.items():
            _note_chosen(result, dataset, system, setting, tried[system][dataset][setting])
    for each in experiment.nested:
        kinds = {name: tables[name] for name in each.systems}
        for dataset, chosen in nested(kinds, families=families, yardstick=yardstick).chosen.items():
            system, setting = chosen.split(": ", 1)
            _note_chosen(result, dataset, each.name, chosen, tried[system][dataset][setting])


def _note_chosen(result: Result, dataset: str, row: str, chosen: str, found: Evaluation) -> None:
    result.parameters.setdefault(dataset, {})[row] = chosen
    result.note(dataset, row, found)


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
        run, chosen = held_out_run(collection, system, experiment.tuning, k)
        result.parameters.setdefault(collection.name, {})[system.name] = " / ".join(map(written, chosen))
        yield system.name, {}, run
        return
    learnt = _learnt(collection, system.learn)
    if learnt:
        result.parameters.setdefault(collection.name, {})[system.name] = written(learnt)
    for name, point in system.settings.items():
        yield name, point, run_of(collection, system, {**point, **learnt}, k)


def held_out_run(
    collection: Collection, system: RankingSystem, plan: Tuning, k: int
) -> tuple[Run, list[dict[str, float]]]:
    """Each query's ranking from the fold in which it was held out, and the parameters chosen in each fold.

    Trials keep their values only, since all their rankings would not fit into memory: those chosen are ranked again.
    """

    def per_query(parameters: Mapping[str, float]) -> dict[str, float]:
        run = run_of(collection, system, parameters, k)
        return evaluate(run, collection.qrels, [plan.measure]).per_query(plan.measure)

    folds = cross_validate(
        per_query, system.tune, tuple(collection.qrels), k=plan.folds, method=plan.method, random_state=plan.seed
    ).folds
    merged: dict[str, Mapping[str, float]] = {}
    for fold in folds:
        run = run_of(collection, system, fold.tuned.parameters, k)
        merged |= {query: run[query] for query in fold.test if query in run}
    return merged, [fold.tuned.parameters for fold in folds]


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
