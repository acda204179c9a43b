"""The program and its commands. A new command is a module in `commands/` and one line in `COMMANDS`.

Nothing here or in the command modules imports the engine at the top: `germane --help` must be instant.
"""

import sys
from typing import Annotated, Any, Final

import typer

from germane import __version__
from germane.cli.commands.add import add
from germane.cli.commands.batch import batch
from germane.cli.commands.check import check
from germane.cli.commands.classify import classify
from germane.cli.commands.compare import compare
from germane.cli.commands.data import data
from germane.cli.commands.dedupe import dedupe
from germane.cli.commands.delete import delete
from germane.cli.commands.demo import demo
from germane.cli.commands.evaluate import evaluate
from germane.cli.commands.explain import explain
from germane.cli.commands.export import export
from germane.cli.commands.find import find
from germane.cli.commands.import_ciff import import_ciff
from germane.cli.commands.index import index
from germane.cli.commands.merge import merge
from germane.cli.commands.refine import refine
from germane.cli.commands.repair import repair
from germane.cli.commands.reproduce import reproduce
from germane.cli.commands.screen import screen
from germane.cli.commands.search import search
from germane.cli.commands.show import show
from germane.cli.commands.stats import stats
from germane.cli.commands.tune import tune
from germane.cli.commands.upgrade import upgrade
from germane.cli.commands.warmup import warmup
from germane.cli.failures import Program
from germane.cli.streams import tell_traceback

FILL: Final = "Make and change an index"
SEARCH: Final = "Search"
CARE: Final = "Look after an index"
LEARN: Final = "Learn from examples"
MEASURE: Final = "Measure and compare"

COMMANDS: tuple[tuple[str, Any, str], ...] = (
    ("index", index, FILL),
    ("add", add, FILL),
    ("delete", delete, FILL),
    ("import-ciff", import_ciff, FILL),
    ("dedupe", dedupe, FILL),
    ("search", search, SEARCH),
    ("find", find, SEARCH),
    ("explain", explain, SEARCH),
    ("batch", batch, SEARCH),
    ("show", show, SEARCH),
    ("demo", demo, SEARCH),
    ("stats", stats, CARE),
    ("check", check, CARE),
    ("repair", repair, CARE),
    ("merge", merge, CARE),
    ("upgrade", upgrade, CARE),
    ("export", export, CARE),
    ("warmup", warmup, CARE),
    ("classify", classify, LEARN),
    ("refine", refine, LEARN),
    ("screen", screen, LEARN),
    ("evaluate", evaluate, MEASURE),
    ("compare", compare, MEASURE),
    ("tune", tune, MEASURE),
    ("reproduce", reproduce, MEASURE),
    ("data", data, MEASURE),
)
"""The command line's name, the function (or a group of commands), and the panel of `germane --help` it stands in."""

app = typer.Typer(
    name="germane",
    cls=Program,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _name, _function, _panel in COMMANDS:
    if isinstance(_function, typer.Typer):
        app.add_typer(_function, name=_name, rich_help_panel=_panel)
    else:
        app.command(_name, rich_help_panel=_panel)(_function)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"germane {__version__}")
        raise typer.Exit


@app.callback()
def germane(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Search that learns: language-model retrieval, in-process.

    Example: germane index docs.jsonl --into my-index, then germane search my-index "heart attack"
    """


def main() -> None:
    """The entry point of the installed program."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter is no reason to stop
    try:
        app()
    except Exception:
        sys.excepthook = tell_traceback  # Typer has set one of its own
        raise
