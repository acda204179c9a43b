"""germane batch: many queries, one run."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli import options
from germane.cli.opening import open_engine
from germane.cli.progress import watched
from germane.cli.requests import Typed, asking, tell_learnt, tell_promoted
from germane.cli.streams import tell
from germane.declare import fields_of
from germane.engine.requests import FeedbackRequest, RankingRequest, SearchRequest
from germane.errors import InputError
from germane.lazy import LazyModule
from germane.types import RunEntry
from germane.wording import counted

if TYPE_CHECKING:
    from germane.engine import SearchResult
    from germane.types import Topic

SHOWN = 5
GROUPS = (*fields_of(RankingRequest), *fields_of(FeedbackRequest))
SHARED = {"k", "rerank", "depth", *(each.name for each in GROUPS)} - {"relevant", "not_relevant"}
"""The fields of a search that hold for many: those of the page, and marks, belong to one query."""
data, resolving = LazyModule("germane.data"), LazyModule("germane.engine.resolving")


@asking(SearchRequest, only=SHARED, k=1000)
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
    typed: Typed,
    run: Annotated[
        Path | None,
        typer.Option("--run", metavar="FILE", help="Where the run goes; stdout otherwise.", show_default=False),
    ] = None,
    tag: options.Tag = "germane",
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
    topics = list(data.read_topics(queries, part=part))
    if not topics:
        raise InputError("there are no queries in it", source=queries)
    engine = open_engine(folder)
    request = typed.request(query="")
    chosen = resolving.resolve(engine.retriever, request.ranking, request.feedback)
    tell_learnt(chosen.learnt)
    answers = engine.batch(
        topics,
        request.k,
        model=chosen.model if request.ranking.names_model else None,
        priors=chosen.priors,
        syntax=syntax,
        feedback=chosen.method,
        rerank=request.rerank,
        depth=request.depth,
        threads=threads,
    )
    silent: list[str] = []
    promoted: set[tuple[str | None, str | None]] = set()
    entries = _entries(watched(answers, "searching", total=len(topics), always=progress), tag, silent, promoted)
    data.write_run(run if run is not None else sys.stdout, entries)
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
) -> Iterator[RunEntry]:
    """The lines of the run; `silent`: queries that found nothing; `promoted`: which promoted model ranked."""
    for topic, result in answers:
        promoted.add((result.reranked_by, result.not_reranked))
        if not len(result):
            silent.append(topic.id)
        for rank, (doc_id, score) in enumerate(zip(result.ids, result.scores.tolist(), strict=True), start=1):
            yield RunEntry(topic.id, doc_id, rank, score, tag)
