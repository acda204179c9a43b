"""germane compare: two runs side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from germane.cli import measuring, options
from germane.cli.measuring import named
from germane.cli.streams import put_json, terminal
from germane.cli.tables import put_rows, show_rows

if TYPE_CHECKING:
    from germane.evaluate.significance import Alternative


def compare(
    run_a: Annotated[str, typer.Argument(metavar="RUN_A", help="A run: TREC, TSV or JSON.")],
    run_b: Annotated[str, typer.Argument(metavar="RUN_B", help="The run it is compared with.")],
    qrels: measuring.QrelsFile,
    more: measuring.MoreMeasures = None,
    measure: measuring.Measures = None,
    topics: Annotated[
        str | None,
        typer.Option("--topics", metavar="SRC", help="The queries, to show their words.", show_default=False),
    ] = None,
    worst: Annotated[int, typer.Option("--worst", metavar="N", help="How many of A's worst losses to list.")] = 5,
    alternative: measuring.Alternative = "two-sided",
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the first measure's differences.", show_default=False),
    ] = None,
    json: options.Json = False,
    tsv: options.TabSeparated = False,
) -> None:
    """Compare two runs: means, wins and losses by query, significance, and the worst losses.

    Tests are paired over queries: Student's t, Wilcoxon's signed ranks, signs, randomisation. With several measures,
    the last column corrects the t-test's p by Holm's method.

    Example: germane compare bm25.txt dirichlet.txt qrels.txt -m AP nDCG@10 --topics queries.tsv
    """
    wanted = options.one_of(json=json, tsv=tsv)
    from germane.data import read_topics
    from germane.evaluate import load_qrels, load_run
    from germane.evaluate.compare import compare as compare_runs
    from germane.evaluate.responses import compared

    texts = {topic.id: topic.text for topic in read_topics(topics)} if topics is not None else {}
    runs = compare_runs(
        load_run(run_a), load_run(run_b), load_qrels(qrels), named(measure, more, ("AP", "nDCG@10")),
        texts=texts, alternative=cast("Alternative", alternative),
    )  # fmt: skip
    if plot is not None:
        from germane.evaluate import plots

        plots.save(plots.query_differences(runs[0], Path(run_a).name, Path(run_b).name), plot)
    found = compared(runs, worst=max(worst, 0))
    if wanted == "json":
        put_json(found)
        return
    header = ["measure", "A", "B", "A-B", "low", "high", "d_z", "wins", "losses", "ties"]
    header += [f"p {name}" for name in found[0].tests] + ["p t (Holm)"]
    rows: list[list[Any]] = [
        [
            c.measure, c.a, c.b, c.difference.mean, c.difference.low, c.difference.high, c.difference.d_z, c.wins,
            c.losses, c.ties, *(test.p_value for test in c.tests.values()), c.p_t_holm,
        ]
        for c in found
    ]  # fmt: skip
    if wanted == "tsv":
        put_rows(header, rows)
        return
    for column, values in zip(header, zip(*rows, strict=True), strict=True):
        terminal().print(f"{column:<16}" + "".join(f"{_written(value, column):>12}" for value in values))
    if found[0].worst:
        listed = [[q.query_id, q.a, q.b, q.difference, q.text] for q in found[0].worst]
        show_rows(["query", "A", "B", "A-B", "words"], listed, title=f"\nA's worst losses, {found[0].measure}")


def _written(value: Any, column: str) -> str:
    """Probabilities with two significant digits, other numbers with four decimals."""
    if isinstance(value, float):
        return f"{value:.2g}" if column.startswith("p ") else f"{value:.4f}"
    return str(value)
