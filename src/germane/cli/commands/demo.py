"""germane demo: the sample collection, indexed and searched before your eyes."""

import shlex
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from germane.cli.app import program
from germane.cli.failures import NOTHING_FOUND
from germane.cli.samples import NAME as SAMPLE
from germane.cli.samples import sample_path, write_sample_files
from germane.cli.streams import terminal

SHOWN = "demo-index"
"""Name of the index in the commands that are shown; it lies in a temporary folder."""

TOUR: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("80 short texts become an index.", ("index", SAMPLE, "--into", SHOWN)),
    ("Words are stemmed: 'vaccines' finds 'vaccination' too.", ("search", SHOWN, "vaccines for children", "-k", "3")),
    ("A weight and a filter: storage matters twice, since 2000.", ("search", SHOWN, "energy storage^2 year:2000..")),
    ("A word that must not occur, and BM25.", ("search", SHOWN, "planet -mars", "--model", "bm25", "-k", "3")),
    ("Why has this document its score?", ("explain", SHOWN, "vaccines for children", "malaria-vaccine")),
    ("A slip of the pen.", ("search", SHOWN, "antibiotc resistance", "-k", "2")),
    ("Numbers about the index.", ("stats", SHOWN)),
)


def demo(
    into: Annotated[
        Path | None,
        typer.Option("--into", metavar="DIR", help="Keep the index in this folder.", show_default=False),
    ] = None,
    sample_files: Annotated[
        Path | None,
        typer.Option(
            "--files",
            metavar="DIR",
            help="Write the files that the commands of the documentation read into this folder.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Index the sample collection, 80 short texts, and search it.

    Example: germane demo --into my-index

    Example: germane demo --into my-index --files .
    """
    if sample_files is not None:
        written = write_sample_files(sample_files)
        terminal().print(f"Sample files in {sample_files}: {', '.join(written)}", soft_wrap=True)
    with ExitStack() as stack:
        folder = into or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="germane-")), SHOWN)
        for remark, command in TOUR:
            _run(remark, command, folder, SHOWN if into is None else str(into))
    console = terminal()
    console.print()
    if into is None:
        console.print("To go on: germane demo --into my-index keeps the index.", style="dim")
    else:
        console.print(f"To go on: germane search {shlex.quote(str(into))} 'your words'", style="dim")


def _run(remark: str, command: tuple[str, ...], folder: Path, shown: str) -> None:
    """Show a command as one would type it, and run it."""
    console = terminal()
    console.print()
    console.print(remark, style="italic")
    typed = " ".join(shlex.quote(shown if word == SHOWN else word) for word in ("germane", *command))
    console.print(f"$ {typed}", style="bold green", soft_wrap=True)
    real = {SHOWN: str(folder), SAMPLE: str(sample_path())}
    code = program(command[:1])([real.get(word, word) for word in command], standalone_mode=False)
    if code not in (None, 0, NOTHING_FOUND):
        raise typer.Exit(code)
