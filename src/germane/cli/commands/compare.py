"""germane compare: runs side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from germane.cli import measuring, options
from germane.cli.measuring import named
from germane.cli.streams import put_json, say, terminal
from germane.cli.tables import put_table, show_rows
from germane.errors import ParameterError
from germane.lazy import on_first_use
from germane.tables import Cell, escape_latex

with on_first_use(__name__):
    from germane import data, evaluate
    from germane.evaluate import compare as comparing
    from germane.evaluate import measures as evaluate_measures
    from germane.evaluate import plots, responses

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from germane.evaluate.compare import RunsCompared
    from germane.evaluate.responses import ComparisonResponse
    from germane.evaluate.significance import Alternative


def compare(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN_A RUN_B... QRELS",
            help="Two runs or more (TREC, TSV or JSON), then the judgements: a file, the name of a data set, or "
            "irds:NAME. More measures may follow, as in -m AP nDCG@10.",
            show_default=False,
        ),
    ],
    measure: measuring.Measures = None,
    topics: Annotated[
        str | None,
        typer.Option("--topics", metavar="SRC", help="The queries, to show their words.", show_default=False),
    ] = None,
    worst: Annotated[int, typer.Option("--worst", metavar="N", help="How many of A's worst losses to list.")] = 5,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="RUN",
            help="Compare each run with this one alone; of three and more, each with each otherwise.",
            show_default=False,
        ),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            "--test",
            metavar="NAME",
            help="Of three runs and more: t, wilcoxon, sign or randomisation.",
            show_default="t; of two runs, all",
        ),
    ] = None,
    alternative: measuring.Alternative = "two-sided",
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the first measure's differences.", show_default=False),
    ] = None,
    format: options.AsTable = None,
    json: options.Json = False,
    tsv: options.TabSeparated = False,
) -> None:
    """Compare runs: means, wins and losses by query, significance, and the worst losses.

    Tests are paired over queries: Student's t, Wilcoxon's signed ranks, signs, randomisation. Of two runs all four are
    shown; with several measures, the last column corrects the t-test's p by Holm's method. Of three runs and more every
    pair is tested, or each run against the --baseline, and p is corrected by Holm's method over the pairs of a measure.

    Example: germane compare bm25.txt dirichlet.txt qrels.txt -m AP nDCG@10 --topics queries.tsv

    Example: germane compare bm25.txt dirichlet.txt rm3.txt qrels.txt --baseline bm25.txt --format latex
    """
    wanted = options.table_format(format, json=json, tsv=tsv)

    runs, qrels, more = _told_apart(files)
    measures = named(measure, more, ("AP", "nDCG@10"))
    texts = {topic.id: topic.text for topic in data.read_topics(topics)} if topics is not None else {}
    judged = evaluate.load_qrels(qrels)
    loaded = [evaluate.load_run(run) for run in runs]
    tail = cast("Alternative", alternative)
    if len(runs) == 2 and baseline is None and test is None:
        two = comparing.compare(loaded[0], loaded[1], judged, measures, texts=texts, alternative=tail)
        if plot is not None:
            a, b = (Path(run).name for run in runs)
            plots.save(plots.query_differences(two[0], a, b, collection=Path(qrels).name), plot)
        _put_two(responses.compared(two, worst=max(worst, 0)), wanted)
        return

    names = _names(runs)
    many = comparing.compare_runs(
        dict(zip(names, loaded, strict=True)),
        judged,
        measures,
        baseline=None if baseline is None else _named_run(baseline, runs, names),
        test=test or "t",
        alternative=tail,
        texts=texts,
    )
    if plot is not None:
        plots.save(plots.run_differences(many, many.measures[0], collection=Path(qrels).name), plot)
    _put_many(many, wanted)


def _told_apart(files: "Sequence[str]") -> tuple[list[str], str, list[str]]:
    """Runs, judgements, and measures that follow: names of measures that are no files."""

    def is_measure(text: str) -> bool:
        if Path(text).exists():
            return False
        try:
            return bool([evaluate_measures.parse_measure(name) for name in evaluate_measures.measure_names(text)])
        except ParameterError:
            return False

    last = len(files)
    while last and is_measure(files[last - 1]):
        last -= 1
    if last < 3:
        raise ParameterError(
            f"two runs and the judgements are wanted, as in 'germane compare a.run b.run qrels.txt'; there are {last} "
            f"names of files: {', '.join(files[:last])}"
        )
    return list(files[: last - 1]), files[last - 1], list(files[last:])


def _names(runs: "Sequence[str]") -> list[str]:
    """The names of the files, without their folders where that is enough to tell them apart."""
    for names in ([Path(run).name for run in runs], list(runs)):
        if len(set(names)) == len(names):
            return names
    raise ParameterError("of three runs and more none may be given twice")


def _named_run(wanted: str, runs: "Sequence[str]", names: "Sequence[str]") -> str:
    """The run of that name, as it was typed or without its folder and ending."""
    for run, name in zip(runs, names, strict=True):
        if wanted in (run, name, Path(run).stem):
            return name
    raise ParameterError(f"--baseline is one of the runs: {', '.join(names)}, not '{wanted}'")


def _put_two(found: "Sequence[ComparisonResponse]", wanted: str) -> None:
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
    if wanted != "text":
        put_table(wanted, header, rows if wanted == "tsv" else _set(header, rows))
        return
    for column, values in zip(header, zip(*rows, strict=True), strict=True):
        terminal().print(f"{column:<16}" + "".join(f"{_written(value, column):>12}" for value in values))
    if found[0].worst:
        listed = [[q.query_id, q.a, q.b, q.difference, q.text] for q in found[0].worst]
        show_rows(["query", "A", "B", "A-B", "words"], listed, title=f"\nA's worst losses, {found[0].measure}")


def _set(header: "Sequence[str]", rows: "Sequence[Sequence[Any]]") -> list[list[Any]]:
    """The rows for a document: the better of A and B in bold, starred where Holm's corrected p is below 0.05."""
    at = header.index("p t")
    made = []
    for row in rows:
        measure, a, b, *between = row[:at]
        mark = "*" if row[-1] < comparing.LEVEL else ""
        better = [Cell(a, bold=a >= b, mark=mark if a > b else ""), Cell(b, bold=b >= a, mark=mark if b > a else "")]
        made.append([measure, *better, *between, *(Cell(p, spec=".2g") for p in row[at:])])
    return made


