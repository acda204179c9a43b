"""Running a refinement experiment: every method refines every list; what it makes of the unmarked results is judged."""

import time
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from germane.errors import InputError
from germane.evaluate import plots
from germane.evaluate.calibration import Reliability, reliability
from germane.evaluate.experiments.refine_initialisations import control_table, draw_initialisations
from germane.evaluate.experiments.refine_spec import ALL, MEANS, ORIGINAL, RefineExperiment, RefineSystem
from germane.evaluate.experiments.refine_tables import list_table, reliability_table, time_table, value_table
from germane.evaluate.experiments.results import OnStep, Result
from germane.evaluate.measures import Evaluation
from germane.evaluate.refine_lists import MarkedList, marked_lists
from germane.evaluate.refine_measures import average_precision, set_f1
from germane.refine.calibration import predicted_set
from germane.refine.registry import method_named, probabilities


class Outcome(NamedTuple):
    """What a system made of one list: its measures, CPU seconds, and P(relevant) of the unmarked results."""

    values: dict[str, float]
    seconds: float
    probability: NDArray[np.float64]


def run_refinements(experiment: RefineExperiment, result: Result, on_step: OnStep) -> None:
    """Refine, judge and time; note the figures by collection, over all lists and over collections."""
    on_step("lists", "building")
    lists = list(marked_lists(experiment.collections, experiment.rules))
    _describe(experiment, result, lists)
    outcomes: dict[str, list[Outcome]] = {}
    for system in experiment.systems:
        on_step(ALL, system.name)
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
        result.drawings["reliability"] = partial(plots.calibration, shown)
    if experiment.initialisations:
        on_step(ALL, "random initialisations")
        draw_initialisations(experiment.initialisations, result, lists)
        clustered = [system for system in experiment.systems if system.clusters]
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
    values = {"F1": set_f1(chosen[rest], truth), "AP": average_precision(log_odds[rest], truth)}
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
        result.note(name, system.name, _evaluation([names[place] for place in places], own))
    means = {
        measure: np.array([column[places].mean() for places in collections.values()])
        for measure, column in values.items()
    }
    result.note(ALL, system.name, _evaluation(names, values))
    result.note(MEANS, system.name, _evaluation([*collections], means))


def _evaluation(names: Sequence[str], values: dict[str, NDArray[np.float64]]) -> Evaluation:
    overall = {measure: float(column.mean()) for measure, column in values.items()}
    return Evaluation(tuple(values), tuple(names), values, overall)


def _methods(experiment: RefineExperiment) -> list[str]:
    return [system.name for system in experiment.systems if system.method != ORIGINAL]


def _reliability(found: Sequence[Outcome], truth: NDArray[np.bool_]) -> Reliability:
    return reliability(np.concatenate([outcome.probability for outcome in found]), truth)
