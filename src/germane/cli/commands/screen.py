"""germane screen: read a long list of references in a good order, and know when to stop."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli import options
from germane.cli.documents import Source, tell_skipped
from germane.cli.progress import watched
from germane.cli.streams import counted, put_json, tell, terminal
from germane.cli.tables import put_rows, show_rows
from germane.errors import InputError, ParameterError

if TYPE_CHECKING:
    from germane.refine.screening import Screening, Simulation, StoppingRule
    from germane.types import Document

_DECIDING = "Decisions"
_SIMULATING = "Simulation"
_STOPPING = "Stopping"
WORDS = 12
"""Words shown for and against with --explain."""


class Records(StrEnum):
    """Which records are exported."""

    INCLUDED = "included"
    EXCLUDED = "excluded"
    DECIDED = "decided"
    UNREAD = "unread"


def screen(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="References: RIS, NBIB, BibTeX, CSV, TSV, JSON Lines, PubMed XML.", show_default=False
        ),
    ],
    decisions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Decisions so far (.csv, .tsv, .jsonl, .ris), in the order of reading.",
            show_default=False,
            rich_help_panel=_DECIDING,
        ),
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID,ID",
            help="Include these, and keep that in FILE; repeatable.",
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
            help="Which records --export writes: included, excluded, decided (both) or unread.",
            rich_help_panel=_DECIDING,
            case_sensitive=False,
        ),
    ] = Records.INCLUDED,
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
    format: options.Format = None,
    map: options.Map = None,
    encoding: options.Encoding = "utf-8",
    on_error: options.SkipBad = options.OnError.STOP,
    progress: options.Progress = False,
    json: options.Json = False,
    tsv: options.TabSeparated = False,
) -> None:
    """Screen references: what to read next and why, how many relevant ones remain, and whether to stop.

    Example: germane screen references.ris --decisions decisions.csv --next 20

    Example: germane screen references.ris --decisions decisions.csv --include 12345 --exclude 678,91011

    Example: germane screen references.ris --decisions decisions.csv --export included.ris

    Example: germane screen review.jsonl --label included --simulate --seeds 10 --plot recall.png
    """
    wanted = options.one_of(json=json, tsv=tsv)
    marking = bool(include or exclude or undecide)
    if simulate and (label is None or decisions or marking or export or estimate or explain is not None):
        raise ParameterError("--simulate needs --label and goes with no option about decisions")
    if which is not Records.INCLUDED and export is None:
        raise ParameterError("--which says what --export FILE writes: add it")
    if plot is not None and not simulate:
        raise ParameterError("--plot draws a simulation: add --simulate")
    if label is not None and not simulate and decisions is not None:
        raise ParameterError("--decisions and --label both say what was decided; choose one")
    if marking and decisions is None:
        raise ParameterError("--include, --exclude and --undecide need --decisions FILE to keep them in")
    if estimate and explain is not None:
        raise ParameterError("choose one of --estimate and --explain")
    if decisions is not None and not marking and not decisions.exists():
        raise InputError("there is no such file of decisions", source=str(decisions))
    from germane.refine.screening import Screening, StoppingRule

    rule = StoppingRule(target, confidence, omega)
    documents = _read(Source(data, format, map or (), encoding, on_error.value, True), progress)
    labels = None if label is None else _labels(documents, label, data)
    if simulate:
        assert labels is not None
        _simulate(documents, labels, data, seeds, explore, rule, plot, wanted, progress)
        return
    try:
        screening = Screening(documents, decisions=labels, store=decisions, explore=explore, rule=rule)
    except InputError as error:
        raise InputError(error.message, source=error.source or data) from None
    _decide(screening, include, exclude, undecide)
    if export is not None:
        count = screening.export_records(export, which.value)
        tell(f"{counted(count, f'{which.value} record')} written to {export}")
    if explain is not None:
        _put_explanation(screening, explain, wanted)
    else:
        _put_answers(screening, 0 if estimate else next, wanted)


def _read(source: Source, progress: bool) -> "list[Document]":
    from germane.data import SkipReport

    report = SkipReport()
    documents = list(watched(source.read(report), "reading", always=progress))
    tell_skipped(report)
    if not documents:
        raise InputError("there are no documents in it", source=source.name)
    return documents


def _labels(documents: "Sequence[Document]", column: str, source: str) -> dict[str, bool]:
    """The decisions in a column; those without one are left out."""
    from germane.refine.screening.decisions import decision_of

    if not any(column in document.fields for document in documents):
        found = ", ".join(f"'{name}'" for name in documents[0].fields)
        raise InputError(f"there is no column '{column}' for --label; found: {found}", source=source)
    labels: dict[str, bool] = {}
    for document in documents:
        try:
            decision = decision_of(document.fields.get(column))
        except ParameterError as error:
            raise InputError(f"document '{document.id}': {error}", source=source, field=column) from None
        if decision is not None:
            labels[document.id] = decision
    return labels


def _decide(
    screening: "Screening",
    include: Sequence[str] | None,
    exclude: Sequence[str] | None,
    undecide: Sequence[str] | None,
) -> None:
    """All decisions of the command line, or, where one of them cannot be, none."""
    yes, no, back = (_ids(texts, screening) for texts in (include, exclude, undecide))
    given = [*yes, *no, *back]
    for doc_id in given:
        if given.count(doc_id) > 1:
            raise ParameterError(f"document '{doc_id}' is named twice")
        screening.check(doc_id)
    for doc_id in back:
        screening.undecide(doc_id)
    for doc_id in yes:
        screening.decide(doc_id, True)
    for doc_id in no:
        screening.decide(doc_id, False)


def _ids(texts: Sequence[str] | None, screening: "Screening") -> list[str]:
    """Ids with commas between them; a text that is an id itself, comma, spaces and all, is that id."""
    ids: list[str] = []
    for text in texts or ():
        ids += [text] if text in screening.documents else [part.strip() for part in text.split(",") if part.strip()]
    return ids


# -- answers -----------------------------------------------------------------------------------------------------------


def _put_answers(screening: "Screening", n: int, wanted: str) -> None:
    from germane.refine.screening.responses import ScreeningResponse

    found = ScreeningResponse.of(screening, n)
    if not found.calibrated:
        tell("probabilities are rough until two relevant and two irrelevant documents are decided")
    if wanted == "json":
        put_json(found)
        return
    header = ["id", "probability", "because of", "title"]
    if wanted == "tsv" and n:
        put_rows(header, [[row.id, row.probability, row.why, row.title] for row in found.next])
        return
    left, advice = found.remaining, found.recommendation
    facts = [
        ["read", f"{found.read:,} of {found.read + found.unread:,}"],
        ["relevant found", f"{found.found:,}"],
        ["relevant remaining, expected", "not known yet" if left.expected is None else f"{left.expected:.1f}"],
        [f"remaining, at most ({left.confidence:.0%} confidence)", f"{left.high:,}"],
        ["recommendation", f"{'Stop' if advice.stop else 'Go on'}: {advice.reason}"],
    ]
    if wanted == "tsv":
        put_rows(["what", "value"], facts)
        return
    if found.next:
        show_rows(header, [[row.id, f"{row.probability:.0%}", row.why, row.title] for row in found.next])
        terminal().print()
    for name, value in facts:
        terminal().print(f"{name}: {value}", soft_wrap=True)


def _put_explanation(screening: "Screening", doc_id: str, wanted: str) -> None:
    from germane.refine.screening.responses import ScreeningExplanation

    found = ScreeningExplanation.of(screening, doc_id)
    header = ["word", "adds to the log-odds"]
    rows = [[word.word, word.amount] for word in found.words]
    if wanted == "json":
        put_json(found)
    elif wanted == "tsv":
        put_rows(header, rows)
    else:
        terminal().print(f"{doc_id}: {found.title}", soft_wrap=True)
        terminal().print(f"probability {found.probability:.0%}, score {found.score:.3f} (bias {found.bias:.3f})")
        show_rows(header, rows[:WORDS])


# -- simulation --------------------------------------------------------------------------------------------------------


def _simulate(
    documents: "Sequence[Document]", labels: dict[str, bool], source: str, seeds: int, explore: float,
    rule: "StoppingRule", plot: Path | None, wanted: str, progress: bool,
) -> None:  # fmt: skip
    from germane.engine.compiling import announce_compiling
    from germane.refine.screening.simulation import simulated_runs, summary
    from germane.refine.screening.weighting import weigh_documents

    unlabelled = [document.id for document in documents if document.id not in labels]
    if unlabelled:
        raise InputError(
            f"{counted(len(unlabelled), 'document')} without a label, '{unlabelled[0]}' the first; a simulation "
            "needs every one",
            source=source,
        )
    announce_compiling()
    y = [labels[document.id] for document in documents]
    rows = weigh_documents(documents).rows
    runs = simulated_runs(rows, y, range(seeds), explore=explore, rule=rule)
    try:
        result = summary(list(watched(runs, "simulating", total=seeds, always=progress)), rule)
    except ParameterError as error:
        raise InputError(str(error), source=source) from None
    if plot is not None:
        from germane.evaluate import plots

        hits, stops = [run.hits for run in result.runs], [run.stop for run in result.runs]
        plots.save(plots.recall_over_reading(hits, stops, collection=Path(source).name), plot)
        tell(f"written: {plot}")
    _put_simulation(result, rule, wanted)


def _put_simulation(result: "Simulation", rule: "StoppingRule", wanted: str) -> None:
    from germane.refine.screening.responses import SimulationResponse

    found = SimulationResponse.of(result)
    if wanted == "json":
        put_json(found)
        return
    if wanted == "tsv":
        put_rows(["measure", "mean", "low", "high"], [[name, *mean] for name, mean in found.measures.items()])
        return
    shown = [
        [name, f"{100 * mean.value:.1f}%", f"{100 * mean.low:.1f} to {100 * mean.high:.1f}"]
        for name, mean in found.measures.items()
    ]
    show_rows(["measure", "mean", "95% interval over seeds"], shown)
    terminal().print(
        f"{found.documents:,} documents, {found.relevant:,} relevant, {counted(len(found.runs), 'run')}; recall of "
        f"{rule.target:.0%} at the recommended stop in {found.reached} of {len(found.runs)}",
        soft_wrap=True,
    )
