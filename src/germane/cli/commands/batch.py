"""germane batch: many queries, one run."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli import options
from germane.cli.opening import open_engine
from germane.cli.progress import watched
from germane.cli.requests import (
    as_typed,
    feedback_request,
    ranking_request,
    reranker_typed,
    tell_learnt,
    tell_promoted,
    with_settings,
)
from germane.cli.streams import tell
from germane.errors import InputError
from germane.wording import counted

if TYPE_CHECKING:
    from germane.engine import SearchResult
    from germane.types import RunEntry, Topic

SHOWN = 5


def batch(
    folder: options.Folder,
    queries: Annotated[
        str,
        typer.Argument(
            metavar="QUERIES",
            help="A file of topics (TREC, TSV id<TAB>text, JSON Lines), the name of a data set, or irds:NAME.",
            show_default=False,
        ),
    ],
    k: options.K = 1000,
    run: Annotated[
        Path | None,
        typer.Option("--run", metavar="FILE", help="Where the run goes; stdout otherwise.", show_default=False),
    ] = None,
    tag: options.Tag = "germane",
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
    feedback_docs: options.FeedbackDocs = None,
    feedback_terms: options.FeedbackTerms = None,
    query_weight: options.QueryWeight = None,
    guard: options.Guard = False,
    rerank: options.Rerank = None,
    depth: options.Depth = None,
    syntax: Annotated[
        bool, typer.Option("--syntax", help="Read the queries in the query language, not as plain text.")
    ] = False,
    part: Annotated[str, typer.Option(help="The parts of a TREC topic to use, as in title+desc.")] = "title",
    threads: options.Threads = None,
    progress: options.Progress = False,
) -> None:
    """Search many queries and write a run in TREC's format.

    All cores work; the file is written whole or not at all.

    Example: germane batch my-index queries.tsv -k 1000 --run run.txt

    Example: germane batch my-index queries.tsv --feedback rm3 --run rm3.txt

    Example: germane batch my-index queries.tsv --rerank dirichlet --depth 100 --run two-stages.txt
    """
    from germane.data import read_topics, write_run
    from germane.engine.requests import resolve

    topics = list(read_topics(queries, part=part))
    if not topics:
        raise InputError("there are no queries in it", source=queries)
    engine = open_engine(folder)
    learning = feedback_request(feedback, feedback_docs, feedback_terms, query_weight, guard)
    with as_typed():
        ranking = ranking_request(
            model, prior, field_weight, mu=mu, lam=lam, delta=delta, k1=k1, b=b, ordered=ordered, unordered=unordered
        )
        ranking, learning = with_settings(ranking, learning, settings)
        asked = resolve(engine.retriever, ranking, learning)
    tell_learnt(asked.learnt)
    answers = engine.batch(
        topics,
        k,
        model=asked.model if ranking.names_model else None,
        priors=asked.priors,
        syntax=syntax,
        feedback=asked.method,
        rerank=reranker_typed(rerank),
        depth=depth,
        threads=threads,
    )
    silent: list[str] = []
    promoted: set[tuple[str | None, str | None]] = set()
    entries = _entries(watched(answers, "searching", total=len(topics), always=progress), tag, silent, promoted)
    write_run(run if run is not None else sys.stdout, entries)
    for told in promoted:
        tell_promoted(*told)
    if silent:
        some = ", ".join(silent[:SHOWN]) + (" ..." if len(silent) > SHOWN else "")
        tell(f"{len(silent):,} of {counted(len(topics), 'query')} found nothing: {some}")
    if run is not None:
        tell(f"{counted(len(topics), 'query')} searched; the run is in {run}")


def _entries(
    answers: Iterator[tuple["Topic", "SearchResult"]],
    tag: str,
    silent: list[str],
    promoted: set[tuple[str | None, str | None]],
) -> Iterator["RunEntry"]:
    """The lines of the run; `silent`: queries that found nothing; `promoted`: which promoted model ranked."""
    from germane.types import RunEntry

    for topic, result in answers:
        promoted.add((result.reranked_by, result.not_reranked))
        if not len(result):
            silent.append(topic.id)
        for rank, (doc_id, score) in enumerate(zip(result.ids, result.scores.tolist(), strict=True), start=1):
            yield RunEntry(topic.id, doc_id, rank, score, tag)
