"""germane find: one query to many sources, one list, refined by a few marks."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli import options, refinement_tables, saved_searches
from germane.cli.failures import NOTHING_FOUND
from germane.cli.path_conflicts import require_apart
from germane.cli.result_list import marked, threshold_of
from germane.cli.streams import put_json, put_row, query_typed, tell, terminal
from germane.errors import InputError, ParameterError
from germane.lazy import on_first_use
from germane.tables import figure
from germane.types import Marks
from germane.wording import counted

with on_first_use(__name__):
    from rich import table as rich_table

    from germane import workspace as workspaces
    from germane.data import writing
    from germane.metasearch import cache as metasearch_cache
    from germane.metasearch import configuration as metasearch_configuration
    from germane.metasearch import merging, responses
    from germane.metasearch import search as metasearching
    from germane.metasearch.sources import local
    from germane.refine import refiner
    from germane.refine import responses as refine_responses

if TYPE_CHECKING:
    from germane.metasearch.merging import FoundList
    from germane.metasearch.responses import FindResponse
    from germane.metasearch.search import MetaSearch
    from germane.metasearch.sources.source import Source
    from germane.refine.responses import RefinementResponse
    from germane.workspace import Workspace

SHOWN = 20
_REFINING, _ASKING, _KEEPING, _OUTPUT = "Refining", "Asking", "Keeping", "Output"


def find(
    query: Annotated[
        str | None,
        typer.Argument(
            metavar="WORDS",
            help="The query; - reads it from stdin. --replay and --again have their own.",
            show_default=False,
        ),
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--source",
            "-s",
            metavar="NAME,NAME",
            help="pubmed, europepmc, arxiv, openalex, crossref, a name of the settings, or the path of an index, a "
            "file or a folder; repeatable.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[int, typer.Option("-n", metavar="N", min=1, help="Records of each source.")] = 200,
    page: Annotated[int, typer.Option(metavar="N", min=1, help="Which N records, from 1.")] = 1,
    settings: Annotated[
        Path | None,
        typer.Option("--settings", metavar="FILE", help="Sources of your own: TOML or JSON.", show_default=False),
    ] = None,
    relevant: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID,ID",
            help="Results that are relevant: ids or, where nobody has that id, places in the list from 1; repeatable.",
            show_default=False,
            rich_help_panel=_REFINING,
        ),
    ] = None,
    not_relevant: Annotated[
        list[str] | None,
        typer.Option(
            "--not",
            metavar="ID,ID",
            help="Results that are not, named alike; repeatable.",
            show_default=False,
            rich_help_panel=_REFINING,
        ),
    ] = None,
    method: options.Method = "auto",
    threshold: options.Threshold = None,
    no_implicit: Annotated[
        bool,
        typer.Option(
            "--no-implicit",
            help="Do not take unmarked results above the last relevant one for not relevant.",
            rich_help_panel=_REFINING,
        ),
    ] = False,
    ranking: Annotated[
        str | None,
        typer.Option(
            help="How lists become one: rrf, isr, combsum, combmnz, or lm (the union by a language model).",
            show_default="rrf",
        ),
    ] = None,
    reference: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="An index: the background of the ranking lm.", show_default=False),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="After so long the list is made of what has come.",
            show_default="20, or the source's own",
            rich_help_panel=_ASKING,
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep answers in this file, and take them from there while they are fresh.",
            show_default=False,
            rich_help_panel=_ASKING,
        ),
    ] = None,
    max_age: Annotated[
        float, typer.Option(metavar="HOURS", min=0, help="How long they are fresh.", rich_help_panel=_ASKING)
    ] = 24.0,
    offline: Annotated[
        bool,
        typer.Option("--offline", help="Answer from the cache alone, however old it is.", rich_help_panel=_ASKING),
    ] = False,
    record: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write all answers to a file.", show_default=False, rich_help_panel=_ASKING),
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Take the answers of such a file instead of asking anyone; its query counts, not WORDS.",
            show_default=False,
            rich_help_panel=_ASKING,
        ),
    ] = None,
    workspace: Annotated[
        str | None,
        typer.Option(
            metavar="WORKSPACE",
            help="Keep the list and the marks on it there: a file, or a postgresql:// URL.",
            show_default=False,
            rich_help_panel=_KEEPING,
        ),
    ] = None,
    again: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Take search N of --workspace up again, as it was fetched, with all marks on it; nobody is asked.",
            show_default=False,
            rich_help_panel=_KEEPING,
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(
            "-k", metavar="K", min=1, help="How many results to print.", show_default=f"{SHOWN}, programs all"
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="The words for and against each result too.", rich_help_panel=_OUTPUT)
    ] = False,
    changes: Annotated[
        bool, typer.Option("--changes", help="What moved, and because of which words, too.", rich_help_panel=_OUTPUT)
    ] = False,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to",
            metavar="FILE",
            help="Write the results whole, in this order (.ris, .nbib, .bib, .xml, .csv, .tsv, .jsonl).",
            show_default=False,
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="Print the results as jsonl, csv, tsv, ris, medline, bibtex or endnote-xml, or write --to in this "
            "format.",
            show_default=False,
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    json: options.Json = False,
    tsv: Annotated[
        bool, typer.Option("--tsv", help="Print rank, id, score, sources, link, title.", rich_help_panel=_OUTPUT)
    ] = False,
) -> None:
    """Search many sources at once, join duplicates, fuse the lists, and refine by a few marks.

    A source that fails is named on stderr with the reason; the others' results are shown. Keys are taken from the
    environment: NCBI_API_KEY, OPENALEX_API_KEY, CROSSREF_PLUS_TOKEN, or what the settings name. Exit code 1 means that
    nothing was found.

    Example: germane find "wilson disease zinc" -s pubmed,arxiv,my-index -n 200

    Example: germane find "wilson disease zinc" -s pubmed,openalex --cache answers.db --relevant 3,7 --explain

    Example: germane find "wilson disease zinc" -s lab,papers/ --settings sources.toml --to found.ris

    Example: germane find "wilson disease zinc" -s pubmed,arxiv --workspace my.workspace --relevant 3

    Example: germane find --workspace my.workspace --again 1 --relevant 7
    """
    wanted = options.one_of(json=json, tsv=tsv)
    if wanted and format is not None and to is None:
        raise ParameterError(f"choose one of --{wanted} and --format")
    if tsv and (explain or changes):
        raise ParameterError("--explain and --changes go with the table or with --json, not with --tsv")
    if offline and cache is None:
        raise ParameterError("--offline answers from a cache: name it with --cache")
    if again is not None and workspace is None:
        raise ParameterError("--again takes up a search of a workspace: name it with --workspace")
    if query is None and replay is None and again is None:
        raise ParameterError("there is nothing to search for: say WORDS")

    if to is not None or format is not None:
        writing.format_for(to, format)  # complains before the work
    refiner.Refiner(method, threshold=threshold_of(threshold))
    names = [part.strip() for text in source or () for part in text.split(",") if part.strip()]
    kept_in = _opened(workspace, create=again is None)
    search = None
    if again is not None:
        assert kept_in is not None
        if names or replay is not None:
            raise ParameterError(f"choose one of {'--source' if names else '--replay'} and --again")
        require_apart({"--record": record, "--to": to}, [str(workspace)])
        search = kept_in.searches.get(again)
        found = saved_searches.taken_up(kept_in, search)
    elif replay is not None:
        if names:
            raise ParameterError("choose one of --source and --replay")
        require_apart(
            {"--record": record, "--to": to}, [path for path in (replay, reference, workspace) if path is not None]
        )
        found = metasearching.replay(replay, ranking=ranking, reference=reference)
    else:
        sources = _sources(names, settings)
        read = [path for path in (settings, reference, workspace, *_paths(sources)) if path is not None]
        require_apart({"--cache": cache, "--record": record, "--to": to}, read)
        kept = None if cache is None else (cache, max_age, offline)
        searching = _searching(sources, ranking, reference, kept)
        found = searching.search(query_typed(str(query)), limit, page, deadline=timeout)
    if record is not None:
        metasearching.record(record, found)
    _tell(found)
    refined = None
    shown = k or (len(found) if wanted or format or to else SHOWN)
    marks = Marks(marked("--relevant", relevant or (), found.ids), marked("--not", not_relevant or (), found.ids))
    if kept_in is not None:
        if search is None:
            search = saved_searches.save(kept_in, found)
            tell(f"kept as search {search.id} of {kept_in.name}")
        marks = saved_searches.keep_marks(kept_in, search, marks)
    if marks:
        refined = _refined(found, marks, method, threshold, no_implicit, shown, explain, changes)
        tell(f"{refined.method}: {refined.reason}")
    answer = responses.FindResponse.of(found, refined, shown)
    by_id = {document.id: document for document in found.documents()}
    ordered = [by_id[hit.id] for hit in answer.hits]
    if to is not None:
        writing.write_documents(to, ordered, format)
        tell(f"{counted(len(ordered), 'result')} written to {to}")
    if wanted == "json":
        put_json(answer)
    elif wanted == "tsv":
        _put_rows(answer)
    elif format is not None and to is None:
        writing.write_documents(sys.stdout, ordered, format)
    elif refined is not None:
        refinement_tables.show(terminal(), refined, shown)
    elif answer.hits:
        _show(answer)
    if not answer.hits:
        tell("no source that answered has found anything" if page == 1 else f"nothing stands on page {page}")
        raise typer.Exit(NOTHING_FOUND)


def _opened(where: str | None, *, create: bool) -> "Workspace | None":
    """The workspace, before anybody is asked: what cannot be kept is known at once."""
    if where is None:
        return None

    return workspaces.Workspace.open(where, create=create)


def _sources(names: list[str], settings: Path | None) -> "list[Source]":
    configuration = (
        metasearch_configuration.Configuration()
        if settings is None
        else metasearch_configuration.Configuration.read(settings)
    )
    if not names:
        raise ParameterError("name the sources to search with -s, as in -s pubmed,arxiv,my-index")
    return configuration.all(names)


def _paths(sources: "list[Source]") -> Iterator[Path]:
    """Of the sources that lie on this machine."""
    return (Path(source.path) for source in sources if isinstance(source, local.LocalSource))


def _searching(
    sources: "list[Source]",
    ranking: str | None,
    reference: Path | None,
    cache: tuple[Path, float, bool] | None,
) -> "MetaSearch":
    """`cache`: the file, the hours for which answers are fresh, and whether nothing else may be asked."""
    kept = None if cache is None else metasearch_cache.Cache(cache[0], max_age=3600.0 * cache[1], offline=cache[2])
    return metasearching.MetaSearch(
        sources, ranking=ranking or merging.DEFAULT_RANKING, reference=reference, cache=kept
    )


def _tell(found: "FoundList") -> None:
    """Report the results of each source on stderr."""
    for answer in found.answers:
        total = f" of {answer.total:,}" if answer.total is not None else ""
        tell(f"{answer.source}: {counted(len(answer.records), 'record')}{total}")
        if answer.failure is not None:
            tell(f"{answer.source}: {answer.failure.kind}: {answer.failure.message}")
        for note in answer.notes:
            tell(f"{answer.source}: {note}")
    tell(f"{counted(len(found), 'result')}, {counted(found.duplicates, 'duplicate')} joined")
    if not len(found) and len(found.failures) == len(found.answers):
        raise InputError("no source has answered; what went wrong is said above")


def _refined(
    found: "FoundList",
    marks: "Marks",
    method: str,
    threshold: str | None,
    no_implicit: bool,
    shown: int,
    explain: bool,
    changes: bool,
) -> "RefinementResponse":
    refinement = found.refine(marks, method, threshold=threshold_of(threshold), implicit_negatives=not no_implicit)
    titles = {one.id: " ".join(str(one.fields.get("title") or "").split()) for one in found}
    return refine_responses.RefinementResponse.of(refinement, titles, k=shown, explain=explain, changes=changes)


def _put_rows(answer: "FindResponse") -> None:
    for hit in answer.hits:
        sources = " ".join(dict.fromkeys(f"{one.source}:{one.rank}" for one in hit.provenance))
        put_row((hit.rank, hit.id, figure(hit.score), sources, hit.link or "", hit.title or ""))


def _show(answer: "FindResponse") -> None:
    table = rich_table.Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("", "found by", "id", "year", "title"):
        table.add_column(name, header_style="bold", justify="right" if name in ("", "year") else "left",
                         overflow="fold" if name == "title" else "ellipsis")  # fmt: skip
    for hit in answer.hits:
        sources = ", ".join(dict.fromkeys(f"{one.source} {one.rank}" for one in hit.provenance))
        fields = hit.fields or {}
        title = " ".join(str(hit.title or "").split())
        table.add_row(str(hit.rank), sources, hit.id, str(fields.get("year") or ""), title)
    terminal().print(table)
