"""germane evaluate: the measures of a run."""

from typing import Annotated

import typer

from germane.cli import measuring, options
from germane.cli.measuring import named
from germane.cli.streams import put_json, say, tell
from germane.cli.tables import put_table, show_rows
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane import evaluate as evaluation
    from germane.evaluate import responses


def evaluate(
    run: measuring.RunFile,
    qrels: measuring.QrelsFile,
    more: measuring.MoreMeasures = None,
    measure: measuring.Measures = None,
    by_query: Annotated[bool, typer.Option("--by-query", help="The values of each query too.")] = False,
    format: options.AsTable = None,
    json: options.Json = False,
    tsv: options.TabSeparated = False,
    trec: Annotated[
        bool, typer.Option("--trec", help="Print as trec_eval does: measure, query, value.", rich_help_panel="Output")
    ] = False,
) -> None:
    """Measure a run against judgements, as trec_eval does.

    Judged queries that the run lacks count as 0; queries without judgements are left out. Measures are named as in
    ir_measures or trec_eval (map, ndcg_cut.5,10, official); BEP, microBEP and WSS@95 are ours.

    Example: germane evaluate run.txt qrels.txt -m AP nDCG@10

    Example: germane evaluate run.txt qrels.txt -m official --trec
    """
    wanted = options.table_format(format, json=json, tsv=tsv, trec=trec)

    ranked, judged = evaluation.load_run(run), evaluation.load_qrels(qrels)
    found = evaluation.evaluate(ranked, judged, named(measure, more, evaluation.DEFAULT_MEASURES))
    missing, unjudged = len(judged.keys() - ranked.keys()), len(ranked.keys() - judged.keys())
    if missing:
        tell(f"{missing:,} of {len(judged):,} judged queries are not in the run: they count as 0")
    if unjudged:
        tell(f"{unjudged:,} of {counted(len(ranked), 'query')} of the run are not judged: they are left out")
    if wanted == "json":
        put_json(responses.EvaluationResponse.of(found, by_query=by_query))
        return
    rows: list[list[object]] = [["all", *(found[m] for m in found.measures)]]
    if by_query:
        rows = [[q, *(float(found.values[m][i]) for m in found.measures)] for i, q in enumerate(found.query_ids)] + rows
    if wanted == "trec":
        for row in rows:
            for name, value in zip(found.measures, row[1:], strict=True):
                say(f"{name:<22}\t{row[0]}\t{value:.4f}")
    elif wanted == "text":
        show_rows(["query", *found.measures], rows)
    else:
        put_table(wanted, ["query_id" if wanted == "tsv" else "query", *found.measures], rows)
