"""The run of a tuned system: every query ranked with parameters that were chosen without it."""

from collections.abc import Callable, Mapping

from germane.evaluate.experiments.spec import Tuning
from germane.evaluate.measures import evaluate
from germane.evaluate.rankings import Qrels, Run
from germane.evaluate.tuning import Grid, cross_validate


def held_out_run(
    run_with: Callable[[Mapping[str, float]], Run], qrels: Qrels, grid: Grid, plan: Tuning
) -> tuple[Run, list[dict[str, float]]]:
    """Each query's ranking from the fold in which it was held out, and the parameters chosen in each fold.

    Trials keep their values only, since all their rankings would not fit into memory: those chosen are ranked again.
    """
    folds = cross_validate(
        lambda parameters: evaluate(run_with(parameters), qrels, [plan.measure]).per_query(plan.measure),
        grid, tuple(qrels), k=plan.folds, method=plan.method, random_state=plan.seed,
    ).folds  # fmt: skip
    merged: dict[str, Mapping[str, float]] = {}
    for fold in folds:
        run = run_with(fold.tuned.parameters)
        merged |= {query: run[query] for query in fold.test if query in run}
    return merged, [fold.tuned.parameters for fold in folds]
