"""germane screen: read a long list of references in a good order, and know when to stop."""

from collections.abc import Sequence, Set
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from germane.cli import options
from germane.cli.documents import InputFile, tell_skipped
from germane.cli.path_conflicts import require_apart
from germane.cli.progress import watched
from germane.cli.reading import MOST_REASONS, REASONS, read_records
from germane.cli.requests import settings_typed
from germane.cli.reviewing import WORKSPACE, Desk
from germane.cli.screening_tables import put_answers, put_explanation, put_simulation
from germane.cli.streams import query_typed, tell
from germane.errors import InputError, ParameterError, UnknownDocumentError
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane import data as data_files
    from germane import engine as engines
    from germane.engine import announcing, methods
    from germane.evaluate import plots
    from germane.refine import screening as screenings
    from germane.refine.screening import simulation, verdicts, weighting

if TYPE_CHECKING:
    from germane.refine.screening import StoppingRule
    from germane.refine.screening.ranking import RankerParameters
    from germane.types import Document

_READING = "Reading"
_DECIDING = "Decisions"
_SIMULATING = "Simulation"
_STOPPING = "Stopping"


class Records(StrEnum):
    """Which records are exported."""

    INCLUDED = "included"
    EXCLUDED = "excluded"
    DECIDED = "decided"
    UNREAD = "unread"
    ALL = "all"


