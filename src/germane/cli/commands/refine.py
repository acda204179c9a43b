"""germane refine: a few marks re-rank a whole list of results."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from germane.cli import options, refinement_tables
from germane.cli.analysis import analyzer_named
from germane.cli.path_conflicts import require_apart
from germane.cli.requests import settings_typed
from germane.cli.result_list import ResultSource, ids_in, marked, threshold_of
from germane.cli.streams import put_json, tell, terminal
from germane.errors import ParameterError
from germane.lazy import on_first_use
from germane.types import Document, Marks
from germane.wording import counted

with on_first_use(__name__):
    from germane.data import writing
    from germane.engine import methods
    from germane.refine import refiner as refine_refiner
    from germane.refine import responses

_REFINING = "Refining"
_ANALYSIS = "Words"


def refine(
    results: Annotated[
        str,
        typer.Argument(
            metavar="RESULTS",
            help="The list: JSON Lines, CSV, TSV, RIS, NBIB, BibTeX, or what germane search --json "
            "printed; - reads that from stdin.",
            show_default=False,
        ),
    ],
    relevant: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID,ID",
            help="Results that are relevant: ids or, where nobody has that id, places in the list from 1; repeatable.",
            show_default=False,
        ),
    ] = None,
    not_relevant: Annotated[
        list[str] | None,
        typer.Option(
            "--not", metavar="ID,ID", help="Results that are not, named alike; repeatable.", show_default=False
        ),
    ] = None,
    method: options.Method = "auto",
    settings: options.Settings = None,
    threshold: options.Threshold = None,
    truth: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Ids of all relevant results, one a line: tells precision, recall and F1 of the predicted set.",
            show_default=False,
            rich_help_panel=_REFINING,
        ),
    ] = None,
    ranked: Annotated[
        bool,
        typer.Option(
            "--ranked",
            help="The list is a ranking, best first, also if it is a file without ranks and scores: who marks a result "
            "has seen those above it.",
            rich_help_panel=_REFINING,
        ),
    ] = False,
    no_implicit: Annotated[
        bool,
        typer.Option(
            "--no-implicit",
            help="Do not take unmarked results of a ranking above the last relevant one for not relevant.",
            rich_help_panel=_REFINING,
        ),
    ] = False,
    seed: Annotated[int, typer.Option(metavar="N", help="For the methods that draw.", rich_help_panel=_REFINING)] = 0,
    text: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column of words; repeatable.",
            show_default="title, abstract and text",
            rich_help_panel=_ANALYSIS,
        ),
    ] = None,
    stemmer: Annotated[
        str | None,
        typer.Option(help="none, lemma or a Snowball algorithm.", show_default="english", rich_help_panel=_ANALYSIS),
    ] = None,
    lemmas: Annotated[
        bool,
        typer.Option(
            "--lemmas", help="English base forms instead of stems: --stemmer lemma.", rich_help_panel=_ANALYSIS
        ),
    ] = False,
    stopwords: Annotated[
        str, typer.Option(help="none, a list's name, or a file of words.", rich_help_panel=_ANALYSIS)
    ] = "english",
    synonyms: options.Synonyms = None,
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    on_error: options.SkipBad = options.OnError.STOP,
    k: Annotated[
        int | None,
        typer.Option(
            "-k",
            metavar="K",
            min=1,
            help="How many results to print.",
            show_default=f"{refinement_tables.SHOWN}, programs all",
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="The words for and against each result too.", rich_help_panel="Output")
    ] = False,
    changes: Annotated[
        bool, typer.Option("--changes", help="What moved, and because of which words, too.", rich_help_panel="Output")
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(
            "--export",
            metavar="FILE",
            help="Write the records there in their new order, whole (.ris, .nbib, .bib, .xml, .csv, .tsv, .jsonl).",
            show_default=False,
            rich_help_panel="Output",
        ),
    ] = None,
    json: options.Json = False,
    tsv: Annotated[
        bool,
        typer.Option(
            "--tsv", help="Print rank, rank before, id, probability, 1 if predicted, title.", rich_help_panel="Output"
        ),
    ] = False,
) -> None:
    """Re-rank a list of results by a few marks.

    In a ranking, unmarked results above the last relevant one count as not relevant. What germane search --json printed
    is a ranking, and so is a file whose records have a rank or a score; an export in some other order is none, unless
    --ranked says so.

    Marks are ids; a number that is nobody's id is a place in the list, from 1. Which method ran, and why, is said on
    stderr. Without a relevant mark the order is kept, and what is like the rejected ones sinks.

    Example: germane refine results.jsonl --relevant 3,7 --not 1

    Example: germane search my-index "heart attack" -k 200 --json | germane refine - --relevant 4 --explain

    Example: germane refine export.ris --relevant 2 --not 5 --method mmem-aib --synonyms mesh.tsv --changes

    Example: germane refine results.jsonl --relevant 3,7 --not 1 --method mmem-aib --set components=5
    """
    wanted = options.one_of(json=json, tsv=tsv)
    if tsv and (explain or changes):
        raise ParameterError("--explain and --changes go with the table or with --json, not with --tsv")
    if ranked and no_implicit:
        raise ParameterError("choose one of --ranked and --no-implicit")
    if lemmas and stemmer not in (None, "lemma"):
        raise ParameterError(f"choose one of --lemmas and --stemmer {stemmer}")
    chosen = "lemma" if lemmas else stemmer or "english"

    make = partial(
        refine_refiner.Refiner,
        method,
        **methods.refine_settings(method, settings_typed(settings)),
        analyzer=analyzer_named(chosen, stopwords, synonyms),
        threshold=threshold_of(threshold),
        random_state=seed,
    )
    make()  # complains before a long list is read
    require_apart({"--export": export}, [results])
    listed = ResultSource(results, text or (), format, encoding, on_error.value, export is not None).read()
    ranking = ranked or listed.ranking
    refiner = make(implicit_negatives=ranking and not no_implicit)
    marks = Marks(marked("--relevant", relevant or (), listed.ids), marked("--not", not_relevant or (), listed.ids))
    found = refiner.fit(zip(listed.ids, listed.texts, strict=True), marks).rank()
    titles = dict(zip(listed.ids, listed.titles, strict=True))
    if relevant and not ranking and not no_implicit:
        tell(
            "the list is no ranking (no rank, no score): results above a mark are not taken for seen; --ranked if it is"
        )
    tell(f"{found.method}: {found.reason}")
    if export is not None:
        fields = dict(zip(listed.ids, listed.fields, strict=True))
        count = writing.write_documents(export, (Document(doc_id, fields[doc_id]) for doc_id in found.ids))
        tell(f"{counted(count, 'record')} written to {export}")
    shown = k or (len(found) if wanted else refinement_tables.SHOWN)
    known = None if truth is None else ids_in(truth, listed.ids)
    answer = responses.RefinementResponse.of(found, titles, k=shown, explain=explain, changes=changes, relevant=known)
    if answer.measured is not None:
        of = answer.measured
        tell(f"the predicted set: precision {of.precision:.4f}, recall {of.recall:.4f}, F1 {of.f1:.4f}")
    if wanted == "json":
        put_json(answer)
    elif wanted == "tsv":
        refinement_tables.put_tsv(answer)
    else:
        refinement_tables.show(terminal(), answer, shown)
