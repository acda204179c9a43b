"""The program and its commands. A new command is a module in `commands/` and one line in `COMMANDS`.

The program imports the module of the command that was typed, and none for its own help or a complaint: `COMMANDS` has
the names and summaries. A command's module defers its imports (`germane.lazy.on_first_use`), so that its help is fast.
"""

import sys
from collections.abc import Collection
from importlib import import_module
from typing import Annotated, Any, Final, NamedTuple

import typer

from germane import __version__
from germane.cli.failures import Program
from germane.cli.streams import tell_traceback

FILL: Final = "Make and change an index"
SEARCH: Final = "Search"
CARE: Final = "Look after an index"
LEARN: Final = "Learn from examples"
MEASURE: Final = "Measure and compare"


class Command(NamedTuple):
    """A row of the program's help: the command, its panel, and the first sentence of its own help."""

    name: str
    panel: str
    summary: str


COMMANDS = (
    Command("index", FILL, "Make an index from a collection of documents: one file or folder, or several."),
    Command("add", FILL, "Add documents to an index, in one atomic commit."),
    Command("delete", FILL, "Delete documents by id: all of them, or none if one is unknown."),
    Command("import-ciff", FILL, "Make an index from a file in the Common Index File Format (CIFF)."),
    Command("vectors", FILL, "Give documents vectors, and search by them."),
    Command(
        "dedupe",
        FILL,
        "Find the records that describe the same work: by DOI, PMID or arXiv id, then by title with year and author.",
    ),
    Command("convert", FILL, "Write references in another format, and say what that cannot hold."),
    Command("search", SEARCH, "Search an index."),
    Command("find", SEARCH, "Search many sources at once, join duplicates, fuse the lists, and refine by a few marks."),
    Command("explain", SEARCH, "Show the parts that a document's score is made of."),
    Command("batch", SEARCH, "Search many queries and write a run in TREC's format."),
    Command("show", SEARCH, "Show whole documents: every field as it was added."),
    Command("demo", SEARCH, "Index the sample collection, 80 short texts, and search it."),
    Command(
        "serve",
        SEARCH,
        "Open the search page: search, mark, refine, screen and follow topics in a browser. Ctrl+C ends it.",
    ),
    Command(
        "mcp",
        SEARCH,
        "Offer an index to an assistant over the Model Context Protocol: search, get, explain, refine, find, "
        "what is new.",
    ),
    Command("stats", CARE, "Show numbers about an index, and its settings."),
    Command("check", CARE, "Read every file of an index and verify it, its learnt models too."),
    Command("repair", CARE, "Make a damaged index usable again."),
    Command("merge", CARE, "Merge all segments into one and drop deleted documents permanently."),
    Command("upgrade", CARE, "Make a new index of the documents of one that an older version made."),
    Command("export", CARE, "Write the documents in the format of the file's ending, or the index in CIFF."),
    Command("warmup", CARE, "Compile all that building and searching an index need, and keep it on disk."),
    Command("classify", LEARN, "Learn to label texts from examples, label new ones, and measure how well that goes."),
    Command("refine", LEARN, "Re-rank a list of results by a few marks."),
    Command(
        "screen",
        LEARN,
        "Screen references: what to read next and why, how many relevant ones remain, and whether to stop.",
    ),
    Command("track", LEARN, "Follow topics through a live stream, each from one example, and know what is missed."),
    Command("clicks", LEARN, "Turn click logs into pairs of queries and titles to learn from."),
    Command(
        "learn",
        LEARN,
        "Learn a model from clicks, and let it serve if it ranks held-out queries better than what serves.",
    ),
    Command(
        "models",
        LEARN,
        "Look at the learnt models of an index, compare them, promote one, take a promotion back, or remove one.",
    ),
    Command("workspace", LEARN, "Keep collections, searches, marks and decisions in one file, or in PostgreSQL."),
    Command("evaluate", MEASURE, "Measure a run against judgements, as trec_eval does."),
    Command("compare", MEASURE, "Compare runs: means, wins and losses by query, significance, and the worst losses."),
    Command(
        "methods",
        MEASURE,
        "List the methods of ranking, feedback, refinement, classification, tracking and screening, or one's "
        "parameters.",
    ),
    Command(
        "fuse",
        MEASURE,
        "Fuse runs: by reciprocal ranks (rrf), inverse squares of ranks (isr), or sums of scores (combsum, combmnz).",
    ),
    Command(
        "tune",
        MEASURE,
        "Tune a model's parameters by cross-validation over queries: no query is measured with what it helped "
        "to choose.",
    ),
    Command("reproduce", MEASURE, "Run an experiment and print its table beside the published figures."),
    Command(
        "data",
        MEASURE,
        "List the data sets, describe one, or write its documents, topics and judgements to a folder.",
    ),
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"germane {__version__}")
        raise typer.Exit


def germane(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Search that learns: language-model retrieval, in-process.

    Example: germane index docs.jsonl --into my-index, then germane search my-index "heart attack"
    """


def function_of(name: str) -> Any:
    """The function of a command, or a group of commands: of the same name as its module."""
    own = name.replace("-", "_")
    return getattr(import_module(f"germane.cli.commands.{own}"), own)


def _without_commands() -> typer.Typer:
    made = typer.Typer(
        name="germane",
        cls=Program,
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(germane)
    return made


def program(names: Collection[str] | None = None) -> typer.Typer:
    """Return the program with these commands; with all of them unless some are named."""
    made = _without_commands()
    for name, panel, _ in COMMANDS:
        if names is not None and name not in names:
            continue
        function = function_of(name)
        if isinstance(function, typer.Typer):
            made.add_typer(function, name=name, rich_help_panel=panel)
        else:
            made.command(name, rich_help_panel=panel)(function)
    return made


def outline() -> typer.Typer:
    """Return the program with the names and summaries of all commands: enough to help and to complain."""
    made = _without_commands()
    for name, panel, summary in COMMANDS:
        made.command(name, help=summary, rich_help_panel=panel)(_nothing)
    return made


def _nothing() -> None:
    """Stand in for a command in `outline`."""


def main() -> None:
    """Run the installed program."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter is no reason to stop
    typed = next((word for word in sys.argv[1:] if word != "--"), "")
    known = any(typed == command.name for command in COMMANDS)
    try:
        (program([typed]) if known else outline())()
    except Exception:
        sys.excepthook = tell_traceback  # Typer has set one of its own
        raise
