"""Options that several commands share, each defined once. Names come from the registries, which are light."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from germane.errors import ParameterError
from germane.refine.registry import METHOD_TITLES
from germane.wording import titled

_READING = "Reading"
_OUTPUT = "Output"
_REFINING = "Refining"


class OnError(StrEnum):
    """What happens to a record that cannot be used."""

    STOP = "stop"
    SKIP = "skip"


class OnDuplicate(StrEnum):
    """What happens to a document whose id is there already."""

    ERROR = "error"
    REPLACE = "replace"
    SKIP = "skip"
    MERGE = "merge"


class TableFormat(StrEnum):
    """How a table is written."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LATEX = "latex"
    TSV = "tsv"
    JSON = "json"


# -- arguments ---------------------------------------------------------------------------------------------------------

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the index.", show_default=False)]
Into = Annotated[
    Path, typer.Option("--into", metavar="DIR", help="The folder to make the index in.", show_default=False)
]
Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SRC...",
        help="Files (JSON Lines, CSV, TSV, TREC, MEDLINE, PubMed XML, RIS, BibTeX, EndNote XML; .gz, .bz2, .xz, .zst), "
        "folders of such files and of texts, the name of a data set, or irds:NAME.",
        show_default=False,
    ),
]
Query = Annotated[str, typer.Argument(metavar="WORDS", help="The query; - reads it from stdin.", show_default=False)]

# -- reading documents -------------------------------------------------------------------------------------------------

Format = Annotated[
    str | None,
    typer.Option(
        help="jsonl, csv, tsv, folder, trec, medline, pubmed, ris, bibtex or endnote-xml; else the file tells.",
        show_default=False,
        rich_help_panel=_READING,
    ),
]
Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="OUR=THEIR",
        help="Take our field from their column, as in text=abstract; repeatable.",
        show_default=False,
        rich_help_panel=_READING,
    ),
]
Encoding = Annotated[str, typer.Option(help="The encoding of the text.", rich_help_panel=_READING)]
IdFromNumber = Annotated[
    bool,
    typer.Option("--id-from-number", help="Number the records that have no id.", rich_help_panel=_READING),
]
SkipBad = Annotated[
    OnError,
    typer.Option(
        "--on-error",
        help="Stop at a bad record, or skip and report it.",
        rich_help_panel=_READING,
        case_sensitive=False,
    ),
]
Duplicates = Annotated[
    OnDuplicate,
    typer.Option(
        "--on-duplicate",
        help="What to do with a document whose id is there already; merge changes the fields that the new one has, and "
        "keeps the others and the vectors.",
        rich_help_panel=_READING,
        case_sensitive=False,
    ),
]
Memory = Annotated[int, typer.Option(metavar="MB", help="Memory that building may take, at least 32.")]
Threads = Annotated[
    int | None, typer.Option(metavar="N", help="Threads to use; all cores otherwise.", show_default=False)
]
Progress = Annotated[bool, typer.Option("--progress", help="Show a progress bar even where stderr is no terminal.")]

Stemmer = Annotated[str, typer.Option(help="The stemmer: none, lemma (English base forms), or a Snowball algorithm.")]
Stopwords = Annotated[
    str, typer.Option(help="none, english, lucene, another list's name, or a file with one word a line.")
]
Synonyms = Annotated[
    Path | None,
    typer.Option(
        "--synonyms",
        metavar="FILE",
        help="Terms that are read as others: lines of a term, a tab and the term preferred to it, or a file of MeSH's "
        "(desc20xx, supp20xx; .xml or .bin).",
        show_default=False,
    ),
]

# -- searching ---------------------------------------------------------------------------------------------------------

K = Annotated[int, typer.Option("-k", metavar="K", help="How many documents to find.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any parameter of the method, as in lam=0.1; repeatable. germane methods NAME lists them.",
        show_default=False,
    ),
]

# -- output ------------------------------------------------------------------------------------------------------------

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel=_OUTPUT)]
Method = Annotated[str, typer.Option(help=f"One of {titled(METHOD_TITLES)}.", rich_help_panel=_REFINING)]
Threshold = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER|f1|odds",
        help="The least probability of the predicted set; f1 takes the one with the best expected F1, odds what the "
        "method itself decides: log-odds above 0.",
        show_default="f1",
        rich_help_panel=_REFINING,
    ),
]
TabSeparated = Annotated[
    bool, typer.Option("--tsv", help="Print columns with tabs between them.", rich_help_panel=_OUTPUT)
]
AsTable = Annotated[
    TableFormat | None,
    typer.Option(
        "--format",
        help="How the table is written; LaTeX wants booktabs.",
        show_default="text",
        rich_help_panel=_OUTPUT,
        case_sensitive=False,
    ),
]
Tsv = Annotated[bool, typer.Option("--tsv", help="Print rank, id, score, title.", rich_help_panel=_OUTPUT)]
Trec = Annotated[bool, typer.Option("--trec", help="Print the lines of a TREC run.", rich_help_panel=_OUTPUT)]
RecordFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="Print whole records instead: ris, medline, bibtex, endnote-xml, csv, tsv or jsonl.",
        show_default=False,
        rich_help_panel=_OUTPUT,
    ),
]
Tag = Annotated[str, typer.Option(help="The run's name, its last column.", rich_help_panel=_OUTPUT)]


def one_of(**formats: bool) -> str:
    """The one output format that was asked for; "" for none."""
    wanted = [name for name, asked in formats.items() if asked]
    if len(wanted) > 1:
        raise ParameterError(f"choose one of {', '.join(f'--{name}' for name in wanted)}")
    return wanted[0] if wanted else ""


def table_format(chosen: TableFormat | None, **flags: bool) -> str:
    """The one format that was asked for, by --format or by a flag of its own; text for none."""
    wanted = one_of(**flags)
    if chosen is not None and wanted not in ("", chosen):
        raise ParameterError(f"choose one of --format {chosen}, --{wanted}")
    return chosen or wanted or TableFormat.TEXT
