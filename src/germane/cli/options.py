"""Options that several commands share, each defined once. Names come from the registries, which are light."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from germane.engine.registry import RERANKER_NAMES
from germane.errors import ParameterError
from germane.feedback.registry import FEEDBACK_NAMES
from germane.rank.registry import DEFAULT_MODEL, FIELD_MODELS, MODEL_TITLES
from germane.refine.registry import METHOD_TITLES

_RANKING = "Ranking"
_FEEDBACK = "Feedback"
_READING = "Reading"
_OUTPUT = "Output"
_PAGE = "Page"
_REFINING = "Refining"


def titled(titles: Mapping[str, str]) -> str:
    """Names with what they stand for."""
    return ", ".join(name if name == title.lower() else f"{name} ({title})" for name, title in titles.items())


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

# -- ranking -----------------------------------------------------------------------------------------------------------

K = Annotated[int, typer.Option("-k", metavar="K", help="How many documents to find.")]
Model = Annotated[str, typer.Option(help=f"One of {titled(MODEL_TITLES)}.", rich_help_panel=_RANKING)]
ModelIfNamed = Annotated[
    str | None,
    typer.Option(
        "--model",
        help=f"One of {titled(MODEL_TITLES)}; with feedback, for both rankings.",
        show_default=f"{DEFAULT_MODEL}, or feedback's own",
        rich_help_panel=_RANKING,
    ),
]
"""Not the same as naming the default: feedback has rankings of its own."""
Mu = Annotated[
    str | None,
    typer.Option(
        help="Dirichlet pseudo-counts: a number, or auto to learn it from the collection.",
        metavar="NUMBER|auto",
        show_default=False,
        rich_help_panel=_RANKING,
    ),
]
Lam = Annotated[
    str | None,
    typer.Option(
        help="Weight of the document in linear smoothing: between 0 and 1, or auto.",
        metavar="NUMBER|auto",
        show_default=False,
        rich_help_panel=_RANKING,
    ),
]
Delta = Annotated[
    float | None,
    typer.Option(
        help="Absolute discount, between 0 and 1.", metavar="NUMBER", show_default=False, rich_help_panel=_RANKING
    ),
]
K1 = Annotated[
    float | None,
    typer.Option(
        help="BM25's saturation; of adaptive, 0: that of the collection.",
        metavar="NUMBER",
        show_default=False,
        rich_help_panel=_RANKING,
    ),
]
B = Annotated[
    float | None,
    typer.Option(
        "--b", help="BM25's length normalisation.", metavar="NUMBER", show_default=False, rich_help_panel=_RANKING
    ),
]
FieldWeight = Annotated[
    list[str] | None,
    typer.Option(
        "--field-weight",
        metavar="FIELD=NUMBER",
        help=f"How much a word of a text field counts, as in title=3, for {' and '.join(FIELD_MODELS)}; repeatable. "
        "Fields not named count 1.",
        show_default=False,
        rich_help_panel=_RANKING,
    ),
]
Ordered = Annotated[
    float | None,
    typer.Option(
        help="Share of two words side by side in the score of sdm and sdm-lm.",
        metavar="NUMBER",
        show_default=False,
        rich_help_panel=_RANKING,
    ),
]
Unordered = Annotated[
    float | None,
    typer.Option(
        help="Share of two words near each other in the score of sdm and sdm-lm.",
        metavar="NUMBER",
        show_default=False,
        rich_help_panel=_RANKING,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any parameter of the method, as in lam=0.1; repeatable. germane methods NAME lists them.",
        show_default=False,
    ),
]
PriorOption = Annotated[
    list[str] | None,
    typer.Option(
        "--prior",
        metavar="PRIOR",
        help="length, field:NAME or fresh:FIELD:DAYS (half-life), each with an exponent if wanted (length^0.3); "
        "repeatable.",
        show_default=False,
        rich_help_panel=_RANKING,
    ),
]
Rerank = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Score the first results again: by a learnt model of the index (clicks, clicks@3), the file of a latent "
        f"model, or a ranking model: {', '.join(RERANKER_NAMES)}. none: leave out the learnt model that was promoted.",
        show_default="the promoted model",
        rich_help_panel=_RANKING,
    ),
]
Depth = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="How many results --rerank scores again; the rest follow in their order.",
        show_default="1000",
        rich_help_panel=_RANKING,
    ),
]
Plain = Annotated[bool, typer.Option("--plain", help="Read the query as plain text, without query language.")]

# -- feedback ----------------------------------------------------------------------------------------------------------

Feedback = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help=f"Learn from the first results and rank again: {', '.join(FEEDBACK_NAMES)}.",
        show_default=False,
        rich_help_panel=_FEEDBACK,
    ),
]
Relevant = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ID,ID",
        help="Documents that are relevant, to learn from; repeatable.",
        show_default=False,
        rich_help_panel=_FEEDBACK,
    ),
]
NotRelevant = Annotated[
    list[str] | None,
    typer.Option(
        "--not",
        metavar="ID,ID",
        help="Documents that are not relevant, to learn against; repeatable.",
        show_default=False,
        rich_help_panel=_FEEDBACK,
    ),
]
FeedbackDocs = Annotated[
    int | None,
    typer.Option(metavar="N", help="First results taken for relevant.", show_default=False, rich_help_panel=_FEEDBACK),
]
FeedbackTerms = Annotated[
    int | None,
    typer.Option(metavar="N", help="Words kept of what is learnt.", show_default=False, rich_help_panel=_FEEDBACK),
]
QueryWeight = Annotated[
    float | None,
    typer.Option(
        metavar="NUMBER",
        help="Share of the query as typed in the new one, between 0 and 1 (consensus: of a query of one word).",
        show_default=False,
        rich_help_panel=_FEEDBACK,
    ),
]
Guard = Annotated[
    bool,
    typer.Option(
        "--guard",
        help="Fall back to the query where the documents to learn from disagree.",
        rich_help_panel=_FEEDBACK,
    ),
]
Offset = Annotated[int, typer.Option(min=0, help="Leave out so many results.", rich_help_panel=_PAGE)]
Sort = Annotated[
    str | None,
    typer.Option(
        metavar="FIELD",
        help="Order by a field instead of the score; -FIELD: the largest first.",
        show_default=False,
        rich_help_panel=_PAGE,
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        metavar="FIELD",
        help="Of documents with the same value of the field, the best alone.",
        show_default=False,
        rich_help_panel=_PAGE,
    ),
]
Filtering = Annotated[
    str | None,
    typer.Option(
        "--filter",
        metavar="FILTER",
        help="Only documents that pass: fields and their values as JSON, as in "
        '\'{"topic": "energy", "year": {">=": 2010}}\', or a query, as in "year:2010..".',
        show_default=False,
        rich_help_panel=_PAGE,
    ),
]
MinScore = Annotated[
    float | None, typer.Option(help="No result below this score.", show_default=False, rich_help_panel=_PAGE)
]
FacetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--facet",
        metavar="FIELD",
        help="Count the values of a field among all documents found; may be repeated.",
        show_default=False,
        rich_help_panel=_PAGE,
    ),
]
Groups = Annotated[
    int | None,
    typer.Option(
        "--groups",
        metavar="N",
        help="Put the first 200 results, or K, in N groups of alike ones, each named by words.",
        show_default=False,
        rich_help_panel=_PAGE,
    ),
]
Snippets = Annotated[
    bool, typer.Option("--snippets", help="With --json: the piece that shows best why.", rich_help_panel=_PAGE)
]
ExplainFeedback = Annotated[
    bool,
    typer.Option(
        "--explain",
        help="Show the words that feedback found, the documents they are from, and what moved.",
        rich_help_panel=_FEEDBACK,
    ),
]
PlotFeedback = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Draw the words that feedback found (.png, .svg, .pdf).",
        show_default=False,
        rich_help_panel=_FEEDBACK,
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
