"""Classification experiments: every classifier on the same random splits of every data set, or on the published one.

Beside what all kinds have (`experiment.py`), the file may say:

kind = "classification"
datasets = ["20newsgroups"]         names below GERMANE_DATA: `splits` random splits into train and test
                                    "reuters21578:given" is the same data, split once, as published
measures = ["accuracy"]             or macroF1; macroBEP and microBEP rank the documents for each class
top = 10                            of a multi-label set: the classes with most training documents
unlabelled = false                  of a multi-label set: true keeps documents that have no label at all
splits = 25                         the same for all systems
test_share = 0.2                    of each class
seed = 0

[[system]]
name = "Multi-L"
model = "multinomial-laplace"       a name of `classifiers.py`
parameters = { delta = 1e-3 }       fixed
tune = { delta = [1e-4, 1e-3] }     chosen once for each data set, on a validation part of its first training set (the
                                    published one, where NAME:given is listed before NAME)
others = "classes"                  N of SD (4.6) as printed: a document counts once for each other class it has;
                                    "rest", the default, is the documents without the class
splits = 5                          only the first so many splits, for slow models

[tuning]                            method = "coordinate" (hill-climbing), measure: the first one, share = 0.2
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from germane.errors import ParameterError
from germane.evaluate.classification import accuracy, break_even_precision, f1, macro_bep, micro_bep
from germane.evaluate.tuning import tuner
from germane.experiments.classifiers import CLASSES, REST, check_classifier, classifier_named
from germane.experiments.experiment import Experiment, System, written
from germane.experiments.labelled_sets import LabelledData, load_labelled
from germane.experiments.results import OnProgress, Result, averaged
from germane.experiments.verdicts import mark_significance

GIVEN = ":given"
MEASURES = ("accuracy", "macroF1", "macroBEP", "microBEP")
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ClassifierSystem(System):
    """A classifier with fixed or tuned parameters."""

    model: str = ""
    splits: int | None = None
    others: str = REST


@dataclass(frozen=True)
class ValidationTuning:
    """How free parameters are tuned: by hill-climbing on a validation part of one training set (SD §4.3)."""

    method: str = "coordinate"
    measure: str = ""
    share: float = 0.2


@dataclass(frozen=True)
class ClassificationExperiment(Experiment):
    """Classifiers on random splits, or on the published one."""

    systems: Sequence[ClassifierSystem]
    top: int | None = None
    unlabelled: bool = False
    splits: int = 25
    test_share: float = 0.2
    seed: int = 0
    tuning: ValidationTuning = field(default_factory=ValidationTuning)
    unit: ClassVar[str] = "splits"
    conventions: ClassVar[str] = "Data sets"
    tuned_by: ClassVar[str] = "Tuned ones: chosen once, on a validation part of the first training set."
    compared_by: ClassVar[str] = ""

    @property
    def inputs(self) -> list[str]:
        """The data sets, whichever their splits."""
        return [dataset.removesuffix(GIVEN) for dataset in self.datasets]


def read_classification(content: dict[str, Any], **common: Any) -> ClassificationExperiment:
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
        check_classifier(system.model, {**system.parameters, **system.tune}, system.others)
    except ValueError as error:
        raise ValueError(f"system '{system.name}': {error}") from None


def run_classification(experiment: ClassificationExperiment, result: Result, on_progress: OnProgress) -> None:
    """Train, predict and note every system on every data set, and mark which are significantly better."""
    load = lru_cache(maxsize=1)(load_labelled)  # a data set and its published split, one after the other
    tuned: dict[tuple[str, str], dict[str, float]] = {}
    for dataset in experiment.datasets:
        data = load(dataset.removesuffix(GIVEN), top=experiment.top, unlabelled=experiment.unlabelled)
        splits = splits_of(data, experiment, given=dataset.endswith(GIVEN))
        about = _convention(data, experiment, splits, given=dataset.endswith(GIVEN))
        result.conventions[dataset] = "; ".join(filter(None, [about, experiment.notes.get(dataset)]))
        for system in experiment.systems:
            on_progress(dataset, system.name)
            if (data.name, system.name) not in tuned:
                tuned[data.name, system.name] = _tuned(data, system, experiment, splits[0])
            parameters = {**system.parameters, **tuned[data.name, system.name]}
            if parameters:
                result.parameters.setdefault(dataset, {})[system.name] = written(parameters)
            rows = [
                measured(data, split, system.model, parameters, experiment.measures, others=system.others)
                for split in splits[: system.splits]
            ]
            names = [f"split {number}" for number in range(1, len(rows) + 1)]
            values = {measure: np.array([row[measure] for row in rows]) for measure in experiment.measures}
            result.note(dataset, system.name, averaged(names, values))
    mark_significance(result)


class Split(NamedTuple):
    """Row numbers of the training and of the test documents, ascending."""

    train: Indices
    test: Indices


def random_splits(y: npt.NDArray[Any], n_splits: int, test_share: float = 0.2, *, random_state: int = 0) -> list[Split]:
    """`n_splits` random splits, `test_share` of each class going to the test part (SD §4.1).

    `y`: each document's class; a class of two or more documents has one at least on either side, a class of one trains.
    Of a multi-label indicator matrix the documents are split without regard to their labels. The first splits are the
    same however many are drawn.
    """
    if n_splits < 1:
        raise ParameterError(f"the number of splits must be 1 or more, not {n_splits}")
    if not 0.0 < test_share < 1.0:
        raise ParameterError(f"the share of test documents must lie strictly between 0 and 1, not {test_share:g}")
    if len(y) < 2:
        raise ParameterError(f"{len(y)} documents cannot be split into train and test; two or more can")
    groups = [np.arange(len(y))] if y.ndim == 2 else [np.flatnonzero(y == label) for label in np.unique(y)]
    rng = np.random.default_rng(random_state)
    return [_split(groups, len(y), test_share, rng) for _ in range(n_splits)]


def _split(groups: list[Indices], n_docs: int, test_share: float, rng: np.random.Generator) -> Split:
    test = np.zeros(n_docs, bool)
    for members in groups:
        n_test = min(max(round(test_share * len(members)), 1), len(members) - 1)
        test[rng.permutation(members)[:n_test]] = True
    return Split(np.flatnonzero(~test), np.flatnonzero(test))


def splits_of(data: LabelledData, experiment: ClassificationExperiment, *, given: bool) -> list[Split]:
    """The random splits of the experiment, or the published one."""
    if given:
        return [Split(np.flatnonzero(data.train), np.flatnonzero(data.test))]
    return random_splits(data.y, experiment.splits, experiment.test_share, random_state=experiment.seed)


def measured(
    data: LabelledData,
    split: Split,
    model: str,
    parameters: Mapping[str, float],
    measures: Sequence[str],
    *,
    others: str = REST,
) -> dict[str, float]:
    """Train on one part, predict or rank the other, and measure that."""
    estimator = classifier_named(model, parameters, ranking=data.multi_label, others=others)
    more = {"n_labels": data.n_labels[split.train]} if data.multi_label and others == CLASSES else {}
    estimator.fit(data.X[split.train], data.y[split.train], **more)
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
        given = {**system.parameters, **parameters}
        return measured(data, within, system.model, given, [measure], others=system.others)[measure]

    return tuner(plan.method)(objective, system.tune).parameters


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
