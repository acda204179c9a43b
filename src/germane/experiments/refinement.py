"""Refinement experiments: every method refines every list; what it makes of the unmarked results is judged.

Its data sets are the collections, then "all lists" (every list counts alike) and "collection means" (every collection
does); systems are compared on these two, by Wilcoxon's test too. Beside what all kinds have (`experiment.py`), the file
may say:

kind = "refine"
measures = ["F1", "AP"]             of the unmarked results: the set predicted, and the new order; also "precision"
                                    and "recall" of the set, Refine (16) and (17)

[[collection]]                      queries with known relevant documents: `ListSource` of `marked_lists.py`
[lists]                             which result lists are used: `ListRules` of `marked_lists.py`

[[system]]
name = "MMEM(AIB)"
method = "mmem-aib"                 a method of `germane.refine`; "original" is the order of the search (AP only)
parameters = { iterations = 10 }    of the method
decision = "log-odds"               predicted relevant: log-odds above 0, as in the paper;
                                    "expected-f1": the set of the largest expected F1 by the calibrated probabilities

[timing]                            against = "TSVM": the system whose time the others' are compared with

[initialisations]                   Refine figure 1: MMEM from random components of the non-relevant class
components = [2, 3, 4]              2 to 10
runs = 30                           for each number of components
lists = 4                           drawn: those where F1 varies most
seed = 0                            (also: each MMEM beside as many random components as it found clusters)
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from statistics import median
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from germane.errors import InputError
from germane.evaluate import plots
from germane.evaluate.calibration import Reliability, reliability
from germane.experiments.experiment import Experiment, System
from germane.experiments.initialisations import Initialisations, control_table, draw_initialisations
from germane.experiments.marked_lists import (
    ListRules,
    ListSource,
    MarkedList,
    average_precision,
    marked_lists,
    set_measures,
)
from germane.experiments.results import OnProgress, Result, averaged
from germane.refine.calibration import predicted_set
from germane.refine.multi_mixture import MultiMixture
from germane.refine.registry import method_named, probabilities
from germane.types import Mark

MEASURES = ("F1", "AP", "precision", "recall")
ORIGINAL = "original"
CLUSTERING = ("mmem-kl", "mmem-aib")
ALL, MEANS = "all lists", "collection means"
Decision = Literal["log-odds", "expected-f1"]
DECISIONS = get_args(Decision)


@dataclass(frozen=True)
class RefineSystem(System):
    """A method of refinement, and how it decides which results are relevant."""

    method: str = ""
    decision: Decision = "log-odds"

    @property
    def measures(self) -> tuple[str, ...]:
        """What can be measured: the search itself predicts no set."""
        return ("AP",) if self.method == ORIGINAL else MEASURES

    @property
    def clusters(self) -> bool:
        """Whether the method starts from clusters of the rejected and decides as the paper does."""
        return self.method in CLUSTERING and self.decision == "log-odds"


@dataclass(frozen=True)
class Timing:
    """Times are given as multiples of one system's."""

    against: str


@dataclass(frozen=True)
class RefineExperiment(Experiment):
    """Methods of refinement on the same result lists, with the same marks."""

    systems: Sequence[RefineSystem]
    collections: Sequence[ListSource] = ()
    rules: ListRules = field(default_factory=ListRules)
    timing: Timing | None = None
    initialisations: Initialisations | None = None
    unit: ClassVar[str] = "lists"
    conventions: ClassVar[str] = "Collections"
    compared_by: ClassVar[str] = ""
    significant_by: ClassVar[tuple[str, ...]] = ("wilcoxon",)
    pooled: ClassVar[bool] = False
    datasets_down: ClassVar[bool] = True

    @property
    def compared_on(self) -> Sequence[str]:
        """All lists, and the means of collections; one collection has too few lists."""
        return (ALL, MEANS)

    @property
    def inputs(self) -> list[str]:
        """The files of documents."""
        return [source.documents for source in self.collections]


