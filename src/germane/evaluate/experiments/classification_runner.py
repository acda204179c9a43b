"""Running a classification experiment: every classifier on the same splits of every data set."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from germane.errors import ParameterError
from germane.evaluate.break_even import break_even_precision, macro_bep, micro_bep
from germane.evaluate.classification import accuracy, f1
from germane.evaluate.experiments.classification_models import classifier_named
from germane.evaluate.experiments.classification_spec import GIVEN, ClassificationExperiment, ClassifierSystem
from germane.evaluate.experiments.classification_splits import Split, random_splits
from germane.evaluate.experiments.results import OnStep, Result
from germane.evaluate.experiments.spec import written
from germane.evaluate.experiments.subscripts import mark_significance
from germane.evaluate.labelled import LabelledData, load_labelled
from germane.evaluate.measures import Evaluation
from germane.evaluate.tuning import tuner


def run_classification(experiment: ClassificationExperiment, result: Result, on_step: OnStep) -> None:
    """Train, predict and note every system on every data set, and mark which are significantly better."""
    load = lru_cache(maxsize=1)(load_labelled)  # a data set and its published split, one after the other
    tuned: dict[tuple[str, str], dict[str, float]] = {}
    for dataset in experiment.datasets:
        data = load(dataset.removesuffix(GIVEN), top=experiment.top, unlabelled=experiment.unlabelled)
        splits = splits_of(data, experiment, given=dataset.endswith(GIVEN))
        about = _convention(data, experiment, splits, given=dataset.endswith(GIVEN))
        result.conventions[dataset] = "; ".join(filter(None, [about, experiment.notes.get(dataset)]))
        for system in experiment.systems:
            on_step(dataset, system.name)
            if (data.name, system.name) not in tuned:
                tuned[data.name, system.name] = _tuned(data, system, experiment, splits[0])
            parameters = {**system.parameters, **tuned[data.name, system.name]}
            if parameters:
                result.parameters.setdefault(dataset, {})[system.name] = written(parameters)
            rows = [
                measured(data, split, system.model, parameters, experiment.measures)
                for split in splits[: system.splits]
            ]
            result.note(dataset, system.name, _evaluation(rows, experiment.measures))
    mark_significance(result)


def splits_of(data: LabelledData, experiment: ClassificationExperiment, *, given: bool) -> list[Split]:
    """The random splits of the experiment, or the published one."""
    if given:
        return [Split(np.flatnonzero(data.train), np.flatnonzero(data.test))]
    return random_splits(data.y, experiment.splits, experiment.test_share, random_state=experiment.seed)


def measured(
    data: LabelledData, split: Split, model: str, parameters: Mapping[str, float], measures: Sequence[str]
) -> dict[str, float]:
    """Train on one part, predict or rank the other, and measure that."""
    estimator = classifier_named(model, parameters, ranking=data.multi_label)
    estimator.fit(data.X[split.train], data.y[split.train])
    X, y = data.X[split.test], data.y[split.test]
    found: dict[str, float] = {}
    if data.multi_label:
        scores = estimator.decision_function(X)
        kept = np.flatnonzero(y.any(axis=0))  # a class without a test document has no break-even point
        bep = [break_even_precision(scores[:, label], y[:, label]) for label in kept]
        found = {"macroBEP": macro_bep(bep), "microBEP": micro_bep(bep, y[:, kept].sum(axis=0))}
    else:
        truth, predicted = ([data.labels[label] for label in row] for row in (y, estimator.predict(X)))
        found = {"accuracy": accuracy(truth, predicted), "macroF1": f1(truth, predicted).macro}
    wrong = [measure for measure in measures if measure not in found]
    if wrong:
        raise ParameterError(f"{wrong[0]} cannot be measured on '{data.name}'; there are: {', '.join(found)}")
    return {measure: found[measure] for measure in measures}


def _tuned(
    data: LabelledData, system: ClassifierSystem, experiment: ClassificationExperiment, split: Split
) -> dict[str, float]:
    """Free parameters by hill-climbing on a validation part of one training set (SD §4.3)."""
    if not system.tune:
        return {}
    plan = experiment.tuning
    (inner,) = random_splits(data.y[split.train], 1, plan.share, random_state=experiment.seed)
    within = Split(split.train[inner.train], split.train[inner.test])
    measure = plan.measure or experiment.measures[0]

    def objective(parameters: Mapping[str, float]) -> float:
        return measured(data, within, system.model, {**system.parameters, **parameters}, [measure])[measure]

    return tuner(plan.method)(objective, system.tune).parameters


def _evaluation(rows: Sequence[Mapping[str, float]], measures: Sequence[str]) -> Evaluation:
    """The values of each split, and their means."""
    values = {measure: np.array([row[measure] for row in rows]) for measure in measures}
    names = tuple(f"split {number}" for number in range(1, len(rows) + 1))
    return Evaluation(tuple(measures), names, values, {measure: float(values[measure].mean()) for measure in measures})


def _convention(
    data: LabelledData, experiment: ClassificationExperiment, splits: Sequence[Split], *, given: bool
) -> str:
    """What was classified and how it was split, in one line."""
    n_docs, n_terms = data.X.shape
    train, test = (len(part) for part in splits[0])
    how = "as published" if given else f"{len(splits)} random splits, seed {experiment.seed}"
    if not given:
        how += ", without regard to labels" if data.multi_label else ", class by class"
    fewer = [f"{s.name} {s.splits}" for s in experiment.systems if s.splits is not None and s.splits < len(splits)]
    return (
        f"{n_docs:,} documents, {len(data.labels)} classes; {n_terms:,} terms, of all documents (θ^GE and idf of the "
        f"training documents alone); {train:,} train and {test:,} test, {how}"
        + (f"; fewer splits: {', '.join(fewer)}" if fewer else "")
    )