def screen(
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA",
            help="References: RIS, NBIB, BibTeX, EndNote or PubMed XML, CSV, TSV, JSON Lines; else those of --project.",
            show_default=False,
        ),
    ] = None,
    decisions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep decisions in this file instead (.csv, .tsv, .jsonl, .ris), in the order of reading.",
            show_default=False,
            rich_help_panel=_DECIDING,
        ),
    ] = None,
    workspace: Annotated[
        str | None,
        typer.Option(
            metavar="WORKSPACE",
            help="Keep decisions in this workspace: a file, or a postgresql:// URL.",
            show_default=WORKSPACE,
            rich_help_panel=_DECIDING,
        ),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The project there.", show_default="the name of DATA", rich_help_panel=_DECIDING
        ),
    ] = None,
    reviewer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Who decides.", show_default="the name of the login", rich_help_panel=_DECIDING
        ),
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID,ID",
            help="Include these, and keep that; repeatable.",
            show_default=False,
            rich_help_panel=_DECIDING,
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID,ID", help="Exclude these likewise; repeatable.", show_default=False, rich_help_panel=_DECIDING
        ),
    ] = None,
    undecide: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID,ID", help="Take decisions back; repeatable.", show_default=False, rich_help_panel=_DECIDING
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the included records there, whole (.ris, .nbib, .bib, .csv, .tsv, .jsonl).",
            show_default=False,
            rich_help_panel=_DECIDING,
        ),
    ] = None,
    which: Annotated[
        Records,
        typer.Option(
            "--which",
            help="Which records --export writes: included, excluded, decided (both), unread or all.",
            rich_help_panel=_DECIDING,
            case_sensitive=False,
        ),
    ] = Records.INCLUDED,
    interactive: Annotated[
        bool,
        typer.Option(
            "--interactive",
            "-i",
            help="Read one record at a time and decide by single keys; ? lists them.",
            rich_help_panel=_READING,
        ),
    ] = False,
    reason: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="A reason for exclusion, for the keys 1 to 9 of --interactive; repeatable.",
            show_default=", ".join(REASONS),
            rich_help_panel=_READING,
        ),
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(
            metavar="QUERY",
            help="Until one is included, read what this search finds first, the likeliest before others.",
            show_default=False,
            rich_help_panel=_READING,
        ),
    ] = None,
    abstract: Annotated[
        bool, typer.Option("--abstract", help="Show the abstracts of what is proposed.", rich_help_panel=_READING)
    ] = False,
    next: Annotated[int, typer.Option("--next", metavar="N", help="How many to propose for reading.", min=0)] = 10,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only how many relevant ones remain, and whether to stop.")
    ] = False,
    explain: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Only the words for and against a document.", show_default=False),
    ] = None,
    explore: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of places for uncertain documents unlike those read.")
    ] = 0.0,
    settings: options.Settings = None,
    label: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column that says what was included; empty is unread.",
            show_default=False,
            rich_help_panel=_SIMULATING,
        ),
    ] = None,
    simulate: Annotated[
        bool,
        typer.Option("--simulate", help="Screen DATA with --label as if it were new.", rich_help_panel=_SIMULATING),
    ] = False,
    seeds: Annotated[
        int,
        typer.Option(
            metavar="N", help="Starts: one relevant, one irrelevant document each.", min=1, rich_help_panel=_SIMULATING
        ),
    ] = 10,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw recall over reading (.png, .svg, .pdf).",
            show_default=False,
            rich_help_panel=_SIMULATING,
        ),
    ] = None,
    target: Annotated[float, typer.Option(help="The recall wanted.", rich_help_panel=_STOPPING)] = 0.95,
    confidence: Annotated[float, typer.Option(help="How sure to be of it.", rich_help_panel=_STOPPING)] = 0.95,
    omega: Annotated[
        float,
        typer.Option(
            help="How many times better than random reading the order is taken to be, as odds; 1 assumes least.",
            rich_help_panel=_STOPPING,
        ),
    ] = 1.0,
    sample: Annotated[
        bool,
        typer.Option(
            "--sample",
            help="Assume nothing about the order: once reading has gone quiet, draw at random, and test that.",
            rich_help_panel=_STOPPING,
        ),
    ] = False,
    format: options.Format = None,
    map: options.Map = None,
    encoding: options.Encoding = "utf-8",
    on_error: options.SkipBad = options.OnError.STOP,
    progress: options.Progress = False,
    json: options.Json = False,
    tsv: options.TabSeparated = False,
) -> None:
    """Screen references: what to read next and why, how many relevant ones remain, and whether to stop.

    What is decided is kept in a workspace, or in the file that --decisions names.

    Example: germane screen references.ris --interactive

    Example: germane screen references.ris --query "insulin AND children" --next 20 --abstract

    Example: germane screen references.ris --include 12345 --exclude 678,91011 --export included.ris

    Example: germane screen references.ris --decisions decisions.csv --include 12345

    Example: germane screen references.ris --workspace my.workspace --project review --reviewer ann --include 12345

    Example: germane screen references.ris --sample --confidence 0.9

    Example: germane screen references.ris --set C=2 --set unread_weight=5

    Example: germane screen review.jsonl --label included --simulate --seeds 10 --plot recall.png
    """
    wanted = options.one_of(json=json, tsv=tsv)
    marking = bool(include or exclude or undecide)
    if (workspace or project or reviewer) and (decisions is not None or label is not None):
        raise ParameterError("--workspace and --decisions or --label both say what was decided; choose one")
    reading = interactive or reason or query is not None or abstract
    if simulate and (label is None or decisions or marking or export or estimate or explain is not None or reading):
        raise ParameterError("--simulate needs --label and goes with no option about decisions or reading")
    if interactive and (estimate or explain is not None or abstract or wanted):
        raise ParameterError("--interactive goes with none of --estimate, --explain, --abstract, --json and --tsv")
    if reason and not interactive:
        raise ParameterError("--reason is for --interactive: add it")
    if reason and len(reason) > MOST_REASONS:
        raise ParameterError(f"--reason may be given {MOST_REASONS} times, one for each key from 1")
    if abstract and (estimate or explain is not None):
        raise ParameterError("--abstract is about what is proposed: without --estimate and --explain")
    if which is not Records.INCLUDED and export is None:
        raise ParameterError("--which says what --export FILE writes: add it")
    if plot is not None and not simulate:
        raise ParameterError("--plot draws a simulation: add --simulate")
    if label is not None and not simulate and decisions is not None:
        raise ParameterError("--decisions and --label both say what was decided; choose one")
    if label is not None and (marking or interactive):
        raise ParameterError("--label says what was decided, in DATA itself: decide without it")
    desk = None
    if decisions is None and label is None:
        desk = Desk.of(workspace, project, reviewer, data, deciding=marking or interactive)
    if data is None and desk is None:
        raise ParameterError("name the references to screen: a file, or a project with --workspace")
    if estimate and explain is not None:
        raise ParameterError("choose one of --estimate and --explain")
    if decisions is not None and not marking and not interactive and not decisions.exists():
        raise InputError("there is no such file of decisions", source=str(decisions))
    written = {"--decisions": decisions if marking or interactive else None, "--export": export}
    kept = desk.workspace if desk is not None else None
    inputs = [path for path in (data, kept, decisions if written["--decisions"] is None else None) if path is not None]
    require_apart(written, inputs)

    rule = screenings.StoppingRule(target, confidence, omega, sample)
    parameters = methods.screen_settings(settings_typed(settings))
    if data is None:
        assert desk is not None
        documents, data = desk.documents(), desk.workspace
    else:
        source = InputFile(data, format, map or (), encoding, on_error.value, True, keep_source=desk is not None)
        documents = _read(source, progress)
    labels = None if label is None else _labels(documents, label, data)
    if simulate:
        assert labels is not None
        _simulate(documents, labels, data, seeds, explore, rule, parameters, plot, wanted, progress)
        return
    first = () if query is None else _found(documents, query, data)
    decided = _decided({document.id for document in documents}, include, exclude, undecide)
    try:
        screening = None
        how: dict[str, Any] = {"first": first, "explore": explore, "rule": rule, "parameters": parameters}
        if desk is not None:
            screening = desk.screening(documents, data, **how)
        if screening is None:
            screening = screenings.Screening(documents, decisions=labels, store=decisions, **how)
    except InputError as error:
        raise InputError(error.message, source=error.source or data) from None
    for doc_id, decision in decided.items():
        screening.undecide(doc_id) if decision is None else screening.decide(doc_id, decision)
    if export is not None:
        count = screening.export_records(export, which.value)
        tell(f"{counted(count, 'record' if which is Records.ALL else f'{which.value} record')} written to {export}")
    if interactive:
        read_records(screening, reason or REASONS, [str(path) for path in (data, decisions, kept) if path is not None])
    elif explain is not None:
        put_explanation(screening, explain, wanted)
    else:
        put_answers(screening, 0 if estimate else next, wanted, abstracts=abstract)