def read_refinement(content: dict[str, Any], **common: Any) -> RefineExperiment:
    """The experiment; `common` is what all kinds have."""
    sources = [ListSource(**source) for source in content.pop("collection")]
    names = [source.name for source in sources]
    if len({*names, ALL, MEANS}) < len(names) + 2:
        raise ValueError(f"collections need names of their own, other than '{ALL}' and '{MEANS}'")
    timing, initialisations = content.pop("timing", None), content.pop("initialisations", None)
    experiment = RefineExperiment(
        datasets=[*names, ALL, MEANS],
        systems=[RefineSystem(**system) for system in content.pop("system")],
        collections=sources,
        rules=ListRules(**content.pop("lists", {})),
        timing=None if timing is None else Timing(**timing),
        initialisations=None if initialisations is None else Initialisations(**initialisations),
        **common,
        **content,
    )
    unknown = [name for name in experiment.measures if name not in MEASURES]
    if unknown or not experiment.measures:
        raise ValueError(f"measures of a refinement are {', '.join(MEASURES)}, not {unknown or 'none'}")
    for system in experiment.systems:
        _check_system(system)
    _check_original(experiment)
    if experiment.timing and experiment.timing.against not in experiment.rows:
        raise ValueError(f"times are compared with a system that is not run: '{experiment.timing.against}'")
    _check_initialisations(experiment.initialisations)
    return experiment


def _check_system(system: RefineSystem) -> None:
    if system.tune:
        raise ValueError(f"system '{system.name}': methods of refinement are not tuned here")
    if system.decision not in DECISIONS:
        raise ValueError(f"system '{system.name}' decides by one of {', '.join(DECISIONS)}, not '{system.decision}'")
    if system.method == ORIGINAL:
        if system.parameters:
            raise ValueError(f"system '{system.name}': the original order has no parameters")
        return
    try:
        method_named(system.method, **system.parameters)
    except ValueError as error:
        raise ValueError(f"system '{system.name}': {error}") from None


def _check_original(experiment: RefineExperiment) -> None:
    """The search's order predicts no set, so nothing but the AP of it can be asked for."""
    unset = {system.name for system in experiment.systems if system.method == ORIGINAL}
    asked = [(bar.measure, name) for bar in experiment.bars for name in (bar.system, bar.other)]
    asked += [(pair.measure, name) for pair in experiment.comparisons for name in (pair.a, pair.b)]
    for measure, name in asked:
        if measure != "AP" and name in unset:
            raise ValueError(f"'{name}' predicts no set, so it has no {measure}")


def _check_initialisations(asked: Initialisations | None) -> None:
    if asked and (not asked.components or min(asked.components) < 1 or asked.runs < 1 or asked.lists < 1):
        raise ValueError("initialisations need numbers of components, runs and lists of at least 1")


class Outcome(NamedTuple):
    """What a system made of one list: its measures, CPU seconds, and P(relevant) of the unmarked results."""

    values: dict[str, float]
    seconds: float
    probability: NDArray[np.float64]


def run_refinement(experiment: RefineExperiment, result: Result, on_progress: OnProgress) -> None:
    """Refine, judge and time; note the figures by collection, over all lists and over collections."""
    on_progress("lists", "building")
    lists = list(marked_lists(experiment.collections, experiment.rules))
    _describe(experiment, result, lists)
    outcomes: dict[str, list[Outcome]] = {}
    for system in experiment.systems:
        on_progress(ALL, system.name)
        found = outcomes[system.name] = [refined(system, each) for each in lists]
        _note(result, system, lists, found)
    if experiment.timing:
        seconds = {name: [outcome.seconds for outcome in outcomes[name]] for name in _methods(experiment)}
        result.tables["CPU time of a refinement"] = time_table(seconds, experiment.timing.against)
    truth = np.concatenate([each.relevant[each.rest] for each in lists])
    bins = {name: _reliability(outcomes[name], truth) for name in _methods(experiment)}
    result.tables["Reliability of P(relevant)"] = reliability_table(bins)
    shown = {system.name: bins[system.name] for system in experiment.systems if system.decision == "expected-f1"}
    if shown:
        result.drawings["reliability"] = partial(plots.calibration, shown, collection=", ".join(experiment.datasets))
    if experiment.initialisations:
        on_progress(ALL, "random initialisations")
        draw_initialisations(experiment.initialisations, result, lists)
        named = {s.name: method_named(s.method, **s.parameters) for s in experiment.systems if s.clusters}
        clustered = {name: method for name, method in named.items() if isinstance(method, MultiMixture)}
        result.tables["Clusters, or as many random components"] = control_table(
            clustered, experiment.initialisations, lists
        )
    result.tables["Lists"] = list_table(lists)
    for measure in experiment.measures:
        values = {name: [outcome.values.get(measure) for outcome in found] for name, found in outcomes.items()}
        result.tables[f"{measure} of each list (%)"] = value_table(lists, values)