def _put_many(found: "RunsCompared", wanted: str) -> None:
    if wanted == "json":
        put_json(responses.RunsResponse.of(found))
        return
    header = ["measure", "A", "B", "mean A", "mean B", "A-B", "wins", "losses", "ties", f"p {found.test}", "p (Holm)"]
    pairs: Mapping[str, Any] = found.pairs
    rows = [
        [
            measure, p.a, p.b, p.comparison.mean_a, p.comparison.mean_b, p.comparison.effect.mean, p.comparison.wins,
            p.comparison.losses, p.comparison.ties, Cell(p.p_value, spec=".2g"), Cell(p.p_holm, spec=".2g"),
        ]
        for measure, of_measure in pairs.items()
        for p in of_measure
    ]  # fmt: skip
    if wanted == "tsv":
        put_table(wanted, header, rows)
        return
    put_table(wanted, *comparing.means_table(found))
    better = f"significantly better than those runs (p {found.test} < {comparing.LEVEL:g}, Holm)"
    if wanted == "text":
        say(f"*: the best; letters: {better}\n")
        put_table(wanted, header, rows)
    elif wanted == "latex":
        say(rf"\\[2pt]{{\footnotesize Bold: the best; letters: {escape_latex(better)}.}}")
    else:
        say(f"\nBold: the best; letters: {better}.")


def _written(value: Any, column: str) -> str:
    """Probabilities with two significant digits, other numbers with four decimals."""
    if isinstance(value, float):
        return f"{value:.2g}" if column.startswith("p ") else f"{value:.4f}"
    return str(value)
