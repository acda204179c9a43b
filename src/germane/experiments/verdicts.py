"""What is made of an experiment's figures: bars, ratios to the best of a sweep, and tests of differences.

Subscripts have the notation of SD tables 4.1 and 4.2: which models a model is significantly better than.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from germane.evaluate.compare import compare_evaluations
from germane.evaluate.measures import Evaluation
from germane.experiments.experiment import Experiment, MeanRatio
from germane.experiments.left_out import by_family, hurt_share, spread_of
from germane.experiments.results import Bar, Compared, Figure, Ratios, Result, averaged

TESTS = ("t", "wilcoxon", "sign")
"""Those of SD §5.3.3."""
LEVEL = 0.05


def check_bars(result: Result) -> None:
    """Hold the figures against `[[at_least]]`, or costs against `[[at_most]]`."""
    costs = result.experiment.lower_is_better
    sign, relation, slack = (-1.0, "<=", "+") if costs else (1.0, ">=", "-")
    for bar in result.experiment.bars:
        for dataset in bar.datasets:
            ours = result.value(dataset, bar.system, bar.measure)
            bound = result.value(dataset, bar.other, bar.measure) if bar.other else bar.value
            against = f"{bar.other} {bound:.4f}" if bar.other else f"{bound:.4f}"
            text = f"{dataset}, {bar.measure}: {bar.system} {ours:.4f} {relation} {against}"
            text += f" {slack} {bar.slack:g}" if bar.slack else ""
            reached = sign * ours >= sign * bound - bar.slack
            if bar.significant:
                found = result.evaluations[dataset]
                text += ", significantly"
                better, worse = (bar.other, bar.system) if costs else (bar.system, bar.other)
                reached = reached and significantly_better(
                    found[better], found[worse], bar.measure, result.experiment.significant_by
                )
            result.bars.append(Bar(text, reached))


def significantly_better(
    a: Evaluation, b: Evaluation, measure: str, tests: Sequence[str] = Experiment.significant_by
) -> bool:
    """a is higher on average, and different by all the two-sided tests at 95%; by default as SD §4.5 has it."""
    shared_a, shared_b = on_shared(a, b)
    if len(shared_a.query_ids) < 2:
        return False
    found = compare_evaluations(shared_a, shared_b, measure, tests=tests)
    return found.effect.mean > 0 and all(test.p_value < LEVEL for test in found.tests.values())


def on_shared(a: Evaluation, b: Evaluation) -> tuple[Evaluation, Evaluation]:
    """Both on the queries or splits that both were measured on."""
    shared = [name for name in a.query_ids if name in {*b.query_ids}]
    return _only(a, shared), _only(b, shared)


def _only(found: Evaluation, names: list[str]) -> Evaluation:
    if found.query_ids == tuple(names):
        return found
    places = [found.query_ids.index(name) for name in names]
    return averaged(names, {measure: column[places] for measure, column in found.values.items()})


def check_ratios(result: Result) -> None:
    """Compute the ratios of `[[mean_ratio]]`; hold their mean, their least and the queries hurt against its bars."""
    for asked in result.experiment.ratios:
        found = _ratios(result, asked)
        result.ratios.append(found)
        what = f"of {asked.system} to the best {asked.against}, {asked.measure}"
        for name, value, bound in (("mean", found.mean, asked.at_least), ("least", found.worst, asked.worst)):
            if bound is not None:
                result.bars.append(Bar(f"{name} ratio {what}: {value:.4f} >= {bound:g}", value >= bound))
        if asked.hurt is not None and found.mean_hurt is not None:
            text = f"queries hurt by {asked.system} beside {asked.before}: {found.mean_hurt:.1%} <= {asked.hurt:.1%}"
            result.bars.append(Bar(text, found.mean_hurt <= asked.hurt))


def _ratios(result: Result, asked: MeanRatio) -> Ratios:
    """A best figure of 0 makes the ratio infinite, or 1 if ours is 0 too."""
    best, values = {}, {}
    for dataset in asked.datasets:
        rows = [(row, result.value(dataset, row, asked.measure)) for row in result.experiment.rows_of(asked.against)]
        best[dataset] = max(rows, key=lambda row: row[1])
        ours, bound = result.value(dataset, asked.system, asked.measure), best[dataset][1]
        values[dataset] = ours / bound if bound else 1.0 if not ours else float("inf")
    families = result.experiment.families
    hurt = {dataset: _hurt(result, asked, dataset) for dataset in asked.datasets} if asked.before else {}
    mean_hurt = float(np.mean([*by_family(hurt, families).values()])) if hurt else None
    return Ratios(asked, best, values, spread_of(values, families), hurt, mean_hurt)


def _hurt(result: Result, asked: MeanRatio, dataset: str) -> float:
    found = result.evaluations[dataset]
    after, before = on_shared(found[asked.system], found[asked.before])
    return hurt_share(after.values[asked.measure], before.values[asked.measure])


def compare_systems(result: Result) -> None:
    """Test the differences of `[[compare]]` on each data set, and over the queries of all of them."""
    for asked in result.experiment.comparisons:
        pairs = {
            dataset: on_shared(found[asked.a], found[asked.b])
            for dataset, found in result.evaluations.items()
            if dataset in result.experiment.compared_on
            and {asked.a, asked.b} <= {*found}
            and len(found[asked.a].query_ids) > 1
        }
        by_dataset = {
            dataset: compare_evaluations(a, b, asked.measure, tests=TESTS) for dataset, (a, b) in pairs.items()
        }
        pooled = None
        if len(pairs) > 1 and result.experiment.pooled:
            a, b = (_pooled({dataset: pair[side] for dataset, pair in pairs.items()}, asked.measure) for side in (0, 1))
            pooled = compare_evaluations(a, b, asked.measure, tests=TESTS)
        result.comparisons.append(Compared(asked, by_dataset, pooled, result.experiment.unit))


def _pooled(evaluations: dict[str, Evaluation], measure: str) -> Evaluation:
    """The queries of all data sets as those of one; every query counts alike."""
    query_ids = tuple(f"{dataset}/{query}" for dataset, found in evaluations.items() for query in found.query_ids)
    values = np.concatenate([found.values[measure] for found in evaluations.values()])
    return Evaluation((measure,), query_ids, {measure: values}, {measure: float(np.nanmean(values))})


def subscript(own: int, better_than: Collection[int], n_systems: int) -> str:
    """Serial numbers from 1: `2,4,7`, or `A` for all others, or `A-6` for all but one of three or more; "" for none.

    >>> subscript(5, {1, 2, 3, 4, 7}, 7), subscript(6, {1, 2, 3, 4, 5, 7}, 7), subscript(3, {7, 1, 2}, 7)
    ('A-6', 'A', '1,2,7')
    """
    missing = [number for number in range(1, n_systems + 1) if number != own and number not in better_than]
    if better_than and not missing:
        return "A"
    if len(missing) == 1 and n_systems > 3:
        return f"A-{missing[0]}"
    return ",".join(map(str, sorted(better_than)))


def mark_significance(result: Result) -> None:
    """Give each figure over several splits its standard deviation and its subscript.

    Systems are compared on the splits that both were measured on, by the paired t-test and the sign test at 95%.
    """
    result.figures = [_marked(figure, result) for figure in result.figures]


def _marked(figure: Figure, result: Result) -> Figure:
    found = result.evaluations[figure.dataset]
    ours = found[figure.system]
    if len(ours.query_ids) < 2:
        return figure
    numbers = {system: number for number, system in enumerate(found, start=1)}
    better_than = [
        numbers[other] for other in found if other != figure.system
        and significantly_better(ours, found[other], figure.measure)
    ]  # fmt: skip
    return replace(
        figure,
        deviation=float(ours.values[figure.measure].std(ddof=1)),
        better_than=subscript(numbers[figure.system], better_than, len(found)),
    )