def refined(system: RefineSystem, each: MarkedList) -> Outcome:
    """One list refined. It is done twice, and the second time counts: analysis and compiled code are there by then."""
    rest, truth = each.rest, each.relevant[each.rest]
    if system.method == ORIGINAL:
        order = -np.arange(len(truth), dtype=np.float64)
        return Outcome({"AP": average_precision(order, truth)}, 0.0, order)
    method = method_named(system.method, **system.parameters)
    method.refine(each.results, each.labels)
    start = time.process_time()
    log_odds = method.refine(each.results, each.labels).log_odds
    seconds = time.process_time() - start
    probability = probabilities(log_odds, each.labels, system.method)
    chosen = log_odds > 0 if system.decision == "log-odds" else predicted_set(probability, each.labels)
    found = set_measures(chosen[rest], truth)
    ordered = average_precision(log_odds[rest], truth)
    values = {"F1": found.f1, "AP": ordered, "precision": found.precision, "recall": found.recall}
    return Outcome(values, seconds, probability[rest])


def _describe(experiment: RefineExperiment, result: Result, lists: Sequence[MarkedList]) -> None:
    for source in experiment.collections:
        own = [each for each in lists if each.collection == source.name]
        if not own:
            raise InputError(
                f"no list of '{source.name}' can be used: too short, or too little left to find below the marks"
            )
        text = f"{len(own)} lists"
        result.conventions[source.name] = "; ".join(filter(None, [text, experiment.notes.get(source.name)]))


def _note(result: Result, system: RefineSystem, lists: Sequence[MarkedList], found: Sequence[Outcome]) -> None:
    """Enter the values of each collection's lists, of all lists, and the means of collections."""
    measures = tuple(measure for measure in result.experiment.measures if measure in system.measures)
    names = [f"{each.collection}: {each.query}" for each in lists]
    values = {measure: np.array([outcome.values[measure] for outcome in found]) for measure in measures}
    collections = {
        name: [place for place, _ in group]
        for name, group in groupby(enumerate(lists), lambda pair: pair[1].collection)
    }
    for name, places in collections.items():
        own = {measure: column[places] for measure, column in values.items()}
        result.note(name, system.name, averaged([names[place] for place in places], own))
    means = {
        measure: np.array([column[places].mean() for places in collections.values()])
        for measure, column in values.items()
    }
    result.note(ALL, system.name, averaged(names, values))
    result.note(MEANS, system.name, averaged([*collections], means))


def _methods(experiment: RefineExperiment) -> list[str]:
    return [system.name for system in experiment.systems if system.method != ORIGINAL]


def _reliability(found: Sequence[Outcome], truth: NDArray[np.bool_]) -> Reliability:
    return reliability(np.concatenate([outcome.probability for outcome in found]), truth)


# -- tables told beside the figures: Refine table I, and table II list by list -----------------------------------------


def list_table(lists: Sequence[MarkedList]) -> list[list[str]]:
    """Refine table I: what is marked in each list, and what is left to find."""
    rows = [["", "collection", "query", "relevant (training)", "irrelevant (training)", "relevant (test)", "results"]]
    for number, each in enumerate(lists, start=1):
        counts = [
            *((each.labels == mark).sum() for mark in (Mark.RELEVANT, Mark.NOT_RELEVANT)),
            each.relevant[each.rest].sum(),
            len(each.labels),
        ]
        rows.append([str(number), each.collection, each.short_query, *map(str, counts)])
    return rows


def value_table(lists: Sequence[MarkedList], values: Mapping[str, Sequence[float | None]]) -> list[list[str]]:
    """Refine table II: lists, numbered as in `list_table`, down, systems across; in per cent."""
    rows = [["", "collection", *values]]
    for number, each in enumerate(lists):
        column = [found[number] for found in values.values()]
        cells = ["" if value is None else f"{100 * value:.1f}" for value in column]
        rows.append([str(number + 1), each.collection, *cells])
    return rows


def time_table(seconds: Mapping[str, Sequence[float]], against: str) -> list[list[str]]:
    """Median and mean milliseconds of a refinement, and how many times faster than one system it is at the median."""
    rows = [["", "median ms", "mean ms", f"times faster than {against}"]]
    baseline = median(seconds[against])
    for name, found in seconds.items():
        typical = median(found)
        ratio = f"{baseline / typical:.1f}" if typical else ""
        rows.append([name, f"{1000 * typical:.2f}", f"{1000 * sum(found) / len(found):.2f}", ratio])
    return rows


def reliability_table(bins: Mapping[str, Reliability]) -> list[list[str]]:
    """Expected and maximal calibration error and Brier score over the unmarked results of all lists."""
    rows = [["", "results", "ECE", "MCE", "Brier"]]
    for name, found in bins.items():
        numbers = [f"{value:.4f}" for value in (found.ece, found.mce, found.brier)]
        rows.append([name, str(int(found.count.sum())), *numbers])
    return rows
