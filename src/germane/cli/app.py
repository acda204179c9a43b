"""The program and its commands. A new command is a module in `commands/` and one line in `COMMANDS`.

The program imports the module of the command that was typed, and all of them to help or to complain. None imports the
engine at the top: `germane --help` must be instant.
"""

import sys
from collections.abc import Collection
from importlib import import_module
from typing import Annotated, Any, Final

import typer

from germane import __version__
from germane.cli.failures import Program
from germane.cli.streams import tell_traceback

FILL: Final = "Make and change an index"
SEARCH: Final = "Search"
CARE: Final = "Look after an index"
LEARN: Final = "Learn from examples"
MEASURE: Final = "Measure and compare"

COMMANDS: tuple[tuple[str, str], ...] = (
    ("index", FILL),
    ("add", FILL),
    ("delete", FILL),
    ("import-ciff", FILL),
    ("vectors", FILL),
    ("dedupe", FILL),
    ("convert", FILL),
    ("search", SEARCH),
    ("find", SEARCH),
    ("explain", SEARCH),
    ("batch", SEARCH),
    ("show", SEARCH),
    ("demo", SEARCH),
    ("serve", SEARCH),
    ("mcp", SEARCH),
    ("stats", CARE),
    ("check", CARE),
    ("repair", CARE),
    ("merge", CARE),
    ("upgrade", CARE),
    ("export", CARE),
    ("warmup", CARE),
    ("classify", LEARN),
    ("refine", LEARN),
    ("screen", LEARN),
    ("track", LEARN),
    ("clicks", LEARN),
    ("learn", LEARN),
    ("models", LEARN),
    ("workspace", LEARN),
    ("evaluate", MEASURE),
    ("compare", MEASURE),
    ("methods", MEASURE),
    ("fuse", MEASURE),
    ("tune", MEASURE),
    ("reproduce", MEASURE),
    ("data", MEASURE),
)
"""The name of each command, and the panel of `germane --help` it stands in."""


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


def program(names: Collection[str] | None = None) -> typer.Typer:
    """The program, with these commands; with all of them unless some are named."""
    made = typer.Typer(
        name="germane",
        cls=Program,
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(germane)
    for name, panel in COMMANDS:
        if names is not None and name not in names:
            continue
        function = function_of(name)
        if isinstance(function, typer.Typer):
            made.add_typer(function, name=name, rich_help_panel=panel)
        else:
            made.command(name, rich_help_panel=panel)(function)
    return made


def main() -> None:
    """The entry point of the installed program."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter is no reason to stop
    typed = {word for word in sys.argv[1:2] if word in dict(COMMANDS)}
    try:
        program(typed or None)()
    except Exception:
        sys.excepthook = tell_traceback  # Typer has set one of its own
        raise
