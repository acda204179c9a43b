"""Refine figure 1: how much MMEM depends on the number of components and on where they start.

And a control: is it the clusters that help, or having several components? As many random ones tell.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from germane.arrays import Floats
from germane.errors import InputError
from germane.evaluate.plots import panels
from germane.evaluate.significance import wilcoxon
from germane.experiments.marked_lists import MarkedList, set_f1
from germane.experiments.results import Result
from germane.refine.method import Estimate
from germane.refine.multi_mixture import MultiMixture, MultiMixtureRandom
from germane.types import Mark

SHARED = ("iterations", "unlabelled_weight", "weights")
"""Parameters of MMEM that have nothing to do with where its components start."""


@dataclass(frozen=True)
class Initialisations:
    """Random beginnings of MMEM, Refine figure 1."""

    components: Sequence[int] = tuple(range(2, 11))
    runs: int = 30
    lists: int = 4
    seed: int = 0


def draw_initialisations(asked: Initialisations, result: Result, lists: Sequence[MarkedList]) -> None:
    """The lists where F1 varies most, as a figure, and their range as a table. Others have too few rejected results."""
    most_components = max(asked.components)
    enough = [each for each in lists if (each.labels == Mark.NOT_RELEVANT).sum() >= most_components]
    if not enough:
        raise InputError(f"no list has {most_components} rejected results for as many components")
    found = {id(each): initialised_f1(each, asked) for each in enough}
    most = sorted(enough, key=lambda each: -found[id(each)].var())[: asked.lists]
    rows = [["", "collection", "query", *(f"{n} components" for n in asked.components)]]
    numbers = {id(each): number for number, each in enumerate(lists, start=1)}
    means = np.mean([found[id(each)].mean(axis=1) for each in enough], axis=0)
    rows.append(["", f"mean of {len(enough)} lists", "", *(f"{100 * value:.1f}" for value in means)])
    for each in most:
        spans = [f"{100 * values.min():.1f} to {100 * values.max():.1f}" for values in found[id(each)]]
        rows.append([str(numbers[id(each)]), each.collection, each.short_query, *spans])
    result.tables[f"F1 (%) of {asked.runs} random initialisations, of {len(enough)} lists those that vary most"] = rows
    panes = {f"{numbers[id(each)]} {each.collection}": found[id(each)] for each in most}
    result.drawings["random-initialisations"] = partial(random_initialisations, panes, tuple(asked.components))


def control_table(
    methods: Mapping[str, MultiMixture], asked: Initialisations, lists: Sequence[MarkedList]
) -> list[list[str]]:
    """F1 of MMEM from clusters, and the mean of `runs` random divisions into as many components, list by list.

    The random components have the method's other parameters: its weights, iterations and weight of the unmarked.
    """
    rows = [["", "mean number of components", "F1, clustered (%)", "F1, random (%)", "p (Wilcoxon)"]]
    for name, method in methods.items():
        found = [method.refine(each.results, each.labels) for each in lists]
        numbers = [len(refined.components) for refined in found]
        clustered = np.array([_f1(each, refined) for each, refined in zip(lists, found, strict=True)])
        random = np.array([
            initialised_f1(each, replace(asked, components=[number]), method).mean()
            for each, number in zip(lists, numbers, strict=True)
        ])  # fmt: skip
        cells = [f"{100 * values.mean():.1f}" for values in (clustered, random)]
        p = wilcoxon(clustered, random).p_value
        rows.append([name, f"{np.mean(numbers):.1f}", *cells, f"{p:.4f}"])
    return rows


def initialised_f1(each: MarkedList, asked: Initialisations, like: MultiMixture | None = None) -> Floats:
    """F1 of the unmarked results: numbers of components × runs, with the other parameters of `like`."""
    shared = {} if like is None else {name: getattr(like, name) for name in SHARED}

    def value(components: int, run: int) -> float:
        method = MultiMixtureRandom(components=components, random_state=asked.seed + run, **shared)
        return _f1(each, method.refine(each.results, each.labels))

    return np.array([[value(components, run) for run in range(asked.runs)] for components in asked.components])


def _f1(each: MarkedList, refined: Estimate) -> float:
    return set_f1(refined.log_odds[each.rest] > 0, each.relevant[each.rest])


def random_initialisations(f1: Mapping[str, Floats], components: Sequence[int]) -> Any:
    """Refine figure 1: F1 (%) of random beginnings, a box for each number of components; `f1` is components × runs."""
    figure, axes = panels(len(f1), 3.2 * len(f1), 3.4)
    for pane, (name, values) in zip(axes, f1.items(), strict=True):
        pane.boxplot(100 * values.T, positions=list(components), widths=0.6)
        pane.set(title=name, xlabel="components of the non-relevant class", ylim=(0, 100))
        pane.title.set_fontsize(9)
    axes[0].set_ylabel("F1 (%)")
    return figure