def _read(source: InputFile, progress: bool) -> "list[Document]":
    report = data_files.SkipReport()
    documents = list(watched(source.read(report), "reading", always=progress))
    tell_skipped(report)
    if not documents:
        raise InputError("there are no documents in it", source=source.name)
    return documents


def _found(documents: "Sequence[Document]", query: str, source: str) -> list[str]:
    """The ids that a search for the query finds, by query likelihood (Dirichlet), from an index that is not kept."""
    known = dict.fromkeys(name for document in documents for name in document.fields)
    fields = [name for name in known if name.lower() in (*weighting.TITLE_FIELDS, *weighting.BODY_FIELDS)]
    if not fields:
        raise InputError("no record has a title, an abstract or keywords for --query", source=source)
    with engines.Engine.create(":memory:", fields=fields) as engine:
        engine.add(documents)
        found = engine.search(query_typed(query), k=len(documents), model="dirichlet").ids
    if not found:
        tell(f"--query finds nothing in {source}: the most typical records come first")
    return found


def _labels(documents: "Sequence[Document]", column: str, source: str) -> dict[str, bool]:
    """The decisions in a column; those without one are left out."""
    if not any(column in document.fields for document in documents):
        found = ", ".join(f"'{name}'" for name in documents[0].fields)
        raise InputError(f"there is no column '{column}' for --label; found: {found}", source=source)
    labels: dict[str, bool] = {}
    for document in documents:
        try:
            decision = verdicts.decision_of(document.fields.get(column))
        except ParameterError as error:
            raise InputError(f"document '{document.id}': {error}", source=source, field=column) from None
        if decision is not None:
            labels[document.id] = decision
    return labels


def _decided(
    known: Set[str], include: Sequence[str] | None, exclude: Sequence[str] | None, undecide: Sequence[str] | None
) -> dict[str, bool | None]:
    """Return the decisions of the command line, None for one taken back; they are checked before any is stored."""
    decided: dict[str, bool | None] = {}
    for decision, texts in ((None, undecide), (True, include), (False, exclude)):
        for doc_id in _ids(texts, known):
            if doc_id in decided:
                raise ParameterError(f"document '{doc_id}' is named twice")
            if doc_id not in known:
                raise UnknownDocumentError(f"there is no document '{doc_id}' in this list")
            decided[doc_id] = decision
    return decided


def _ids(texts: Sequence[str] | None, known: Set[str]) -> list[str]:
    """Ids with commas between them; a text that is an id itself, comma, spaces and all, is that id."""
    ids: list[str] = []
    for text in texts or ():
        ids += [text] if text in known else [part.strip() for part in text.split(",") if part.strip()]
    return ids


# -- simulation --------------------------------------------------------------------------------------------------------


def _simulate(
    documents: "Sequence[Document]", labels: dict[str, bool], source: str, seeds: int, explore: float,
    rule: "StoppingRule", parameters: "RankerParameters", plot: Path | None, wanted: str, progress: bool,
) -> None:  # fmt: skip

    unlabelled = [document.id for document in documents if document.id not in labels]
    if unlabelled:
        raise InputError(
            f"{counted(len(unlabelled), 'document')} without a label, '{unlabelled[0]}' the first; a simulation "
            "needs every one",
            source=source,
        )
    announcing.announce_compiling()
    y = [labels[document.id] for document in documents]
    rows = weighting.weigh_documents(documents).rows
    runs = simulation.simulated_runs(rows, y, range(seeds), explore=explore, rule=rule, parameters=parameters)
    try:
        result = simulation.summary(list(watched(runs, "simulating", total=seeds, always=progress)), rule)
    except ParameterError as error:
        raise InputError(str(error), source=source) from None
    if plot is not None:
        hits, stops = [run.hits for run in result.runs], [run.stop for run in result.runs]
        plots.save(plots.recall_over_reading(hits, stops, collection=Path(source).name), plot)
        tell(f"written: {plot}")
    put_simulation(result, rule, wanted)
