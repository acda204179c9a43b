"""germane search: the best documents for a query."""

import dataclasses
from typing import Annotated

import typer

from germane.cli import feedback_tables, hits, options
from germane.cli.failures import NOTHING_FOUND
from germane.cli.opening import open_engine
from germane.cli.requests import (
    as_typed,
    feedback_request,
    ids_typed,
    ranking_request,
    reranker_typed,
    tell_learnt,
    tell_promoted,
    with_settings,
)
from germane.cli.streams import put_json, query_typed, tell, terminal
from germane.errors import ParameterError
from germane.feedback.registry import FEEDBACK_NAMES


def search(
    folder: options.Folder,
    words: Annotated[
        list[str], typer.Argument(metavar="WORDS...", help="The query; - reads it from stdin.", show_default=False)
    ],
    k: options.K = 10,
    model: options.ModelIfNamed = None,
    mu: options.Mu = None,
    lam: options.Lam = None,
    delta: options.Delta = None,
    k1: options.K1 = None,
    b: options.B = None,
    field_weight: options.FieldWeight = None,
    ordered: options.Ordered = None,
    unordered: options.Unordered = None,
    settings: options.Settings = None,
    prior: options.PriorOption = None,
    feedback: options.Feedback = None,
    relevant: options.Relevant = None,
    not_relevant: options.NotRelevant = None,
    feedback_docs: options.FeedbackDocs = None,
    feedback_terms: options.FeedbackTerms = None,
    query_weight: options.QueryWeight = None,
    guard: options.Guard = False,
    rerank: options.Rerank = None,
    depth: options.Depth = None,
    offset: options.Offset = 0,
    sort: options.Sort = None,
    group: options.Group = None,
    min_score: options.MinScore = None,
    filter: options.Filtering = None,
    facet: options.FacetOption = None,
    groups: options.Groups = None,
    snippets: options.Snippets = False,
    explain: options.ExplainFeedback = False,
    plot: options.PlotFeedback = None,
    plain: options.Plain = False,
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
    if trec and sort is not None:
        raise ParameterError("--trec is a run, ordered by scores; --sort orders by a field")
    if groups is not None and wanted not in ("", "json"):
        raise ParameterError("--groups goes with the table or with --json, not with --tsv, --trec or --format")
    marked = bool(relevant or not_relevant)
    _check(feedback is not None or marked, explain=explain, plot=plot is not None, lines=bool(wanted) and not json)
    from germane.engine import SearchRequest
    from germane.engine.filtering import filter_typed

    query = query_typed(" ".join(words))
    ranking = ranking_request(
        model, prior, field_weight, mu=mu, lam=lam, delta=delta, k1=k1, b=b, ordered=ordered, unordered=unordered
    )
    learning = feedback_request(feedback, feedback_docs, feedback_terms, query_weight, guard)
    engine = open_engine(folder)
    if marked:
        ids = ids_typed("--relevant", relevant, engine), ids_typed("--not", not_relevant, engine)
        learning = dataclasses.replace(learning, relevant=ids[0], not_relevant=ids[1])
    with as_typed():
        ranking, learning = with_settings(ranking, learning, settings)
        request = SearchRequest(
            query,
            k,
            ranking,
            learning,
            reranker_typed(rerank),
            depth,
            syntax=not plain,
            explain=explain,
            offset=offset,
            sort=sort,
            group_by=group,
            min_score=min_score,
            facets=tuple(facet or ()),
            snippets=snippets,
            groups=groups,
            filter=None if filter is None else filter_typed(filter),
        )
        found = engine.answer(request)
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


def _check(learning: bool, *, explain: bool, plot: bool, lines: bool) -> None:
    """What is shown of feedback needs feedback, and a place to show it."""
    for option, given in (("--explain", explain), ("--plot", plot)):
        if given and not learning:
            names = ", ".join(FEEDBACK_NAMES)
            raise ParameterError(
                f"{option} shows what feedback did: choose a method with --feedback ({names}), or mark documents with "
                "--relevant or --not; for the score of one document there is germane explain"
            )
    if explain and lines:
        raise ParameterError("--explain goes with the table or with --json, not with --tsv, --trec or --format")
