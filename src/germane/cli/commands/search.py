"""germane search: the best documents for a query."""

from pathlib import Path
from typing import Annotated

import typer

from germane.cli import feedback_tables, hits, options
from germane.cli.failures import NOTHING_FOUND
from germane.cli.opening import open_engine
from germane.cli.requests import Typed, asking, tell_learnt, tell_promoted
from germane.cli.streams import put_json, query_typed, tell, terminal
from germane.engine.requests import MARKED, SearchRequest
from germane.errors import ParameterError


@asking(SearchRequest)
def search(
    folder: options.Folder,
    words: Annotated[
        list[str], typer.Argument(metavar="WORDS...", help="The query; - reads it from stdin.", show_default=False)
    ],
    typed: Typed,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw the words that feedback found (.png, .svg, .pdf).",
            show_default=False,
            rich_help_panel="Feedback",
        ),
    ] = None,
    json: options.Json = False,
    tsv: options.Tsv = False,
    trec: options.Trec = False,
    format: options.RecordFormat = None,
    tag: options.Tag = "germane",
) -> None:
    """Search an index.

    Query language: heart^2 weighs a word; +heart must, -surgery must not occur;
    AND, OR, NOT and parentheses; "heart attack" is a phrase, "heart attack"~3 allows
    3 moves; cardio* is a prefix, surgary~1 allows an edit; title:cancer looks in a field;
    year:2015, year:2010..2015, year:(2019 OR 2020) and author:"Smith J" filter;
    [tiab], [au], [dp], [mh] are PubMed's tags. docs/queries.md has it all.
    Exit code 1 means that nothing was found.

    Example: germane search my-index "heart attack year:2010.." -k 5

    Example: germane search my-index "heart attack" --model bm25 --json

    Example: germane search my-index "heart attack" --offset 10 --sort -year --facet journal

    Example: germane search my-index "heart attack" --filter '{"journal": ["BMJ", "JAMA"], "year": {">=": 2010}}'

    Example: germane search my-index "heart attack" --groups 5

    Example: germane search my-index "heart attack" --feedback rm3 --relevant doc-17 --explain

    Example: germane search my-index "heart attack" --feedback sd --set precision=0.8 --set smoothing=jm:0.01
    """
    wanted = options.one_of(json=json, tsv=tsv, trec=trec, format=format is not None)
    if trec and typed["sort"] is not None:
        raise ParameterError("--trec is a run, ordered by scores; --sort orders by a field")
    for name in ("groups", "explain"):
        if typed[name] and wanted not in ("", "json"):
            raise ParameterError(f"--{name} goes with the table or with --json, not with --tsv, --trec or --format")
    if plot is not None and not any(typed[name] for name in MARKED):
        raise ParameterError(
            "--plot shows what feedback did: choose a method with --feedback, or mark documents with --relevant, --not"
        )
    query, engine = query_typed(" ".join(words)), open_engine(folder)
    marks = {name: typed.ids(name, engine) for name in ("relevant", "not_relevant")}
    found = engine.answer(typed.request(query=query, **marks))
    tell_learnt(found.learnt)
    tell_promoted(found.reranked_by, found.not_reranked)
    if plot is not None and found.result is not None and found.result.feedback is not None:
        feedback_tables.draw(found.result.feedback, plot, folder.name)
    if wanted == "json":
        put_json(found)
    elif wanted == "tsv":
        hits.put_tsv(found)
    elif wanted == "trec":
        hits.put_trec(found, tag)
    elif wanted == "format":
        hits.put_records(engine, found, format)
    elif found.hits:
        hits.show(terminal(), engine, found)
        if found.feedback is not None:
            feedback_tables.show(terminal(), engine, found.feedback)
        hits.show_page(terminal(), found)
        hits.show_groups(terminal(), found)
    for note in found.notes or ():
        tell(note)
    if found.reason is not None:
        tell(found.reason)
    if found.suggestion is not None:
        tell(f"did you mean: {found.suggestion}")
    if found.reason is not None:
        raise typer.Exit(NOTHING_FOUND)
