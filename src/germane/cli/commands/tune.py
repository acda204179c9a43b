"""germane tune: find parameters on some queries and measure them on others."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from germane.cli import options
from germane.cli.progress import steps
from germane.cli.requests import Typed, asking
from germane.cli.streams import put_json, tell
from germane.cli.tables import put_table, show_rows
from germane.engine.requests import SearchRequest
from germane.errors import ParameterError
from germane.lazy import on_first_use
from germane.rank.registry import DEFAULT_MODEL
from germane.tables import Cell

with on_first_use(__name__):
    from germane.evaluate import plots, responses
    from germane.experiments import collections
    from germane.experiments import trials as experiments_trials


@asking(SearchRequest, only={"model", "feedback"})
def tune(
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="The name of a data set, or irds:NAME; indexed in the cache.", show_default=False
        ),
    ],
    grid: Annotated[
        list[str],
        typer.Option("--grid", metavar="NAME=A,B,C", help="The values to try; repeatable.", show_default=False),
    ],
    typed: Typed,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=NUMBER", help="A parameter that is not tuned; repeatable.", show_default=False
        ),
    ] = None,
    measure: Annotated[str, typer.Option("-m", "--measure", help="What to maximise.")] = "AP",
    k: options.K = 1000,
    folds: Annotated[int, typer.Option(help="Parts the queries are split in.")] = 2,
    method: Annotated[str, typer.Option(help="grid or coordinate (hill-climbing).")] = "grid",
    seed: Annotated[int, typer.Option(help="Draws the folds.")] = 0,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Forget earlier trials.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE", help="Draw the measure of every trial (.png, .svg, .pdf).", show_default=False
        ),
    ] = None,
    progress: options.Progress = False,
    format: options.AsTable = None,
    json: options.Json = False,
    tsv: options.TabSeparated = False,
) -> None:
    """Tune a model's parameters by cross-validation over queries: no query is measured with what it helped to choose.

    Every trial is kept in the cache folder (GERMANE_CACHE), so that an interrupted search goes on where it stopped.

    Of feedback methods the numbers are tuned: their own, mu (Dirichlet in both rankings), and lam_first, lam_estimate
    and lam_final (Jelinek-Mercer in the first ranking, the estimate and the last ranking); n_terms=0 keeps all words.

    Example: germane tune cranfield --model bm25 --grid k1=0.9,1.2,2 --grid b=0.25,0.5,0.75 --plot bm25.png

    Example: germane tune cranfield --feedback rm3 --grid query_weight=0.1,0.3,0.5 --set n_docs=10 --method coordinate
    """
    wanted = options.table_format(format, json=json, tsv=tsv)
    axes = dict(_axis(text) for text in grid)
    fixed = {name: values[0] for name, values in (_axis(text, "--set", 1) for text in settings or ())}
    model, feedback = typed["model"], typed["feedback"]
    ranked = model or ("" if feedback is not None else DEFAULT_MODEL)

    trials: list[tuple[Mapping[str, float], float]] = []
    n_trials = math.prod(len(set(values)) for values in axes.values()) if method == "grid" else None
    with steps("tuning", total=n_trials, always=progress, otherwise=tell) as tell_step:

        def on_trial(parameters: Mapping[str, float], value: float) -> None:
            trials.append((dict(parameters), value))
            tell_step(f"{' '.join(f'{name}={setting:g}' for name, setting in parameters.items())}: {value:.4f}")

        found = experiments_trials.tune_collection(
            dataset, ranked, axes, feedback=feedback or "", fixed=fixed, measure=measure, k=k, folds=folds,
            method=method, random_state=seed,
            trials=None if no_cache else collections.cache_folder() / "trials", on_trial=on_trial,
        )  # fmt: skip
    if plot is not None:
        chosen = [fold.tuned.parameters for fold in found.folds]
        what = " and ".join(filter(None, [ranked, feedback]))
        plots.save(plots.tuning(trials, chosen, measure, collection=f"{dataset}, {what}"), plot)
        tell(f"written: {plot}")
    header = ["fold", *axes, f"{measure} train", f"{measure} test", "queries"]
    rows: list[list[Any]] = []
    for number, fold in enumerate(found.folds, 1):
        tested = sum(fold.test_values.values()) / len(fold.test)
        rows.append([str(number), *fold.tuned.parameters.values(), fold.tuned.value, tested, len(fold.test)])
    if wanted == "json":
        put_json(responses.TuningResponse(found.mean, tuple(dict(zip(header, row, strict=True)) for row in rows)))
    elif wanted == "text":
        show_rows(header, rows)
        show_rows(["", measure], [["all queries, each as a test query", found.mean]])
    else:
        n_queries = sum(len(fold.test) for fold in found.folds)
        shown = [[row[0], *(Cell(value, spec="g") for value in row[1:-3]), *row[-3:]] for row in rows]
        total = [] if wanted == "tsv" else [["all", *("" for _ in axes), "", found.mean, n_queries]]
        put_table(wanted, header, shown + total)


def _axis(text: str, option: str = "--grid", most: int | None = None) -> tuple[str, list[float]]:
    name, _, values = text.partition("=")
    example = "NAME=NUMBER, as in n_docs=10" if most == 1 else "NAME=A,B,C with numbers, as in mu=100,400"
    try:
        numbers = [float(value) for value in values.split(",")]
    except ValueError:
        numbers = []
    if not numbers or (most is not None and len(numbers) > most):
        raise ParameterError(f"{option} wants {example}, not '{text}'")
    return name.strip(), numbers
