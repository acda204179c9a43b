"""The notation of SD tables 4.1 and 4.2: which models a model is significantly better than."""

from collections.abc import Collection
from dataclasses import replace

from germane.evaluate.experiments.results import Figure, Result
from germane.evaluate.experiments.verdicts import significantly_better


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
